"""Refine: undo every edit that the flip does not need."""

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch

from ...edits import Edit
from ...errors import BudgetSpent
from ...graph import Graph
from ..counterfactual import Counterfactual, Outcome
from ..method import AbstractExplainer, Question, verdict
from ..moves.revert import apply_some, revert_all


@dataclass(frozen=True)
class Refine(AbstractExplainer):
    """Shrink the counterfactuals of another method to 1-minimal ones: no single edit can be undone without losing the
    flip.

    Each round tries to undo half of the edits, then a quarter, and so on down to single ones, in one batch of
    candidates for each size. It keeps the candidate with the highest probability of the target (or the highest value)
    among those that still flip. It ends early when the classifier's budget is spent.

    Args:
        explainer: Method whose counterfactuals are shrunk.

    Example:
        >>> from graphflip.explain import NoChange
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> Refine(NoChange(RelationalGIN(graph.schema).eval())).explain(graph)[0].method
        'no_change+refine'
    """

    explainer: AbstractExplainer

    @property
    def method(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{self.explainer.method}+refine"

    @property
    def classifier(self):  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.explainer.classifier

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [self.refine(explanation) for explanation in self.explainer.explain_batch(question)]

    def refine(self, counterfactual: Counterfactual) -> Counterfactual:
        """Undo the edits that the flip does not need.

        Args:
            counterfactual: Any answer about the same classifier.

        Returns:
            The answer with fewer edits; one that does not flip only gets the method's name.
        """
        if not counterfactual.flipped:
            return dataclasses.replace(counterfactual, method=self.method)
        edits = counterfactual.edits
        start = _Part(edits, counterfactual.counterfactual, counterfactual.p_counterfactual, max(len(edits) // 2, 1))
        left = revert_all(start, partial(self._smaller, counterfactual))
        return dataclasses.replace(
            counterfactual, method=self.method, counterfactual=left.graph, p_counterfactual=left.probability
        )

    def _smaller(self, counterfactual: Counterfactual, part: "_Part") -> "_Part | None":
        """Return fewer edits that still flip, or else the same edits to try in smaller runs; None after single ones."""
        if not part.edits:
            return None
        try:
            best = self._best_without(counterfactual, part)
        except BudgetSpent:
            return None
        if best is not None:
            return best
        return None if part.size == 1 else part._replace(size=part.size // 2)

    def _best_without(self, counterfactual: Counterfactual, part: "_Part") -> "_Part | None":
        """Revert each run of `size` edits by itself; returns the likeliest graph that still flips."""
        edits, size, factual = part.edits, part.size, counterfactual.factual
        kept = [edits[:start] + edits[start + size :] for start in range(0, len(edits), size)]
        graphs = [(some, graph) for some in kept if (graph := apply_some(factual, some)) is not None]
        if not graphs:
            return None
        batch = Graph.cat([graph.pad(factual.schema.max_nodes) for _, graph in graphs])
        outcomes, probability = verdict(self.classifier, batch, [counterfactual.target] * len(batch))
        flips = torch.tensor([outcome is Outcome.FLIPPED for outcome in outcomes])
        if not bool(flips.any()):
            return None
        best = int(torch.where(flips, probability, -torch.inf).argmax())
        left = graphs[best][0]
        return _Part(left, batch[best], float(probability[best]), min(size, max(len(left) // 2, 1)))


class _Part(NamedTuple):
    """Edits that are left, the graph after them, its probability of the target, and how many to revert at once."""

    edits: list[Edit]
    graph: Graph | None
    probability: float | None
    size: int
