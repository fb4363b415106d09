"""Names of a package that are imported from their modules when they are first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give a package's `__getattr__` and `__dir__`: what its file imports under TYPE_CHECKING, imported on demand.

    Importing the package then costs nothing, and editors still see every name where it comes from.
    """
    homes = exported(file)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name], package), name)

    return load, lambda: sorted({*homes, *vars(sys.modules[package])})


def exported(file: str) -> dict[str, str]:
    """The names that a file imports under `if TYPE_CHECKING:`, each with the relative name of its module."""
    body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    blocks = [node.body for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block if isinstance(node, ast.ImportFrom)]
    return {alias.name: "." * node.level + (node.module or "") for node in imports for alias in node.names}
