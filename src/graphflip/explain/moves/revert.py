"""Reverting changes: the graphs in which a part of the changes from the factual is taken back."""

from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple, TypeVar, get_args

from ...edits import Edit, apply_edits
from ...errors import GraphError
from ...graph import Graph
from ...schema import Column, Op, Schema
from .apply import apply_differences
from .attributes import Attributes
from .difference import Difference
from .moves import Moves
from .sketch import Pair, Sketch

Answer = TypeVar("Answer")

_SHARES = (0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125)
_LEAST = 1 / 20  # of a scale: changes of numbers are not measured more finely
_MOST_NUMBERS = 20  # of a node or an edge that are taken back one at a time


def revert_all(answer: Answer, revert: Callable[[Answer], Answer | None]) -> Answer:
    """Revert changes of an answer until none can be: until `revert` returns None instead of a smaller answer."""
    while (smaller := revert(answer)) is not None:
        answer = smaller
    return answer


def reverted(moves: Moves, factual: Sketch, after: Sketch, partly: bool = False) -> Iterator[Sketch]:
    """Every valid graph that lacks one change: attributes, an edge, a node with its edges, or a connected group of
    changes.

    Hydrogens are filled in anew, and no graph has more connected parts than the factual. With `partly`, graphs follow
    in which one continuous attribute is only a part of the way back.
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
    if partly:
        yield from partly_reverted(factual, after, moves.schema)


def partly_reverted(factual: Sketch, after: Sketch, schema: Schema) -> Iterator[Sketch]:
    """Every graph in which one continuous attribute is a part of the way back to its value in the factual."""
    if not schema.has_continuous:
        return
    for i, attributes in after.nodes.items():
        for closer in _closer(factual.nodes.get(i), attributes, schema.nodes):
            draft = after.copy()
            draft.set_node(i, closer)
            yield draft
    for i, j, attributes in after.edges():
        for closer in _closer(factual.near.get(i, {}).get(j), attributes, schema.edges):
            draft = after.copy()
            draft.join(i, j, closer)
            yield draft


def apply_some(factual: Graph, edits: Sequence[Edit]) -> Graph | None:
    """The factual after a part of a list of edits, exactly; None if they need an edit that was left out."""
    try:
        return apply_edits(factual, edits)
    except GraphError:
        return None


def apply_possible(factual: Graph, edits: Sequence[Edit], moves: Moves) -> Graph:
    """The factual after a part of a list of edits, as `make_possible` makes them."""
    before = Sketch.of(factual)
    return apply_differences(factual, [Difference.between(before, make_possible(before, edits, moves))])


def make_possible(factual: Sketch, edits: Sequence[Edit], moves: Moves) -> Sketch:
    """The factual after a part of a list of edits, without those that need an edit that was left out.

    Hydrogens are filled in anew. Where valences cannot be filled, the graph is as the edits leave it.
    """
    draft = factual.copy()
    for edit in sorted(edits, key=lambda edit: get_args(Op).index(edit.op)):
        columns = moves.schema.nodes if edit.is_node else moves.schema.edges
        _make(draft, edit, [column.name for column in columns])
    _remove_loose(draft, factual)
    heavy = set(moves.heavy(draft))
    changed = {i for i in Difference.between(factual, draft).touched if i in heavy or i not in draft.nodes}
    return moves.settled(factual, draft.branch(), changed, factual) or draft


class _Unit(NamedTuple):
    """Changes that are reverted together."""

    nodes: frozenset[int]
    edges: frozenset[Pair]


def _units(difference: Difference, factual: Sketch, after: Sketch) -> list[_Unit]:
    """Single changes, then groups of changes that are connected by changed edges, then those connected by any."""
    units = []
    for i, change in sorted(difference.nodes.items()):
        edges = [pair for pair in difference.edges if i in pair] if change.after is None else []
        units.append(_Unit(frozenset([i]), frozenset(pair for pair in edges if _other(pair, i) in after.nodes)))
    there = [pair for pair in difference.edges if set(pair) <= after.nodes.keys()]
    units += [_Unit(frozenset(), frozenset([pair])) for pair in sorted(there)]
    units += _connected(difference, list(difference.edges))
    touched = difference.touched
    edges = [(i, j) for sketch in (factual, after) for i, j, _ in sketch.edges() if i in touched and j in touched]
    units += _connected(difference, edges)
    return list(dict.fromkeys(units))


def _other(pair: Pair, i: int) -> int:
    return pair[0] + pair[1] - i


def _connected(difference: Difference, edges: list[Pair]) -> list[_Unit]:
    """The changes as groups of those whose nodes these edges connect."""
    group = {i: i for i in difference.touched}
    for i, j in edges:
        old, new = group[i], group[j]
        group = {k: new if name == old else name for k, name in group.items()}
    return [
        _Unit(
            frozenset(i for i in difference.nodes if group[i] == name),
            frozenset(pair for pair in difference.edges if group[pair[0]] == name),
        )
        for name in sorted(set(group.values()))
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
            attributes = factual.near.get(i, {}).get(j)
            if attributes is not None:
                draft.join(i, j, attributes)
            elif j in draft.near[i]:
                draft.cut(i, j)
    return draft


def _closer(was: Attributes | None, now: Attributes, columns: Sequence[Column]) -> Iterator[Attributes]:
    """Attributes in which one number has come a share of the way back; of very many, those that changed most."""
    if was is None or was == now:
        return
    changed = [at for at, column in enumerate(columns) if column.is_continuous and was[at] != now[at]]
    if len(changed) > _MOST_NUMBERS:
        changed = nsmallest(_MOST_NUMBERS, changed, key=lambda at: -columns[at].distance(was[at], now[at]))
    for at in changed:
        column, gap = columns[at], float(was[at]) - float(now[at])
        for share in _SHARES:
            if abs(gap) * share >= _LEAST * column.unit:
                yield (*now[:at], column.round(float(now[at]) + share * gap), *now[at + 1 :])


def _make(draft: Sketch, edit: Edit, names: Sequence[str]) -> None:
    """Make an edit in place, if the nodes and edges that it needs are there."""
    i, j = edit.at[0], edit.at[-1]
    there = i in draft.nodes and j in draft.nodes
    joined = there and not edit.is_node and j in draft.near[i]
    if edit.op == "add_node":
        draft.set_node(i, tuple(edit.after[name] for name in names))
    elif edit.op == "remove_node" and there and not draft.around(i):
        draft.remove(i)
    elif edit.op == "set_node" and there:
        draft.set_node(i, _edited(draft.nodes[i], edit, names))
    elif edit.op == "remove_edge" and joined:
        draft.cut(i, j)
    elif edit.op == "add_edge" and there:
        draft.join(i, j, tuple(edit.after[name] for name in names))
    elif edit.op == "set_edge" and joined:
        draft.join(i, j, _edited(draft.near[i][j], edit, names))


def _edited(attributes: Attributes, edit: Edit, names: Sequence[str]) -> Attributes:
    return tuple(edit.after.get(name, value) for name, value in zip(names, attributes, strict=True))


def _remove_loose(draft: Sketch, before: Sketch) -> None:
    """Remove nodes without edges, unless they had none before."""
    alone = [i for i in draft.nodes if not draft.around(i) and (i not in before.nodes or before.around(i))]
    for i in alone if len(draft.nodes) > len(alone) else []:
        draft.remove(i)
