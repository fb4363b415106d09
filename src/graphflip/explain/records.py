"""Counterfactuals as JSON lines: the open format of docs/concepts/format.md."""

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..edits import Edit, apply_edits
from ..errors import DataError, GraphflipError
from ..graph import Graph
from ..jsongraph import aligned_pair, graph_from_json, graph_to_json, pair_within
from ..schema import Schema
from .claims.stored import claims_from_json, claims_to_json
from .counterfactual import Counterfactual, Outcome
from .evidence import Evidence
from .goals.stored import goal_from_json, target_of


def to_record(explanation: Counterfactual) -> dict[str, Any]:
    """Convert an explanation to a JSON-ready object, the nodes of both graphs numbered alike."""
    factual, counterfactual = explanation.factual.trim(), None
    if explanation.counterfactual is not None:
        factual, counterfactual = aligned_pair(explanation.factual, explanation.counterfactual)
    aligned = dataclasses.replace(explanation, factual=factual, counterfactual=counterfactual)
    record = {
        "id": explanation.id,
        "method": explanation.method,
        "target": explanation.goal.to_json(),
        "p_factual": _finite(explanation.p_factual),
        "p_counterfactual": _finite(explanation.p_counterfactual),
        "lead_factual": explanation.lead_factual,
        "lead_counterfactual": explanation.lead_counterfactual,
        "flipped": explanation.flipped,
        "outcome": explanation.outcome.value,
        "seed": explanation.seed,
        "steps": explanation.steps,
        "classifier_calls": explanation.classifier_calls,
        "note": explanation.note,
        "probabilities": _thinned(explanation.probabilities),
        "seconds": explanation.seconds,
        "classes": list(explanation.classes),
        **claims_to_json(explanation, aligned.edits),
        "evidence": None if explanation.evidence is None else _evidence(explanation.evidence),
        "factual": graph_to_json(factual),
        "counterfactual": None if counterfactual is None else graph_to_json(counterfactual),
        "edits": [edit.to_json() for edit in aligned.edits],
    }
    if factual.schema.chemistry is not None:
        smiles = aligned.smiles
        record["smiles"] = {"factual": smiles.factual, "counterfactual": smiles.counterfactual}
    if explanation.source:
        record |= {"source": explanation.source, "remarks": list(aligned.remarks)}
    return record


def from_record(stored: Any, schema: Schema) -> Counterfactual:
    """Read what `to_record` writes, or what another tool wrote in this format; unknown keys are ignored."""
    if not isinstance(stored, dict):
        raise DataError(f"An explanation must be a JSON object; got {type(stored).__name__}.")
    missing = [key for key in ("id", "target", "factual", "counterfactual") if key not in stored]
    if missing:
        raise DataError(
            f"An explanation must have the keys id, target, factual, counterfactual; {', '.join(missing)} missing."
        )
    target = target_of(goal_from_json(stored["target"]))
    factual, counterfactual = _pair(stored, schema)
    edits = [] if counterfactual is None else [Edit.from_json(edit) for edit in stored.get("edits", ())]
    return Counterfactual(
        id=str(stored["id"]),
        method=str(stored.get("method", "unknown")),
        target=target,
        factual=factual,
        counterfactual=counterfactual,
        p_factual=_probability(stored),
        p_counterfactual=_number(stored, "p_counterfactual", None),
        outcome=_outcome(stored),
        seed=int(_number(stored, "seed", 0) or 0),
        steps=int(_number(stored, "steps", 0) or 0),
        classifier_calls=int(_number(stored, "classifier_calls", 0) or 0),
        note=str(stored.get("note", "")),
        probabilities=_probabilities(stored),
        seconds=float(_number(stored, "seconds", 0.0) or 0.0),
        classes=_classes(stored),
        lead_factual=_number(stored, "lead_factual", None),
        lead_counterfactual=_number(stored, "lead_counterfactual", None),
        **claims_from_json(stored, factual, edits),
        evidence=None if stored.get("evidence") is None else Evidence.from_json(stored["evidence"]),
        source=_text(stored, "source"),
    )


