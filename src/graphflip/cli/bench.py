"""`graphflip bench`: measure explainers on whole test splits."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ConfigError
from .report import write_page
from .terminal import console, prepare

app = typer.Typer(help="Measure explainers on whole test splits.", no_args_is_help=True)


@app.command()
def paper(
    data: Annotated[str, typer.Option(help="Datasets, separated by commas: aids, mutagenicity, nci1; or all.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the tables, the figure and the counterfactuals.")] = Path(
        "results/paper"
    ),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Explain at most this many test graphs, for a quick look.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds of the latent walk.")] = 3,
    splits: Annotated[
        int, typer.Option(min=1, help="Instead, train the models on this many random splits: means of their figures.")
    ] = 1,
    walks: Annotated[int, typer.Option(min=0, help="With --splits: number of splits to walk on, too.")] = 2,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="With --splits: train autoencoders for at most this many epochs.")
    ] = None,
) -> None:
    """Repeat the paper's experiment: its method and baselines, measured on three datasets, as tables and a figure.

    A run that was stopped or killed continues when the same command is given again.
    """
    from ..bench.paper.experiment import run_paper
    from ..data.tu.reading import PAPER_SETS
    from .progress import task_bar

    prepare()
    names = list(PAPER_SETS) if data == "all" else _split(data)
    if splits > 1:
        _splits(names, out, splits, walks, epochs, limit)
        return
    with task_bar(console) as watch:
        written = run_paper(names, out, limit, range(seeds), watch)
    console.print(f"Tables, figure and counterfactuals are in {written}.")
    write_page(written, written / "report.html")


def _splits(names: list[str], out: Path, splits: int, walks: int, epochs: int | None, limit: int | None) -> None:
    from ..bench.paper.splits import Plan, run_splits
    from .progress import task_bar

    with task_bar(console) as watch:
        written = run_splits(names, out, Plan(splits, walks, epochs, limit), watch)
    console.print(written.read_text(encoding="utf-8"), markup=False)


@app.command()
def quality(
    data: Annotated[
        str, typer.Option(help="Datasets, separated by commas: ames, mutagenicity, nci1, aids, planted; or all.")
    ] = "all",
    part: Annotated[
        str, typer.Option(help="The part of the data to explain: test, or validation while choosing settings.")
    ] = "test",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Explain at most this many graphs of each dataset, for a quick look.")
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods to measure, separated by commas, such as minimal,limit; or all; or none, to measure only "
            "counterfactuals that the folder holds."
        ),
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds of the methods that are random.")] = 3,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes, of one thread each.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the tables, the figure and the counterfactuals.")] = Path(
        "results/quality"
    ),
) -> None:
    """Measure how small, believable and valid counterfactuals are, method by method.

    A run that was stopped or killed continues when the same command is given again.
    """
    from ..bench.quality.benchmark import DATASETS, run_quality
    from ..bench.quality.rows import ROWS, chosen
    from .progress import task_bar

    prepare()
    names = list(DATASETS) if data == "all" else _split(data)
    rows = ROWS if methods == "all" else () if methods == "none" else chosen(_split(methods))
    with task_bar(console) as watch:
        written = run_quality(names, out, rows, part, limit, range(seeds), workers, watch)
    console.print(f"Tables, picture and counterfactuals are in {written}.")
    write_page(written, written / "report.html")


@app.command()
def model(
    data: Annotated[str, typer.Option(help="Datasets, separated by commas: aids, mutagenicity, nci1; or all.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the tables.")] = Path("results/model"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most this many graphs of each part, for a quick look.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random walk, which is a baseline.")] = 0,
    parts: Annotated[
        str,
        typer.Option(
            help="Parts, separated by commas: recourse, graphs, directions, any_change, ceilings, shuffled; or all."
        ),
    ] = "all",
    every: Annotated[int, typer.Option(min=1, help="4 for every fourth input alone; 1 for all.")] = 1,
    sample: Annotated[int, typer.Option(min=1, help="Inputs that recourses are looked for in.")] = 90,
) -> None:
    """Measure summaries of a model: coverage and cost in the terms of GCFExplainer and ComRecGC.

    A run that was stopped or killed continues with the next part when the same command is given again.
    """
    from ..bench.model.benchmark import SETS, run_model
    from .progress import task_bar

    prepare()
    with task_bar(console) as watch:
        names = list(SETS) if data == "all" else _split(data)
        written = run_model(names, out, limit, seed, () if parts == "all" else _split(parts), every, sample, watch)
    console.print(f"The table is {written}.")


@app.command()
def field(
    data: Annotated[
        str,
        typer.Option(
            help="Sets, separated by commas: aids, mutagenicity, nci1, ames; planted, classes, relays, tree_cycles, "
            "ba_shapes (their answers are known); TU folders; files of SMILES or PyG graphs."
        ),
    ] = "aids,mutagenicity,nci1",
    methods: Annotated[
        str, typer.Option(help="Methods to measure, separated by commas, such as cf_gnn,balanced; or usual, or all.")
    ] = "usual",
    oracles: Annotated[
        str, typer.Option(help="Classifiers to explain, separated by commas: kit, gcn, gin; or all.")
    ] = "kit,gcn",
    part: Annotated[str, typer.Option(help="The part of the data to explain: test or validation.")] = "test",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Explain this many graphs of each set, drawn at random.")
    ] = None,
    fewer: Annotated[
        str,
        typer.Option(help="Slow methods with the number of graphs they get, the first drawn: exmol=24,cf2=40."),
    ] = "",
    sample: Annotated[int, typer.Option(min=0, help="Seed by which graphs are drawn.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the methods.")] = 0,
    ged_seconds: Annotated[float, typer.Option(min=0, help="Seconds for the edit distance of each pair.")] = 0.2,
    stability: Annotated[
        int, typer.Option(min=0, help="Measure the stability of the methods, too, on this many graphs of each set.")
    ] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes, of one thread each.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Compute on this Dask scheduler, whose workers see the same files; or local.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, pictures, models and counterfactuals.")] = Path(
        "results/field"
    ),
) -> None:
    """Compare methods of the literature and ours: one table, the same judges, exact edit distances.

    A run that was stopped or killed continues when the same command is given again. Rows that the folder's table has
    of other methods, sets and oracles stay in it.
    """
    from ..bench.field.benchmark import FieldPlan, run_field
    from ..bench.field.methods import METHODS, USUAL
    from ..bench.field.oracles import ORACLES
    from ..bench.field.stability import run_stability
    from .progress import task_bar

    prepare()
    names = {"usual": list(USUAL), "all": list(METHODS)}.get(methods) or _split(methods)
    chosen = list(ORACLES) if oracles == "all" else _split(oracles)
    plan = FieldPlan(_split(data), names, chosen, part, limit, sample, seed, ged_seconds, _counts(fewer))
    with task_bar(console) as watch:
        written = run_field(plan, out, workers, watch, scheduler)
    if stability:
        with task_bar(console) as watch:
            run_stability(plan, out, stability, watch)
    console.print(f"Tables, pictures and the page index.html are in {written}.")


def _counts(text: str) -> dict[str, int]:
    """Numbers by name, from words like exmol=24."""
    pairs = [word.partition("=") for word in _split(text)]
    wrong = next(("".join(pair) for pair in pairs if not pair[2].isdigit()), None)
    if wrong is not None:
        raise ConfigError(f"`--fewer` must be like exmol=24,cf2=40; got {wrong!r}.")
    return {name: int(count) for name, _, count in pairs}


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
