"""Columns of V and E: groups of categories and numbers, their values, encodings and distances."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..errors import SchemaError
from .continuous import JUMPS as JUMPS
from .continuous import STEPS as STEPS
from .continuous import AttributeDict as AttributeDict
from .continuous import Continuous as Continuous
from .continuous import Value as Value
from .continuous import shortened as shortened

if TYPE_CHECKING:
    import torch


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
    def gaps(self) -> tuple[tuple[float, float], ...]:
        """Ranges between numbers of the training data: none."""
        return ()

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

    def fitted(self, rows: "torch.Tensor") -> "Categories":
        """The column itself; a continuous column takes mean and scale from the rows."""
        return self


Column = Annotated[Categories | Continuous, Field(discriminator="kind")]
"""One attribute of nodes or edges; in JSON its `kind` says which of the two classes it is."""


def map_categories(
    apply: Callable[["torch.Tensor"], "torch.Tensor"],
    values: "torch.Tensor",
    slices: Iterable[tuple[Column, slice]],
) -> "torch.Tensor":
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
