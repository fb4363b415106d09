"""Summaries of large inputs: single answers and trials are jobs of their own, so that a killed summary goes on."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..data.source import Source, of_graphs
from ..errors import ConfigError, DataError, GraphError, JobError, SchemaError
from ..explain.counterfactual import Counterfactual
from ..explain.query import Query
from ..graph import Graph
from ..models.storage.files import write_atomically
from ..summary.comparison import ModelComparison, compare_models
from ..summary.groups import Group
from ..summary.results.summary import ModelSummary
from ..summary.studies import Study, SummaryOptions, Tries
from ..summary.summarizer import Summarizer
from .answers import explainer_of
from .engines import AbstractEngine
from .export import explained
from .folder import JobFolder, disk_errors, read_manifest
from .run import JobProgress, run_job
from .settings import JobSettings

SUMMARY = "summary.json"
COMPARISON = "comparison.json"


class SummaryStopped(JobError):
    """A summary was stopped on demand; what is done is kept."""


def run_summary(
    source: Source,
    settings: JobSettings,
    out: Path,
    engine: AbstractEngine | None = None,
    options: SummaryOptions | None = None,
    watch: Callable[[JobProgress], None] = lambda _: None,
) -> ModelSummary:
    """Summarize what a classifier goes by on the rows of a source, into a folder, or go on with what is there.

    Single answers for a sample are ordinary jobs in `answers-0`, `answers-1`, ...; recourses are tried on all rows by
    the job in `trials`. Both are streamed, written in shards and computed wherever the engine computes.

    Args:
        source: The graphs; rows that cannot be read are left out.
        settings: The kit, or a classifier in its place, and a target; without one, every class in turn.
        out: Folder of the summary.
        engine: Where to compute; by default in this process.
        options: Settings of the summary.
        watch: Called with the progress of each job.

    Returns:
        The summary, which is also written to `summary.json`.

    Raises:
        SummaryStopped: If it was stopped by SIGINT or SIGTERM.
        JobError: If the folder is that of another summary.
    """
    explainer = explainer_of(settings)
    study = Study.of(explainer, settings.query.target, options)
    work = _Work(source, settings, out, engine, watch)
    summary = Summarizer(study, work.rows, work.answers, work.trials, source.name).run()
    with disk_errors(out):
        write_atomically(out / SUMMARY, json.dumps(summary.to_json(), ensure_ascii=False, indent=1).encode())
    return summary


def group_source(source: Source, settings: JobSettings, group: Group) -> Source:
    """The graphs of a group, which are held in memory; the source itself if the group is all of it.

    Raises:
        ConfigError: If no graph is in the group.
    """
    if group.is_all:
        return source
    rows = _Work(source, settings, Path(), None, lambda _: None).rows()
    kept = group.of(((key, graph) for _, key, graph in rows), explainer_of(settings))
    own = of_graphs([graph for _, graph in kept], [key for key, _ in kept])
    return replace(own, name=f"{source.name}, {group.name}")


def run_comparison(
    source: Source, settings: JobSettings, other: JobSettings, out: Path, options: SummaryOptions | None = None
) -> ModelComparison:
    """Compare two models on the rows of a source, in this process, and write `comparison.json` to a folder."""
    rows = [(key, graph) for _, key, graph in _Work(source, settings, out, None, lambda _: None).rows()]
    names = (settings.classifier or settings.model, other.classifier or other.model)
    compared = compare_models(
        explainer_of(settings),
        explainer_of(other),
        [graph for _, graph in rows],
        settings.query.target,
        names=names,
        ids=[key for key, _ in rows],
        options=options,
    )
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / COMPARISON, json.dumps(compared.to_json(), ensure_ascii=False, indent=1).encode())
    return compared


@dataclass
class _Work:
    source: Source
    settings: JobSettings
    out: Path
    engine: AbstractEngine | None
    watch: Callable[[JobProgress], None]
    num_asked: int = 0

    def rows(self) -> Iterator[tuple[int, str, Graph]]:
        """Numbers, ids and graphs of the rows that can be read."""
        explainer = explainer_of(self.settings)
        for row in self.source.nonempty():
            try:
                graph = explainer.read(row)
            except (DataError, GraphError, SchemaError, ConfigError):
                continue
            yield row.number, row.id, graph

    def answers(self, sample: Sequence[tuple[str, Graph]], target: Any, prefer: Any) -> Iterator[Counterfactual]:
        """Single answers for a sample, as an ordinary job."""
        folder = self.out / f"answers-{self.num_asked}"
        self.num_asked += 1
        if sample:
            query = Query.of(self.settings.query, str(target), prefer=prefer)
            self._run(of_graphs([graph for _, graph in sample], [key for key, _ in sample]), folder, query=query)
            yield from explained(folder)

    def trials(self, study: Study) -> Iterator[tuple[int, Sequence[Tries]]]:
        """Results of the recourses on all rows, as a job whose records hold them."""
        folder = self.out / "trials"
        query = Query.of(self.settings.query, str(study.targets[0]))
        self._run(self.source, folder, study=study.to_text(), query=query)
        for answer in JobFolder(folder, read_manifest(folder)).answers():
            if answer["record"] is not None:
                yield answer["row"], [_read(one) for one in json.loads(answer["record"])]

    def _run(self, source: Source, folder: Path, **changes: Any) -> None:
        settings = self.settings.model_copy(update=changes)
        done = run_job(source, settings, folder, self.engine, watch=self.watch)
        if not done.finished:
            raise SummaryStopped(
                f"{folder}: stopped after {done.done} of {done.total} rows. Give the same command again to go on."
            )


def _read(stored: dict[str, list] | None) -> Tries:
    return None if stored is None else {int(k): (bool(one[0]), one[1], one[2]) for k, one in stored.items()}
