"""Stages: what pictures of aligned graphs share, so that nothing moves from one to the next but what changes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...describe.sentences import neighbors
from ...graph import Graph
from .layout import Places, place
from .scene import UNIT, Point


@dataclass(frozen=True)
class Stage:
    """The place of each slot that is drawn, neighbors in any of the graphs, and which nodes have their numbers beside
    them. `hidden` nodes are hydrogens that are letters of their neighbor."""

    places: Places
    hidden: frozenset[int]
    near: Mapping[int, set[int]]
    numbered: frozenset[int]

    @classmethod
    def of(
        cls,
        graphs: Sequence[Graph],
        numbered: Collection[int] = (),
        hydrogens: bool = False,
        way: Sequence[Graph] = (),
    ) -> "Stage":
        """A stage for graphs of which the first is laid out by itself and the others around what they share with it.

        Graphs on the `way` from one to the other find their places too, but change nothing for those.
        """
        hidden = frozenset() if hydrogens else _hidden_hydrogens(graphs) - _other_atoms(way)
        near: dict[int, set[int]] = {}
        for graph in graphs:
            for i, others in neighbors(graph).items():
                near.setdefault(i, set()).update(others - hidden)
        places = {i: (UNIT * x, UNIT * y) for i, (x, y) in place([*graphs, *way], hidden).items()}
        return cls(places, hidden, near, frozenset(numbered))

    def around(self, i: int) -> list[Point]:
        """Where the neighbors of a node are, those of all graphs."""
        return [self.places[j] for j in sorted(self.near.get(i, ()))]


def _hidden_hydrogens(graphs: Sequence[Graph]) -> frozenset[int]:
    """Hydrogens that fill the valence of a heavier atom in every graph that has them."""
    found: set[int] = set()
    shown: set[int] = set()
    for graph in graphs:
        if graph.schema.chemistry is None:
            return frozenset()
        near, types = neighbors(graph), {i: node["type"] for i, node in enumerate(graph.nodes()) if node is not None}
        for i, kind in types.items():
            others = near.get(i, set())
            fills = kind == "H" and len(others) == 1 and all(types[j] != "H" for j in others)
            (found if fills else shown).add(i)
    return frozenset(found - shown)


def _other_atoms(graphs: Sequence[Graph]) -> set[int]:
    """Slots that are something else than hydrogen in one of the graphs."""
    nodes = [(i, node) for graph in graphs for i, node in enumerate(graph.nodes()) if node is not None]
    return {i for i, node in nodes if node.get("type") != "H"}
