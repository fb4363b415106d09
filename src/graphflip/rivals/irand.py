"""iRand, GRETEL's name for iterated random changes of edges: the least that a search has to beat."""

from dataclasses import dataclass
from typing import ClassVar

from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .edge_weights import drawn, pair_list, toggled
from .rival import Abilities, About, AbstractRival, Asking


@dataclass(frozen=True)
class IRand(AbstractRival):
    """Change one random pair of nodes, then two, then more, a few tries each, until the class changes.

    Args:
        classifier: Model to explain; it is only asked.
        share: Largest share of all pairs of nodes that is changed; at least one pair is.
        tries: Tries for each number of pairs.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> IRand(RelationalGIN(graph.schema).eval()).explain(graph)[0].method
        'irand'
    """

    classifier: AbstractClassifier
    share: float = 0.01
    tries: int = 3
    method: str = "irand"
    about: ClassVar[About] = About(
        "iRand",
        "Prado-Romero, Prenkaj, Stilo. Are generative-based graph counterfactual explainers worth it? ECML PKDD "
        "workshops 2023; iRand in GRETEL",
        Abilities(adds_edges=True),
        "A control; its papers' figures are of other sets and a wrong edit distance.",
    )

    def search(self, asking: Asking) -> Graph | None:
        everywhere = pair_list(asking.factual)
        for count in range(1, max(int(self.share * len(everywhere)), 1) + 1):
            for _ in range(self.tries):
                graph = toggled(asking.factual, drawn(everywhere, count, asking.rng))
                if bool(asking.reached(graph)[0]):
                    return graph
        return None
