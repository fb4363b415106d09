"""Sets of the field: the paper's three, sets with known answers that the package makes, and files of the user."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from ...data.dataset import GraphDataset
from ...data.planted import classes, motif, relays, shapes
from ...data.source import load_dataset
from ...explain.counterfactual import Counterfactual
from ...explain.kit import Kit, load_kit, packaged_kits
from ...fit.kit import MANIFEST, fit_kit
from ...fit.readiness import READINESS
from ...graph import Graph

MINUTES = 1.0
"""Processor minutes to fit the models of a set that comes without a kit."""


@dataclass(frozen=True)
class Truth:
    """Rule that decides the class, and the fewest edits to another one.

    Args:
        true_class: Class of hard graphs by the rule.
        fewest: Fewest edits that lead to a class, by graph and class.
    """

    true_class: Callable[[Graph], Int[Tensor, " b"]]
    fewest: Callable[[Graph, int], Int[Tensor, " b"]]

    def found(self, answer: Counterfactual) -> bool:
        """True if the true class becomes the target, with the fewest possible edits."""
        after, target = answer.counterfactual, answer.target
        if after is None or not isinstance(target, int) or int(self.true_class(answer.factual)) == target:
            return False
        changed = int(self.true_class(after)) == target
        return changed and len(answer.edits) == int(self.fewest(answer.factual, target))


@dataclass(frozen=True)
class MadeSet:
    """A set that the package makes: a function that draws it, and its truth."""

    draw: Callable[[], GraphDataset]
    truth: Truth


MADE = {
    "planted": MadeSet(
        motif.planted,
        Truth(lambda graph: motif.contains_motif(graph).long(), lambda graph, target: motif.answers(graph)),
    ),
    "classes": MadeSet(classes.planted_classes, Truth(classes.true_class, classes.answers)),
    "relays": MadeSet(relays.planted_relays, Truth(relays.true_class, lambda graph, target: relays.answers(graph))),
    "tree_cycles": MadeSet(
        shapes.tree_cycles,
        Truth(lambda graph: shapes.has_rings(graph).long(), lambda graph, target: shapes.ring_answers(graph)),
    ),
    "ba_shapes": MadeSet(
        shapes.ba_shapes,
        Truth(lambda graph: shapes.has_house(graph).long(), lambda graph, target: shapes.house_answers(graph)),
    ),
}
"""Sets with known answers, by name."""


def set_name(spec: str) -> str:
    """Name of a set in tables and folders: its own, or that of the file or folder without its ending."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", Path(spec).stem if spec.lower() not in packaged_kits() else spec.lower())


@lru_cache(maxsize=4)
def load_set(spec: str, out: Path) -> tuple[GraphDataset, Kit]:
    """Load a set with the kit that judges are taken from; a kit that does not exist yet is fitted in `out`.

    Args:
        spec: Name of a set, or a path.
        out: Folder of the benchmark; kits are kept in `kits`.
    """
    name = set_name(spec)
    if name in packaged_kits() and name not in MADE:
        return load_dataset(spec), load_kit(name)
    dataset = MADE[name].draw() if name in MADE else load_dataset(spec)
    dataset = dataset if dataset.split else dataset.split_randomly()
    folder = out / "kits" / name
    if not (folder / READINESS).is_file():
        fit_kit(dataset, folder, minutes=MINUTES, resume=(folder / MANIFEST).is_file())
    return dataset, load_kit(folder)


def truth_of(spec: str) -> Truth | None:
    """The rule behind a set, where it is known."""
    made = MADE.get(set_name(spec))
    return None if made is None else made.truth


def found_answers(truth: Truth, answers: list[Counterfactual]) -> Tensor:
    """1 for each answer that is the known one, or as small, else 0."""
    return torch.tensor([float(answer.flipped and truth.found(answer)) for answer in answers])
