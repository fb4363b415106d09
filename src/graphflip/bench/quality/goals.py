"""Goals for the figures of the default explainer, and a check of each."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Results = Mapping[str, Mapping[str, Any]]
"""Figures by dataset and method."""


class QualityGoal(NamedTuple):
    """A bound on a figure of a method.

    Args:
        dataset: Name of the dataset.
        row: Name of the method.
        figure: Name of the figure.
        at_least: True for a lower bound, False for an upper bound.
        value: The bound, if it is a number.
        other: Method and figure that the bound is a multiple of, if it is not a number.
        factor: The multiple.
    """

    dataset: str
    row: str
    figure: str
    at_least: bool
    value: float | None = None
    other: tuple[str, str] | None = None
    factor: float = 1.0

    def bound(self, results: Results) -> float | None:
        """The bound as a number; None if the figure that it depends on is unknown."""
        if self.other is None:
            return self.value
        row, figure = self.other
        value = results.get(self.dataset, {}).get(row, {}).get(figure)
        return None if value is None else self.factor * value

    def words(self, results: Results) -> str:
        """The goal as text, such as `≥ 0.95`."""
        bound, sign = self.bound(results), "≥" if self.at_least else "≤"
        number = "–" if bound is None else f"{bound:.3g}" if self.other else f"{bound:g}"
        if self.other is None:
            return f"{sign} {number}"
        row, figure = self.other
        times = f"{self.factor:g} × " if self.factor != 1 else ""
        return f"{sign} {number} ({times}{figure if row == self.row else f'{figure} of {row}'})"

    def is_met(self, results: Results) -> bool | None:
        """True if the goal is met; None if there is no such figure."""
        value = results.get(self.dataset, {}).get(self.row, {}).get(self.figure)
        bound = self.bound(results)
        if value is None or bound is None:
            return None
        return value >= bound - 1e-9 if self.at_least else value <= bound + 1e-9


def _goals(dataset: str, row: str, least: dict[str, float], most: dict[str, float]) -> list[QualityGoal]:
    lower = [QualityGoal(dataset, row, figure, True, value) for figure, value in {"flip_ratio": 1.0, **least}.items()]
    return lower + [QualityGoal(dataset, row, figure, False, value) for figure, value in most.items()]


def _as_real(dataset: str, row: str) -> QualityGoal:
    return QualityGoal(dataset, row, "radical_free", True, other=(row, "radical_free_real"))


def _near_limit(dataset: str) -> QualityGoal:
    return QualityGoal(dataset, "minimal", "mean_edits", False, other=("limit", "mean_edits"), factor=1.3)


_BELIEVABLE = {"nafr": 0.95, "nafr_other": 0.88, "edge_sp": 0.93, "environment": 0.98, "round_trip": 1.0}
_BALANCED = {"nafr": 0.90, "nafr_other": 0.75, "environment": 0.95}
_CHEMISTRY = {"aromatic_kept": 0.97, "rings_known": 0.95, "sa_up_le1": 0.93, "similarity": 0.48}


def _alert_goals(dataset: str, row: str, to_mutagen: float, to_nonmutagen: float) -> list[QualityGoal]:
    least = {"mutagen": to_mutagen, "nonmutagen": to_nonmutagen}
    return [QualityGoal(dataset, row, f"alerts_toward.{name}", True, value) for name, value in least.items()]


def _chemistry_goals(dataset: str) -> list[QualityGoal]:
    """Goals that a chemist would set, by measures that no search has seen."""
    return [
        *[QualityGoal(dataset, "balanced", figure, True, value) for figure, value in _CHEMISTRY.items()],
        QualityGoal(dataset, "balanced", "new_stereo", False, 0.06),
        QualityGoal(dataset, "balanced", "changes", False, 2.0),
        *_alert_goals(dataset, "balanced", 0.92, 0.85),
        *_alert_goals(dataset, "believable", 0.96, 0.90),
        QualityGoal(dataset, "minimal", "class_minimal", True, 1.0),
    ]


def _molecule_goals(dataset: str, nafr_other: float, heavy_edits: float) -> list[QualityGoal]:
    """Goals of a set of molecules with two classes of about equal size; two of those of `balanced` are given."""
    balanced = _BALANCED | {"nafr_other": nafr_other, "edge_sp": 0.95, "round_trip": 1.0}
    return [
        *_goals(dataset, "believable", _BELIEVABLE, {"mean_heavy_edits": 4.0}),
        _as_real(dataset, "believable"),
        *_goals(dataset, "balanced", balanced, {"mean_heavy_edits": heavy_edits}),
        _as_real(dataset, "balanced"),
        *_goals(dataset, "minimal", {"edge_sp": 0.97}, {}),
        _near_limit(dataset),
    ]


GOALS = (
    *_molecule_goals("mutagenicity", nafr_other=0.82, heavy_edits=4.0),
    *_chemistry_goals("mutagenicity"),
    *_molecule_goals("ames", nafr_other=0.75, heavy_edits=3.0),
    *_goals("nci1", "balanced", _BALANCED | {"edge_sp": 0.93}, {"mean_heavy_edits": 3.0}),
    *_goals("nci1", "minimal", {"edge_sp": 0.97}, {}),
    _near_limit("nci1"),
    *_goals("aids", "balanced", {"nafr": 0.95, "environment": 0.95, "round_trip": 1.0}, {"mean_heavy_edits": 8.0}),
    _as_real("aids", "balanced"),
    QualityGoal("planted", "minimal", "found", True, 0.99),
)
