"""Centers: graphs of the wanted class that are made to be near many inputs, by climbing from edit to edit.

A center is aligned with the inputs around it. Then every single edit of it can be judged by lookup: how many inputs
come within theta. The best edit is made while it helps; then the edits that change its class at the least loss; the
inputs are aligned anew, and so on, as in k-means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from .alignment import THOROUGH, Effort
from .codes import CodedGraphs
from .frames import CodeChange, Frame, all_changes, applied
from .nearness import Profiles

Reaches = Callable[[CodedGraphs], Float[np.ndarray, " g"]]
"""Gives for each graph a number that is above 0 where the wanted class is reached, and else its log-probability."""

Changes = Callable[[Frame], Sequence[CodeChange]]
"""Lists the changes of a center that may be made."""

_SHARPNESS = (2.0, 1.0, 1.0)
"""Edits beyond theta that still count a little, in each round; the first rounds look farther."""


_CROSSING = 14
"""Most changes on the way to the wanted class."""

_KEPT = 1.0
"""Log-probability for which all near inputs would be given up on that way."""


@dataclass(frozen=True, eq=False)
class CenterSearch:
    """Looks for centers.

    Args:
        inputs: Graphs to be near to.
        reaches: Asks the classifier.
        theta: Largest normalized distance.
        changes: Changes that may be made: all single edits, or the moves of a schema.
        kinds: True if changes of an edge's attributes are edits; False counts edges only as there or not.
        pool: Inputs that a center is aligned with while it climbs.
        most_edits: Most edits between two alignments.
        asked: Changed centers that the classifier is asked about at a time.
    """

    inputs: Profiles
    reaches: Reaches
    theta: float = 0.1
    changes: Changes = all_changes
    kinds: bool = True
    pool: int = 300
    most_edits: int = 8
    asked: int = 400

    def climb(self, start: CodedGraphs, weights: Float[np.ndarray, " g"]) -> CodedGraphs | None:
        """Climb from a graph to one of the wanted class that is near much weight; None if none is reached."""
        center, best, most = start, None, -1.0
        for sharpness in _SHARPNESS:
            frame, weight = self._framed(center, weights)
            if not len(weight):
                break
            if best is None and self.reaches(center)[0] > 0:
                best, most = center, self._value(frame, weight)
            frame = self._climbed(frame, weight, sharpness)
            crossed = self._crossed(frame, weight, sharpness)
            if crossed is None:
                break
            center, value = crossed.center, self._value(crossed, weight)
            best, most = (center, value) if value > most else (best, most)
        return best

    def near(self, center: CodedGraphs, effort: Effort = THOROUGH, most: int = 800) -> Bool[np.ndarray, " g"]:
        """Inputs that are proved to be near a center."""
        likely = self._likely(center, self.theta, most)
        near = np.zeros(len(self.inputs.graphs), dtype=bool)
        if len(likely):
            framed = Frame.around(center, self.inputs.graphs[likely], self.theta, self.kinds, effort)
            near[likely] = framed.slack >= -1e-9
        return near

    def _framed(self, center: CodedGraphs, weights: np.ndarray) -> tuple[Frame, np.ndarray]:
        likely = self._likely(center, 1.6 * self.theta, len(weights))
        pool = likely[weights[likely] > 0][: self.pool]
        return Frame.around(center, self.inputs.graphs[pool], self.theta, self.kinds), weights[pool]

    def _likely(self, center: CodedGraphs, theta: float, most: int) -> Int[np.ndarray, " m"]:
        seen = self.inputs if self.kinds else self._bare_inputs
        return seen.likely(center if self.kinds else center.bare, theta, most)

    @cached_property
    def _bare_inputs(self) -> Profiles:
        return Profiles(self.inputs.graphs.bare)

    def _climbed(self, frame: Frame, weight: np.ndarray, sharpness: float) -> Frame:
        """Make the best changes one by one; inside of the wanted class, once it is reached."""
        inside = self.reaches(frame.center)[0] > 0
        for _ in range(self.most_edits):
            changes = self.changes(frame)
            if not changes:
                break
            value = _soft(frame.slack_after(changes), sharpness) @ weight
            order = np.argsort(-value, kind="stable")
            order = order[value[order] > float(_soft(frame.slack, sharpness) @ weight) + 1e-6]
            if inside and len(order):
                some = order[:48]
                order = some[self.reaches(applied(frame.center, [changes[k] for k in some])) > 0]
            if not len(order):
                break
            frame = frame.changed(changes[order[0]])
        return frame

    def _crossed(self, frame: Frame, weight: np.ndarray, sharpness: float) -> Frame | None:
        """The frame after the changes that lead to the wanted class at the least loss; None if they are too many."""
        for _ in range(_CROSSING):
            if self.reaches(frame.center)[0] > 0:
                return frame
            changes = self.changes(frame)
            if not changes:
                return None
            value = _soft(frame.slack_after(changes), sharpness) @ weight
            order = self._worth_asking(frame, changes, value)
            lead = self.reaches(applied(frame.center, [changes[k] for k in order]))
            flips = np.flatnonzero(lead > 0)
            kept = value[order] / max(1e-9, float(value.max()))
            at = flips[0] if len(flips) else int(np.argmax(lead + _KEPT * kept))
            frame = frame.changed(changes[order[at]])
        return None

    def _worth_asking(self, frame: Frame, changes: Sequence[CodeChange], value: np.ndarray) -> Int[np.ndarray, " k"]:
        """Changes to ask the classifier about, the best first: as many that are edits as that are none."""
        order, links = np.argsort(-value, kind="stable"), frame.center.links[0]
        if self.kinds:
            return order[: self.asked]
        is_edit = np.array(
            [
                bool(changes[k].nodes) or any((code > 0) != (links[i, j] > 0) for i, j, code in changes[k].links)
                for k in order
            ]
        )
        rank = np.where(is_edit, np.cumsum(is_edit), np.cumsum(~is_edit))
        return order[rank <= self.asked // 2]

    @staticmethod
    def _value(frame: Frame, weight: np.ndarray) -> float:
        return float(((frame.slack >= -1e-9) * weight).sum())


def _soft(slack: np.ndarray, sharpness: float) -> np.ndarray:
    """1 for inputs well within theta, 0 for those far beyond it."""
    return 1 / (1 + np.exp(-np.clip((slack + 0.5) / sharpness * 2, -30, 30)))
