"""A run: one method with one seed on one dataset, explained, measured and kept in files; not repeated if complete."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from ...explain.latent.baselines import NearestNeighbor, NeighborMean, NoChange, RandomExample, ReconstructionOnly
from ...explain.latent.traversal import LatentTraversal
from ...explain.method import AbstractExplainer
from ...explain.records import read_records, write_records
from ...version import __version__
from ..measure import Measures, measure
from ..storage import RunFiles, measures_from_json, measures_to_json
from .subject import Subject

_BATCH = 64


@dataclass(frozen=True)
class Method:
    """A method of the experiment.

    Args:
        name: Key in files and JSON.
        title: Name in tables.
        explainer: Class of the explainer.
        settings: Its settings.
        published: Key of the row of the paper's table to print beside it.
        repeated: True if it is run with every seed; else it is run with the first.
    """

    name: str
    title: str
    explainer: type[AbstractExplainer]
    settings: dict[str, Any] = field(default_factory=dict)
    published: str | None = None
    repeated: bool = False

    def build(self, subject: Subject) -> AbstractExplainer:
        """Make the explainer with the models of a dataset that it needs."""
        wanted = {part.name for part in fields(self.explainer)}  # pyright: ignore[reportArgumentType]
        partners: dict[str, Any] = {"vae": subject.models.vae, "classifier": subject.models.classifier}
        partners = {name: partner for name, partner in partners.items() if name in wanted}
        if "index" in wanted:
            partners["index"] = subject.index
        return self.explainer(**partners, **self.settings, method=self.name)  # pyright: ignore[reportCallIssue]


WALK = {"steps": 1000, "step_size": 0.05, "regularization": 1.0, "tau": 1.0}
WALK |= {"infer": "gumbel", "optimizer": "adam", "anchor": "origin"}
SURE = WALK | {"stop": "confident", "confidence": 0.95}

METHODS = (
    Method("random", "Random", RandomExample, published="random"),
    Method("nearest", "Nearest, aligned", NearestNeighbor, {"aligned": True}),
    Method("nearest_ordered", "Nearest, ordered", NearestNeighbor, {"aligned": False}, "nearest"),
    Method("neighbor_mean", "Mean of 10, aligned", NeighborMean, {"k": 10, "aligned": True}),
    Method("neighbor_mean_ordered", "Mean of 10, ordered", NeighborMean, {"k": 10, "aligned": False}, "neighbor_mean"),
    Method("cgcf", "CGCF", LatentTraversal, WALK, "cgcf", repeated=True),
    Method("cgcf_confident", "CGCF, until 0.95 sure", LatentTraversal, SURE, "cgcf"),
    Method("no_change", "No change (control)", NoChange),
    Method("reconstruction", "Reconstruction (control)", ReconstructionOnly),
)
"""The paper's methods with the settings of its appendix, the walk that goes on past the boundary, and two controls."""


@dataclass(frozen=True)
class Run:
    """A method, a seed, and the folder for their files."""

    method: Method
    seed: int
    folder: Path

    @property
    def files(self) -> RunFiles:
        """The two files of the run."""
        return RunFiles(self.folder, self.method.name, self.seed)

    def complete(self, subject: Subject, ged_seconds: float, tick: Callable[[int], None]) -> Measures:
        """Explain and measure, as far as this was not done before with the same settings, data and models.

        Measures are taken from the file of counterfactuals, so that anyone can repeat them. `tick` is called with the
        number of graphs that were explained, and again with the number of graphs that were measured.
        """
        stored, explained, measured = self.files.stored(), self._explained(subject), _measured(subject, ged_seconds)
        if stored.get("explained") != explained:
            stored = {"explained": explained, "seconds": self._explain(subject, tick)}
            self.files.write(stored)
        else:
            tick(len(subject.test))
        if stored.get("measured") != measured:
            answers = list(read_records(self.files.records, subject.dataset.schema))
            seconds = torch.tensor(stored["seconds"])
            yardstick = subject.yardstick(ged_seconds)
            values = measure(answers, subject.test.labels, seconds, yardstick, lambda: tick(1))
            stored |= {"measured": measured, "measures": measures_to_json(values)}
            self.files.write(stored)
        else:
            tick(len(subject.test))
        return measures_from_json(stored["measures"])

    def _explain(self, subject: Subject, tick: Callable[[int], None]) -> list[float]:
        """Write the counterfactuals, and return the seconds that each took."""
        explainer, test, seconds = self.method.build(subject), subject.test, []

        def answers():
            batches = (test.graphs(slice(at, at + _BATCH)) for at in range(0, len(test), _BATCH))
            for answer in explainer.explain_all(batches, ids=test.ids, seed=self.seed):
                seconds.append(answer.seconds)
                tick(1)
                yield answer

        write_records(self.files.records, answers())
        return seconds

    def _explained(self, subject: Subject) -> dict[str, Any]:
        """Everything that the counterfactuals depend on."""
        names = ("data", "vae", "classifier")
        return {
            "version": __version__,
            "method": self.method.name,
            "settings": self.method.settings,
            "seed": self.seed,
            "graphs": len(subject.test),
            **{name: subject.digests[name] for name in names},
        }


def _measured(subject: Subject, ged_seconds: float) -> dict[str, Any]:
    """Everything that the measures depend on besides the counterfactuals."""
    return {"ged_seconds": ged_seconds, "judge": subject.digests["judge"], "trees": subject.digests["trees"]}
