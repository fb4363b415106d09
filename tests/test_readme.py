"""The README's Python blocks run, in order, as one program."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run(tmp_path):
    text = README.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks, "README.md shows no Python"
    lines = [""] * len(text.splitlines())
    for block in blocks:
        first = text[: block.start(1)].count("\n")
        lines[first : first + block[1].count("\n")] = block[1].splitlines()
    program = tmp_path / "readme.py"  # a line has the number it has in README.md
    program.write_text("\n".join(lines))
    ran = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
