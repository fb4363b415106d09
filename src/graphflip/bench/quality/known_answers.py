"""The planted set, on which the right answer is known: does the explainer find it?"""

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

    `found`: the graph truly changes its class, with as few edits as that can take. `changed`: it truly changes its
    class. `flip_ratio`: the classifier says so. Counterfactuals and classifier are kept in `out`.
    """
    dataset = planted(NUM_GRAPHS)
    train, graphs = dataset.part("train"), dataset.part(part).subset(slice(limit))
    kit = Kit(NAME, _classifier(dataset, out / "classifier"), Knowledge.mine(train), dataset.classes)
    explainer, results = Explainer(kit), {}
    for prefer in _PREFERENCES:
        found = []
        for (one,) in explainer.explain_each(graphs.graphs(), prefer=prefer, ids=graphs.ids):
            found.append(one)
            tick(1)
        write_records(out / f"{prefer}-seed0.jsonl", found)
        results[prefer] = _figures(found)
    return results


def num_answers(limit: int | None, part: str = "test") -> int:
    """How many graphs `known_answers` explains."""
    return len(_PREFERENCES) * min(len(planted(NUM_GRAPHS).part(part)), limit or NUM_GRAPHS)


def _figures(found: list[Counterfactual]) -> Figures:
    changed = [_changed(one) for one in found]
    least = [yes and len(one.edits) == int(answers(one.factual)) for one, yes in zip(found, changed, strict=True)]
    edits = [len(one.edits) for one in found if one.flipped]
    return {
        "n": len(found),
        "found": number(sum(least) / len(found)),
        "changed": number(sum(changed) / len(found)),
        "flip_ratio": number(sum(one.flipped for one in found) / len(found)),
        "mean_edits": number(sum(edits) / len(edits)) if edits else None,
        "seconds": number(sum(one.seconds for one in found) / len(found)),
    }


def _changed(one: Counterfactual) -> bool:
    after = one.counterfactual
    return after is not None and bool(contains_motif(after)[0] != contains_motif(one.factual)[0])


def _classifier(dataset: GraphDataset, folder: Path) -> AbstractClassifier:
    """The classifier in the folder if it was trained on these very graphs; else it is trained, in half a minute."""
    try:
        trained_on = read_card(folder).data
        if trained_on is not None and trained_on.fingerprint == dataset.fingerprint():
            return load_model(folder, expect=AbstractClassifier)
    except GraphflipError:
        pass
    train_model("classifier", dataset, folder)
    return load_model(folder, expect=AbstractClassifier)
