"""Sketch: one hard graph as dictionaries, cheap to copy and to change; searches over edits work on it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...graph import Graph
from .attributes import Attributes

Pair = tuple[int, int]
"""Two nodes, by slot; the ends of an edge."""

Bond = tuple[Attributes, Attributes, Attributes]
"""Attributes of a node, of an edge, and of the neighbor at its other end."""

Environment = tuple[Attributes, tuple[tuple[str, Attributes, Attributes], ...]]
"""Attributes of a node and its sorted edges: direction ("" if undirected), the edge's attributes, the neighbor's."""


class Ions(NamedTuple):
    """Charges of a molecule that stores them, at a glance.

    Args:
        total: Sum of all charges.
        meant: Atoms that have another charge than the charge rule gives them.
        fixed: Atoms of elements without known valences.
    """

    total: int
    meant: frozenset[int]
    fixed: frozenset[int]


@dataclass(eq=False)
class Sketch:
    """Attributes of the nodes of a hard graph by slot, and of its edges: `near[i][j]` for the edge from i to j.

    Undirected edges are stored in both directions. Copy a sketch before changing it: one that was handed on must stay
    as it is. Copies share the inner dictionaries of `near`, so these are replaced and never changed in place.

    Args:
        nodes: Attributes of each node.
        near: Attributes of each edge, by its two ends.
        directed: True if edges have a direction.
        touched: Nodes that were changed, added or removed since the sketch was copied, and the neighbors that they
            gained or lost.
        charges: Formal charges of atoms by the charge rule, kept once they were computed.
        ions: Stored charges at a glance, kept once they were computed.
        atoms: Heavy atoms as an RDKit molecule, kept once they were built.
        rings: Rings of a molecule, kept once they were found.
        census: Bonds and charges of atoms at a glance, kept once they were looked at.
        newest: Number of the node that was added last; 0 if none was. Added nodes have negative numbers.
    """

    nodes: dict[int, Attributes]
    near: dict[int, dict[int, Attributes]]
    directed: bool = False
    touched: set[int] = field(default_factory=set)
    charges: dict[int, int] | None = None
    ions: Ions | None = None
    atoms: Any = None
    rings: Any = None
    census: Any = None
    newest: int = 0

    @classmethod
    def of(cls, graph: Graph, index: int = 0) -> "Sketch":
        """Read the graph at `index` of a batch of hard graphs."""
        nodes = {i: tuple(node.values()) for i, node in enumerate(graph.nodes(index)) if node is not None}
        sketch = cls(nodes, {i: {} for i in nodes}, graph.schema.directed)
        for i, j, attributes in graph.edges(index):
            sketch.join(i, j, tuple(attributes.values()))
        sketch.touched.clear()
        return sketch

    def copy(self) -> "Sketch":
        """A copy in which nothing is touched yet."""
        return Sketch(self.nodes.copy(), self.near.copy(), self.directed, newest=self.newest)

    def branch(self) -> "Sketch":
        """A copy that keeps `touched`, for a draft that is finished in several ways."""
        return Sketch(self.nodes.copy(), self.near.copy(), self.directed, set(self.touched), newest=self.newest)

    def add(self, attributes: Attributes) -> int:
        """Add a node and return its number, which is negative until `align` gives the node a slot."""
        self.newest = i = self.newest - 1
        self.nodes[i], self.near[i] = attributes, {}
        self.touched.add(i)
        return i

    def set_node(self, i: int, attributes: Attributes) -> None:
        """Give a node other attributes, or put a removed node back."""
        self.nodes[i] = attributes
        self.near.setdefault(i, {})
        self.touched.add(i)

    def remove(self, i: int) -> None:
        """Remove a node with its edges."""
        del self.nodes[i]
        gone = self.near.pop(i)
        self.touched.update((i, *gone))
        for j in self.near if self.directed else gone:
            if i in self.near[j]:
                self.near[j] = _without(self.near[j], i)
                self.touched.add(j)

    def join(self, i: int, j: int, attributes: Attributes) -> None:
        """Add an edge, or change its attributes."""
        self.touched.update((i, j))
        self.near[i] = {**self.near[i], j: attributes}
        if not self.directed:
            self.near[j] = {**self.near[j], i: attributes}

    def hang(self, i: int, attributes: Attributes, edge: Attributes, count: int) -> None:
        """Join so many new nodes to a node, all with the same attributes, on edges that are the same as well."""
        new = range(self.newest - 1, self.newest - 1 - count, -1)
        self.near[i] = {**self.near[i], **dict.fromkeys(new, edge)}
        for j in new:
            self.nodes[j], self.near[j] = attributes, {} if self.directed else {i: edge}
        self.newest -= count
        self.touched.update((i, *new))

    def cut(self, i: int, j: int) -> None:
        """Remove an edge."""
        self.touched.update((i, j))
        self.near[i] = _without(self.near[i], j)
        if not self.directed:
            self.near[j] = _without(self.near[j], i)

    def edges(self) -> Iterator[tuple[int, int, Attributes]]:
        """Every edge once, with its attributes; i < j if edges are undirected."""
        for i, near in self.near.items():
            for j, attributes in near.items():
                if self.directed or i < j:
                    yield i, j, attributes

    @property
    def size(self) -> tuple[int, int]:
        """Number of nodes and of edges."""
        ends = sum(map(len, self.near.values()))
        return len(self.nodes), ends if self.directed else ends // 2

    def around(self, i: int) -> list[int]:
        """Neighbors of a node along edges of either direction."""
        if not self.directed:
            return list(self.near[i])
        return [j for j in self.nodes if j != i and (j in self.near[i] or i in self.near[j])]

    def reach(self, start: int, block: int | None = None) -> set[int]:
        """Nodes that can be reached from `start` without the edge from it to `block`."""
        seen, todo = {start}, [start]
        while todo:
            i = todo.pop()
            for j in self.around(i):
                if j not in seen and not (i == start and j == block):
                    seen.add(j)
                    todo.append(j)
        return seen

    def parts(self) -> list[set[int]]:
        """The connected components."""
        parts: list[set[int]] = []
        for i in self.nodes:
            if not any(i in part for part in parts):
                parts.append(self.reach(i))
        return parts

    def environment(self, i: int) -> Environment:
        """The radius-1 environment of a node."""
        out = "out" if self.directed else ""
        edges = [(out, edge, self.nodes[j]) for j, edge in self.near[i].items()]
        if self.directed:
            edges += [("in", near[i], self.nodes[j]) for j, near in self.near.items() if i in near]
        return self.nodes[i], tuple(sorted(edges))

    def colors(self, rounds: int = 3) -> tuple[int, ...]:
        """Sorted Weisfeiler-Leman colors: equal for isomorphic graphs, rarely for others. They vary by process."""
        color = {i: hash(attributes) for i, attributes in self.nodes.items()}
        for _ in range(rounds):
            color = {
                i: hash((color[i], tuple(sorted((hash(edge), color[j]) for j, edge in self.near[i].items()))))
                for i in self.nodes
            }
        return tuple(sorted(color.values()))


def _without(edges: dict[int, Attributes], i: int) -> dict[int, Attributes]:
    return {j: attributes for j, attributes in edges.items() if j != i}
