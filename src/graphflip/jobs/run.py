"""Jobs: many inputs explained into a folder, shard by shard. Killed at any moment and run again, a job goes on."""

import math
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..data.inputs import InputRow
from ..data.source import Source
from ..errors import JobError
from ..models.storage.lock import folder_lock
from .answers import Order, check, crashed, kit_digest, package_versions, weights_digest
from .engines import AbstractEngine, InProcess, Task
from .export import write_csv, write_records
from .fingerprint import classifier_fingerprint
from .folder import MANIFEST, JobFolder, Manifest, ShardCard, check_folder, digest_of, read_manifest
from .settings import JobSettings
from .tables import joined, to_parquet

RECORDS, UNEXPLAINED = "counterfactuals.jsonl", "unexplained.csv"
_SHOWN = 10


@dataclass(frozen=True)
class JobProgress:
    """Progress of a job. `new` rows were computed in `seconds`, the others by earlier runs."""

    done: int
    total: int
    new: int
    seconds: float
    outcomes: Mapping[str, int]
    stopping: bool = False

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.new / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True)
class JobSummary:
    """Result of a job: `finished`, or stopped on demand.

    `repaired` shards were damaged and computed again; `unexplained` are the first rows without a counterfactual, with
    the reason: all of them are in unexplained.csv.
    """

    folder: Path
    finished: bool
    done: int
    total: int
    outcomes: Mapping[str, int]
    repaired: int
    unexplained: tuple[str, ...] = ()


def run_job(
    source: Source,
    settings: JobSettings,
    out: Path,
    engine: AbstractEngine | None = None,
    shard_size: int | None = None,
    watch: Callable[[JobProgress], None] = lambda _: None,
) -> JobSummary:
    """Explain every row of a source into a folder, or go on with what is there.

    The answers depend on the source, the settings and the models, not on the engine, on kills or on the number of
    runs. SIGINT and SIGTERM let the shards that are being computed finish; a second one ends the process.
    """
    check_folder(out)
    with folder_lock(out), _stop_on_signal() as stopping:
        stamp = source.stamp()
        engine = engine or InProcess()
        size = _stored_size(out) if shard_size is None else shard_size
        manifest = plan(source, settings, size, engine.row_seconds)
        check(settings)  # what is wrong with models or settings is said here, once, and not for every row
        folder = JobFolder.start(out, manifest)
        folder.clean()
        return _Run(source, stamp, folder, engine, watch, stopping).run()


def plan(
    source: Source, settings: JobSettings, shard_size: int | None = None, row_seconds: float = math.inf
) -> Manifest:
    """Describe the job that would be run; reads the whole input once."""
    digest, count = digest_of(source.nonempty())
    source.check_count(count)
    return Manifest(
        settings=settings,
        input=source.name,
        input_sha256=digest,
        rows=count,
        kit_sha256=kit_digest(settings.model),
        fingerprint=classifier_fingerprint(settings, source.rows(), row_seconds),
        seed=settings.query.seed,
        shard_size=shard_size or _shard_size(count),
        versions=package_versions(),
    )


