"""The README's Python blocks run, in order, as one program."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run(tmp_path, monkeypatch):
    text = README.read_text()
    monkeypatch.chdir(tmp_path)
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks, "README.md shows no Python"
    namespace = {"__name__": "readme"}
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], str(README), "exec"), namespace)
