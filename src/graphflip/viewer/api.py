"""The viewer's API: what each request does."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from .config import ViewerConfig
from .queue import Busy, Desk, Job, Line
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
    """There is no such thing in this session."""


class Office:
    """Everything that requests are served from: settings, sessions, the line of jobs, the desk for quick things."""

    def __init__(self, settings: ViewerConfig, line: Line, desk: Desk):
        self.settings, self.line, self.desk = settings, line, desk
        self.sessions = Sessions(settings.max_sessions)

    @property
    def models(self) -> Sequence[dict[str, Any]]:
        return self.desk.worker.models

    def task(self, do: str, model: str, **more: Any) -> dict[str, Any]:
        """What a worker is told."""
        if model not in self.settings.titles:
            raise Refused(f"`model` must be one of {', '.join(self.settings.titles)}; got {model!r}.")
        own = {"source": self.settings.source(model), "classifier": self.settings.classifier}
        return {"do": do, "model": model, **own, "private": self.settings.is_private, **more}

    def check(self, given: Input) -> dict[str, Any]:
        """An input as a worker takes it."""
        if given.smiles is not None and len(given.smiles) > self.settings.max_smiles:
            raise Refused(
                f"A SMILES must have at most {self.settings.max_smiles} characters; got {len(given.smiles)}. "
                "Choose a smaller molecule."
            )
        return given.model_dump(exclude_none=True)


def office(request: Request) -> Office:
    """The one of the application."""
    return request.app.state.office


Here = Annotated[Office, Depends(office)]


def known_session(request: Request, here: Here) -> Session | None:
    """The session of the browser that asks, if it has one."""
    return here.sessions.find(request.cookies.get(here.settings.cookie))


Known = Annotated[Session | None, Depends(known_session)]


def session(response: Response, known: Known, here: Here) -> Session:
    """The session of the browser that asks, or one that begins."""
    if known is None:
        known = here.sessions.create()
        response.set_cookie(here.settings.cookie, known.token, httponly=True, samesite="strict", path="/")
    return known


def own_job(job: Annotated[str, Path(max_length=40)], known: Known) -> Job:
    """A job of this session; those of others do not exist for it."""
    if known is None or job not in known.jobs:
        raise NotFound("There is no such question in this session. It may have been forgotten: ask again.")
    return known.jobs[job]


def own_answer(asked: Annotated[Job, Depends(own_job)], number: Number) -> tuple[Job, dict[str, Any]]:
    """An answer to a job of this session, by number."""
    if number >= len(asked.answers):
        raise NotFound(f"There are {len(asked.answers)} answers; there is no number {number}.")
    return asked, asked.answers[number]


Mine = Annotated[Session, Depends(session)]
OwnJob = Annotated[Job, Depends(own_job)]
OwnAnswer = Annotated[tuple[Job, dict[str, Any]], Depends(own_answer)]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": ProblemView, "description": words}
    for code, words in {
        400: "The body cannot be read.",
        404: "There is no such thing in this session.",
        422: "The request cannot be used.",
        429: "This session has enough questions open.",
        503: "There is no room at the moment.",
    }.items()
}

router = APIRouter(prefix="/api", responses=_PROBLEMS)


@router.get("/service")
async def service(here: Here) -> Service:
    """What is served, and its limits."""
    from ..version import __version__

    limits = {name: getattr(here.settings, name) for name in ("max_smiles", "max_bytes", "max_rows", "seconds")}
    return Service(version=__version__, models=[Model(**one) for one in here.models], **limits)


@router.post("/read")
async def read(wanted: ReadRequest, here: Here) -> Shown:
    """Read a graph, classify and draw it."""
    task = here.task("read", wanted.model, input=here.check(wanted.input))
    return Shown(**await here.desk.ask(task))


@router.post("/files")
async def read_file(wanted: FileRequest, here: Here) -> FileRows:
    """Read the entries of a .smi, .csv, .tsv, .sdf or .jsonl file."""
    task = here.task("file", wanted.model, name=wanted.name, text=wanted.text, max_rows=here.settings.max_rows)
    return FileRows(**await here.desk.ask(task))


@router.post("/records")
async def open_record(wanted: RecordRequest, here: Here, mine: Mine) -> JobView:
    """Judge, describe and draw an explanation from a file."""
    task = here.task("record", wanted.model, record=wanted.record)
    found = await here.desk.ask(task)
    job = Job(task | {"id": found["answers"][0]["record"]["id"]}, state="done", answers=found["answers"])
    mine.keep(job, here.settings.kept)
    return show(job, here.line)


@router.post("/jobs", status_code=202)
async def explain(wanted: ExplainRequest, here: Here, mine: Mine) -> JobView:
    """Ask for explanations. The answer says where to follow the question; see `GET /api/jobs/{job}`."""
    task = here.task("explain", wanted.model, input=here.check(wanted.input), id=wanted.id)
    task["asked"] = wanted.asked.model_dump(mode="json")
    if mine.num_active >= here.settings.asked:
        raise Crowded(f"{mine.num_active} of your questions are open. Wait for one of them, or cancel it.", 2)
    job = Job(task)
    here.line.submit(job)
    mine.keep(job, here.settings.kept)
    return show(job, here.line)


@router.get("/jobs")
async def list_jobs(here: Here, known: Known) -> list[JobView]:
    """The questions of this session, without their answers, oldest first."""
    return [show(job, here.line, answers=False) for job in (known.jobs.values() if known else ())]


@router.get("/jobs/{job}")
async def follow(
    asked: OwnJob,
    here: Here,
    seen: Annotated[int, Query(ge=-1, description="The version that was seen last.")] = -1,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for a newer one.")] = 0.0,
) -> JobView:
    """A question as it stands; with `seen` and `wait`, as soon as it stands differently."""
    await asked.wait(seen, wait)
    return show(asked, here.line)


@router.delete("/jobs/{job}")
async def cancel(asked: OwnJob, here: Here) -> JobView:
    """Cancel a question that is waiting or being computed."""
    here.line.cancel(asked)
    return show(asked, here.line)


@router.post("/jobs/{job}/answers/{number}/undo")
async def undo(chosen: OwnAnswer, number: Number, wanted: UndoRequest, here: Here) -> Answer:
    """Take changes of an answer back, and have what is left classified."""
    asked, answer = chosen
    task = asked.asked | {"do": "undo", "record": answer["record"], "undo": wanted.undo, "number": number}
    return Answer(**await here.desk.ask(task))


@router.get("/jobs/{job}/answers/{number}/path")
async def path(chosen: OwnAnswer, here: Here, steps: Annotated[int, Query(ge=2, le=48)] = 24) -> LatentPathView:
    """The way through the latent space from the factual to the counterfactual."""
    asked, answer = chosen
    task = {"do": "path", "model": asked.asked["model"], "record": answer["record"], "steps": steps}
    return LatentPathView(**await here.desk.ask(task))


class Crowded(Busy):
    """One session wants too much at a time."""


def show(job: Job, line: Line, answers: bool = True) -> JobView:
    """A job as the API gives it."""
    return JobView(
        id=job.id,
        state=job.state,
        version=job.version,
        ahead=line.ahead(job),
        model=job.asked["model"],
        name=job.asked.get("id", ""),
        input=job.asked.get("input"),
        asked=None if job.asked.get("asked") is None else QuestionView(**job.asked["asked"]),
        progress=None if job.progress is None else ProgressView(**job.progress),
        message=job.message,
        answers=[Answer(**one) for one in job.answers] if answers else [],
    )
