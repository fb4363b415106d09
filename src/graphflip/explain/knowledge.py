"""What a search knows of its data besides models: groups that occur in them, and environments of nodes."""

import json
from dataclasses import dataclass
from pathlib import Path

from ..data.dataset import GraphDataset
from ..errors import ModelFileError
from ..models.files import write_atomically
from ..models.store import PRETRAINED
from ..schema import Schema
from .environments import EnvironmentCounts
from .fragments import FragmentVocabulary

KNOWLEDGE = "knowledge.json"


@dataclass(frozen=True)
class Knowledge:
    """Mined from the train part of a dataset."""

    vocabulary: FragmentVocabulary
    environments: EnvironmentCounts

    @classmethod
    def mine(cls, train: GraphDataset) -> "Knowledge":
        return cls(FragmentVocabulary.mine(train), EnvironmentCounts.mine(train))

    def save(self, path: Path) -> None:
        stored = {"vocabulary": self.vocabulary.to_dict(), "environments": self.environments.to_dict()}
        write_atomically(path, (json.dumps(stored, separators=(",", ":")) + "\n").encode())

    @classmethod
    def load(cls, path: Path, schema: Schema) -> "Knowledge":
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            parts = stored["vocabulary"], stored["environments"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelFileError(f"{path}: not a readable file of fragments and environments ({error}).") from error
        return cls(FragmentVocabulary.from_dict(parts[0], schema), EnvironmentCounts.from_dict(parts[1], schema))

    @classmethod
    def packaged(cls, name: str, schema: Schema) -> "Knowledge":
        """What the package carries for one of its datasets, e.g. `"mutagenicity"`."""
        return cls.load(PRETRAINED / name / KNOWLEDGE, schema)
