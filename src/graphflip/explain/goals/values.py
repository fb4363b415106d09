"""Goals of models that predict a value: a range, or a shift from the predicted value."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from ...errors import ConfigError, NotFinite
from .goal import AbstractGoal, AbstractRequest

# Outputs of batches of different shapes differ in the last digits: a bound is met up to this share of it.
_ROUNDING = 1e-5

# Score of a factual outside of the range is minus this: as if the goal were a class of probability 5 %.
_START = 3.0


@dataclass(frozen=True)
class ValueGoal(AbstractGoal):
    """The predicted value lies in a range, up to rounding. The score is minus the distance to the range over `scale`.

    Args:
        low: Lower bound; minus infinity for none.
        high: Upper bound; infinity for none. At least one bound must be finite.
        scale: Unit of the score; `at` sets it to a third of the factual's distance to the range.

    Raises:
        ConfigError: If both bounds are infinite, or the lower one is above the upper one.

    Example:
        >>> import torch
        >>> goal = ValueGoal(low=1.5, high=2.0)
        >>> goal.reached(torch.tensor([[1.0], [1.7]])).tolist()
        [False, True]
        >>> goal.name()
        'between 1.5 and 2'
    """

    low: float = -math.inf
    high: float = math.inf
    scale: float = 1.0
    unit: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        if not self.low <= self.high or (math.isinf(self.low) and math.isinf(self.high)):
            raise ConfigError(f"A range of values must have a bound, the lower one first; got {self.low}, {self.high}.")

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_value(outputs, f"a value {self.name()}")
        far = float(self._distance(outputs))
        return dataclasses.replace(self, scale=far / _START) if 0 < far < math.inf else self

    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return -self._distance(outputs) / self.scale

    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        low, high = (bound + sign * _ROUNDING * abs(bound) for bound, sign in ((self.low, -1), (self.high, 1)))
        return (outputs[..., 0] >= low) & (outputs[..., 0] <= high)

    def shown(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return outputs[..., 0]

    def enough(self, confidence: float) -> float:
        return 0.0 if confidence > 0 else -math.inf

    def name(self, classes: Sequence[str] = ()) -> str:
        if math.isinf(self.high):
            return f"at least {self.low:.4g}"
        return f"at most {self.high:.4g}" if math.isinf(self.low) else f"between {self.low:.4g} and {self.high:.4g}"

    def to_json(self) -> int | dict[str, Any]:
        return {"low": _finite(self.low), "high": _finite(self.high)}

    def _distance(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return (self.low - outputs[..., 0]).relu() + (outputs[..., 0] - self.high).relu()


@dataclass(frozen=True)
class Shift(AbstractRequest):
    """A value at least `by` above the predicted one, or below it if `by` is negative.

    Args:
        by: Least change, in the units of the predicted value; not 0.

    Raises:
        ConfigError: If `by` is 0 or not finite.

    Example:
        >>> import torch
        >>> Shift(0.5).at(torch.tensor([1.0])).name()
        'at least 1.5'
    """

    by: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.by) or self.by == 0:
            raise ConfigError(f"A value must be raised or lowered by a number above 0; got {self.by}.")

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_value(outputs, f"a value {'raised' if self.by > 0 else 'lowered'} by {abs(self.by):g}")
        value = float(outputs[0])
        if not math.isfinite(value):
            raise NotFinite(f"A model must predict a finite value, to raise or lower; it predicts {value}. Check it.")
        bounds = (value + self.by, math.inf) if self.by > 0 else (-math.inf, value + self.by)
        return ValueGoal(*bounds, scale=abs(self.by) / _START)


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _require_value(outputs: Tensor, asked: str) -> None:
    if len(outputs) > 1:
        raise ConfigError(
            f"The model predicts one of {len(outputs)} classes, not a value; {asked} was asked for. "
            'Ask for a class by number or name, or for "any" other one.'
        )
