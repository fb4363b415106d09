"""Commands in processes of their own that start at once: all are forked from one that has imported the large packages.

A program `python commands.py` waits for requests, as lines of JSON, and runs one after the other.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

TOOLS, TESTS = Path(__file__).parents[1], Path(__file__).parents[2] / "tests"
IMPORTED = (
    *("graphflip.cli", "graphflip.jobs.answers", "graphflip.jobs.tables", "graphflip.data.pyg.file"),
    *("graphflip.data.tu.reading", "graphflip.models.networks.trees", "graphflip.report.page"),
    *("torch_geometric.data", "pyarrow.parquet", "pyarrow.compute", "rdkit.Chem", "pandas"),
)


class Commands:
    """Runs functions that read `sys.argv`, such as the command line, each in a new process; a context manager."""

    def __enter__(self) -> "Commands":
        self._program = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(_paths()), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._program.communicate(timeout=30)

    def run(
        self, function: str, arguments: Iterable[object], folder: Path, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `module:function` with these arguments in a folder; one that takes longer is an error."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        argv = [function, *map(str, arguments)]
        with tempfile.TemporaryDirectory() as aside:
            files = [Path(aside) / name for name in ("out", "err")]
            asked = {"argv": argv, "folder": str(folder), "seconds": seconds, "files": list(map(str, files))}
            self._program.stdin.write(json.dumps(asked) + "\n")
            self._program.stdin.flush()
            code = json.loads(self._program.stdout.readline())
            if code is None:
                raise subprocess.TimeoutExpired(argv, seconds)
            said = [file.read_text(errors="replace") for file in files]
        return subprocess.CompletedProcess(argv, code, *said)


def _paths() -> list[str]:
    """Where the package lies, the attacks, and classifiers that misbehave."""
    return [str(TOOLS.parent / "src"), str(TOOLS), str(TESTS / "jobs")]


def _serve() -> None:
    """Run what is asked for, and answer with the exit code; None if it took too long."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    for line in sys.stdin:
        asked = json.loads(line)
        process = context.Process(target=_run, args=(asked,))
        process.start()
        process.join(asked["seconds"])
        code = process.exitcode
        process.kill()
        process.join()
        print(json.dumps(code), flush=True)


def _run(asked: dict[str, Any]) -> None:
    """Program of the process: what it prints goes to files."""
    from graphflip.jobs import child

    for stream, file in zip((1, 2), asked["files"], strict=True):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), stream)
    os.chdir(asked["folder"])
    sys.path.insert(0, asked["folder"])  # as `python -m` does
    sys.argv = asked["argv"]
    # The workers of a job are forked from this process, too: a fork server of its own would import everything anew.
    child.get_context = lambda _: get_context("fork")  # pyright: ignore[reportAttributeAccessIssue]
    module, _, name = sys.argv[0].partition(":")
    getattr(import_module(module), name)()


if __name__ == "__main__":
    _serve()
