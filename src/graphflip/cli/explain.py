"""`graphflip explain` and `graphflip export`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..explain.query import Query
from .options import with_options
from .report import write_page
from .terminal import complaints, console, prepare, show

if TYPE_CHECKING:
    from ..jobs import AbstractEngine, JobSummary


# Exit code where no row at all could be explained; 1 is that of programs that break off.
_NOTHING_READ = 3


class EngineName(StrEnum):
    """Engines that may do the work."""

    local = "local"
    dask = "dask"


@with_options(Query, after="out")
def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A SMILES text or an InChI, a .csv, .tsv, .smi, .sdf, .jsonl or .pt file, a TU folder or zip, "
            "ames:test, or with --function package.module:function of your own that returns PyG graphs.",
        ),
    ],
    model: Annotated[str, typer.Option(help="ames, logp, mutagenicity, aids, nci1, or the folder of a kit.")] = "ames",
    out: Annotated[
        Path | None, typer.Option(help="Folder for shards and counterfactuals.jsonl; without it, answers are printed.")
    ] = None,
    *,
    query: Query,
    function: Annotated[
        bool, typer.Option("--function", help="INPUT names a function of your own code, which is imported and called.")
    ] = False,
    classifier: Annotated[str | None, typer.Option(help="Another classifier: package.module:factory.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    engine: Annotated[EngineName, typer.Option(help="Where to compute.")] = EngineName.local,
    scheduler: Annotated[
        str | None, typer.Option(help="Address or file of a Dask scheduler; without it, a local cluster is started.")
    ] = None,
    row_seconds: Annotated[
        float, typer.Option(min=0.1, help="Longest time for one input of --out, in seconds; then it is out_of_time.")
    ] = 120.0,
    unencrypted: Annotated[
        bool,
        typer.Option("--unencrypted", help="Use a scheduler without TLS: who reads its network can run code as you."),
    ] = False,
    shard_size: Annotated[int | None, typer.Option(min=1, help="Rows that are written at once.")] = None,
) -> None:
    """Find what would change the classifier's answer, for one molecule or for millions.

    With --out, a run that was stopped or killed goes on when the same command is given again.
    """
    from ..jobs import JobSettings, explain_now, explained, open_source, run_job
    from ..jobs.answers import ROW_FAILURES, explainer_of, one_thread
    from .progress import job_bar

    prepare()
    settings = JobSettings.of(model, classifier, query)
    source, computing = open_source(what, function), make_engine(engine, workers, scheduler, row_seconds, unencrypted)
    if out is None:
        answered: set[bool] = set()
        for said in explain_now(settings, source):
            show(said.text)
            answered.add(said.answered)
        if answered == {False}:
            raise typer.Exit(_NOTHING_READ)
        return
    computing.warm(settings)
    with job_bar(console) as watch:
        summary = run_job(source, settings, out, computing, shard_size, watch)
    if not summary.finished:
        complaints.print(f"Stopped after {summary.done} of {summary.total} rows. Give the same command again to go on.")
        raise typer.Exit(130)
    has_paths = classifier is None and summary.total <= 100
    with one_thread():  # the work is many small steps, for which threads wait more than they help
        if summary.total == 1:
            for counterfactual in explained(out):
                show(str(counterfactual))
        _print_summary(summary)
        write_page(out, out / "report.html", explainer=explainer_of(settings) if has_paths else None)
    if summary.total and summary.outcomes.keys() <= ROW_FAILURES:
        raise typer.Exit(_NOTHING_READ)


def export(
    folder: Annotated[Path, typer.Argument(help="What `graphflip explain --out` wrote.")],
    to: Annotated[Path, typer.Option(help="A .jsonl or .csv file.")],
) -> None:
    """Write the answers of a job as JSON lines, or as CSV that is safe to open in a spreadsheet."""
    from ..jobs.export import export

    console.print(f"{export(folder, to)} answers are in {to}.")


def make_engine(
    name: EngineName, workers: int, scheduler: str | None, row_seconds: float, unencrypted: bool
) -> "AbstractEngine":
    """Make the engine that options name."""
    from ..jobs import Processes

    if name is EngineName.dask:
        from ..jobs.cluster import Dask

        return Dask(scheduler, workers, row_seconds=row_seconds, unencrypted=unencrypted)
    if scheduler is not None:
        raise typer.BadParameter("a scheduler is for --engine dask; give both, or neither.")
    return Processes(workers, row_seconds)


def _print_summary(summary: "JobSummary") -> None:
    from rich.table import Table

    table = Table("outcome", "rows", "share", box=None)
    for outcome, count in sorted(summary.outcomes.items(), key=lambda item: -item[1]):
        table.add_row(outcome, str(count), f"{count / summary.done:.1%}")
    console.print(table)
    if summary.repaired:
        complaints.print(f"{summary.repaired} shards were damaged and have been computed again.")
    rows = "row" if summary.done == 1 else "rows"
    show(f"{summary.done} {rows}; explanations are in {summary.folder / 'counterfactuals.jsonl'}.")
    if summary.unexplained:
        show(f"Without a counterfactual, all of them in {summary.folder / 'unexplained.csv'}:")
    for text in summary.unexplained:
        show(f"  {text}")
