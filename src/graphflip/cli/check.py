"""`graphflip check`: try a classifier of your own and say what was recognized of it."""

from typing import Annotated

import typer

from .terminal import prepare, show


def check(
    classifier: Annotated[str, typer.Argument(help="package.module:factory of a classifier of your own.")],
    data: Annotated[
        str, typer.Option(help="Graphs that it is meant for: whatever `graphflip fit` reads, or the name of a set.")
    ],
    function: Annotated[
        bool, typer.Option("--function", help="DATA names a function of your own code, which is imported and called.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
) -> None:
    """Try a classifier of your own on data, and print what it is, what it reads and returns, and how it answers."""
    from ..fit.graphs import load_graphs
    from ..models.adapters.diagnosis import diagnose
    from ..models.adapters.factory import call_factory

    prepare()
    dataset = load_graphs(data, skip_bad, function)
    diagnosis = diagnose(call_factory(classifier, dataset.schema), dataset)
    show(f"{classifier} on {dataset}\n{diagnosis}")
    if not diagnosis.usable:
        raise typer.Exit(2)
    flags = (" --function" if function else "") + (" --skip-bad" if skip_bad else "")
    show(f"\nIt can be used: graphflip fit {data}{flags} --classifier {classifier} --out kit")