def write_records(path: Path, counterfactuals: Iterable[Counterfactual]) -> int:
    """Write explanations, one a line; returns how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for counterfactual in counterfactuals:
            file.write(json.dumps(to_record(counterfactual), ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def read_records(path: Path, schema: Schema) -> Iterator[Counterfactual]:
    """Read explanations one by one; a line that is wrong is an error that names it."""
    try:
        lines = path.open(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}). Give a .jsonl file of explanations.") from error
    with lines:
        for number, line in _numbered(lines, path):
            try:
                counterfactual = from_record(json.loads(line), schema)
            except (ValueError, OverflowError, RecursionError, GraphflipError) as error:
                raise DataError(f"{path}, line {number}: {error} See docs/concepts/format.md.") from error
            yield counterfactual


def _numbered(lines: Iterable[str], path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    try:
        yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error}). Give a .jsonl file of explanations.") from error


def _pair(stored: dict[str, Any], schema: Schema) -> tuple[Graph, Graph | None]:
    """Read both graphs, and check that the edits lead from one to the other.

    Added nodes are numbered after all of the factual's, so that a pair may need up to twice the slots of a graph.
    """
    factual = graph_from_json(stored["factual"], schema)
    if stored["counterfactual"] is None:
        return factual, None
    counterfactual = graph_from_json(stored["counterfactual"], schema, 2 * schema.max_nodes)
    factual = dataclasses.replace(factual, schema=counterfactual.schema)
    slots = max(factual.num_slots, counterfactual.num_slots)
    factual, counterfactual = factual.pad(slots), counterfactual.pad(slots)
    _check_edits(stored, factual, counterfactual)
    return pair_within(factual, counterfactual, schema)


def _check_edits(stored: dict[str, Any], factual, counterfactual) -> None:
    if "edits" not in stored:
        return
    if not isinstance(stored["edits"], list):
        raise DataError(f"`edits` must be a list; got {type(stored['edits']).__name__}.")
    applied = apply_edits(factual, [Edit.from_json(edit) for edit in stored["edits"]])
    n = max(applied.num_slots, counterfactual.num_slots)
    applied, counterfactual = applied.pad(n), counterfactual.pad(n)
    if any(bool(((getattr(applied, part) - getattr(counterfactual, part)).abs() > 1e-4).any()) for part in "BVAE"):
        raise DataError("`edits` must turn `factual` into `counterfactual`; they lead to another graph.")


def _number(stored: dict[str, Any], key: str, default: int | float | None) -> int | float | None:
    value = stored.get(key, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise DataError(f"`{key}` must be a number; got {value!r}.")
    return value


def _probability(stored: dict[str, Any]) -> float:
    value = _number(stored, "p_factual", None)
    return math.nan if value is None else float(value)


def _thinned(values: Sequence[float], limit: int = 101) -> list[float]:
    """At most `limit` of the values to four digits, evenly picked, with the first and the last of them."""
    shown = [round(value, 4) for value in values if math.isfinite(value)]
    if len(shown) <= limit:
        return shown
    return [shown[round(k * (len(shown) - 1) / (limit - 1))] for k in range(limit)]


def _probabilities(stored: dict[str, Any]) -> tuple[float, ...]:
    values = stored.get("probabilities") or []
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise DataError("`probabilities` must be a list of numbers.")
    return tuple(float(value) for value in values)


def _classes(stored: dict[str, Any]) -> tuple[str, ...]:
    names = stored.get("classes") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"`classes` must be a list of names; got {names!r}.")
    return tuple(names)


def _text(stored: dict[str, Any], key: str) -> str:
    value = stored.get(key, "")
    if not isinstance(value, str):
        raise DataError(f"`{key}` must be a text; got {value!r}.")
    return value


def _evidence(evidence: Evidence) -> dict[str, Any]:
    judges = {name: p for name, p in evidence.judges.items() if math.isfinite(p)}
    nll = _finite(evidence.nll_per_node)
    return dataclasses.replace(evidence, judges=judges, nll_per_node=nll).to_json()


def _finite(value: float | None) -> float | None:
    """JSON has no NaN: what is no number is null."""
    return value if value is not None and math.isfinite(value) else None


def _outcome(stored: dict[str, Any]) -> Outcome:
    known = {outcome.value: outcome for outcome in Outcome}
    if stored.get("outcome") in known:
        return known[stored["outcome"]]
    return Outcome.FLIPPED if stored.get("flipped") is True else Outcome.NOT_FLIPPED
