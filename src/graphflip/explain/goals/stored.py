"""Goals as explanations keep them (`Target`), and as JSON."""

import math
from collections.abc import Sequence
from typing import Any

from jaxtyping import Int
from torch import Tensor

from ...errors import DataError
from .classes import AnyOther, ClassGoal
from .goal import AbstractGoal
from .values import ValueGoal

Target = int | AbstractGoal
"""A goal as explanations keep it: the number of a class, or another goal."""


def goal_of(target: Target) -> AbstractGoal:
    """Goal of a target; a number means the class of this number."""
    return ClassGoal(target) if isinstance(target, int) else target


def goals_of(target: Sequence[Target] | Int[Tensor, " b"]) -> list[AbstractGoal]:
    """Goals of several targets."""
    return [goal_of(each) for each in (target.tolist() if isinstance(target, Tensor) else target)]


def target_of(goal: AbstractGoal) -> Target:
    """Target of a goal; the inverse of `goal_of`."""
    return goal.index if isinstance(goal, ClassGoal) else goal


def goal_from_json(stored: Any) -> AbstractGoal:
    """Read what `AbstractGoal.to_json` writes: a class number, `{"not": class}` or `{"low": …, "high": …}`."""
    if _is_class(stored):
        return ClassGoal(stored)
    if isinstance(stored, dict) and set(stored) == {"not"} and _is_class(stored["not"]):
        return AnyOther(stored["not"])
    if isinstance(stored, dict) and stored and set(stored) <= {"low", "high"}:
        bounds = [stored.get(key) for key in ("low", "high")]
        if all(bound is None or type(bound) in (int, float) for bound in bounds):
            low, high = (float(default if b is None else b) for b, default in zip(bounds, _EVERYTHING, strict=True))
            return ValueGoal(low, high)
    raise DataError(
        f"`target` must be a class number, or for values a range such as {{'low': 1.5, 'high': null}}; got {stored!r}."
    )


_EVERYTHING = (-math.inf, math.inf)


def _is_class(stored: Any) -> bool:
    return type(stored) is int and 0 <= stored < 2**31
