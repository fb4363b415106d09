"""Refine: undo every edit that the flip does not need, until none is left over."""

import dataclasses
from dataclasses import dataclass

import torch

from ...edits import Edit, apply_edits
from ...errors import BudgetSpent, GraphError
from ...graph import Graph
from ..counterfactual import Counterfactual, Outcome
from ..method import AbstractExplainer, Question, verdict


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

    def refine(self, found: Counterfactual) -> Counterfactual:
        """The same explanation with as few of its edits as keep the flip."""
        if not found.flipped:
            return dataclasses.replace(found, method=self.method)
        edits, graph, probability = found.edits, found.counterfactual, found.p_counterfactual
        size = max(len(edits) // 2, 1)
        while edits:
            try:
                best = self._best_without(found, edits, size)
            except BudgetSpent:
                break
            if best is not None:
                edits, graph, probability = best
                size = min(size, max(len(edits) // 2, 1))
            elif size == 1:
                break
            else:
                size //= 2
        return dataclasses.replace(found, method=self.method, counterfactual=graph, p_counterfactual=probability)

    def _best_without(
        self, found: Counterfactual, edits: list[Edit], size: int
    ) -> tuple[list[Edit], Graph, float] | None:
        """Undo each run of `size` edits by itself; the likeliest that still flips."""
        candidates = []
        for start in range(0, len(edits), size):
            kept = edits[:start] + edits[start + size :]
            graph = _apply(found.factual, kept)
            if graph is not None:
                candidates.append((kept, graph))
        if not candidates:
            return None
        batch = Graph.cat([graph for _, graph in candidates])
        outcomes, probability = verdict(self.classifier, batch, [found.target] * len(batch))
        flips = torch.tensor([outcome is Outcome.FLIPPED for outcome in outcomes])
        if not bool(flips.any()):
            return None
        best = int(torch.where(flips, probability, -torch.inf).argmax())
        return candidates[best][0], candidates[best][1], float(probability[best])


def _apply(factual: Graph, edits: list[Edit]) -> Graph | None:
    """The factual after a sublist of edits; None where they need one that was left out."""
    try:
        return apply_edits(factual, edits).pad(factual.schema.max_nodes)
    except GraphError:
        return None
