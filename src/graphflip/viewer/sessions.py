"""Sessions: each browser sees its own jobs and tables and nobody else's."""

import secrets
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Any

from .queue import Job
from .store import SessionStore
from .tables import ExplainedTable


@dataclass
class Session:
    """The jobs and tables of one browser, oldest first, and the store that keeps them for the next start."""

    token: str
    store: SessionStore
    client: str = ""
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    tables: OrderedDict[str, ExplainedTable] = field(default_factory=OrderedDict)

    @property
    def num_bytes(self) -> int:
        """Size of what the session keeps."""
        return sum(one.num_bytes for one in (*self.jobs.values(), *self.tables.values()))

    @property
    def num_active(self) -> int:
        """Number of jobs that are waiting or running, and of tables that are computed."""
        return sum(not one.ended for one in (*self.jobs.values(), *self.tables.values()))

    def find(self, job: str) -> Job | None:
        """A job by its id: a question, or a row of a table."""
        rows = (row.job for table in self.tables.values() for row in table.rows)
        return self.jobs.get(job) or next((one for one in rows if one is not None and one.id == job), None)

    def same_question(self, task: dict[str, Any]) -> Job | None:
        """The newest job with the same question that is open or has an answer."""
        asked = _question(task)
        jobs = [
            job for job in self.jobs.values() if not job.is_preliminary and job.state in ("waiting", "running", "done")
        ]
        return next((job for job in reversed(jobs) if job.task.get("input") and _question(job.task) == asked), None)

    def add(self, job: Job, max_jobs: int, max_bytes: int) -> None:
        """Add a job. While there are more than `max_jobs`, or `max_bytes`, the oldest that has ended is dropped."""
        self.jobs[job.id] = job
        job.on_end = self.save_job
        self.save_job(job)
        self.trim(max_jobs, max_bytes)

    def add_table(self, table: ExplainedTable, max_jobs: int, max_bytes: int) -> None:
        """Add a table, under the same limit on bytes."""
        self.tables[table.id] = table
        table.on_row = self.save_row
        self.store.save(self.token, f"table-{table.id}", table.to_json())
        self.trim(max_jobs, max_bytes)

    def save_job(self, job: Job) -> None:
        """Keep a job for the next start."""
        self.store.save(self.token, f"job-{job.id}", job.to_json())

    def save_row(self, table: ExplainedTable, number: int) -> None:
        """Keep the answers to a row of a table for the next start."""
        job = table.rows[number].job
        if job is not None:
            self.store.save(self.token, f"row-{table.id}.{number}", job.to_json())

    def trim(self, max_jobs: int, max_bytes: int) -> None:
        """Drop the oldest jobs and tables that have ended, but the newest of each, until the limits hold."""
        for kind, kept in (("job", self.jobs), ("table", self.tables)):
            for old in [other for other in list(kept.values())[:-1] if other.ended]:
                if len(self.jobs) <= max_jobs and self.num_bytes <= max_bytes:
                    return
                del kept[old.id]
                self.store.forget(self.token, f"{kind}-{old.id}", f"row-{old.id}.*")

    def restore(self) -> "Session":
        """Fill the session with what the store has kept of it."""
        kept = dict(self.store.load(self.token))
        for name, stored in kept.items():
            if name.startswith("job-"):
                job = Job.from_json(stored, self.token)
                self.jobs[job.id], job.on_end = job, self.save_job
            elif name.startswith("table-"):
                begin = f"row-{stored['id']}."
                rows = {int(row.removeprefix(begin)): job for row, job in kept.items() if row.startswith(begin)}
                table = ExplainedTable.from_json(stored, rows, self.token)
                self.tables[table.id], table.on_row = table, self.save_row
        return self


class Sessions:
    """All sessions, in memory. If there are more than `limit`, or bytes, idle ones without open jobs are dropped.

    Of the client that has most of them the one goes first that has been idle for longest: whoever makes many sessions
    loses their own. A session that the store has kept is found again.
    """

    def __init__(self, limit: int, max_bytes: int, store: SessionStore):
        self.limit, self.max_bytes, self.store = limit, max_bytes, store
        self._by_token: OrderedDict[str, Session] = OrderedDict()

    def find(self, token: str | None) -> Session | None:
        """The session with this token, or None if this server did not issue it or has dropped the session."""
        if not token:
            return None
        session = self._by_token.get(token)
        if session is None:
            session = Session(token, self.store).restore()
            if not session.jobs and not session.tables:
                return None
            self._by_token[token] = session
            self._make_room(session)
        self._by_token.move_to_end(token)
        return session

    def create(self, client: str = "") -> Session:
        """A new session with a random token, of a client by its address."""
        session = Session(secrets.token_urlsafe(32), self.store, client)
        self._by_token[session.token] = session
        self._make_room(session)
        return session

    def wake_all(self) -> None:
        """Let every request that waits for news be answered now: the server is about to end."""
        for session in self._by_token.values():
            for one in (*session.jobs.values(), *session.tables.values()):
                one.news.tell()

    def _make_room(self, newest: Session) -> None:
        while self._is_full() and (idle := [one for one in self._by_token.values() if self._may_go(one, newest)]):
            counts = Counter(one.client for one in self._by_token.values())
            del self._by_token[max(idle, key=lambda one: counts[one.client]).token]  # of equals, the first

    def _is_full(self) -> bool:
        return len(self._by_token) > self.limit or self.num_bytes > self.max_bytes

    @property
    def num_bytes(self) -> int:
        """Size of what all sessions keep."""
        return sum(session.num_bytes for session in self._by_token.values())

    @staticmethod
    def _may_go(one: Session, newest: Session) -> bool:
        return one is not newest and not one.num_active


def _question(task: dict[str, Any]) -> tuple[Any, ...]:
    """The question of a task: its model, input and options, without the name of the input."""
    return task["model"], task.get("input"), task.get("asked")
