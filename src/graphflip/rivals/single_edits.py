"""Single edits of a hard graph without any rule of chemistry: the neighbors in GCFExplainer's map of edits."""

from typing import NamedTuple

import torch
from torch import Tensor

from ..graph import Graph
from ..schema import Schema
from .edge_weights import pair_list, usual_edge


class Step(NamedTuple):
    """An edit: its kind, its place, and the number of the category where one is chosen."""

    kind: str
    at: tuple[int, ...]
    value: int = 0


def steps_from(graph: Graph) -> list[Step]:
    """Every node to remove, every leaf to add, every category to change, every edge to add or remove."""
    there = graph.B[0].nonzero()[:, 0].tolist()
    free = [k for k in range(graph.num_slots) if graph.B[0, k] == 0]
    steps = [Step("edge", pair) for pair in pair_list(graph)]
    steps += [Step("remove", (i,)) for i in there if len(there) > 1]
    for value in range(num_types(graph.schema)):
        steps += [Step("add", (free[0], i), value) for i in there if free]
        steps += [Step("type", (i,), value) for i in there if _type(graph, i) != value]
    return steps


def take(graph: Graph, steps: list[Step]) -> Graph:
    """The graphs after each of the steps, as a batch; new edges and other attributes are the usual ones."""
    B, V, A, E = (getattr(graph, name).repeat(len(steps), *[1] * (getattr(graph, name).ndim - 1)) for name in "BVAE")
    edge, node = usual_edge(graph)[0], _usual_node(graph)
    at = _types(graph.schema)
    for k, step in enumerate(steps):
        i = step.at[0]
        if step.kind == "remove":
            for tensor in (B[k], V[k], A[k], E[k], A[k].transpose(0, 1), E[k].transpose(0, 1)):
                tensor[i] = 0
        elif step.kind == "edge":
            _set_edge(A[k], E[k], step.at, 1 - float(A[k][step.at]), edge, graph.schema.directed)
        else:
            if step.kind == "add":
                B[k, i], V[k, i] = 1, node
                _set_edge(A[k], E[k], (step.at[1], i), 1.0, edge, graph.schema.directed)
            if at is not None:
                V[k, i, at] = 0
                V[k, i, at.start + step.value] = 1
    return Graph.trusted(B, V, A, E, graph.schema)


def num_types(schema: Schema) -> int:
    """Number of node types, at least 1: those of the first group of categories."""
    at = _types(schema)
    return 1 if at is None else at.stop - at.start


def _set_edge(A: Tensor, E: Tensor, pair: tuple[int, ...], value: float, row: Tensor, directed: bool) -> None:
    i, j = pair
    for place in ((i, j),) if directed else ((i, j), (j, i)):
        A[place], E[place] = value, value * row


def _types(schema: Schema) -> slice | None:
    return next((at for column, at in schema.node_slices() if not column.is_continuous), None)


def _type(graph: Graph, i: int) -> int:
    at = _types(graph.schema)
    return 0 if at is None else int(graph.V[0, i, at].argmax())


def _usual_node(graph: Graph) -> Tensor:
    """Commonest category of each group, and mean of each number, over the nodes of a graph."""
    total, count = graph.V.sum((0, 1)), graph.B.sum().clamp(min=1)
    parts = []
    for column, at in graph.schema.node_slices():
        commonest = torch.nn.functional.one_hot(total[at].argmax(), column.width).to(total)
        parts.append(total[at] / count if column.is_continuous else commonest)
    return torch.cat(parts) if parts else total
