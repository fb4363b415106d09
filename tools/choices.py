"""Compare settings of a preference on validation molecules, and keep the figures in results/quality/choices.json.

Usage: python tools/choices.py mutagenicity balanced 'fewer edits={"edit_price": 1.0}' [--every 4]

Each variant is a name, `=`, and a JSON object of what it changes in the kit's preference; without one it is the
preference as it is. The test part is never looked at. Needs GRAPHFLIP_DATA.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any, cast

import torch

import graphflip as gf
from graphflip.bench.measure import Pairs, sparsity, validity
from graphflip.bench.realism import REALISM, RealismScorer
from graphflip.data.source import load_dataset
from graphflip.edits import heavy_edits
from graphflip.explain import Counterfactual, Explainer
from graphflip.explain.query import Prefer
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.storage.files import write_atomically

CHOICES = Path(__file__).parents[1] / "results" / "quality" / "choices.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kit")
    parser.add_argument("prefer", choices=("minimal", "balanced", "believable"))
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--every", type=int, default=4, help="take every so many graphs of the validation part")
    asked = parser.parse_args()
    prefer = cast(Prefer, asked.prefer)
    torch.set_num_threads(1)
    explainer, part = gf.load(asked.kit), load_dataset(asked.kit).part("validation")
    graphs = part.graphs(range(0, len(part), asked.every))
    for variant in asked.variants:
        name, _, changes = variant.partition("=")
        figures = measured(with_changes(explainer, prefer, json.loads(changes or "{}")), prefer, graphs)
        print(name, json.dumps(figures, indent=1), flush=True)
        kept = json.loads(CHOICES.read_text()) if CHOICES.exists() else {}
        row = {"changes": json.loads(changes or "{}"), "every": asked.every, "graphs": len(graphs), **figures}
        kept.setdefault(asked.kit, {}).setdefault(asked.prefer, {})[name] = row
        write_atomically(CHOICES, (json.dumps(kept, indent=1) + "\n").encode())


def with_changes(explainer: Explainer, prefer: Prefer, changes: dict[str, Any]) -> Explainer:
    """The explainer with other settings of a preference."""
    wishes = dict(explainer.kit.preferences)
    wishes[prefer] = wishes[prefer].model_copy(update=changes)
    return Explainer(dataclasses.replace(explainer.kit, preferences=wishes))


@torch.no_grad()
def measured(explainer: Explainer, prefer: Prefer, graphs: gf.Graph) -> dict[str, float]:
    """Means of the quality table's figures, with standard errors of those that pull against each other."""
    began = time.process_time()
    answers = [explainer.explain(graph, prefer=prefer) for graph in graphs]
    seconds = (time.process_time() - began) / len(answers)
    pairs = Pairs.of(answers)
    assert pairs is not None
    judges: dict[str, AbstractClassifier] = {}
    for name, judge in zip(("nafr", "nafr_other"), explainer.kit.judges.values(), strict=False):
        judges[name] = judge
    columns = validity(pairs, explainer.kit.classifier, judges) | sparsity(pairs)
    columns |= RealismScorer(explainer.kit).score(answers)
    shown = ("flip_ratio", *judges, "edge_sp", *REALISM)
    figures = {name: round(float(columns[name].float().nanmean()), 3) for name in shown}
    heavy = [len(heavy_edits(one.factual, one.edits)) for one in answers]
    figures |= {"heavy_edits": round(mean(heavy), 3), "heavy_edits_error": round(stdev(heavy) / len(heavy) ** 0.5, 3)}
    figures |= {"less_than_asked": round(mean(map(misses, answers)), 3), "cpu_seconds": round(seconds, 3)}
    return figures | {"classifier_calls": round(mean(one.classifier_calls for one in answers), 1)}


def misses(answer: Counterfactual) -> float:
    """1 if an answer has a note about what it misses."""
    return float(bool(answer.note))


if __name__ == "__main__":
    main()
