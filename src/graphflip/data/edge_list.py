"""Edge lists of other formats, with undirected edges in both directions, brought to the form of GraphDataset."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Shaped


def fold_edges(
    edges: Int[np.ndarray, "m 2"],
    num_nodes: int,
    tables: Sequence[Shaped[np.ndarray, "m _"]],
    directed: bool | None = None,
) -> tuple[Int[np.ndarray, " kept"], bool]:
    """Rows of the edge list to keep, sorted by their nodes, and True if edges have a direction.

    They have none if each is listed both ways with equal rows in every table; then the row with i < j is kept. With
    `directed=True` they have one in any case.
    """
    i, j = edges[:, 0], edges[:, 1]
    order, mates = np.argsort(i * num_nodes + j), np.argsort(j * num_nodes + i)
    # If the list is symmetric, row mates[k] is row order[k] reversed.
    symmetric = np.array_equal(edges[order], edges[mates][:, ::-1])
    alike = all(np.array_equal(table[order], table[mates]) for table in tables)
    if directed or not (symmetric and alike):
        return order, True
    return order[i[order] < j[order]], False


def repeated_edges(edges: Int[np.ndarray, "m 2"], num_nodes: int) -> Shaped[np.ndarray, " m"]:
    """True at each row that repeats an earlier one."""
    repeated = np.ones(len(edges), dtype=bool)
    repeated[np.unique(edges[:, 0] * num_nodes + edges[:, 1], return_index=True)[1]] = False
    return repeated
