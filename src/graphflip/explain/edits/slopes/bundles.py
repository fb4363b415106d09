"""Bundles: many of the most promising changes of a graph at once, where one after the other would not lead far."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np

from ...moves.attributes import Attributes
from ...moves.draft import Built, Draft
from ...moves.sketch import Sketch
from .listing import Promise, bounded

SIZES = (2, 4, 8, 16, 32)
"""Changes of each bundle; the smallest bundle that is enough is the cheapest."""

_BUNDLED = ("change node", "change edge", "remove edge", "add edge")


def bundles(state: Sketch, promises: Sequence[Promise], number: Callable[[Hashable], int]) -> list[Promise]:
    """The first two, four, eight, … of the promised changes together, each of another attribute or another edge.

    A gradient adds up over small changes, and a prediction that rests on many attributes or edges needs many.

    Args:
        state: Graph that they are changes of.
        promises: Changes, those first that promise most; changes of whole groups are left out.
        number: Numbers of sorts of moves.
    """
    chosen: dict[Hashable, Promise] = {}
    for promise in promises:
        if promise.draft.kind in _BUNDLED and float(promise.rises.sum()) > 0:
            chosen.setdefault(_subject(state, promise.draft), promise)
    each = list(chosen.values())
    sizes = [size for size in SIZES if size <= len(each)]
    return [_bundle(state, each[:size], number(("bundle", size))) for size in sizes]


def _subject(state: Sketch, draft: Draft) -> Hashable:
    """The attribute, or the edge, that a change is of."""
    if draft.kind != "change node":
        return draft.place if state.directed else frozenset(draft.place)
    (i,) = draft.place
    return i, _changed(state.nodes[i], draft.brings)


def _changed(was: Attributes, now: Hashable) -> tuple[int, ...]:
    """Places of the attributes that differ."""
    assert isinstance(now, tuple)
    return tuple(at for at, (old, new) in enumerate(zip(was, now, strict=True)) if old != new)


def _bundle(state: Sketch, promises: Sequence[Promise], code: int) -> Promise:
    drafts = [promise.draft for promise in promises]
    place = tuple(dict.fromkeys(i for draft in drafts for i in draft.place))
    brings = tuple((draft.kind, draft.place, draft.brings) for draft in drafts)
    draft = Draft("change node", place, brings, None, partial(_together, state, drafts))
    rises = bounded(np.sum([promise.rises for promise in promises], axis=0))
    return Promise(draft, rises, sum(promise.edits for promise in promises), np.array([code, code]))


def _together(state: Sketch, drafts: Sequence[Draft]) -> Built | None:
    """A state with several changes; None if they split it."""
    draft = state.copy()
    for one in drafts:
        now = one.brings
        if one.kind == "change node":
            (i,) = one.place
            changed = _changed(state.nodes[i], now)
            assert isinstance(now, tuple)
            draft.set_node(i, tuple(now[at] if at in changed else old for at, old in enumerate(draft.nodes[i])))
            continue
        i, j = one.place
        if one.kind == "remove edge":
            draft.cut(i, j)
        else:
            assert isinstance(now, tuple)
            draft.join(i, j, now)
    split = len(draft.parts()) > len(state.parts())
    return None if split else (draft, {i for one in drafts for i in one.place})
