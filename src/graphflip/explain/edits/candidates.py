"""Candidates of a search, the votes of models on them, and the choice of several answers."""

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
from ..moves.atoms.counting import counted_part, unseen_edits
from ..moves.difference import Difference
from ..moves.sketch import Sketch


class Vote(NamedTuple):
    """Vote of a model on a graph.

    Args:
        score: Score for the goal, at most 0.
        predicted: True if the model predicts what is wanted.
        shown: Probability of the goal, or the predicted value.
    """

    score: float
    predicted: bool
    shown: float = math.nan


GRAIN = 1e-3
"""Candidates are compared by scores rounded to multiples of it: those of which models say the same tie on every
processor."""

DECIMALS = 6
"""Decimals of estimated ranks: further ones depend on the order in which a processor adds numbers up."""


def votes_for(outputs: Float[Tensor, "b c"], goal: AbstractGoal) -> list[Vote]:
    """Votes of a model on a batch; outputs that are not finite have the score minus infinity."""
    finite = outputs.isfinite().all(-1)
    score = torch.where(finite, goal.score(outputs), -torch.inf)
    votes = score.tolist(), (goal.reached(outputs) & finite).tolist(), goal.shown(outputs).tolist()
    return [Vote(*vote) for vote in zip(*votes, strict=True)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A graph that a search has reached.

    Args:
        sketch: The graph.
        difference: Its difference from the factual.
        counted: The difference without edits that only add or remove hydrogens.
        weight: Cost of the counted edits.
        travel: Distance by which continuous attributes have changed, in scales.
        unseen: Hydrogens and their bonds that come or go without being nodes and edges.
        sites: Number of separate places that the counted edits change.
        strangeness: Price of what real molecules or graphs seldom have; 0 until it was looked at.
        votes: The classifier's vote, then the mean vote of the surrogates if they were asked.
    """

    sketch: Sketch
    difference: Difference
    counted: Difference
    weight: float
    travel: float = 0.0
    unseen: int = 0
    sites: int = 1
    strangeness: float = 0.0
    votes: tuple[Vote, ...] = ()

    @classmethod
    def of(cls, factual: Sketch, after: Sketch, schema: Schema, state: Difference | None = None) -> "Candidate":
        """Compare a graph with the factual; `state` is the difference of the sketch that was copied, if known."""
        difference = Difference.between(factual, after) if state is None else state.updated(factual, after)
        counted = counted_part(difference, factual, after, schema)
        unseen = unseen_edits(difference, schema)
        sites = num_sites(counted, factual, after)
        return cls(after, difference, counted, counted.cost(schema), counted.travel(schema), unseen, sites)

    def with_strangeness(self, strangeness: float) -> "Candidate":
        """The same candidate after a look at how strange it is."""
        return self if strangeness == self.strangeness else self._with("strangeness", strangeness)

    def with_votes(self, votes: Iterable[Vote]) -> "Candidate":
        """The same candidate with other votes."""
        return self._with("votes", tuple(votes))

    def _with(self, field: str, value: object) -> "Candidate":
        """The same candidate with another value of one field, which its key does not depend on."""
        copy = object.__new__(Candidate)
        copy.__dict__.update(self.__dict__, **{field: value})
        copy.__dict__.pop("scores", None)
        return copy

    @property
    def heavy(self) -> int:
        """Number of edits without those that only add or remove hydrogens."""
        return self.counted.size

    @property
    def size(self) -> int:
        """Number of all edits."""
        return self.difference.size

    @property
    def probability(self) -> float:
        """The classifier's probability of the target, or the value that it predicts."""
        return self.votes[0].shown if self.votes else math.nan

    @property
    def predicted(self) -> bool:
        """True if the classifier predicts the target."""
        return bool(self.votes) and self.votes[0].predicted

    @property
    def classifier_score(self) -> float:
        """The classifier's score for the goal, rounded."""
        return self.scores[0]

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """Rounded scores for the goal by the classifier and, if they were asked, by the surrogates on average."""
        scores = (vote.score for vote in self.votes)
        return tuple(round(score / GRAIN) * GRAIN if score > -math.inf else score for score in scores)

    @property
    def belief(self) -> float:
        """Geometric mean of the target's probabilities by the classifier and by the surrogates on average."""
        return math.exp(sum(self.scores) / len(self.scores))

    def key(self) -> frozenset:
        """Key that is equal for candidates that are the same graph, slot by slot."""
        return self._key

    @cached_property
    def _key(self) -> frozenset:
        return key_of(self.difference)


def key_of(difference: Difference) -> frozenset:
    """Key that is equal for graphs that differ from the factual in the same way, slot by slot."""
    return frozenset([*difference.nodes.items(), *difference.edges.items()])


def num_sites(counted: Difference, factual: Sketch, after: Sketch) -> int:
    """Number of separate places of change: changes of the same nodes, or of neighbors before or after, are one."""
    todo, sites = set(counted.touched), 0
    while todo:
        sites += 1
        front = [todo.pop()]
        while front and todo:
            i = front.pop()
            for sketch in (factual, after):
                if i in sketch.nodes:
                    reached = todo.intersection(sketch.around(i))
                    todo -= reached
                    front += reached
    return sites


def edit_distance(candidate: Candidate, other: Candidate) -> int:
    """Number of edits between two candidates of one factual as they are aligned: an upper bound of the distance."""
    return Difference.between(candidate.sketch, other.sketch).size


def distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates without those that are isomorphic to one before."""
    known: dict[tuple[int, ...], Candidate] = {}
    for candidate in candidates:
        known.setdefault(candidate.sketch.colors(), candidate)
    return list(known.values())


def choose_different(
    candidates: Sequence[Candidate], num: int, cost: Callable[[Candidate], float], reach: int = 8
) -> list[Candidate]:
    """Up to `num` candidates: the cheapest, then one after the other that is cheap and far from those chosen.

    An edit of distance from the nearest one chosen outweighs an edit of cost, up to a distance of `reach`.
    """
    pool = sorted(candidates, key=cost)
    chosen = pool[:1]
    gap = {id(candidate): float("inf") for candidate in pool}
    while chosen and len(chosen) < num:
        gap = {id(each): min(gap[id(each)], edit_distance(each, chosen[-1])) for each in pool}
        rest = [each for each in pool if gap[id(each)] > 0]
        if not rest:
            break
        chosen.append(max(rest, key=lambda each: min(gap[id(each)], reach) - cost(each)))
    return chosen


def choose_frontier(candidates: Iterable[Candidate], cost: Callable[[Candidate], float]) -> list[Candidate]:
    """Candidates that no other beats in both cost and belief, from the cheapest to the most believable."""
    chosen: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda each: (cost(each), -each.belief)):
        if not chosen or candidate.belief > chosen[-1].belief:
            chosen.append(candidate)
    return chosen


def undominated(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that no other equals or beats in all of edits, belief and strangeness, fewest edits first."""
    chosen: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda each: (each.heavy, -each.belief, each.strangeness)):
        if not any(other.belief >= candidate.belief and other.strangeness <= candidate.strangeness for other in chosen):
            chosen.append(candidate)
    return chosen
