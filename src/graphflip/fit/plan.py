"""Plan of a fit: the models to train, in order of their value, and the epochs that the time budget allows each."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from ..data.dataset import GraphDataset
from ..models.training.loop import seconds_per_epoch
from ..models.training.recipes import recipe
from ..models.training.schedule import TrainConfig

DEFAULT_MINUTES = 5.0
"""Most minutes of processor time that a fit takes unless asked; small sets need less."""

_USUAL_GRAPHS = 3000  # the recipes were made for sets of about this size, with graphs of about this many nodes
_USUAL_NODES = 50
_LEAST_BATCH = 8
_ENOUGH_TO_STOP = 100  # graphs of the validation part from which on it can tell when training should stop
_LEAST_EPOCHS = 8  # a model gets as many before another gets more, if the budget allows
_SECONDS_FOR_ANY, _SECONDS_PER_THOUSAND_NODES = 75.0, 4.0
_LONGEST_OF_SMALL, _SECONDS_PER_GRAPH = 165.0, 0.1  # of up to 1,000 graphs that are not large, and of each more
_TOO_LONG, _LONG = 2.0, 20.0  # one epoch of a judge, which no answer needs, takes too long: by its share, and seconds
_FOR_MEASURING = 0.12  # share of the budget for measuring the kit and for explaining a few graphs
_LONGEST_MEASURING = 25.0


@dataclass(frozen=True)
class KitPart:
    """A model of a kit: its folder, the role and preset of its recipe, and its share of the time for training.

    Trees take the time that they take.
    """

    name: str
    role: str
    preset: str
    share: float

    @property
    def by_gradient(self) -> bool:
        """False for trees, which are not trained in epochs."""
        return self.preset != "trees"


CLASSIFIER = KitPart("classifier", "classifier", "default", 0.24)
SURROGATES = (
    KitPart("surrogate-linear", "surrogate", "linear", 0.05),
    KitPart("surrogate-counts", "surrogate", "counts", 0.07),
    KitPart("surrogate-gin", "surrogate", "gin", 0.13),
    KitPart("surrogate-average", "surrogate", "average", 0.13),
    KitPart("surrogate-gin-deep", "surrogate", "gin-deep", 0.13),
)
VAE = KitPart("vae", "vae", "linear", 0.12)
JUDGES = (KitPart("trees", "judge", "trees", 0.0), KitPart("judge", "judge", "gnn", 0.10))


class PlannedPart(BaseModel):
    """A model that will be trained: its folder, epochs, batch size, patience, and the seconds that this should take.

    `pairs` are the most pairs of nodes that a step works on at once (`TrainConfig`). Without patience, which few
    validation graphs cannot have, all epochs are trained, and the last weights are kept. `left_out` are the seconds of
    one epoch of a judge for which there is no time: it is not trained.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    epochs: int
    batch_size: int
    pairs: int
    patience: int
    seconds: float
    left_out: float = 0.0

    @property
    def effort(self) -> str:
        """Seconds and epochs of training, or why there is none."""
        if self.left_out:
            return f"left out: one epoch would take {_time(self.left_out)}"
        return f"{_time(self.seconds):>7}" + (f"  up to {self.epochs} epochs" if self.epochs else "")

    @property
    def changes(self) -> dict[str, int | str]:
        """Settings of training that differ from the recipe."""
        changes: dict[str, int | str] = {"epochs": self.epochs, "batch_size": self.batch_size, "pairs": self.pairs}
        return changes | {"patience": self.patience, "keep": "best" if self.patience else "last"}


