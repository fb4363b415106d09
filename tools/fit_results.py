"""Fit kits as a stranger would, explain with them, and write what came of it to results/any/table.json.

Usage: python tools/any_results.py NAME --work DIR [--limit N], with NAME one of

molecules_200, molecules_2000: subsets of Mutagenicity and AIDS whose labels have lost their names (they need
GRAPHFLIP_DATA);
proteins_like: the package's geometric graphs of six classes, 20 to 126 nodes;
geometric: the kit of proteins_like, asked for any other class with confidence 0.9, `balanced` and `minimal`, and
compared with the rule;
long_molecules_800: 800 nameless molecules of Mutagenicity, fitted in the time that `fit` takes by itself and in 25
minutes, both measured on molecules that neither has seen;
distilled_gin, distilled_gat, distilled_forest: 500 molecules of Mutagenicity and a model of the user's own, with
surrogates that learned labels and with surrogates that learned its answers.

Kits are kept in DIR: a run that was ended goes on, and explanations can be measured again. Times are processor
seconds of this process, on one thread.
"""

import argparse
import dataclasses
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

import graphflip as gf
from graphflip.data.planted.geometric import CLASSES, answers, geometric, true_class
from graphflip.data.tu.reading import load_tu
from graphflip.edits import heavy_edits
from graphflip.fit.readiness import Readiness
from graphflip.models.adapters import PyGClassifier
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.storage.files import write_atomically
from graphflip.models.training.evaluate import measure_classifier, measure_vae
from graphflip.schema import Categories, Column, Schema

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
TABLE = ROOT / "results" / "any" / "table.json"
PAGE = ROOT / "docs" / "guides" / "data.md"
BEGIN, END = "<!-- fits: begin -->", "<!-- fits: end -->"
SEED = 0
LONG = 25.0  # minutes of a long fit
REBUILT = 400  # unseen graphs that are rebuilt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=ROWS)
    parser.add_argument("--work", type=Path, required=True, help="folder to keep kits in")
    parser.add_argument("--limit", type=int, default=20, help="test graphs to explain")
    asked = parser.parse_args()
    write_row(asked.name, asked.work, asked.limit)


def write_row(name: str, work: Path, limit: int) -> None:
    """Measure a row and put it into the table."""
    torch.set_num_threads(1)
    work.mkdir(parents=True, exist_ok=True)
    group, _, key = ("fit", "", name) if name in SETS else name.partition("_")
    figures = ROWS[name](work, limit)
    figures |= {"command": f"python tools/any_results.py {name} --limit {limit}", "seed": SEED}
    print(name, json.dumps(figures, indent=1))
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    table[group] = (table.get(group, {}) | {key: figures}) if key else figures
    write_atomically(TABLE, (json.dumps(table, indent=1) + "\n").encode())
    write_atomically(PAGE, with_table(PAGE.read_text(), page_rows(table)).encode())


def with_table(text: str, rows: list[str]) -> str:
    """A page with a table in the place that is marked for it."""
    before, rest = text.split(BEGIN)
    return "\n".join([before + BEGIN, *rows, END + rest.split(END)[1]])


