"""How ready a kit is: what its models can do, measured on the test part, and what to expect of explanations."""

import math
import time
from pathlib import Path

import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from ..data.dataset import GraphDataset
from ..edits import heavy_edits
from ..explain.assess import nll_per_node
from ..explain.counterfactual import Counterfactual
from ..explain.edits.beam import Round
from ..explain.explainer import Explainer
from ..explain.goals.values import Shift
from ..explain.kit import load_kit
from ..explain.knowledge import KNOWLEDGE, Knowledge
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.pegvae import PEGVAE
from ..models.storage.store import CARD, load_model, read_card
from ..models.training.evaluate import measure_classifier, measure_regressor, predict, r_squared, spread_of

READINESS = "readiness.json"
_REBUILT = ("atoms", "edges", "graphs", "graphs_at_once")
_TRIED, _SECONDS = 12, 60.0


class Trial(BaseModel):
    """What came of explaining a few test graphs; means are of what was flipped, and per graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    graphs: int
    flipped: float
    mean_edits: float | None
    seconds: float


class Readiness(BaseModel):
    """Figures of a kit on the test part of its data, and `expect`: what they mean, in sentences.

    `reconstruction`: shares of nodes, edges and whole graphs that the autoencoder rebuilds. `plausible_limit`: what 99
    % of real graphs do not exceed, in nats per node; `plausible_share`: share of test graphs that do not. `auroc` is of
    models that predict a class, `r2` (share of the variance of labels that is explained) of those that predict a value.
    `agreement`: share of test graphs to which a surrogate gives the classifier's class, or share of the variance of the
    classifier's values that it explains. `trial` is missing where the kit has no classifier.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    parts: dict[str, int]
    classes: dict[str, int]
    max_nodes: int
    reconstruction: dict[str, float]
    plausible_limit: float
    plausible_share: float
    auroc: dict[str, float] = {}
    r2: dict[str, float] = {}
    agreement: dict[str, float] = {}
    trial: Trial | None = None
    labels_given: bool = True
    expect: tuple[str, ...] = ()

    def __str__(self) -> str:
        sizes = ", ".join(f"{count} {part}" for part, count in self.parts.items())
        members = ", ".join(f"{name} {count}" for name, count in self.classes.items())
        labels = f"classes in train: {members}" if members else "labels are values" if self.r2 else "no labels"
        rows = {
            "graphs": f"{sizes}; {labels}; up to {self.max_nodes} nodes",
            "rebuilt": _figures(self.reconstruction),
            "plausible": f"up to {self.plausible_limit:.2f} nats per node; {self.plausible_share:.0%} of test graphs",
            "AUROC": _figures(self.auroc) or ("" if self.r2 else "not measured"),
            "R²": _figures(self.r2),
            "agreement": _figures(self.agreement),
        }
        lines = [f"{what:<10} {text}" for what, text in rows.items() if text]
        return "\n".join([f"{self.name}: what the kit can do, on the test part", *lines, "", *self.expect])


def measure_readiness(
    folder: Path, dataset: GraphDataset, own: AbstractClassifier | None, labels_given: bool = True
) -> Readiness:
    """Measure the models in a kit's folder; `own` is the user's classifier, `labels_given` whether data had labels."""
    test, train = dataset.part("test"), dataset.part("train")
    figures = {path.parent.name: read_card(path.parent).figures for path in sorted(folder.glob(f"*/{CARD}"))}
    if own is not None and labels_given:
        measure = measure_classifier if dataset.classes else measure_regressor
        figures = {"classifier": measure(own, test), **figures}
    limit = Knowledge.load(folder / KNOWLEDGE, dataset.schema).nll_limit or 0.0
    readiness = Readiness(
        name=dataset.name,
        parts={part: len(index) for part, index in dataset.split.items()},
        classes={name: int((train.labels == k).sum()) for k, name in enumerate(dataset.classes)},
        max_nodes=dataset.schema.max_nodes,
        reconstruction={key: figures["vae"][key] for key in _REBUILT},
        plausible_limit=limit,
        plausible_share=_plausible_share(load_model(folder / "vae", expect=PEGVAE), test, limit),
        auroc=_of_each("auroc", figures),
        r2=_of_each("r2", figures),
        labels_given=labels_given,
    )
    if own is not None or (folder / "classifier" / CARD).is_file():
        explainer = Explainer(load_kit(folder, own))
        agreement = _agreement(folder, test, predict(explainer.kit.classifier, test))
        trial = _try(explainer, test)
        readiness = readiness.model_copy(update={"agreement": agreement, "trial": trial})
    return readiness.model_copy(update={"expect": tuple(_expect(readiness))})


def _of_each(figure: str, figures: dict[str, dict[str, float]]) -> dict[str, float]:
    """One figure of every model that has it; it may be no number where a class is missing."""
    found = {name: values[figure] for name, values in figures.items() if figure in values}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _plausible_share(vae: PEGVAE, real: GraphDataset, limit: float) -> float:
    nll = torch.cat([nll_per_node(vae, batch.graph) for batch in real.batches(64)])
    return float((nll <= limit).float().mean())


