"""Schema: the meaning of every column of a graph's node tensor V and edge tensor E."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .chemistry import Chemistry
from .columns import AttributeDict as AttributeDict
from .columns import Categories as Categories
from .columns import Column as Column
from .columns import Continuous as Continuous
from .errors import SchemaError

Op = Literal["remove_edge", "remove_node", "add_node", "set_node", "add_edge", "set_edge"]
"""Kinds of edit, in the order in which `edits_between` lists them: edges are removed before their nodes and added after
them."""


# Slots of a schema up to which all of them are filled up where models are asked, and the steps above that.
_MANY_SLOTS, _STEP = 512, 256


class Schema(BaseModel):
    """Description of a kind of graphs: attributes of nodes and edges, largest size, direction of edges.

    Args:
        nodes: Attributes of nodes, in the order of the columns of V; their names are distinct.
        edges: Attributes of edges, in the order of the columns of E; their names are distinct.
        max_nodes: Largest number of nodes of a graph, at least 1.
        directed: True if (i, j) and (j, i) are different edges.
        chemistry: Rules of valences and charges if the graphs are molecules, else None.

    Raises:
        pydantic.ValidationError: If two columns have one name or a field is out of range. `Schema.from_dict` raises
            SchemaError instead.

    Example:
        >>> element, charge = Categories(name="type", values=("C", "N")), Continuous(name="charge")
        >>> schema = Schema(nodes=(element, charge), max_nodes=4)
        >>> schema.dv, schema.de
        (3, 0)
        >>> [(column.name, at) for column, at in schema.node_slices()]
        [('type', slice(0, 2, None)), ('charge', slice(2, 3, None))]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    nodes: tuple[Column, ...] = ()
    edges: tuple[Column, ...] = ()
    max_nodes: int = Field(gt=0, le=1_000_000)
    directed: bool = False
    chemistry: Chemistry | None = None

    @model_validator(mode="after")
    def _distinct(self) -> "Schema":
        for kind, columns in (("node", self.nodes), ("edge", self.edges)):
            names = [column.name for column in columns]
            if len(set(names)) != len(names):
                raise ValueError(f"{kind} columns must have distinct names; got {names}")
        if self.chemistry is not None and self.chemistry.stored_charges and self.node_charge is None:
            raise ValueError("a chemistry with stored charges must have node categories named `charge`; got none")
        return self

    @property
    def dv(self) -> int:
        """Number of columns of V."""
        return sum(column.width for column in self.nodes)

    @property
    def de(self) -> int:
        """Number of columns of E."""
        return sum(column.width for column in self.edges)

    @property
    def has_continuous(self) -> bool:
        """True if nodes or edges have attributes that are numbers."""
        return any(column.is_continuous for column in (*self.nodes, *self.edges))

    @property
    def node_type(self) -> Categories | None:
        """The node categories named "type": the elements of a molecule. None if there are none."""
        return _categories(self.nodes, "type")

    @property
    def node_charge(self) -> Categories | None:
        """The formal charges of atoms ("0", "+1"), where the chemistry stores them; else None."""
        stored = self.chemistry is not None and self.chemistry.stored_charges
        return _categories(self.nodes, "charge") if stored else None

    @property
    def edge_type(self) -> Categories | None:
        """The edge categories named "type": the bond types of a molecule. None if there are none."""
        return _categories(self.edges, "type")

    def node_slices(self) -> Iterator[tuple[Categories | Continuous, slice]]:
        """Each node column with the slice of V's last axis that it occupies."""
        return _slices(self.nodes)

    def edge_slices(self) -> Iterator[tuple[Categories | Continuous, slice]]:
        """Each edge column with the slice of E's last axis that it occupies."""
        return _slices(self.edges)

    def ample_slots(self, used: int) -> int:
        """Number of slots in which models are asked about single graphs that use so many.

        All of the schema's, so that graphs of all sizes are computed in the same shapes; but where a schema has very
        many, memory would grow with the square of a number that a graph does not need, and steps of 256 will do.
        """
        return self.max_nodes if self.max_nodes <= _MANY_SLOTS else min(-(-used // _STEP) * _STEP, self.max_nodes)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dict that can be written as JSON; `Schema.from_dict` reads it back."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: Any) -> "Schema":
        """Read a schema from its JSON form.

        Args:
            stored: A dict as `to_dict` makes it.

        Returns:
            The schema.

        Raises:
            SchemaError: If it is not a valid schema; the message names the first wrong field.

        Example:
            >>> Schema.from_dict({"nodes": [{"kind": "continuous", "name": "size"}], "max_nodes": 9}).dv
            1
        """
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            raise SchemaError(f"This is not a valid schema: {first_problem(error)}") from error


def first_problem(error: ValidationError) -> str:
    """First problem of a pydantic validation, as one line with the field and the value that came."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the whole"
    return f"`{where}`: {problem['msg']} (got {str(problem.get('input'))[:80]})"


def _categories(columns: tuple[Column, ...], name: str) -> Categories | None:
    return next((column for column in columns if isinstance(column, Categories) and column.name == name), None)


def _slices(columns: tuple[Column, ...]) -> Iterator[tuple[Categories | Continuous, slice]]:
    start = 0
    for column in columns:
        yield column, slice(start, start + column.width)
        start += column.width


def decoder(slices: Iterable[tuple[Column, slice]]) -> Callable[[list[float]], AttributeDict]:
    """Make a function that reads rows of V or E; it decodes once what several rows say."""
    columns, known = list(slices), dict[tuple[float, ...], AttributeDict]()

    def decode(row: list[float]) -> AttributeDict:
        key = tuple(row)
        if key not in known:
            known[key] = {column.name: column.decode(row[at]) for column, at in columns}
        return known[key].copy()

    return decode
