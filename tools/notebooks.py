"""Run the notebooks of the documentation and store their output in them.

Usage: python tools/notebooks.py [NAME …]     (without a name: all of docs/notebooks)
"""

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> Any:
    """Run a notebook from top to bottom and return it with its output; one thread, so that sums do not vary."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", extra_arguments=["--log-level=ERROR"])
    client.execute(cwd=str(path.parent), env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"})
    return notebook


def stored(notebook: Any) -> Any:
    """A notebook without what differs from one run to the next: times, and the version of Python."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


if __name__ == "__main__":
    for path in [FOLDER / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(stored(run(path)), path)
        print(f"{path.name}: {path.stat().st_size // 1024} KB")
