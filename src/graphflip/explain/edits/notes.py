"""Notes: in words, what an answer misses of what was asked, or why there is none."""

from dataclasses import dataclass

from .candidates import Candidate
from .neighborhood import Neighborhood
from .scoring import Scoring
from .settings import Demand

# Reasons why a change is not tried, by the constraint that it breaks; the number of such changes stands before.
_REASONS = {
    "freeze_nodes": "at nodes that are to stay",
    "freeze_edges": "of edges that are to stay",
    "freeze_rings": "of rings that are to stay",
    "forbid_node_types": "with types of nodes that are not wanted",
    "forbid_edge_types": "with types of edges that are not wanted",
    "forbid_ops": "of a kind that is not wanted",
    "budget": "with more edits than allowed",
    "environments": "with surroundings that the data do not have",
}


@dataclass(frozen=True)
class Notes:
    """Puts the end of a search into words.

    Args:
        scoring: Models that were asked.
        demand: What was asked of an answer.
        neighborhood: Changes that were ruled out.
    """

    scoring: Scoring
    demand: Demand
    neighborhood: Neighborhood

    def of_concession(self, candidate: Candidate, strange: bool) -> str:
        """Say what an answer that flips the class misses; `strange` if real graphs hardly have such a change."""
        said = self._says(candidate, missed_only=True)
        text = f"Less than was asked, and the best of {self.scoring.calls - 1} graphs: {said}." if said else ""
        if strange:
            text += " No believable change was found: this is a small one that real graphs hardly have."
        if said and self.scoring.limits.look:
            text += " A thorough search, which tries every change, may find more."
        return text.strip()

    def of_failure(self, closest: Candidate) -> str:
        """Say how far the closest graph is from what was asked, and the changes that were not tried."""
        tried, edits = self.scoring.calls - 1, f"{closest.heavy} {'edit' if closest.heavy == 1 else 'edits'}"
        text = "No change could be tried."
        if tried:
            text = f"The closest of {tried} graphs ({edits}): {self._says(closest)}."
        reasons = [f"{count} {_REASONS[name]}" for name, count in self.neighborhood.ruled_out.most_common()]
        return f"{text} Changes that were not tried: {', '.join(reasons)}." if reasons else text

    def _says(self, candidate: Candidate, missed_only: bool = False) -> str:
        """Votes of the classifier and the surrogates on a graph beside what was asked of them."""
        goal, asked = self.scoring.goal, self.scoring.scores_of(self.demand.levels()[0])
        levels = f"{self.demand.confidence:g}", f"{self.demand.agreement:g}"
        who = "the classifier gives the target", "other models give it"
        if goal.unit != "probability":
            levels, who = (goal.name(), goal.name()), ("the classifier predicts", "other models predict")
        parts = []
        for k, (vote, least) in enumerate(zip(candidate.votes, asked, strict=False)):
            if not missed_only or vote.score < least:
                mean = " on average" if k else ""
                parts.append(f"{who[k]} {vote.shown:.2f}{mean} ({levels[k]} was asked)")
        return ", ".join(parts)
