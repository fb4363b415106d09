"""Views: what the page shows, as JSON, computed from an explainer and a request. Workers run these."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...data.inputs import InputRow
from ...data.molecules.carry import carry
from ...data.molecules.famous import famous_molecules
from ...describe.claims import each_needed, needs, smaller_answer
from ...describe.takeback import take_back
from ...describe.wording import sentences
from ...edits import Edit, edits_between, heavy_edits
from ...errors import DataError, GraphError, GraphflipError, SchemaError
from ...explain.counterfactual import Counterfactual
from ...explain.edits.beam import Round
from ...explain.edits.matches import matching_nodes
from ...explain.explainer import Explainer
from ...explain.method import ask, verdict
from ...explain.preferences import PREFERENCES
from ...explain.query import Query
from ...explain.records import from_record, to_record
from ...graph import Graph
from ...jsongraph import graph_to_json
from ...models.networks.classifier import Outputs
from ...report.draw.scene import edge_key, node_key
from ...report.rows import agrees
from ...schema import Column, Schema
from . import pictures
from . import reproduce as script
from . import uploads as files
from .advice import advice_on
from .exports import export
from .first import FirstAnswers, first_answer
from .trust import held_by, trust_in
from .written import read_written, why_unusable

Json = dict[str, Any]
Watch = Callable[[Round | FirstAnswers | None], None]
"""Called with the progress of a search, first answers, or None; raises an error if the task is no longer wanted."""


def describe_model(title: str, explainer: Explainer) -> Json:
    """Describe a kit for the page, before anything is asked."""
    schema = explainer.kit.schema
    examples = [one for one in famous_molecules() if _fits(explainer, one)]
    predicted = list(explainer.predict(examples[0].smiles if examples else _node(schema)))
    has_classes = len(predicted) > 1
    return {
        "name": title,
        "classes": predicted if has_classes else [],
        "unit": "probability" if has_classes else "value",
        "suggestion": "" if has_classes else f"raise by {_spread(explainer):g}",
        "molecules": schema.chemistry is not None,
        "directed": schema.directed,
        "max_nodes": schema.max_nodes,
        "has_path": explainer.kit.vae is not None,
        "preferences": list(PREFERENCES),
        "examples": [{"name": one.name, "smiles": one.smiles} for one in examples],
        "node_types": _types(schema.nodes),
        "edge_types": _types(schema.edges),
    }


def show_input(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """A graph with the classifier's prediction, before anything is explained."""
    given, name = _normalized(task["input"])
    graph = read_input(explainer, given, task.get("parent", True))
    carried, importance = carry(given.get("smiles") or "", graph, None), held_by(explainer, graph)
    return {
        "input": given,
        "name": name,
        "smiles": carried.factual,
        "graph": graph_to_json(graph),
        "prediction": explainer.predict(graph),
        "drawing": pictures.draw_input(graph, importance),
        "importance": None if importance is None else importance.to_json(),
        "remarks": list(carried.remarks),
        "trust": trust_in(explainer, graph),
    }


