"""Groups: which graphs of an input a summary is of."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import ConfigError, require
from ..explain.explainer import Explainer
from ..graph import Graph


@dataclass(frozen=True, eq=False)
class Group:
    """A part of the graphs of an input: all conditions that are given must hold.

    Args:
        contains: SMARTS of a substructure, such as a scaffold; for molecules.
        ids: Names of graphs.
        labels: Known classes of graphs by name; keeps those that the classifier gets wrong.

    Example:
        >>> Group(ids=("a", "b")).name
        'graphs of a list'
    """

    contains: str | None = None
    ids: Collection[str] | None = None
    labels: Mapping[str, str] | None = None

    @property
    def is_all(self) -> bool:
        """True if nothing is asked for."""
        return self.contains is None and self.ids is None and self.labels is None

    @property
    def name(self) -> str:
        """The conditions in words."""
        told = [
            f"graphs that contain {self.contains}" if self.contains is not None else "",
            "graphs of a list" if self.ids is not None else "",
            "graphs that are predicted wrongly" if self.labels is not None else "",
        ]
        return ", ".join(filter(None, told)) or "all graphs"

    def of(self, rows: Iterable[tuple[str, Graph]], explainer: Explainer) -> list[tuple[str, Graph]]:
        """The ids and graphs of the group.

        Raises:
            ConfigError: If the substructure cannot be read, or graphs are no molecules, or no graph is in the group.
        """
        holds = self._conditions(explainer)
        found = [(key, graph) for key, graph in rows if all(one(key, graph) for one in holds)]
        if not found:
            raise ConfigError(f"A group must have graphs; there are no {self.name}. Ask for another one.")
        return found

    def _conditions(self, explainer: Explainer) -> list[Callable[[str, Graph], bool]]:
        holds: list[Callable[[str, Graph], bool]] = []
        if (ids := self.ids) is not None:
            wanted = set(ids)
            holds.append(lambda key, _: key in wanted)
        if self.contains is not None:
            holds.append(_contains(self.contains, explainer))
        if (labels := self.labels) is not None:
            holds.append(lambda key, graph: key in labels and labels[key] != _predicted(explainer, graph))
        return holds


def _contains(smarts: str, explainer: Explainer) -> Callable[[str, Graph], bool]:
    chemistry = require("rdkit.Chem", "mol", "Looking for substructures")
    if explainer.kit.schema.chemistry is None:
        raise ConfigError("Substructures are of molecules; these graphs are none. Name the graphs by --ids.")
    pattern = chemistry.MolFromSmarts(smarts)
    if pattern is None:
        raise ConfigError(f"A substructure must be a SMARTS text; {smarts!r} is none. Write it like c1ccccc1N(=O)=O.")
    from ..data.molecules.molecule import to_mol

    def found(_: str, graph: Graph) -> bool:
        molecule: Any = to_mol(graph)
        return molecule is not None and molecule.HasSubstructMatch(pattern)

    return found


@torch.no_grad()
def _predicted(explainer: Explainer, graph: Graph) -> str:
    return explainer.kit.classes[int(explainer.kit.classifier(graph)[0].argmax())]
