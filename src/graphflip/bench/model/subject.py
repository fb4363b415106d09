"""SummarySubject: a dataset and its classifier, with the graphs that are predicted as the undesired class."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from ...data.dataset import GraphDataset
from ...data.source import load_dataset
from ...explain.counterfactual import Counterfactual
from ...explain.explainer import Explainer, load
from ...graph import Graph
from ...summary.figures import SeenInput, Tried
from ...summary.studies import Study, SummaryOptions, Tries
from ...summary.summarizer import Summarizer

DESIRED = {"aids": "active", "mutagenicity": "nonmutagen", "nci1": "active", "planted": "no motif"}
"""The class that predictions are to become, as GCFExplainer has it."""

_BATCH = 128


@dataclass(frozen=True, eq=False)
class SummarySubject:
    """A dataset by name, the desired class, and settings.

    Args:
        name: Name of a dataset with a kit that the package carries.
        options: Settings of the summary.
        limit: Largest number of graphs, for a quick look; None for all.
        every: 1 for all inputs, 3 for every third of them.
    """

    name: str
    options: SummaryOptions
    limit: int | None = None
    every: int = 1

    @cached_property
    def dataset(self) -> GraphDataset:
        return load_dataset(self.name)

    @cached_property
    def explainer(self) -> Explainer:
        return load(self.name)

    @cached_property
    def rows(self) -> list[tuple[int, str, Graph]]:
        """Graphs that are predicted as the undesired class; test graphs have odd places, the others even ones."""
        rows = []
        for part in ("train", "validation", "test"):
            graphs = self.dataset.part(part)
            for k, undesired in enumerate(self._undesired(part)):
                if undesired:
                    rows.append((2 * len(rows) + (part == "test"), graphs.ids[k], graphs.graphs([k])))
        return rows[:: self.every]

    @cached_property
    def desired(self) -> list[Graph]:
        """Graphs of the train part that are predicted as the desired class."""
        train = self.dataset.part("train")
        return [train.graphs([k]) for k, undesired in enumerate(self._undesired("train")) if not undesired]

    @torch.no_grad()
    def _undesired(self, part: str) -> list[bool]:
        """For each graph of a part, up to the limit, True if it is predicted as another class than the desired one."""
        study, graphs = Study.of(self.explainer, DESIRED[self.name], self.options), self.dataset.part(part)
        count, found = min(len(graphs), self.limit or len(graphs)), []
        for start in range(0, count, _BATCH):
            outputs = self.explainer.kit.classifier(graphs.graphs(range(start, min(start + _BATCH, count))))
            found += [study.goal(0, row) is not None for row in outputs.tolist()]
        return found


class Timer:
    """Processor seconds of the steps of a run, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def stop(self, name: str) -> None:
        """Add the time since the last call to a step."""
        now = time.process_time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    @property
    def rounded(self) -> dict[str, float]:
        """Seconds to one place."""
        return {step: round(seconds, 1) for step, seconds in self.seconds.items()}


@dataclass(eq=False)
class SubjectTrials:
    """Recourses of a subject tried on all of its graphs.

    Args:
        study: The study with its recourses.
        tried: Results.
        answers: Single answers that were asked for a sample.
        timer: Times of the steps.
        growth: Pairs of a number of graphs and the processor seconds after which they were tried.
    """

    study: Study
    tried: Tried
    answers: list[Counterfactual]
    timer: Timer
    growth: list[tuple[int, float]]


def run_trial(subject: SummarySubject) -> SubjectTrials:
    """Find recourses on the train part, and try them on all graphs."""
    timer, kept, growth = Timer(), list[Counterfactual](), list[tuple[int, float]]()
    rows = subject.rows
    timer.stop("predictions")

    def answers(sample: Sequence[tuple[str, Graph]], target: Any, prefer: Any) -> Iterator[Counterfactual]:
        names, asked = [key for key, _ in sample], [graph for _, graph in sample]
        for several in subject.explainer.explain_each(asked, target, prefer=prefer, ids=names):
            kept.append(several[0])
            yield several[0]
        timer.stop("single answers")

    def trials(full: Study) -> Iterator[tuple[int, Sequence[Tries]]]:
        timer.stop("shortlist")
        start = time.process_time()
        for k, (at, _, graph) in enumerate(rows, 1):
            yield at, full.results(graph)
            if k % max(1, len(rows) // 8) == 0:
                growth.append((k, round(time.process_time() - start, 2)))
        timer.stop("trials")

    study = Study.of(subject.explainer, DESIRED[subject.name], subject.options)
    summarizer = Summarizer(study, lambda: rows, answers, trials, subject.name, lambda one: one.place % 2 == 1)
    inputs = [SeenInput(at, key, study.look(graph)) for at, key, graph in rows]
    full, (tried,) = summarizer.tries(inputs)
    return SubjectTrials(full, tried, kept, timer, growth)
