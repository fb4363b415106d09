"""`graphflip summarize`: what a model goes by."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .explain import EngineName, make_engine
from .terminal import complaints, console, prepare, show

if TYPE_CHECKING:
    from ..summary.groups import Group


def summarize(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Many graphs: a .csv, .smi, .sdf, .jsonl or .pt file, a TU folder, ames:test."
        ),
    ],
    model: Annotated[str, typer.Option(help="ames, logp, mutagenicity, aids, nci1, or the folder of a kit.")] = "ames",
    out: Annotated[Path, typer.Option(help="Folder for the page, summary.json and what they are made from.")] = Path(
        "summary"
    ),
    target: Annotated[
        str | None,
        typer.Option(
            help="One class, or a change of a predicted value ('raise by 1'). By default every class in turn."
        ),
    ] = None,
    num: Annotated[int, typer.Option(min=1, help="Recourses to print for each class.")] = 10,
    theta: Annotated[float, typer.Option(help="Largest cost: edits over the nodes and edges of both graphs.")] = 0.1,
    sample: Annotated[int, typer.Option(min=1, help="Graphs of each class that recourses are looked for in.")] = 120,
    answers: Annotated[int, typer.Option(min=0, help="Graphs of the sample that are explained one by one.")] = 40,
    held_out: Annotated[float, typer.Option(help="Share of the graphs that recourses are not chosen on.")] = 0.25,
    alone: Annotated[
        bool, typer.Option("--alone", help="Count every flip of the classifier, whatever the surrogates say.")
    ] = False,
    any_change: Annotated[
        bool,
        typer.Option("--any-change", help="Allow surroundings that the data do not have, and broken aromatic rings."),
    ] = False,
    num_graphs: Annotated[
        int, typer.Option(min=0, help="Graphs of each class to print that are near many of the others.")
    ] = 3,
    contains: Annotated[
        str | None, typer.Option(help="Only molecules with this substructure, a SMARTS text: a scaffold, say.")
    ] = None,
    ids: Annotated[
        Path | None, typer.Option(help="Only graphs whose ids stand in this file, one in a line: a cluster, say.")
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Only graphs that the classifier gets wrong; DATA must have labels.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            help="A second kit, or package.module:factory of a classifier: both side by side. Needs --target."
        ),
    ] = None,
    classifier: Annotated[str | None, typer.Option(help="Another classifier: package.module:factory.")] = None,
    function: Annotated[
        bool, typer.Option("--function", help="DATA names a function of your own code, which is imported and called.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    engine: Annotated[EngineName, typer.Option(help="Where to compute.")] = EngineName.local,
    scheduler: Annotated[
        str | None, typer.Option(help="Address or file of a Dask scheduler; without it, a local cluster is started.")
    ] = None,
    unencrypted: Annotated[
        bool,
        typer.Option("--unencrypted", help="Use a scheduler without TLS: who reads its network can run code as you."),
    ] = False,
) -> None:
    """Say what a classifier goes by: changes that flip its prediction for many graphs, with figures and pictures.

    A run that was stopped or killed goes on when the same command is given again.
    """
    from ..jobs import JobSettings, open_source
    from ..jobs.summaries import SummaryStopped, group_source, run_comparison, run_summary
    from ..report.summary_page import write_summary
    from ..summary.studies import SummaryOptions
    from .progress import job_bar

    prepare()
    options = SummaryOptions(
        num, theta, sample=sample, answers=answers, held_out=held_out, believed=not alone, valid=not any_change,
        num_graphs=num_graphs,
    )  # fmt: skip
    settings = JobSettings.of(model, classifier, target=target)
    source = group_source(open_source(what, function), settings, _group(what, contains, ids, wrong))
    if against is not None:
        second = (model, against) if ":" in against else (against, None)
        other = JobSettings.of(*second, target=target)
        show(str(run_comparison(source, settings, other, out, options)))
        return
    computing = make_engine(engine, workers, scheduler, 120.0, unencrypted)
    try:
        with job_bar(console) as watch:
            summary = run_summary(source, settings, out, computing, options, watch)
    except SummaryStopped as stop:
        show(str(stop), complaints)
        raise typer.Exit(130) from stop
    write_summary(out / "index.html", summary)
    show(str(summary))
    console.print(f"Open [bold]{out / 'index.html'}[/bold] in a browser.")


def _group(what: str, contains: str | None, ids: Path | None, wrong: bool) -> "Group":
    """The part of the graphs that is asked for."""
    from ..data.source import load_dataset
    from ..data.splits import PARTS
    from ..errors import DataError
    from ..summary.groups import Group

    labels = None
    if wrong:
        name, _, part = what.rpartition(":")
        data = load_dataset(name if part in PARTS else what)
        labels = {key: data.classes[int(label)] for key, label in zip(data.ids, data.labels, strict=True)}
    try:
        listed = None if ids is None else frozenset(ids.read_text().split())
    except OSError as error:
        raise DataError(f"{ids}: cannot be read ({error.strerror}). Give a file with one id in a line.") from error
    return Group(contains, listed, labels)
