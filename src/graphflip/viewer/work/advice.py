"""Advice for somebody at the page whose question has no answer: what to choose there."""

from ...explain.counterfactual import Outcome

_LOOSEN = "Keep fewer parts as they are, or allow more under More options."
_ADVICE = {
    Outcome.ALREADY_THERE: "The classifier predicts the target for it as it is. Choose another target.",
    Outcome.NOT_CONFIDENT: (
        "The classifier predicts the target, but with less confidence than asked, or other models do not agree. "
        "Choose Minimal, or ask for less confidence under More options."
    ),
    Outcome.OUT_OF_MOVES: f"No change that was tried reaches the target. {_LOOSEN} Another preference may find more.",
    Outcome.OUT_OF_CALLS: f"As many graphs were tried as a question may take. {_LOOSEN}",
    Outcome.NO_MOVE_ALLOWED: f"Nothing may change: everything is to stay as it is. {_LOOSEN}",
}


def advice_on(outcome: Outcome) -> str:
    """Meaning of an outcome, and what to do at the page; empty if the target was reached."""
    return "" if outcome is Outcome.FLIPPED else _ADVICE.get(outcome, outcome.advice)
