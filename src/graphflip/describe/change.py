"""Two aligned graphs as sentences look at them: names, neighbors and connected groups of nodes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..chemistry import OTHER
from ..edits import Edit
from ..errors import GraphError, MissingExtra
from ..graph import Graph
from ..schema import AttributeDict, Schema
from .atoms import Atom, atoms_of
from .group_names import name_group
from .ring_names import RingNames

if TYPE_CHECKING:
    import rdkit.Chem


@dataclass(frozen=True)
class Sentence:
    """A change in words, with the edits that it stands for.

    Args:
        text: The words, such as "change C3 to N".
        edits: Edits that the sentence tells.
        nodes: Slots of all nodes that it is about.
        named: Slots of the nodes whose numbers are in the text.
    """

    text: str
    edits: tuple[Edit, ...]
    nodes: frozenset[int]
    named: frozenset[int]


class Side:
    """A graph before or after a change, as sentences look at it; what is asked of it is found once and kept.

    Args:
        graph: A batch of one hard graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: dict[int, AttributeDict] = {i: node for i, node in enumerate(graph.nodes()) if node is not None}
        self.near = neighbors(graph)
        self._groups: dict[tuple[int, frozenset[int]], tuple[str, bool]] = {}

    @cached_property
    def atoms(self) -> dict[int, Atom]:
        """Atoms of a molecule, with charges and hydrogens."""
        return atoms_of(self.graph)

    @cached_property
    def rings(self) -> RingNames | None:
        """Rings of a molecule; None if the graph is none, or RDKit is not installed."""
        try:
            return RingNames.of(self.graph)
        except (GraphError, MissingExtra):
            return None

    def name_group(self, anchor: int, members: Collection[int]) -> tuple[str, bool]:
        """Name of a group of heavy atoms that hangs on `anchor`, and True if chemists know it: see `name_group`."""
        key = anchor, frozenset(members)
        if key not in self._groups:
            self._groups[key] = name_group(self.graph, self._mol, *key)
        return self._groups[key]

    @cached_property
    def _mol(self) -> "rdkit.Chem.Mol":
        from ..data.molecules.molecule import to_mol

        return to_mol(self.graph, sanitize=False)


class GraphChange:
    """Names and neighbors of nodes before (side 0) and after (side 1) a change.

    Args:
        before: The graph before, with as many slots as the graph after.
        after: The graph after, aligned with it.
    """

    def __init__(self, before: Side, after: Side) -> None:
        self.schema: Schema = before.graph.schema
        self.sides = (before, after)
        self.graphs = (before.graph, after.graph)
        self.nodes, self.near = (before.nodes, after.nodes), (before.near, after.near)
        name = _node_name if self.schema.chemistry is None else _atom_name
        self.names = {i: name(i, node) for nodes in reversed(self.nodes) for i, node in nodes.items()}

    def type(self, side: int, i: int) -> str | None:
        """The type of a node on one side; None where there is no such node."""
        node = self.nodes[side].get(i)
        return None if node is None else str(node.get("type"))

    @cached_property
    def atoms(self) -> tuple[dict[int, Atom], dict[int, Atom]]:
        """Atoms of a molecule on both sides, with charges and hydrogens."""
        before, after = self.sides
        return before.atoms, after.atoms

    @cached_property
    def rings(self) -> tuple[RingNames, RingNames] | None:
        """Rings of a molecule on both sides; None if one of the graphs is no molecule, or RDKit is not installed."""
        before, after = (side.rings for side in self.sides)
        return None if before is None or after is None else (before, after)

    def num_hydrogens(self, side: int, i: int) -> int:
        """Number of hydrogens that the graph tells of an atom: nodes beside it, and those that fill its valence."""
        beside = sum(self.type(side, j) == "H" for j in self.near[side].get(i, set()))
        return beside + (self.atoms[side][i].filling or 0)

    def charge_gain(self, i: int) -> int:
        """Change of an atom's charge; 0 if it is not there on one side."""
        before, after = (atoms.get(i) for atoms in self.atoms)
        return 0 if before is None or after is None else after.charge - before.charge

    def around(self, i: int) -> set[int]:
        """Neighbors of a node on either side."""
        return self.near[0].get(i, set()) | self.near[1].get(i, set())

    def is_heavy(self, side: int, i: int) -> bool:
        """True if there is an atom other than hydrogen on one side."""
        return self.type(side, i) not in ("H", None)

    def is_hydrogen(self, i: int) -> bool:
        """True if hydrogens are nodes, and this one is a hydrogen on each side that it exists on."""
        chemistry = self.schema.chemistry
        types = {self.type(0, i), self.type(1, i)} - {None}
        return chemistry is not None and chemistry.explicit_hydrogens and types == {"H"}


def claim(edits: Iterable[Edit], slots: set[int]) -> tuple[tuple[Edit, ...], list[Edit]]:
    """Split edits into those at these nodes or at edges of theirs, and the others."""
    taken, left = [], []
    for edit in edits:
        (taken if slots.intersection(edit.at) else left).append(edit)
    return tuple(taken), left


def connected_groups(slots: Iterable[int], near: Mapping[int, set[int]]) -> list[set[int]]:
    """The connected groups of some nodes, that with the lowest number first; `near` are the neighbors of each node."""
    left, groups = set(slots), []
    while left:
        group, todo = set(), [min(left)]
        while todo:
            i = todo.pop()
            if i in left:
                left.remove(i)
                group.add(i)
                todo += near.get(i, set())
        groups.append(group)
    return groups


def neighbors(graph: Graph) -> dict[int, set[int]]:
    """Neighbors of each node that has some, along edges of either direction."""
    near: dict[int, set[int]] = {}
    for i, j, _ in graph.edges():
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    return near


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Names in a row, such as "C1, C2 and C3"; more than `limit` are cut short."""
    shown = list(names) if len(names) <= limit else [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _atom_name(i: int, node: AttributeDict) -> str:
    return f"the other atom {i}" if node.get("type") == OTHER else _node_name(i, node)


def _node_name(i: int, node: AttributeDict) -> str:
    kind = str(node.get("type", ""))
    return f"{kind}{i}" if kind.isalpha() else f"node {i}"
