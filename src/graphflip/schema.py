"""Schema: what every column of a graph's node tensor V and edge tensor E means."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from .chemistry import Chemistry
from .errors import SchemaError


class Categories(BaseModel):
    """A group of one-hot columns: exactly one of `values` holds for each node (or edge)."""

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
    def width(self) -> int:
        return len(self.values)

    def index(self, value: str) -> int:
        """Column of a value within the group."""
        if value not in self.values:
            raise SchemaError(
                f"`{self.name}` must be one of {', '.join(self.values)}; got {value!r}. "
                "Remove such graphs, or fit a model on data that contains this value."
            )
        return self.values.index(value)


class Continuous(BaseModel):
    """One real-valued column; `mean` and `scale` are the training data's, for standardizing and for edit costs."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["continuous"] = "continuous"
    name: str
    mean: FiniteFloat = 0.0
    scale: FiniteFloat = Field(default=1.0, gt=0)

    @property
    def width(self) -> int:
        return 1


Column = Annotated[Categories | Continuous, Field(discriminator="kind")]


class Schema(BaseModel):
    """What the columns of V (`nodes`) and E (`edges`) mean, how large graphs may be, whether edges have a direction.

    `chemistry` is set where the graphs are molecules: it knows valences, charges and whether hydrogens are nodes.

    >>> schema = Schema(nodes=(Categories(name="type", values=("C", "N")),), max_nodes=4)
    >>> schema.dv, schema.de
    (2, 0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    nodes: tuple[Column, ...] = ()
    edges: tuple[Column, ...] = ()
    max_nodes: int = Field(gt=0)
    directed: bool = False
    chemistry: Chemistry | None = None

    @model_validator(mode="after")
    def _distinct(self) -> "Schema":
        for kind, columns in (("node", self.nodes), ("edge", self.edges)):
            names = [column.name for column in columns]
            if len(set(names)) != len(names):
                raise ValueError(f"{kind} columns must have distinct names; got {names}")
        return self

    @property
    def dv(self) -> int:
        """Number of columns of V."""
        return sum(column.width for column in self.nodes)

    @property
    def de(self) -> int:
        """Number of columns of E."""
        return sum(column.width for column in self.edges)

    def node_slices(self) -> Iterator[tuple[Categories | Continuous, slice]]:
        """Each node column with the slice of V's last axis that it occupies."""
        return _slices(self.nodes)

    def edge_slices(self) -> Iterator[tuple[Categories | Continuous, slice]]:
        """Each edge column with the slice of E's last axis that it occupies."""
        return _slices(self.edges)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; `Schema.from_dict` reads it back."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: Any) -> "Schema":
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            raise SchemaError(f"This is not a valid schema: {first_problem(error)}") from error


def first_problem(error: ValidationError) -> str:
    """The first thing pydantic objects to, as one line naming the field and what came."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the whole"
    return f"`{where}`: {problem['msg']} (got {str(problem.get('input'))[:80]})"


def _slices(columns: tuple[Column, ...]) -> Iterator[tuple[Categories | Continuous, slice]]:
    start = 0
    for column in columns:
        yield column, slice(start, start + column.width)
        start += column.width