def match(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """Numbers of the atoms that match SMARTS patterns."""
    return {"nodes": sorted(matching_nodes(read_input(explainer, task["input"]), task["smarts"]))}


def show_file(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """The rows of a file that a person dropped on the page, each with its prediction or with what is wrong."""
    rows = files.read_rows(task["name"], task["text"], explainer.kit.schema, task["max_rows"], task["max_smiles"])
    return {"rows": [_row(explainer, row) for row in rows.rows], "left_out": rows.left_out}


def explain(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """Answers to a question: one, several that differ, or the frontier.

    First `watch` gets one that was found in haste; not in a table, which nobody waits for row by row.
    """
    query, given = Query.of(**task["asked"]), task["input"]
    row = input_row(given, task["id"] or given.get("smiles") or "graph")
    try:
        if not task.get("behind"):
            first = first_answer(explainer, row, query, watch)
            watch(None if first is None else FirstAnswers([show_answer(explainer, task, first)]))
        (answers,) = explainer.explain_each([row], query=query, watch=watch)
    except (DataError, GraphError, SchemaError):
        read_input(explainer, given, query.parent)  # says why, if it is the input that cannot be used
        raise
    return {"answers": [show_answer(explainer, task, answer, number) for number, answer in enumerate(answers)]}


def show_record(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """An explanation from a file, judged by this explainer's models."""
    found = from_record(task["record"], explainer.kit.schema)
    if found.counterfactual is None:
        return {"answers": [show_answer(explainer, task, found)]}
    question = ask(explainer.kit.classifier, found.factual, found.target, [found.id], found.seed)
    after = found.counterfactual.ample()
    (outcome,), probability = verdict(explainer.kit.classifier, after, question.target)
    found = dataclasses.replace(
        found,
        classes=explainer.kit.classes,
        p_factual=float(question.p_factual),
        p_counterfactual=float(probability),
        outcome=outcome,
    )
    (found,) = explainer.search().examiner.examine([found])
    return {"answers": [show_answer(explainer, task, explainer.assess(found))]}


def undo(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """An answer without some of its changes."""
    found = from_record(task["record"], explainer.kit.schema)
    return show_answer(explainer, task, take_back(explainer, found, task["undo"]), task["number"])


def show_path(explainer: Explainer, task: Json, watch: Watch) -> Json:
    """The way through the latent space: a drawing, a probability and the number of edits at each step."""
    found = from_record(task["record"], explainer.kit.schema)
    path = explainer.path(found, steps=task["steps"])
    watch(None)
    steps = []
    for graph in path.graphs:
        steps.append((explainer.predict(graph), edits_between(found.factual, graph), _smiles(graph)))
        watch(None)
    return {
        "positions": list(path.positions),
        "probabilities": list(path.probabilities),
        "predictions": [prediction for prediction, _, _ in steps],
        "num_edits": [len(heavy_edits(found.factual, edits)) for _, edits, _ in steps],
        "smiles": [smiles for _, _, smiles in steps],
        "drawings": pictures.draw_steps(found.factual, path.graphs[-1], list(path.graphs)),
    }


def show_answer(explainer: Explainer, task: Json, found: Counterfactual, number: int = 0) -> Json:
    """An explanation as the CLI writes it, with what a page adds: words, drawings, and Python that finds it again."""
    record = to_record(found)
    found = from_record(record, explainer.kit.schema)  # with the node numbers of the record
    after = found.counterfactual
    said = [] if after is None else sentences(found.factual, after)
    smaller = smaller_answer(found, said)
    place = {edit: k for k, edit in enumerate(found.edits)}
    judges = {} if found.evidence is None else found.evidence.judges
    return {
        "record": record,
        "goal": {"words": found.goal.name(explainer.kit.classes), "unit": found.goal.unit},
        "agreed": {name: agrees(said, found.goal) for name, said in judges.items()},
        "chemistry": _findings(found),
        "words": [
            {"text": one.text, "edits": [place[edit] for edit in one.edits], "marks": _marks(one.edits), "needed": why}
            for one, why in zip(said, needs(found, said), strict=True)
        ],
        "each_needed": each_needed(found, said),
        "smaller": None if smaller is None else smaller._asdict(),
        "num_edits": len(heavy_edits(found.factual, found.edits)),
        "advice": advice_on(found.outcome),
        "note": found.note,
        "predictions": {
            "factual": explainer.predict(found.factual),
            "counterfactual": None if after is None else explainer.predict(after),
        },
        "is_molecule": explainer.kit.schema.chemistry is None or after is None or _smiles(after) is not None,
        "drawings": pictures.draw_explanation(found, small=bool(task.get("behind"))),
        "python": script.reproduce(task, number),
    }


def _findings(found: Counterfactual) -> list[Json]:
    """Measures of the change of a molecule, in words."""
    change = None if found.evidence is None else found.evidence.chemistry
    return (
        []
        if change is None
        else [{"topic": one.topic, "words": str(one), "good": one.good} for one in change.findings()]
    )


def read_input(explainer: Explainer, given: Json, parent: bool = True) -> Graph:
    """The graph that a request is about; raises Unusable with a chemist's reason if a SMILES cannot be used."""
    row = input_row(given)
    try:
        return explainer.read(row, parent)
    except GraphflipError as error:
        if row.form != "smiles" or explainer.kit.schema.chemistry is None:
            raise
        raise why_unusable(error, row.text, explainer.kit.schema) from error


def _normalized(given: Json) -> tuple[Json, str]:
    """The input of a request as SMILES or a graph, and the name that was written beside it."""
    if "text" not in given:
        return given, ""
    molecule = read_written(given["text"])
    return {"smiles": molecule.smiles}, molecule.name


def input_row(given: Json, name: str = "") -> InputRow:
    """The input of a request as a row; raises DataError if its SMILES has other signs than SMILES have."""
    if given.get("graph") is not None:
        return InputRow(0, name, "graph", json.dumps(given["graph"]))
    smiles = given["smiles"].strip()
    if not smiles or any(not "!" <= letter <= "~" for letter in smiles):
        raise DataError("A SMILES must be letters, digits and signs without spaces: c1ccccc1O, say.")
    return InputRow(0, name, "smiles", smiles)


def _row(explainer: Explainer, row: files.Row) -> Json:
    shown: Json = {"id": row.id, "input": row.input, "record": row.record, "problem": row.problem, "prediction": None}
    if row.problem is None and row.input is not None:
        try:
            graph = read_input(explainer, row.input)
            shown |= {"prediction": explainer.predict(graph), "drawing": pictures.draw_small(graph)}
        except GraphflipError as error:
            shown["problem"] = str(error)
    return shown


def _types(columns: Sequence[Column]) -> list[str]:
    """Values of the first category, which types may be forbidden of."""
    return list(next((column.values for column in columns if column.values), ()))


def _node(schema: Schema) -> Graph:
    """A graph of one node."""
    return Graph.build(schema, [{column.name: column.choices[0] for column in schema.nodes}], [])


def _spread(explainer: Explainer) -> float:
    """About how far values lie apart in the data, where the model knows."""
    config = getattr(explainer.kit.classifier, "config", None)
    return float(f"{config.spread:.1g}") if isinstance(config, Outputs) else 1.0


def _marks(edits: Sequence[Edit]) -> list[str]:
    """Classes of the drawn elements that a change is about."""
    return sorted({node_key(*edit.at) if edit.is_node else edge_key(*edit.at) for edit in edits})


def _smiles(graph: Graph) -> str | None:
    from ...data.molecules.molecule import to_smiles

    return None if graph.schema.chemistry is None else to_smiles(graph)


@torch.no_grad()
def _fits(explainer: Explainer, molecule: Any) -> bool:
    if explainer.kit.schema.chemistry is None:
        return False
    try:
        explainer.read(molecule.smiles)
    except GraphflipError:
        return False
    return True


TASKS: dict[str, Callable[[Explainer, Json, Watch], Json]] = {
    "read": show_input,
    "file": show_file,
    "explain": explain,
    "record": show_record,
    "undo": undo,
    "path": show_path,
    "match": match,
    "export": export,
}
