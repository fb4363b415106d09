"""The viewer's API: one function for each kind of request."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from .config import ViewerConfig
from .queue import Busy, Job, JobQueue, QuickWorker
from .schemas import (
    Answer,
    ExplainRequest,
    FileRequest,
    FileRows,
    Input,
    JobView,
    LatentPathView,
    Model,
    Number,
    ProblemView,
    ProgressView,
    QuestionView,
    ReadRequest,
    RecordRequest,
    Service,
    Shown,
    UndoRequest,
)
from .sessions import Session, Sessions
from .worker import Refused


class NotFound(Exception):
    """The session has no job or answer of this name."""


class TooManyJobs(Busy):
    """One session has too many open jobs."""


class ServerState:
    """Everything that requests share: the configuration, the sessions, the queue of jobs and the quick worker."""

    def __init__(self, config: ViewerConfig, queue: JobQueue, quick: QuickWorker):
        self.config, self.queue, self.quick = config, queue, quick
        self.sessions = Sessions(config.max_sessions)

    @property
    def models(self) -> Sequence[dict[str, Any]]:
        """Descriptions of the kits that are served."""
        return self.quick.worker.models

    def task(self, do: str, model: str, **more: Any) -> dict[str, Any]:
        """A task for a worker: one of `tasks.TASKS`, the kit to do it with, and the fields of the request."""
        if model not in self.config.titles:
            raise Refused(f"`model` must be one of {', '.join(self.config.titles)}; got {model!r}.")
        kit = {"source": self.config.source(model), "classifier": self.config.classifier}
        return {"do": do, "model": model, **kit, "private": self.config.is_private, **more}

    def checked_input(self, given: Input) -> dict[str, Any]:
        """The input of a request as a worker reads it. Raises Refused if its SMILES is too long."""
        if given.smiles is not None and len(given.smiles) > self.config.max_smiles:
            raise Refused(
                f"A SMILES must have at most {self.config.max_smiles} characters; got {len(given.smiles)}. "
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


def own_session(response: Response, known: KnownSession, state: State) -> Session:
    """The session of the browser that sent the request; a new one if it has none yet."""
    if known is None:
        known = state.sessions.create()
        response.set_cookie(state.config.cookie, known.token, httponly=True, samesite="strict", path="/")
    return known


def own_job(job: Annotated[str, Path(max_length=40)], known: KnownSession) -> Job:
    """A job of this session by its id. Jobs of other sessions are not found."""
    if known is None or job not in known.jobs:
        raise NotFound("There is no such question in this session. It may have been forgotten: ask again.")
    return known.jobs[job]


def own_answer(job: Annotated[Job, Depends(own_job)], number: Number) -> tuple[Job, dict[str, Any]]:
    """A job of this session, and its answer with this number."""
    if number >= len(job.answers):
        raise NotFound(f"There are {len(job.answers)} answers; there is no number {number}.")
    return job, job.answers[number]


OwnSession = Annotated[Session, Depends(own_session)]
OwnJob = Annotated[Job, Depends(own_job)]
OwnAnswer = Annotated[tuple[Job, dict[str, Any]], Depends(own_answer)]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": ProblemView, "description": description}
    for code, description in {
        400: "The body cannot be read.",
        404: "There is no such thing in this session.",
        422: "The request cannot be used.",
        429: "This session has enough questions open.",
        503: "There is no room at the moment.",
    }.items()
}

router = APIRouter(prefix="/api", responses=_PROBLEMS)


@router.get("/service")
async def service(state: State) -> Service:
    """Describe the kits that are served, and the limits of requests."""
    from ..version import __version__

    limits = {name: getattr(state.config, name) for name in ("max_smiles", "max_bytes", "max_rows", "seconds")}
    return Service(version=__version__, models=[Model(**model) for model in state.models], **limits)


@router.post("/read")
async def read(request: ReadRequest, state: State) -> Shown:
    """Read a graph, classify and draw it."""
    task = state.task("read", request.model, input=state.checked_input(request.input))
    return Shown(**await state.quick.run(task))


@router.post("/files")
async def read_file(request: FileRequest, state: State) -> FileRows:
    """Read the entries of a .smi, .csv, .tsv, .sdf or .jsonl file."""
    task = state.task("file", request.model, name=request.name, text=request.text, max_rows=state.config.max_rows)
    return FileRows(**await state.quick.run(task))


@router.post("/records")
async def open_record(request: RecordRequest, state: State, session: OwnSession) -> JobView:
    """Open an explanation from a file: judge, describe and draw it."""
    task = state.task("record", request.model, record=request.record)
    result = await state.quick.run(task)
    job = Job(task | {"id": result["answers"][0]["record"]["id"]}, state="done", answers=result["answers"])
    session.add(job, state.config.max_jobs)
    return job_view(job, state.queue)


@router.post("/jobs", status_code=202)
async def explain(request: ExplainRequest, state: State, session: OwnSession) -> JobView:
    """Ask for explanations. The response has the id with which to follow the job; see `GET /api/jobs/{job}`."""
    task = state.task("explain", request.model, input=state.checked_input(request.input), id=request.id)
    task["asked"] = request.asked.model_dump(mode="json")
    if session.num_active >= state.config.max_active:
        raise TooManyJobs(f"{session.num_active} of your questions are open. Wait for one of them, or cancel it.", 2)
    job = Job(task)
    state.queue.submit(job)
    session.add(job, state.config.max_jobs)
    return job_view(job, state.queue)


@router.get("/jobs")
async def list_jobs(state: State, known: KnownSession) -> list[JobView]:
    """List the jobs of this session without their answers, oldest first."""
    return [job_view(job, state.queue, answers=False) for job in (known.jobs.values() if known else ())]


@router.get("/jobs/{job}")
async def follow(
    job: OwnJob,
    state: State,
    seen: Annotated[int, Query(ge=-1, description="The version that was seen last.")] = -1,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for a newer one.")] = 0.0,
) -> JobView:
    """Get a job. With `seen` and `wait`, the response comes as soon as the job has changed."""
    await job.wait(seen, wait)
    return job_view(job, state.queue)


@router.delete("/jobs/{job}")
async def cancel(job: OwnJob, state: State) -> JobView:
    """Cancel a job that is waiting or running."""
    state.queue.cancel(job)
    return job_view(job, state.queue)


@router.post("/jobs/{job}/answers/{number}/undo")
async def undo(chosen: OwnAnswer, number: Number, request: UndoRequest, state: State) -> Answer:
    """Take changes of an answer back, and classify the graph that is left."""
    job, answer = chosen
    task = job.task | {"do": "undo", "record": answer["record"], "undo": request.undo, "number": number}
    return Answer(**await state.quick.run(task))


@router.get("/jobs/{job}/answers/{number}/path")
async def path(chosen: OwnAnswer, state: State, steps: Annotated[int, Query(ge=2, le=48)] = 24) -> LatentPathView:
    """Get the path through the latent space from the factual to the counterfactual."""
    job, answer = chosen
    task = {"do": "path", "model": job.task["model"], "record": answer["record"], "steps": steps}
    return LatentPathView(**await state.quick.run(task))


def job_view(job: Job, queue: JobQueue, answers: bool = True) -> JobView:
    """A job as the API returns it."""
    return JobView(
        id=job.id,
        state=job.state,
        version=job.version,
        ahead=queue.num_ahead(job),
        model=job.task["model"],
        name=job.task.get("id", ""),
        input=job.task.get("input"),
        asked=None if job.task.get("asked") is None else QuestionView(**job.task["asked"]),
        progress=None if job.progress is None else ProgressView(**job.progress),
        message=job.message,
        answers=[Answer(**answer) for answer in job.answers] if answers else [],
    )
