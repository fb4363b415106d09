"""The shape of the code: imports point one way, names say something, nothing loads code or names a machine."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import graphflip

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "graphflip"

# Each may import what stands above it; parts that share a line do not import each other.
LAYERS = [
    {"errors", "memory"},
    {"chemistry"},
    {"schema"},
    {"isomorphism", "refinement"},
    {"graph"},
    {"testing", "jsongraph"},
    {"edits"},
    {"data", "nn", "metrics", "ged"},
    {"models"},
    {"explain"},
    {"pyg", "fit"},
    {"jobs"},
    {"bench"},
    {"report"},
    {"viewer"},
    {"progress"},
    {"cli"},
    {"__main__"},
]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "core", "base", "v2", "new", "future"}
CODE_LOADERS = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def module_name(file: Path) -> str:
    parts = file.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(SRC.rglob("*.py"))}
TREES = {name: ast.parse(file.read_text()) for name, file in FILES.items()}


def part(module: str) -> str:
    """The part of the package a module belongs to: its folder, or its file up to an underscore (ged_exact → ged)."""
    name = module.split(".")[1]
    return name if name.startswith("_") else name.split("_")[0]


def runtime_nodes(tree: ast.AST, inside_functions: bool = True) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`, and, if asked, those in functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not inside_functions:
            continue
        yield node
        yield from runtime_nodes(node, inside_functions)


def imported(module: str, inside_functions: bool = True) -> set[str]:
    """The modules of graphflip that a module imports."""
    found = set()
    is_package = FILES[module].name == "__init__.py"
    for node in runtime_nodes(TREES[module], inside_functions):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")
            package = package[: len(package) - node.level + is_package] if node.level else []
            origin = ".".join([*package, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                found.add(inner if inner in FILES else origin)
    return {name for name in found if name in FILES and name != module}


def test_every_module_has_its_layer():
    unknown = sorted({part(module) for module in FILES if "." in module} - set(RANK))
    assert not unknown, f"add {unknown} to LAYERS in this file, where they belong"


@pytest.mark.parametrize("module", [name for name in FILES if "." in name])
def test_imports_point_one_way(module):
    for other in imported(module) - {"graphflip"}:
        if part(other) != part(module):
            assert RANK[part(other)] < RANK[part(module)], f"{module} imports {other}, which stands above or beside it"


def test_the_package_itself_imports_nothing():
    assert imported("graphflip") == set()


def test_no_module_needs_itself():
    """Imports at module level, within a part of the package too, form no cycle."""
    needs = {module: imported(module, inside_functions=False) - {"graphflip"} for module in FILES}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' → '.join(error.args[1])}")


def test_the_checks_on_imports_see_a_fault(monkeypatch):
    monkeypatch.setitem(TREES, "graphflip.schema", ast.parse("def f():\n    from .graph import Graph"))
    with pytest.raises(AssertionError, match=r"graphflip.schema imports graphflip.graph"):
        test_imports_point_one_way("graphflip.schema")
    monkeypatch.setitem(TREES, "graphflip.schema", ast.parse("from . import graph"))
    with pytest.raises(pytest.fail.Exception, match="import cycle"):
        test_no_module_needs_itself()


@pytest.mark.parametrize("module", FILES)
def test_public_things_have_docstrings(module):
    tree = TREES[module]
    assert ast.get_docstring(tree), f"{module} has no docstring"
    things = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    bare = [node.name for node in things if not node.name.startswith("_") and not ast.get_docstring(node)]
    assert not bare, f"{module}: no docstring for {bare}"


def test_what_the_package_exports_exists_and_is_described():
    assert set(graphflip._HOME) < set(dir(graphflip))
    for name in graphflip._HOME:
        assert getattr(graphflip, name).__doc__, f"graphflip.{name} has no docstring"


def test_type_checkers_see_what_the_package_exports():
    block = next(node for node in TREES["graphflip"].body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == graphflip._HOME


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'graphflip' has no attribute 'Grpah'"):
        graphflip.Grpah  # noqa: B018 # pyright: ignore


@pytest.mark.parametrize("folder", ["src", "tests", "examples", "benchmarks"])
def test_file_names_say_something(folder):
    vague = [file for file in (ROOT / folder).rglob("*.py") if file.stem.removeprefix("test_") in FORBIDDEN_NAMES]
    assert not vague, f"name these for what is in them: {vague}"


def faults(tree: ast.AST) -> list[str]:
    """What no module of the package may do."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            found.append("from __future__ import annotations hides shapes from jaxtyping")
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [f"{name} runs code from files" for name in names if name.split(".")[0] in CODE_LOADERS]
        if isinstance(node, ast.Call):
            call, text = ast.unparse(node.func), ast.unparse(node)
            if call == "torch.load" and "weights_only=True" not in text:
                found.append("torch.load without weights_only=True runs code from files")
            if call in ("eval", "exec") or "allow_pickle=True" in text:
                found.append(f"{call} runs code from files")
            if call in ("torch.manual_seed", "torch.seed", "random.seed", "np.random.seed", "numpy.random.seed"):
                found.append(f"{call} changes the user's random numbers: pass a torch.Generator")
    return found


@pytest.mark.parametrize("module", FILES)
def test_modules_keep_the_rules(module):
    assert faults(TREES[module]) == []


@pytest.mark.parametrize(
    "fault",
    [
        "from __future__ import annotations",
        "import pickle",
        "from joblib import load",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "eval(text)",
        "torch.manual_seed(0)",
    ],
)
def test_rules_see_a_fault(fault):
    assert len(faults(ast.parse(fault))) == 1


@pytest.mark.parametrize("module", ["graphflip", "graphflip.cli"])
def test_import_is_light(module):
    """`import graphflip` and `graphflip --help` must not wait for torch or for an optional package."""
    heavy = {"torch", "torch_geometric", "rdkit", "networkx", "sklearn", "matplotlib", "pandas", "scipy", "fastapi"}
    code = f"import sys, {module}; print(*sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


# Built from pieces, so that this file does not name them either.
NOT_OURS = re.compile(
    "|".join([r"(?<![\w.~-])/(work|root|opt|tmp)/", "pypi" + r"\.org", "python" + "hosted", "npm" + "js"])
)


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_files_name_no_machine_and_no_registry():
    found = []
    for file in tracked_files():
        content = file.read_bytes()
        if b"\0" not in content[:8192] and (match := NOT_OURS.search(content.decode(errors="replace"))):
            found.append(f"{file.relative_to(ROOT)}: {match[0]}")
    assert not found, "\n".join(found)


def test_the_check_on_paths_sees_a_fault():
    assert NOT_OURS.search("open('/" + "tmp/x')")
    assert NOT_OURS.search("https://" + "pypi" + ".org/simple")
    assert not NOT_OURS.search("https://example.com/" + "work" + "/of/art and ../" + "work" + "/x")
