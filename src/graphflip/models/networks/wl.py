"""Counts of node environments by color refinement (Weisfeiler-Leman): vectors for models that are no GNN."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...coloring.refinement import mix
from ...graph import Graph
from ...nn.standardize import standardized


@torch.no_grad()
def wl_counts(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """Count the environments of radius 0 to `rounds` in each hard graph, hashed into `bins` bins.

    Categories decide; continuous columns are rounded to halves of their scale.
    """
    refinement = standardized(graph).refinement
    found = [_bin(refinement.colors(turn), turn, bins) for turn in range(rounds + 1)]
    at = torch.cat([refinement.owner * bins + place for place in found])
    return torch.bincount(at, minlength=len(graph) * bins).view(len(graph), bins).to(graph.B.dtype)


def _bin(colors: Int[Tensor, " nodes"], turn: int, bins: int) -> Int[Tensor, " nodes"]:
    return (mix(colors + turn) & 0x7FFFFFFFFFFFFFFF) % bins
