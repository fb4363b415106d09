"""Laws that hold for anything working on graphs, as assertions, and random graphs to try them on.

A law is asserted of a function of a `Graph` that gives a tensor per graph ("b ..."), per node ("b n" or "b n d"), per
pair of nodes ("b n n d"), or a `Graph`. Numbers are compared relative to the largest of the output, with a tolerance
that follows its floating-point type.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .errors import GraphError
from .graph import Graph
from .schema import Categories, Continuous, Schema

Result = Tensor | Graph

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def random_schema(seed: int = 0, *, directed: bool | None = None, max_nodes: int = 16) -> Schema:
    """A schema with up to two groups of categories and one continuous column for nodes, and again for edges."""
    rng = torch.Generator().manual_seed(seed)

    def columns() -> tuple[Categories | Continuous, ...]:
        widths = torch.randint(0, 5, (2,), generator=rng).tolist()  # a group of width 0 is left out
        groups = [
            Categories(name=f"group{i}", values=tuple("abcde"[:width])) for i, width in enumerate(widths) if width
        ]
        continuous = [Continuous(name="size", mean=2.0, scale=0.5)] if _chance(0.5, (), rng) else []
        return (*groups, *continuous)

    nodes, edges, either = columns(), columns(), bool(_chance(0.5, (), rng))
    return Schema(nodes=nodes, edges=edges, max_nodes=max_nodes, directed=either if directed is None else directed)


def random_graph(
    schema: Schema | None = None, *, n: int = 6, num_graphs: int = 2, seed: int = 0, relaxed: bool = False
) -> Graph:
    """A batch of valid graphs of `n` slots, some of them empty; `relaxed` ones have probabilities as entries.

    Without a schema it is undirected, with categories and a continuous column for nodes and for edges.

    >>> random_graph(n=4, seed=1) == random_graph(n=4, seed=1)
    True
    >>> random_graph(n=4, seed=1).is_hard, random_graph(n=4, seed=1, relaxed=True).is_hard
    (True, False)
    """
    columns = (Categories(name="type", values=("a", "b", "c")), Continuous(name="size"))
    schema = schema or Schema(nodes=columns, edges=columns, max_nodes=max(n + 4, 16))
    rng = torch.Generator().manual_seed(seed)
    B = _chance(0.8, (num_graphs, n), rng)
    A = _chance(0.4, (num_graphs, n, n), rng)
    if relaxed:
        B, A = B * torch.rand(B.shape, generator=rng), A * torch.rand(A.shape, generator=rng)
    A = A * torch.minimum(B[:, :, None], B[:, None, :]) * (1 - torch.eye(n))
    V = _random_rows(schema.nodes, B, rng, relaxed)
    E = _random_rows(schema.edges, A, rng, relaxed)
    if not schema.directed:
        A, E = A.triu(1), E * torch.ones(n, n).triu(1)[:, :, None]
        A, E = A + A.transpose(1, 2), E + E.transpose(1, 2)
    return Graph(B, V, A, E, schema)


def assert_equivariant(f: Callable[[Graph], Result], graph: Graph, *, seed: int = 0) -> None:
    """Reordering the slots of each graph reorders what `f` says of nodes and pairs, and changes nothing else."""
    order = _random_orders(graph, seed)
    expected = _reorder(f(graph), order)
    _assert_same(f(graph.permute(order)), expected, f"is not equivariant: reordering slots with seed={seed}")


def assert_invariant(f: Callable[[Graph], Tensor], graph: Graph, *, seed: int = 0) -> None:
    """Reordering the slots of each graph does not change what `f` says of it."""
    expected = f(graph)
    found = f(graph.permute(_random_orders(graph, seed)))
    _assert_same(found, expected, f"is not invariant: reordering slots with seed={seed}")


def assert_padding_free(f: Callable[[Graph], Result], graph: Graph, *, extra: int = 2) -> None:
    """Adding `extra` empty slots changes nothing that `f` says of the graph or of the slots it had."""
    n = graph.num_slots
    if n + extra > graph.schema.max_nodes:
        raise GraphError(
            f"This law needs room for {extra} empty slots: num_slots must be at most {graph.schema.max_nodes - extra} "
            f"(max_nodes is {graph.schema.max_nodes}); got {n}. Use a smaller graph."
        )
    expected, padded = f(graph), f(graph.pad(n + extra))
    law = f"depends on padding: adding {extra} empty slots"
    if isinstance(padded, Graph) and bool(padded.B[:, n:].any()):
        raise AssertionError(f"The function {law} made nodes in them.")
    _assert_same(_first_slots(padded, n, extra, expected), expected, law)


def assert_batch_free(f: Callable[[Graph], Result], graph: Graph) -> None:
    """What `f` says of a graph does not depend on the other graphs of its batch."""
    together = f(graph)
    for i in range(len(graph)):
        _assert_same(f(graph.select(i)), together[i : i + 1], f"depends on the batch: passing graph {i} by itself")


def _assert_same(found: Result, expected: Result, law: str) -> None:
    found_parts, expected_parts = _parts(found), _parts(expected)
    for name, here in expected_parts.items():
        there = found_parts[name]
        if there.shape != here.shape:
            raise AssertionError(f"The function {law} made {name} {tuple(there.shape)} instead of {tuple(here.shape)}.")
        gap = (there - here).detach().abs()
        allowed = _TOLERANCE[here.dtype] * (1 + float(here.detach().abs().max())) if here.numel() else 0.0
        if not bool((gap <= allowed).all()):  # written so that NaN fails
            where = [int(k) for k in torch.unravel_index(gap.nan_to_num(torch.inf).argmax(), gap.shape)]
            raise AssertionError(
                f"The function {law} changed {name} by {float(gap[tuple(where)]):.3g} at {where} "
                f"(allowed: {allowed:.1g})."
            )


def _parts(result: Result) -> dict[str, Tensor]:
    if isinstance(result, Graph):
        return {f"`{name}`": getattr(result, name) for name in "BVAE"}
    return {"the output": result if result.is_floating_point() else result.double()}


def _reorder(result: Result, order: Int[Tensor, "b n"]) -> Result:
    if isinstance(result, Graph):
        return result.permute(order)
    if not 2 <= result.ndim <= 4:
        raise GraphError(
            'Equivariance is of outputs per node, "b n" or "b n d", or per pair, "b n n d"; '
            f"got shape {tuple(result.shape)}. Use `assert_invariant` for outputs per graph."
        )
    batch = torch.arange(len(order))[:, None]
    if result.ndim < 4:
        return result[batch, order]
    return result[batch[..., None], order[:, :, None], order[:, None, :]]


def _first_slots(result: Result, n: int, extra: int, expected: Result) -> Result:
    """Without the slots that padding added: in a tensor, every axis that grew from `n` to `n + extra`."""
    if isinstance(result, Graph):
        return Graph.trusted(result.B[:, :n], result.V[:, :n], result.A[:, :n, :n], result.E[:, :n, :n], result.schema)
    if not isinstance(expected, Tensor) or result.ndim != expected.ndim:
        return result
    for axis, (before, after) in enumerate(zip(expected.shape, result.shape, strict=True)):
        if (before, after) == (n, n + extra):
            result = result.narrow(axis, 0, n)
    return result


def _random_orders(graph: Graph, seed: int) -> Int[Tensor, "b n"]:
    rng = torch.Generator().manual_seed(seed)
    return torch.rand(graph.B.shape, generator=rng).argsort(1)


def _random_rows(
    columns: tuple[Categories | Continuous, ...], exists: Float[Tensor, "*of"], rng: torch.Generator, relaxed: bool
) -> Float[Tensor, "*of d"]:
    rows = [torch.zeros(*exists.shape, 0)]
    for column in columns:
        noise = torch.randn(*exists.shape, column.width, generator=rng)
        if column.is_continuous:
            noise = (column.mean + column.scale * noise) * (exists > 0)[..., None]
        elif relaxed:
            noise = noise.softmax(-1) * exists[..., None]
        else:
            noise = (noise == noise.amax(-1, keepdim=True)) * exists[..., None]
        rows.append(noise)
    return torch.cat(rows, -1)


def _chance(p: float, shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
    return (torch.rand(shape, generator=rng) < p).float()
