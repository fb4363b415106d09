"""Stage: the places of nodes that pictures of aligned graphs share, so that unchanged nodes do not move."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...describe.change import neighbors
from ...graph import Graph
from .layout import Places, place, tidied
from .scene import UNIT, Point


@dataclass(frozen=True)
class Stage:
    """Places and neighbors of the node slots of several aligned graphs.

    Args:
        places: Place of each slot that is drawn.
        hidden: Hydrogens that are not drawn as nodes but as letters of their neighbor.
        near: Neighbors of each slot in any of the graphs, without hidden ones.
        numbered: Slots whose numbers are written beside them.
        clean: Places of the last graph's nodes.
        all_numbers: True if nodes that are not `numbered` get their numbers too, which pages show on demand.
    """

    places: Places
    hidden: frozenset[int]
    near: Mapping[int, set[int]]
    numbered: frozenset[int]
    clean: Places
    all_numbers: bool = False

    @classmethod
    def of(
        cls,
        graphs: Sequence[Graph],
        numbered: Collection[int] = (),
        hydrogens: bool = False,
        way: Sequence[Graph] = (),
        numbers: bool = False,
    ) -> "Stage":
        """Lay out the first graph by itself, and the others around the nodes that they share with it.

        The places of the first graph do not depend on the others: it has one drawing wherever it is shown.
        Graphs on the `way` from one to the other get places for their nodes too, without changing those of `graphs`.
        """
        hidden = frozenset() if hydrogens else _hidden_hydrogens(graphs) - _other_atoms(way)
        near: dict[int, set[int]] = {}
        for graph in graphs:
            for i, others in neighbors(graph).items():
                near.setdefault(i, set()).update(others - hidden)
        start = place(graphs[:1], _hidden_hydrogens(graphs[:1]))  # the same in every picture of the first graph
        places = place([*graphs, *way], hidden, start)
        clean = tidied(graphs, places, hidden)
        return cls(_scaled(places), hidden, near, frozenset(numbered), _scaled(clean), numbers)

    def last(self) -> "Stage":
        """The stage of the last graph, with places of its own where the shared ones would make a tangle of it."""
        return replace(self, places=self.clean)

    def number_style(self, i: int) -> Literal["number", "quiet", ""]:
        """Style of the number beside a node; empty if it has none."""
        return "number" if i in self.numbered else "quiet" if self.all_numbers else ""

    def around(self, i: int) -> list[Point]:
        """Places of the neighbors of a node in any of the graphs."""
        return [self.places[j] for j in sorted(self.near.get(i, ())) if j in self.places]


def _scaled(places: Places) -> Places:
    return {i: (UNIT * x, UNIT * y) for i, (x, y) in places.items()}


def _hidden_hydrogens(graphs: Sequence[Graph]) -> frozenset[int]:
    """Slots of hydrogens that have one bond, to a heavier atom, in every graph that has them."""
    filling: set[int] = set()
    shown: set[int] = set()
    for graph in graphs:
        if graph.schema.chemistry is None:
            return frozenset()
        near, types = neighbors(graph), {i: node["type"] for i, node in enumerate(graph.nodes()) if node is not None}
        for i, element in types.items():
            others = near.get(i, set())
            fills = element == "H" and len(others) == 1 and all(types[j] != "H" for j in others)
            (filling if fills else shown).add(i)
    return frozenset(filling - shown)


def _other_atoms(graphs: Sequence[Graph]) -> set[int]:
    """Slots of nodes other than hydrogen in any of the graphs."""
    nodes = [(i, node) for graph in graphs for i, node in enumerate(graph.nodes()) if node is not None]
    return {i for i, node in nodes if node.get("type") != "H"}
