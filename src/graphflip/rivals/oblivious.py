"""Oblivious bidirectional search (Abrate and Bonchi 2021): random edges until the class changes, then back."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .edge_weights import drawn, pair_list, toggled
from .rival import Abilities, About, AbstractRival, Asking


@dataclass(frozen=True)
class ObliviousSearch(AbstractRival):
    """First removes and adds edges at random, some at a time, until the class changes; then takes changes back.

    Nothing of the data is used. Blocks are taken back while the class holds, and become smaller when none can be.

    Args:
        classifier: Model to explain; it is only asked.
        block: Edges that come or go at a time in the first half.
        most_calls: Largest number of graphs to classify, in both halves together.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> ObliviousSearch(RelationalGIN(graph.schema).eval(), most_calls=20).explain(graph)[0].classifier_calls <= 20
        True
    """

    classifier: AbstractClassifier
    block: int = 5
    most_calls: int = 2000
    method: str = "obs"
    about: ClassVar[About] = About(
        "Oblivious bidirectional search",
        "Abrate, Bonchi. Counterfactual graphs for explainable classification of brain networks. KDD 2021, "
        "arXiv 2106.08640; OBS in GRETEL (Prado-Romero, Stilo 2022)",
        Abilities(adds_edges=True),
        "Its sets are brain networks with one node set for all, which we do not have; nothing of its tables carries "
        "over.",
    )

    def search(self, asking: Asking) -> Graph | None:
        changed = self._forward(asking)
        if changed is None:
            return None
        return toggled(asking.factual, sorted(self._backward(asking, changed)))

    def _forward(self, asking: Asking) -> list[tuple[int, int]] | None:
        """Pairs whose change flips the class."""
        changed: list[tuple[int, int]] = []
        edges, gaps = pair_list(asking.factual, True), pair_list(asking.factual, False)
        while asking.calls < self.most_calls and len(changed) < len(edges) + len(gaps):
            adds, taken = bool(torch.randint(2, (), generator=asking.rng)), set(changed)
            left = [pair for pair in (gaps if adds else edges) if pair not in taken]
            changed += drawn(left, self.block, asking.rng)
            if bool(asking.reached(toggled(asking.factual, changed))[0]):
                return changed
        return None

    def _backward(self, asking: Asking, changed: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs that are left when as many as possible were taken back, block by block."""
        size = min(self.block, max(len(changed) // 2, 1))
        while True:
            order, shrunk = drawn(changed, len(changed), asking.rng), False
            for at in range(0, len(order), size):
                if asking.calls >= self.most_calls:
                    return changed
                block = set(order[at : at + size])
                left = [pair for pair in changed if pair not in block]
                if left and bool(asking.reached(toggled(asking.factual, left))[0]):
                    changed, shrunk = left, True
            if not shrunk and size == 1:
                return changed
            size = size if shrunk else size // 2
