"""ModelSummary: what a model goes by, as a short list of recourses with their figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...explain.counterfactual import Counterfactual
from ...explain.records import to_record
from ...graph import Graph
from ...jsongraph import graph_to_json
from ..recourses import Recourse
from .intervals import wilson_interval

MOST_LISTED = 2000
"""Graphs of a recourse that are listed one by one."""


@dataclass(frozen=True)
class Share:
    """A number of graphs out of a number of them."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1; 0 of none."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % confidence interval."""
        return wilson_interval(self.count, self.total)

    def __str__(self) -> str:
        if not self.total:
            return "no case"
        low, high = self.interval
        return f"{self.value:.0%} (95 % interval {100 * low:.0f}–{100 * high:.0f})"


@dataclass(frozen=True)
class CommonRecourse:
    """A recourse with what it does to many graphs.

    Args:
        recourse: The change and where it may be made.
        words: The change in words.
        where: Conditions on the place, in words.
        applies: Graphs that it applies to, of all of the direction.
        flips: Graphs that it flips, of those that it applies to.
        held_out: The same on graphs that it was not chosen on.
        judges: For each judge, flips that it agrees with.
        edits: Mean number of edits of a flip, hydrogens not counted.
        cost: Mean normalized cost of a flip, hydrogens counted where they are nodes.
        gain: Graphs that no recourse before it flips.
        overlap: Share of its flips that those before it flip, too.
        covers: Ids of graphs that it flips.
        examples: Some flips, as answers.
        failures: Some graphs that it applies to and does not flip, as answers.
    """

    recourse: Recourse
    words: str
    where: tuple[str, ...]
    applies: Share
    flips: Share
    held_out: Share
    judges: Mapping[str, Share]
    edits: float
    cost: float
    gain: int
    overlap: float
    covers: tuple[str, ...] = ()
    examples: tuple[Counterfactual, ...] = ()
    failures: tuple[Counterfactual, ...] = ()

    def __str__(self) -> str:
        where = f" {'; '.join(self.where)}" if self.where else ""
        agreed = "".join(f", {name} agrees on {share.value:.0%}" for name, share in self.judges.items())
        edits = f"{self.edits:.1f}".removesuffix(".0")
        each = f"{edits} {'edit' if edits == '1' else 'edits'} each"
        return (
            f"{self.words}{where}: applies to {self.applies.count} of {self.applies.total}, flips "
            f"{self.flips.value:.0%} of them; on held-out graphs {self.held_out}{agreed}; {each}"
        )


@dataclass(frozen=True)
class RepresentativeGraph:
    """A graph of the wanted class that is near many inputs.

    Args:
        graph: The graph, a batch of one.
        words: Its SMILES, or its size.
        near: Inputs within theta of it, of those that it was looked for with.
        held_out: The same of inputs that it was not looked for with.
        covers: Ids of all of these.
    """

    graph: Graph
    words: str
    near: Share
    held_out: Share
    covers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.words}: near {self.near.count} of {self.near.total}; of held-out graphs {self.held_out}"


@dataclass(frozen=True)
class DirectionSummary:
    """Changes that lead to one target.

    Args:
        target: Name of the class, or the change of a value.
        total: Graphs whose prediction is another one.
        chosen_on: Graphs among them that recourses were chosen on; the others are held out.
        recourses: The recourses, in the order of the greedy choice.
        curve: Share of the graphs they were chosen on that the first 1, 2, ... flip.
        bound: Shares that no choice of as many recourses of the shortlist can exceed.
        held_out_curve: The curve on held-out graphs.
        baselines: Curves of other ways to choose, by name.
        uncovered: Held-out graphs that no recourse flips, by reason.
        reasons: Why there is little to say; empty if there is something.
        graphs: Graphs of the target that are near many inputs.
    """

    target: str
    total: int
    chosen_on: int
    recourses: tuple[CommonRecourse, ...]
    curve: tuple[float, ...]
    bound: tuple[float, ...]
    held_out_curve: tuple[float, ...]
    baselines: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    uncovered: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    graphs: tuple[RepresentativeGraph, ...] = ()

    def __str__(self) -> str:
        lines = [f"To {self.target} ({self.total} graphs)"]
        lines += [f"  There is little to say: {reason}" for reason in self.reasons]
        lines += [f"  {k}. {one}" for k, one in enumerate(self.recourses, 1)]
        if self.curve:
            lines.append(
                f"  Together they flip {self.curve[-1]:.0%} of the graphs they were chosen on (the best choice of as "
                f"many could flip at most {self.bound[-1]:.0%}), and {self.held_out_curve[-1]:.0%} of held-out ones."
            )
        lines += [f"  Held out and not flipped, {reason}: {count}." for reason, count in self.uncovered.items()]
        lines += [f"  A graph of that class that is near many of these: {one}" for one in self.graphs]
        return "\n".join(lines)


@dataclass(frozen=True)
class ModelSummary:
    """Summary of a model: the changes that flip its predictions.

    Args:
        model: Name of the kit.
        data: Name of the graphs.
        directions: One part for each class, or for the change of a value that was asked for.
        options: Settings.
        remarks: Figures on the model as a whole.
        inputs: For graphs that some recourse flips, by id, their SMILES or the graph as JSON.

    Example:
        >>> print(ModelSummary("kit", "molecules.csv", (), {}, ("Predicted: 3 active.",)))
        What kit goes by on molecules.csv
        Predicted: 3 active.
    """

    model: str
    data: str
    directions: tuple[DirectionSummary, ...]
    options: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
    inputs: Mapping[str, str | dict[str, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        head = f"What {self.model} goes by on {self.data}"
        return "\n".join([head, *self.remarks, *map(str, self.directions)])

    def to_json(self) -> dict[str, Any]:
        """Convert to a dict that can be written as JSON; `summary_from_json` reads it back."""
        return {
            "model": self.model,
            "data": self.data,
            "options": dict(self.options),
            "remarks": list(self.remarks),
            "directions": [_direction(one) for one in self.directions],
            "inputs": dict(self.inputs),
        }


_RECOURSE = "words", "where", "edits", "cost", "gain", "overlap", "covers"
_DIRECTION = "target", "total", "chosen_on", "curve", "bound", "held_out_curve", "baselines", "uncovered", "reasons"


def _direction(part: DirectionSummary) -> dict[str, Any]:
    plain = {name: getattr(part, name) for name in _DIRECTION}
    graphs = [_graph(one) for one in part.graphs]
    return {**plain, "recourses": [_recourse(one) for one in part.recourses], "graphs": graphs}


def _recourse(one: CommonRecourse) -> dict[str, Any]:
    return {
        **{name: getattr(one, name) for name in _RECOURSE},
        **{name: _share(getattr(one, name)) for name in ("applies", "flips", "held_out")},
        "judges": {name: _share(share) for name, share in one.judges.items()},
        "recourse": one.recourse.to_json(),
        "examples": [to_record(each) for each in one.examples],
        "failures": [to_record(each) for each in one.failures],
    }


def _graph(one: RepresentativeGraph) -> dict[str, Any]:
    shares = {"near": _share(one.near), "held_out": _share(one.held_out)}
    return {"words": one.words, "graph": graph_to_json(one.graph), "covers": one.covers, **shares}


def _share(share: Share) -> dict[str, Any]:
    return {"count": share.count, "total": share.total, "interval": share.interval}
