"""Notebooks as pages: their text, code and stored output. Nothing is run."""

import json
from pathlib import Path
from typing import Any


def as_markdown(path: Path) -> str:
    """The Markdown of a notebook, with a link to the notebook itself."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [_cell(cell) for cell in cells]
    title, _, rest = parts[0].partition("\n")
    link = f"[Download this notebook]({path.name})"
    return "\n\n".join([title, link, rest, *parts[1:]]) + "\n"


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "text/html" in data:
        # One line: a blank line would end the block for Markdown.
        return f'<div class="output">{" ".join("".join(data["text/html"]).splitlines())}</div>'
    if "image/svg+xml" in data:
        return f'<div class="output">{" ".join("".join(data["image/svg+xml"]).splitlines())}</div>'
    text = "".join(data["text/plain"]).rstrip("\n")
    return f"```text {{ .output }}\n{text}\n```"
