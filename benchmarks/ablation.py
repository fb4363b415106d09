"""What each part of the search buys: enumeration, order by estimates, the anchored latent walk, and both together.

The same search answers the same graphs in four ways. `enumeration` makes every move of every round; `gradients` makes
the moves that promise most, by the models' gradients (of molecules: by experience) and by the answers so far; `walk`
shows the classifier the 64 moves of a round that the anchored walk through the latent space asks for most; `both` asks
the last two and takes the answer with fewer edits, so its calls and seconds are their sum. Subjects: `mutagenicity`,
`nci1`, `aids` (test parts, packaged kits; need GRAPHFLIP_DATA), `large` (graphs of 200 nodes of three kinds) and
`continuous` (graphs of 60 nodes with one number each); for the last two a network and an autoencoder are trained first.
In these the class is the presence of two hot neighbors, of which there are up to three pairs. No way may show the
classifier more than `MOST_CALLS` graphs for one answer.

Usage: python benchmarks/ablation.py [SUBJECT ...] [--graphs 40] [--table]

Figures go to results/ablation.json, the table to docs/concepts/search.md; `--table` writes only that.
"""

import argparse
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import torch
from large import hot_neighbors, trained

import graphflip
from graphflip.data.dataset import GraphDataset
from graphflip.data.source import load_dataset
from graphflip.edits import heavy_edits
from graphflip.explain.edits.rounds.cheapest import CheapestFirst
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.latent.saliency import SaliencyWalk
from graphflip.models.adapters import PyGClassifier
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.models.storage.files import write_atomically
from graphflip.models.storage.store import load_model
from graphflip.models.training.train import train_model

ROOT = Path(__file__).parents[1]
RESULTS, DOCS = ROOT / "results" / "ablation.json", ROOT / "docs" / "concepts" / "search.md"
BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
MOST_CALLS = 20_000
LEARNED = 120  # graphs that network and autoencoder of a generated set learn from


class Subject(NamedTuple):
    """An explainer and the graphs that it is asked about, one after the other."""

    explainer: Explainer
    graphs: GraphDataset


class Answer(NamedTuple):
    """One answer, and what it took."""

    flipped: bool
    edits: int
    calls: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="all of them by default")
    parser.add_argument("--graphs", type=int, default=40, help="graphs of each subject (default 40)")
    parser.add_argument("--table", action="store_true", help="write the table of what is measured already")
    options = parser.parse_args()
    if unknown := set(options.subjects) - set(SUBJECTS):
        parser.error(f"subjects are {', '.join(SUBJECTS)}; got {', '.join(sorted(unknown))}.")
    torch.set_num_threads(1)
    for name in [] if options.table else options.subjects or SUBJECTS:
        for figures in measure(SUBJECTS[name](), options.graphs):
            store(name, options.graphs, figures)
    before, _, rest = DOCS.read_text().partition(BEGIN)
    DOCS.write_text(f"{before}{BEGIN}\n{table(json.loads(RESULTS.read_text()))}\n{END}{rest.partition(END)[2]}")


