"""A training step of the paper's autoencoder on Mutagenicity: 64 graphs, forward, backward, optimizer.

graphflip takes batches of graphs of similar size, as its training does; the slow twin (stacked basis) takes the same
graphs padded to all 50 slots. `speedup` is slow over fast, summed over the batches. The data come from the folder
GRAPHFLIP_DATA; without it molecules that come with RDKit are used, and `data` says so.
"""

import os
from collections.abc import Callable

import torch
from measure import alternate, arguments, report
from slow_twin import all_slots, slow_vae
from torch import nn

from graphflip.data.dataset import GraphDataset
from graphflip.data.source import load_dataset
from graphflip.data.splits import Batch
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.models.training.objectives import Reconstruction


def main() -> None:
    options = arguments(__doc__)
    dataset = load_dataset("mutagenicity" if "GRAPHFLIP_DATA" in os.environ else "rdkit")
    vae = PEGVAE(dataset.schema, PAPER)
    slow, fast = slow_steps(slow_vae(vae)), fast_steps(vae)
    batches = spread(dataset, 2 if options.quick else 9, options.graphs)
    slow(batches[0])
    fast(batches[0])
    totals = {"slow": 0.0, "fast": 0.0}
    lines = {}
    for batch in batches:
        jobs = {"slow": lambda batch=batch: slow(batch), "fast": lambda batch=batch: fast(batch)}
        seconds = alternate(jobs, repeats=1 if options.quick else 5, budget=6 if options.quick else 60)
        totals = {name: total + seconds[name] for name, total in totals.items()}
        lines[f"graphs of up to {batch.graph.num_slots} nodes"] = (
            f"{1e3 * seconds['slow']:8.1f} ms against {1e3 * seconds['fast']:.1f} ms"
        )
    figures = {f"{name}_ms": 1e3 * total / len(batches) for name, total in totals.items()}
    report(
        f"Training step of the autoencoder on {dataset.name}",
        lines,
        {"speedup": totals["slow"] / totals["fast"], **figures, "batches": len(batches), "data": dataset.name},
    )


def spread(dataset: GraphDataset, count: int, graphs: int) -> list[Batch]:
    """Choose `count` batches as training draws them, evenly spread over sizes, so that means are those of an epoch."""
    batches = list(dataset.batches(graphs, torch.Generator().manual_seed(0)))
    batches = [batch for batch in batches if len(batch.index) == graphs]
    batches.sort(key=lambda batch: batch.graph.num_slots)
    return [batches[(2 * k + 1) * len(batches) // (2 * count)] for k in range(count)]


def fast_steps(vae: PEGVAE) -> Callable[[Batch], None]:
    objective, rng = Reconstruction(beta=0.5), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(vae.train().parameters(), lr=2e-3)

    def step(batch: Batch) -> None:
        loss = objective.loss(vae, batch, rng, progress=1.0)
        descend(optimizer, vae, loss)

    return step


def slow_steps(vae: nn.Module) -> Callable[[Batch], None]:
    rng = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(vae.train().parameters(), lr=2e-3)

    def step(batch: Batch) -> None:
        losses = vae.neg_elbo(*all_slots(batch.graph), rng, beta=0.5)  # pyright: ignore[reportCallIssue]
        loss = losses.mean() / batch.graph.schema.max_nodes
        descend(optimizer, vae, loss)

    return step


def descend(optimizer: torch.optim.Optimizer, model: nn.Module, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


if __name__ == "__main__":
    main()
