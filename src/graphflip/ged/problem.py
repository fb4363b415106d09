"""Graph edit distance as a quadratic assignment problem: each node of the smaller graph becomes one of the larger."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from ..edits import EditCosts
from ..graph import Graph
from ..schema import Schema

TOLERANCE = 1e-5
"""Smallest difference between costs that counts, if they are not whole numbers."""


@dataclass(frozen=True, eq=False)
class AssignmentProblem:
    """Alignment of two graphs of n nodes each, the smaller one filled up with empty slots.

    A change never costs more than removing and adding, so some cheapest alignment aligns every node of the smaller
    graph: an alignment is a permutation. The edges between two nodes, in either direction, are one *link*, which is
    listed twice, from either end.

    `node_cost` is the cost of aligning two nodes; the first `num_real` rows are nodes, the others empty slots. `saving`
    is the cost saved by aligning two links instead of removing the one and adding the other. Labels are equal numbers
    for equal attributes, in both graphs.
    """

    node_cost: Float[np.ndarray, "n n"]
    num_real: int
    tail: Int[np.ndarray, " p"]
    head: Int[np.ndarray, " p"]
    other_tail: Int[np.ndarray, " q"]
    other_head: Int[np.ndarray, " q"]
    saving: Float[np.ndarray, "p q"]
    all_edges: float
    """Cost of removing every edge of the one graph and adding every edge of the other."""
    step: float
    """Costs are multiples of this; 0 where they can be anything."""
    node_labels: tuple[list[int], list[int]]
    link_labels: tuple[list[int], list[int]]

    @property
    def n(self) -> int:
        """Number of nodes of the larger graph."""
        return len(self.node_cost)

    @cached_property
    def link_index(self) -> Int[np.ndarray, "n n"]:
        """Position of the link (i, j) of the first graph; the number of links where there is none."""
        return _index(self.n, self.tail, self.head)

    @cached_property
    def other_link_index(self) -> Int[np.ndarray, "n n"]:
        """Position of the link (k, l) of the second graph; the number of links where there is none."""
        return _index(self.n, self.other_tail, self.other_head)

    @cached_property
    def padded_links(self) -> Int[np.ndarray, "n most"]:
        """Positions of each node's links of the first graph, filled up with the number of links."""
        return incident(self.n, self.tail)

    @cached_property
    def links_of(self) -> list[Int[np.ndarray, " some"]]:
        """Positions of each node's links of the first graph."""
        return [np.flatnonzero(self.tail == i) for i in range(self.n)]

    @cached_property
    def other_links_of(self) -> list[Int[np.ndarray, " some"]]:
        """Positions of each node's links of the second graph."""
        return [np.flatnonzero(self.other_tail == k) for k in range(self.n)]

    @cached_property
    def padded_saving(self) -> Float[np.ndarray, "links others"]:
        """`saving` with a row and a column of zeros for links that do not exist."""
        return np.pad(self.saving, ((0, 1), (0, 1)))

    def cost(self, image: Int[np.ndarray, " n"]) -> float:
        """Cost of the edits under the alignment of node i with node `image[i]`."""
        aligned = self.other_link_index[image[self.tail], image[self.head]]
        saved = self.padded_saving[np.arange(len(self.tail)), aligned].sum() / 2
        return float(self.all_edges + self.node_cost[np.arange(self.n), image].sum() - saved)

    def beaten_by(self, cost: float) -> float:
        """Highest cost that is lower than `cost`."""
        return cost - (self.step or TOLERANCE)

    def round_up(self, bound: float) -> float:
        """Lowest possible cost that is not below a lower bound."""
        return float(np.ceil(bound / self.step - 1e-6) * self.step) if self.step else bound


def alignment_problem(small: Graph, large: Graph, costs: EditCosts) -> AssignmentProblem:
    """Make the problem of two trimmed single graphs, the first of which has no more nodes than the second."""
    schema, n, real = small.schema, large.num_slots, small.num_slots
    rows, other_rows = small.V[0].double().numpy(), large.V[0].double().numpy()
    node_cost = np.full((n, n), costs.add_node)
    node_cost[:real] = costs.set_node * _differences(list(schema.node_slices()), rows, other_rows)
    (tail, head, links), (other_tail, other_head, other_links) = _links(small), _links(large)
    saving, all_edges = _savings(schema, costs, links, other_links)
    return AssignmentProblem(
        node_cost,
        real,
        tail,
        head,
        other_tail,
        other_head,
        saving,
        all_edges,
        _step(schema, costs),
        _joint_labels(rows, other_rows),
        _joint_labels(links, other_links),
    )


def incident(n: int, tail: np.ndarray, least: int = 0) -> np.ndarray:
    """Positions of each node's links, filled up with the number of links, to at least so many columns."""
    degree = np.bincount(tail, minlength=n)
    starts = np.full((n, max(int(degree.max()), least)), len(tail))
    order = np.argsort(tail, kind="stable")
    within = np.arange(len(tail)) - np.repeat(np.cumsum(degree) - degree, degree)
    starts[tail[order], within] = order
    return starts


def _index(n: int, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
    """Table of the positions of links by their ends; the number of links where there is none."""
    index = np.full((n, n), len(tail))
    index[tail, head] = np.arange(len(tail))
    return index


def _links(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tails, heads and rows of all links; a row is [exists, E] of (i, j) and, if directed, [exists, E] of (j, i)."""
    A, E = graph.A[0].double().numpy(), graph.E[0].double().numpy()
    tail, head = np.nonzero(np.maximum(A, A.T))
    there = np.concatenate([A[tail, head, None], E[tail, head]], 1)
    if not graph.schema.directed:
        return tail, head, there
    back = np.concatenate([A[head, tail, None], E[head, tail]], 1)
    return tail, head, np.concatenate([there, back], 1)


def _savings(schema: Schema, costs: EditCosts, links: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, float]:
    """Saving of each pair of links, and the cost of removing all links of one graph and adding all of the other."""
    width = 1 + schema.de
    saving, all_edges = np.zeros((len(links), len(others))), 0.0
    for start in range(0, links.shape[1], width):
        removed, added = links[:, start : start + width], others[:, start : start + width]
        change = costs.set_edge * _differences(list(schema.edge_slices()), removed[:, 1:], added[:, 1:])
        both = removed[:, None, 0] * added[None, :, 0]
        saving += both * (costs.remove_edge + costs.add_edge - change)
        all_edges += costs.remove_edge * removed[:, 0].sum() + costs.add_edge * added[:, 0].sum()
    # A link is listed from either end.
    return saving, float(all_edges / 2)


def _differences(slices: list, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Size of the change between each pair of rows, from 0 to 1, the size of a change of category."""
    total = np.zeros((len(rows), len(others)))
    for column, at in slices:
        gap = np.abs(rows[:, None, at] - others[None, :, at]).sum(-1)
        total += gap / column.unit
    return np.minimum(total, 1.0)


def _step(schema: Schema, costs: EditCosts) -> float:
    """Number of which all costs are multiples: 1, or 0 if they can be anything."""
    whole = all(float(cost).is_integer() for cost in vars(costs).values())
    return 1.0 if whole and not schema.has_continuous else 0.0


def _joint_labels(rows: np.ndarray, others: np.ndarray) -> tuple[list[int], list[int]]:
    """Number the rows of both arrays, equal rows alike."""
    numbers: dict[bytes, int] = {}
    first, second = ([numbers.setdefault(row.tobytes(), len(numbers)) for row in part + 0.0] for part in (rows, others))
    return first, second


Allowed = Bool[np.ndarray, "n n"]
"""True for the pairs of nodes that an alignment better than the best so far may still have."""