@dataclass
class _Run:
    source: Source
    stamp: tuple
    folder: JobFolder
    engine: AbstractEngine
    watch: Callable[[JobProgress], None]
    stopping: threading.Event
    outcomes: Counter[str] = field(default_factory=Counter)
    open: dict[int, "_OpenShard"] = field(default_factory=dict)
    done: int = 0
    earlier: int = 0
    ahead: int = 0
    repaired: int = 0
    started: float = field(default_factory=time.monotonic)

    def run(self) -> JobSummary:
        manifest = self.folder.manifest
        order = _order(manifest)
        lost: list[Task] = []
        for task, blob, num_rows in self.engine.map(order, self._pending(), self._tick):
            if blob is None:
                lost.append(task)
            else:
                self._write(task, blob, num_rows)
        for task in lost:
            self._write(task, self._row_by_row(order, task), len(task.rows))
        finished = self.done == manifest.rows
        if not finished and not self.stopping.is_set():
            raise self._changed()
        unexplained = self._finish() if finished else ()
        return JobSummary(
            self.folder.path, finished, self.done, manifest.rows, dict(self.outcomes), self.repaired, unexplained
        )

    def _pending(self) -> Iterator[Task]:
        """Shards that are not there yet; those that are count as done."""
        for index, rows in enumerate(_chunks(self.source.rows(), self.folder.manifest.shard_size)):
            if self.stopping.is_set():
                return
            self._check_input()
            card = self.folder.finished(index, rows)
            if card is not None:
                self.earlier += card.rows
                self._count(card)
                continue
            self.repaired += self.folder.shard(index).with_suffix(".json").exists()
            shard = self.open[index] = _OpenShard(rows)
            if begun := self.folder.beginning(index, rows):
                shard.add(*begun)
                self.earlier += shard.num_done
                self.ahead += shard.num_done
            yield Task(index, rows[shard.num_done :])

    def _row_by_row(self, order: Order, task: Task) -> bytes:
        """The answers to rows of which one or more end the process that explains them."""
        if len(task.rows) == 1:
            return to_parquet([crashed(task.rows[0])])
        single = [Task(k, (row,)) for k, row in enumerate(task.rows)]
        found = {done.task.index: done.blob for done in self.engine.map(order, single, lambda: None)}
        return joined([found[one.index] or to_parquet([crashed(one.rows[0])]) for one in single])

    def _write(self, task: Task, blob: bytes, num_rows: int) -> None:
        """Write the answers to the next rows of a shard: the shard if these are the last, else what there is of it."""
        shard = self.open[task.index]
        shard.add(num_rows, blob)
        if shard.num_done < len(shard.rows):
            self.folder.write_beginning(task.index, shard.rows[: shard.num_done], shard.blob)
            return
        del self.open[task.index]
        self.ahead = max(0, self.ahead - len(shard.rows))
        self._count(self.folder.write(task.index, shard.rows, shard.blob))

    def _count(self, card: ShardCard) -> None:
        self.done += card.rows
        self.outcomes.update(card.outcomes)
        self._report()

    def _tick(self) -> None:
        """A row of the shard that is being computed is done; the last one counts when the shard is written."""
        self.ahead += 1
        if self.done + self.ahead < self.folder.manifest.rows:
            self._report()

    def _report(self) -> None:
        seconds, total = time.monotonic() - self.started, self.folder.manifest.rows
        done = self.done + self.ahead
        self.watch(JobProgress(done, total, done - self.earlier, seconds, self.outcomes, self.stopping.is_set()))

    def _check_input(self) -> None:
        stamp = self.source.stamp()
        if stamp != self.stamp:
            if digest_of(self.source.rows())[0] != self.folder.manifest.input_sha256:
                raise self._changed()
            self.stamp = stamp

    def _changed(self) -> JobError:
        return JobError(
            f"{self.source.name}: the input must stay as it is while a job runs; it has changed. Shards that are "
            f"written are whole. Restore the input and run the same command again, or start in another folder."
        )

    def _finish(self) -> tuple[str, ...]:
        """Write what people read; gives the first rows that have no counterfactual, with reasons."""
        folder, shown = self.folder, []

        def unexplained() -> Iterator[dict[str, Any]]:
            for answer in folder.answers():
                if not answer["flipped"]:
                    if len(shown) < _SHOWN:
                        shown.append(f"{answer['id']}: {answer['outcome']}. {answer['note']}")
                    yield answer

        write_records(folder.path / RECORDS, folder.answers())
        write_csv(folder.path / UNEXPLAINED, unexplained())
        folder.close(dict(sorted(self.outcomes.items())), folder.path / RECORDS)
        return tuple(shown)


@dataclass
class _OpenShard:
    """Rows of a shard, and the answers to the first `num_done` of them."""

    rows: tuple[InputRow, ...]
    num_done: int = 0
    blobs: list[bytes] = field(default_factory=list)

    def add(self, num_rows: int, blob: bytes) -> None:
        self.num_done += num_rows
        self.blobs.append(blob)

    @property
    def blob(self) -> bytes:
        """The answers as one Parquet file."""
        self.blobs = self.blobs if len(self.blobs) == 1 else [joined(self.blobs)]
        return self.blobs[0]


def _order(manifest: Manifest) -> Order:
    """The order for workers: what they must know and have, to give the answers of this job."""
    settings = manifest.settings
    weights = None if settings.classifier is None else weights_digest(settings)
    return Order(settings, manifest.kit_sha256, manifest.versions, weights)


def _chunks(rows: Iterable[InputRow], size: int) -> Iterator[tuple[InputRow, ...]]:
    rows = iter(rows)
    while chunk := tuple(islice(rows, size)):
        yield chunk


def _shard_size(rows: int) -> int:
    """Small enough to share the work and to lose little of it, large enough to keep files few."""
    return max(1, min(100, rows // 16), min(1000, rows // 10_000))


def _stored_size(out: Path) -> int | None:
    return read_manifest(out).shard_size if (out / MANIFEST).exists() else None


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """An event that is set by the first SIGINT or SIGTERM; a second one does what it always does."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _) -> None:
        event.set()
        signal.signal(number, signal.SIG_DFL)

    for number in before:
        signal.signal(number, stop)
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