def page_rows(table: dict[str, Any]) -> list[str]:
    """The rows of all fits, as the page about data of one's own shows them."""
    rows = ["| fit | processor s | AUROC | edges rebuilt | flipped | edits | s for an answer | agreement kept |"]
    rows.append("|---|---|---|---|---|---|---|---|")
    long = table["long"]["molecules_800"]
    fits = {
        "200 molecules": table["fit"]["molecules_200"],
        "800 molecules": long["default"],
        "the same, for as long as it gains": long["long"],
        "2,000 molecules": table["fit"]["molecules_2000"],
        "600 geometric graphs of 20 to 126 nodes, 6 classes": table["fit"]["proteins_like"],
    }
    for name, row in fits.items():
        figures = [f"{row[key]:.3f}" for key in ("auroc", "rebuilt_edges", "flip_ratio")]
        figures += [f"{row['mean_edits']:.1f}", f"{row['cpu_seconds_per_graph']:.2f}", f"{row['agreement_kept']:.2f}"]
        rows.append(" | ".join([f"| {name}", f"{row['cpu_seconds']:.0f}", *figures]) + " |")
    for kind, row in table["distilled"].items():
        seconds = f"{row['cpu_seconds_per_graph']:.2f}" if "cpu_seconds_per_graph" in row else "–"
        cells = [f"| 500 molecules and your own {kind}", f"{row['fit_cpu_seconds']:.0f}", "–", "–"]
        rows.append(" | ".join([*cells, f"{row['flip_ratio']:.3f}", "–", seconds, f"{row['agreement']:.2f}"]) + " |")
    return rows


def nameless(name: str, count: int, max_nodes: int) -> gf.GraphDataset:
    """Some graphs of a TU set whose labels are integers, as if nobody knew what they mean."""
    dataset = load_tu(name, max_nodes=max_nodes, attributes=False)
    chosen = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(SEED))[:count].sort().values
    some = dataclasses.replace(dataset, split={}).subset(chosen)
    (nodes, V), (edges, E) = numbered(some.schema.nodes, some.V), numbered(some.schema.edges, some.E)
    schema = Schema(nodes=nodes, edges=edges, max_nodes=int(some.num_nodes.max()))
    classes = tuple(str(k) for k in range(len(some.classes)))
    bare = dataclasses.replace(some, name=f"{name.lower()}-{count}", schema=schema, V=V, E=E, classes=classes)
    return bare.split_randomly(SEED)


def numbered(columns: tuple[Column, ...], rows: torch.Tensor) -> tuple[tuple[Column, ...], torch.Tensor]:
    """Columns with the categories that occur, named 0, 1, 2, …"""
    made, parts = [], []
    for column, part in zip(columns, rows.split([column.width for column in columns], 1), strict=True):
        used = part.sum(0) > 0
        made.append(Categories(name=column.name, values=tuple(str(k) for k in range(int(used.sum())))))
        parts.append(part[:, used])
    return tuple(made), torch.cat(parts, 1) if parts else rows


SETS: dict[str, Callable[[], gf.GraphDataset]] = {
    "molecules_200": lambda: nameless("Mutagenicity", 200, 50),
    "molecules_2000": lambda: nameless("AIDS", 2000, 50),
    "proteins_like": lambda: geometric(600, SEED, 20, 126),
}


def fitted(
    work: Path, name: str, dataset: gf.GraphDataset, classifier: Any = "train", minutes: float | None = None
) -> tuple[Path, float, Readiness]:
    """The kit of a set, with the processor seconds that fitting it took; what is there is not fitted again."""
    folder, done = work / name, work / f"{name}.json"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        started = time.process_time()
        readiness = gf.fit_kit(dataset, folder, classifier, minutes=minutes, announce=print)
        stored = {"cpu_seconds": time.process_time() - started, "readiness": readiness.model_dump()}
        done.write_text(json.dumps(stored))
    stored = json.loads(done.read_text())
    return folder, stored["cpu_seconds"], Readiness.model_validate(stored["readiness"])


def explained(
    explainer: gf.Explainer, test: gf.GraphDataset, limit: int, **options: Any
) -> tuple[list[gf.Counterfactual], dict[str, float]]:
    """Answers for the first test graphs, and the processor seconds of each on average: of all, their median, and the
    mean of those of 40 to 60 nodes, if there are any."""
    found, seconds = [], []
    for k in range(min(limit, len(test))):
        started = time.process_time()
        found.append(explainer.explain(test.graphs([k]), **options))
        seconds.append(time.process_time() - started)
        print(k + 1, found[-1].outcome.value, len(found[-1].edits), flush=True)
    times = {"cpu_seconds_per_graph": mean(seconds), "median_cpu_seconds": median(seconds)}
    of_fifty = [took for took, answer in zip(seconds, found, strict=True) if 40 <= answer.factual.B.sum() <= 60]
    return found, times | ({"cpu_seconds_of_50_nodes": mean(of_fifty)} if of_fifty else {})


