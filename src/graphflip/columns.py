"""Columns of V and E: groups of categories and numbers, their values, encodings and distances."""

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from .errors import SchemaError

if TYPE_CHECKING:
    from torch import Tensor

Value = str | float
"""The value of one attribute: the name of a category, or a number."""

AttributeDict = dict[str, Value]
"""The attributes of one node or one edge by column name: `{"type": "C", "charge": 0.1}`."""


class Categories(BaseModel):
    """A categorical attribute: a group of one-hot columns, of which exactly one is 1 for each node or edge.

    Args:
        kind: Always "categories"; tells the two kinds of columns apart in JSON.
        name: Name of the attribute, say "type".
        values: The categories, one or more and distinct, in the order of their columns.

    Raises:
        pydantic.ValidationError: If there are no values, or one occurs twice.

    Example:
        >>> element = Categories(name="type", values=("C", "N", "O"))
        >>> element.encode("N"), element.decode([0.1, 0.2, 0.7])
        ([0.0, 1.0, 0.0], 'O')
        >>> element.distance("C", "N"), list(element.alternatives("C"))
        (1.0, ['N', 'O'])
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["categories"] = "categories"
    name: str
    values: tuple[str, ...]

    @model_validator(mode="after")
    def _distinct(self) -> "Categories":
        if not self.values or len(set(self.values)) != len(self.values):
            raise ValueError(f"`{self.name}` must have one or more distinct values; got {list(self.values)}")
        return self

    @property
    def is_continuous(self) -> bool:
        """False: the attribute is a name, not a number."""
        return False

    @property
    def width(self) -> int:
        """Number of columns of V or E: one for each category."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """0: one-hot columns are not standardized."""
        return 0.0

    @property
    def scale(self) -> float:
        """1: one-hot columns are not standardized."""
        return 1.0

    @property
    def unit(self) -> float:
        """Sum of absolute differences between two encoded values that counts as one edit: 2, for one-hot rows."""
        return 2.0

    @property
    def choices(self) -> tuple[str, ...]:
        """Values that a new node or edge may be given: every category."""
        return self.values

    @property
    def numbers(self) -> tuple[int, ...]:
        """The integers that stand for the categories in PyG data: their names if all are integers, else 0, 1, 2, ..."""
        are_numbers = all(value.lstrip("+-").isdigit() for value in self.values)
        return tuple(int(value) for value in self.values) if are_numbers else tuple(range(self.width))

    def index(self, value: str) -> int:
        """Column of a value within the group.

        Args:
            value: One of `values`.

        Returns:
            Its position in `values`.

        Raises:
            SchemaError: If it is none of `values`.
        """
        if value not in self.values:
            raise SchemaError(
                f"`{self.name}` must be one of {', '.join(self.values)}; got {value!r}. "
                "Remove such graphs, or fit a model on data that contains this value."
            )
        return self.values.index(value)

    def encode(self, value: object) -> list[float]:
        """Encode a value as a one-hot row; raises SchemaError if it is none of `values`."""
        at = self.index(str(value))
        return [float(k == at) for k in range(self.width)]

    def decode(self, row: Sequence[float]) -> str:
        """Decode a row, hard or relaxed: the category with the largest number, the first of them in a tie."""
        return self.values[row.index(max(row))]

    def check(self, value: object, of: str) -> None:
        """Raise SchemaError unless a stored value is a text; `of` names its node or edge in the message."""
        if type(value) is not str:
            raise SchemaError(f"`{self.name}` of {of} must be a text; got {shortened(value)}.")

    def distance(self, before: Value, after: Value) -> float:
        """Cost of the change from one category to another, in edits: 0 or 1."""
        return float(before != after)

    def round(self, value: Value) -> Value:
        """The value itself: categories are not rounded."""
        return value

    def typical(self, value: Value) -> Value:
        """The value itself; a continuous column gives its mean instead."""
        return value

    def alternatives(self, value: Value) -> Iterator[Value]:
        """Values to which one edit may change `value`: every other category."""
        return (name for name in self.values if name != value)

    def other(self, value: Value, k: int) -> float | None:
        """None: categories have no steps."""

    def project(self, row: Sequence[float], value: Value) -> float:
        """Entry of a gradient `row` that belongs to a category."""
        return row[self.index(str(value))]

    def fitted(self, rows: "Tensor") -> "Categories":
        """The column itself; a continuous column takes mean and scale from the rows."""
        return self


class Continuous(BaseModel):
    """A continuous attribute: one column of numbers, in the units of the data.

    Args:
        kind: Always "continuous"; tells the two kinds of columns apart in JSON.
        name: Name of the attribute, say "charge".
        mean: Mean in the training data, in the units of the data.
        scale: Standard deviation in the training data, in the units of the data, above 0. A change of one scale costs
            as much as a change of category.

    Raises:
        pydantic.ValidationError: If `scale` is not above 0, or a number is not finite.

    Example:
        >>> charge = Continuous(name="charge", mean=0.1, scale=0.2)
        >>> charge.encode(0.3), charge.decode([0.3])
        ([0.3], 0.3)
        >>> round(charge.distance(0.1, 0.4), 3)
        1.5
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["continuous"] = "continuous"
    name: str
    mean: FiniteFloat = 0.0
    scale: FiniteFloat = Field(default=1.0, gt=0)

    @property
    def is_continuous(self) -> bool:
        """True: the attribute is a number."""
        return True

    @property
    def width(self) -> int:
        """Number of columns of V or E: 1."""
        return 1

    @property
    def values(self) -> tuple[str, ...]:
        """Names of categories: none."""
        return ()

    @property
    def unit(self) -> float:
        """Absolute difference between two values that counts as one edit."""
        return self.scale

    @property
    def choices(self) -> tuple[float, ...]:
        """Values that a new node or edge may be given: the mean, rounded."""
        return (self.round(self.mean),)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The integers that stand for categories: none."""
        return ()

    def encode(self, value: Any) -> list[float]:
        """Encode a value as a row of one number; raises ValueError or TypeError if it is not a number."""
        return [float(value)]

    def decode(self, row: Sequence[float]) -> float:
        """Decode a row of one number: the number itself."""
        return row[0]

    def check(self, value: object, of: str) -> None:
        """Raise SchemaError unless a stored value is a number; `of` names its node or edge in the message."""
        if type(value) not in (int, float):
            raise SchemaError(f"`{self.name}` of {of} must be a number; got {shortened(value)}.")

    def distance(self, before: Value, after: Value) -> float:
        """Cost of the change from one value to another, in edits: the difference in units of the scale."""
        return abs(float(before) - float(after)) / self.scale

    def round(self, value: Value) -> float:
        """Round a number to about two digits of the scale, in the precision of graphs (float32): 0.78, not 0.7773."""
        return _FLOAT32.unpack(_FLOAT32.pack(round(float(value), self._digits)))[0]

    @cached_property
    def _digits(self) -> int:
        return 1 - math.floor(math.log10(self.scale / 2))

    def typical(self, value: Value) -> float:
        """The mean, rounded, whatever the value."""
        return self.round(self.mean)

    def alternatives(self, value: Value) -> Iterator[Value]:
        """Values to which one edit may change `value`: `STEPS`, at most 3 scales from the mean, and `JUMPS`."""
        return (new for k in range(len(STEPS + JUMPS)) if (new := self.other(value, k)) is not None)

    def other(self, value: Value, k: int) -> float | None:
        """The value after the k-th of steps and jumps; None if it leads nowhere, too far, or as far as a step."""
        was, jump = float(value), k >= len(STEPS)
        new = self.round(self.mean + JUMPS[k - len(STEPS)] * self.scale if jump else was + STEPS[k] * self.scale)
        bound = max(abs(was - self.mean), _FARTHEST * self.scale)
        allowed = abs(new - was) > STEPS[-1] * self.scale if jump else new != was and abs(new - self.mean) <= bound
        return new if allowed else None

    def project(self, row: Sequence[float], value: Value) -> float:
        """Gradient `row` times a value, both in units of the scale."""
        return row[0] / self.scale * float(value) / self.scale

    def fitted(self, rows: "Tensor") -> "Continuous":
        """The column with mean and scale of the rows (shape: m x 1); the column itself if there are no rows."""
        if not len(rows):
            return self
        values = rows[:, 0].double()
        scale = float(values.std(correction=0))
        return self.model_copy(update={"mean": float(values.mean()), "scale": scale if scale > 1e-12 else 1.0})


_FLOAT32 = struct.Struct("f")

STEPS = (-0.25, 0.25, -0.5, 0.5, -1.0, 1.0, -2.0, 2.0)
"""Changes of a continuous attribute that a search tries, in scales; the last is the longest."""

JUMPS = (-3.0, 0.0, 3.0)
"""Values to which an attribute that is far away may change at once, in scales from the mean."""

_FARTHEST = 3.0  # no change leads farther from the mean than so many scales


Column = Annotated[Categories | Continuous, Field(discriminator="kind")]
"""One attribute of nodes or edges; in JSON its `kind` says which of the two classes it is."""


def map_categories(
    apply: Callable[["Tensor"], "Tensor"],
    values: "Tensor",
    slices: Iterable[tuple[Column, slice]],
) -> "Tensor":
    """Apply a function to each group of categories; continuous columns stay as they are.

    Args:
        apply: Function of one group of columns ("*of width") that keeps its shape: a softmax, a draw, rounding.
        values: Rows of V or E, or logits of them, of shape "*of d".
        slices: `Schema.node_slices()` or `Schema.edge_slices()`.

    Returns:
        The columns in the same order.
    """
    import torch

    parts = [values[..., at] if column.is_continuous else apply(values[..., at]) for column, at in slices]
    return torch.cat(parts, -1) if parts else values


def shortened(value: object) -> str:
    """Text of a value for an error message, cut to at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
