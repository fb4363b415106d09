"""Undo: the valid graphs in which one change of an aligned pair, or one connected lot of them, is taken back."""

from collections.abc import Iterator
from typing import NamedTuple

from .difference import Difference
from .moves import Moves
from .sketch import Pair, Sketch


class _Unit(NamedTuple):
    """Changes that are taken back together."""

    nodes: frozenset[int]
    edges: frozenset[Pair]


def undone(moves: Moves, factual: Sketch, after: Sketch) -> Iterator[Sketch]:
    """Each valid graph between the two that lacks one change: a label, an edge, a node with its edges, or a whole lot.

    Hydrogens are filled in anew, and no part splits off that the factual does not have.
    """
    num_parts = len(factual.parts())
    for unit in _units(Difference.between(factual, after), factual, after):
        draft = _restored(moves, factual, after, unit)
        ends = {*unit.nodes, *(i for pair in unit.edges for i in pair)}
        ends |= {j for i in unit.nodes if i in after.nodes for j in after.around(i)}
        heavy = set(moves.heavy(draft))
        sketch = moves.settled(after, draft, {i for i in ends if i not in draft.nodes or i in heavy}, factual)
        if sketch is not None and len(sketch.parts()) <= num_parts:
            yield sketch


def _units(difference: Difference, factual: Sketch, after: Sketch) -> list[_Unit]:
    """Single changes first, then lots of changes that hang together, by changed edges alone or by any."""
    units = []
    for i, change in sorted(difference.nodes.items()):
        edges = [pair for pair in difference.edges if i in pair] if change.after is None else []
        units.append(_Unit(frozenset([i]), frozenset(pair for pair in edges if _other(pair, i) in after.nodes)))
    there = [pair for pair in difference.edges if set(pair) <= after.nodes.keys()]
    units += [_Unit(frozenset(), frozenset([pair])) for pair in sorted(there)]
    units += _lots(difference, list(difference.edges))
    touched = difference.touched
    edges = [(i, j) for sketch in (factual, after) for i, j, _ in sketch.edges() if i in touched and j in touched]
    units += _lots(difference, edges)
    return list(dict.fromkeys(units))


def _other(pair: Pair, i: int) -> int:
    return pair[0] + pair[1] - i


def _lots(difference: Difference, edges: list[Pair]) -> list[_Unit]:
    """The changes at nodes that these edges connect, lot by lot."""
    lot = {i: i for i in difference.touched}
    for i, j in edges:
        old, new = lot[i], lot[j]
        lot = {k: new if name == old else name for k, name in lot.items()}
    return [
        _Unit(
            frozenset(i for i in difference.nodes if lot[i] == name),
            frozenset(pair for pair in difference.edges if lot[pair[0]] == name),
        )
        for name in sorted(set(lot.values()))
    ]


def _restored(moves: Moves, factual: Sketch, after: Sketch, unit: _Unit) -> Sketch:
    """The graph with a unit as it is in the factual, before hydrogens are settled."""
    draft = after.copy()
    for i in sorted(unit.nodes):
        if i in draft.nodes:
            moves.strip_hydrogens(draft, i, keep=factual.near.get(i, {}))
            if i not in factual.nodes:
                draft.remove(i)
        if i in factual.nodes:
            draft.set_node(i, factual.nodes[i])
    for i, j in sorted(unit.edges):
        if i in draft.nodes and j in draft.nodes:
            label = factual.near.get(i, {}).get(j)
            if label is not None:
                draft.join(i, j, label)
            elif j in draft.near[i]:
                draft.cut(i, j)
    return draft
