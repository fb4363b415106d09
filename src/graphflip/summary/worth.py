"""Worth: signs that a model has learned little, so that a summary of it says little."""

from collections import Counter
from collections.abc import Sequence

from .results.intervals import wilson_interval
from .results.summary import DirectionSummary
from .studies import Seen

_FEWEST = 30
"""Graphs that a verdict on the whole model needs."""

_ANY_CHANGE = 0.25
"""Share of single moves that flip above which no change in particular does."""

_LITTLE = 0.1
"""Share of graphs that ten recourses flip below which they say nothing of the model."""


def remarks_on(seen: Sequence[Seen], classes: Sequence[str]) -> tuple[str, ...]:
    """Sentences on the predictions as they are, and on how often the judges agree with them."""
    counts = Counter(_predicted(one) for one in seen)
    named = [f"{count} {classes[k] if k < len(classes) else k}" for k, count in sorted(counts.items())]
    said = [f"Predicted: {', '.join(named)}."] if len(seen[0].outputs) > 1 else [f"{len(seen)} graphs."]
    shares = {name: sum(one.agree[name] for one in seen) / len(seen) for name in seen[0].agree}
    if shares:
        agreed = ", ".join(f"{name} for {share:.0%}" for name, share in shares.items())
        said.append(f"The judges predict the same as the classifier: {agreed} of the graphs.")
    return tuple(said)


def little_to_say(
    part: DirectionSummary, seen: Sequence[Seen], classes: Sequence[str], flipping: float
) -> tuple[str, ...]:
    """Reasons not to read much into a list of recourses; none if it says something.

    Args:
        part: The summary of one direction.
        seen: What the models say of all graphs.
        classes: Names of the classes.
        flipping: Share of all single moves that flip a graph.
    """
    reasons = []
    counts = Counter(_predicted(one) for one in seen)
    if len(seen[0].outputs) > 1 and len(counts) == 1:
        only = next(iter(counts))
        reasons.append(f"the classifier predicts {classes[only] if only < len(classes) else only} for every graph.")
    if not part.recourses:
        reasons.append("no change that was tried flips any graph within the cost.")
    elif part.held_out_curve and part.held_out_curve[-1] < _LITTLE:
        reasons.append(
            f"all recourses together flip {part.held_out_curve[-1]:.0%} of held-out graphs; what changes one graph "
            "does not change others."
        )
    if flipping > _ANY_CHANGE:
        reasons.append(
            f"almost any change does: {flipping:.0%} of all single moves that were tried flip the prediction."
        )
    return (*reasons, *_no_common_ground(seen))


def _no_common_ground(seen: Sequence[Seen]) -> list[str]:
    """A reason if judges that learned from the same data agree with the classifier no more often than by chance."""
    names = list(seen[0].agree)
    if not names or len(seen) < _FEWEST or len(seen[0].outputs) == 1:
        return []
    mean = sum(one.agree[name] for one in seen for name in names) / len(names)
    largest = max(Counter(_predicted(one) for one in seen).values()) / len(seen)
    low, _ = wilson_interval(round(mean), len(seen))
    if low > max(0.5, largest) + 0.02:
        return []
    return [
        f"models that learned from the same data agree with this one on {mean / len(seen):.0%} of the graphs; always "
        f"saying the most frequent class would do on {largest:.0%}. What it goes by, they do not."
    ]


def _predicted(one: Seen) -> int:
    return max(range(len(one.outputs)), key=one.outputs.__getitem__)
