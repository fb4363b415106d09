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
    """Costs of candidates; an edit costs 1, a change of continuous attributes by its size.

    Args:
        hydrogen_price: Cost of an edit that only adds or removes a hydrogen or its bond, be they nodes or implied.
        price: Score that a unit of cost is worth when candidates are ranked.
    """

    hydrogen_price: float = 0.5
    price: float = 0.2

    def cost(self, candidate: Candidate) -> float:
        """Cost of all edits of a candidate."""
        return candidate.weight + self.hydrogen_price * (candidate.size - candidate.heavy + candidate.unseen)

    def key(self, candidate: Candidate) -> tuple[float, int, float]:
        """Sort key of candidates that pass: cost, then number of edits, then distance of continuous attributes."""
        return self.cost(candidate), candidate.heavy, candidate.travel

    def at_least(self, num_edits: int) -> float:
        """Lower bound of the cost of so many nodes and edges that are added or removed."""
        return min(1.0, self.hydrogen_price) * num_edits


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
    """

    beam: int = 4
    max_moves: int = 8
    max_calls: int | None = None
    largest: int = 2
    proposals: int = 64
    shortlist: int = 64
    batch_size: int = 256

    def __post_init__(self) -> None:
        for name in ("beam", "max_moves", "largest", "proposals", "shortlist", "batch_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
