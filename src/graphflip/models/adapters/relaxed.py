"""PyG models made differentiable in relaxed graphs, by weighted messages and mixtures of embeddings."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...errors import NotDifferentiable, require

Weigh = Callable[[Tensor], Tensor]
"""Function from an `edge_index` to the weight of each message, " m"."""


def message_layers(model: nn.Module) -> list[Any]:
    """Layers of a model that pass messages along edges."""
    MessagePassing = require("torch_geometric.nn", "pyg", "PyG classifiers").MessagePassing
    return [layer for layer in model.modules() if isinstance(layer, MessagePassing)]


@contextmanager
def weighted_messages(model: nn.Module, weigh: Weigh) -> Iterator[None]:
    """Context in which every message of the model is weighted by its edge.

    Layers that take an `edge_weight` are given it, because they know how to normalize. In others the message is
    multiplied; means and attention are then taken over weights. So in sums, means and attention a weight of 0 removes
    the edge.
    """
    handles = []
    for layer in message_layers(model):
        if "edge_weight" in inspect.signature(layer.forward).parameters:
            handles.append(layer.register_forward_pre_hook(_give_weights(weigh), with_kwargs=True))
            if layer.aggr == "mean":
                handles += _on_messages(layer, weigh, _rescaled)
        else:
            handles += _on_messages(layer, weigh, _weighted)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _give_weights(weigh: Weigh) -> Callable:
    def hook(layer: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        given = inspect.signature(layer.forward).bind(*args, **kwargs).arguments
        weight = weigh(_plain(given["edge_index"], layer))
        if given.get("edge_weight") is not None:
            weight = weight * given["edge_weight"].reshape(-1)
        return (), given | {"edge_weight": weight}

    return hook


def _on_messages(layer: Any, weigh: Weigh, change: Callable[..., Tensor]) -> list[Any]:
    """Apply `change` to every message of a layer, given its weight, its receiver and its attention."""
    receiver = 1 if layer.flow == "source_to_target" else 0
    current = {}

    def remember(layer: Any, inputs: tuple) -> None:
        current["edges"] = _plain(inputs[0], layer)

    def hook(layer: Any, inputs: tuple, message: Tensor) -> Tensor:
        edges = current["edges"]
        attention = inputs[-1].get("alpha", getattr(layer, "_alpha", None))
        about = {"weight": weigh(edges), "to": edges[receiver], "is_mean": layer.aggr == "mean"}
        return change(message.movedim(layer.node_dim, 0), attention=attention, **about).movedim(0, layer.node_dim)

    return [layer.register_propagate_forward_pre_hook(remember), layer.register_message_forward_hook(hook)]


def _weighted(
    message: Float[Tensor, "m *d"],
    weight: Float[Tensor, " m"],
    to: Int[Tensor, " m"],
    is_mean: bool,
    attention: Float[Tensor, "m *heads"] | None,
) -> Float[Tensor, "m *d"]:
    message = message * _column(weight, message)
    if is_mean:
        return _rescaled(message, weight, to)
    if attention is None:
        return message
    # Attention that left out what weighs nothing: divide by the share of it that is left.
    left = _sums(attention * _column(weight, attention), to) / _sums(attention, to)
    total = _sums(weight, to).clamp(max=1.0)  # fades out with the last edge
    factor = _column(total, left) / left.clamp(min=1e-6)
    return message * _column(factor[to], message)


def _rescaled(
    message: Float[Tensor, "m *d"], weight: Float[Tensor, " m"], to: Int[Tensor, " m"], **_: Any
) -> Float[Tensor, "m *d"]:
    """Scale messages so that their mean is the weighted mean; weights that sum to less than 1 are not scaled up."""
    factor = _sums(torch.ones_like(weight), to) / _sums(weight, to).clamp(min=1.0)
    return message * _column(factor[to], message)


def _sums(values: Float[Tensor, "m *d"], to: Int[Tensor, " m"]) -> Float[Tensor, "nodes *d"]:
    count = int(to.max()) + 1 if len(to) else 0
    return values.new_zeros(count, *values.shape[1:]).index_add(0, to, values)


def _column(values: Tensor, like: Tensor) -> Tensor:
    """Add axes at the end until there are as many as `like` has."""
    return values.reshape(*values.shape, *[1] * (like.ndim - values.ndim))


def _plain(edge_index: Any, layer: nn.Module) -> Int[Tensor, "2 m"]:
    if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
        raise NotDifferentiable(
            f"Layers must be given `edge_index` as a plain tensor (2 x edges); {type(layer).__name__} got a sparse "
            "matrix. Hand on `edge_index` itself, or wrap the model with `BlackBox`."
        )
    return edge_index


@dataclass(frozen=True)
class Mixture:
    """Probabilities of the categories of one group, for each row, and the integer of each category."""

    prob: Float[Tensor, "m d"]
    ids: Int[Tensor, " d"]


class Mixtures:
    """Integers that stand for mixtures of categories, and a context in which `nn.Embedding` mixes its rows for them.

    A model may index, squeeze and reshape the integers as usual; only its embeddings see the mixtures.
    """

    # Far above every id, so that integers of another kind, say degrees, are left alone.
    first = 2**40

    def __init__(self):
        self._all: list[Mixture] = []
        self._starts = [self.first]

    def integers(self, mixtures: list[Mixture]) -> Int[Tensor, "m groups"]:
        """Make an integer for each row and group, which stands for its mixture."""
        columns = []
        for mixture in mixtures:
            start, rows = self._starts[-1], len(mixture.prob)
            columns.append(torch.arange(start, start + rows, device=mixture.prob.device))
            self._all.append(mixture)
            self._starts.append(start + rows)
        return torch.stack(columns, 1)

    @contextmanager
    def embedded(self, model: nn.Module) -> Iterator[None]:
        """Context in which the embeddings of a model give mixtures of their rows for these integers."""
        handles, pending = [], {}

        def before(layer: nn.Module, args: tuple) -> tuple:
            if not args[0].numel() or int(args[0].min()) < self.first:
                return args
            pending[layer] = args[0]
            return (torch.zeros_like(args[0]),)

        def after(layer: nn.Embedding, args: tuple, rows: Tensor) -> Tensor:
            return self._mixed(pending.pop(layer), layer) if layer in pending else rows

        for layer in model.modules():
            if isinstance(layer, nn.Embedding):
                handles += [layer.register_forward_pre_hook(before), layer.register_forward_hook(after)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _mixed(self, integers: Int[Tensor, "*rows"], layer: nn.Embedding) -> Float[Tensor, "*rows d"]:
        low, high = int(integers.min()), int(integers.max())
        which = next((k for k, start in enumerate(self._starts[1:]) if low < start), None)
        if which is None or high >= self._starts[which + 1]:
            raise NotDifferentiable(
                "Each embedding must be given the ids of one group of categories, unchanged; one gets ids that were "
                "shifted or mixed. Use an nn.Embedding for each group, or wrap the model with `BlackBox`."
            )
        mixture = self._all[which]
        return mixture.prob[integers - self._starts[which]] @ layer.weight[mixture.ids]
