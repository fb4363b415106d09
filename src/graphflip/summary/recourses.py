"""Recourse: a transformation with the context in which it may be made."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .sites import Surrounding
from .transformations import Transformation

_FEWEST = 8
"""Graphs that a recourse must flip before its context is read off them."""

_MOST_CONDITIONS = 2


@dataclass(frozen=True)
class Recourse:
    """A change that can be made in any graph, and where it may be made.

    Args:
        change: What is replaced, and by what.
        context: What must be true around the place; empty if it may be made wherever the pattern is found.

    Example:
        >>> from graphflip.summary.transformations import PatternNode
        >>> paint = Recourse(Transformation((PatternNode(("red",), ("gray",)),), ()), frozenset({(0, "in a ring")}))
        >>> Recourse.from_json(paint.to_json()) == paint
        True
    """

    change: Transformation
    context: frozenset[Surrounding] = frozenset()

    @property
    def rank(self) -> tuple:
        """Sort key among recourses that cover as much: fewer edits, a wider context, then a text of its own."""
        return self.change.num_edits, len(self.change.nodes), len(self.context), self.change.key, sorted(self.context)

    def to_json(self) -> dict[str, Any]:
        """Convert to a dict that can be written as JSON; `from_json` reads it back."""
        return {**self.change.to_json(), "context": [list(one) for one in sorted(self.context)]}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Recourse":
        """Read what `to_json` wrote."""
        return cls(Transformation.from_json(stored), frozenset((place, said) for place, said in stored["context"]))


class SiteResult:
    """A site: the graph it is in, all that is true around it, and True if the change flips the graph there."""

    __slots__ = ("flipped", "graph", "true")

    def __init__(self, graph: int, true: frozenset[Surrounding], flipped: bool):
        self.graph, self.true, self.flipped = graph, true, flipped


def sharpened(recourse: Recourse, results: Sequence[SiteResult]) -> Recourse:
    """Narrow the context of a recourse to where it works, without losing a graph that it flips.

    Conditions are added one by one, at most two: each time the one that rules out most of the sites at which the change
    does not flip, if that is a fifth of them or more.

    Args:
        recourse: A recourse without context.
        results: Its results at sites of several graphs.

    Returns:
        The recourse with its context; the same if it flips fewer than 8 of the graphs.
    """
    flipped = {one.graph for one in results if one.flipped}
    if len(flipped) < _FEWEST:
        return recourse
    left, context = list(results), set[Surrounding]()
    for _ in range(_MOST_CONDITIONS):
        failing = [one for one in left if not one.flipped]
        ruled_out = Counter({said: _ruled_out(said, failing) for said in _common(left, flipped)})
        best = min(ruled_out, key=lambda said: (-ruled_out[said], len(said[1]), said), default=None)
        if best is None or ruled_out[best] < max(1, len(failing) / 5):
            break
        context.add(best)
        left = [one for one in left if best in one.true]
    return Recourse(recourse.change, frozenset(context))


def _common(results: Sequence[SiteResult], flipped: set[int]) -> set[Surrounding]:
    """Conditions that hold at a flipping site of every graph that is flipped."""
    held: dict[Surrounding, set[int]] = {}
    for one in results:
        if one.flipped:
            for said in one.true:
                held.setdefault(said, set()).add(one.graph)
    return {said for said, graphs in held.items() if graphs == flipped}


def _ruled_out(said: Surrounding, failing: Sequence[SiteResult]) -> int:
    return sum(said not in one.true for one in failing)
