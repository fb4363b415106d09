"""Single edits of a hard graph without any rule of chemistry: the neighbors in GCFExplainer's map of edits."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
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
    is_there = (graph.B[0] != 0).tolist()
    there = [k for k, yes in enumerate(is_there) if yes]
    free = next((k for k, yes in enumerate(is_there) if not yes), None)
    types = _all_types(graph)
    steps = [Step("edge", pair) for pair in pair_list(graph)]
    steps += [Step("remove", (i,)) for i in there if len(there) > 1]
    for value in range(num_types(graph.schema)):
        steps += [Step("add", (free, i), value) for i in there if free is not None]
        steps += [Step("type", (i,), value) for i in there if types[i] != value]
    return steps


def take(graph: Graph, steps: list[Step]) -> Graph:
    """The graphs after each of the steps, as a batch; new edges and other attributes are the usual ones."""
    B, V, A, E = (getattr(graph, name).repeat(len(steps), *[1] * (getattr(graph, name).ndim - 1)) for name in "BVAE")
    edge, at = usual_edge(graph)[0], _types(graph.schema)
    k, i = _places(steps, "remove")
    B[k, i], V[k, i] = 0, 0
    for tensor in (A, E):
        tensor[k, i], tensor[k, :, i] = 0, 0
    k, i, j = _places(steps, "edge", 2)
    _set_edges(A, E, (k, i, j), 1 - A[k, i, j], edge, graph.schema.directed)
    k, i, j = _places(steps, "add", 2)
    B[k, i], V[k, i] = 1, _usual_node(graph)
    _set_edges(A, E, (k, j, i), torch.ones(len(k)), edge, graph.schema.directed)
    if at is not None:
        chosen = [n for n, step in enumerate(steps) if step.kind in ("add", "type")]
        k, i = torch.tensor(chosen, dtype=torch.long), torch.tensor([steps[n].at[0] for n in chosen], dtype=torch.long)
        types = torch.zeros(len(chosen), at.stop - at.start)
        types[torch.arange(len(chosen)), [steps[n].value for n in chosen]] = 1
        V[k, i, at] = types
    return Graph.trusted(B, V, A, E, graph.schema)


def num_types(schema: Schema) -> int:
    """Number of node types, at least 1: those of the first group of categories."""
    at = _types(schema)
    return 1 if at is None else at.stop - at.start


def _places(steps: list[Step], kind: str, length: int = 1) -> list[Int[Tensor, " k"]]:
    """Numbers of the steps of a kind, then the first, second … node of each."""
    rows = [(n, *step.at) for n, step in enumerate(steps) if step.kind == kind]
    return list(torch.tensor(rows, dtype=torch.long).view(len(rows), 1 + length).T)


def _set_edges(
    A: Tensor, E: Tensor, places: tuple[Tensor, Tensor, Tensor], value: Float[Tensor, " k"], row: Tensor, directed: bool
) -> None:
    k, i, j = places
    for place in ((k, i, j),) if directed else ((k, i, j), (k, j, i)):
        A[place], E[place] = value, value[:, None] * row


def _types(schema: Schema) -> slice | None:
    return next((at for column, at in schema.node_slices() if not column.is_continuous), None)


def _all_types(graph: Graph) -> list[int]:
    """Number of the type of each slot of one graph."""
    at = _types(graph.schema)
    return [0] * graph.num_slots if at is None else graph.V[0, :, at].argmax(-1).tolist()


def _usual_node(graph: Graph) -> Tensor:
    """Commonest category of each group, and mean of each number, over the nodes of a graph."""
    total, count = graph.V.sum((0, 1)), graph.B.sum().clamp(min=1)
    parts = []
    for column, at in graph.schema.node_slices():
        commonest = torch.nn.functional.one_hot(total[at].argmax(), column.width).to(total)
        parts.append(total[at] / count if column.is_continuous else commonest)
    return torch.cat(parts) if parts else total
