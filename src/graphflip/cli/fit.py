"""`graphflip fit`: make a kit for graphs of your own."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .terminal import console, prepare, report_bad, show


def fit(
    data: Annotated[
        str,
        typer.Argument(
            help="A SMILES file with a label column, a .pt file of PyG graphs, a TU folder or zip, the name of a "
            "dataset (ames), or with --function package.module:function of your own that returns PyG graphs."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the kit: models, knowledge and readiness.json.")],
    classifier: Annotated[
        str,
        typer.Option(help="train (on the labels), none, or package.module:factory of a classifier of your own."),
    ] = "train",
    max_nodes: Annotated[
        int | None, typer.Option(min=1, help="Leave out graphs with more nodes than this. Default: keep all.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Column of a table that holds the labels; all: a kit for each column that can."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Processor minutes that this may take. Default: as many as sets of this size need, at most 5.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run; complete models are kept.")
    ] = False,
    function: Annotated[
        bool, typer.Option("--function", help="DATA names a function of your own code, which is imported and called.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
    write_labels: Annotated[
        bool, typer.Option("--write-labels", help="Write a labels.json for the names of a TU set's labels, and end.")
    ] = False,
) -> None:
    """Make a kit for your own graphs: train and measure all models that explanations need, in one folder."""
    from ..fit.columns import ALL, fit_columns
    from ..fit.graphs import load_graphs, with_limit
    from ..fit.kit import fit_kit
    from ..fit.remarks import remarks, written_labels
    from .progress import task_bar

    prepare()
    if write_labels:
        show(written_labels(data))
        return
    if target == ALL:
        settings: dict[str, Any] = {"skip_bad": skip_bad, "minutes": minutes, "resume": resume, "announce": show}
        for column, folder, figures in fit_columns(data, out, classifier, **settings):
            show(f"{column.name}: {folder}\n{figures or 'no kit'}")
        return
    dataset = load_graphs(data, skip_bad, function, target)
    report_bad(len(dataset.bad))
    if max_nodes is not None:
        too_large = int((dataset.num_nodes > max_nodes).sum())
        console.print(f"{too_large} graphs of more than {max_nodes} nodes are left out.")
        dataset = with_limit(dataset, max_nodes)
    for remark in remarks(dataset, data, target):
        show(remark)
    with task_bar(console) as advance:
        readiness = fit_kit(
            dataset, out, classifier, minutes=minutes, resume=resume, watch=advance, announce=lambda p: show(str(p))
        )
    show(str(readiness))
    more = f" --classifier {classifier}" if ":" in classifier else ""
    more += ' --target "raise by 1"' if readiness.r2 else ""
    show(f"\ngraphflip explain INPUT --model {out}{more}")
