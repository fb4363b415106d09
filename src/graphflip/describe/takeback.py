"""Take back: an answer without some of its changes, judged anew, to see if it still holds."""

import dataclasses
from collections.abc import Collection

import torch

from ..errors import ConfigError
from ..explain.claims.examine import without
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from ..explain.method import verdict
from ..graph import Graph
from ..jsongraph import aligned_pair
from .wording import sentences


def take_back(explainer: Explainer, counterfactual: Counterfactual, numbers: Collection[int]) -> Counterfactual:
    """Take some changes of an answer back, and judge the graph that is left.

    Changes that need one that is taken back go with it, and hydrogens are filled in anew.

    Args:
        explainer: The explainer that gave the answer; its classifier and judges are asked again.
        counterfactual: The answer.
        numbers: Numbers of the changes to take back, from 0, in the order of `describe`.

    Returns:
        The answer with the graph that is left; its outcome says if it still flips.

    Raises:
        ConfigError: If there is no counterfactual, or no change of such a number.

    Example:
        >>> import graphflip as gf
        >>> from graphflip.describe import take_back
        >>> explainer = gf.load("ames")  # doctest: +SKIP
        >>> answer = explainer.explain("O=[N+]([O-])c1ccccc1")  # doctest: +SKIP
        >>> take_back(explainer, answer, [0]).flipped  # doctest: +SKIP
        False
    """
    if counterfactual.counterfactual is None:
        raise ConfigError("There must be a counterfactual to take changes back from; nothing was found here.")
    factual, after = aligned_pair(counterfactual.factual, counterfactual.counterfactual)
    said = sentences(factual, after)
    wrong = [number for number in numbers if not 0 <= number < len(said)]
    if wrong:
        raise ConfigError(f"A change must be one of 0..{len(said) - 1}; got {wrong[0]}.")
    left = without(factual, said, numbers, explainer.search().moves)
    return _judged(explainer, dataclasses.replace(counterfactual, factual=factual), left)


@torch.no_grad()
def _judged(explainer: Explainer, counterfactual: Counterfactual, left: Graph) -> Counterfactual:
    """The answer with another graph, and what classifier and judges say of that."""
    whole = left.ample()
    (outcome,), probability = verdict(explainer.kit.classifier, whole, [counterfactual.target])
    changes = {"counterfactual": left, "outcome": outcome, "p_counterfactual": float(probability)}
    nothing = dict.fromkeys(("one_minimal", "needed_for", "smaller", "lead_counterfactual", "evidence"))
    return explainer.assess(dataclasses.replace(counterfactual, **changes, **nothing, note=""))
