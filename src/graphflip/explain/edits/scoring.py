"""Scoring: the classifier and the surrogates of a search, asked about candidates, with what is enough for them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import BudgetSpent
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ..goals.batches import mean_outputs
from ..goals.goal import AbstractGoal
from ..moves.apply import apply_differences
from .candidates import Candidate, Vote, votes_for

if TYPE_CHECKING:
    from .search import EditSearch

# Scores of batches of different shapes differ in the last digits: what passes must pass by more than that.
_MARGIN = 1e-5


class Scoring:
    """What the models of a search say of graphs that differ from one graph.

    `calls` counts what the classifier saw, the question included; `spent`: it may not be asked any more.
    """

    def __init__(self, settings: "EditSearch", graph: Graph, goal: AbstractGoal):
        self.settings, self.graph, self.goal = settings, graph, goal
        self.calls, self.spent = 1, False
        self._read_back: dict[frozenset, Candidate | None] = {}
        self.ask_for(*settings.levels()[0])

    def ask_for(self, confidence: float, agreement: float) -> None:
        """What is enough from now on, of the classifier and of the surrogates; 0 is no demand."""
        asked = (confidence, *([agreement] if self.settings.surrogates else []))
        self.enough = [self.goal.enough(one + _MARGIN if one else 0.0) for one in asked]

    def hold(self, one: Candidate) -> None:
        """From now on nothing is enough of which models say less than of this one."""
        self.enough = list(one.scores)

    def start(self, factual: Candidate, logits: Float[Tensor, "1 c"]) -> Candidate:
        """The factual, of which the classifier says this, with all votes."""
        return self._with_surrogates([factual.with_votes(votes_for(logits, self.goal))])[0]

    def score(self, candidates: list[Candidate]) -> list[Candidate]:
        """Ask the classifier about all of them, or as many as it may be shown, the surrogates about those it ranks
        first, and return these."""
        return self._with_surrogates(self._classified(candidates))

    def judged(self, one: Candidate, graph: Graph) -> Candidate:
        """The candidate with what all models say of a graph that stands for it; as it is if nobody may ask again."""
        if self._left >= 1:
            with suppress(BudgetSpent):
                everyone = ([self.settings.classifier], self.settings.surrogates)
                votes = [self._votes(models, graph)[0] for models in everyone if models]
                self.calls += 1
                return one.with_votes(votes)
        self.spent = True
        return one

    def lasts(self, one: Candidate) -> bool:
        """Whether a molecule still passes when it is written as SMILES and read back: where double bonds of a ring
        stand is not in a SMILES, and may be all that the models see."""
        from ...data.molecules.molecule import round_trip

        key = one.key()
        if key not in self._read_back:
            again = round_trip(apply_differences(self.graph, [one.difference]), kekule=False)
            self._read_back[key] = None if again is None else self.judged(one, again)
        again = self._read_back[key]
        return again is not None and self.passes(again)

    def passes(self, one: Candidate, slack: float = 0.0) -> bool:
        """Whether all models say enough, give or take a multiple of rounding errors."""
        enough = all(score >= least - slack * _MARGIN for score, least in zip(one.scores, self.enough, strict=False))
        return one.predicted and enough and len(one.scores) == len(self.enough)

    def support(self, one: Candidate) -> float:
        """Scores by the classifier and by the surrogates, each up to what is asked, averaged."""
        pairs = zip(one.scores, self.enough, strict=False)
        return sum(min(score, enough) for score, enough in pairs) / max(len(one.scores), 1)

    def rank(self, one: Candidate) -> tuple[float, float]:
        """What a search goes on from first is lowest: support at a price."""
        return self.settings.price * self.settings.cost(one) - self.support(one), -first_score(one)

    @property
    def _left(self) -> float:
        return math.inf if self.settings.max_calls is None else float(self.settings.max_calls - self.calls)

    def _classified(self, candidates: list[Candidate]) -> list[Candidate]:
        """The first of the candidates, all if the classifier may be shown so many, with its vote."""
        heard: list[Candidate] = []
        shown = candidates[: int(min(self._left, len(candidates)))]
        try:
            for chunk in self._chunks(shown):
                heard += self._asked([self.settings.classifier], chunk)
        except BudgetSpent as error:
            rest = shown[len(heard) :][: error.left]
            heard += self._asked([self.settings.classifier], rest) if rest else []
        self.calls += len(heard)
        self.spent = self.spent or len(heard) < len(candidates)
        return heard

    def _with_surrogates(self, candidates: list[Candidate]) -> list[Candidate]:
        if not self.settings.surrogates:
            return candidates
        chosen = sorted(candidates, key=self.rank)[: self.settings.shortlist]
        return [one for chunk in self._chunks(chosen) for one in self._asked(self.settings.surrogates, chunk)]

    def _chunks(self, candidates: list[Candidate]) -> Iterator[list[Candidate]]:
        for start in range(0, len(candidates), self.settings.batch_size):
            yield candidates[start : start + self.settings.batch_size]

    def _asked(self, models: Sequence[AbstractClassifier], candidates: list[Candidate]) -> list[Candidate]:
        """The candidates with one vote more, that of these models."""
        votes = self._votes(models, apply_differences(self.graph, [one.difference for one in candidates]))
        return [one.with_votes([*one.votes, vote]) for one, vote in zip(candidates, votes, strict=True)]

    @torch.no_grad()
    def _votes(self, models: Sequence[AbstractClassifier], graph: Graph) -> list[Vote]:
        """What models say on average of each graph."""
        return votes_for(mean_outputs(torch.stack([model(graph) for model in models])), self.goal)


def first_score(one: Candidate) -> float:
    """What the classifier alone says."""
    return one.votes[0].score
