"""Candidates of a search, what models say of them, and how several are chosen."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ...schema import Schema
from ..goals.goal import AbstractGoal
from ..moves.difference import Difference
from ..moves.restrictions import counted_part
from ..moves.sketch import Sketch


class Vote(NamedTuple):
    """What one model says of a graph: its score for the goal, whether it predicts what is wanted, and the probability
    of that, or the predicted value."""

    score: float
    predicted: bool
    shown: float = math.nan


def votes_for(outputs: Float[Tensor, "b c"], goal: AbstractGoal) -> list[Vote]:
    """The votes of a model on a batch; what is not finite is no vote for anything."""
    finite = outputs.isfinite().all(-1)
    score = torch.where(finite, goal.score(outputs), -torch.inf)
    votes = score.tolist(), (goal.reached(outputs) & finite).tolist(), goal.shown(outputs).tolist()
    return [Vote(*vote) for vote in zip(*votes, strict=True)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A graph on the way: how it differs from the factual, without bookkeeping in `counted`; what that costs, and how
    far continuous attributes have gone; what the models say, the classifier first, then the surrogates on average if
    they were asked."""

    sketch: Sketch
    difference: Difference
    counted: Difference
    weight: float
    travel: float = 0.0
    votes: tuple[Vote, ...] = ()

    @classmethod
    def of(cls, factual: Sketch, after: Sketch, schema: Schema, state: Difference | None = None) -> "Candidate":
        """`state`, if given, is the difference of the sketch that `after` was copied from."""
        difference = Difference.between(factual, after) if state is None else state.updated(factual, after)
        counted = counted_part(difference, factual, after, schema)
        return cls(after, difference, counted, counted.cost(schema), counted.travel(schema))

    def with_votes(self, votes: Iterable[Vote]) -> "Candidate":
        return Candidate(self.sketch, self.difference, self.counted, self.weight, self.travel, tuple(votes))

    @property
    def heavy(self) -> int:
        """Number of edits, hydrogens not counted where they are nodes."""
        return self.counted.size

    @property
    def size(self) -> int:
        """Number of all edits."""
        return self.difference.size

    @property
    def probability(self) -> float:
        """What the classifier gives the target, or the value it predicts."""
        return self.votes[0].shown if self.votes else math.nan

    @property
    def predicted(self) -> bool:
        """Whether the classifier predicts the target."""
        return bool(self.votes) and self.votes[0].predicted

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """Log-probability of the target by the classifier, and by the surrogates on average; or scores of values."""
        return tuple(vote.score for vote in self.votes)

    @property
    def belief(self) -> float:
        """Geometric mean of what the classifier gives the target and what the surrogates give it on average."""
        return math.exp(sum(self.scores) / len(self.scores))

    def key(self) -> frozenset:
        """What candidates share that are the same graph, slot by slot."""
        return frozenset([*self.difference.nodes.items(), *self.difference.edges.items()])


def edit_distance(one: Candidate, other: Candidate) -> int:
    """Number of edits between two candidates of one factual as they are aligned, an upper bound of the least."""
    return Difference.between(one.sketch, other.sketch).size


def choose_different(
    found: Sequence[Candidate], num: int, cost: Callable[[Candidate], float], reach: int = 8
) -> list[Candidate]:
    """Up to `num` candidates, the first by `cost` and then one after the other that is far from those chosen.

    An edit of distance to the nearest one chosen is worth an edit of cost, up to `reach` of them.
    """
    pool = sorted(found, key=cost)
    chosen = pool[:1]
    gap = {id(one): float("inf") for one in pool}
    while chosen and len(chosen) < num:
        gap = {id(one): min(gap[id(one)], edit_distance(one, chosen[-1])) for one in pool}
        rest = [one for one in pool if gap[id(one)] > 0]
        if not rest:
            break
        chosen.append(max(rest, key=lambda one: min(gap[id(one)], reach) - cost(one)))
    return chosen


def choose_frontier(found: Iterable[Candidate], cost: Callable[[Candidate], float]) -> list[Candidate]:
    """Those that no other beats in both cost and belief, from the smallest to the most believable."""
    chosen: list[Candidate] = []
    for one in sorted(found, key=lambda one: (cost(one), -one.belief)):
        if not chosen or one.belief > chosen[-1].belief:
            chosen.append(one)
    return chosen