def store(name: str, graphs: int, ways: dict[str, Any]) -> None:
    """Put the figures of a subject beside those of others."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found[name] = {"command": f"python benchmarks/ablation.py {name} --graphs {graphs}", "seed": 0, "ways": ways}
    write_atomically(RESULTS, (json.dumps(found, indent=1) + "\n").encode())


def measure(subject: Subject, limit: int) -> Iterator[dict[str, Any]]:
    """Figures of the four ways after each graph; they take turns, so that a busy machine is as busy for each."""
    searches, told = ways(subject.explainer), {name: [] for name in ("enumeration", "gradients", "walk", "both")}
    for k in range(min(limit, len(subject.graphs))):
        found: dict[str, Answer] = {}
        for name, search in searches.items():
            with patch.object(CheapestFirst, "decides", False) if name == "enumeration" else nullcontext():
                found[name] = answer(search, subject.graphs.graphs([k]))
        found["both"] = together(found["gradients"], found["walk"])
        for name, one in found.items():
            told[name].append(one)
        print(k, {name: tuple(one) for name, one in found.items()}, flush=True)
        yield {name: summary(answers) for name, answers in told.items()}


def ways(explainer: Explainer) -> dict[str, EditSearch]:
    """The default search: with all moves, also those that must cost more than an answer; with the most promising ones;
    and with those that the walk asks for."""
    search, kit = dataclasses.replace(explainer.search(), max_calls=MOST_CALLS), explainer.kit
    differentiable = tuple(model for model in (kit.classifier, *kit.surrogates) if model.has_gradients)
    walk = SaliencyWalk(cast(PEGVAE, kit.vae), differentiable)
    return {
        "enumeration": dataclasses.replace(search, look=0),
        "gradients": search,
        "walk": dataclasses.replace(search, look=0, walk=walk),
    }


def answer(search: EditSearch, graph: graphflip.Graph) -> Answer:
    """The answer of one search about one graph."""
    began = time.process_time()
    (found,) = search.explain(graph)
    seconds = time.process_time() - began
    return Answer(found.flipped, len(heavy_edits(found.factual, found.edits)), found.classifier_calls, seconds)


def together(one: Answer, other: Answer) -> Answer:
    """The answer with fewer edits, for the calls and seconds of both."""
    best = min(one, other, key=lambda each: (not each.flipped, each.edits))
    return best._replace(calls=one.calls + other.calls, seconds=one.seconds + other.seconds)


def summary(answers: list[Answer]) -> dict[str, float]:
    flipped = [one for one in answers if one.flipped]
    return {
        "graphs": len(answers),
        "calls": round(mean(one.calls for one in answers), 1),
        "cpu_seconds": round(mean(one.seconds for one in answers), 3),
        "edits": round(mean(one.edits for one in flipped), 3) if flipped else 0.0,
        "flip_ratio": len(flipped) / len(answers),
    }


def packaged(name: str) -> Subject:
    if "GRAPHFLIP_DATA" not in os.environ:
        raise SystemExit("Set GRAPHFLIP_DATA to the folder with AIDS.zip, Mutagenicity.zip and NCI1.zip.")
    return Subject(graphflip.load(name), load_dataset(name).part("test"))


def generated(nodes: int, kinds: bool) -> Subject:
    """Hot neighbors: a network and an autoencoder that have learned from the first graphs, and the others."""
    whole = hot_neighbors(nodes, LEARNED + 40, seed=1, kinds=kinds, most=3)
    known = whole.subset(torch.arange(LEARNED))
    classifier = PyGClassifier(trained(known), whole.schema, num_classes=2, sample=whole.graphs(range(2)))
    with tempfile.TemporaryDirectory() as folder:
        train_model("vae", known.split_randomly(), Path(folder) / "vae", "linear")
        vae = load_model(Path(folder) / "vae")
    kit = Kit("hot neighbors", classifier, Knowledge.mine(known), whole.classes, vae)
    return Subject(Explainer(kit), whole.subset(torch.arange(LEARNED, len(whole))))


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "mutagenicity": lambda: packaged("mutagenicity"),
    "nci1": lambda: packaged("nci1"),
    "aids": lambda: packaged("aids"),
    "large": lambda: generated(200, kinds=True),
    "continuous": lambda: generated(60, kinds=False),
}
TITLES = {"large": "graphs of 200 nodes", "continuous": "continuous attributes, 60 nodes"}
WAYS = {
    "enumeration": "enumeration",
    "gradients": "order by estimates",
    "walk": "anchored walk",
    "both": "both, the smaller answer",
}


def table(found: dict[str, Any]) -> str:
    """Markdown of all that is measured."""
    lines = ["| graphs | way | calls | processor s | edits | flipped |", "|---|---|---|---|---|---|"]
    for name in (each for each in SUBJECTS if each in found):
        for way, row in found[name]["ways"].items():
            title = f"{TITLES.get(name, name)} ({row['graphs']})" if way == "enumeration" else ""
            figures = f"{row['calls']:,.0f} | {row['cpu_seconds']:.2f} | {row['edits']:.2f} | {row['flip_ratio']:.2f}"
            lines.append(f"| {title} | {WAYS[way]} | {figures} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
