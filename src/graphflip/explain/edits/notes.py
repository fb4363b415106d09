"""Notes of searches: what an answer misses of what was asked, and what was not tried."""

from collections import Counter

from .candidates import Candidate
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


def describe_miss(
    closest: Candidate, scoring: Scoring, demand: Demand, is_strange: bool, ruled_out: "Counter[str]"
) -> str:
    """Describe the closest candidate, and count the moves that each constraint ruled out.

    Args:
        closest: The answer, or what came closest to one.
        scoring: Models that were asked, and their goal.
        demand: Levels that were asked.
        is_strange: True if it was found only when it need not be believable any more.
        ruled_out: Number of moves that each constraint ruled out.
    """
    goal, of = scoring.goal, " of the target" if scoring.goal.unit == "probability" else ""
    confidence, agreement = (f"{asked:g}" if of else goal.name() for asked in (demand.confidence, demand.agreement))
    text = f"The closest of {scoring.calls - 1} graphs has {goal.unit} {closest.probability:.3f}{of}"
    text += f" ({closest.heavy} {'edit' if closest.heavy == 1 else 'edits'}); {confidence} was asked."
    if len(closest.votes) > 1:
        text += f" {len(scoring.surrogates)} surrogates give it {closest.votes[1].shown:.3f} on average;"
        text += f" {agreement} was asked."
    if is_strange:
        text += " No believable change was found: this is a small one that real graphs hardly have."
    reasons = [f"{count} {_REASONS[name]}" for name, count in ruled_out.most_common()]
    return f"{text} Changes that were not tried: {', '.join(reasons)}." if reasons else text
