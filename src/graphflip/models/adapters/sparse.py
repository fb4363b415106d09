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
"""Form in which a model reads nodes or edges: floating-point columns, an integer for each group of categories
("m groups"), or the integer of the only group (" m")."""


@dataclass(frozen=True)
class SparseBatch:
    """Node and edge lists of the graphs of a batch that have nodes.

    `index` is the number of a node's graph in the batch, `slot` the node's place in that graph. E has the attributes
    of an edge given that it exists: categories sum to 1, whatever its probability. If the schema has no node columns,
    V is the existence of the nodes.
    """

    index: Int[Tensor, " nodes"]
    slot: Int[Tensor, " nodes"]
    edge_index: Int[Tensor, "2 m"]
    V: Float[Tensor, "nodes dv"]
    E: Float[Tensor, "m de"]

    @classmethod
    def of(cls, graph: Graph, here: Bool[Tensor, "b n"], joined: Bool[Tensor, "b n n"]) -> "SparseBatch":
        """Take the nodes that are `here`, and the pairs `joined`, which must be pairs of these nodes."""
        index, slot = here.nonzero(as_tuple=True)
        k, i, j = joined.nonzero(as_tuple=True)
        number = here.flatten().cumsum(0).view(here.shape) - 1
        E = _given_existence(graph.E[k, i, j], graph.A[k, i, j], graph.schema)
        V = graph.V if graph.schema.dv else graph.B[..., None]
        return cls(index, slot, torch.stack([number[k, i], number[k, j]]), V[index, slot], E)

    @property
    def owner(self) -> Int[Tensor, " nodes"]:
        """Number of each node's graph, counting only the graphs that have nodes: PyG's `batch`."""
        return self.index.unique_consecutive(return_inverse=True)[1]

    @property
    def num_graphs(self) -> int:
        """Number of graphs that have nodes."""
        return len(self.index.unique_consecutive())

    def spread(self, rows: Float[Tensor, "k c"], num_graphs: int) -> Float[Tensor, "b c"]:
        """Put the rows of graphs that have nodes among rows of zeros for those that have none."""
        zeros = rows.new_zeros(num_graphs, rows.shape[1])
        return zeros.index_put((self.index.unique(),), rows)


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
        """Give the columns as they are, or the most likely category of each group as an integer."""
        if self.form == "columns":
            return rows
        parts = rows.split([column.width for column in self.columns], 1)
        ids = [known.to(part.device)[part.argmax(1)] for known, part in zip(self.known_ids(), parts, strict=True)]
        return self.shaped(torch.stack(ids, 1))

    def known_ids(self) -> list[Int[Tensor, " d"]]:
        """Integers of the categories of each group: their names if these are numbers, as in `from_pyg`, else their
        positions."""
        return [torch.tensor(column.numbers) for column in self.columns]

    def shaped(self, integers: Int[Tensor, "m groups"]) -> Int[Tensor, "m *groups"]:
        """Bring integers for each row and group to the shape that the model reads."""
        return integers[:, 0] if self.form == "id" else integers


def _given_existence(E: Float[Tensor, "m de"], exists: Float[Tensor, " m"], schema: Schema) -> Float[Tensor, "m de"]:
    """Divide the categories of each edge by its probability; a row of zeros stays zero."""
    certain = exists.clamp(min=1e-6)[:, None]
    return map_categories(lambda values: values / certain, E, schema.edge_slices())
