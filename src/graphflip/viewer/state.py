"""State that requests share: configuration, sessions, workers; and what belongs to the browser that sent a request."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Request, Response

from .config import ViewerConfig
from .messages.requests import Input, Number, Written
from .queue import Busy, Job, JobQueue
from .quick import QuickWorkers
from .sessions import Session, Sessions
from .store import SessionStore
from .tables import ExplainedTable
from .worker import Refused

Result = TypeVar("Result")
_MONTH = 30 * 24 * 3600


class NotFound(Exception):
    """The session has no job or answer of this name."""


class TooManyJobs(Busy):
    """One session has too many open jobs."""


class ServerState:
    """Everything that requests share: configuration, sessions, the queue of jobs, and workers for what is quick.

    `quick` reads, predicts and judges; `pictures` makes latent paths and files, for which nothing else is to wait.
    """

    def __init__(self, config: ViewerConfig, queue: JobQueue, quick: QuickWorkers, pictures: QuickWorkers):
        self.config, self.queue, self.quick, self.pictures = config, queue, quick, pictures
        store = SessionStore(config.keep, config.max_sessions)
        self.sessions = Sessions(config.max_sessions, 10 * config.max_kept, store)

    @property
    def models(self) -> Sequence[dict[str, Any]]:
        """Descriptions of the kits that are served."""
        return self.quick.workers[0].models

    def task(self, do: str, model: str, **more: Any) -> dict[str, Any]:
        """A task for a worker: one of `tasks.TASKS`, the kit to do it with, and the fields of the request."""
        if model not in self.config.titles:
            raise Refused(f"`model` must be one of {', '.join(self.config.titles)}; got {model!r}.")
        kit = {"source": self.config.source(model), "classifier": self.config.classifier}
        return {"do": do, "model": model, **kit, "private": self.config.is_private, **more}

    def checked_input(self, given: Input | Written) -> dict[str, Any]:
        """The input of a request as a worker reads it. Raises Refused if its SMILES is too long."""
        written = given.text.strip() if isinstance(given, Written) else given.smiles or ""
        is_long = len(written.split(maxsplit=1)[0] if written else "") > self.config.max_smiles
        if is_long and not ("\n" in written or written.startswith("InChI=")):
            raise Refused(
                f"A SMILES may have at most {self.config.max_smiles} characters here; this one has {len(written)}. "
                "Choose a smaller molecule."
            )
        return given.model_dump(exclude_none=True)


def server_state(request: Request) -> ServerState:
    """The state of the application that a request came to."""
    return request.app.state.server


State = Annotated[ServerState, Depends(server_state)]


def known_session(request: Request, state: State) -> Session | None:
    """The session of the browser that sent the request, or None if it has none yet."""
    return state.sessions.find(request.cookies.get(state.config.cookie))


KnownSession = Annotated[Session | None, Depends(known_session)]


class Visitor:
    """The browser that sent a request. It gets a session when there is something to keep, not before."""

    def __init__(self, request: Request, response: Response, known: KnownSession, state: State):
        self.known, self._response, self._state = known, response, state
        self.client = request.client.host if request.client else ""

    @property
    def name(self) -> str:
        """Name that tells visitors apart: their session, or else the address of their machine."""
        return self.client if self.known is None else self.known.token

    def keep(self, one: Job | ExplainedTable) -> None:
        """Keep a job or a table for this browser, in a new session if it has none yet."""
        session, config = self._session(), self._state.config
        add = session.add_table if isinstance(one, ExplainedTable) else session.add
        add(one, config.max_jobs, config.max_kept)  # pyright: ignore[reportArgumentType]

    def _session(self) -> Session:
        config = self._state.config
        if self.known is None:
            self.known = self._state.sessions.create(self.client)
            self._response.set_cookie(
                config.cookie, self.known.token, max_age=_MONTH, httponly=True, samesite="strict", path="/"
            )
        return self.known


def own_job(job: Annotated[str, Path(max_length=40)], known: KnownSession) -> Job:
    """A job of this session by its id. Jobs of other sessions are not found."""
    found = None if known is None else known.find(job)
    if found is None:
        raise NotFound("There is no such question in this session. It may have been forgotten: ask again.")
    return found


def own_answer(job: Annotated[Job, Depends(own_job)], number: Number) -> tuple[Job, dict[str, Any]]:
    """A job of this session, and its answer with this number."""
    if number >= len(job.answers):
        raise NotFound(f"There are {len(job.answers)} answers; there is no number {number}.")
    return job, job.answers[number]


OwnVisitor = Annotated[Visitor, Depends()]
OwnJob = Annotated[Job, Depends(own_job)]
OwnAnswer = Annotated[tuple[Job, dict[str, Any]], Depends(own_answer)]


def own_table(table: Annotated[str, Path(max_length=40)], known: KnownSession) -> ExplainedTable:
    """A table of this session by its id."""
    if known is None or table not in known.tables:
        raise NotFound("There is no such table in this session. It may have been forgotten: open the file again.")
    return known.tables[table]


OwnTable = Annotated[ExplainedTable, Depends(own_table)]


async def while_wanted(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work, which is given up as soon as the browser has gone or asked for something else."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise NotFound("Nobody waits for this any more.")
        return await working
    finally:
        for one in (working, leaving):
            one.cancel()


async def _left(request: Request) -> None:
    """Return when the browser has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
