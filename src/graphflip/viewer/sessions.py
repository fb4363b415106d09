"""Sessions: what a browser has asked belongs to it, and to nobody else."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from .queue import Job


@dataclass
class Session:
    """The questions of one browser, oldest first."""

    token: str
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)

    @property
    def num_active(self) -> int:
        return sum(not job.ended for job in self.jobs.values())

    def keep(self, job: Job, limit: int) -> None:
        """Add a job; beyond the limit, the oldest that have ended are forgotten."""
        self.jobs[job.id] = job
        for old in [one.id for one in self.jobs.values() if one.ended and one is not job]:
            if len(self.jobs) <= limit:
                break
            del self.jobs[old]


class Sessions:
    """All sessions, in memory; beyond `limit` the one that was silent for longest is forgotten."""

    def __init__(self, limit: int):
        self.limit = limit
        self._known: OrderedDict[str, Session] = OrderedDict()

    def find(self, token: str | None) -> Session | None:
        """The session of a token that this server gave out."""
        session = self._known.get(token or "")
        if session is not None:
            self._known.move_to_end(session.token)
        return session

    def create(self) -> Session:
        session = Session(secrets.token_urlsafe(32))
        self._known[session.token] = session
        idle = [token for token, one in self._known.items() if not one.num_active and one is not session]
        for token in idle[: max(0, len(self._known) - self.limit)]:
            del self._known[token]
        return session
