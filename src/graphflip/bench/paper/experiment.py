"""The paper's experiment: every method on whole test splits, its three tables and its figure."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from ...data.dataset import GraphDataset
from ...data.source import load_dataset
from ...data.tu.reading import PAPER_SETS
from ...errors import ConfigError
from ...explain.latent.baselines import NoChange
from ...metrics import share
from ...models.networks.classifier import AbstractClassifier
from ...models.storage.files import write_atomically
from ...models.training.evaluate import measure_classifier, measure_vae, predict
from ..measure import Measures, are_molecules, plausibility, stack
from ..progress import Watch, counter
from ..summary import Figures, number, summary, versions
from .elbo import measure_published_elbo
from .figures import draw_tradeoff
from .runs import METHODS, Method, Run
from .subject import ModelSource, Subject, packaged_models
from .tables import dataset_table, model_table, result_table


def run_paper(
    datasets: Sequence[str],
    out: Path,
    limit: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    watch: Watch = lambda what, done, total: None,
    *,
    ged_seconds: float = 0.1,
    methods: Sequence[Method] = METHODS,
    load_data: Callable[[str], GraphDataset] = load_dataset,
    load_models: ModelSource = packaged_models,
) -> Path:
    """Explain the test splits with every method, measure the answers, and write tables, figures and counterfactuals.

    Nothing is trained. Runs that `out` already holds, with the same settings, data and models, are not repeated.

    Args:
        datasets: Names of datasets.
        out: Folder for everything that is written.
        limit: Number of graphs of each test split to explain, the first ones; None means all.
        seeds: Seeds for methods that draw random numbers; the others are run with the first.
        watch: Called with the name of the current run, the number of steps done, and the total.
        ged_seconds: Time limit for the edit distance of a pair, after which its bounds are kept.
        methods: Methods to run.
        load_data: Function that loads a dataset by name.
        load_models: Function that finds the models for a dataset.

    Returns:
        `out`.

    Raises:
        ConfigError: A name is given twice, a number is out of range, or a model is missing.
        ModelFileError: A model was trained on another dataset or split.
    """
    _check(datasets, limit, seeds)
    # Everything is loaded before anything is run, so that a missing file is reported at once.
    loaded = [load_data(name) for name in datasets]
    subjects = [Subject(dataset, load_models(dataset), limit) for dataset in loaded]
    tick = counter(watch, 2 * sum(len(subject.test) * len(_runs(methods, seeds, out)) for subject in subjects))
    results: dict[str, Any] = {}
    for subject in subjects:
        folder = out / subject.dataset.name
        columns: dict[str, list[Measures]] = {}
        for run in _runs(methods, seeds, folder):
            what = f"{subject.dataset.name}: {run.method.name}, seed {run.seed}"
            done = run.complete(subject, ged_seconds, lambda count, what=what: tick(what, count))
            columns.setdefault(run.method.name, []).append(done)
        results[subject.dataset.name] = {name: _summary(parts) for name, parts in columns.items()}
        results[subject.dataset.name] |= {"real": _real(subject), "models": _models(subject), "data": _data(subject)}
        # The control that changes nothing would be a single point of the figure, at the origin.
        shown = {method.title: columns[method.name] for method in methods if method.explainer is not NoChange}
        draw_tradeoff(subject.dataset.name, shown, out)
    provenance = _provenance(datasets, limit, seeds, ged_seconds)
    _write_tables(results, methods, provenance, out)
    return out


def _check(datasets: Sequence[str], limit: int | None, seeds: Sequence[int]) -> None:
    if not datasets or len(set(datasets)) < len(datasets):
        raise ConfigError(f"The experiment needs one or more datasets, each once; got {list(datasets)}.")
    if limit is not None and limit < 1:
        raise ConfigError(f"`limit` must be at least 1, or None for all test graphs; got {limit}.")
    if not seeds or len(set(seeds)) < len(seeds):
        raise ConfigError(f"`seeds` must be one or more different numbers; got {list(seeds)}.")


def _runs(methods: Iterable[Method], seeds: Sequence[int], folder: Path) -> list[Run]:
    return [Run(method, seed, folder) for method in methods for seed in (seeds if method.repeated else seeds[:1])]


def _summary(parts: list[Measures]) -> Figures:
    answered = share(~torch.cat([part["ged"] for part in parts]).isnan())
    return {"n": len(parts[0]["seconds"]), "seeds": len(parts), "found": number(answered), **summary(parts)}


@torch.no_grad()
def _real(subject: Subject) -> Figures:
    """The same measures for real graphs, as the ceiling for the methods."""
    models, test = subject.models, subject.test
    graph = stack([test.graphs()])
    predicted = predict(models.classifier, test).argmax(1)
    yardstick = subject.yardstick(0.0)

    def agrees(judge: AbstractClassifier) -> float:
        return share(predict(judge, test).argmax(1) == predicted)

    figures = {
        "n": len(test),
        "molecule": float(are_molecules(graph, graph).mean()),
        "plausible": share(plausibility(graph, models.vae) <= yardstick.nll_limit),
        **{name: agrees(judge) for name, judge in yardstick.judges.items()},
    }
    return {name: number(value) for name, value in figures.items()}


def _models(subject: Subject) -> Figures:
    """Figures of the auxiliary models on the whole test split."""
    models, test = subject.models, subject.dataset.part("test")
    vae, classifier = measure_vae(models.vae, test), measure_classifier(models.classifier, test)
    figures = {
        "kl": vae["kl"],
        "reconstruction": vae["neg_elbo"] - vae["kl"],
        **{name: vae[name] for name in ("neg_elbo", "atoms", "edges", "graphs")},
        **measure_published_elbo(models.vae, test),
        "auroc": classifier["auroc"],
        "accuracy": classifier["accuracy"],
        "auroc_judge": measure_classifier(models.judge, test)["auroc"],
        "auroc_trees": measure_classifier(models.trees, test)["auroc"],
    }
    return {name: None if value is None else number(value) for name, value in figures.items()}


def _data(subject: Subject) -> dict[str, int]:
    dataset = subject.dataset
    figures = {"graphs": len(dataset), "max_nodes": dataset.schema.max_nodes}
    figures |= {"node_attributes": dataset.schema.dv, "edge_attributes": dataset.schema.de}
    return figures | {part: len(index) for part, index in dataset.split.items()}


def _provenance(datasets: Sequence[str], limit: int | None, seeds: Sequence[int], ged_seconds: float) -> dict[str, Any]:
    """Command, settings and versions that give the same figures again; neither time nor machine is among them."""
    data = "all" if list(datasets) == list(PAPER_SETS) else ", ".join(datasets)
    words = ["graphflip bench paper --data", data, *(["--limit", str(limit)] if limit else [])]
    if list(seeds) == list(range(len(seeds))):
        words += ["--seeds", str(len(seeds))]
    command = " ".join(words)
    how = {"command": command, "seeds": list(seeds), "limit": limit, "ged_seconds": ged_seconds}
    return how | {"versions": versions()}


def _write_tables(results: dict[str, Any], methods: Sequence[Method], provenance: dict[str, Any], out: Path) -> None:
    source = f"`{provenance['command']}`, seeds {', '.join(map(str, provenance['seeds']))}; "
    source += ", ".join(f"{name} {number}" for name, number in provenance["versions"].items()) + "."
    for table in (result_table(results, methods), dataset_table(results), model_table(results)):
        for suffix, text in (("csv", table.to_csv()), ("md", table.to_markdown(source)), ("tex", table.to_latex())):
            write_atomically(out / f"{table.name}.{suffix}", text.encode())
    content = {"provenance": provenance, **results}
    write_atomically(out / "table.json", (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
