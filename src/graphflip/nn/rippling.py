"""Networks on variations of one graph: what a change has not reached is computed once."""

from collections.abc import Callable, Iterable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..graph import Graph
from .messages import RelationalLayer
from .variations import Variations

# Entries of dense tensors that are made at a time: 64 MB of numbers.
_DENSE = 16_000_000


def dense_answers(answer: Callable[[Graph], Float[Tensor, "b c"]], variations: Variations) -> Float[Tensor, "b c"]:
    """Answers of a model that reads dense tensors, which are made a few at a time."""
    n = int(variations.num_nodes.max()) if len(variations) else 1
    step = max(_DENSE // max(n * n * (1 + variations.schema.de), 1), 1)
    starts = range(0, len(variations), step)
    parts = [answer(variations.select(at, min(at + step, len(variations)))) for at in starts]
    return torch.cat(parts) if parts else answer(variations.select(0, 0))


def relational_pools(
    enter: nn.Linear, layers: Iterable[nn.Module], variations: Variations
) -> Iterator[Float[Tensor, "b e"]]:
    """Sum, mean and maximum over the nodes of each variation, at the start and after each relational layer."""
    whole = variations.standardized
    one = enter(_with_one(whole.one.V))
    ripple = whole.ripple(0)
    reached = enter(_with_one(whole.all.V[ripple.nodes]))
    R, all_R = _with_one(whole.one.E), _with_one(whole.all.E)
    i, j = whole.one.ends
    count = whole.num_nodes[:, None].clamp(min=1).to(one)
    for hops, layer in enumerate([*layers, None], 1):
        total = ripple.total(one, reached)
        yield torch.cat([total / 20, total / count, ripple.highest(one, reached)], -1)
        if not isinstance(layer, RelationalLayer):
            return
        table, before, ripple = torch.cat([one, reached]), ripple, whole.ripple(hops)
        edges, to = ripple.links
        own, senders = before.row[ripple.nodes], before.row[whole.all.ends[1, edges]]
        # One table of messages serves both: nodes of the one graph come first in it.
        messages = layer.messages(table)
        one = layer.of_links(table, messages, torch.arange(len(one)), j, R, i)
        reached = layer.of_links(table, messages, own, senders, all_R[edges], to)


def _with_one(rows: Float[Tensor, "k d"]) -> Float[Tensor, "k e"]:
    """Rows with existence before their attributes."""
    return torch.cat([rows.new_ones(len(rows), 1), rows], -1)
