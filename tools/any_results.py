"""Explain the classifiers of the examples on Mutagenicity's test split and write them to results/any/table.json.

Usage: python tools/any_results.py gin|gat|gine|forest ... [--limit N] [--prefer balanced]      (needs GRAPHFLIP_DATA)
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import torch

import graphflip as gf
from graphflip.edits import heavy_edits
from graphflip.models.adapters import BlackBox, PyGClassifier
from graphflip.models.classifier import AbstractClassifier
from graphflip.models.files import write_atomically
from graphflip.models.objectives import measure_classifier

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import own_pyg_model  # noqa: E402
import random_forest  # noqa: E402

TABLE = ROOT / "results" / "any" / "table.json"
BUDGET = 5000


def main() -> None:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=["gin", "gat", "gine", "forest"])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--prefer", default="balanced")
    asked = parser.parse_args()
    dataset = gf.load_dataset("mutagenicity")
    for name in asked.names:
        figures = measure(make(name, dataset), dataset.part("test"), asked.limit, asked.prefer)
        print(name, figures, flush=True)
        if asked.limit is None:
            add_to_table(name, figures)


def make(name: str, dataset: gf.GraphDataset) -> AbstractClassifier:
    if name == "forest":
        return random_forest.as_black_box(random_forest.train(dataset), dataset.schema, None)
    return PyGClassifier(own_pyg_model.train(name, dataset), dataset.schema, num_classes=2)


def measure(classifier: AbstractClassifier, test: gf.GraphDataset, limit: int | None, prefer: str) -> dict:
    figures = measure_classifier(classifier, test)
    if isinstance(classifier, BlackBox):
        classifier.budget = BUDGET
    found, calls = [], []
    for one, count in answers(classifier, test.graphs()[:limit], prefer):
        found.append(one)
        calls.append(count)
        if len(found) % 10 == 0:
            print(len(found), sum(one.flipped for one in found), f"{mean(calls):.0f} calls", flush=True)
    flipped = [one for one in found if one.flipped]
    judged = [one for one in flipped if one.evidence and min(one.evidence.judges.values()) > 0.5]
    return {
        "flip_ratio": round(len(flipped) / len(found), 4),
        "mean_edits": round(mean(len(one.edits) for one in flipped), 3),
        "calls": round(mean(calls), 1),
        "mean_heavy_edits": round(mean(len(heavy_edits(one.factual, one.edits)) for one in flipped), 3),
        "agreed_by_all_judges": round(len(judged) / len(found), 4),
        "outcomes": {outcome: sum(one.outcome.value == outcome for one in found) for outcome in outcomes(found)},
        "graphs": len(found),
        "prefer": prefer,
        "auroc": round(figures["auroc"], 4),
        "accuracy": round(figures["accuracy"], 4),
        **({"budget": BUDGET, "max_calls": max(calls)} if isinstance(classifier, BlackBox) else {}),
    }


def answers(classifier: AbstractClassifier, graphs: gf.Graph, prefer: str) -> Iterator[tuple[gf.Counterfactual, int]]:
    """Each explanation with the number of graphs that the classifier was shown for it."""
    explainer = gf.load("mutagenicity", classifier=classifier)
    for graph in graphs:
        if not isinstance(classifier, BlackBox):
            one = explainer.explain(graph, prefer=prefer)
            yield one, one.classifier_calls
        else:
            classifier.renew()
            yield explainer.explain(graph, prefer=prefer), classifier.calls


def outcomes(found: list[gf.Counterfactual]) -> list[str]:
    return sorted({one.outcome.value for one in found})


def add_to_table(name: str, figures: dict) -> None:
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    write_atomically(TABLE, (json.dumps(table | {name: figures}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
