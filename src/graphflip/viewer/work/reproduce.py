"""Scripts: the Python lines that find again what is on the screen."""

import os
from typing import Any

from ...explain.kit import packaged_kits
from ...explain.query import Query


def reproduce(task: dict[str, Any], number: int = 0) -> str:
    """A script for answer `number` to a question, or for an explanation that came from a file, and what was undone."""
    asked = task.get("asked")
    answer = _from_file(task) if asked is None else _question(task["input"], asked, number)
    undone = f"counterfactual = take_back(explainer, counterfactual, {sorted(task.get('undo') or ())})"
    again = [undone] if task.get("undo") else []
    return "\n".join([*_imports(task), "", *_load(task), *answer, *again, "print(counterfactual)", ""])


def _imports(task: dict[str, Any]) -> list[str]:
    is_from_file = task.get("asked") is None
    wanted = ["from pathlib import Path", ""] if is_from_file else []
    wanted.append("import graphflip as gf")
    if task.get("classifier"):
        wanted.append("from graphflip.explain.kit import kit_schema")
    if is_from_file:
        wanted.append("from graphflip.explain.records import read_records")
    if task.get("undo"):
        wanted.append("from graphflip.describe.takeback import take_back")
    if not is_from_file and task["input"].get("graph") is not None:
        wanted.append("from graphflip.jsongraph import graph_from_json")
    if task.get("classifier"):
        wanted.append("from graphflip.models.adapters.factory import load_factory")
    return wanted


def _load(task: dict[str, Any]) -> list[str]:
    kit = [f"kit = {_kit(task)}"]
    if not task.get("classifier"):
        return [*kit, "explainer = gf.load(kit)"]
    return [*kit, f"explainer = gf.load(kit, classifier=load_factory({task['classifier']!r}, kit_schema(kit)))"]


def _kit(task: dict[str, Any]) -> str:
    """Python text of the kit: its name if the package carries it, else its path, which only its owner is shown."""
    if task["source"].lower() in packaged_kits():
        return repr(task["source"].lower())
    if task["private"]:
        return repr(os.path.abspath(task["source"]))
    return f"{task['model']!r}  # write the path to this folder"


def _from_file(task: dict[str, Any]) -> list[str]:
    return [
        'records = read_records(Path("counterfactuals.jsonl"), explainer.kit.schema)',
        f"counterfactual = next(record for record in records if record.id == {task['record']['id']!r})",
    ]


def _question(given: dict[str, Any], asked: dict[str, Any], number: int) -> list[str]:
    query = Query.of(**asked)
    arguments = [_input(given), *(f"{name}={value!r}" for name, value in query.changes().items())]
    choice = [f"counterfactual = answers[{number}]"] if query.num > 1 or query.frontier else []
    name = "answers" if choice else "counterfactual"
    return [f"{name} = explainer.explain(", *(f"    {argument}," for argument in arguments), ")", *choice]


def _input(given: dict[str, Any]) -> str:
    if given.get("graph") is not None:
        return f"graph_from_json({given['graph']!r}, explainer.kit.schema)"
    return repr(given["smiles"].strip())
