"""Comparison with known answers: on the planted set, the smallest change of the true class is known."""

from collections.abc import Callable
from pathlib import Path

from ...data.dataset import GraphDataset
from ...data.planted.motif import answers, contains_motif, planted
from ...errors import GraphflipError
from ...explain.counterfactual import Counterfactual
from ...explain.explainer import Explainer
from ...explain.kit import Kit
from ...explain.knowledge import Knowledge
from ...explain.records import write_records
from ...models.networks.classifier import AbstractClassifier
from ...models.storage.store import load_model, read_card
from ...models.training.train import train_model
from ..summary import Figures, number

NAME = "planted"
_PREFERENCES = ("minimal", "balanced")
NUM_GRAPHS = 2000


def known_answers(
    out: Path, limit: int | None = None, part: str = "test", tick: Callable[[int], None] = lambda _: None
) -> dict[str, Figures]:
    """Train a classifier on the planted set, explain a part of it, and compare with the rule that decides the class.

    Figures are shares of the graphs. `found`: the true class changes, with the fewest possible edits. `changed`: the
    true class changes. `flip_ratio`: the classifier's prediction changes. Counterfactuals and classifier are kept in
    the folder `out`.
    """
    dataset = planted(NUM_GRAPHS)
    train, graphs = dataset.part("train"), dataset.part(part).subset(slice(limit))
    kit = Kit(NAME, _classifier(dataset, out / "classifier"), Knowledge.mine(train), dataset.classes)
    explainer, results = Explainer(kit), {}
    for prefer in _PREFERENCES:
        counterfactuals = []
        for (counterfactual,) in explainer.explain_each(graphs.graphs(), prefer=prefer, ids=graphs.ids):
            counterfactuals.append(counterfactual)
            tick(1)
        write_records(out / f"{prefer}-seed0.jsonl", counterfactuals)
        results[prefer] = _figures(counterfactuals)
    return results


def num_answers(limit: int | None, part: str = "test") -> int:
    """Number of counterfactuals that `known_answers` makes."""
    return len(_PREFERENCES) * min(len(planted(NUM_GRAPHS).part(part)), limit or NUM_GRAPHS)


def _figures(counterfactuals: list[Counterfactual]) -> Figures:
    total, changed = len(counterfactuals), [_changes_class(item) for item in counterfactuals]
    pairs = zip(counterfactuals, changed, strict=True)
    smallest = [yes and len(item.edits) == int(answers(item.factual)) for item, yes in pairs]
    edits = [len(item.edits) for item in counterfactuals if item.flipped]
    return {
        "n": total,
        "found": number(sum(smallest) / total),
        "changed": number(sum(changed) / total),
        "flip_ratio": number(sum(item.flipped for item in counterfactuals) / total),
        "mean_edits": number(sum(edits) / len(edits)) if edits else None,
        "seconds": number(sum(item.seconds for item in counterfactuals) / total),
    }


def _changes_class(counterfactual: Counterfactual) -> bool:
    """True if the true class, by the rule of the planted set, is another one."""
    after = counterfactual.counterfactual
    return after is not None and bool(contains_motif(after)[0] != contains_motif(counterfactual.factual)[0])


def _classifier(dataset: GraphDataset, folder: Path) -> AbstractClassifier:
    """Load the classifier in the folder if it was trained on these graphs; else train it, which takes half a minute."""
    try:
        trained_on = read_card(folder).data
        if trained_on is not None and trained_on.fingerprint == dataset.fingerprint():
            return load_model(folder, expect=AbstractClassifier)
    except GraphflipError:
        pass
    train_model("classifier", dataset, folder)
    return load_model(folder, expect=AbstractClassifier)
