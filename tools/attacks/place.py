"""The list of attacks, and the place where they happen: a folder of their own, and a kit that explains quickly."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphflip.jobs import AbstractEngine, JobSettings, open_source, run_job
from graphflip.jobs.folder import JobFolder, read_manifest

from .commands import Commands

SOURCES = Path(__file__).parents[2] / "src"
CLASSIFIERS = Path(__file__).parents[2] / "tests" / "jobs"
"""Folder of hostile.py, whose classifiers misbehave."""


@dataclass(frozen=True)
class Place:
    """An empty folder, the folder of a small kit, and processes for commands."""

    folder: Path
    kit: Path
    commands: Commands

    def settings(self, classifier: str | None = None, **options: Any) -> JobSettings:
        asked = {"prefer": "minimal", "target": "fancy", "budget": 1} | options
        return JobSettings.of(model=str(self.kit), classifier=classifier, **asked)

    def table(self, lines: Iterable[str], name: str = "molecules.csv") -> Path:
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        return path

    def job(self, source: Path | str, engine: AbstractEngine | None = None, **options: Any) -> list[dict[str, Any]]:
        """The answers of a job on a source."""
        out = self.folder / "job"
        run_job(open_source(str(source)), self.settings(**options), out, engine)
        return list(JobFolder(out, read_manifest(out)).answers())

    def command(self, *arguments: object, seconds: float = 120.0) -> subprocess.CompletedProcess[str]:
        """`graphflip …` in a process of its own, in the folder; a process that takes longer is an error."""
        return self.commands.run("graphflip.cli:main", arguments, self.folder, seconds)

    def started(self, *arguments: object, **variables: str) -> subprocess.Popen:
        """A process of `graphflip …` that runs on, started as a person starts it."""
        paths = os.pathsep.join(map(str, (SOURCES, CLASSIFIERS)))
        environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"} | variables
        return subprocess.Popen(
            [sys.executable, "-m", "graphflip", *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def explain(self, source: object, *options: object, **more: Any) -> subprocess.CompletedProcess[str]:
        """`graphflip explain` with the small kit and a quick question."""
        quick = ("--prefer", "minimal", "--target", "fancy", "--budget", 1)
        return self.command("explain", source, "--model", self.kit, *quick, *options, **more)


def refused(act: Callable[[], Any], kind: type[BaseException], words: str = "") -> None:
    """Check that something is refused with an error of this kind that has these words."""
    try:
        act()
    except kind as error:
        if words not in str(error):
            raise AssertionError(f"it was refused, but with {error}") from error
        return
    raise AssertionError("it was accepted")


Attack = Callable[[Place], None]
ATTACKS: dict[str, Attack] = {}
"""Attacks by name; one that does harm raises an AssertionError, or anything else."""


def attack(function: Attack) -> Attack:
    """Put a function on the list, by its name in words."""
    ATTACKS[function.__name__.replace("_", " ")] = function
    return function
