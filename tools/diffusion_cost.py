"""Cost of training a discrete diffusion on edges, as D4Explainer does, and what half an hour allows.

The network is of the kind that its paper uses: layers that multiply n x n matrices channel by channel (PPGN). Six
layers of 64 channels are our choice, a usual size. An epoch has all graphs of the train part once, at one
level of noise each.

    python tools/diffusion_cost.py --out results/field/diffusion.md
"""

import argparse
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from graphflip.bench.tables import markdown_lines
from graphflip.data.source import load_dataset

EPOCHS, LAYERS, CHANNELS, BATCH = 500, 6, 64, 16
HALF_AN_HOUR = 1800.0


class PairLayer(nn.Module):
    """Two linear maps of pair features, multiplied as matrices channel by channel, joined with the input."""

    def __init__(self, channels: int):
        super().__init__()
        self.left, self.right = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.join = nn.Linear(2 * channels, channels)

    def forward(self, X: Tensor) -> Tensor:
        left, right = (layer(X).relu().permute(0, 3, 1, 2) for layer in (self.left, self.right))
        product = (left @ right).permute(0, 2, 3, 1) / X.shape[1]
        return self.join(torch.cat([X, product], -1)).relu()


def seconds_per_graph(n: int, steps: int = 3) -> float:
    """Processor seconds of a training step for one graph of n slots: noise, forward, backward, update."""
    network = nn.Sequential(
        nn.Linear(1, CHANNELS), *(PairLayer(CHANNELS) for _ in range(LAYERS)), nn.Linear(CHANNELS, 1)
    )
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    rng = torch.Generator().manual_seed(0)
    edges = (torch.rand(BATCH, n, n, 1, generator=rng) < 0.1).float()
    started = 0.0
    for step in range(steps + 1):
        if step == 1:  # the first one warms up
            started = time.process_time()
        noisy = (edges - (torch.rand(edges.shape, generator=rng) < 0.1).float()).abs()
        loss = nn.functional.binary_cross_entropy_with_logits(network(noisy), edges)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (time.process_time() - started) / steps / BATCH


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the cost of a discrete diffusion on edges.")
    parser.add_argument("--out", type=Path, default=Path("results/field/diffusion.md"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in ("aids", "mutagenicity", "nci1"):
        dataset = load_dataset(name)
        each, graphs = seconds_per_graph(dataset.schema.max_nodes), len(dataset.part("train"))
        epoch = each * graphs
        rows.append([name, str(graphs), f"{1000 * each:.0f} ms", f"{epoch:.0f} s", f"{epoch * EPOCHS / 3600:.0f} h"])
        rows[-1].append(f"{HALF_AN_HOUR / epoch:.1f}")
    header = ["data", "train graphs", "step for one graph", "epoch", f"{EPOCHS} epochs", "epochs in half an hour"]
    source = "`python tools/diffusion_cost.py`: the denoising network alone, one thread, without the classifier's part."
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text("\n".join([*markdown_lines(header, rows), "", source, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
