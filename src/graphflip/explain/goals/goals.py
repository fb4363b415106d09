"""Goals: what a model is to say of a counterfactual: a class, any class but one, or a value within a range.

A goal reads the outputs of a model, one row for each graph: logits of two classes or more, or one predicted value. What
a caller asks for may depend on what is predicted for the factual ("any other class", "raise by 0.5"): a request is made
a goal by `AbstractRequest.at`.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from ...errors import ConfigError, DataError

# Outputs of batches of different shapes differ in the last digits: a bound is met up to this share of it.
_ROUNDING = 1e-5

# The factual's score for a range of values that it is outside of: as that of a class of 5 %.
_START = 3.0


class AbstractRequest(ABC):
    """What a caller asks for."""

    @abstractmethod
    def at(self, outputs: Float[Tensor, " c"]) -> "AbstractGoal":
        """The goal for a factual of which the classifier says this; raises if the classifier has no such outputs."""


class AbstractGoal(AbstractRequest):
    """What the outputs of a model are to be. `unit` is what `shown` gives: a probability or a value."""

    unit: ClassVar[str] = "probability"

    @abstractmethod
    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        """How near a model is to the goal, at most 0: a log-probability, or minus a distance. Has gradients."""

    @abstractmethod
    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        """Whether what the model predicts is what is wanted."""

    @abstractmethod
    def shown(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        """The number that people want to see: the probability of the goal, or the predicted value."""

    @abstractmethod
    def enough(self, confidence: float) -> float:
        """The score at which a model is as sure as that, for which 0 is no demand; values are in their range or not."""

    @abstractmethod
    def name(self, classes: Sequence[str] = ()) -> str:
        """The goal in words."""

    @abstractmethod
    def to_json(self) -> int | dict[str, Any]:
        """JSON-ready form; `goal_from_json` reads it back."""


class _ClassProbability(AbstractGoal):
    """A goal that has a probability."""

    def shown(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return self.score(outputs).exp()

    def enough(self, confidence: float) -> float:
        return math.log(min(confidence, 1 - 1e-9)) if confidence > 0 else -math.inf


@dataclass(frozen=True)
class ClassGoal(_ClassProbability):
    """This class is the likeliest."""

    index: int

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_classes(outputs, f"the class {self.index}")
        if not 0 <= self.index < len(outputs):
            raise ConfigError(f"A target must be a class of 0..{len(outputs) - 1}; got {self.index}.")
        return self

    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return outputs.log_softmax(-1)[..., self.index]

    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        return outputs.argmax(-1) == self.index

    def name(self, classes: Sequence[str] = ()) -> str:
        return classes[self.index] if self.index < len(classes) else str(self.index)

    def to_json(self) -> int | dict[str, Any]:
        return self.index


@dataclass(frozen=True)
class AnyOther(_ClassProbability):
    """Any class but this one is the likeliest; the probability is that of the likeliest other one."""

    predicted: int

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        ClassGoal(self.predicted).at(outputs)
        return self

    def settled(self, outputs: Float[Tensor, " c"]) -> ClassGoal:
        """The class that is meant, for a graph of which the classifier says this."""
        return ClassGoal(int(self._others(outputs).argmax()))

    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return self._others(outputs.log_softmax(-1)).amax(-1)

    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        return outputs.argmax(-1) != self.predicted

    def name(self, classes: Sequence[str] = ()) -> str:
        return f"not {ClassGoal(self.predicted).name(classes)}"

    def to_json(self) -> int | dict[str, Any]:
        return {"not": self.predicted}

    def _others(self, rows: Float[Tensor, "*b c"]) -> Float[Tensor, "*b c"]:
        return rows.index_fill(-1, torch.tensor([self.predicted], device=rows.device), -torch.inf)


@dataclass(frozen=True)
class ValueGoal(AbstractGoal):
    """The predicted value lies in a range, up to rounding; one of its bounds may be infinite.

    The score is minus the distance from the range, in units of `scale`.
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
class LikeliestOther(AbstractRequest):
    """The likeliest of the classes that are not predicted: what is asked for by default."""

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_classes(outputs, "another class, the default,")
        return AnyOther(int(outputs.argmax())).settled(outputs)


