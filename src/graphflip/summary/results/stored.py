"""Summaries as JSON, and back."""

from typing import Any

from ...explain.records import from_record, to_record
from ...jsongraph import graph_from_json, graph_to_json
from ...schema import Schema
from ..recourses import Recourse
from .summary import CommonRecourse, DirectionSummary, ModelSummary, RepresentativeGraph, Share

_SHARES = "applies", "flips", "held_out"
_RECOURSE = "words", "where", "edits", "cost", "gain", "overlap", "covers"
_DIRECTION = "target", "total", "chosen_on", "curve", "bound", "held_out_curve", "baselines", "uncovered", "reasons"


def summary_to_json(summary: ModelSummary) -> dict[str, Any]:
    """Convert a summary to a dict that can be written as JSON; examples are records of counterfactuals."""
    return {
        "model": summary.model,
        "data": summary.data,
        "options": dict(summary.options),
        "remarks": list(summary.remarks),
        "directions": [_direction(one) for one in summary.directions],
        "inputs": dict(summary.inputs),
    }


def summary_from_json(stored: dict[str, Any], schema: Schema) -> ModelSummary:
    """Read what `summary_to_json` wrote; graphs are of the schema of the model."""
    directions = tuple(_read_direction(one, schema) for one in stored["directions"])
    remarks, inputs = tuple(stored["remarks"]), stored.get("inputs", {})
    return ModelSummary(stored["model"], stored["data"], directions, stored["options"], remarks, inputs)


def _direction(part: DirectionSummary) -> dict[str, Any]:
    plain = {name: getattr(part, name) for name in _DIRECTION}
    graphs = [_graph(one) for one in part.graphs]
    return {**plain, "recourses": [_recourse(one) for one in part.recourses], "graphs": graphs}


def _read_direction(stored: dict[str, Any], schema: Schema) -> DirectionSummary:
    fields: dict[str, Any] = {name: stored[name] for name in ("target", "total", "chosen_on", "uncovered")}
    fields |= {name: tuple(stored[name]) for name in ("curve", "bound", "held_out_curve", "reasons")}
    fields["recourses"] = tuple(_read_recourse(one, schema) for one in stored["recourses"])
    fields["baselines"] = {name: tuple(curve) for name, curve in stored["baselines"].items()}
    fields["graphs"] = tuple(_read_graph(one, schema) for one in stored.get("graphs", ()))
    return DirectionSummary(**fields)


def _recourse(one: CommonRecourse) -> dict[str, Any]:
    return {
        **{name: getattr(one, name) for name in _RECOURSE},
        **{name: _share(getattr(one, name)) for name in _SHARES},
        "judges": {name: _share(share) for name, share in one.judges.items()},
        "recourse": one.recourse.to_json(),
        "examples": [to_record(each) for each in one.examples],
        "failures": [to_record(each) for each in one.failures],
    }


def _read_recourse(stored: dict[str, Any], schema: Schema) -> CommonRecourse:
    fields: dict[str, Any] = {name: stored[name] for name in ("words", "edits", "cost", "gain", "overlap")}
    fields |= {name: tuple(stored[name]) for name in ("where", "covers")}
    fields |= {name: _read_share(stored[name]) for name in _SHARES}
    for name in ("examples", "failures"):
        fields[name] = tuple(from_record(one, schema) for one in stored[name])
    fields["judges"] = {name: _read_share(share) for name, share in stored["judges"].items()}
    return CommonRecourse(recourse=Recourse.from_json(stored["recourse"]), **fields)


def _graph(one: RepresentativeGraph) -> dict[str, Any]:
    shares = {"near": _share(one.near), "held_out": _share(one.held_out)}
    return {"words": one.words, "graph": graph_to_json(one.graph), "covers": one.covers, **shares}


def _read_graph(stored: dict[str, Any], schema: Schema) -> RepresentativeGraph:
    shares = {name: _read_share(stored[name]) for name in ("near", "held_out")}
    graph = graph_from_json(stored["graph"], schema)
    return RepresentativeGraph(graph, stored["words"], covers=tuple(stored["covers"]), **shares)


def _share(share: Share) -> dict[str, Any]:
    return {"count": share.count, "total": share.total, "interval": share.interval}


def _read_share(stored: dict[str, Any]) -> Share:
    return Share(stored["count"], stored["total"])
