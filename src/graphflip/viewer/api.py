"""The viewer's API: one function for each kind of request about a single graph."""

from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Request

from ..schema import Op
from .messages.options import option_views
from .messages.requests import (
    ExplainRequest,
    FileRequest,
    MatchRequest,
    Number,
    QuestionView,
    ReadRequest,
    RecordRequest,
    UndoRequest,
)
from .messages.views import (
    Answer,
    FileRows,
    JobView,
    LatentPathView,
    Matches,
    Model,
    ProblemView,
    ProgressView,
    Service,
    Shown,
)
from .queue import Job, JobQueue
from .state import KnownSession, OwnAnswer, OwnJob, OwnVisitor, State, TooManyJobs, while_wanted

PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": ProblemView, "description": description}
    for code, description in {
        400: "The body cannot be read.",
        404: "There is no such thing in this session.",
        422: "The request cannot be used.",
        429: "This session has enough questions open.",
        503: "There is no room at the moment.",
    }.items()
}

router = APIRouter(prefix="/api", responses=PROBLEMS)


@router.get("/service")
async def service(state: State) -> Service:
    """Describe the kits that are served, and the limits of requests."""
    from ..version import __version__

    limits = {name: getattr(state.config, name) for name in ("max_smiles", "max_bytes", "max_rows", "seconds")}
    return Service(
        version=__version__,
        models=[Model(**model) for model in state.models],
        options=option_views(QuestionView),
        ops=list(get_args(Op)),
        keeps=state.config.keep is not None,
        **limits,
    )


@router.post("/read")
async def read(request: ReadRequest, state: State, visitor: OwnVisitor) -> Shown:
    """Read a graph or a molecule as it is written, classify and draw it."""
    task = state.task("read", request.model, input=state.checked_input(request.input), parent=request.parent)
    return Shown(**await state.quick.run(task, visitor.name))


@router.post("/matches")
async def find_matches(request: MatchRequest, state: State, visitor: OwnVisitor) -> Matches:
    """Find the atoms of a molecule that match SMARTS patterns."""
    task = state.task("match", request.model, input=state.checked_input(request.input), smarts=request.smarts)
    return Matches(**await state.quick.run(task, visitor.name))


@router.post("/files")
async def read_file(request: FileRequest, state: State, visitor: OwnVisitor) -> FileRows:
    """Read the entries of a .smi, .csv, .tsv, .sdf, .mol or .jsonl file."""
    limits = {"max_rows": state.config.max_rows, "max_smiles": state.config.max_smiles}
    task = state.task("file", request.model, name=request.name, text=request.text, **limits)
    return FileRows(**await state.pictures.run(task, visitor.name))


@router.post("/records")
async def open_record(request: RecordRequest, state: State, visitor: OwnVisitor) -> JobView:
    """Open an explanation from a file: judge, describe and draw it."""
    task = state.task("record", request.model, record=request.record)
    result = await state.quick.run(task, visitor.name)
    kept = {name: value for name, value in task.items() if name != "record"}  # the answer has it
    name = result["answers"][0]["record"]["id"]
    job = Job(kept | {"id": name}, visitor.name, state="done", answers=result["answers"])
    visitor.keep(job)
    return job_view(job, state.queue)


@router.post("/jobs", status_code=202)
async def explain(request: ExplainRequest, state: State, visitor: OwnVisitor) -> JobView:
    """Ask for explanations. The response has the id with which to follow the job; see `GET /api/jobs/{job}`.

    A question that this session has open, or has an answer to, is not computed again. A job that nobody asks about for
    a minute is cancelled.
    """
    task = state.task("explain", request.model, input=state.checked_input(request.input), id=request.id)
    task["asked"] = request.asked.model_dump(mode="json")
    same = None if visitor.known is None else visitor.known.same_question(task)
    if same is not None:
        return job_view(same, state.queue)
    num_active = 0 if visitor.known is None else visitor.known.num_active
    if num_active >= state.config.max_active:
        raise TooManyJobs(f"{num_active} of your questions are open. Wait for one of them, or cancel it.", 2)
    job = Job(task, visitor.name)
    state.queue.submit(job)
    visitor.keep(job)
    return job_view(job, state.queue)


@router.get("/jobs")
async def list_jobs(state: State, known: KnownSession) -> list[JobView]:
    """List the jobs of this session without their answers, oldest first. That counts as asking about each of them."""
    jobs = list(known.jobs.values()) if known else []
    for job in jobs:
        job.news.was_asked = True
    return [job_view(job, state.queue, answers=False) for job in jobs]


@router.get("/jobs/{job}")
async def follow(
    job: OwnJob,
    state: State,
    seen: Annotated[int, Query(ge=-1, description="The version that was seen last.")] = -1,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for a newer one.")] = 0.0,
) -> JobView:
    """Get a job. With `seen` and `wait`, the response comes as soon as the job has changed.

    A job that is running may have a first answer; answers that came with the version `seen` or before it are left out.
    """
    await job.wait(seen, wait)
    return job_view(job, state.queue, answers=job.answered > seen or job.ended)


@router.delete("/jobs/{job}")
async def cancel(job: OwnJob, state: State) -> JobView:
    """Cancel a job that is waiting or running."""
    state.queue.cancel(job)
    return job_view(job, state.queue)


@router.post("/jobs/{job}/answers/{number}/undo")
async def undo(chosen: OwnAnswer, number: Number, request: UndoRequest, state: State, visitor: OwnVisitor) -> Answer:
    """Take changes of an answer back, and classify the graph that is left."""
    job, answer = chosen
    task = job.task | {"do": "undo", "record": answer["record"], "undo": request.undo, "number": number}
    return Answer(**await state.quick.run(task, visitor.name))


@router.get("/jobs/{job}/answers/{number}/path")
async def path(
    chosen: OwnAnswer,
    state: State,
    visitor: OwnVisitor,
    request: Request,
    steps: Annotated[int, Query(ge=2, le=48)] = 24,
) -> LatentPathView:
    """Get the path through the latent space from the factual to the counterfactual.

    It is given up as soon as the browser closes the connection.
    """
    job, answer = chosen
    task = {"do": "path", "model": job.task["model"], "record": answer["record"], "steps": steps}
    return LatentPathView(**await while_wanted(request, state.pictures.run(task, visitor.name)))


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
