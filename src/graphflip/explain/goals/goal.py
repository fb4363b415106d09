"""Goals: what a model must predict for a counterfactual (a class, any class but one, a value within a range).

A goal reads the outputs of a model, one row for each graph: logits of two classes or more, or one predicted value. A
request may depend on the prediction for the factual ("any other class", "raise by 0.5"): `AbstractRequest.at` turns it
into a goal.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from jaxtyping import Bool, Float
from torch import Tensor


class AbstractRequest(ABC):
    """A change that a caller asks for; it becomes a goal once the prediction for the factual is known."""

    @abstractmethod
    def at(self, outputs: Float[Tensor, " c"]) -> "AbstractGoal":
        """Turn the request into a goal for one factual.

        Args:
            outputs: The classifier's outputs for the factual: class logits, or one value.

        Raises:
            ConfigError: If the classifier has no such outputs (a class was asked of a model of values, or vice versa).
        """


class AbstractGoal(AbstractRequest):
    """A condition on the outputs of a model. `unit` says what `shown` returns: a probability or a value."""

    unit: ClassVar[str] = "probability"

    @abstractmethod
    def score(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        """Differentiable closeness to the goal, at most 0: a log-probability, or minus a distance."""

    def lead(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        """Score whose gradient says where to look; that of the goal itself, unless several ways lead there."""
        return self.score(outputs)

    @abstractmethod
    def reached(self, outputs: Float[Tensor, "*b c"]) -> Bool[Tensor, "*b"]:
        """True where the model predicts what is wanted."""

    @abstractmethod
    def shown(self, outputs: Float[Tensor, "*b c"]) -> Float[Tensor, "*b"]:
        """Number to report: the probability of the goal, or the predicted value."""

    @abstractmethod
    def enough(self, confidence: float) -> float:
        """Lowest score at which a model is `confidence` sure; 0 demands nothing, and values are in range or not."""

    @abstractmethod
    def name(self, classes: Sequence[str] = ()) -> str:
        """Say the goal in words, with names of classes where they are known."""

    @abstractmethod
    def to_json(self) -> int | dict[str, Any]:
        """Return a JSON-ready form; `stored.goal_from_json` reads it back."""
