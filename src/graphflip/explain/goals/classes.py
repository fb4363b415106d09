"""Goals of classifiers: one class, any class but one, and the requests that lead to them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ...errors import ConfigError
from .goal import AbstractGoal, AbstractRequest


class _ClassProbability(AbstractGoal):
    """A goal that has a probability, the exponential of its score."""

    def shown(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return self.score(outputs).exp()

    def enough(self, confidence: float) -> float:
        return math.log(min(confidence, 1 - 1e-9)) if confidence > 0 else -math.inf


@dataclass(frozen=True)
class ClassGoal(_ClassProbability):
    """One class is the likeliest: the paper's y_D.

    Args:
        index: Number of the class, from 0.

    Example:
        >>> goal = ClassGoal(1)
        >>> goal.reached(torch.tensor([[2.0, -1.0], [0.0, 3.0]])).tolist()
        [False, True]
        >>> goal.name(("inactive", "active"))
        'active'
    """

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
    """Any class but one is the likeliest; its probability is that of the likeliest other class.

    Args:
        predicted: Number of the class to leave.

    Example:
        >>> AnyOther(0).reached(torch.tensor([[2.0, -1.0, 0.0], [0.0, 3.0, 1.0]])).tolist()
        [False, True]
    """

    predicted: int

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        ClassGoal(self.predicted).at(outputs)
        return self

    def settled(self, outputs: Float[Tensor, " c"]) -> ClassGoal:
        """Goal of the likeliest other class, given a model's outputs for one graph."""
        return ClassGoal(int(self._others(outputs).argmax()))

    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return self._others(outputs.log_softmax(-1)).amax(-1)

    def lead(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        return self._others(outputs.log_softmax(-1)).logsumexp(-1)

    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        return outputs.argmax(-1) != self.predicted

    def name(self, classes: Sequence[str] = ()) -> str:
        return f"not {ClassGoal(self.predicted).name(classes)}"

    def to_json(self) -> int | dict[str, Any]:
        return {"not": self.predicted}

    def _others(self, rows: Float[Tensor, "*b c"]) -> Float[Tensor, "*b c"]:
        return rows.index_fill(-1, torch.tensor([self.predicted], device=rows.device), -torch.inf)


@dataclass(frozen=True)
class LikeliestOther(AbstractRequest):
    """The likeliest of the classes that are not predicted: the default request."""

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_classes(outputs, "another class, the default,")
        return AnyOther(int(outputs.argmax())).settled(outputs)


@dataclass(frozen=True)
class Another(AbstractRequest):
    """Any class but the predicted one, whichever is reached first.

    Example:
        >>> Another().at(torch.tensor([2.0, -1.0, 0.0]))
        AnyOther(predicted=0)
    """

    def at(self, outputs: Float[Tensor, " c"]) -> AbstractGoal:
        _require_classes(outputs, "any other class")
        return AnyOther(int(outputs.argmax()))


def _require_classes(outputs: Tensor, asked: str) -> None:
    if len(outputs) == 1:
        raise ConfigError(
            f"The model predicts a value, not a class; {asked} was asked for. "
            'Give a change of the value as target (--target on the command line): "raise by 0.5", "lower by 1", '
            '"below 2", "above 3", "between 1 and 2".'
        )
