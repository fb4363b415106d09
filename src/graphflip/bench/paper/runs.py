"""One method with one seed on one dataset: explained, measured, kept in two files, and taken up again from them."""

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
    """An explainer with its settings; `repeated` ones are run with every seed, the others with the first."""

    name: str
    title: str
    explainer: type[AbstractExplainer]
    settings: dict[str, Any] = field(default_factory=dict)
    published: str | None = None
    repeated: bool = False

    def build(self, subject: Subject) -> AbstractExplainer:
        """The explainer with those of the dataset's models that it works with."""
        wanted = {part.name for part in fields(self.explainer)}  # pyright: ignore[reportArgumentType]
        partners: dict[str, Any] = {"vae": subject.models.vae, "classifier": subject.models.classifier}
        partners = {name: partner for name, partner in partners.items() if name in wanted}
        if "index" in wanted:
            partners["index"] = subject.index
        return self.explainer(**partners, **self.settings, method=self.name)  # pyright: ignore[reportCallIssue]


WALK = {"steps": 1000, "step_size": 0.05, "regularization": 1.0, "tau": 1.0}
WALK |= {"infer": "gumbel", "optimizer": "adam", "anchor": "origin"}

METHODS = (
    Method("random", "Random", RandomExample, published="random"),
    Method("nearest", "Nearest, aligned", NearestNeighbor, {"aligned": True}),
    Method("nearest_ordered", "Nearest, ordered", NearestNeighbor, {"aligned": False}, "nearest"),
    Method("neighbor_mean", "Mean of 10, aligned", NeighborMean, {"k": 10, "aligned": True}),
    Method("neighbor_mean_ordered", "Mean of 10, ordered", NeighborMean, {"k": 10, "aligned": False}, "neighbor_mean"),
    Method("cgcf", "CGCF", LatentTraversal, WALK, "cgcf", repeated=True),
    Method("no_change", "No change (control)", NoChange),
    Method("reconstruction", "Reconstruction (control)", ReconstructionOnly),
)
"""The paper's methods with the settings of its appendix, and two controls; `published` names the paper's row beside."""


@dataclass(frozen=True)
class Run:
    """A method with a seed, and the folder of its files."""

    method: Method
    seed: int
    folder: Path

    @property
    def files(self) -> RunFiles:
        return RunFiles(self.folder, self.method.name, self.seed)

    def complete(self, subject: Subject, ged_seconds: float, tick: Callable[[int], None]) -> Measures:
        """Explain and measure what was not done before with the same settings, data and models.

        Figures are measured on what the file of counterfactuals says, so that anyone can measure them again. `tick` is
        called with the number of graphs that are explained, and again with the number of those that are measured.
        """
        stored, explained, measured = self.files.stored(), self._explained(subject), _measured(subject, ged_seconds)
        if stored.get("explained") != explained:
            stored = {"explained": explained, "seconds": self._explain(subject, tick)}
            self.files.write(stored)
        else:
            tick(len(subject.test))
        if stored.get("measured") != measured:
            found = list(read_records(self.files.records, subject.dataset.schema))
            seconds = torch.tensor(stored["seconds"])
            yardstick = subject.yardstick(ged_seconds)
            values = measure(found, subject.test.labels, seconds, yardstick, lambda: tick(1))
            stored |= {"measured": measured, "measures": measures_to_json(values)}
            self.files.write(stored)
        else:
            tick(len(subject.test))
        return measures_from_json(stored["measures"])

    def _explain(self, subject: Subject, tick: Callable[[int], None]) -> list[float]:
        """Write the counterfactuals; returns the seconds that each took."""
        explainer, test, seconds = self.method.build(subject), subject.test, []

        def found():
            batches = (test.graphs(slice(at, at + _BATCH)) for at in range(0, len(test), _BATCH))
            for one in explainer.explain_all(batches, ids=test.ids, seed=self.seed):
                seconds.append(one.seconds)
                tick(1)
                yield one

        write_records(self.files.records, found())
        return seconds

    def _explained(self, subject: Subject) -> dict[str, Any]:
        """All that the counterfactuals depend on."""
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
    """All that the measures depend on besides the counterfactuals."""
    return {"ged_seconds": ged_seconds, "judge": subject.digests["judge"], "trees": subject.digests["trees"]}
