"""Proposals: the candidates of a round that a walk through the latent space asks for most."""

from functools import cached_property

from ....graph import Graph
from ...goals.goal import AbstractGoal
from ...latent.saliency import Saliency, SaliencyWalk
from ..candidates import Candidate
from ..settings import Costs


class Proposals:
    """Preselects candidates by their saliency per cost, so that the classifier is shown fewer.

    Args:
        walk: Walk whose saliency ranks candidates; None keeps all of them.
        graph: The factual.
        goal: The prediction that the walk goes towards.
        costs: Costs of candidates.
        num: Candidates to keep of each round.
    """

    def __init__(self, walk: SaliencyWalk | None, graph: Graph, goal: AbstractGoal, costs: Costs, num: int):
        self.walk, self.graph, self.goal, self.costs, self.num = walk, graph, goal, costs, num

    def __call__(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates to classify, most salient first."""
        saliency = self._saliency
        if saliency is None:
            return candidates
        # Sort key: minus saliency / (1 + cost).
        return sorted(candidates, key=lambda c: -saliency.score(c.difference) / (1 + self.costs.cost(c)))[: self.num]

    @cached_property
    def _saliency(self) -> Saliency | None:
        return None if self.walk is None else self.walk.saliencies(self.graph, [self.goal])[0]
