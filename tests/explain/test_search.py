"""Laws of the search over valid edits."""

import dataclasses

import pytest
import torch

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.molecules.validity import is_molecule, is_radical_free
from graphflip.data.planted.motif import answers, contains_motif, planted
from graphflip.edits import apply_edits, heavy_edits
from graphflip.errors import ConfigError, GraphError, SchemaError
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.models.adapters import BlackBox

from .oracles import CountsType, SignedDistance

DATASET = planted(num_graphs=60, seed=1, min_nodes=5, max_nodes=8)
ORACLE = SignedDistance(DATASET.schema)
SEARCH = EditSearch(ORACLE, Moves(DATASET.schema), beam=1, max_moves=3)
MOLECULES = molecule_schema(("C", "O", "N", "H"), max_nodes=14, explicit_hydrogens=True)


class Counted(SignedDistance):
    """The oracle, counting the graphs it is shown."""

    seen = 0

    def forward(self, graph):
        self.seen += len(graph)
        return super().forward(graph)


@pytest.fixture(scope="module")
def found():
    return SEARCH.explain(DATASET.graphs())


def test_the_known_answer_is_found(found):
    """At least 99 % of planted graphs are flipped with the least number of edits there is."""
    least = answers(DATASET.graphs()).tolist()
    right = [one.flipped and len(one.edits) == edits for one, edits in zip(found, least, strict=True)]
    assert sum(right) >= 0.99 * len(right)
    assert max(least) > 1  # some need two


def test_a_flip_is_a_flip(found):
    for one in found:
        graph = one.counterfactual
        assert graph.is_hard
        assert one.flipped == (int(contains_motif(graph)) == one.target)
        applied = apply_edits(one.factual, one.edits)
        assert all(torch.equal(getattr(applied.pad(graph.num_slots), part), getattr(graph, part)) for part in "BVAE")
        assert len(Sketch.of(graph).parts()) <= len(Sketch.of(one.factual).parts())


def test_an_answer_depends_on_nothing_but_the_graph(found):
    graph = DATASET.graphs(range(6))
    for again in (SEARCH.explain(graph, batch_size=1), SEARCH.explain(graph[torch.arange(5, -1, -1)], seed=7)[::-1]):
        for a, b in zip(found, again, strict=False):
            assert a.edits == b.edits


def test_the_refined_list_is_minimal():
    """What starts from too many edits ends with none that can be undone alone."""
    search = dataclasses.replace(SEARCH, price=-0.5, confidence=0.95, beam=2, max_moves=4)
    for one in search.explain(DATASET.graphs(range(8))):
        for k in range(len(one.edits) if one.flipped else 0):
            try:
                less = apply_edits(one.factual, one.edits[:k] + one.edits[k + 1 :])
            except GraphError:
                continue
            if len(Sketch.of(less).parts()) <= len(Sketch.of(one.factual).parts()):
                assert float(ORACLE(less).softmax(-1)[0, one.target]) < 0.95


def test_calls_are_the_graphs_that_the_classifier_was_shown():
    oracle = Counted(DATASET.schema)
    (one,) = EditSearch(oracle, Moves(DATASET.schema), beam=2, max_moves=2).explain(DATASET.graphs(0))
    assert one.classifier_calls == oracle.seen


@pytest.mark.parametrize("budget", [1, 17, 97, 400])
def test_a_black_box_is_asked_as_often_as_it_may_be(budget):
    """Of a round that would cost too much as many graphs are shown as the budget has left."""
    for k in range(2):
        box = BlackBox(lambda graphs: ORACLE(Graph.cat(graphs)).softmax(-1), DATASET.schema, budget=budget)
        (one,) = EditSearch(box, Moves(DATASET.schema), beam=2, max_moves=2).explain(DATASET.graphs([k]))
        assert one.classifier_calls == box.calls <= budget
        assert one.flipped == (int(contains_motif(one.counterfactual)) == one.target)
        assert one.flipped or (one.outcome is Outcome.OUT_OF_CALLS and box.calls == budget)
        counted = Counted(DATASET.schema)
        search = EditSearch(counted, Moves(DATASET.schema), beam=2, max_moves=2, max_calls=budget)
        (same,) = search.explain(DATASET.graphs([k]))
        assert counted.seen == same.classifier_calls == one.classifier_calls
        assert (same.outcome, same.edits) == (one.outcome, one.edits)


