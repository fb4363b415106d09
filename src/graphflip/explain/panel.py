"""Panel: the classifier and the opinions of a search, asked about candidates, with what is enough for them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from ..errors import BudgetSpent
from ..graph import Graph
from ..models.classifier import AbstractClassifier
from .candidates import Candidate, Vote, votes_for
from .goals import AbstractGoal, mean_outputs
from .sketch import drawn

if TYPE_CHECKING:
    from .search import EditSearch

# Scores of batches of different shapes differ in the last digits: what passes must pass by more than that.
_MARGIN = 1e-5


class Panel:
    """What the models of a search say of graphs that differ from one graph. `calls` counts what the classifier saw."""

    def __init__(self, settings: "EditSearch", graph: Graph, goal: AbstractGoal):
        self.settings, self.graph, self.goal = settings, graph, goal
        self.calls = 0
        self.ask_for(*settings.levels()[0])

    def ask_for(self, confidence: float, agreement: float) -> None:
        """What is enough from now on, of the classifier and of the opinions; 0 is no demand."""
        asked = (confidence, *([agreement] if self.settings.opinions else []))
        self.enough = [self.goal.enough(one + _MARGIN if one else 0.0) for one in asked]

    def score(self, candidates: list[Candidate]) -> list[Candidate]:
        """Ask the classifier about all of them, the opinions about those it ranks first, and return these."""
        if not candidates:
            return []
        left = math.inf if self.settings.max_calls is None else self.settings.max_calls - self.calls
        if left < len(candidates):
            raise BudgetSpent(f"{self.settings.max_calls} graphs may be shown to the classifier; more are needed.")
        self.calls += len(candidates)
        first = self._asked([self.settings.classifier], candidates)
        if not self.settings.opinions:
            return first
        chosen = sorted(first, key=self.rank)[: self.settings.shortlist]
        return self._asked(self.settings.opinions, chosen)

    def judged(self, one: Candidate, graph: Graph) -> Candidate:
        """The candidate with what all models say of a graph that stands for it."""
        self.calls += 1
        everyone = ([self.settings.classifier], self.settings.opinions)
        return one.with_votes(self._votes(models, graph)[0] for models in everyone if models)

    def lasts(self, one: Candidate) -> bool:
        """Whether a molecule still passes when it is written as SMILES and read back: where double bonds of a ring
        stand is not in a SMILES, and may be all that the models see."""
        from ..data.molecule import round_trip

        again = round_trip(drawn(self.graph, [one.difference]), kekule=False)
        return again is not None and self.passes(self.judged(one, again))

    def passes(self, one: Candidate, slack: float = 0.0) -> bool:
        """Whether all models say enough, give or take a multiple of rounding errors."""
        enough = all(score >= least - slack * _MARGIN for score, least in zip(one.scores, self.enough, strict=False))
        return one.predicted and enough and len(one.scores) == len(self.enough)

    def support(self, one: Candidate) -> float:
        """Scores by the classifier and by the opinions, each up to what is asked, averaged."""
        pairs = zip(one.scores, self.enough, strict=False)
        return sum(min(score, enough) for score, enough in pairs) / max(len(one.scores), 1)

    def rank(self, one: Candidate) -> tuple[float, float]:
        """What a search goes on from first is lowest: support at a price."""
        return self.settings.price * self.settings.cost(one) - self.support(one), -first_score(one)

    def _asked(self, models: Sequence[AbstractClassifier], candidates: list[Candidate]) -> list[Candidate]:
        """The candidates with one vote more, that of these models."""
        asked = []
        for start in range(0, len(candidates), self.settings.batch_size):
            chunk = candidates[start : start + self.settings.batch_size]
            votes = self._votes(models, drawn(self.graph, [one.difference for one in chunk]))
            asked += [one.with_votes([*one.votes, vote]) for one, vote in zip(chunk, votes, strict=True)]
        return asked

    @torch.no_grad()
    def _votes(self, models: Sequence[AbstractClassifier], graph: Graph) -> list[Vote]:
        """What models say on average of each graph."""
        return votes_for(mean_outputs(torch.stack([model(graph) for model in models])), self.goal)


def first_score(one: Candidate) -> float:
    """What the classifier alone says."""
    return one.votes[0].score
