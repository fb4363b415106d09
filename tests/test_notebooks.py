"""The notebooks of the documentation run, and what they print is what they have stored."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(notebook) -> list[str]:
    """What every cell shows: its text, and HTML with a word in place of each picture."""
    texts = []
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        rich = [output.get("data", {"text/plain": output.get("text", "")}) for output in cell.outputs]
        texts.append("".join(data.get("text/html", data.get("text/plain", "")) for data in rich))
    return [PICTURE.sub("picture", text) for text in texts]


def differences(stored: list[str], again: list[str]) -> list[tuple[str, str]]:
    """Cells whose words differ, or whose numbers differ by more than rounding."""
    return [pair for pair in zip(stored, again, strict=True) if not _alike(*pair)]


def _alike(one: str, other: str) -> bool:
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (one, other)]
    words = [NUMBER.sub("number", text) for text in (one, other)]
    return words[0] == words[1] and all(abs(a - b) <= TOLERANCE for a, b in zip(*numbers, strict=True))


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["molecules", "other_graphs", "own_pyg_model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path, tool):
    pytest.importorskip("torch_geometric")
    stored = nbformat.read(path, as_version=4)
    assert not differences(shown(stored), shown(tool.run(path)))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebooks_are_small_and_have_pictures(path):
    text = path.read_text()
    assert len(text) < 300_000
    assert "<svg" in text
    assert '"output_type": "error"' not in text
    assert '"name": "stderr"' not in text


def test_the_comparison_sees_a_fault():
    assert not differences(["flipped, 0.91"], ["flipped, 0.92"])
    assert differences(["flipped, 0.91"], ["flipped, 0.95"])
    assert differences(["flipped, 0.91"], ["not flipped, 0.91"])
