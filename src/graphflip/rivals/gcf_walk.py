"""The vertex-reinforced random walk of GCFExplainer (Kosan et al. 2024), for a single graph."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import torch

from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .edge_weights import drawn, num_changed
from .rival import Abilities, About, AbstractRival, Asking
from .single_edits import steps_from, take


@dataclass(frozen=True)
class ReinforcedWalk(AbstractRival):
    """Walk over the map of single edits; graphs near the goal, and graphs visited before, draw it more.

    Now and then the walk jumps back to the factual. The visited graph of the goal with the fewest changes is the
    answer. The paper walks from many graphs at once and selects a few counterfactuals that cover all:
    `graphflip bench model` measures that.

    Args:
        classifier: Model to explain; it is only asked.
        steps: Steps of the walk: the paper makes 50,000 for about a thousand graphs.
        neighbors: Neighbors that are drawn and classified in each step.
        jump: Chance to go back to the factual.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> walk = ReinforcedWalk(RelationalGIN(graph.schema).eval(), steps=2, neighbors=4)
        >>> walk.explain(graph)[0].classifier_calls
        8
    """

    classifier: AbstractClassifier
    steps: int = 50
    neighbors: int = 100
    jump: float = 0.1
    method: str = "gcf_walk"
    about: ClassVar[About] = About(
        "GCFExplainer, single answers",
        "Huang, Kosan, Medya, Ranu, Singh. Global counterfactual explainer for graph neural networks. WSDM 2023, "
        "arXiv 2210.11695",
        Abilities(adds_edges=True, changes_attributes=True, changes_nodes=True),
        "Its figures are coverage and cost of a global set, which `graphflip bench model` measures with this walk as a "
        "baseline; it has none of single answers.",
    )

    def search(self, asking: Asking) -> Graph | None:
        state, visits = asking.factual, Counter[bytes]()
        best, least = None, torch.inf
        for _ in range(self.steps):
            if float(torch.rand((), generator=asking.rng)) < self.jump:
                state = asking.factual
            near = take(state, drawn(steps_from(state), self.neighbors, asking.rng))
            outputs = asking.outputs(near)
            keys = [_key(near, k) for k in range(len(near))]
            drawn_to = asking.goal.score(outputs).exp().clamp(min=1e-6)
            weight = drawn_to * torch.tensor([1.0 + visits[key] for key in keys])
            at = int(torch.multinomial(weight, 1, generator=asking.rng))
            state = near[at]
            visits[keys[at]] += 1
            size = float(num_changed(asking.factual, state)) + float((state.B - asking.factual.B).abs().sum())
            if bool(asking.goal.reached(outputs[at])) and size < least:
                best, least = state, size
        return best


def _key(graphs: Graph, k: int) -> bytes:
    return graphs.V[k].numpy().tobytes() + graphs.A[k].numpy().tobytes()
