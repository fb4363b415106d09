"""Counts of node environments by color refinement (Weisfeiler-Leman): vectors for models that are no GNN."""

from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...coloring.refinement import NodeColors, mix
from ...graph import Graph
from ...nn.sharing import shared
from ...nn.standardize import standardized
from ...nn.variations import Variations


@torch.no_grad()
def wl_counts(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """Count the environments of radius 0 to `rounds` in each hard graph, hashed into `bins` bins.

    Categories decide; continuous columns are rounded to halves of their scale.
    """
    return _spread(graph, bins, *_filled_bins(graph, rounds, bins))


@torch.no_grad()
def wl_logs(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """The same as log(1 + count), which is worked out for bins with environments only."""
    place, count = _filled_bins(graph, rounds, bins)
    return _spread(graph, bins, place, count.to(graph.B.dtype).log1p_())


def _filled_bins(graph: Graph, rounds: int, bins: int) -> tuple[Int[Tensor, " filled"], Int[Tensor, " filled"]]:
    """Bins of all graphs, one graph after the other, that have environments, and their counts."""
    found = [shared(graph, f"places_{turn}_{bins}", partial(_places, turn, bins)) for turn in range(rounds + 1)]
    place, count = np.unique(torch.cat(found).cpu().numpy(), return_counts=True)
    return torch.from_numpy(place).to(graph.B.device), torch.from_numpy(count).to(graph.B.device)


def _places(turn: int, bins: int, graph: Graph) -> Int[Tensor, " nodes"]:
    """Bin of each node after so many rounds, among the bins of all graphs."""
    refinement = standardized(graph).refinement
    return refinement.owner * bins + _bin(refinement.colors(turn), turn, bins)


def _spread(graph: Graph, bins: int, place: Tensor, values: Tensor) -> Float[Tensor, "b bins"]:
    counts = graph.B.new_zeros(len(graph), bins)
    counts.view(-1)[place] = values.to(counts.dtype)
    return counts


@torch.no_grad()
def wl_counts_of_variations(variations: Variations, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """The same for graphs that differ from one in a few places: what a change has not reached is counted once."""
    whole, n = variations.standardized, len(variations.one.V)
    one, many = (NodeColors(each.V, each.ends, each.E, whole.schema) for each in (whole.one, whole.all))
    counts = torch.zeros(bins, dtype=torch.int64)
    changes = torch.zeros(len(whole) * bins, dtype=torch.int64)
    ripple = whole.ripple(0)
    colors, reached = one.first, many.first[ripple.nodes]
    for turn in range(rounds + 1):
        place, gone = _bin(colors, turn, bins), whole.gone
        counts += torch.bincount(place, minlength=bins)
        old = ripple.origin >= 0
        changes += torch.bincount(ripple.owner * bins + _bin(reached, turn, bins), minlength=len(changes))
        changes -= torch.bincount(ripple.owner[old] * bins + place[ripple.origin[old]], minlength=len(changes))
        changes -= torch.bincount(gone[0] * bins + place[gone[1]], minlength=len(changes))
        if turn == rounds:
            break
        table, before, ripple = torch.cat([colors, reached]), ripple, whole.ripple(turn + 1)
        edges, to = ripple.links
        senders = before.row[whole.all.ends[1, edges]]
        colors = one.next(table[:n], table[one.ends[1]], one.edges, one.ends[0])
        reached = many.next(table[before.row[ripple.nodes]], table[senders], many.edges[edges], to)
    return (counts + changes.view(len(whole), bins)).to(variations.all.V.dtype)


def _bin(colors: Int[Tensor, " nodes"], turn: int, bins: int) -> Int[Tensor, " nodes"]:
    return (mix(colors + turn) & 0x7FFFFFFFFFFFFFFF) % bins
