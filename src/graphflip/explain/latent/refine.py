"""Refine: undo every edit that the flip does not need, until none is left over."""

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
    """Shrinks what another explainer found to a 1-minimal list of edits: none of them can be undone without losing
    the flip.

    Each round tries to undo half of the edits, then a quarter, and so on down to single ones, in one batch of
    candidates for each size, and keeps the candidate with the highest probability of the target (or the highest
    value) among those that still flip. A classifier that may not be asked any more ends it early.
    """

    explainer: AbstractExplainer

    @property
    def method(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{self.explainer.method}+refine"

    @property
    def classifier(self):  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.explainer.classifier

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [self.refine(found) for found in self.explainer.explain_batch(question)]

    def refine(self, counterfactual: Counterfactual) -> Counterfactual:
        """The same answer with as few of its edits as keep the flip."""
        if not counterfactual.flipped:
            return dataclasses.replace(counterfactual, method=self.method)
        edits = counterfactual.edits
        start = _Part(edits, counterfactual.counterfactual, counterfactual.p_counterfactual, max(len(edits) // 2, 1))
        left = revert_all(start, partial(self._smaller, counterfactual))
        return dataclasses.replace(
            counterfactual, method=self.method, counterfactual=left.graph, p_counterfactual=left.probability
        )

    def _smaller(self, counterfactual: Counterfactual, part: "_Part") -> "_Part | None":
        """Fewer edits that still flip, or else the same edits to be tried in smaller runs; None after single ones."""
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
        """Revert each run of `size` edits by itself; the likeliest graph that still flips."""
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