class FitPlan(BaseModel):
    """Models that will be trained, in order, and the time that this should take on this machine.

    Args:
        minutes: Processor minutes that the fit may take in all.
        parts: Models in the order of training.
        measuring: Seconds that are kept for measuring the kit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    minutes: float
    parts: tuple[PlannedPart, ...]
    measuring: float

    @property
    def seconds(self) -> float:
        """Seconds of processor time that the whole should take."""
        return sum(part.seconds for part in self.parts) + self.measuring

    def __str__(self) -> str:
        rows = [f"  {part.name:<20} {part.effort}" for part in self.parts]
        return "\n".join(
            [
                f"About {_time(self.seconds)} of processor time, of {_time(60 * self.minutes)} allowed. "
                "After each line the folder is a kit that works:",
                "  moves and environments: no training",
                *rows,
                f"  {'measuring':<20} {_time(self.measuring):>7}",
            ]
        )


def make_plan(parts: Sequence[KitPart], dataset: GraphDataset, minutes: float | None = None, more: int = 0) -> FitPlan:
    """Measure how fast each model trains here, and divide the time among them.

    Args:
        parts: Models in the order of training.
        dataset: Dataset with a train part.
        minutes: Processor minutes in all; by default what sets of this size need, at most `DEFAULT_MINUTES`.
        more: Graphs that surrogates learn from besides those of the train part.

    Returns:
        The plan. A model that needs less than its share leaves the rest to those after it.
    """
    allowed = 60 * (sensible_minutes(dataset) if minutes is None else minutes)
    measuring = min(_FOR_MEASURING * allowed, _LONGEST_MEASURING)
    left, started = allowed - measuring, time.process_time()
    costs = [_cost(part, dataset, more) for part in parts]
    left -= time.process_time() - started
    left -= sum(cost.seconds for part, cost in zip(parts, costs, strict=True) if not part.by_gradient)
    shares, planned = [part.share if part.by_gradient else 0.0 for part in parts], []
    can_stop = len(dataset.part("validation")) >= _ENOUGH_TO_STOP
    for k, (part, cost) in enumerate(zip(parts, costs, strict=True)):
        given = max(left, 0) * shares[k] / sum(shares[k:]) if shares[k] else 0.0
        planned.append(_planned(part, cost, given, can_stop))
        left -= planned[-1].seconds if part.by_gradient else 0.0
    return FitPlan(minutes=allowed / 60, parts=tuple(planned), measuring=measuring)


def sensible_minutes(dataset: GraphDataset) -> float:
    """Minutes after which more training hardly helps: more for more nodes and graphs, `DEFAULT_MINUTES` at most."""
    enough = _SECONDS_FOR_ANY + _SECONDS_PER_THOUSAND_NODES * int(dataset.num_nodes.sum()) / 1000
    if int(dataset.num_nodes.sum()) <= 2 * _USUAL_NODES * len(dataset):
        enough = min(enough, _LONGEST_OF_SMALL + _SECONDS_PER_GRAPH * max(len(dataset) - 1000, 0))
    return min(enough / 60, DEFAULT_MINUTES)


def schedule(usual: TrainConfig, num_graphs: int, max_nodes: int) -> dict[str, int]:
    """Adapt the epochs and batch size of a recipe to the number of training graphs and the size of the largest.

    Epochs shrink with the square root of the number of graphs, so that training time grows with its square root.
    Batches are smaller if there are few graphs, so that an epoch has enough steps, and if graphs are large, which take
    more steps to learn from. What is worked on at once is as much as a batch of graphs of the usual size.
    """
    often = min(max(math.sqrt(_USUAL_GRAPHS / num_graphs), 0.25), 4.0)
    largest = usual.batch_size * (_USUAL_NODES / max(max_nodes, _USUAL_NODES)) ** 2
    return {
        "epochs": max(round(usual.epochs * often), 1),
        "batch_size": max(round(min(largest, num_graphs / 16)), _LEAST_BATCH),
        "pairs": usual.batch_size * _USUAL_NODES**2,
    }


@dataclass(frozen=True)
class _Cost:
    """Most epochs of a model that are of use, its batch size and pairs at once, and the seconds that an epoch takes."""

    epochs: int
    batch_size: int
    pairs: int
    seconds: float


def _cost(part: KitPart, dataset: GraphDataset, more: int) -> _Cost:
    train = dataset.part("train")
    if not part.by_gradient:
        return _Cost(0, 0, 0, 5.0 + 4e-3 * len(train))
    plan = recipe(part.role, part.preset, dataset)
    graphs = len(train) + (more if part.role == "surrogate" else 0)
    settings = schedule(plan.training, graphs, dataset.schema.max_nodes)
    training = plan.training.model_copy(update=settings)
    seconds = seconds_per_epoch(plan.model, plan.objective, dataset, training) * graphs / len(train)
    return _Cost(settings["epochs"], settings["batch_size"], settings["pairs"], seconds)


def _planned(part: KitPart, cost: _Cost, given: float, can_stop: bool) -> PlannedPart:
    if not part.by_gradient:
        return PlannedPart(name=part.name, epochs=0, batch_size=0, pairs=0, patience=0, seconds=cost.seconds)
    if part.role == "judge" and cost.seconds > max(_TOO_LONG * given, _LONG):
        seconds = max(round(cost.seconds, 1), 0.1)
        return PlannedPart(name=part.name, epochs=0, batch_size=0, pairs=0, patience=0, seconds=0.0, left_out=seconds)
    epochs = max(min(int(given / max(cost.seconds, 1e-6)), cost.epochs), 1)
    patience = max(epochs // 3, _LEAST_EPOCHS) if can_stop else 0
    return PlannedPart(
        name=part.name,
        epochs=epochs,
        batch_size=cost.batch_size,
        pairs=cost.pairs,
        patience=patience,
        seconds=round(epochs * cost.seconds, 1),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
