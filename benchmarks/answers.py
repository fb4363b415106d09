"""The default explainer: one answer in processor time and calls, beside a search that makes every move, and exmol.

`balanced_cpu_seconds`, `balanced_calls`, `minimal_cpu_seconds`: one answer about a test graph of Mutagenicity in one
process. `enumeration_ratio`: processor time of full enumeration over that of the default, graph by graph in turn.
`large`: graphs of 200, 500 and 1,000 nodes (large.py). `exmol_ratio`: processor time of exmol, with its default
settings, over ours, same molecules, same classifier; only where exmol is installed (`pip install 'graphflip[peers]'`).
`cold_cli_seconds`: one molecule on the command line in a fresh process, with its report; `cold_answer_seconds`: without
it; `import_torch_cpu_seconds`: what torch takes of both; `python_seconds`: one after loading;
`balanced_seconds_per_graph`: in batch on two cores.

Usage: python benchmarks/answers.py [--quick] [--only start|molecules|batch|large|exmol]   (GRAPHFLIP_DATA, idle cores)
"""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import torch
from large import measure_large
from measure import arguments, report, timed

import graphflip
from graphflip.bench.workers import workers
from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.molecules.molecule import from_smiles, to_smiles
from graphflip.data.source import load_dataset
from graphflip.errors import GraphflipError
from graphflip.explain.counterfactual import Counterfactual
from graphflip.explain.edits.scoring import Scoring
from graphflip.explain.explainer import Explainer
from graphflip.graph import Graph

MODEL = "mutagenicity"
CORES, SHARD = 2, 4
COMPARED = 60  # graphs that are answered by making every move, too
PEERED = 6  # graphs that exmol is asked about, too: it takes a quarter of a minute for each
PARTS = ("start", "molecules", "batch", "large", "exmol")


class Effort(NamedTuple):
    """Processor time, graphs and classifier calls of a shard."""

    seconds: float
    graphs: int
    calls: int


def main() -> None:
    options = arguments(__doc__, parts=PARTS)
    figures: dict[str, Any] = {}
    for part in (options.only,) if options.only else PARTS:
        figures |= measure_part(part, options.quick)
    lines = {name: f"{value:10.3f}" for name, value in figures.items() if isinstance(value, float)}
    report("The default explainer", lines, figures)


def measure_part(part: str, quick: bool) -> dict[str, Any]:
    """Figures of one part; nothing where data or a package are missing."""
    if part == "large":
        return measure_large((200, 500, 1000) if quick else (50, 100, 200, 500, 1000), quick)
    explainer = loaded()
    if part == "start":
        return {"python_seconds": python_seconds(explainer, 3 if quick else 14), **cold_cli(1 if quick else 3)}
    if "GRAPHFLIP_DATA" not in os.environ:
        return {}
    if part == "molecules":
        return beside_enumeration(explainer, 4 if quick else COMPARED)
    if part == "batch":
        return in_batch(explainer, 8 if quick else len(test_graphs()))
    return beside_exmol(explainer, 1 if quick else PEERED)


def beside_enumeration(explainer: Explainer, limit: int) -> dict[str, float | str]:
    """Processor time and classifier calls of some test graphs, by the default search and by one that makes every move.

    Both answer each graph in turn, so that a busy machine is as busy for the one as for the other.
    """
    graphs = test_graphs().graphs(slice(0, limit))
    ways = {
        "balanced": explainer.explain,
        "minimal": partial(explainer.explain, prefer="minimal"),
        "enumeration": partial(explainer.explain, thorough=True),
    }
    for explain in ways.values():
        explain(graphs[0])
    seconds, calls = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    models, realism = Stopwatch(Scoring, "_votes"), Stopwatch(Scoring, "priced")
    for k in range(len(graphs)):
        for name, explain in ways.items():
            found: list[Counterfactual] = []
            models.runs = realism.runs = name == "balanced"
            seconds[name] += timed(lambda ask=explain, k=k, found=found: found.append(ask(graphs[k]))) / len(graphs)
            calls[name] += found[0].classifier_calls / len(graphs)
    return {
        "balanced_cpu_seconds": seconds["balanced"],
        "balanced_models_cpu_seconds": models.seconds / len(graphs),
        "balanced_realism_cpu_seconds": realism.seconds / len(graphs),
        "balanced_calls": calls["balanced"],
        "minimal_cpu_seconds": seconds["minimal"],
        "minimal_calls": calls["minimal"],
        "enumeration_calls": calls["enumeration"],
        "enumeration_ratio": seconds["enumeration"] / seconds["balanced"],
    }


class Stopwatch:
    """Adds up the processor time of a method while `runs` is True."""

    def __init__(self, owner: type, name: str):
        self.seconds, self.runs, self.method = 0.0, False, getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: self._timed(*args, **kwargs))

    def _timed(self, *args: Any, **kwargs: Any) -> Any:
        began = time.process_time()
        result = self.method(*args, **kwargs)
        self.seconds += (time.process_time() - began) if self.runs else 0.0
        return result


