"""`graphflip score`: measure counterfactuals of any tool."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .terminal import console, prepare

if TYPE_CHECKING:
    from ..bench.score_file import Scores

_SHOWN = {
    "n": "explanations",
    "found": "with a graph",
    "flip_ratio": "flip ratio",
    "nafr": "NAFR, GNN judge",
    "nafr_ceiling": "  its ceiling",
    "nafr_other": "NAFR, trees",
    "nafr_other_ceiling": "  its ceiling",
    "mean_edits": "edits",
    "mean_heavy_edits": "heavy edits",
    "ged_lower": "GED, at least",
    "ged": "GED, at most",
    "ged_exact_share": "  proved",
    "one_minimal": "1-minimal",
    "edge_sp": "EdgeSp",
    "node_sp": "NodeSp",
    "environment": "environment",
    "plausible": "plausible",
    "molecule": "molecule",
    "radical_free": "radical-free",
    "round_trip": "round trip",
    "nitro_touched": "nitro touched",
    "aromatic_kept": "aromatic rings kept",
    "scaffold_kept": "scaffold kept",
    "rings_known": "ring systems known",
    "sa_up_le1": "SA rise at most 1",
    "similarity": "similarity",
    "new_stereo": "new stereocentres",
    "halogens_added": "halogens added",
    "changes": "chemist's changes",
    "alerts_toward.mutagen": "alerts come, to mutagen",
    "alerts_toward.nonmutagen": "alerts go, to nonmutagen",
    "class_minimal": "class-minimal",
    "classifier_calls": "classifier calls",
    "seconds": "seconds",
}


def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="Counterfactuals of any tool: JSON lines (docs/concepts/format.md), pairs of SMILES in a .csv, two "
            "lists of PyG graphs in a .pt, or a folder of these."
        ),
    ],
    model: Annotated[str, typer.Option(help="ames, logp, mutagenicity, aids, nci1, or the folder of a kit.")],
    data: Annotated[
        str | None,
        typer.Option(help="A dataset whose real test graphs are measured too: their NAFR is the ceiling."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
    lines: Annotated[
        Path | None, typer.Option(help="Write all measures of each counterfactual to this .csv or .jsonl file.")
    ] = None,
    ged_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to spend on the graph edit distance of each pair.")
    ] = 0.1,
    field: Annotated[
        Path | None,
        typer.Option(help="Add the figures to the table of this folder of `graphflip bench field`, as a method."),
    ] = None,
    oracle: Annotated[str, typer.Option(help="With --field: the classifier they are about: kit, gcn or gin.")] = "kit",
    method: Annotated[
        str | None, typer.Option(help="With --field: the name of the method. Default: the file's.")
    ] = None,
) -> None:
    """Measure the counterfactuals of this or any other tool: flips, sizes, minimality and evidence."""
    from ..bench.score_file import check_lines_path, score_file

    prepare()
    if field is not None:
        from ..bench.field.add import add_to_field

        add_to_field(file, field, data or model, oracle, method, ged_seconds)
        console.print(f"The figures are in the tables of {field}.")
        return
    if lines is not None:
        check_lines_path(lines)
    scores = score_file(file, model, data, ged_seconds)
    _print(scores)
    if out is not None:
        scores.write(out)
    if lines is not None:
        scores.write_lines(lines)


def _print(scores: "Scores") -> None:
    from rich.markup import escape
    from rich.table import Table

    columns = {**scores.figures, **({"real graphs": scores.real} if scores.real else {})}
    table = Table("", *(escape(name) for name in columns), box=None)
    for key, words in _SHOWN.items():
        cells = [_cell(figures.get(key)) for figures in columns.values()]
        if any(cells):
            table.add_row(words, *cells)
    console.print(table)


def _cell(value: float | int | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
