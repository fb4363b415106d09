"""Tables: rows of a file, explained one after the other, behind all single questions; they can be stopped and go on."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .news import News
from .queue import Job, JobQueue

TableState = Literal["running", "stopped", "done"]


@dataclass(eq=False)
class TableRow:
    """An entry of a file: an input or what is wrong with it, and the job that explains it.

    `version` is that of the table at the row's last change.
    """

    id: str
    input: dict[str, Any] | None
    problem: str | None = None
    job: Job | None = None
    version: int = 0

    @property
    def is_open(self) -> bool:
        """True if the row has an input and no answer yet."""
        return self.problem is None and (self.job is None or self.job.state in ("waiting", "running", "cancelled"))


@dataclass(eq=False)
class ExplainedTable:
    """The entries of a file with one question about each of them."""

    name: str
    task: dict[str, Any]
    rows: list[TableRow]
    owner: str = ""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: TableState = "stopped"
    news: News = field(default_factory=News)
    on_row: "Callable[[ExplainedTable, int], None] | None" = None
    _running: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """True if no row is being computed."""
        return self.state != "running"

    @property
    def num_bytes(self) -> int:
        """Size of the questions and answers, as JSON."""
        return sum(row.job.num_bytes for row in self.rows if row.job is not None)

    def start(self, queue: JobQueue) -> None:
        """Explain all rows that have no answer yet, one after the other; does nothing if that is being done."""
        if self.ended and any(row.is_open for row in self.rows):
            self._tell(state="running")
            self._running = asyncio.create_task(self._run(queue))

    def stop(self, queue: JobQueue) -> None:
        """Stop explaining rows; what has been found stays."""
        if self._running is not None and self.state == "running":
            self._running.cancel()
            self._tell(state="stopped")
            for row in self.rows:
                if row.job is not None and not row.job.ended:
                    queue.cancel(row.job)

    async def _run(self, queue: JobQueue) -> None:
        """Explain the open rows, as many at a time as leave half of the workers to single questions."""
        waiting = iter([row for row in self.rows if row.is_open])

        async def take_rows() -> None:
            for row in waiting:
                row.job = Job(self.task | {"input": row.input, "id": row.id}, f"{self.owner}/table", behind=True)
                queue.submit(row.job)
                self._tell(row)
                await row.job.finished()
                self._tell(row)
                if self.on_row is not None and row.job.state != "cancelled":
                    self.on_row(self, self.rows.index(row))

        await asyncio.gather(*(take_rows() for _ in range(max(1, len(queue.workers) // 2))))
        self._tell(state="done")

    def _tell(self, row: TableRow | None = None, state: TableState | None = None) -> None:
        """Note a change of a row or of the state, and wake everybody who waits for one."""
        self.state = state or self.state
        if row is not None:
            row.version = self.news.version + 1
        self.news.tell()

    def to_json(self) -> dict[str, Any]:
        """The table as JSON, without the answers, which are kept row by row."""
        rows = [{"id": row.id, "input": row.input, "problem": row.problem} for row in self.rows]
        return {"id": self.id, "name": self.name, "task": self.task, "rows": rows}

    @classmethod
    def from_json(cls, stored: dict[str, Any], jobs: Mapping[int, dict[str, Any]], owner: str) -> "ExplainedTable":
        """A table that was kept, with the jobs of its rows by number; what was not finished then can go on."""
        rows = [TableRow(row["id"], row["input"], row["problem"]) for row in stored["rows"]]
        for number, job in jobs.items():
            rows[number].job = Job.from_json(job, owner)
        state: TableState = "stopped" if any(row.is_open for row in rows) else "done"
        return cls(stored["name"], stored["task"], rows, owner, stored["id"], state)
