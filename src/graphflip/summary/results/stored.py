"""Summaries read back from the JSON that they were written as."""

from typing import Any

from ...explain.records import from_record
from ...jsongraph import graph_from_json
from ...schema import Schema
from ..recourses import Recourse
from .summary import CommonRecourse, DirectionSummary, ModelSummary, RepresentativeGraph, Share

_SHARES = "applies", "flips", "held_out"


def summary_from_json(stored: dict[str, Any], schema: Schema) -> ModelSummary:
    """Read what `ModelSummary.to_json` gave; graphs are of the schema of the model."""
    directions = tuple(_read_direction(one, schema) for one in stored["directions"])
    remarks, inputs = tuple(stored["remarks"]), stored.get("inputs", {})
    return ModelSummary(stored["model"], stored["data"], directions, stored["options"], remarks, inputs)


def _read_direction(stored: dict[str, Any], schema: Schema) -> DirectionSummary:
    fields: dict[str, Any] = {name: stored[name] for name in ("target", "total", "chosen_on", "uncovered")}
    fields |= {name: tuple(stored[name]) for name in ("curve", "bound", "held_out_curve", "reasons")}
    fields["recourses"] = tuple(_read_recourse(one, schema) for one in stored["recourses"])
    fields["baselines"] = {name: tuple(curve) for name, curve in stored["baselines"].items()}
    fields["graphs"] = tuple(_read_graph(one, schema) for one in stored.get("graphs", ()))
    return DirectionSummary(**fields)


def _read_recourse(stored: dict[str, Any], schema: Schema) -> CommonRecourse:
    fields: dict[str, Any] = {name: stored[name] for name in ("words", "edits", "cost", "gain", "overlap")}
    fields |= {name: tuple(stored[name]) for name in ("where", "covers")}
    fields |= {name: _read_share(stored[name]) for name in _SHARES}
    for name in ("examples", "failures"):
        fields[name] = tuple(from_record(one, schema) for one in stored[name])
    fields["judges"] = {name: _read_share(share) for name, share in stored["judges"].items()}
    return CommonRecourse(recourse=Recourse.from_json(stored["recourse"]), **fields)


def _read_graph(stored: dict[str, Any], schema: Schema) -> RepresentativeGraph:
    shares = {name: _read_share(stored[name]) for name in ("near", "held_out")}
    graph = graph_from_json(stored["graph"], schema)
    return RepresentativeGraph(graph, stored["words"], covers=tuple(stored["covers"]), **shares)


def _read_share(stored: dict[str, Any]) -> Share:
    return Share(stored["count"], stored["total"])
