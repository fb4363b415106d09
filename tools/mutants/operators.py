"""Automatic faults: comparisons, signs, constants and terms of core modules, one changed at a time."""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_BINARY = {"+": "-", "-": "+", "*": "/", "/": "*", "&": "|", "|": "&"}
_SKIPPED = (ast.AnnAssign, ast.Raise, ast.JoinedStr)
_KINDS = ("comparison", "sign", "term", "constant")


@dataclass(frozen=True)
class Fault:
    """Another text in place of a piece of a file."""

    name: str
    file: str
    old: str
    new: str
    start: int

    def plant(self, source: str) -> str:
        """The source with the fault."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]


def automatic(root: Path, files: list[str], count: int, seed: int) -> list[Fault]:
    """Draw faults from all that can be planted in these files, the same ones for one seed; each kind equally often."""
    every = [fault for file in files for fault in _faults(file, (root / file).read_text())]
    rng, drawn = random.Random(seed), []
    for k, kind in enumerate(_KINDS):
        of_kind = sorted((one for one in every if one.name.startswith(kind)), key=lambda one: (one.file, one.start))
        drawn += rng.sample(of_kind, min(len(of_kind), count // len(_KINDS) + (k < count % len(_KINDS))))
    rng.shuffle(drawn)
    return drawn


def _faults(file: str, source: str) -> Iterator[Fault]:
    at = _Offsets(source)
    for node in _nodes(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _between(file, source, at, node.left, node.comparators[0], _COMPARE, "comparison")
        elif isinstance(node, ast.BinOp):
            yield from _between(file, source, at, node.left, node.right, _BINARY, "sign")
            start, end = at.start(node), at.end(node)
            kept = f"({ast.unparse(node.left)})"
            yield Fault(f"term dropped, line {node.lineno}", file, source[start:end], kept, start)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start, end = at.start(node), at.end(node)
            value = node.value
            new = str(2 * value + 0.5) if isinstance(value, float) else str(int(value) + 1)  # pyright: ignore
            yield Fault(f"constant, line {node.lineno}", file, source[start:end], new, start)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a module's code, without annotations, messages and doc strings."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, _SKIPPED) or isinstance(tree, ast.arg):
            continue
        if isinstance(tree, ast.FunctionDef) and child is tree.returns:
            continue
        if isinstance(tree, ast.Subscript) and child is tree.slice and isinstance(tree.value, ast.Name):
            continue  # of a type, mostly
        yield child
        yield from _nodes(child)


def _between(
    file: str, source: str, at: "_Offsets", left: ast.expr, right: ast.expr, swaps: dict[str, str], kind: str
) -> Iterator[Fault]:
    """The operator between two operands, exchanged."""
    start, end = at.end(left), at.start(right)
    sign = source[start:end].strip(" ()\n")
    if sign in swaps:
        where = source.index(sign, start)
        yield Fault(f"{kind}, line {left.lineno}", file, sign, swaps[sign], where)


class _Offsets:
    """Places of nodes in a text, as numbers of characters."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _place(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())
