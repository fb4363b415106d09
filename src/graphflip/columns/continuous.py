"""Continuous: an attribute that is a number, and the values that a change may give it; values in general."""

import math
import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from ..errors import SchemaError

if TYPE_CHECKING:
    from torch import Tensor


Value = str | float
"""The value of one attribute: the name of a category, or a number."""

AttributeDict = dict[str, Value]
"""The attributes of one node or one edge by column name: `{"type": "C", "charge": 0.1}`."""

_FLOAT32 = struct.Struct("f")

STEPS = (-0.25, 0.25, -0.5, 0.5, -1.0, 1.0, -2.0, 2.0)
"""Changes of a continuous attribute that a search tries, in scales; the last is the longest."""

JUMPS = (-3.0, 0.0, 3.0)
"""Values to which an attribute that is far away may change at once, in scales from the mean."""

_SHORTEST = 0.2  # scales by which a step changes a value at least

_GAP, _MOST_GAPS = 0.25, 32  # scales without any value of the training data that are a gap; gaps of a column at most

_FARTHEST = 3.0  # no change leads farther from the mean than so many scales


class Continuous(BaseModel):
    """A continuous attribute: one column of numbers, in the units of the data.

    Args:
        kind: Always "continuous"; tells the two kinds of columns apart in JSON.
        name: Name of the attribute, say "charge".
        mean: Mean in the training data, in the units of the data.
        scale: Standard deviation in the training data, in the units of the data, above 0. A change of one scale costs
            as much as a change of category.
        gaps: Ranges between values of the training data in which none lies, lowest first. No change leads into one:
            where all values are small whole numbers, say, so are new ones.

    Raises:
        pydantic.ValidationError: If `scale` is not above 0, a number is not finite, or a gap ends before it begins.

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
    gaps: tuple[tuple[FiniteFloat, FiniteFloat], ...] = ()

    @field_validator("gaps")
    @classmethod
    def _have_width(cls, gaps: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        if any(low >= high for low, high in gaps):
            raise ValueError("every gap must end above its beginning")
        return gaps

    @model_serializer(mode="wrap")
    def _without_no_gaps(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content = handler(self)
        return content if self.gaps else {key: value for key, value in content.items() if key != "gaps"}

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
        """Round a number to about two digits of the scale, in the precision of graphs (float32): 0.78, not 0.7773.

        One in a gap becomes the nearer end of the gap.
        """
        rounded = round(float(value), self._digits)
        for low, high in self.gaps:
            if low < rounded < high:
                rounded = low if rounded - low < high - rounded else high
        return _FLOAT32.unpack(_FLOAT32.pack(rounded))[0]

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
        if jump:
            allowed = abs(new - was) > STEPS[-1] * self.scale
        else:  # at the end of a gap, a step may lead nowhere or back
            allowed = abs(new - self.mean) <= bound and (new - was) * STEPS[k] >= _SHORTEST * abs(STEPS[k]) * self.scale
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
        plain = Continuous(name=self.name, mean=float(values.mean()), scale=scale if scale > 1e-12 else 1.0)
        return plain.model_copy(update={"gaps": plain._gaps_between(values.sort().values)})

    def _gaps_between(self, values: "Tensor") -> tuple[tuple[float, float], ...]:
        """The widest gaps between sorted values; their ends have few digits, on the side of the values."""
        wide = (values.diff() > _GAP * self.scale).nonzero()[:, 0]
        wide = wide[values.diff()[wide].argsort(descending=True)[:_MOST_GAPS]].sort().values
        unit = 10.0**self._digits
        ends = zip(values[wide].tolist(), values[wide + 1].tolist(), strict=True)
        return tuple((math.floor(low * unit) / unit, math.ceil(high * unit) / unit) for low, high in ends)


def shortened(value: object) -> str:
    """Text of a value for an error message, cut to at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
