"""Knowledge: groups of nodes and environments that occur in the training data, for searches and evidence."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from ..data.dataset import GraphDataset
from ..errors import ModelFileError
from ..models.storage.files import write_atomically
from ..models.storage.store import PRETRAINED
from ..schema import Schema
from .moves.environments import USUAL_MINIMUM, EnvironmentCounts
from .moves.fragments import FragmentVocabulary

KNOWLEDGE = "knowledge.json"

# Nodes of a set from which on groups and environments must occur as often as usual, and the numbers for groups.
_MANY_NODES, _USUAL_GROUPS, _FEWEST_GROUPS = 80_000, 20, 3


@dataclass(frozen=True)
class Knowledge:
    """Groups of nodes and environments that occur in the training data.

    Args:
        vocabulary: Groups of nodes (functional groups, in molecules) that moves add and exchange.
        environments: Counts of radius-1 environments of nodes.
        nll_limit: Negative log-likelihood that 99 % of real graphs do not exceed, in nats per node; None if no
            autoencoder was at hand.

    Example:
        >>> import torch
        >>> from graphflip import GraphDataset
        >>> from graphflip.testing import random_graph
        >>> graphs = [random_graph(n=4, num_graphs=1, seed=seed) for seed in range(3)]
        >>> train = GraphDataset.from_graphs("toy", graphs, torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> Knowledge.mine(train).nll_limit is None
        True
    """

    vocabulary: FragmentVocabulary
    environments: EnvironmentCounts
    nll_limit: float | None = None

    @classmethod
    def mine(cls, train: GraphDataset, nll_limit: float | None = None, in_proportion: bool = False) -> "Knowledge":
        """Collect groups and environments from the train part of a dataset; directed graphs have no groups.

        Args:
            train: Graphs to learn from.
            nll_limit: Limit of plausibility, if there is one.
            in_proportion: Ask less of small sets. In one of 80,000 nodes or more, an environment must occur 5 times to
                be known, and a group 20 times; in smaller ones they must occur as often for each node, but at least
                once and three times. Otherwise the numbers hold for every set.
        """
        share = min(train.node_ptr[-1].item() / _MANY_NODES, 1.0) if in_proportion else 1.0
        environments, groups = max(round(USUAL_MINIMUM * share), 1), max(round(_USUAL_GROUPS * share), _FEWEST_GROUPS)
        vocabulary = FragmentVocabulary() if train.schema.directed else FragmentVocabulary.mine(train, minimum=groups)
        counts = EnvironmentCounts.mine(train)
        return cls(vocabulary, replace(counts, minimum=environments), nll_limit)

    def save(self, path: Path) -> None:
        """Write a JSON file, atomically."""
        stored = {"vocabulary": self.vocabulary.to_dict(), "environments": self.environments.to_dict()}
        stored |= {} if self.nll_limit is None else {"nll_limit": self.nll_limit}
        write_atomically(path, (json.dumps(stored, separators=(",", ":")) + "\n").encode())

    @classmethod
    def load(cls, path: Path, schema: Schema) -> "Knowledge":
        """Read what `save` wrote.

        Args:
            path: JSON file.
            schema: Schema of the graphs.

        Raises:
            ModelFileError: If the file cannot be read or has another form.
        """
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
        """Load the knowledge that the package carries for one of its datasets, e.g. `"mutagenicity"`."""
        return cls.load(PRETRAINED / name / KNOWLEDGE, schema)
