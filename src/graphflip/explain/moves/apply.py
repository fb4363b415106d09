"""Differences applied to a graph: the tensors of many candidates at once, or their lists of nodes and edges."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...graph import Graph
from ...nn.variations import GraphLists, Variations
from ...schema import Column
from .attributes import Attributes
from .difference import Difference


def apply_differences(graph: Graph, differences: Sequence[Difference]) -> Graph:
    """The batch of graphs that differ from one hard graph as given; slots are added where new nodes need them."""
    slots = max((max(difference.touched, default=0) for difference in differences), default=0) + 1
    graph = graph.pad(slots) if slots > graph.num_slots else graph
    B, V, A, E = (
        tensor.expand(len(differences), *tensor.shape[1:]).clone(memory_format=torch.contiguous_format)
        for tensor in (graph.B, graph.V, graph.A, graph.E)
    )
    n, schema = graph.num_slots, graph.schema
    nodes = [(c * n + i, change.after) for c, each in enumerate(differences) for i, change in each.nodes.items()]
    edges = [
        ((c * n + a) * n + b, change.after)
        for c, each in enumerate(differences)
        for (i, j), change in each.edges.items()
        for a, b in (((i, j),) if schema.directed else ((i, j), (j, i)))
    ]
    _write(nodes, B, V, schema.nodes)
    _write(edges, A, E, schema.edges)
    return Graph.trusted(B, V, A, E, schema)


def _write(
    cells: list[tuple[int, Attributes | None]], exist: Tensor, rows: Tensor, columns: tuple[Column, ...]
) -> None:
    """Write attributes, and whether they exist, at these places of all nodes or all pairs of nodes, in place."""
    if cells:
        places, attributes = zip(*cells, strict=True)
        at = torch.from_numpy(np.array(places)).to(rows.device)
        written, there = _rows(attributes, columns, rows)
        rows.view(exist.numel(), rows.shape[-1]).index_copy_(0, at, written)
        exist.view(-1).index_copy_(0, at, there)


class Varied:
    """Applies differences to one hard graph, as `apply_differences` does, but gives lists instead of dense tensors.

    Args:
        graph: A batch of one hard graph.
    """

    def __init__(self, graph: Graph):
        self.schema, here = graph.schema, graph.B[0] > 0.5
        slots = here.nonzero()[:, 0]
        i, j = (graph.A[0] > 0.5).nonzero(as_tuple=True)
        number = here.cumsum(0) - 1
        self.one = GraphLists(graph.V[0, slots], torch.stack([number[i], number[j]]), graph.E[0, i, j])
        self.row = {slot: k for k, slot in enumerate(slots.tolist())}
        self.edge = {pair: k for k, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True))}

    def of(self, differences: Sequence[Difference]) -> Variations:
        """The graphs that differ from the one as given; new nodes come after the others of their graph."""
        return _Assembly(self, differences).variations()


class _Assembly:
    """Lists of some graphs: those of the one graph for each, with what differs put in their places."""

    def __init__(self, varied: Varied, differences: Sequence[Difference]):
        self.varied, self.one, self.count = varied, varied.one, len(differences)
        self.n, self.m = len(varied.one.V), varied.one.ends.shape[1]
        self.new_nodes: list[tuple[int, Attributes]] = []
        self.nodes: list[tuple[int, Attributes | None]] = []
        self.new_edges: list[tuple[int, int, Attributes]] = []
        self.edges: list[tuple[int, Attributes | None]] = []
        self.rewired: list[int] = []
        for c, difference in enumerate(differences):
            self._take(c, difference)

    def _take(self, c: int, difference: Difference) -> None:
        """Note what differs in one graph; a node is numbered as if no node of any graph were gone."""
        fresh: dict[int, int] = {}
        for slot, (_, after) in difference.nodes.items():
            at = self.varied.row.get(slot)
            if at is not None:
                self.nodes.append((c * self.n + at, after))
            elif after is not None:
                fresh[slot] = self.count * self.n + len(self.new_nodes)
                self.new_nodes.append((c, after))
        for (i, j), (_, after) in difference.edges.items():
            for pair in ((i, j),) if self.varied.schema.directed else ((i, j), (j, i)):
                at = self.varied.edge.get(pair)
                first, second = (fresh.get(k, c * self.n + self.varied.row.get(k, 0)) for k in pair)
                self.rewired += (first, second)
                if at is not None:
                    self.edges.append((c * self.m + at, after))
                elif after is not None:
                    self.new_edges.append((first, second, after))

    def variations(self) -> Variations:
        schema, one, whole = self.varied.schema, self.one, self.count * self.n
        owner = torch.arange(self.count).repeat_interleave(self.n)
        owner = torch.cat([owner, torch.tensor([c for c, _ in self.new_nodes], dtype=torch.int64)])
        fresh = _rows([after for _, after in self.new_nodes], schema.nodes, one.V)[0]
        V = torch.cat([one.V.repeat(self.count, 1), fresh])
        kept, changed = torch.ones(len(owner), dtype=torch.bool), torch.zeros(len(owner), dtype=torch.bool)
        changed[whole:] = True
        if self.nodes:
            at = torch.tensor([at for at, _ in self.nodes])
            V[at], there = _rows([after for _, after in self.nodes], schema.nodes, one.V)
            kept[at], changed[at] = there > 0.5, True
        rewired = torch.zeros_like(changed)
        rewired[torch.tensor(self.rewired, dtype=torch.int64)] = True
        origin = torch.cat([torch.arange(self.n).repeat(self.count), torch.full((len(owner) - whole,), -1)])
        order = torch.argsort(owner[kept], stable=True)
        chosen = kept.nonzero()[:, 0][order]
        ends, E = self._edges(chosen, kept)
        gone = (~kept).nonzero()[:, 0]
        gone = gone[gone < whole]
        return Variations(
            schema, one, GraphLists(V[chosen], ends, E), self.count, owner[chosen], origin[chosen],
            changed[chosen], rewired[chosen], torch.stack([gone // max(self.n, 1), gone % max(self.n, 1)]),
        )  # fmt: skip

    def _edges(self, chosen: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        """Ends and attributes of all edges, with the numbers of the chosen nodes."""
        schema, one = self.varied.schema, self.one
        shift = (torch.arange(self.count) * self.n).repeat_interleave(self.m)
        fresh = torch.tensor([edge[:2] for edge in self.new_edges], dtype=torch.int64).view(-1, 2).T
        ends = torch.cat([one.ends.repeat(1, self.count) + shift, fresh], 1)
        attributes = _rows([after for *_, after in self.new_edges], schema.edges, one.E)[0]
        E = torch.cat([one.E.repeat(self.count, 1), attributes])
        there = torch.ones(ends.shape[1], dtype=torch.bool)
        if self.edges:
            at = torch.tensor([at for at, _ in self.edges])
            E[at], exists = _rows([after for _, after in self.edges], schema.edges, one.E)
            there[at] = exists > 0.5
        there &= kept[ends[0]] & kept[ends[1]]
        number = torch.empty(len(kept), dtype=torch.int64)
        number[chosen] = torch.arange(len(chosen))
        return number[ends[:, there]], E[there]


def _rows(cells: Sequence[Attributes | None], columns: tuple[Column, ...], like: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of V or E for some attributes, and 1 for each that exists, 0 for None."""
    kinds = {attributes: number for number, attributes in enumerate(dict.fromkeys(cells))}
    each = like.new_tensor([[float(attributes is not None), *_row(attributes, columns)] for attributes in kinds])
    chosen = torch.from_numpy(np.fromiter(map(kinds.__getitem__, cells), np.int64, len(cells))).to(like.device)
    rows = each.reshape(len(kinds), 1 + like.shape[-1]).index_select(0, chosen)
    return rows[:, 1:], rows[:, 0]


def _row(attributes: Attributes | None, columns: tuple[Column, ...]) -> list[float]:
    if attributes is None:
        return [0.0] * sum(column.width for column in columns)
    return [number for column, value in zip(columns, attributes, strict=True) for number in column.encode(value)]