def _agreement(folder: Path, test: GraphDataset, answers: Float[Tensor, "g c"]) -> dict[str, float]:
    surrogates = {path.parent.name: path.parent for path in sorted(folder.glob(f"surrogate-*/{CARD}"))}
    said = {name: predict(load_model(path), test) for name, path in surrogates.items()}
    if answers.shape[1] == 1:
        return {name: r_squared(values[:, 0], answers[:, 0]) for name, values in said.items()}
    return {name: float((row.argmax(-1) == answers.argmax(-1)).float().mean()) for name, row in said.items()}


def _try(explainer: Explainer, test: GraphDataset) -> Trial:
    """Explain the first test graphs, as many as a minute allows; one that takes longer by itself is not flipped.

    Values are to be raised and lowered, in turn, by half a standard deviation.
    """
    started, flipped, edits = time.monotonic(), [], []
    for k in range(min(_TRIED, len(test))):
        target = None if test.classes else Shift(spread_of(test.labels) * (0.5 if k % 2 else -0.5))
        found = _explained(explainer, test.graphs([k]), target, until=started + _SECONDS)
        flipped.append(found is not None and found.flipped)
        if found is not None and found.flipped:
            edits.append(len(heavy_edits(found.factual, found.edits)))
        if time.monotonic() > started + _SECONDS:
            break
    return Trial(
        graphs=len(flipped),
        flipped=sum(flipped) / len(flipped),
        mean_edits=sum(edits) / len(edits) if edits else None,
        seconds=(time.monotonic() - started) / len(flipped),
    )


class _TimeIsUp(Exception):
    pass


def _explained(explainer: Explainer, graph: Graph, target: Shift | None, until: float) -> Counterfactual | None:
    def watch(_: Round) -> None:
        if time.monotonic() > until:
            raise _TimeIsUp

    try:
        return explainer.explain(graph, target, watch=watch)
    except _TimeIsUp:
        return None


def _expect(found: Readiness) -> list[str]:
    """What the figures mean for whoever is going to use the kit."""
    concerns = [*_about_data(found), *_about_models(found)]
    if found.trial is not None:
        concerns += _about_trial(found.trial)
    else:
        concerns.append("The kit has no classifier: give yours with `graphflip.load(folder, classifier=…)`.")
    return concerns


def _about_data(found: Readiness) -> list[str]:
    said = []
    if found.parts["train"] < 500:
        said.append(
            f"There are only {found.parts['train']} graphs to learn from: little occurs often enough to be known, so "
            'fewer changes count as believable. Look at `prefer="minimal"` too; a few thousand graphs are better.'
        )
    few = [f"`{name}` ({count})" for name, count in found.classes.items() if count < 50]
    if few:
        said.append(f"Few graphs to learn from in class {', '.join(few)}: what the models say of it is a guess.")
    if found.parts["test"] < 50:
        said.append(f"The figures are of {found.parts['test']} test graphs: they are rough.")
    if not found.labels_given:
        said.append("The data have no such labels: all models learned the classifier's answers, judges too.")
    if len(found.classes) > 2 or found.r2:
        said.append("There is no judge of trees: they are for two classes.")
    return said


def _about_models(found: Readiness) -> list[str]:
    said = []
    if found.reconstruction["atoms"] < 0.98 or found.reconstruction["edges"] < 0.95:
        said.append(
            f"The autoencoder rebuilds {found.reconstruction['atoms']:.0%} of nodes and "
            f"{found.reconstruction['edges']:.0%} of edges: latent paths and `plausible` are rough. Fit with "
            "--epochs-scale 2, or give more graphs; the search itself does not need it."
        )
    for figure, least, values in (("AUROC", 0.7, found.auroc), ("R²", 0.5, found.r2)):
        weak = [f"{name} ({value:.2f})" for name, value in values.items() if value < least]
        if weak:
            said.append(
                f"{figure} below {least:.2f}: {', '.join(weak)}. A model that hardly knows the labels says little of a "
                "change: check them, give more graphs, or remove the folder of a surrogate or judge."
            )
    apart = [f"{name} ({share:.0%})" for name, share in found.agreement.items() if share < 0.7]
    if apart:
        said.append(
            f"Seldom of the classifier's opinion: {', '.join(apart)}. Believable changes are harder to find; remove "
            "the folders of these surrogates if searches find none."
        )
    return said


def _about_trial(trial: Trial) -> list[str]:
    edits = "" if trial.mean_edits is None else f", with {trial.mean_edits:.1f} edits on average"
    said = [
        f"Of {trial.graphs} test graphs that were explained, {trial.flipped:.0%} were flipped{edits}, "
        f"in {trial.seconds:.1f} s each."
    ]
    if trial.flipped < 0.8:
        said.append('Where nothing is found: `prefer="minimal"` asks the classifier alone.')
    return said


def _figures(figures: dict[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items())
