"""Progress bars on a terminal, and plain lines where output is not a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from ..jobs.run import JobProgress
    from ..models.training.schedule import TrainingProgress

_SECONDS_BETWEEN_LINES = 10.0
_SHOWN = ("auroc", "accuracy", "neg_elbo", "atoms", "edges", "graphs")


@contextmanager
def training_bar(console: Console, what: str) -> Iterator[Callable[["TrainingProgress"], None]]:
    """Show loss, validation figures and time left; yields the function to call after each epoch."""
    figures: dict[str, float] = {}
    with task_bar(console) as advance:

        def watch(progress: "TrainingProgress") -> None:
            figures.update(progress.last.figures)
            shown = " ".join(f"{name} {figures[name]:.4g}" for name in _SHOWN if name in figures)
            advance(f"{what}: loss {progress.last.loss:.4f} {shown}", progress.epoch, progress.epochs)

        yield watch


@contextmanager
def job_bar(console: Console) -> Iterator[Callable[["JobProgress"], None]]:
    """Show outcomes so far, rate and time left; yields the function to call with a job's progress."""
    with task_bar(console) as advance:

        def watch(progress: "JobProgress") -> None:
            outcomes = ", ".join(f"{count} {name}" for name, count in sorted(progress.outcomes.items()))
            parts = ["finishing what is begun" if progress.stopping else outcomes or "explaining"]
            parts += [f"{progress.rate:.3g}/s"] if progress.rate else []
            parts += [] if progress.seconds_left is None else [f"{_duration(progress.seconds_left)} left"]
            advance("; ".join(parts), progress.done, progress.total)

        yield watch


def _duration(seconds: float) -> str:
    """A length of time as text.

    >>> [_duration(seconds) for seconds in (4.2, 200.0, 8000.0, 400000.0)]
    ['4 s', '3 min', '2.2 h', '4.6 d']
    """
    for size, unit in ((86400, "d"), (3600, "h")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


@contextmanager
def task_bar(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on a terminal, or a line every ten seconds elsewhere; yields a function `(text, done, total)`."""
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _lines(console: Console) -> Callable[[str, int, int], None]:
    last = 0.0

    def advance(what: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS_BETWEEN_LINES or done == total:
            last = time.monotonic()
            console.print(f"{what} ({done}/{total})", markup=False, highlight=False, soft_wrap=True)

    return advance
