"""Explain the models of the examples, and write what came of it to results/any/table.json.

Usage: python tools/any_results.py gin|gat|gine|forest|latent|multiclass|regression|directed [--limit N] [--work DIR]

gin, gat, gine, forest: on Mutagenicity's test split (needs GRAPHFLIP_DATA); `latent` is the forest again, explained by
`LatentSearch`. With --work, answers are kept as they come, and a run that was ended goes on from there. Rows of kits
that are fitted first (molecules_200, proteins_like, geometric, distilled_gin, …) are described in tools/fit_results.py.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import torch

import graphflip as gf
from graphflip.edits import heavy_edits
from graphflip.explain.latent.evolution import LatentSearch
from graphflip.models.adapters import PyGClassifier
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.storage.files import write_atomically
from graphflip.models.training.evaluate import measure_classifier, measure_regressor

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import directed  # noqa: E402
import fit_results  # noqa: E402
import multiclass  # noqa: E402
import own_pyg_model  # noqa: E402
import random_forest  # noqa: E402
import regression  # noqa: E402

TABLE = ROOT / "results" / "any" / "table.json"
BUDGET, LATENT_BUDGET = 5000, 500


@dataclass(frozen=True)
class Subject:
    """A model with the graphs that it is explained on; `explain` takes a set of one."""

    classifier: AbstractClassifier
    test: gf.GraphDataset
    explain: Callable[[gf.GraphDataset], gf.Counterfactual]
    is_right: Callable[[gf.Counterfactual], bool] | None = None
    budget: int | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*SUBJECTS, *fit_results.ROWS])
    parser.add_argument("--limit", type=int, help="explain the first graphs alone")
    parser.add_argument("--work", type=Path, help="folder to keep answers in")
    asked = parser.parse_args()
    if asked.name in fit_results.ROWS:
        fit_results.write_row(asked.name, asked.work or ROOT / "runs" / "any", asked.limit or 20)
        return
    torch.set_num_threads(1)
    subject = SUBJECTS[asked.name]()
    file = None if asked.work is None else asked.work / f"{asked.name}.jsonl"
    rows = answers(subject, min(asked.limit or len(subject.test), len(subject.test)), file)
    figures = summary(subject, rows)
    print(asked.name, json.dumps(figures, indent=1))
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    write_atomically(TABLE, (json.dumps(table | {asked.name: figures}, indent=1) + "\n").encode())


def pyg(kind: str) -> Subject:
    dataset = gf.load_dataset("mutagenicity")
    classifier = PyGClassifier(own_pyg_model.train(kind, dataset), dataset.schema, num_classes=2)
    explainer = gf.load("mutagenicity", classifier=classifier)
    return Subject(classifier, dataset.part("test"), lambda one: explainer.explain(one)[0])


def forest(latent: bool = False) -> Subject:
    dataset = gf.load_dataset("mutagenicity")
    budget = LATENT_BUDGET if latent else BUDGET
    box = random_forest.as_black_box(random_forest.train(dataset), dataset.schema, None)
    explainer = gf.load("mutagenicity", classifier=box)
    search = LatentSearch(explainer.kit.vae, box, explainer.search().moves)

    def explain(one: gf.GraphDataset) -> gf.Counterfactual:
        box.renew()
        box.budget = budget
        return explainer.assess(search.explain(one.graphs())[0]) if latent else explainer.explain(one)[0]

    return Subject(box, dataset.part("test"), explain, budget=budget)


def planted(example: Any, dataset: gf.GraphDataset) -> Subject:
    explainer = example.explainer_of(dataset)
    test = dataset.part("test")
    return Subject(explainer.kit.classifier, test, lambda one: example.explain(explainer, one)[0], example.is_right)


def logp() -> Subject:
    dataset = regression.load_rdkit_molecules("logp", limit=2000)
    explainer, test = regression.explainer_of(dataset), dataset.part("test")
    turns = {name: ("raise by 1", "lower by 1")[k % 2] for k, name in enumerate(test.ids)}
    return Subject(
        explainer.kit.classifier,
        test,
        lambda one: explainer.explain(one, turns[one.ids[0]])[0],
        regression.is_right,
    )


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "gin": lambda: pyg("gin"),
    "gat": lambda: pyg("gat"),
    "gine": lambda: pyg("gine"),
    "forest": forest,
    "latent": lambda: forest(latent=True),
    "multiclass": lambda: planted(multiclass, multiclass.planted_classes(1200)),
    "regression": logp,
    "directed": lambda: planted(directed, directed.planted_relays(1200)),
}


def answers(subject: Subject, count: int, file: Path | None) -> list[dict[str, Any]]:
    """What came of each graph; those that stand in the file are not explained again."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file is not None and file.exists() else []
    for k in range(len(rows), count):
        found = subject.explain(subject.test.subset([k]))
        rows.append(row(subject, found))
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
        if len(rows) % 10 == 0:
            print(len(rows), sum(one["flipped"] for one in rows), flush=True)
    return rows[:count]


def row(subject: Subject, found: gf.Counterfactual) -> dict[str, Any]:
    calls = subject.classifier.calls if subject.budget is not None else found.classifier_calls
    judges = list(found.evidence.judges.values()) if found.evidence is not None else []
    return {
        "flipped": found.flipped,
        "outcome": found.outcome.value,
        "edits": len(found.edits),
        "heavy": len(heavy_edits(found.factual, found.edits)),
        "calls": calls,
        "judged": min(judges) > 0.5 if judges else None,
        "right": subject.is_right(found) if subject.is_right is not None and found.flipped else None,
    }


def summary(subject: Subject, rows: list[dict[str, Any]]) -> dict[str, Any]:
    flipped = [one for one in rows if one["flipped"]]
    measure = measure_classifier if subject.test.classes else measure_regressor
    if subject.budget is not None:
        subject.classifier.budget = None
    known = measure(subject.classifier, subject.test)
    figures: dict[str, Any] = {
        "flip_ratio": len(flipped) / len(rows),
        "mean_edits": mean(one["edits"] for one in flipped),
        "calls": mean(one["calls"] for one in rows),
        "mean_heavy_edits": mean(one["heavy"] for one in flipped),
        "graphs": len(rows),
        "outcomes": dict(Counter(one["outcome"] for one in rows)),
        **{name: known[name] for name in ("auroc", "accuracy", "r2", "rmse") if name in known},
    }
    if subject.budget is not None:
        figures |= {"budget": subject.budget, "max_calls": max(one["calls"] for one in rows)}
    if any(one["judged"] is not None for one in flipped):
        figures["agreed_by_all_judges"] = sum(bool(one["judged"]) for one in flipped) / len(rows)
    if subject.is_right is not None:
        figures["right_by_the_rule"] = sum(one["right"] for one in flipped) / len(flipped)
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()}


if __name__ == "__main__":
    main()
