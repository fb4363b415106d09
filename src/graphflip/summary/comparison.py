"""Comparison: two models side by side, by what each goes by and what that does to the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..data.inputs import named_inputs
from ..errors import ConfigError, DataError
from ..explain.explainer import Explainer
from ..graph import Graph
from .recourses import Recourse
from .results.summary import ModelSummary, Share
from .studies import Study, SummaryOptions
from .summarizer import summarize


@dataclass(frozen=True)
class ComparedRecourse:
    """A recourse, and what it does to both models on the same held-out graphs.

    Args:
        words: The change in words, with its conditions.
        found_by: Names of the models whose summaries have it.
        flips: For each model, the graphs that it flips, of those that both models predict otherwise.
        differ: Graphs that it flips for one model and not for the other.
    """

    words: str
    found_by: tuple[str, ...]
    flips: tuple[Share, Share]
    differ: Share

    @property
    def gap(self) -> float:
        """Share that it flips for the first model, minus that for the second."""
        return self.flips[0].value - self.flips[1].value


@dataclass(frozen=True)
class ModelComparison:
    """Two models side by side.

    Args:
        names: Names of the models.
        target: Name of the wanted class, or change of a value.
        agree: Graphs for which both models predict alike.
        recourses: Recourses of both summaries, those on which the models differ most first.
        summaries: The summaries.
    """

    names: tuple[str, str]
    target: str
    agree: Share
    recourses: tuple[ComparedRecourse, ...]
    summaries: tuple[ModelSummary, ModelSummary]

    def __str__(self) -> str:
        first, second = self.names
        lines = [
            f"{first} and {second} side by side, to {self.target}",
            f"They predict the same for {self.agree.value:.0%} of {self.agree.total} graphs.",
        ]
        for one in self.recourses:
            ends = [f"{100 * low:.0f}–{100 * high:.0f}" for low, high in (share.interval for share in one.flips)]
            lines.append(
                f"  {one.words}: flips {one.flips[0].value:.0%} ({ends[0]}) for {first}, {one.flips[1].value:.0%} "
                f"({ends[1]}) for {second}; they differ on {one.differ.value:.0%} of {one.differ.total} held-out "
                f"graphs (found by {' and '.join(one.found_by)})"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Convert to a dict that can be written as JSON."""
        rows = [
            {
                "words": one.words,
                "found_by": list(one.found_by),
                "flips": [[share.count, share.total] for share in one.flips],
                "differ": [one.differ.count, one.differ.total],
            }
            for one in self.recourses
        ]
        return {
            "names": list(self.names),
            "target": self.target,
            "agree": [self.agree.count, self.agree.total],
            "recourses": rows,
            "summaries": [one.to_json() for one in self.summaries],
        }


def compare_models(
    first: Explainer,
    second: Explainer,
    graphs: Any,
    target: Any,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    ids: Sequence[str] = (),
    options: SummaryOptions | None = None,
) -> ModelComparison:
    """Summarize two models on the same graphs, and try the recourses of each on the other.

    Args:
        first: Explainer of a model.
        second: Explainer of another model of the same graphs.
        graphs: Inputs as `Explainer.explain` takes them.
        target: The wanted class, or change of a value.
        names: Names of the models, for the text.
        ids: Names of the inputs.
        options: Settings of both summaries.

    Returns:
        The comparison; its figures come from graphs on which no recourse was chosen.

    Raises:
        ConfigError: If the models are of different graphs.
        DataError: If no held-out graph is predicted otherwise by both models.

    Example:
        >>> other = graphflip.load("ames", classifier="my_package:make_model")                   # doctest: +SKIP
        >>> print(compare_models(graphflip.load("ames"), other, molecules, "nonmutagen"))        # doctest: +SKIP
    """
    if first.kit.schema != second.kit.schema:
        raise ConfigError("Two models side by side must be of the same graphs; their schemas differ. Use one kit.")
    options = options or SummaryOptions()
    read = [(key, first.read(given)) for key, given in named_inputs(graphs, ids)]
    given, keys = [graph for _, graph in read], [key for key, _ in read]
    summaries = tuple(
        summarize(one, given, target, ids=keys, name=name, options=options)
        for one, name in zip((first, second), names, strict=True)
    )
    pair = Study.of(first, target, options), Study.of(second, target, options)
    tried = _Tried(pair, _united(summaries, names), given)
    return ModelComparison(names, pair[0].name(0), tried.agree, tried.compared(), (summaries[0], summaries[1]))


def _united(summaries: Sequence[ModelSummary], names: Sequence[str]) -> dict[Recourse, tuple[str, list[str]]]:
    """Recourses of both summaries with their words, and the names of the models that have them."""
    united: dict[Recourse, tuple[str, list[str]]] = {}
    for summary, name in zip(summaries, names, strict=True):
        for one in (one for part in summary.directions for one in part.recourses):
            words = " ".join([one.words, *one.where])
            united.setdefault(one.recourse, (words, []))[1].append(name)
    return united


class _Tried:
    """Recourses tried on the held-out graphs that both models predict otherwise than wanted."""

    def __init__(self, pair: tuple[Study, Study], united: dict[Recourse, tuple[str, list[str]]], graphs: list[Graph]):
        self.united = united
        full = tuple(study.with_recourses([list(united)]) for study in pair)
        same, self.rows = 0, list[tuple[list[bool], list[bool]]]()
        for graph in graphs:
            seen = [study.look(graph) for study in pair]
            same += _alike(torch.tensor(seen[0].outputs), torch.tensor(seen[1].outputs))
            if seen[0].draw < pair[0].options.held_out:
                trials = [study.try_on(graph)[0] for study in full]
                if trials[0] is not None and trials[1] is not None:
                    self.rows.append(([one.flipped for one in trials[0]], [one.flipped for one in trials[1]]))
        self.agree = Share(same, len(graphs))
        if not self.rows:
            raise DataError(
                "Some held-out graph must be predicted otherwise by both models; none is. Give more graphs."
            )

    def compared(self) -> tuple[ComparedRecourse, ...]:
        """The recourses, those with the largest gap first."""
        found = []
        for k, (words, names) in enumerate(self.united.values()):
            sides = [[row[side][k] for row in self.rows] for side in (0, 1)]
            flips = Share(sum(sides[0]), len(self.rows)), Share(sum(sides[1]), len(self.rows))
            differ = Share(sum(a != b for a, b in zip(*sides, strict=True)), len(self.rows))
            found.append(ComparedRecourse(words, tuple(names), flips, differ))
        return tuple(sorted(found, key=lambda one: (-abs(one.gap), one.words)))


def _alike(outputs: torch.Tensor, others: torch.Tensor) -> bool:
    if len(outputs) == 1:
        return bool((outputs - others).abs() <= 0.1 * outputs.abs().clamp(min=1))
    return int(outputs.argmax()) == int(others.argmax())
