"""Counts of node environments by color refinement (Weisfeiler-Leman): vectors for models that are no GNN."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...coloring.refinement import NodeColors, mix
from ...graph import Graph
from ...nn.standardize import standardized
from ...nn.variations import Variations


@torch.no_grad()
def wl_counts(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """Count the environments of radius 0 to `rounds` in each hard graph, hashed into `bins` bins.

    Categories decide; continuous columns are rounded to halves of their scale.
    """
    refinement = standardized(graph).refinement
    found = [_bin(refinement.colors(turn), turn, bins) for turn in range(rounds + 1)]
    at = torch.cat([refinement.owner * bins + place for place in found])
    return torch.bincount(at, minlength=len(graph) * bins).view(len(graph), bins).to(graph.B.dtype)


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