def test_confidence_and_opinions_must_all_be_met():
    graph = from_smiles("CCC", MOLECULES)
    oxygen, nitrogen = CountsType(MOLECULES, "O", 1), CountsType(MOLECULES, "N", 1)
    search = EditSearch(oxygen, Moves(MOLECULES), surrogates=(nitrogen,), beam=2, max_moves=3)
    (one,) = search.explain(graph, 1)
    assert one.flipped
    types = [node["type"] for node in one.counterfactual.nodes() if node]
    assert "O" in types
    assert "N" in types
    assert len(heavy_edits(one.factual, one.edits)) == 2
    assert bool(is_molecule(one.counterfactual))
    assert bool(is_radical_free(one.counterfactual))
    (sure,) = dataclasses.replace(search, surrogates=(), confidence=0.9, max_moves=4).explain(graph, 1)
    assert sure.flipped
    assert (sure.p_counterfactual or 0) >= 0.9
    (unsure,) = dataclasses.replace(search, surrogates=(), confidence=0.9, max_moves=1).explain(graph, 1)
    assert unsure.outcome is Outcome.NOT_CONFIDENT
    assert "0.9 was asked" in unsure.note


def test_environments_that_were_never_seen_are_not_created():
    graphs = [from_smiles(text, MOLECULES) for text in ["CCO", "CCN", "CCC"] * 5]
    environments = EnvironmentCounts.mine(GraphDataset.from_graphs("few", graphs, [0] * 15, ("a", "b")))
    search = EditSearch(CountsType(MOLECULES, "O", 1), Moves(MOLECULES), beam=1, max_moves=1)
    graph = from_smiles("CCC", MOLECULES)
    free, (bound,) = search.explain(graph, 1), dataclasses.replace(search, environments=environments).explain(graph, 1)
    assert free[0].flipped
    assert bound.flipped
    assert bool(environments.created_are_known(bound.factual, bound.counterfactual))
    nothing = dataclasses.replace(search, environments=environments, minimum=10_000)
    (one,) = nothing.explain(graph, 1)
    assert one.outcome is Outcome.NO_MOVE_ALLOWED
    assert "with surroundings that the data do not have" in one.note


def test_what_was_not_found_is_said():
    (one,) = EditSearch(CountsType(MOLECULES, "O", 9), Moves(MOLECULES), beam=1, max_moves=2).explain(
        from_smiles("C", MOLECULES), 1
    )
    assert one.outcome is Outcome.OUT_OF_MOVES
    assert not one.flipped
    assert len(one.probabilities) == one.steps == 4  # two moves, and again with a wider beam
    assert sum(node["type"] == "O" for node in one.counterfactual.nodes() if node) == 2  # the closest attempt
    assert one.outcome.advice in str(one)
    (there,) = SEARCH.explain(DATASET.graphs(0), int(DATASET.labels[0]))
    assert there.outcome is Outcome.ALREADY_THERE


class Broken(SignedDistance):
    def head(self, embedding):
        return torch.full((len(embedding), 2), torch.nan)


def test_a_classifier_without_an_opinion_flips_nothing():
    (one,) = EditSearch(Broken(DATASET.schema), Moves(DATASET.schema), max_moves=1).explain(DATASET.graphs(0), 1)
    assert one.outcome is Outcome.NOT_A_NUMBER


def test_settings_that_make_no_sense_are_errors():
    with pytest.raises(ConfigError, match=r"between 0 and 1; got 1\.5"):
        dataclasses.replace(SEARCH, confidence=1.5)
    with pytest.raises(ConfigError, match="`beam` must be at least 1; got 0"):
        dataclasses.replace(SEARCH, beam=0)
    with pytest.raises(SchemaError, match="one schema"):
        EditSearch(ORACLE, Moves(MOLECULES))
