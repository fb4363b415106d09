"""What a search knows of its data besides models: groups that occur in them, and environments of nodes."""

import json
from dataclasses import dataclass
from pathlib import Path

from ..data.dataset import GraphDataset
from ..errors import ModelFileError
from ..models.storage.files import write_atomically
from ..models.storage.store import PRETRAINED
from ..schema import Schema
from .moves.environments import EnvironmentCounts
from .moves.fragments import FragmentVocabulary

KNOWLEDGE = "knowledge.json"


@dataclass(frozen=True)
class Knowledge:
    """Mined from the train part of a dataset. `nll_limit`: 99 % of real graphs do not exceed it, in nats per node."""

    vocabulary: FragmentVocabulary
    environments: EnvironmentCounts
    nll_limit: float | None = None

    @classmethod
    def mine(cls, train: GraphDataset, nll_limit: float | None = None) -> "Knowledge":
        directed = train.schema.directed
        vocabulary = FragmentVocabulary() if directed else FragmentVocabulary.mine(train)
        return cls(vocabulary, EnvironmentCounts.mine(train), nll_limit)

    def save(self, path: Path) -> None:
        stored = {"vocabulary": self.vocabulary.to_dict(), "environments": self.environments.to_dict()}
        stored |= {} if self.nll_limit is None else {"nll_limit": self.nll_limit}
        write_atomically(path, (json.dumps(stored, separators=(",", ":")) + "\n").encode())

    @classmethod
    def load(cls, path: Path, schema: Schema) -> "Knowledge":
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            parts = stored["vocabulary"], stored["environments"]
            limit = None if stored.get("nll_limit") is None else float(stored["nll_limit"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelFileError(f"{path}: not a readable file of fragments and environments ({error}).") from error
        vocabulary = FragmentVocabulary.from_dict(parts[0], schema)
        return cls(vocabulary, EnvironmentCounts.from_dict(parts[1], schema), limit)

    @classmethod
    def packaged(cls, name: str, schema: Schema) -> "Knowledge":
        """What the package carries for one of its datasets, e.g. `"mutagenicity"`."""
        return cls.load(PRETRAINED / name / KNOWLEDGE, schema)
