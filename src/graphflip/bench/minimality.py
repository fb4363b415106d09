"""Check that answers are 1-minimal, independently of the search that gave them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import torch
from jaxtyping import Bool
from torch import Tensor

from ..edits import edits_between, heavy_edits
from ..explain.claims.validity import Validity
from ..explain.counterfactual import Counterfactual
from ..explain.edits.search import EditSearch
from ..explain.edits.settings import Level
from ..explain.goals.batches import mean_outputs
from ..explain.goals.stored import Target, goal_of
from ..explain.moves.apply import apply_differences
from ..explain.moves.difference import Difference
from ..explain.moves.environments import EnvironmentCounts
from ..explain.moves.moves import Moves
from ..explain.moves.revert import apply_some, reverted
from ..explain.moves.sketch import Sketch
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier

# A graph that meets a requirement by less may miss it when it is classified among others.
_MARGIN = 2e-4
_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class Requirement:
    """Conditions that an answer must meet; by default the flip alone.

    Args:
        classifier: The classifier that must predict the target.
        surrogates: Models whose mean must agree.
        levels: Confidence and agreement that are asked, then lower ones that are accepted where nothing meets them.
        environments: Counts of the environments that edits may create; None for any.
        minimum: Number of times that an environment must occur to be known.
        survives_smiles: True if a molecule must also convince the models when it is read back from SMILES.
    """

    classifier: AbstractClassifier
    surrogates: tuple[AbstractClassifier, ...] = ()
    levels: tuple[Level, ...] = (Level(),)
    environments: EnvironmentCounts | None = None
    minimum: int = 5
    survives_smiles: bool = False

    @classmethod
    def of(cls, search: EditSearch) -> "Requirement":
        """The conditions that a search sets for its answers."""
        levels, environments = tuple(search.demand.levels()), search.environments
        return cls(search.classifier, search.surrogates, levels, environments, search.minimum, survives_smiles=True)

    def weaker(self) -> Iterator["Requirement"]:
        """This requirement and the weaker ones that a search accepts where nothing meets it, down to the flip alone."""
        for environments in dict.fromkeys([self.environments, None]):
            for survives_smiles in dict.fromkeys([self.survives_smiles, False]):
                for level in self.levels:
                    less = replace(self, levels=(level,), environments=environments)
                    yield replace(less, survives_smiles=survives_smiles)
        yield Requirement(self.classifier)

    def met(self, factual: Graph, graphs: Graph, target: Target, margin: float = 0.0) -> Bool[Tensor, " b"]:
        """True for the graphs, aligned with the factual, that meet the first level by more than a margin."""
        passes = (graphs.num_nodes > 0) & self._convinced(graphs, target, margin)
        if self.environments is not None:
            same = Graph.cat([factual] * len(graphs))
            passes &= self.environments.created_are_known(same, graphs, self.minimum)
        if self.survives_smiles and graphs.schema.chemistry is not None:
            survives = [bool(yes) and self._survives_smiles(graphs[k], target, margin) for k, yes in enumerate(passes)]
            passes = torch.tensor(survives)
        return passes

    @torch.no_grad()
    def _convinced(self, graphs: Graph, target: Target, margin: float) -> Bool[Tensor, " b"]:
        goal, level, graphs = goal_of(target), self.levels[0], graphs.pad(graphs.schema.max_nodes)
        outputs = self.classifier(graphs)
        passes = goal.reached(outputs) & (goal.score(outputs) >= goal.enough(level.confidence + margin))
        if self.surrogates:
            mean = mean_outputs(torch.stack([model(graphs) for model in self.surrogates]))
            passes &= goal.score(mean) >= goal.enough(level.agreement + margin)
        return passes

    def _survives_smiles(self, graph: Graph, target: Target, margin: float) -> bool:
        from ..data.molecules.molecule import round_trip

        again = round_trip(graph, kekule=False)
        return again is not None and bool(self._convinced(again, target, margin)[0])


def is_one_minimal(counterfactual: Counterfactual, asked: Requirement, moves: Moves) -> bool | None:
    """True if no change can be reverted without losing what was asked; None for what is no answer.

    Where the answer itself misses what was asked, the strongest weaker requirement that it meets counts, at least the
    flip.
    """
    factual, after, target = counterfactual.factual, counterfactual.counterfactual, counterfactual.target
    if after is None:
        return None
    requirement = next((less for less in asked.weaker() if bool(less.met(factual, after, target)[0])), None)
    if requirement is None:
        return None
    smaller = smaller_answers(factual, after, moves)
    while some := list(islice(smaller, _AT_ONCE)):
        if bool(requirement.met(factual, Graph.cat(some), target, _MARGIN).any()):
            return False
    return True


def smaller_answers(factual: Graph, after: Graph, moves: Moves) -> Iterator[Graph]:
    """Graphs that lack one change of an aligned pair, have fewer edits, and are as valid.

    A change is what `reverted` reverts, hydrogens filled in anew; and any single edit, or node with its edges, that can
    be left out as it is.
    """
    n = max(factual.num_slots, after.num_slots)
    factual, after = factual.pad(n), after.pad(n)
    before, size = Sketch.of(factual), _size(factual, after)
    least = Validity.of(after).weaker(Validity.of(factual))
    differences = (Difference.between(before, sketch) for sketch in reverted(moves, before, Sketch.of(after)))
    graphs = (apply_differences(factual, [difference]) for difference in differences)
    for graph in chain(graphs, _edits_left_out(factual, after)):
        heavy, every = _size(factual, graph)
        fewer = heavy <= size[0] and every <= size[1] and (heavy, every) != size
        if every and fewer and Validity.of(graph).reaches(least):
            yield graph


def _edits_left_out(factual: Graph, after: Graph) -> Iterator[Graph]:
    """The factual after all edits but one, or but those at one node that is added or removed."""
    edits = edits_between(factual, after)
    for edit in edits:
        for spared in ([edit], [other for other in edits if edit.is_node and edit.at[0] in other.at]):
            graph = apply_some(factual, [other for other in edits if other not in spared])
            if graph is not None:
                yield graph.pad(factual.num_slots)


def _size(factual: Graph, graph: Graph) -> tuple[int, int]:
    edits = edits_between(factual, graph)
    return len(heavy_edits(factual, edits)), len(edits)