def fit_row(name: str, work: Path, limit: int) -> dict[str, Any]:
    dataset = SETS[name]()
    folder, seconds, readiness = fitted(work, name, dataset)
    found, times = explained(gf.load(folder), dataset.part("test"), limit)
    errors = {
        key: readiness.reconstruction[key] for key in ("node_error", "edge_error") if key in readiness.reconstruction
    }
    return rounded(
        {
            "cpu_seconds": seconds,
            "auroc": readiness.auroc["classifier"],
            "rebuilt_nodes": readiness.reconstruction["atoms"],
            "rebuilt_edges": readiness.reconstruction["edges"],
            **errors,
            **summary(found),
            **times,
            "graphs": len(found),
            "mean_nodes": float(torch.stack([answer.factual.B.sum() for answer in found]).mean()),
            "agreement_kept": kept(gf.load(folder), found),
        }
    )


def long_row(work: Path, limit: int) -> dict[str, Any]:
    whole = dataclasses.replace(nameless("Mutagenicity", 10_000, 50), split={})
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(SEED + 1))
    some = whole.subset(order[:800].sort().values).split_randomly(SEED)
    unseen = whole.subset(order[800:].sort().values)
    rows = {
        name: fit_figures(*fitted(work, f"molecules_800_{name}", some, minutes=minutes)[:2], unseen, limit)
        for name, minutes in (("default", None), ("long", LONG))
    }
    shares = "auroc", "rebuilt_nodes", "rebuilt_edges", "flip_ratio", "agreement_kept"
    lost = {name: 100 * (rows["long"][name] - rows["default"][name]) for name in shares}
    return {name: rounded(row) for name, row in rows.items()} | {"points_lost": rounded(lost), "unseen": len(unseen)}


def fit_figures(folder: Path, seconds: float, unseen: gf.GraphDataset, limit: int) -> dict[str, Any]:
    """Figures of a kit on graphs that it has not seen."""
    explainer = gf.load(folder)
    rebuilt = measure_vae(explainer.kit.vae, unseen.subset(range(REBUILT)))
    found, times = explained(explainer, unseen, limit)
    return {
        "cpu_seconds": seconds,
        "auroc": measure_classifier(explainer.kit.classifier, unseen)["auroc"],
        "rebuilt_nodes": rebuilt["atoms"],
        "rebuilt_edges": rebuilt["edges"],
        **summary(found),
        **times,
        "graphs": len(found),
        "agreement_kept": kept(explainer, found),
    }


def geometric_row(work: Path, limit: int) -> dict[str, Any]:
    dataset = SETS["proteins_like"]()
    folder, _, _ = fitted(work, "proteins_like", dataset)
    explainer = gf.load(folder)
    figures = {
        prefer: by_rule(*explained(explainer, dataset.part("test"), limit, target="any", prefer=prefer, confidence=0.9))
        for prefer in ("balanced", "minimal")
    }
    return rounded(figures["balanced"]) | {"minimal": rounded(figures["minimal"])}


def by_rule(found: list[gf.Counterfactual], times: dict[str, float]) -> dict[str, Any]:
    """Figures of answers on geometric graphs, compared with the rule behind their classes."""
    flipped = [answer for answer in found if answer.flipped]
    right = [int(true_class(answer.counterfactual)) == answer.target for answer in flipped]
    fewest = [len(answer.edits) <= least(answer) for answer in flipped]
    return {
        **summary(found),
        "right_by_rule": mean(right) if right else 0.0,
        "fewest_edits": mean(fewest) if fewest else 0.0,
        "calls": mean(answer.classifier_calls for answer in found),
        **times,
        "graphs": len(found),
    }


