"""The shape of the code: imports point one way, rooms stay small, names say something, nothing loads code."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import graphflip
from graphflip.lazy import exported

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "graphflip"

# Each may import what stands in a line above it, or beside it in its own room. The longest name that fits counts.
LAYERS = """
    errors version lazy explain.display
    chemistry columns
    schema
    coloring lists
    validation
    graph
    testing jsongraph
    edits
    ged metrics nn data.edge_list data.ragged data.splits data.tables data.budget
    data.checks
    data.dataset
    data.nx data.planted data.pyg data.tu
    data.molecules
    data
    realism
    models.networks
    models.storage
    models.training
    models.adapters
    models
    explain.constraints explain.goals
    explain.query
    explain.moves
    explain.evidence explain.claims.needs explain.claims.boundary explain.claims.importance
    explain.counterfactual
    describe
    explain.claims
    explain.method
    explain.edits.candidates
    explain.latent
    explain.edits
    explain
    describe.takeback
    summary
    fit pyg rivals
    jobs
    bench
    bench.paper
    bench.quality bench.model
    bench.field
    report.draw
    report
    viewer
    cli
    __main__
"""
RANK = {part: rank for rank, line in enumerate(LAYERS.split("\n")) for part in line.split()}

FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "core", "base", "v2", "new", "future"}
CODE_LOADERS = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def module_name(file: Path) -> str:
    parts = file.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(SRC.rglob("*.py"))}
TREES = {name: ast.parse(file.read_text()) for name, file in FILES.items()}
ROOMS = sorted({file.parent for file in FILES.values()})


def imported(module: str) -> set[str]:
    """The modules of graphflip that a module imports: anywhere, in functions and under TYPE_CHECKING too."""
    found = set()
    is_package = FILES[module].name == "__init__.py"
    for node in ast.walk(TREES[module]):
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


def part(module: str) -> str:
    """The longest name in LAYERS that a module belongs to."""
    names = module.split(".")[1:]
    fitting = [".".join(names[:k]) for k in range(len(names), 0, -1) if ".".join(names[:k]) in RANK]
    assert fitting, f"add {module} to LAYERS in this file, where it belongs"
    return fitting[0]


def upward_imports() -> list[str]:
    # What a package's own file imports for type checkers are the names that it hands out.
    modules = [name for name, file in FILES.items() if file.name != "__init__.py"]
    pairs = [(module, other) for module in modules for other in imported(module)]
    return [f"{a} imports {b}" for a, b in pairs if part(a) != part(b) and RANK[part(b)] >= RANK[part(a)]]


def import_cycle() -> list[str]:
    try:
        TopologicalSorter({module: imported(module) for module in FILES}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_imports_point_one_way():
    assert not upward_imports()


def test_no_module_needs_itself():
    assert not import_cycle()


def test_the_checks_on_imports_see_a_fault(monkeypatch):
    for planted in ("def f():\n    from .graph import Graph", "if TYPE_CHECKING:\n    from . import graph"):
        monkeypatch.setitem(TREES, "graphflip.schema", ast.parse(planted))
        assert upward_imports() == ["graphflip.schema imports graphflip.graph"]
        assert {"graphflip.schema", "graphflip.graph"} <= set(import_cycle())


def test_rooms_are_small():
    full = {str(room.relative_to(SRC)): len(list(room.glob("*.py"))) - 1 for room in ROOMS}
    long = {name: len(file.read_text().splitlines()) for name, file in FILES.items()}
    assert not {name: count for name, count in full.items() if count > 14}, "more than 14 modules"
    assert not {name: count for name, count in long.items() if count > 300}, "more than 300 lines"


def test_no_two_classes_have_one_name():
    homes: dict[str, list[str]] = {}
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_public_things_have_docstrings():
    bare = []
    for module, tree in TREES.items():
        things = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        bare += [module] if not ast.get_docstring(tree) else []
        bare += [f"{module}.{node.name}" for node in things if node.name[0] != "_" and not ast.get_docstring(node)]
    assert not bare


def asks_for_a_kind_of_column(tree: ast.AST) -> list[str]:
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        call for call in calls if call.startswith("isinstance(") and re.search(r"\b(Categories|Continuous)\b", call)
    ]


def test_columns_know_what_they_can_do():
    """Only the schema asks of a column what kind it is; elsewhere its methods are called."""
    trees = {
        module: tree
        for module, tree in TREES.items()
        if not module.startswith(("graphflip.schema", "graphflip.columns"))
    }
    assert not {module: found for module, tree in trees.items() if (found := asks_for_a_kind_of_column(tree))}
    assert asks_for_a_kind_of_column(ast.parse("isinstance(column, Categories | Continuous)"))


def lazy_packages() -> list[str]:
    return [name for name, file in FILES.items() if file.name == "__init__.py" and exported(str(file))]


@pytest.mark.parametrize("package", lazy_packages())
def test_what_packages_export_exists(package):
    loaded = sys.modules.get(package) or __import__(package, fromlist=["_"])
    for name in exported(str(FILES[package])):
        assert name in dir(loaded)
        assert getattr(loaded, name).__doc__, f"{package}.{name} has no docstring"


def test_packages_import_nothing_when_they_are_imported():
    """`graphflip.Constraints` must not load the rest of the package."""
    code = "import sys, graphflip; graphflip.Constraints; print(*(n for n in sys.modules if n[:10] == 'graphflip.'))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(run.stdout.split()) <= 10, run.stdout


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


def test_modules_keep_the_rules():
    assert not {module: found for module, tree in TREES.items() if (found := faults(tree))}


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
