"""Claims of an answer in words: what each change is needed for, what is smaller, where the classifier is unsure."""

from collections.abc import Sequence
from typing import NamedTuple

from ..edits import Edit, apply_edits
from ..explain.claims.boundary import is_unsure
from ..explain.claims.needs import Loss
from ..explain.counterfactual import Counterfactual
from .change import Sentence
from .wording import sentences

_NEEDS = {
    Loss.CLASS: "needed for the {target}",
    Loss.VALIDITY: "needed for a valid {kind}",
    Loss.CONFIDENCE: "needed for the confidence asked, not for the {target}",
    Loss.AGREEMENT: "needed for the agreement of other models, not for the {target}",
    Loss.NOTHING: "not needed",
}


def needs(counterfactual: Counterfactual, said: Sequence[Sentence]) -> list[str]:
    """Say what each change of an answer is needed for; empty texts where that was not checked.

    Args:
        counterfactual: The answer.
        said: Its changes, as `sentences` gives them.
    """
    return ["" if lost is None else _in_words(lost, counterfactual) for lost in _losses(counterfactual, said)]


def each_needed(counterfactual: Counterfactual, said: Sequence[Sentence]) -> str:
    """Say what all changes of an answer are needed for, such as "each needed for the class"; "" if they differ."""
    losses = _losses(counterfactual, said)
    if None in losses or len(set(losses)) != 1 or losses[0] is Loss.NOTHING:
        return ""
    (text, *_) = needs(counterfactual, said)
    return text if len(said) == 1 else f"each {text}"


class SmallerAnswer(NamedTuple):
    """A smaller answer in words.

    Args:
        text: One sentence.
        left_out: Numbers of the changes that it lacks; empty if it has changes that the answer has not as such.
    """

    text: str
    left_out: tuple[int, ...]


def smaller_answer(counterfactual: Counterfactual, said: Sequence[Sentence]) -> SmallerAnswer | None:
    """Say which smaller answer still reaches the target; None if none is known."""
    smaller = counterfactual.smaller
    if smaller is None:
        return None
    holds = _holds(counterfactual, smaller.probability)
    left = sentences(counterfactual.factual, apply_edits(counterfactual.factual, smaller.edits))
    texts, kept = [one.text for one in said], [one.text for one in left]
    if set(kept) < set(texts) and len(set(texts)) == len(texts):
        gone = tuple(number for number, text in enumerate(texts) if text not in kept)
        names = [texts[number] for number in gone]
        return SmallerAnswer(f"Without “{'” and “'.join(names)}” {holds}.", gone)
    return SmallerAnswer(f"A smaller change is enough: {'; '.join(kept)}. With it {holds}.", ())


def boundary_remarks(counterfactual: Counterfactual) -> list[str]:
    """Say for both graphs if the classifier is unsure of them; none if it is sure."""
    return [
        f"{which}: near the boundary, the classifier is unsure"
        for which, unsure in zip(("as it is", "changed"), counterfactual.unsure, strict=True)
        if unsure
    ]


def _losses(counterfactual: Counterfactual, said: Sequence[Sentence]) -> list[Loss | None]:
    """Loss of each change; None where it is not known."""
    known: dict[frozenset[Edit], Loss] = {frozenset(need.edits): need.lost for need in counterfactual.needed_for or ()}
    return [known.get(frozenset(one.edits)) for one in said]


def _in_words(lost: Loss, counterfactual: Counterfactual) -> str:
    kind = "graph" if counterfactual.factual.schema.chemistry is None else "molecule"
    return _NEEDS[lost].format(target=_target(counterfactual), kind=kind)


def _target(counterfactual: Counterfactual) -> str:
    return "class" if counterfactual.goal.unit == "probability" else "value"


def _holds(counterfactual: Counterfactual, number: float) -> str:
    if counterfactual.goal.unit == "probability":
        near = ", near the boundary" if is_unsure(None, number, len(counterfactual.classes)) else ""
        return f"the class still flips ({number:.2f}{near})"
    return f"the value is still as asked ({number:.4g})"
