"""The viewer's API for many graphs at once: tables that are explained row by row, and files to take along."""

import base64
from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from .api import PROBLEMS, job_view
from .messages.requests import ExportRequest, FileKind, Number, QuestionView, TableRequest
from .messages.views import JobView, RowView, TableView
from .queue import Job
from .state import KnownSession, NotFound, OwnTable, OwnVisitor, State
from .tables import ExplainedTable, TableRow
from .worker import Refused

router = APIRouter(prefix="/api", responses=PROBLEMS)


@router.post("/tables", status_code=202)
async def explain_table(request: TableRequest, state: State, visitor: OwnVisitor) -> TableView:
    """Ask for explanations of many inputs. They are computed one after the other, behind all single questions."""
    if len(request.rows) > state.config.max_rows:
        raise Refused(
            f"A table may have at most {state.config.max_rows} rows here; this one has {len(request.rows)}. "
            "Use `graphflip explain FILE --out FOLDER` for more."
        )
    task = state.task("explain", request.model, asked=request.asked.model_dump(mode="json"), behind=True)
    rows = [
        TableRow(row.id, None if row.input is None else state.checked_input(row.input), row.problem)
        for row in request.rows
    ]
    table = ExplainedTable(request.name, task, rows, visitor.name)
    visitor.keep(table)
    table.start(state.queue)
    return table_view(table)


@router.get("/tables")
async def list_tables(known: KnownSession) -> list[TableView]:
    """List the tables of this session without their rows, oldest first."""
    tables = known.tables.values() if known else ()
    return [table_view(table, seen=table.news.version) for table in tables]


@router.get("/tables/{table}")
async def follow_table(
    table: OwnTable,
    seen: Annotated[int, Query(ge=-1, description="The version that was seen last.")] = -1,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for a newer one.")] = 0.0,
) -> TableView:
    """Get a table with the rows that have changed since a version; with `wait`, as soon as there is a newer one."""
    await table.news.wait(seen, wait, lambda: table.ended)
    return table_view(table, seen)


@router.delete("/tables/{table}")
async def stop_table(table: OwnTable, state: State) -> TableView:
    """Stop explaining rows; what has been found stays."""
    table.stop(state.queue)
    return table_view(table, table.news.version)


@router.post("/tables/{table}/resume")
async def resume_table(table: OwnTable, state: State) -> TableView:
    """Go on with the rows that have no answer yet."""
    table.start(state.queue)
    return table_view(table, table.news.version)


@router.get("/tables/{table}/rows/{number}")
async def get_row(table: OwnTable, number: Number, state: State) -> JobView:
    """Get the answers to a row, as those to a single question."""
    job = table.rows[number].job if number < len(table.rows) else None
    if job is None or job.state != "done":
        raise NotFound("This row has no answer yet.")
    return job_view(job, state.queue)


@router.get("/tables/{table}/files/{kind}", response_class=Response)
async def export_table(table: OwnTable, kind: FileKind, state: State, visitor: OwnVisitor) -> Response:
    """Get all answers of a table as one file: a table, molecules, records, pictures in a .zip file, or a report."""
    records = [answer["record"] for row in table.rows if row.job is not None for answer in row.job.answers]
    if not records:
        raise NotFound("No row of this table has an answer yet.")
    return await _file(state, visitor, table.task, records, kind, table.name)


@router.post("/export/{kind}", response_class=Response)
async def export(request: ExportRequest, kind: FileKind, state: State, visitor: OwnVisitor) -> Response:
    """Write explanations as one file of the same kinds."""
    asked = None if request.asked is None else request.asked.model_dump(mode="json")
    return await _file(state, visitor, {"model": request.model, "asked": asked}, request.records, kind, "")


async def _file(
    state: State, visitor: OwnVisitor, question: dict[str, Any], records: list[dict[str, Any]], kind: str, title: str
) -> Response:
    """Explanations as a file; `question` has the model and what was asked."""
    task = state.task("export", question["model"], asked=question["asked"], records=records, kind=kind, title=title)
    made = await state.pictures.run(task, visitor.name)
    headers = {"content-disposition": f'attachment; filename="{made["name"]}"', "cache-control": "no-store"}
    return Response(base64.b64decode(made["content"]), media_type=made["type"], headers=headers)


def table_view(table: ExplainedTable, seen: int = -1) -> TableView:
    """A table as the API returns it, with the rows that have changed since a version."""
    shown = [(k, row) for k, row in enumerate(table.rows) if row.version > seen or seen < 0]
    return TableView(
        id=table.id,
        name=table.name,
        state=table.state,
        version=table.news.version,
        model=table.task["model"],
        asked=QuestionView(**table.task["asked"]),
        counts=Counter(_state(row) for row in table.rows),
        rows=[_row_view(k, row) for k, row in shown],
    )


def _state(row: TableRow) -> Any:
    if row.problem is not None:
        return "problem"
    return "open" if row.job is None or row.job.state == "cancelled" else row.job.state


def _row_view(number: int, row: TableRow) -> RowView:
    message = row.problem or (row.job.message if row.job is not None else "")
    found = _found(row.job) if row.job is not None and row.job.answers else {}
    return RowView(number=number, id=row.id, state=_state(row), message=message, input=row.input, **found)


def _found(job: Job) -> dict[str, Any]:
    """The first answer of a job in short."""
    answer = job.answers[0]
    record, words = answer["record"], [change["text"] for change in answer["words"]]
    smiles, chemistry = record.get("smiles") or {}, (record.get("evidence") or {}).get("chemistry") or {}
    return {
        "job": job.id,
        "outcome": record.get("outcome"),
        "flipped": record.get("flipped"),
        "prediction": answer["predictions"]["factual"],
        "before": smiles.get("factual"),
        "after": smiles.get("counterfactual"),
        "p_factual": record.get("p_factual"),
        "p_counterfactual": record.get("p_counterfactual"),
        "target": answer["goal"]["words"],
        "unit": answer["goal"]["unit"],
        "num_edits": answer["num_edits"],
        "changes": words,
        "agreed": list(answer["agreed"].values()),
        "similarity": chemistry.get("similarity"),
        "drawings": answer["drawings"].get("small", []),
    }
