"""Nearness: counts that near graphs share, so that only pairs that may be near are aligned.

The normalized distance is the labelled graph edit distance over the number of nodes and edges of both graphs
(Kosan et al. 2023). An alignment of the nodes gives an upper bound of it; a bound of at most theta proves nearness.
Where no alignment that is tried is good enough, nothing is claimed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int

from .codes import CodedGraphs

_WIDTH = 256
_PRIMES = 7919, 104729, 1299709


@dataclass(frozen=True, eq=False)
class Profiles:
    """Many coded graphs, with counts that near graphs share.

    Args:
        graphs: The graphs.
    """

    graphs: CodedGraphs

    @cached_property
    def sizes(self) -> Int[np.ndarray, " g"]:
        """Number of nodes and edges of each graph."""
        return self.graphs.sizes

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of nodes and of edges of each code."""
        return _counts(self.graphs.labels), _counts(self.graphs.links) // (1 if self.graphs.directed else 2)

    @cached_property
    def surroundings(self) -> Float[np.ndarray, "g w"]:
        """Numbers of nodes by their code and those of their neighbors, in a table of fixed width."""
        return np.concatenate([_surroundings(self.graphs[part]) for part in _parts(len(self.graphs))])

    def at_least(self, other: "Profiles") -> Int[np.ndarray, "h g"]:
        """Lower bounds of the edits between each graph of another and each of these, by their counts alone."""
        total = np.zeros((len(other.graphs), len(self.graphs)), dtype=int)
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            width = max(mine.shape[1], theirs.shape[1])
            mine, theirs = (np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in (mine, theirs))
            shared = sum(np.minimum(theirs[:, k, None], mine[None, :, k]) for k in range(width))
            total += np.maximum(theirs.sum(1)[:, None], mine.sum(1)) - shared
        return total

    def unlikeness(self, other: "Profiles") -> Float[np.ndarray, "h g"]:
        """Difference of the surroundings of nodes over the sizes: small for pairs that are worth aligning."""
        gap = torch.cdist(torch.as_tensor(other.surroundings), torch.as_tensor(self.surroundings), p=1).numpy()
        return gap / (other.sizes[:, None] + self.sizes)

    def likely(self, center: CodedGraphs, theta: float, most: int) -> Int[np.ndarray, " m"]:
        """Places of graphs that may be within theta of one graph, the most alike first."""
        one = Profiles(center)
        may = self.at_least(one)[0] <= theta * (self.sizes + one.sizes[0])
        order = np.argsort(self.unlikeness(one)[0], kind="stable")
        return order[may[order]][:most]


def _counts(codes: np.ndarray) -> np.ndarray:
    """Number of times that each code occurs in each graph."""
    flat = codes.reshape(len(codes), -1)
    return np.stack([(flat == code).sum(1) for code in range(1, int(flat.max(initial=1)) + 1)], 1)


def _surroundings(graphs: CodedGraphs) -> np.ndarray:
    """Each node's code and its neighbors' codes as one number, whose remainder is the column that it counts in."""
    own = graphs.labels.astype(np.int64) * _PRIMES[0]
    beside = (
        graphs.links.astype(np.int64) * _PRIMES[1] + graphs.labels[:, None, :].astype(np.int64) ** 3 * 31
    ) % _PRIMES[2]
    near = np.where(graphs.links > 0, beside, 0).sum(2)
    bins = (own + near * 2654435761) % 2**31 // 64 % _WIDTH
    there, table = graphs.labels > 0, np.zeros((len(graphs), _WIDTH), dtype=np.float32)
    np.add.at(table, (np.nonzero(there)[0], bins[there]), 1)
    return table


def _parts(total: int, size: int = 512) -> list[np.ndarray]:
    return [np.arange(start, min(start + size, total)) for start in range(0, max(total, 1), size)]
