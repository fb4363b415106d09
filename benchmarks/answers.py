"""Time of the default explainer: many graphs on two cores, one molecule from a cold start, one from Python; and beside
a search that makes every move.

Used by explain.py. Processor time where one process is timed, so that others on the machine do not count.
"""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import graphflip
from graphflip.bench.workers import workers
from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.source import load_dataset
from graphflip.explain.counterfactual import Counterfactual
from graphflip.explain.explainer import Explainer

MODEL = "mutagenicity"
CORES, SHARD = 2, 4
COMPARED = 60  # graphs that are answered by making every move, too


class Effort(NamedTuple):
    """Processor time, graphs and classifier calls of a shard."""

    seconds: float
    graphs: int
    calls: int


def measure_answers(limit: int | None = None) -> dict[str, float | str]:
    """Measure seconds per graph in batch on two cores, from a cold command line, and from Python after loading.

    `limit` is the number of test graphs in the batch; None means all, and more molecules from Python too.
    """
    explainer = graphflip.load(MODEL)
    figures: dict[str, float | str] = {"python_seconds": python_seconds(explainer, 3 if limit else 14), **cold_cli()}
    if "GRAPHFLIP_DATA" in os.environ:
        figures |= beside_enumeration(explainer, limit or COMPARED)
        figures |= in_batch(explainer, limit or len(test_graphs()))
    return figures


def beside_enumeration(explainer: Explainer, limit: int) -> dict[str, float | str]:
    """Processor time and classifier calls of some test graphs, by the default search and by one that makes every move.

    Both answer each graph in turn, so that a busy machine is as busy for the one as for the other.
    """
    graphs, every = test_graphs().graphs(slice(0, limit)), making_every_move(explainer)
    ways = {
        "balanced": explainer.explain,
        "minimal": partial(explainer.explain, prefer="minimal"),
        "enumeration": every.explain,
    }
    for explain in ways.values():
        explain(graphs[0])
    seconds, calls = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    for k in range(len(graphs)):
        for name, explain in ways.items():
            found: list[Counterfactual] = []
            seconds[name] += timed(lambda ask=explain, k=k, found=found: found.append(ask(graphs[k]))) / len(graphs)
            calls[name] += found[0].classifier_calls / len(graphs)
    return {
        "balanced_cpu_seconds": seconds["balanced"],
        "balanced_calls": calls["balanced"],
        "minimal_cpu_seconds": seconds["minimal"],
        "minimal_calls": calls["minimal"],
        "enumeration_calls": calls["enumeration"],
        "enumeration_ratio": seconds["enumeration"] / seconds["balanced"],
    }


def making_every_move(explainer: Explainer) -> Explainer:
    """The same explainer with searches that make every move in every round."""
    wishes = {name: wish.model_copy(update={"look": 0}) for name, wish in explainer.kit.preferences.items()}
    return Explainer(dataclasses.replace(explainer.kit, preferences=wishes))


def python_seconds(explainer: Explainer, count: int) -> float:
    """Median over well-known molecules of the time for one, models loaded."""
    texts = [molecule.smiles for molecule in famous_molecules()[:count]]
    return median(timed(lambda text=text: explainer.explain(text)) for text in texts)


def cold_cli() -> dict[str, float]:
    """One molecule on the command line in a fresh process: as a user waits for it, and its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "graphflip", "explain", "O=[N+]([O-])c1ccccc1", "--model", MODEL]
        began, used = time.perf_counter(), os.times()
        subprocess.run([*command, "--out", str(Path(folder) / "out")], check=True, capture_output=True)
        now = os.times()
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    return {"cold_cli_seconds": time.perf_counter() - began, "cold_cli_cpu_seconds": cpu}


def in_batch(explainer: Explainer, limit: int) -> dict[str, float | str]:
    """Test graphs in balanced mode by two processes of one thread, each with a core to itself.

    `calls_ratio` is that time over what the classifier alone takes for as many graphs as it was shown.
    """
    spans = [(at, min(at + SHARD, limit)) for at in range(0, limit, SHARD)]
    with workers(CORES) as run:
        began = time.perf_counter()
        efforts = list(run(explain_span, spans))
        wall = time.perf_counter() - began
    seconds, graphs = sum(one.seconds for one in efforts), sum(one.graphs for one in efforts)
    calls = sum(one.calls for one in efforts) / graphs
    batch = test_graphs().graphs(range(min(limit, 64)))
    bare = mean(timed(lambda: explainer.kit.classifier(batch)) for _ in range(5)) / len(batch)
    return {
        "balanced_data": MODEL,
        "balanced_graphs": graphs,
        "balanced_seconds_per_graph": seconds / graphs / CORES,
        "balanced_wall_seconds_per_graph": wall / graphs,
        "balanced_calls_per_graph": calls,
        "calls_ratio": seconds / graphs / (calls * bare),
    }


def explain_span(span: tuple[int, int]) -> Effort:
    """Explain some test graphs; loading does not count."""
    explainer, graphs = loaded(), test_graphs().graphs(slice(*span))
    found = []
    seconds = timed(lambda: found.extend(explainer.explain(graphs[k]) for k in range(len(graphs))))
    return Effort(seconds, len(found), sum(one.classifier_calls for one in found))


@cache
def loaded() -> Explainer:
    return graphflip.load(MODEL)


@cache
def test_graphs() -> GraphDataset:
    return load_dataset(MODEL).part("test")


def timed(job: Callable[[], object]) -> float:
    """Processor time of this process."""
    began = time.process_time()
    job()
    return time.process_time() - began
