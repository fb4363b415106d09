"""Memory: the votes on graphs that models of a search were asked about, so that no graph is shown twice."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from ..moves.difference import Difference
from .candidates import Candidate, Vote, key_of


class Memory:
    """Votes of the models on every graph that they were shown in one search.

    The same graph comes up again where a wider stage begins anew at the factual, where two ways lead to it, and where
    changes are taken back.
    """

    def __init__(self) -> None:
        self._votes: dict[frozenset, tuple[Vote, ...]] = {}

    def lacking(self, candidates: Iterable[Candidate], votes: int) -> list[Candidate]:
        """The candidates whose graphs do not have so many votes yet, each graph once."""
        lacking = {each.key(): each for each in candidates if len(self._votes.get(each.key(), ())) < votes}
        return list(lacking.values())

    def keep(self, voted: Iterable[Candidate]) -> None:
        """Remember the votes of candidates."""
        self._votes |= {each.key(): each.votes for each in voted}

    def recall(self, candidates: Sequence[Candidate], votes: int) -> list[Candidate]:
        """The candidates with so many votes each, up to the first one that lacks any."""
        known = takewhile(lambda each: len(self._votes.get(each.key(), ())) >= votes, candidates)
        return [each.with_votes(self._votes[each.key()][:votes]) for each in known]

    def classifier_vote(self, difference: Difference) -> Vote | None:
        """The classifier's vote on the graph that differs from the factual like this; None if it was not shown."""
        return next(iter(self._votes.get(key_of(difference), ())), None)
