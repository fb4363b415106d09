"""Laws that every function of graphs must obey, as assertions, and random graphs to test them on.

The function takes a `Graph` and returns a tensor per graph ("b ..."), per node ("b n" or "b n d") or per pair of nodes
("b n n d"), or a `Graph`. Numbers are compared relative to the largest number of the output, with a tolerance that
depends on the floating-point type.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .errors import GraphError
from .graph import Graph
from .schema import Categories, Continuous, Schema

Result = Tensor | Graph
"""Output of a function under test."""

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def random_schema(seed: int = 0, *, directed: bool | None = None, max_nodes: int = 16) -> Schema:
    """Make a random schema: up to two categorical and one continuous attribute, for nodes and again for edges.

    Args:
        seed: Equal seeds give equal schemas.
        directed: Direction of edges; random if None.
        max_nodes: Largest number of nodes of its graphs.

    Returns:
        The schema.

    Example:
        >>> random_schema(seed=1, directed=True).directed, random_schema(seed=1).max_nodes
        (True, 16)
    """
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
    """Make a batch of random valid graphs.

    Args:
        schema: Kind of graphs; by default undirected, a categorical and a continuous attribute for nodes and edges.
        n: Number of node slots; about a fifth of them are empty.
        num_graphs: Size of the batch.
        seed: Equal seeds give equal graphs.
        relaxed: If True, entries are probabilities.

    Returns:
        The batch.

    Example:
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
    """Assert that reordering the slots of a graph reorders the outputs per node or pair, and changes nothing else.

    Args:
        f: Function under test; it returns a tensor per node or per pair of nodes, or a `Graph`.
        graph: Batch to call it on.
        seed: Seed of the random orders, one for each graph.

    Raises:
        AssertionError: If the law does not hold; the message has the largest difference and its place.
        GraphError: If the output is not per node or per pair.

    Example:
        >>> assert_equivariant(lambda graph: graph.A.sum(2), random_graph(n=4))
    """
    order = _random_orders(graph, seed)
    expected = _reorder(f(graph), order)
    _assert_same(f(graph.permute(order)), expected, f"is not equivariant: reordering slots with seed={seed}")


def assert_invariant(f: Callable[[Graph], Tensor], graph: Graph, *, seed: int = 0) -> None:
    """Assert that reordering the slots of a graph does not change the output.

    Args:
        f: Function under test; it returns a tensor per graph.
        graph: Batch to call it on.
        seed: Seed of the random orders, one for each graph.

    Raises:
        AssertionError: If the law does not hold; the message has the largest difference and its place.

    Example:
        >>> assert_invariant(lambda graph: graph.A.sum((1, 2)), random_graph(n=4))
        >>> assert_invariant(lambda graph: graph.V[:, 0], random_graph(n=4))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        AssertionError: The function is not invariant: reordering slots with seed=0 changed the output by 1 at ...
    """
    expected = f(graph)
    reordered = f(graph.permute(_random_orders(graph, seed)))
    _assert_same(reordered, expected, f"is not invariant: reordering slots with seed={seed}")


def assert_padding_free(f: Callable[[Graph], Result], graph: Graph, *, extra: int = 2) -> None:
    """Assert that empty slots do not change the output for the graph or for its other slots.

    Args:
        f: Function under test.
        graph: Batch to call it on, with at least `extra` slots less than its schema allows.
        extra: Number of empty slots to add.

    Raises:
        AssertionError: If the law does not hold; the message has the largest difference and its place.
        GraphError: If the schema has no room for the slots.

    Example:
        >>> assert_padding_free(lambda graph: graph.V.sum(1), random_graph(n=4))
    """
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
    """Assert that the output for a graph does not depend on the other graphs of its batch.

    Args:
        f: Function under test.
        graph: Batch to call it on, as a whole and graph by graph.

    Raises:
        AssertionError: If the law does not hold; the message has the largest difference and its place.

    Example:
        >>> assert_batch_free(lambda graph: graph.num_edges, random_graph(n=4, num_graphs=3))
    """
    together = f(graph)
    for i in range(len(graph)):
        _assert_same(f(graph.select(i)), together[i : i + 1], f"depends on the batch: passing graph {i} by itself")


def _assert_same(result: Result, expected: Result, law: str) -> None:
    """Raise AssertionError if two results differ by more than rounding; `law` begins the message."""
    parts = _parts(result)
    for name, right in _parts(expected).items():
        part = parts[name]
        if part.shape != right.shape:
            raise AssertionError(f"The function {law} made {name} {tuple(part.shape)} instead of {tuple(right.shape)}.")
        gap = (part - right).detach().abs()
        allowed = _TOLERANCE[right.dtype] * (1 + float(right.detach().abs().max())) if right.numel() else 0.0
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
    """Drop the slots that padding added: in a tensor, along every axis that grew from `n` to `n + extra`."""
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
