"""Study: what is asked of a model as a whole, and how each graph is tried. One graph needs nothing of the others."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch

from ..errors import ConfigError
from ..explain.explainer import Explainer
from ..explain.goals.classes import ClassGoal
from ..explain.goals.goal import AbstractGoal, AbstractRequest
from ..explain.moves.environments import EnvironmentCounts
from ..explain.moves.moves import Moves
from ..graph import Graph
from ..models.networks.classifier import num_outputs
from .applying import Applier
from .recourses import Recourse
from .trials import RecourseTrial, Trier

_USUAL = 0.9
"""Share of the nodes of the training graphs whose surroundings must be known for a rule that asks for known ones."""


@dataclass(frozen=True)
class SummaryOptions:
    """Settings of a summary; equal settings give equal summaries.

    Args:
        num: Number of recourses to print.
        num_graphs: Number of graphs of the wanted class to print that are near many inputs; 0 for none.
        theta: Largest cost: edits over the number of nodes and edges of both graphs.
        times: Most places of a graph at which one recourse is made.
        sample: Graphs of each direction that recourses are looked for in.
        answers: Graphs of the sample for which single answers are asked; 0 for none.
        shortlist: Recourses that are tried on all graphs.
        held_out: Share of the graphs that recourses are not chosen on; their figures come from these.
        prefer: Preference of the single answers.
        believed: True if a flip counts only if the surrogates agree on average.
        valid: True if surroundings must be known from the data, and aromatic rings stay.
        seed: Seed of the random walk, which is a baseline.

    Raises:
        ConfigError: If a number is out of range.

    Example:
        >>> SummaryOptions(num=5).theta
        0.1
    """

    num: int = 10
    theta: float = 0.1
    times: int = 3
    sample: int = 120
    answers: int = 40
    shortlist: int = 120
    held_out: float = 0.25
    prefer: str = "balanced"
    believed: bool = True
    valid: bool = True
    seed: int = 0
    num_graphs: int = 3

    def __post_init__(self) -> None:
        whole = {"num": 1, "times": 1, "sample": 1, "answers": 0, "shortlist": 1, "num_graphs": 0}
        for name, least in whole.items():
            if getattr(self, name) < least:
                raise ConfigError(f"`{name}` must be at least {least}; got {getattr(self, name)}.")
        for name in ("theta", "held_out"):
            if not 0 < getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be a number between 0 and 1; got {getattr(self, name)}.")


class Seen(NamedTuple):
    """Verdicts of the models on a graph before anything is changed.

    Args:
        digest: Text that is equal for equal graphs; it decides which graphs are held out.
        outputs: The classifier's outputs.
        agree: For each judge, True if it predicts the same class; of values, one within a tenth.
    """

    digest: str
    outputs: tuple[float, ...]
    agree: dict[str, bool]

    @property
    def draw(self) -> float:
        """A number from 0 to 1 that depends on the graph alone."""
        return int(self.digest[:12], 16) / 16**12


Tries = dict[int, tuple[bool, float, float]] | None
"""Results of the recourses that apply to a graph, by number: True if it flips, probability or value, cost. None if the
direction is not that of the graph."""


@dataclass(frozen=True, eq=False)
class Study:
    """A classifier with the directions in which its predictions are to be changed, and the recourses to try.

    Args:
        explainer: The explainer of the classifier.
        targets: A target for each direction, as `Explainer.explain` takes them.
        options: Settings.
        recourses: For each direction, the recourses to try.
    """

    explainer: Explainer
    targets: tuple[Any, ...]
    options: SummaryOptions
    recourses: tuple[tuple[Recourse, ...], ...] = ()

    @classmethod
    def of(cls, explainer: Explainer, target: Any = None, options: SummaryOptions | None = None) -> "Study":
        """Ask for one target, or for every class; raises ConfigError if a model of values is not told which change."""
        count = num_outputs(explainer.kit.classifier)
        if target is None and count == 1:
            raise ConfigError(
                "A model that predicts a value must be asked for a change of it; none was given. "
                'Ask for "raise by 1" or "lower by 1", say.'
            )
        targets = tuple(range(count)) if target is None else (target,)
        return cls(explainer, targets, options or SummaryOptions())

    def with_recourses(self, recourses: Sequence[Sequence[Recourse]]) -> "Study":
        """The same study with recourses to try."""
        return replace(self, recourses=tuple(map(tuple, recourses)))

    @cached_property
    def requests(self) -> list[AbstractRequest]:
        """Targets as requests, which make a goal of a graph's outputs."""
        return [self.explainer.request(target) for target in self.targets]

    def name(self, direction: int) -> str:
        """A direction in words: the name of a class, or the target as it was given."""
        request = self.requests[direction]
        return (
            request.name(self.explainer.kit.classes) if isinstance(request, ClassGoal) else str(self.targets[direction])
        )

    @cached_property
    def moves(self) -> Moves:
        """Moves of the classifier's graphs."""
        return self.explainer.search().moves if self._environments is not None else self.explainer.kit.moves

    @cached_property
    def trier(self) -> Trier:
        """Tries recourses, with the settings of the study."""
        kit, options = self.explainer.kit, self.options
        applier = Applier(self.moves, self._environments)
        surrogates = kit.surrogates if options.believed else ()
        return Trier(kit.classifier, applier, surrogates, options.theta, options.times)

    @property
    def _environments(self) -> EnvironmentCounts | None:
        """Surroundings that changes may create; None for any, also where the data do not know most of their own."""
        known = self.explainer.kit.knowledge.environments
        often = sum(count for count in known.counts.values() if count >= known.minimum)
        return known if self.options.valid and often >= _USUAL * known.total else None

    @torch.no_grad()
    def look(self, graph: Graph) -> Seen:
        """Ask classifier and judges about one graph."""
        kit = self.explainer.kit
        outputs = kit.classifier(graph)[0]
        agree = {name: _same(outputs, judge(graph)[0]) for name, judge in kit.judges.items()}
        return Seen(graph.digest(), tuple(outputs.tolist()), agree)

    def goal(self, direction: int, outputs: Sequence[float]) -> AbstractGoal | None:
        """The goal of a graph in one direction; None if its prediction is that already, or no number."""
        given = torch.tensor(outputs)
        if not bool(given.isfinite().all()):
            return None
        goal = self.requests[direction].at(given)
        return None if bool(goal.reached(given)) else goal

    def class_goal(self, direction: int) -> ClassGoal | None:
        """The goal of a direction if it is the same for all graphs: a class. None for changes of a value."""
        request = self.requests[direction]
        return request if isinstance(request, ClassGoal) else None

    def try_on(self, graph: Graph) -> list[list[RecourseTrial] | None]:
        """Try the recourses of every direction on one graph; None for a direction that is not its own."""
        with torch.no_grad():
            outputs = self.explainer.kit.classifier(graph)[0]
        tried: list[list[RecourseTrial] | None] = []
        for direction, recourses in enumerate(self.recourses):
            goal = self.goal(direction, outputs.tolist())
            score = -math.inf if goal is None else float(goal.score(outputs))
            tried.append(None if goal is None else self.trier.try_all(graph, goal, score, recourses))
        return tried

    def results(self, graph: Graph) -> list[Tries]:
        """Try the recourses as `try_on` does, and give the results in a form that can be written as JSON."""
        return [
            None
            if trials is None
            else {k: (one.flipped, one.shown, one.cost) for k, one in enumerate(trials) if one.applies}
            for trials in self.try_on(graph)
        ]

    def to_text(self) -> str:
        """Write the question as JSON: targets, settings and recourses."""
        recourses = [[one.to_json() for one in several] for several in self.recourses]
        return json.dumps({"targets": self.targets, "options": asdict(self.options), "recourses": recourses})

    @classmethod
    def from_text(cls, text: str, explainer: Explainer) -> "Study":
        """Read what `to_text` wrote, for an explainer."""
        stored = json.loads(text)
        recourses = tuple(tuple(map(Recourse.from_json, several)) for several in stored["recourses"])
        return cls(explainer, tuple(stored["targets"]), SummaryOptions(**stored["options"]), recourses)


def _same(outputs: torch.Tensor, others: torch.Tensor) -> bool:
    if len(outputs) == 1:
        return math.isclose(float(outputs), float(others), rel_tol=0.1, abs_tol=0.1)
    return int(outputs.argmax()) == int(others.argmax())