@dataclass(frozen=True)
class Another(AbstractRequest):
    """Any class but the one that is predicted, whichever is reached first."""

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_classes(outputs, "any other class")
        return AnyOther(int(outputs.argmax()))


@dataclass(frozen=True)
class Shift(AbstractRequest):
    """A value higher, or lower if `by` is negative, than the predicted one by at least this much."""

    by: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.by) or self.by == 0:
            raise ConfigError(f"A value must be raised or lowered by a number above 0; got {self.by}.")

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_value(outputs, f"a value {'raised' if self.by > 0 else 'lowered'} by {abs(self.by):g}")
        value = float(outputs[0])
        bounds = (value + self.by, math.inf) if self.by > 0 else (-math.inf, value + self.by)
        return ValueGoal(*bounds, scale=abs(self.by) / _START) if math.isfinite(value) else ValueGoal(*bounds)


Target = int | AbstractGoal
"""A goal as explanations keep it: the number of a class, or another goal."""


def goal_of(target: Target) -> AbstractGoal:
    """The goal that a target means."""
    return ClassGoal(target) if isinstance(target, int) else target


def target_of(goal: AbstractGoal) -> Target:
    """A goal as explanations keep it."""
    return goal.index if isinstance(goal, ClassGoal) else goal


def goal_from_json(stored: Any) -> AbstractGoal:
    """Read what `to_json` writes: a class number, `{"not": class}` or `{"low": …, "high": …}`."""
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


def score_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """The scores of a batch with a goal for each graph."""
    return _each([goal.score for goal in goals], outputs)


def reached_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Bool[Tensor, "b *s"]:
    """Which graphs of a batch reach their goals; what is not finite reaches nothing."""
    return _each([goal.reached for goal in goals], outputs).bool() & outputs.isfinite().all(-1)


def shown_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """Probabilities of the goals of a batch, or predicted values."""
    return _each([goal.shown for goal in goals], outputs)


def mean_outputs(outputs: Float[Tensor, "k *b c"]) -> Float[Tensor, "*b c"]:
    """Outputs of a model that says what these say on average: mean probabilities, or mean values."""
    if len(outputs) == 1 or outputs.shape[-1] == 1:
        return outputs.mean(0)
    return outputs.log_softmax(-1).logsumexp(0) - math.log(len(outputs))


def outputs_of_labels(labels: Shaped[Tensor, " g"]) -> Float[Tensor, "g c"]:
    """Outputs of a model that predicts these class numbers, or these values."""
    if labels.is_floating_point():
        return labels[:, None]
    return torch.nn.functional.one_hot(labels).float()


def goals_of(target: Sequence[Target] | Int[Tensor, " b"]) -> list[AbstractGoal]:
    """The goals that targets mean."""
    return [goal_of(one) for one in (target.tolist() if isinstance(target, Tensor) else target)]


_EVERYTHING = (-math.inf, math.inf)


def _each(functions: list[Callable[[Tensor], Tensor]], outputs: Tensor) -> Tensor:
    if not functions:
        return outputs.new_zeros(outputs.shape[:-1])
    return torch.stack([function(row) for function, row in zip(functions, outputs, strict=True)])


def _is_class(stored: Any) -> bool:
    return type(stored) is int and 0 <= stored < 2**31


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _require_classes(outputs: Tensor, asked: str) -> None:
    if len(outputs) == 1:
        raise ConfigError(
            f"The model predicts a value, not a class; {asked} was asked for. "
            'Ask for a change of the value: "raise by 0.5", "lower by 1", "below 2", "above 3", "between 1 and 2".'
        )


def _require_value(outputs: Tensor, asked: str) -> None:
    if len(outputs) > 1:
        raise ConfigError(
            f"The model predicts one of {len(outputs)} classes, not a value; {asked} was asked for. "
            'Ask for a class by number or name, or for "any" other one.'
        )
