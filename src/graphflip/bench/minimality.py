"""Whether an answer is 1-minimal, found out anew: nothing is taken from the search that gave it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from ..edits import apply_edits, edits_between, heavy_edits
from ..errors import GraphError
from ..explain.counterfactual import Counterfactual
from ..explain.edits.search import EditSearch
from ..explain.goals.batches import mean_outputs
from ..explain.goals.stored import Target, goal_of
from ..explain.moves.apply import apply_differences
from ..explain.moves.difference import Difference
from ..explain.moves.environments import EnvironmentCounts
from ..explain.moves.moves import Moves
from ..explain.moves.sketch import Sketch
from ..explain.moves.undo import undone
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier

# A graph that meets a demand by less may miss it when it is classified among others.
_MARGIN = 2e-4
_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class Demand:
    """What an answer must meet: the classifier predicts the target with this confidence, the surrogates give it this
    probability on average, edits create known environments only, and if `durable`, a molecule that was written as
    SMILES and read back convinces the models too; `lower` are confidences and agreements that will do where nothing
    has these. By default the flip is all."""

    classifier: AbstractClassifier
    confidence: float = 0.0
    surrogates: tuple[AbstractClassifier, ...] = ()
    agreement: float = 0.0
    environments: EnvironmentCounts | None = None
    minimum: int = 5
    durable: bool = False
    lower: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, search: EditSearch) -> "Demand":
        """What a search asks of its answers."""
        return cls(
            search.classifier,
            search.confidence,
            search.surrogates,
            search.agreement,
            search.environments,
            search.minimum,
            durable=True,
            lower=tuple(search.levels()[1:]),
        )

    def weaker(self) -> Iterator["Demand"]:
        """This one, and what a search is content with where it finds nothing that meets all; the flip in the end."""
        for environments in dict.fromkeys([self.environments, None]):
            for durable in dict.fromkeys([self.durable, False]):
                for confidence, agreement in ((self.confidence, self.agreement), *self.lower):
                    less = replace(self, confidence=confidence, agreement=agreement)
                    yield replace(less, environments=environments, durable=durable)
        yield Demand(self.classifier)

    def met(self, factual: Graph, graphs: Graph, target: Target, margin: float = 0.0) -> Bool[Tensor, " b"]:
        """Which graphs, aligned with the factual, meet it, by more than a margin."""
        passes = (graphs.num_nodes > 0) & self._convinced(graphs, target, margin)
        if self.environments is not None:
            same = Graph.cat([factual] * len(graphs))
            passes &= self.environments.created_are_known(same, graphs, self.minimum)
        if self.durable and graphs.schema.chemistry is not None:
            lasts = [bool(yes) and self._lasts(graphs[k], target, margin) for k, yes in enumerate(passes)]
            passes = torch.tensor(lasts)
        return passes

    @torch.no_grad()
    def _convinced(self, graphs: Graph, target: Target, margin: float) -> Bool[Tensor, " b"]:
        goal, graphs = goal_of(target), graphs.pad(graphs.schema.max_nodes)
        outputs = self.classifier(graphs)
        passes = goal.reached(outputs) & (goal.score(outputs) >= goal.enough(self.confidence + margin))
        if self.surrogates:
            mean = mean_outputs(torch.stack([model(graphs) for model in self.surrogates]))
            passes &= goal.score(mean) >= goal.enough(self.agreement + margin)
        return passes

    def _lasts(self, graph: Graph, target: Target, margin: float) -> bool:
        from ..data.molecules.molecule import round_trip

        again = round_trip(graph, kekule=False)
        return again is not None and bool(self._convinced(again, target, margin)[0])


def is_one_minimal(found: Counterfactual, asked: Demand, moves: Moves) -> bool | None:
    """Whether no change can be taken back so that a smaller answer remains; None for what is no answer.

    What must be lost is what was asked, as far as the answer itself meets it, and at least the flip.
    """
    factual, after = found.factual, found.counterfactual
    if after is None:
        return None
    demand = next((one for one in asked.weaker() if bool(one.met(factual, after, found.target)[0])), None)
    if demand is None:
        return None
    smaller = smaller_answers(factual, after, moves)
    while some := list(islice(smaller, _AT_ONCE)):
        if bool(demand.met(factual, Graph.cat(some), found.target, _MARGIN).any()):
            return False
    return True


def smaller_answers(factual: Graph, after: Graph, moves: Moves) -> Iterator[Graph]:
    """Graphs that lack one change of an aligned pair, have fewer edits, and are as valid.

    A change is a label, an edge, a node with its edges, or a lot of them that hangs together, hydrogens filled in anew;
    and any single edit, or node with its edges, that can be left out as it is.
    """
    n = max(factual.num_slots, after.num_slots)
    factual, after = factual.pad(n), after.pad(n)
    before, size = Sketch.of(factual), _size(factual, after)
    least = _Validity.of(after).weaker(_Validity.of(factual))
    undo = (
        apply_differences(factual, [Difference.between(before, one)]) for one in undone(moves, before, Sketch.of(after))
    )
    for graph in chain(undo, _edits_left_out(factual, after)):
        heavy, every = _size(factual, graph)
        fewer = heavy <= size[0] and every <= size[1] and (heavy, every) != size
        if every and fewer and _Validity.of(graph).reaches(least):
            yield graph


def _edits_left_out(factual: Graph, after: Graph) -> Iterator[Graph]:
    edits = edits_between(factual, after)
    for edit in edits:
        for spared in ([edit], [one for one in edits if edit.is_node and edit.at[0] in one.at]):
            try:
                yield apply_edits(factual, [one for one in edits if one not in spared]).pad(factual.num_slots)
            except GraphError:  # what is left needs an edit that was left out
                continue


def _size(factual: Graph, graph: Graph) -> tuple[int, int]:
    edits = edits_between(factual, graph)
    return len(heavy_edits(factual, edits)), len(edits)


class _Validity(NamedTuple):
    """In how many parts a graph is; for molecules also its charge, and whether valences are filled and RDKit agrees."""

    num_parts: int
    charge: int = 0
    filled: bool = True
    molecule: bool = True

    @classmethod
    def of(cls, graph: Graph) -> "_Validity":
        num_parts, chemistry = len(Sketch.of(graph).parts()), graph.schema.chemistry
        if chemistry is None:
            return cls(num_parts)
        from ..data.molecules.molecule import atoms_and_bonds, is_molecule, is_radical_free

        charge = abs(sum(chemistry.formal_charges(*atoms_and_bonds(graph))))
        return cls(num_parts, charge, bool(is_radical_free(graph)[0]), bool(is_molecule(graph, None)[0]))

    def weaker(self, other: "_Validity") -> "_Validity":
        """What both of them reach."""
        return _Validity(
            max(self.num_parts, other.num_parts),
            max(self.charge, other.charge),
            self.filled and other.filled,
            self.molecule and other.molecule,
        )

    def reaches(self, least: "_Validity") -> bool:
        return self.weaker(least) == least
