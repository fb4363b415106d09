"""Rules that a user's classifier must obey, tried on a few graphs when it is wrapped; each has its own error."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...columns import map_categories
from ...errors import (
    BatchDependent,
    ClassifierError,
    ConfigError,
    GraphflipError,
    IgnoresEdges,
    NotDeterministic,
    NotDifferentiable,
    NotFinite,
    OrderDependent,
    SchemaError,
)
from ...graph import Graph
from ...schema import Schema
from ...testing import assert_batch_free, assert_invariant, assert_padding_free, random_graph

Answer = Callable[[Graph], Float[Tensor, "b c"]]

_SAME = 1e-4  # relative to the largest logit: sums in another order differ in the last digits


def check_word(setting: str, given: str, kind: Any) -> None:
    """Raise unless a setting is one of the words of a Literal."""
    if given not in get_args(kind):
        raise ConfigError(f"`{setting}` must be one of {', '.join(get_args(kind))}; got {given!r}.")


def sample_graphs(schema: Schema, given: Graph | None, model: object) -> Graph:
    """Choose graphs to try a classifier on, in its floating-point type: the first four given, or random ones."""
    if given is not None and given.schema != schema:
        raise SchemaError("The sample must have the schema that the classifier is wrapped with; it has another.")
    n = min(8, schema.max_nodes)
    sample = random_graph(schema, n=n, num_graphs=4, seed=1) if given is None else given[:4]
    weights = [] if not isinstance(model, nn.Module) else [w for w in model.parameters() if w.is_floating_point()]
    return sample.to(weights[0].dtype).to(weights[0].device) if weights else sample


def copied(model: nn.Module) -> nn.Module:
    """Copy a model in eval mode and without gradients for its weights; the user's own stays as it is."""
    if any(map(is_lazy, model.parameters())):
        raise ClassifierError(
            "A model must know the shapes of its weights; some layers of this one are lazy and were never called. "
            "Train it, load its weights, or call it once."
        )
    try:
        return copy.deepcopy(model).eval().requires_grad_(False)
    except Exception as error:
        raise ClassifierError(
            f"A model must be one that `copy.deepcopy` can copy; it raised {type(error).__name__}: {error}. "
            "Do not keep tensors with gradients as attributes."
        ) from error


@torch.no_grad()
def check_answers(answer: Answer, sample: Graph) -> None:
    """Raise unless answers are finite, the same when asked again, and depend on nothing but the graph."""
    first = _called(answer, sample)
    if not bool(first.isfinite().all()):
        raise NotFinite(
            f"A classifier must give finite numbers; it gives NaN or infinity for {_share(~first.isfinite().all(1))} "
            "sample graphs. Look for a division by zero, say a mean over no neighbors, or weights that are NaN."
        )
    if not same(answer(sample), first):
        raise NotDeterministic(
            "A classifier must give the same answer when asked again; it does not, in eval mode. "
            "Remove what is random (dropout called with training=True, random features), or fix its seed."
        )
    must = "A classifier's answer for a graph must not depend on what else is in the batch."
    with _law(BatchDependent, must, "Pool by `batch`, normalize by stored statistics, and leave out empty slots."):
        assert_batch_free(answer, sample)
        if sample.num_slots + 2 <= sample.schema.max_nodes:
            assert_padding_free(answer, sample)
    must = "A classifier must not depend on the order of nodes."
    with _law(OrderDependent, must, "Pool with a sum, mean or maximum, and use no node number as a feature."):
        assert_invariant(answer, sample)


@torch.no_grad()
def check_edges_matter(answer: Answer, sample: Graph) -> None:
    """Raise unless some answer changes when all edges are taken away."""
    if bool(sample.A.any()) and same(answer(without_edges(sample)), answer(sample), relative=1e-6):
        raise IgnoresEdges(
            "A classifier of graphs must look at edges; this one gives the same answers without any. "
            "Hand `edge_index` to its layers. If it is meant to see nodes alone, wrap it with `BlackBox`."
        )


def check_gradients(answer: Answer, sample: Graph) -> None:
    """Raise unless gradients at a relaxed graph are finite, and those of edges not all zero."""
    gradients = gradients_at(answer, relaxed(sample))
    if not gradients:
        raise NotDifferentiable(
            "A classifier must have gradients with respect to the graph; its logits have none. "
            "Remove `no_grad`, `detach` and `item` from its forward, or wrap it with `BlackBox`."
        )
    if not all(bool(gradient.isfinite().all()) for gradient in gradients.values()):
        raise NotDifferentiable(
            "A classifier must have finite gradients; they are NaN or infinite. "
            "Look for roots or divisions at zero, or wrap it with `BlackBox`."
        )
    if bool(sample.A.any()) and ("A" not in gradients or not bool(gradients["A"].any())):
        raise NotDifferentiable(
            "A classifier must have gradients with respect to edges; they are zero. Use layers of "
            "`torch_geometric.nn.MessagePassing`, or wrap it with `BlackBox`, which needs no gradients."
        )


def gradients_at(answer: Answer, graph: Graph) -> dict[str, Tensor]:
    """Gradients of the difference between classes with respect to those of B, V, A, E that have any."""
    B, V, A, E = parts = [getattr(graph, name).detach().clone().requires_grad_() for name in "BVAE"]
    logits = answer(Graph.trusted(B, V, A, E, graph.schema))
    if not logits.requires_grad:
        return {}
    weights = torch.linspace(-1, 1, logits.shape[1]).to(logits)  # the sum over classes may be constant
    gradients = torch.autograd.grad((logits * weights).sum(), parts, allow_unused=True)
    return {name: gradient for name, gradient in zip("BVAE", gradients, strict=True) if isinstance(gradient, Tensor)}


def same(logits: Float[Tensor, "b c"], expected: Float[Tensor, "b c"], relative: float = _SAME) -> bool:
    """True if logits agree up to rounding."""
    return bool(((logits - expected).abs() <= relative * (1 + expected.abs().max())).all())


def without_edges(graph: Graph) -> Graph:
    """Copy graphs without their edges."""
    return Graph.trusted(graph.B, graph.V, torch.zeros_like(graph.A), torch.zeros_like(graph.E), graph.schema)


def relaxed(graph: Graph, exists: float = 0.8) -> Graph:
    """Copy graphs whose edges exist with probability `exists`."""
    E = map_categories(lambda values: values * exists, graph.E, graph.schema.edge_slices())
    return Graph.trusted(graph.B, graph.V, graph.A * exists, E, graph.schema)


def _called(answer: Answer, sample: Graph) -> Float[Tensor, "b c"]:
    """Call the classifier; an error of the model's own becomes a ClassifierError that quotes it."""
    try:
        return answer(sample)
    except GraphflipError:
        raise
    except Exception as error:
        raise ClassifierError(
            f"A classifier must accept graphs of its schema ({sample.schema.dv} node columns, {sample.schema.de} edge "
            f"columns); on a sample it raised {type(error).__name__}: {error}. "
            'Check the width of its first layer, and the form of its inputs: `x="ids"` of a PyG model with embeddings.'
        ) from error


@contextmanager
def _law(kind: type[ClassifierError], must: str, advice: str) -> Iterator[None]:
    """Context in which an assertion that fails becomes an error of this kind."""
    try:
        yield
    except AssertionError as error:
        raise kind(f"{must} {error} {advice}") from error


def _share(wrong: Tensor) -> str:
    return f"{int(wrong.sum())} of {len(wrong)}"
