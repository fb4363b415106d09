"""Alignments of many pairs of graphs at once: upper bounds of their edit distances.

The alignment of two graphs is a quadratic assignment; Frank and Wolfe's method descends from a soft alignment of nodes
that have similar surroundings (Vogelstein et al. 2015), all pairs of a batch together.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from .codes import CodedGraphs, edits_between

_STEPS = 16
_SOFT = 0.8
"""Share of the start that is spread over all alignments."""
_WEIGHTS = (1.0, 0.3, 0.1, 0.05)
"""Weights of differences between nodes, their neighbors, and the nodes two and three steps away."""
_SHAKE = 1.5
_SHAKEN_STEPS = 3
_BATCH = 256


class Effort(NamedTuple):
    """The effort of an alignment.

    Args:
        attempts: Descents for each pair.
        hopeless: Pairs whose edits are more than this times what is enough are not tried again.
    """

    attempts: int
    hopeless: float


QUICK, CAREFUL, THOROUGH = Effort(4, 1.5), Effort(10, 2.5), Effort(30, 2.5)
"""For many pairs, for a search, and for the last word; ten descents find a third more near pairs than four."""


class Alignments(NamedTuple):
    """Edits of pairs of graphs, and the slot of the second graph that each slot of the first is aligned with."""

    edits: Int[np.ndarray, " m"]
    images: Int[np.ndarray, "m n"]


def align_pairs(
    one: CodedGraphs, other: CodedGraphs, enough: Float[np.ndarray, " m"], effort: Effort = QUICK
) -> Alignments:
    """Align graphs pair by pair.

    Args:
        one: First graphs of the pairs.
        other: Second graphs, with as many slots.
        enough: A pair is left alone once its edits are not above this number.
        effort: How hard to try.

    Returns:
        The best alignments that were met; edits are upper bounds of the distances.
    """
    order = np.argsort(np.maximum(one.num_nodes, other.num_nodes), kind="stable")
    slots = one.labels.shape[1]
    edits = np.zeros(len(order), dtype=int)
    images = np.tile(np.arange(slots), (len(order), 1))
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        firsts, to_first = _compact(one[rows])
        seconds, to_second = _compact(other[rows])
        n = int(max(firsts.num_nodes.max(), seconds.num_nodes.max()))
        found = _Batch(_cut(firsts, n), _cut(seconds, n)).align(enough[rows], effort)
        edits[rows] = found.edits
        within = np.take_along_axis(to_second[:, :n], found.images, 1)
        whole = np.concatenate([within, to_second[:, n:]], 1)
        np.put_along_axis(images_part := np.empty_like(whole), to_first, whole, 1)
        images[rows] = images_part
    return Alignments(edits, images)


def _compact(graphs: CodedGraphs) -> tuple[CodedGraphs, np.ndarray]:
    """Graphs with their nodes in the first slots, and the slots that these were."""
    order = np.argsort(graphs.labels == 0, axis=1, kind="stable")
    return graphs.reordered(order), order


def _cut(graphs: CodedGraphs, n: int) -> CodedGraphs:
    return CodedGraphs(graphs.labels[:, :n], graphs.links[:, :n, :n], graphs.directed)


class _Batch:
    """Pairs of graphs of n slots each; costs and savings as tensors."""

    def __init__(self, one: CodedGraphs, other: CodedGraphs):
        self.one, self.other = one, other
        self.node_cost = _tensor(one.labels[:, :, None] != other.labels[:, None, :])  # m n n
        self.channels = [(_tensor(one.links > 0), _tensor(other.links > 0))]
        kinds = range(1, int(max(one.links.max(initial=0), other.links.max(initial=0))) + 1)
        if len(kinds) > 1:
            there = [kind for kind in kinds if (one.links == kind).any() and (other.links == kind).any()]
            self.channels += [(_tensor(one.links == kind), _tensor(other.links == kind)) for kind in there]
        # With one kind of edges, to be there is to be alike: both save one edit.
        self.scale = 2.0 if len(kinds) <= 1 else 1.0

    def align(self, enough: np.ndarray, effort: Effort) -> Alignments:
        """Descend from the most alike nodes; pairs that are not near enough once more from where they came, shaken."""
        image = _assigned(self._unlikeness())
        best = edits_between(self.one, self.other.reordered(image))
        rng = torch.Generator().manual_seed(0)
        for attempt in range(effort.attempts):
            left = np.flatnonzero((best > enough) & (best <= effort.hopeless * enough) if attempt else best > enough)
            if not len(left):
                break
            shaken = torch.rand((len(left), *self.node_cost.shape[1:]), generator=rng) * (_SHAKE if attempt else 1e-3)
            self._descend(left, shaken, best, image, enough)
        return Alignments(best, image)

    def _descend(
        self, left: np.ndarray, shaken: Tensor, best: np.ndarray, image: np.ndarray, enough: np.ndarray
    ) -> None:
        """Improve some alignments in place; noise on the slope decides between nodes that are alike."""
        soft = (1 - _SOFT) * _one_hot(image[left]) + _SOFT / image.shape[1]
        for turn in range(_STEPS):
            at = torch.as_tensor(left)
            slope = self.node_cost[at] - self._savings(soft, at)
            corner = _assigned(slope + shaken if turn < _SHAKEN_STEPS else slope)
            cost = edits_between(self.one[left], self.other[left].reordered(corner))
            better = cost < best[left]
            best[left[better]], image[left[better]] = cost[better], corner[better]
            direction = _one_hot(corner) - soft
            linear = (slope * direction).sum((1, 2))
            curved = -0.5 * (self._savings(direction, at) * direction).sum((1, 2))
            step = torch.where(curved > 1e-9, (-linear / (2 * curved)).clamp(0, 1), (linear + curved < 0).float())
            soft = soft + step[:, None, None] * direction
            going = (linear < -1e-5) & torch.as_tensor(best[left] > enough[left])
            if not bool(going.any()):
                return
            left, soft, shaken = left[going.numpy()], soft[going], shaken[going]

    def _savings(self, soft: Float[Tensor, "m n n"], at: Tensor) -> Float[Tensor, "m n n"]:
        """Edits saved at each pair of nodes if all others were aligned as in `soft`; minus the slope of the savings."""
        total = torch.zeros_like(soft)
        for here, there in self.channels:
            total += here[at] @ soft @ there[at].transpose(1, 2)
            if self.one.directed:
                total += here[at].transpose(1, 2) @ soft @ there[at]
        return self.scale * total

    def _unlikeness(self) -> Float[Tensor, "m n n"]:
        """Differences of the surroundings of each pair of nodes, nearer ones weighing more."""
        kinds = int(max(self.one.labels.max(), self.other.labels.max()))
        total = torch.zeros_like(self.node_cost)
        sides = (
            _surroundings(graphs, kinds, [channel[side] for channel in self.channels])
            for side, graphs in enumerate((self.one, self.other))
        )
        for weight, first, second in zip(_WEIGHTS, *sides, strict=True):
            total += weight / 2 * torch.cdist(first, second, p=1)
        return total


def _surroundings(graphs: CodedGraphs, kinds: int, links: list[Tensor]) -> list[Float[Tensor, "m n f"]]:
    """Each node's own code, and counts of the codes one, two and three steps away."""
    own = torch.nn.functional.one_hot(torch.as_tensor(graphs.labels, dtype=torch.long), kinds + 1)[..., 1:].float()
    near = torch.cat([link @ own for link in (links[1:] or links)], -1)
    layers = [own, near]
    while len(layers) < len(_WEIGHTS):
        layers.append(links[0] @ layers[-1])
    return layers


def _assigned(cost: Float[Tensor, "m n n"]) -> Int[np.ndarray, "m n"]:
    """The cheapest one-to-one assignment of each matrix."""
    return np.stack([linear_sum_assignment(one)[1] for one in cost.numpy()])


def _one_hot(image: np.ndarray) -> Float[Tensor, "m n n"]:
    return torch.nn.functional.one_hot(torch.as_tensor(image), image.shape[1]).float()


def _tensor(values: np.ndarray) -> Float[Tensor, "..."]:
    return torch.as_tensor(values, dtype=torch.float32)
