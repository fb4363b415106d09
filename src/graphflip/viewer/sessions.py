"""Sessions: each browser sees its own jobs and nobody else's."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from .queue import Job


@dataclass
class Session:
    """The jobs of one browser, oldest first."""

    token: str
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)

    @property
    def num_active(self) -> int:
        """Number of jobs that are waiting or running."""
        return sum(not job.ended for job in self.jobs.values())

    def add(self, job: Job, max_jobs: int) -> None:
        """Add a job. If there are more than `max_jobs`, the oldest ones that have ended are dropped."""
        self.jobs[job.id] = job
        for old in [other.id for other in self.jobs.values() if other.ended and other is not job]:
            if len(self.jobs) <= max_jobs:
                break
            del self.jobs[old]


class Sessions:
    """All sessions, in memory. If there are more than `limit`, those idle for longest without open jobs are dropped."""

    def __init__(self, limit: int):
        self.limit = limit
        self._by_token: OrderedDict[str, Session] = OrderedDict()

    def find(self, token: str | None) -> Session | None:
        """The session with this token, or None if this server did not issue it or has dropped the session."""
        session = self._by_token.get(token or "")
        if session is not None:
            self._by_token.move_to_end(session.token)
        return session

    def create(self) -> Session:
        """A new session with a random token."""
        session = Session(secrets.token_urlsafe(32))
        self._by_token[session.token] = session
        idle = [token for token, other in self._by_token.items() if not other.num_active and other is not session]
        for token in idle[: max(0, len(self._by_token) - self.limit)]:
            del self._by_token[token]
        return session
