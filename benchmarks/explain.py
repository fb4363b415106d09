"""The walk through latent space (paper's models, Mutagenicity, n = 50, 64 graphs at a time) against its slow twin.

`iteration_speedup`: one iteration, slow over fast. `graph_speedup`: 1000 iterations of the slow twin, which does not
stop, over what one explained graph of the test split takes. `gemm_ratio`: one iteration over its bare matrix products,
the very calls it makes, repeated alone; `dense_gemm_ratio` the same over the products that all n x n pairs would need,
channels mixed and nodes averaged, forward and back to the input. Without the package's trained models, or without
GRAPHFLIP_DATA, other weights and graphs take their place: `models` and `data` say so.
"""

import dataclasses
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial

import torch
from measure import alternate, arguments, clock, report
from slow_twin import SlowWalk, slow_classifier, slow_vae
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from graphflip.data.dataset import GraphDataset
from graphflip.data.source import load_dataset
from graphflip.errors import ConfigError
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.latent.active import ActiveGraphs
from graphflip.explain.latent.traversal import LatentTraversal
from graphflip.explain.method import ask
from graphflip.graph import Graph
from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.models.storage.store import load_model
from graphflip.nn.layers import EquivariantLinear

SLOTS, STEPS = 50, 1000
PRODUCTS = {torch.ops.aten.mm, torch.ops.aten.bmm, torch.ops.aten.addmm, torch.ops.aten.baddbmm_}


def main() -> None:
    options = arguments(__doc__)
    figures = measure_walk(options.quick, options.graphs)
    lines = {name: f"{value:10.3f}" for name, value in figures.items() if isinstance(value, float)}
    report("The walk through latent space", lines, figures)


def measure_walk(quick: bool, graphs: int) -> dict[str, float | str]:
    """Time an iteration of the walk, fast and slow, and a whole walk for each graph."""
    real = "GRAPHFLIP_DATA" in os.environ
    dataset = load_dataset("mutagenicity" if real else "rdkit").part("test")
    vae, classifier, models = paper_models(dataset, real)
    settings = LatentTraversal(vae, classifier, steps=STEPS)
    # First, so that peaks of memory are not those of the slow twin.
    walked = walk_all(settings, dataset, graphs, graphs if quick else len(dataset), budget=6 if quick else 3600)
    graph = dataset.graphs(range(graphs))
    batch = start(settings, graph)
    step, target = endless(settings, batch), torch.tensor(batch.question.target)
    slow = SlowWalk(slow_vae(vae), slow_classifier(classifier), graph, target)
    jobs = {
        "slow": slow.step,
        "fast": step,
        "products": bare_products(step),
        "dense_products": dense_products([*vae.decoder.modules(), *classifier.modules()], graphs),
    }
    for job in jobs.values():
        job()
    seconds = alternate(jobs, repeats=2 if quick else 15, budget=4 if quick else 120)
    per_graph = walked.pop("seconds")
    return {
        "iteration_speedup": seconds["slow"] / seconds["fast"],
        "graph_speedup": STEPS * seconds["slow"] / graphs / per_graph,
        "gemm_ratio": seconds["fast"] / seconds["products"],
        "dense_gemm_ratio": seconds["fast"] / seconds["dense_products"],
        **{f"{name}_ms": 1e3 * value for name, value in seconds.items()},
        **walked,
        "models": models,
        "data": dataset.name,
    }


def paper_models(dataset: GraphDataset, real: bool) -> tuple[PEGVAE, InvariantClassifier, str]:
    try:
        if real:
            names = "mutagenicity/vae-paper", "mutagenicity/classifier-paper"
            return load_model(names[0], PEGVAE), load_model(names[1], InvariantClassifier), "trained"
    except ConfigError as error:
        print(error, file=sys.stderr)
    vae, classifier = PEGVAE(dataset.schema, PAPER), InvariantClassifier(dataset.schema)
    return vae.eval().requires_grad_(False), classifier.eval().requires_grad_(False), "untrained"