def beside_exmol(explainer: Explainer, limit: int) -> dict[str, Any]:
    """Processor time of exmol and of the default search for the same molecules, by the same classifier.

    exmol samples the chemical space around a molecule and chooses counterfactuals from it, as its documentation says
    and with its default settings: `sample_space(smiles, predict)` and `cf_explain(examples)`.
    """
    if importlib.util.find_spec("exmol") is None:
        return {}
    import exmol

    graphs, classifier = test_graphs(), explainer.kit.classifier
    texts = [text for k in range(len(graphs)) if (text := to_smiles(graphs.graphs([k])))]
    explainer.explain(texts[0])
    ours, theirs, flipped, shown, asked, refused = 0.0, 0.0, 0, 0, 0, 0
    for text in texts:
        if asked == limit:
            break
        predicted = int(classifier(from_smiles(text, explainer.kit.schema)).argmax())
        found: list[Any] = []

        def predict(smiles: list[str], predicted: int = predicted) -> list[int]:
            return classes_of(explainer, smiles, predicted)

        def ask(text: str = text, predict: Any = predict, found: list[Any] = found) -> None:
            examples = exmol.sample_space(text, predict, quiet=True)
            found.append((len(examples), exmol.cf_explain(examples)))

        try:
            theirs += timed(ask)
        except ValueError:  # its default alphabet does not have every element
            refused += 1
            continue
        ours += timed(lambda text=text: explainer.explain(text))
        asked, shown, flipped = asked + 1, shown + found[0][0], flipped + (len(found[0][1]) > 1)
    return {
        "exmol_ratio": theirs / ours,
        "exmol_version": importlib.metadata.version("exmol"),
        "exmol_molecules": asked,
        "exmol_refused": refused,
        "exmol_cpu_seconds": theirs / asked,
        "exmol_calls": shown / asked,
        "exmol_flip_ratio": flipped / asked,
        "beside_exmol_cpu_seconds": ours / asked,
    }


@torch.no_grad()
def classes_of(explainer: Explainer, smiles: list[str], otherwise: int, at_once: int = 64) -> list[int]:
    """Class of each molecule; of those that the classifier's graphs cannot hold, `otherwise`."""
    kit, graphs, places = explainer.kit, [], []
    classes = [otherwise] * len(smiles)
    for place, text in enumerate(smiles):
        try:
            graphs.append(from_smiles(text, kit.schema))
            places.append(place)
        except GraphflipError:
            continue
    for at in range(0, len(graphs), at_once):
        some = graphs[at : at + at_once]
        widest = max(graph.num_slots for graph in some)
        said = kit.classifier(Graph.cat([graph.pad(widest) for graph in some])).argmax(-1).tolist()
        for place, label in zip(places[at : at + at_once], said, strict=True):
            classes[place] = label
    return classes


def python_seconds(explainer: Explainer, count: int) -> float:
    """Median over well-known molecules of the time for one, models loaded."""
    texts = [molecule.smiles for molecule in famous_molecules()[:count]]
    return median(timed(lambda text=text: explainer.explain(text)) for text in texts)


def cold_cli(turns: int) -> dict[str, float]:
    """Processes that start anew: one molecule on the command line with its report, the same without any file, and the
    import of torch, which neither can do without."""
    explain = ["-m", "graphflip", "explain", "O=[N+]([O-])c1ccccc1", "--model", MODEL]
    commands = [*explain, "--out", "OUT"], explain, ["-c", "import torch"]
    report, answer, torch_alone = (cold(command, turns) for command in commands)
    return {
        "cold_cli_seconds": report[0],
        "cold_cli_cpu_seconds": report[1],
        "cold_answer_seconds": answer[0],
        "cold_answer_cpu_seconds": answer[1],
        "import_torch_cpu_seconds": torch_alone[1],
    }


def cold(arguments: list[str], turns: int) -> tuple[float, float]:
    """Wall and processor time of a Python process, the smallest of some.

    It is started once before: that leaves what an installation has, compiled modules and files that the system keeps in
    memory. `OUT` stands for a new folder.
    """
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    took = []
    for turn in range(turns + 1):
        with tempfile.TemporaryDirectory() as folder:
            began, used = time.perf_counter(), os.times()
            command = [str(Path(folder) / f"out{turn}") if word == "OUT" else word for word in arguments]
            subprocess.run([sys.executable, *command], check=True, capture_output=True, env=surroundings)
            now = os.times()
        cpu = now.children_user + now.children_system - used.children_user - used.children_system
        took.append((time.perf_counter() - began, cpu))
    return min(wall for wall, _ in took[1:]), min(cpu for _, cpu in took[1:])


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


if __name__ == "__main__":
    main()
