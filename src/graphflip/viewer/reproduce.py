"""Scripts: the Python lines that find again what is on the screen."""

import os
from typing import Any

from ..explain.kit import packaged_kits

_SETS = ("freeze_nodes", "freeze_edges", "forbid_node_types", "forbid_edge_types", "forbid_ops")


def reproduce(task: dict[str, Any], number: int = 0) -> str:
    """A script for answer `number` to a question, or for an explanation that came from a file, and what was undone."""
    asked = task.get("asked")
    found = _from_file(task) if asked is None else _question(task["input"], asked, number)
    again = [f"found = take_back(explainer, found, {sorted(task['undo'])})"] if task.get("undo") else []
    return "\n".join([*_imports(task), "", *_load(task), *found, *again, "print(found)", ""])


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
    """What to load: a kit of the package by its name, a folder by its path, which only its owner is shown."""
    if task["source"].lower() in packaged_kits():
        return repr(task["source"].lower())
    if task["private"]:
        return repr(os.path.abspath(task["source"]))
    return f"{task['model']!r}  # write the path to this folder"


def _from_file(task: dict[str, Any]) -> list[str]:
    return [
        'records = read_records(Path("counterfactuals.jsonl"), explainer.kit.schema)',
        f"found = next(one for one in records if one.id == {task['record']['id']!r})",
    ]


def _question(given: dict[str, Any], asked: dict[str, Any], number: int) -> list[str]:
    arguments = [_input(given), f"prefer={asked['prefer']!r}"]
    usual = {"target": None, "num": 1, "frontier": False, "confidence": None}
    arguments += [f"{name}={asked[name]!r}" for name, value in usual.items() if asked[name] != value]
    sets = [f"{name}=frozenset({_set(asked[name])})" for name in _SETS if asked[name]]
    sets += ["freeze_rings=True"] if asked["freeze_rings"] else []
    sets += [] if asked["budget"] is None else [f"budget={asked['budget']}"]
    arguments += [f"constraints=gf.Constraints({', '.join(sets)})"] if sets else []
    several = asked["num"] > 1 or asked["frontier"]
    choice = [f"found = found[{number}]"] if several else []
    return ["found = explainer.explain(", *(f"    {argument}," for argument in arguments), ")", *choice]


def _input(given: dict[str, Any]) -> str:
    if given.get("graph") is not None:
        return f"graph_from_json({given['graph']!r}, explainer.kit.schema)"
    return repr(given["smiles"].strip())


def _set(values: list[Any]) -> str:
    return "{" + ", ".join(repr(tuple(one) if isinstance(one, list) else one) for one in sorted(values)) + "}"
