"""Graph edit distance as an assignment problem: which node of the larger graph each node of the smaller one becomes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from ..edits import EditCosts
from ..graph import Graph
from ..schema import Schema

TOLERANCE = 1e-5
"""Costs that are not whole numbers are told apart if they differ by more than this."""


@dataclass(frozen=True, eq=False)
class AssignmentProblem:
    """Align two graphs of n nodes each, the smaller one filled up with empty slots.

    Changing never costs more than removing and adding, so some cheapest alignment leaves no node of the smaller graph
    out: an alignment is a permutation. Edges count through what aligning them saves against removing the one and adding
    the other. Both directions of a pair of nodes are one *link*, listed once from either end; it is never split.
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
    def padded_saving(self) -> Float[np.ndarray, "links others"]:
        """`saving` with a row and a column of zeros for links that do not exist."""
        return np.pad(self.saving, ((0, 1), (0, 1)))

    def cost(self, image: Int[np.ndarray, " n"]) -> float:
        """Cost of the edits under the alignment of node i with node `image[i]`."""
        aligned = self.other_link_index[image[self.tail], image[self.head]]
        saved = self.padded_saving[np.arange(len(self.tail)), aligned].sum() / 2
        return float(self.all_edges + self.node_cost[np.arange(self.n), image].sum() - saved)

    def beaten_by(self, cost: float) -> float:
        """The highest cost that is lower than `cost`."""
        return cost - (self.step or TOLERANCE)

    def round_up(self, bound: float) -> float:
        """The lowest possible cost that is not below a lower bound."""
        return float(np.ceil(bound / self.step - 1e-6) * self.step) if self.step else bound


def alignment_problem(small: Graph, large: Graph, costs: EditCosts) -> AssignmentProblem:
    """The problem for two trimmed single graphs, the first of which has no more nodes than the second."""
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


def _index(n: int, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
    index = np.full((n, n), len(tail))
    index[tail, head] = np.arange(len(tail))
    return index


def _links(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs (i, j) with an edge in either direction; a row is [exists, E] there and, if directed, [exists, E] back."""
    A, E = graph.A[0].double().numpy(), graph.E[0].double().numpy()
    tail, head = np.nonzero(np.maximum(A, A.T))
    there = np.concatenate([A[tail, head, None], E[tail, head]], 1)
    if not graph.schema.directed:
        return tail, head, there
    back = np.concatenate([A[head, tail, None], E[head, tail]], 1)
    return tail, head, np.concatenate([there, back], 1)


def _savings(schema: Schema, costs: EditCosts, links: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, float]:
    width = 1 + schema.de
    saving, all_edges = np.zeros((len(links), len(others))), 0.0
    for start in range(0, links.shape[1], width):
        one, other = links[:, start : start + width], others[:, start : start + width]
        change = costs.set_edge * _differences(list(schema.edge_slices()), one[:, 1:], other[:, 1:])
        both = one[:, None, 0] * other[None, :, 0]
        saving += both * (costs.remove_edge + costs.add_edge - change)
        all_edges += costs.remove_edge * one[:, 0].sum() + costs.add_edge * other[:, 0].sum()
    # A link is listed from either end.
    return saving, float(all_edges / 2)


def _differences(slices: list, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each pair of rows the size of the change, in units of a full change of category."""
    total = np.zeros((len(rows), len(others)))
    for column, at in slices:
        gap = np.abs(rows[:, None, at] - others[None, :, at]).sum(-1)
        total += gap / column.unit
    return np.minimum(total, 1.0)


def _step(schema: Schema, costs: EditCosts) -> float:
    whole = all(float(cost).is_integer() for cost in vars(costs).values())
    return 1.0 if whole and not schema.has_continuous else 0.0


def _joint_labels(rows: np.ndarray, others: np.ndarray) -> tuple[list[int], list[int]]:
    """Equal rows of either array get the same number."""
    numbers: dict[bytes, int] = {}
    one, other = ([numbers.setdefault(row.tobytes(), len(numbers)) for row in part + 0.0] for part in (rows, others))
    return one, other


Allowed = Bool[np.ndarray, "n n"]
"""Which node of the second graph each node of the first may still become in an alignment that is worth finding."""
