"""Docstrings of what the packages export: plain first sentences, arguments, results, and an example that runs."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from graphflip.lazy import exported

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "graphflip"
PACKAGES = ("graphflip", "graphflip.explain", "graphflip.models", "graphflip.models.adapters", "graphflip.data")
RIDDLE = re.compile(r"(What|Whether|How|Which|Where|Who)\b")


def riddles(tree: ast.AST) -> list[str]:
    """The first lines of docstrings that begin with a question word."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    return [text.split("\n")[0] for text in texts if RIDDLE.match(text)]


def missing_parts(thing) -> list[str]:
    """The parts of a docstring that an editor and the reference need, and that are not there."""
    text = inspect.getdoc(thing) or ""
    signature = inspect.signature(thing)
    named = [one for one in signature.parameters.values() if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    wanted = {"Example:": True, ">>>": True, "Args:": bool(named) and not _describes_its_fields(thing)}
    wanted["Returns:"] = inspect.isfunction(thing) and signature.return_annotation not in (
        None,
        inspect.Signature.empty,
    )
    return [part for part, is_wanted in wanted.items() if is_wanted and part not in text]


def _describes_its_fields(thing) -> bool:
    """True of a pydantic model each of whose fields has a description: that is what commands and pages show."""
    return hasattr(thing, "model_fields") and all(field.description for field in thing.model_fields.values())


def public_things() -> dict[str, object]:
    files = {package: SRC.joinpath(*package.split(".")[1:], "__init__.py") for package in PACKAGES}
    names = [(package, name) for package, file in files.items() for name in exported(str(file))]
    return {f"{package}.{name}": getattr(import_module(package), name) for package, name in names}


def test_no_docstring_begins_with_a_question():
    trees = {str(file.relative_to(SRC)): ast.parse(file.read_text()) for file in SRC.rglob("*.py")}
    assert not {name: found for name, tree in trees.items() if (found := riddles(tree))}


def test_public_docstrings_are_complete():
    described = {name: thing for name, thing in public_things().items() if not _speaks_for_itself(thing)}
    assert not {name: parts for name, thing in described.items() if (parts := missing_parts(thing))}


def _speaks_for_itself(thing: object) -> bool:
    """True of errors, whose arguments are those of Exception, and of enumerations."""
    return inspect.isclass(thing) and (issubclass(thing, Exception) or hasattr(thing, "__members__"))


def test_the_checks_see_a_fault():
    def bare(graph: int) -> int:
        """Whether it is so."""
        return graph

    assert riddles(ast.parse('def f():\n    """What a search goes on from."""')) == ["What a search goes on from."]
    assert missing_parts(bare) == ["Example:", ">>>", "Args:", "Returns:"]


def test_contributing_shows_all_layers():
    listed = re.search(r'^LAYERS = """\n(.*?)^"""', (ROOT / "tests" / "test_architecture.py").read_text(), re.M | re.S)
    shown = re.findall(r"^```text\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    assert listed is not None
    assert [line.strip() for line in listed[1].splitlines()] in [text.splitlines() for text in shown]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_have_a_page(package):
    """A package is in the reference if it exports names under TYPE_CHECKING."""
    assert exported(str(SRC.joinpath(*package.split(".")[1:], "__init__.py")))
