"""Settings of a search by subject: Demand (what an answer must meet), Costs (of edits), Limits (of effort)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ...errors import ConfigError
from .candidates import Candidate


class Level(NamedTuple):
    """Probabilities of the target that are enough; 0 demands nothing.

    Args:
        confidence: From the classifier.
        agreement: From the surrogates, on average.
    """

    confidence: float = 0.0
    agreement: float = 0.0


@dataclass(frozen=True)
class Demand:
    """Levels that an answer must meet, the one that is asked for first.

    Args:
        confidence: Probability of the target that the classifier must give, between 0 and 1.
        agreement: Probability of the target that the surrogates must give on average, between 0 and 1.
        concede_to: Confidence that is accepted where no graph meets the demand; None accepts nothing less.
        content_with: Pairs of confidence and agreement that are accepted before `concede_to` alone.
    """

    confidence: float = 0.5
    agreement: float = 0.5
    concede_to: float | None = None
    content_with: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        for name in ("confidence", "agreement"):
            if not 0 < getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must lie between 0 and 1; got {getattr(self, name)}.")

    def levels(self) -> list[Level]:
        """The level that is asked for, then lower ones that are accepted, with the middle between any two."""
        asked = Level(self.confidence, self.agreement)
        if self.concede_to is None:
            return [asked]
        least = min(self.concede_to, self.confidence)
        stops = [asked, *(Level(max(confidence, least), agreement) for confidence, agreement in self.content_with)]
        levels = []
        for high, low in pairwise([*stops, Level(least, min(0.5, stops[-1].agreement))]):
            middle = Level((high.confidence + low.confidence) / 2, (high.agreement + low.agreement) / 2)
            levels += [high, middle]
        return list(dict.fromkeys([*levels, Level(least, 0.0)]))


@dataclass(frozen=True)
class Costs:
    """Costs of candidates: of the edits, of the places that they change, and of what is strange about the result.

    Args:
        hydrogen_price: Cost of an edit that only adds or removes a hydrogen or its bond, be they nodes or implied, as a
            multiple of the cost of another edit.
        price: Score that a unit of cost is worth when candidates are ranked.
        edit_price: Cost of an edit; a change of continuous attributes counts by its size.
        site_price: Cost of each separate place that is changed.
    """

    hydrogen_price: float = 0.5
    price: float = 0.2
    edit_price: float = 1.0
    site_price: float = 0.0

    def cost(self, candidate: Candidate) -> float:
        """Cost of a candidate."""
        edits = candidate.weight + self.hydrogen_price * (candidate.size - candidate.heavy + candidate.unseen)
        return self.edit_price * edits + self.site_price * candidate.sites + candidate.strangeness

    def key(self, candidate: Candidate) -> tuple[float, int, float]:
        """Sort key of candidates that pass: cost, then number of edits, then distance of continuous attributes."""
        return self.cost(candidate), candidate.heavy, candidate.travel

    def at_least(self, num_edits: int) -> float:
        """Lower bound of the cost of so many nodes and edges that are added or removed."""
        return self.edit_price * min(1.0, self.hydrogen_price) * num_edits


@dataclass(frozen=True)
class Limits:
    """Bounds on the effort of a search, each at least 1.

    Args:
        beam: Graphs from which each round goes on.
        max_moves: Rounds, that is moves in a row.
        max_calls: Graphs that the classifier may be shown, the factual included; None for any number.
        largest: Nodes of the largest group that is added before larger ones are tried.
        proposals: Candidates of a round that the classifier sees where a latent walk preselects them.
        shortlist: Candidates of a round that the surrogates see.
        batch_size: Graphs that a model is shown at once.
        patience: Rounds that a search goes on after the one that found its best answer.
        exchanges: Graphs with a change taken back from which another move is tried, when an answer is minimized.
        look: Candidates that are classified at a time where the most promising moves are made first; 0 to make all.
    """

    beam: int = 4
    max_moves: int = 8
    max_calls: int | None = None
    largest: int = 2
    proposals: int = 64
    shortlist: int = 64
    batch_size: int = 256
    patience: int = 99
    exchanges: int = 999
    look: int = 0

    def __post_init__(self) -> None:
        for name in ("beam", "max_moves", "largest", "proposals", "shortlist", "batch_size", "patience", "exchanges"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
