"""Time and memory for one graph as graphs grow from 10 to 200 nodes, with the models of `graphflip fit`.

`train`: a training step of the autoencoder. `walk`: a step through its latent space (decode, classify, gradient of the
code). `answer`: one candidate of the search, classified by the classifier and a surrogate. `round`: a whole round of
the search, the shortest of several; the larger a graph, the more candidates it has (`round_calls`). `exponent` is the
largest p of time or memory ~ n^p, fitted to graphs of 50 nodes and more: below, overhead hides the growth.
`model_exponent` is the same without rounds: what the models themselves do.

`--save` writes exponents and rows to results/any/table.json.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch
from layers import saved_bytes
from measure import alternate, report
from torch import Tensor

from graphflip.columns import AttributeDict
from graphflip.data.dataset import GraphDataset
from graphflip.explain.edits.beam import Round
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.graph import Graph
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.models.networks.counts import CountClassifier
from graphflip.models.networks.decode import MostLikely
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.models.storage.files import write_atomically
from graphflip.nn.memory import keep_memory
from graphflip.schema import Categories, Schema

SIZES = (10, 25, 50, 100, 150, 200)
FITTED_FROM = 50
GRAPHS = 2
ROUNDS = 3
NODES = 3000  # in all graphs of a size, so that as much is known of environments whatever the size
TABLE = Path(__file__).parents[1] / "results" / "any" / "table.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repeats")
    parser.add_argument("--save", action="store_true", help="write results/any/table.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    sizes = (25, 50, 100) if options.quick else SIZES
    rows = {n: measure(n, repeats=2 if options.quick else 7) for n in sizes}
    exponents = {name: exponent({n: row[name] for n, row in rows.items()}) for name in rows[sizes[0]]}
    calls_exponent = exponents.pop("round_calls")  # neither time nor memory, but where the time of a round is from
    lines = {f"n = {n}": ", ".join(f"{name} {value:.3g}" for name, value in row.items()) for n, row in rows.items()}
    figures: dict[str, object] = {
        "exponent": max(exponents.values()),
        "model_exponent": max(value for name, value in exponents.items() if not name.startswith("round")),
        **{f"{name}_exponent": value for name, value in exponents.items()},
        "round_calls_exponent": calls_exponent,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }
    if options.save:
        save(figures, rows)
    report("One graph, as graphs grow", lines, figures)


def measure(n: int, repeats: int) -> dict[str, float]:
    """Milliseconds and MiB for one graph of `n` nodes."""
    dataset = sparse_graphs(n, NODES // n)
    graph = dataset.graphs(range(GRAPHS))
    vae, classifier = PEGVAE(dataset.schema), RelationalGIN(dataset.schema).eval()
    counts, rng = CountClassifier(dataset.schema).eval(), torch.Generator().manual_seed(0)
    z = vae.encode(graph).mean.detach().requires_grad_()

    def bound() -> Tensor:
        return vae.neg_elbo(graph, rng, 0.05)[0].mean()

    def walked() -> Tensor:
        return classifier(vae.decode(z, MostLikely())).sum()

    @torch.no_grad()
    def answered() -> None:
        classifier(graph)
        counts(graph)

    jobs: dict[str, Callable[[], object]] = {
        "train": lambda: bound().backward(),
        "walk": lambda: torch.autograd.grad(walked(), z),
        "answer": answered,
    }
    for job in jobs.values():
        job()
    seconds = alternate(jobs, repeats, budget=60)
    kept = {"train": saved_bytes(bound), "walk": saved_bytes(walked)}
    explainer = Explainer(Kit("growth", classifier, Knowledge.mine(dataset), dataset.classes))
    return {
        **{f"{name}_ms": 1e3 * taken / GRAPHS for name, taken in seconds.items()},
        **{f"{name}_mib": held / GRAPHS / 2**20 for name, held in kept.items()},
        **min((one_round(explainer, graph.select(0)) for _ in range(ROUNDS)), key=lambda found: found["round_ms"]),
    }


class Enough(Exception):
    """One round has been seen."""


def one_round(explainer: Explainer, graph: Graph) -> dict[str, float]:
    """Processor time of the first round of a search, and how many graphs the classifier was shown in it."""
    calls = 0

    def watch(seen: Round) -> None:
        nonlocal calls
        calls = seen.calls
        raise Enough

    began = time.process_time()
    with suppress(Enough):
        explainer.explain(graph, watch=watch)
    return {"round_ms": 1e3 * (time.process_time() - began), "round_calls": float(max(calls, 1))}


def sparse_graphs(n: int, count: int) -> GraphDataset:
    """Trees with a few more edges, as molecules are: every node hangs on one of the three before it."""
    rng = torch.Generator().manual_seed(n)
    kinds, bonds = Categories(name="type", values=tuple("abcd")), Categories(name="type", values=("thin", "thick"))
    schema = Schema(nodes=(kinds,), edges=(bonds,), max_nodes=n)

    def draw(below: int) -> int:
        return int(torch.randint(below, (), generator=rng))

    def one() -> Graph:
        pairs = {(max(k - 1 - draw(3), 0), k) for k in range(1, n)}
        pairs |= {(k - 5, k) for k in range(5, n, 10)}
        nodes: list[AttributeDict] = [{"type": kinds.values[draw(4)]} for _ in range(n)]
        return Graph.build(schema, nodes, [(i, j, {"type": bonds.values[draw(2)]}) for i, j in sorted(pairs)])

    return GraphDataset.from_graphs("growth", [one() for _ in range(count)], [k % 2 for k in range(count)], ("a", "b"))


def exponent(values: dict[int, float]) -> float:
    """The slope of log value over log n, by least squares."""
    kept = [n for n in values if n >= FITTED_FROM]
    x = torch.tensor(kept, dtype=torch.float64).log()
    y = torch.tensor([values[n] for n in kept], dtype=torch.float64).log()
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def save(figures: dict[str, object], rows: dict[int, dict[str, float]]) -> None:
    table = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    table["growth"] = {**figures, "rows": {str(n): row for n, row in rows.items()}}
    write_atomically(TABLE, (json.dumps(table, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
