"""Dense batches of graphs as the node and edge lists that PyG models read."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...columns import map_categories
from ...errors import ConfigError
from ...graph import Graph
from ...schema import Column, Schema
from .checks import check_word

Form = Literal["columns", "ids", "id"]
"""What a model reads of nodes or edges: floating-point columns, an integer for each group of categories ("m groups"),
or the integer of the only group (" m")."""


@dataclass(frozen=True)
class SparseBatch:
    """The nodes that take part and the pairs of them that are joined; graphs without nodes are left out.

    `owner` is the number of a node's graph among those that have nodes, `index` its number in the whole batch, `slot`
    its place in it. Rows of E are those of an edge that exists: categories sum to 1, whatever its probability. Where
    the schema has no node columns, V is the existence of the nodes.
    """

    owner: Int[Tensor, " nodes"]
    index: Int[Tensor, " nodes"]
    slot: Int[Tensor, " nodes"]
    edge_index: Int[Tensor, "2 m"]
    V: Float[Tensor, "nodes dv"]
    E: Float[Tensor, "m de"]

    @classmethod
    def of(cls, graph: Graph, here: Bool[Tensor, "b n"], joined: Bool[Tensor, "b n n"]) -> "SparseBatch":
        """The nodes `here`, and the pairs `joined`, which must be pairs of them."""
        index, slot = here.nonzero(as_tuple=True)
        k, i, j = joined.nonzero(as_tuple=True)
        number = here.flatten().cumsum(0).view(here.shape) - 1
        owner = (here.any(1).cumsum(0) - 1)[index]
        E = _given_existence(graph.E[k, i, j], graph.A[k, i, j], graph.schema)
        V = graph.V if graph.schema.dv else graph.B[..., None]
        return cls(owner, index, slot, torch.stack([number[k, i], number[k, j]]), V[index, slot], E)

    @property
    def num_graphs(self) -> int:
        """Number of graphs that have nodes."""
        return int(self.owner[-1]) + 1 if len(self.owner) else 0

    def spread(self, rows: Float[Tensor, "k c"], num_graphs: int) -> Float[Tensor, "b c"]:
        """Rows for the graphs that have nodes, zeros for those that have none."""
        everyone = rows.new_zeros(num_graphs, rows.shape[1])
        return everyone.index_put((self.index.unique(),), rows)


class Reader:
    """Turns rows of a schema's columns into the form that a model reads."""

    def __init__(self, columns: tuple[Column, ...], form: Form, what: str):
        check_word(what, form, Form)
        self.columns, self.form = columns, form
        if form == "columns":
            return
        if not columns or any(column.is_continuous for column in columns):
            raise ConfigError(
                f"`{what}` as {form} must be made of categories alone; the schema has "
                f'{[column.name for column in columns]}. Use `{what}="columns"`.'
            )
        if form == "id" and len(columns) > 1:
            raise ConfigError(
                f'`{what}="id"` needs one group of categories; the schema has {len(columns)}. Use `{what}="ids"`.'
            )

    def read(self, rows: Float[Tensor, "m d"]) -> Tensor:
        """The likeliest integers, or the columns as they are."""
        if self.form == "columns":
            return rows
        parts = rows.split([column.width for column in self.columns], 1)
        ids = [known.to(part.device)[part.argmax(1)] for known, part in zip(self.known_ids(), parts, strict=True)]
        return self.shaped(torch.stack(ids, 1))

    def known_ids(self) -> list[Int[Tensor, " d"]]:
        """For each group the integers that its categories stand for: their names where these are numbers, as in
        `from_pyg`, and their positions where not."""
        return [torch.tensor(column.numbers) for column in self.columns]

    def shaped(self, integers: Int[Tensor, "m groups"]) -> Int[Tensor, "m *groups"]:
        """Integers for each row and group in the shape that the model reads."""
        return integers[:, 0] if self.form == "id" else integers


def _given_existence(E: Float[Tensor, "m de"], exists: Float[Tensor, " m"], schema: Schema) -> Float[Tensor, "m de"]:
    """Categories of an edge divided by its probability; a row of zeros stays one."""
    certain = exists.clamp(min=1e-6)[:, None]
    return map_categories(lambda values: values / certain, E, schema.edge_slices())