def start(settings: LatentTraversal, graph: Graph) -> ActiveGraphs:
    """Prepare a batch for its first step."""
    question = ask(settings.classifier, graph, None, [str(k) for k in range(len(graph))], seed=0)
    return ActiveGraphs(question, settings.classifier)


def endless(settings: LatentTraversal, batch: ActiveGraphs) -> Callable[[], object]:
    """Return a function that makes one iteration of a walk in which no graph ever stops, so that all graphs move."""
    batch.stop = lambda decoded, logits, gradient, last: torch.ones(len(logits), dtype=torch.bool)
    walk = dataclasses.replace(settings, steps=sys.maxsize).traverse(batch)
    next(walk)  # the first iteration also encodes
    return partial(next, walk)


class Recorder(TorchDispatchMode):
    """Records the arguments of every matrix product, in forward and backward passes alike."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Callable[..., object], list[Tensor], dict[str, Tensor]]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in PRODUCTS:
            named = {name: _like(x) for name, x in (kwargs or {}).items()}
            self.calls.append((func, [_like(x) for x in args], named))
        return func(*args, **(kwargs or {}))


def _like(x: Tensor) -> Tensor:
    """Tensor of zeros with the shape and strides of x, expanded where x is expanded."""
    return torch.zeros(x.untyped_storage().nbytes() // x.element_size()).as_strided(
        x.shape, x.stride(), x.storage_offset()
    )


def bare_products(step: Callable[[], object]) -> Callable[[], None]:
    """Job that repeats all matrix products of a step, in their shapes and layouts, and nothing else."""
    with Recorder() as recorder:
        step()

    def run() -> None:
        with torch.no_grad():
            for func, operands, named in recorder.calls:
                func(*operands, **named)

    return run


def dense_products(modules: Iterable[nn.Module], graphs: int) -> Callable[[], None]:
    """Job with the products of all layers on pairs as if each pair were multiplied in both directions."""
    layers = [module for module in modules if isinstance(module, EquivariantLinear) and module.k == 2]
    share, column = torch.rand(graphs, 1, SLOTS), torch.rand(graphs, SLOTS, 1)
    sizes = [(*layer.weight.shape[1:], layer.l) for layer in layers]
    inputs = {d: torch.rand(graphs, SLOTS, SLOTS * d) for d in {d for d, _, _ in sizes} | {e for _, e, _ in sizes}}
    weights = [torch.rand(d, e) for d, e, _ in sizes]

    def run() -> None:
        for (d, e, l), weight in zip(sizes, weights, strict=True):
            torch.bmm(share, inputs[d])
            torch.bmm(column, inputs[d][:, :1])
            if l == 2:
                torch.mm(inputs[d].view(-1, d), weight)
                torch.mm(inputs[e].view(-1, e), weight.T)

    return run


def walk_all(
    settings: LatentTraversal, dataset: GraphDataset, graphs: int, limit: int, budget: float
) -> dict[str, float]:
    """Walk from the first `limit` graphs: seconds per graph, share flipped, peak memory after first and last batch.

    When the budget of wall time is over, graphs still walking are charged all the steps they have left, at the price of
    the steps so far: the time per graph is then too high, never too low.
    """
    deadline, began = time.perf_counter() + budget, clock()
    flipped, steps, owed, peaks = 0, 1, 0, []
    for at in range(0, limit, graphs):
        batch, turn = start(settings, dataset.graphs(range(at, min(at + graphs, limit)))), 0
        walk = settings.traverse(batch)
        while len(batch.active) and time.perf_counter() < deadline:
            steps += len(batch.active)
            next(walk)
            turn += 1
        owed += len(batch.active) * (settings.steps - turn)
        flipped += sum(stopped.outcome is Outcome.FLIPPED for stopped in batch.stopped.values())
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    seconds = clock() - began
    return {
        "seconds": seconds * (1 + owed / steps) / limit,
        "flip_ratio": flipped / limit,
        "graphs": limit,
        "steps_not_run": owed,
        "peak_mib_first_batch": peaks[0],
        "peak_mib_last_batch": peaks[-1],
    }


if __name__ == "__main__":
    main()
