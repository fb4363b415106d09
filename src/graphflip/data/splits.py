"""Division of a dataset into parts and into batches, by the numbers of its graphs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from ..graph import Graph

PARTS = ("train", "validation", "test")


class Batch(NamedTuple):
    """Some graphs of a dataset as one dense batch.

    Args:
        index: Numbers of the graphs in the dataset, " b".
        graph: The graphs, padded to the largest of them.
        labels: Their labels, " b".

    Example:
        >>> from graphflip.data.planted.motif import planted
        >>> index, graph, labels = next(planted(num_graphs=8).batches(size=4))
        >>> len(index), len(graph), len(labels)
        (4, 4, 4)
    """

    index: Int[Tensor, " b"]
    graph: Graph
    labels: Shaped[Tensor, " b"]


def random_split(num_graphs: int, seed: int, train: float) -> dict[str, Int[Tensor, " _"]]:
    """Draw a share `train` of the graphs, and halve the rest into validation and test; each part is sorted."""
    num_train = int(train * num_graphs)
    num_validation = (num_graphs - num_train) // 2
    order = torch.randperm(num_graphs, generator=torch.Generator().manual_seed(seed))
    parts = order.split([num_train, num_validation, num_graphs - num_train - num_validation])
    return {name: part.sort().values for name, part in zip(PARTS, parts, strict=True)}


def grouped_split(groups: Sequence[str], train: float = 0.8, seed: int | None = 0) -> dict[str, Int[Tensor, " _"]]:
    """Divide graphs into parts so that those of one group are in the same part.

    Args:
        groups: Name of the group of each graph: its scaffold, say, or its SMILES so that equal molecules stay together.
        train: Share of the graphs in the train part; validation and test get half of the rest each.
        seed: Decides the order in which groups fill the parts; None is largest first, so that rare
            groups are tested; of equal ones, the one that comes first.

    Returns:
        Sorted numbers of the graphs of each part.
    """
    names, first, group_of = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
    sizes = np.bincount(group_of)
    order = np.lexsort((first, -sizes)) if seed is None else np.random.default_rng(seed).permutation(len(names))
    reached = np.cumsum(sizes[order]) / len(groups)
    part_of = np.empty(len(names), dtype=np.int64)
    part_of[order] = np.searchsorted([train, (1 + train) / 2], reached, side="left")
    return {name: torch.from_numpy(np.flatnonzero(part_of[group_of] == k)) for k, name in enumerate(PARTS)}


def split_of_subset(
    split: Mapping[str, Int[Tensor, " _"]], index: Int[Tensor, " b"], num_graphs: int
) -> dict[str, Int[Tensor, " _"]]:
    """Split of the graphs at `index`, each in the part where it was; empty parts are left out."""
    part_of = torch.full((num_graphs,), -1)
    for k, members in enumerate(split.values()):
        part_of[members] = k
    parts = {part: (part_of[index] == k).nonzero()[:, 0] for k, part in enumerate(split)}
    return {part: members for part, members in parts.items() if len(members)}


def batches_by_size(
    num_nodes: Int[Tensor, " g"], index: Int[Tensor, " b"], size: int, rng: torch.Generator | None, pool: int
) -> list[Int[Tensor, " _"]]:
    """Divide the graphs at `index` into batches of `size` graphs that have about as many nodes.

    Without `rng` smallest first; with it, graphs are sorted by size within random pools of `pool` batches, and the
    batches come in random order.
    """
    chunk = len(index)
    if rng is not None:
        index, chunk = index[torch.randperm(len(index), generator=rng)], size * pool
    pools = [members[num_nodes[members].argsort(stable=True)] for members in index.split(max(chunk, 1))]
    batches = [batch for members in pools for batch in members.split(size)]
    order = range(len(batches)) if rng is None else torch.randperm(len(batches), generator=rng).tolist()
    return [batches[k] for k in order]


def pieces(num_nodes: Int[Tensor, " g"], batch: Int[Tensor, " b"], pairs: int | None) -> list[Int[Tensor, " _"]]:
    """Divide a batch into parts whose matrices of pairs of nodes, padded, have `pairs` entries at most; None: no limit.

    Smaller graphs come first, and a graph that is too large for any part is alone. A batch that fits stays as it is.
    """
    if pairs is None or len(batch) * int(num_nodes[batch].max()) ** 2 <= pairs:
        return [batch]
    parts: list[list[int]] = [[]]
    for number in batch[num_nodes[batch].argsort(stable=True)].tolist():
        if parts[-1] and (len(parts[-1]) + 1) * int(num_nodes[number]) ** 2 > pairs:
            parts.append([])
        parts[-1].append(number)
    return [torch.tensor(part) for part in parts]


def graph_numbers(index: int | slice | Sequence[int] | Tensor, num_graphs: int) -> Int[Tensor, " b"]:
    """Numbers of graphs in any form as a tensor, none of them negative; raises IndexError if there is no such graph."""
    if isinstance(index, slice):
        return torch.arange(num_graphs)[index]
    chosen = torch.as_tensor([index] if isinstance(index, int) else index, dtype=torch.long).reshape(-1)
    if len(chosen) and not -num_graphs <= int(chosen.min()) <= int(chosen.max()) < num_graphs:
        raise IndexError(f"graph {int(chosen.max())} of a dataset of {num_graphs}")
    return chosen % max(num_graphs, 1)
