"""One block (equivariant layer, 1x1 convolution, batch normalization, ReLU) in training: stacked basis against ours.

n = 50, 64 graphs, 20 channels, undirected; forward and backward with gradients for input and weights. `speedup` and
`memory_ratio` (bytes kept for the backward pass) are slow over fast, for pairs stored once as the models store them;
`dense_speedup` and `dense_memory_ratio` are for the same block on n x n pairs.
"""

from collections.abc import Callable

import torch
from measure import alternate, arguments, report
from slow_twin import StackedBlock
from torch import Tensor

from graphflip.nn.layers import EquivariantBlock
from graphflip.nn.packed import pack

SLOTS, CHANNELS = 50, 20


def main() -> None:
    options = arguments(__doc__)
    rng = torch.Generator().manual_seed(0)
    half = torch.randn(options.graphs, SLOTS, SLOTS, CHANNELS, generator=rng)
    X, B = half + half.transpose(1, 2), torch.ones(options.graphs, SLOTS)
    fast, slow = EquivariantBlock(2, 2, CHANNELS, CHANNELS), StackedBlock(2, 2, CHANNELS, CHANNELS)
    stored, dense, first = pack(X).requires_grad_(), X.requires_grad_(), X.detach().movedim(-1, 1).contiguous()
    first.requires_grad_()
    sides: dict[str, tuple[Tensor, Callable[[], Tensor]]] = {
        "slow": (first, lambda: slow(first, B)),
        "fast": (stored, lambda: fast(stored, B, pack=True)),
        "dense": (dense, lambda: fast(dense, B)),
    }
    kept = {name: saved_bytes(forward) for name, (_, forward) in sides.items()}
    jobs = {name: forward_and_backward(x, forward) for name, (x, forward) in sides.items()}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, repeats=5 if options.quick else 21, budget=15 if options.quick else 120)
    lines = {name: f"{1e3 * seconds[name]:8.1f} ms, {kept[name] / 2**20:7.1f} MiB kept" for name in sides}
    figures: dict[str, object] = {}
    for prefix, side in (("", "fast"), ("dense_", "dense")):
        figures[f"{prefix}speedup"] = seconds["slow"] / seconds[side]
        figures[f"{prefix}memory_ratio"] = kept["slow"] / kept[side]
    report(
        "Block, forward and backward",
        lines,
        {**figures, "slow_ms": 1e3 * seconds["slow"], "fast_ms": 1e3 * seconds["fast"]},
    )


def forward_and_backward(x: Tensor, forward: Callable[[], Tensor]) -> Callable[[], None]:
    gradient = torch.randn(forward().shape, generator=torch.Generator().manual_seed(1))

    def run() -> None:
        x.grad = None
        forward().backward(gradient)

    return run


def saved_bytes(forward: Callable[[], Tensor]) -> int:
    """Bytes that autograd keeps between forward and backward; storage that several nodes share counts once."""
    storages: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = forward()
    del result
    return sum(storages.values())


if __name__ == "__main__":
    main()
