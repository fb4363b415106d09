"""Pages of the API reference and of the command line, from what the packages export."""

import ast
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from graphflip.cli import app
from graphflip.lazy import exported

PACKAGE = Path(__file__).parents[2] / "src" / "graphflip"
# Public modules of packages that export nothing, or that stand alone: all of their public names are shown.
MODULES = (
    "graphflip.edits",
    "graphflip.errors",
    "graphflip.jsongraph",
    "graphflip.metrics",
    "graphflip.pyg",
    "graphflip.testing",
    "graphflip.data.planted.classes",
    "graphflip.data.planted.motif",
    "graphflip.data.planted.relays",
)


def reference_modules() -> list[str]:
    """The packages that export names, and the public modules that stand alone, in the order of the alphabet."""
    return sorted([*_packages(), *MODULES])


def module_page(name: str) -> str:
    """The page of a package or module. A name that a smaller package exports too is described there, once."""
    if name in MODULES:
        return f"::: {name}\n    options:\n      heading_level: 1\n      show_root_full_path: true\n"
    names = sorted(_packages()[name], key=str.lower)
    homes = {thing: _home(name, thing) for thing in names}
    about = f"::: {name}\n    options:\n      show_root_heading: false\n      members: false\n"
    rows = [f"| [`{thing}`][{homes[thing]}.{thing}] | {_summary(name, thing)} |" for thing in names]
    own = [f"::: {name}.{thing}\n" for thing in names if homes[thing] == name]
    return "\n".join([f"# {name}\n", about, "| name | |\n|---|---|", *rows, "", *own])


def overview() -> str:
    """The list of all pages of the reference."""
    lines = ["# Reference", "", "Everything that graphflip's packages export, from the docstrings of the code.", ""]
    lines += ["- [The command line](cli.md)"]
    for name in reference_modules():
        things = ", ".join(f"`{thing}`" for thing in sorted(_packages().get(name, []), key=str.lower))
        lines.append(f"- [`{name}`]({name}.md)" + (f": {things}" if things else ""))
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command, info_name="graphflip"), name="graphflip")
    return text.replace("# `graphflip`", "# The command line", 1)


def _packages() -> dict[str, dict[str, str]]:
    """Each package that exports names, with the modules that its names come from."""
    files = sorted(PACKAGE.rglob("__init__.py"))
    names = {".".join(file.parent.relative_to(PACKAGE.parent).parts): exported(str(file)) for file in files}
    return {name: homes for name, homes in names.items() if homes}


def _home(package: str, thing: str) -> str:
    """The package on whose page a name is described: the innermost one that exports it."""
    origin = _origin(package, thing)
    homes = [name for name, things in _packages().items() if thing in things and _origin(name, thing) == origin]
    return max(homes, key=lambda name: (name.count("."), name))


def _origin(package: str, thing: str) -> str:
    """The full name of the module that a package takes a name from."""
    relative = _packages()[package][thing]
    level = len(relative) - len(relative.lstrip("."))
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], relative.lstrip(".")])


def _summary(package: str, thing: str) -> str:
    """The first sentence of a docstring, for a table."""
    origin = PACKAGE.parent.joinpath(*_origin(package, thing).split("."))
    file = origin.with_suffix(".py") if origin.with_suffix(".py").exists() else origin / "__init__.py"
    named = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if getattr(node, "name", "") == thing]
    text = " ".join((ast.get_docstring(named[-1]) or "").split("\n\n")[0].split()) if named else ""
    return text.replace("|", "\\|")
