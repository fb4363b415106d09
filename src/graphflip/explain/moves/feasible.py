"""Feasible: of the changes that a decoder asks for, those that lead from one valid graph to the next."""

from .attributes import Attributes
from .difference import AttributeChange, Difference
from .moves import Moves
from .sketch import Sketch

_Unit = tuple[tuple[int, ...], Attributes | None]
"""Where a change is, at a node or at a pair of them, and the label afterwards; None if it is removed."""


def feasible(moves: Moves, factual: Sketch, wanted: Sketch) -> Sketch:
    """The factual after all changes that are valid moves from the graph before; none splits it.

    Labels come first, then edges that are added or changed, edges that are removed, nodes that are removed. Hydrogens
    follow from the rest: what is wanted of them plays no part, unless they are to become another atom.
    """
    state, num_parts, heavy = factual, len(factual.parts()), set(moves.heavy(factual))
    for at, label in _units(Difference.between(factual, wanted), heavy):
        if not state.nodes.keys() >= set(at):
            continue
        draft, changed = _made(moves, state, at, label)
        after = moves.settled(state, draft, changed, factual)
        if after is None or len(after.parts()) > num_parts or not changed & after.nodes.keys() <= {*moves.heavy(after)}:
            continue
        state = after
    return state


def _units(difference: Difference, heavy: set[int]) -> list[_Unit]:
    labels = [((i,), change.after) for i, change in sorted(difference.nodes.items()) if _stays(change)]
    pairs = [(pair, change) for pair, change in sorted(difference.edges.items()) if heavy.issuperset(pair)]
    joined: list[_Unit] = [(pair, change.after) for pair, change in pairs if change.after is not None]
    cut: list[_Unit] = [(pair, None) for pair, change in pairs if change.after is None]
    gone: list[_Unit] = [((i,), None) for i, change in sorted(difference.nodes.items()) if change.after is None]
    return [*labels, *joined, *cut, *(one for one in gone if heavy.issuperset(one[0]))]


def _stays(change: AttributeChange) -> bool:
    return None not in change


def _made(moves: Moves, state: Sketch, at: tuple[int, ...], label: Attributes | None) -> tuple[Sketch, set[int]]:
    """The draft with one change made, and the heavy nodes that it reaches."""
    draft = state.copy()
    if len(at) == 2:
        i, j = at
        if label is not None:
            draft.join(i, j, label)
        elif j in draft.near[i]:
            draft.cut(i, j)
        return draft, {i, j}
    (i,) = at
    if label is not None:
        draft.set_node(i, label)
        return draft, {i}
    around = {j for j in moves.heavy(state) if j in state.around(i)}
    moves.strip_hydrogens(draft, i)
    draft.remove(i)
    return draft, {i, *around}
