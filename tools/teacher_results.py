"""Surrogates that learn labels beside surrogates that learn from the classifier: results/training/teacher.json.

Usage: python tools/teacher_results.py [--stride 3] [--work runs/teacher]     (needs GRAPHFLIP_DATA)

Both pairs help the same search, `balanced`, with every third validation graph of Mutagenicity. The first pair is the
package's. With the same --work folder, a run that was ended goes on.
"""

import argparse
import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphflip.bench.measure import Measures
from graphflip.bench.quality.material import Material
from graphflip.bench.quality.rows import chosen
from graphflip.bench.quality.runs import QualityRun
from graphflip.bench.score import figures_of
from graphflip.bench.summary import versions
from graphflip.data.dataset import GraphDataset
from graphflip.data.source import load_dataset
from graphflip.explain.kit import find_kit, load_kit
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.storage.files import write_atomically
from graphflip.models.storage.store import load_model, read_card
from graphflip.models.training.evaluate import predict
from graphflip.models.training.train import train_model

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "results" / "training" / "teacher.json"
DATA, PRESETS, PART = "mutagenicity", ("gin", "counts"), "validation"
FIGURES = ("n", "flip_ratio", "nafr", "nafr_other", "mean_heavy_edits", "mean_edits", "edge_sp", "classifier_calls")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stride", type=int, default=3, help="explain every so many-th graph")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "teacher", help="folder of what is in the making")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folders = {"labels": find_kit(DATA), "teacher": asked.work}
    train_pupils(asked.work)
    runs = {name: explain(folder, asked) for name, folder in folders.items()}
    content: dict[str, Any] = {name: figures(folder, runs[name]) for name, folder in folders.items()}
    content["convinces_with_one_pair_alone"] = {name: alone(runs, name) for name in ("nafr", "nafr_other")}
    content["about"] = {
        "command": f"python tools/teacher_results.py --stride {asked.stride}",
        "data": DATA,
        "part": PART,
        "prefer": "balanced",
        "settings": load_kit(DATA).preferences["balanced"].model_dump(),
        "surrogates": list(PRESETS),
        "search_seed": 0,
        "versions": versions(),
        "definitions": "labels, teacher: what the surrogates learned; nafr, nafr_other: flips that the judge (another "
        "GNN, trees) sees too, of all inputs; convinces_with_one_pair_alone: on how many graphs the judge sees the "
        "flip of one run and not that of the other; edits and edge_sp of counterfactuals that flip; label_accuracy, "
        "classifier_agreement: shares of a whole part on which a surrogate predicts the label, the classifier's class",
    }
    write_atomically(TARGET, (json.dumps(content, indent=1) + "\n").encode())


def train_pupils(folder: Path) -> None:
    """Train the surrogates that learn from the classifier; those that are complete are kept."""
    dataset, teacher = load_dataset(DATA), load_model(f"{DATA}/classifier", expect=AbstractClassifier)
    for preset in PRESETS:
        train_model("surrogate", dataset, folder / f"surrogate-{preset}", preset, resume=True, teacher=teacher)


@dataclass(frozen=True)
class Strided:
    """Every `stride`-th validation graph, and the package's kit with the surrogates of a folder."""

    surrogates: Path
    stride: int

    def __call__(self, name: str) -> Material:
        dataset, kit = load_dataset(name), load_kit(name)
        models = tuple(load_model(folder, expect=AbstractClassifier) for folder in surrogate_folders(self.surrogates))
        few = dataset.subset(dataset.split[PART][:: self.stride])
        return Material(few, dataclasses.replace(kit, surrogates=models), PART)


def surrogate_folders(folder: Path) -> list[Path]:
    return [folder / f"surrogate-{preset}" for preset in PRESETS]


def explain(folder: Path, asked: argparse.Namespace) -> Measures:
    """Measures of what the search finds with the surrogates of a folder."""
    source = Strided(folder, asked.stride)
    run = QualityRun(source, DATA, chosen(["balanced"])[0], 0, asked.work / f"of-{folder.name}")
    return run.complete(map, lambda count: print(folder.name, count, flush=True))


def figures(folder: Path, measures: Measures) -> dict[str, Any]:
    """Figures of what was found, and how well the surrogates know labels and classifier."""
    found = figures_of([measures])
    dataset, classifier = load_dataset(DATA), load_model(f"{DATA}/classifier", expect=AbstractClassifier)
    surrogates = {
        path.name: {
            **{part: knowledge(load_model(path), classifier, dataset.part(part)) for part in ("validation", "test")},
            "training": read_card(path).training,
        }
        for path in surrogate_folders(folder)
    }
    return {name: found[name] for name in FIGURES} | {"surrogates": surrogates}


def alone(runs: dict[str, Measures], judge: str) -> dict[str, int]:
    sees = {name: measures[judge] == 1 for name, measures in runs.items()}
    others = {"labels": "teacher", "teacher": "labels"}
    return {name: int((sees[name] & ~sees[other]).sum()) for name, other in others.items()}


def knowledge(model: AbstractClassifier, classifier: AbstractClassifier, graphs: GraphDataset) -> dict[str, float]:
    says, taught = (predict(one, graphs).argmax(-1) for one in (model, classifier))
    shares = {"label_accuracy": says == graphs.labels, "classifier_agreement": says == taught}
    return {name: round(float(column.float().mean()), 4) for name, column in shares.items()}


if __name__ == "__main__":
    main()
