"""Importance: how much single changes at each node and edge of a factual move the prediction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import DataError


@dataclass(frozen=True)
class Importance:
    """Mean effect of the single changes that a search has tried at each place of a factual, with estimates elsewhere.

    An effect is the rise of the target's probability, or where values are predicted, how much closer the value comes to
    the target. It is above 0 where a change leads towards the target: the place holds the prediction. A change at
    several places counts at each for its share.

    Args:
        nodes: Effects by node number.
        edges: Effects by pair of nodes, as in `Graph.edges`.
        estimated: Effects by node number where nothing was tried, from the classifier's gradient; empty if it has none.

    Example:
        >>> Importance({0: 0.4, 1: -0.1}, {(0, 1): 0.2}).largest
        0.4
    """

    nodes: Mapping[int, float]
    edges: Mapping[tuple[int, int], float]
    estimated: Mapping[int, float] = field(default_factory=dict)

    @property
    def largest(self) -> float:
        """Largest effect, in size; 0 if there are none."""
        effects = *self.nodes.values(), *self.edges.values(), *self.estimated.values()
        return max(map(abs, effects), default=0.0)

    def renumbered(self, place: Mapping[int, int], directed: bool) -> "Importance":
        """The same with other node numbers; numbers without a place stay."""
        edges = {tuple(place.get(i, i) for i in pair): effect for pair, effect in self.edges.items()}
        ordered = {pair if directed else tuple(sorted(pair)): effect for pair, effect in edges.items()}
        return Importance(
            {place.get(i, i): effect for i, effect in self.nodes.items()},
            {(pair[0], pair[1]): effect for pair, effect in ordered.items()},
            {place.get(i, i): effect for i, effect in self.estimated.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready form, effects to four digits; `from_json` reads it back."""
        nodes, estimated = (
            [[i, round(effect, 4)] for i, effect in sorted(effects.items())] for effects in (self.nodes, self.estimated)
        )
        edges = [[i, j, round(effect, 4)] for (i, j), effect in sorted(self.edges.items())]
        return {"nodes": nodes, "edges": edges} | ({"estimated": estimated} if estimated else {})

    @classmethod
    def from_json(cls, stored: Any) -> "Importance | None":
        """Read what `to_json` writes; None stays None. Raises DataError if it has another form."""
        if stored is None:
            return None
        try:
            nodes, estimated = (
                {int(i): float(effect) for i, effect in pairs}
                for pairs in (stored["nodes"], stored.get("estimated", ()))
            )
            return cls(nodes, {(int(i), int(j)): float(effect) for i, j, effect in stored["edges"]}, estimated)
        except (TypeError, KeyError, ValueError, OverflowError, AttributeError) as error:
            raise DataError(
                "`importance` must have `nodes`, a list of [number, effect], and `edges`, a list of [i, j, effect]; "
                f"got {str(stored)[:80]}."
            ) from error