def least(answer: gf.Counterfactual) -> int:
    """Fewest edits to any other class, by the rule."""
    others = set(range(len(CLASSES))) - {int(true_class(answer.factual))}
    return min(int(answers(answer.factual, other)) for other in others)


def distilled_row(kind: str, work: Path, limit: int) -> dict[str, Any]:
    whole = gf.load_dataset("mutagenicity")
    parts = [whole.split["train"][:400], whole.split["validation"][:50], whole.split["test"][:50]]
    dataset = whole.subset(torch.cat(parts))
    own = users_model(kind, whole)
    taught, seconds, readiness = fitted(work, f"distilled_{kind}", dataset, own)
    labeled, _, _ = fitted(work, "distilled_labels", dataset, "train")
    figures: dict[str, Any] = {"fit_cpu_seconds": seconds, "calls": readiness.calls}
    for name, folder in (("", taught), ("_by_labels", labeled)):
        explainer = gf.load(folder, classifier=own)
        found, times = explained(explainer, dataset.part("test"), limit)
        figures[f"agreement{name}"] = kept(explainer, found)
        figures[f"flip_ratio{name}"] = mean(answer.flipped for answer in found)
        figures[f"cpu_seconds_per_graph{name}"] = times["cpu_seconds_per_graph"]
        figures[f"nafr{name}"] = judged(gf.load("mutagenicity", classifier=own), found)
    return rounded(figures | {"graphs": min(limit, len(dataset.part("test")))})


def users_model(kind: str, dataset: gf.GraphDataset) -> AbstractClassifier:
    if kind == "forest":
        import random_forest

        return random_forest.as_black_box(random_forest.train(dataset, 100), dataset.schema, None)
    import own_pyg_model

    return PyGClassifier(own_pyg_model.train(kind, dataset, 5), dataset.schema, num_classes=2)


@torch.no_grad()
def kept(explainer: gf.Explainer, found: list[gf.Counterfactual]) -> float:
    """Share of all answers to which the surrogates give the agreement that `balanced` asks for."""
    asked = explainer.kit.preferences["balanced"].agreement
    count = 0
    for answer in found:
        if answer.flipped and explainer.kit.surrogates:
            graph = answer.counterfactual.pad(explainer.kit.schema.max_nodes)
            given = [surrogate(graph).softmax(-1)[0, answer.target] for surrogate in explainer.kit.surrogates]
            count += float(torch.stack(given).mean()) >= asked - 1e-6
    return count / len(found)


@torch.no_grad()
def judged(explainer: gf.Explainer, found: list[gf.Counterfactual]) -> float:
    """Share of all answers that the packaged attention network, which no search consulted, believes."""
    judge = explainer.kit.judges["another GNN"]
    graphs = [answer.counterfactual.pad(explainer.kit.schema.max_nodes) for answer in found if answer.flipped]
    targets = [answer.target for answer in found if answer.flipped]
    believed = [int(judge(graph)[0].argmax()) == target for graph, target in zip(graphs, targets, strict=True)]
    return sum(believed) / len(found)


def summary(found: list[gf.Counterfactual]) -> dict[str, float]:
    edits = [len(heavy_edits(answer.factual, answer.edits)) for answer in found if answer.flipped]
    return {"flip_ratio": len(edits) / len(found), "mean_edits": mean(edits) if edits else float("nan")}


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()}


ROWS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    **{name: (lambda work, limit, name=name: fit_row(name, work, limit)) for name in SETS},
    "long_molecules_800": long_row,
    "geometric": geometric_row,
    **{
        f"distilled_{kind}": (lambda work, limit, kind=kind: distilled_row(kind, work, limit))
        for kind in ("gin", "gat", "forest")
    },
}


if __name__ == "__main__":
    main()
