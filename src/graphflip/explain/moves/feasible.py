"""Feasible changes: those of the changes that a decoder asks for that keep a graph valid."""

from .attributes import Attributes
from .difference import AttributeChange, Difference
from .moves import Moves
from .sketch import Sketch

_SingleChange = tuple[tuple[int, ...], Attributes | None]
"""The node or the two ends of the edge that changes, and its attributes afterwards; None if it is removed."""


def feasible(moves: Moves, factual: Sketch, wanted: Sketch) -> Sketch:
    """Make the wanted changes one by one, and skip those that are not valid or split the graph.

    Attributes of nodes come first, then edges that are added or changed, edges that are removed, nodes that are
    removed. Hydrogens and stored charges follow: `wanted` matters for hydrogens only if they become another
    element, and for charges not at all.
    """
    state, num_parts, heavy = factual, len(factual.parts()), set(moves.heavy(factual))
    for at, attributes in _single_changes(Difference.between(factual, wanted), heavy):
        if not state.nodes.keys() >= set(at):
            continue
        draft, changed = _draft(moves, state, at, attributes)
        after = moves.settled(state, draft, changed, factual)
        if after is None or len(after.parts()) > num_parts or not changed & after.nodes.keys() <= {*moves.heavy(after)}:
            continue
        state = after
    return state


def _single_changes(difference: Difference, heavy: set[int]) -> list[_SingleChange]:
    """Changes of a difference in the order in which `feasible` makes them."""
    nodes = sorted(difference.nodes.items())
    changed = [((i,), change.after) for i, change in nodes if _stays(change)]
    pairs = [(pair, change) for pair, change in sorted(difference.edges.items()) if heavy.issuperset(pair)]
    joined: list[_SingleChange] = [(pair, change.after) for pair, change in pairs if change.after is not None]
    cut: list[_SingleChange] = [(pair, None) for pair, change in pairs if change.after is None]
    gone: list[_SingleChange] = [((i,), None) for i, change in nodes if change.after is None and i in heavy]
    return [*changed, *joined, *cut, *gone]


def _stays(change: AttributeChange) -> bool:
    """True if a node exists before and after."""
    return None not in change


def _draft(moves: Moves, state: Sketch, at: tuple[int, ...], attributes: Attributes | None) -> tuple[Sketch, set[int]]:
    """A copy of the state with one change made, and the heavy nodes that the change reaches."""
    draft = state.copy()
    if len(at) == 2:
        i, j = at
        if attributes is not None:
            draft.join(i, j, attributes)
        elif j in draft.near[i]:
            draft.cut(i, j)
        return draft, {i, j}
    (i,) = at
    if attributes is not None:
        draft.set_node(i, moves.rules.bare(attributes))
        return draft, {i}
    around = {j for j in moves.heavy(state) if j in state.around(i)}
    moves.strip_hydrogens(draft, i)
    draft.remove(i)
    return draft, {i, *around}
