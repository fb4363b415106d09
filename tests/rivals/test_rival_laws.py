"""Every method of the literature through the laws of answers; a new method is one more line."""

import random

import numpy as np
import pytest
import torch

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, SchemaError
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.method import verdict
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.rivals.cf2 import CF2
from graphflip.rivals.cf_gnn import CFGNNExplainer
from graphflip.rivals.clear import Clear
from graphflip.rivals.fragment_exchange import FragmentExchange
from graphflip.rivals.gcf_walk import ReinforcedWalk
from graphflip.rivals.irand import IRand
from graphflip.rivals.oblivious import ObliviousSearch
from graphflip.rivals.rival import Abilities, About, AbstractRival
from graphflip.rivals.selfies_mutation import SelfiesMutation
from graphflip.rivals.xplore import XPlore

DATA = planted(40, min_nodes=5, max_nodes=8)
GRAPHS = DATA.graphs(slice(0, 6))


class ThickOrRed(AbstractClassifier):
    """Class 1 if thick edges and red nodes together are more than 3.5: edges and attributes both decide."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        return (graph.E[..., 1].sum((1, 2)) / 2 + graph.V[..., 3].sum(1))[:, None]

    def head(self, embedding):
        logit = embedding - 3.5
        return torch.cat([-logit, logit], 1)


class CountsNitrogen(AbstractClassifier):
    """Class 1 if there is a nitrogen."""

    def __init__(self, schema):
        super().__init__()
        self.schema, self.at = schema, schema.node_type.values.index("N")

    def embed(self, graph):
        return graph.V[..., self.at].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([0.5 - embedding, embedding - 0.5], 1)


MODEL = ThickOrRed(DATA.schema).eval()
RIVALS = {
    "cf_gnn": lambda: CFGNNExplainer(MODEL, steps=60, rate=1.0),
    "cf2": lambda: CF2(MODEL, steps=60),
    "xplore": lambda: XPlore(MODEL, steps=60, rate=1.0),
    "obs": lambda: ObliviousSearch(MODEL, most_calls=200),
    "irand": lambda: IRand(MODEL, share=0.6, tries=10),
    "gcf_walk": lambda: ReinforcedWalk(MODEL, steps=20, neighbors=20),
    "clear": lambda: Clear.fit(MODEL, DATA.part("train"), steps=30),
}
every_rival = pytest.mark.parametrize("make", RIVALS.values(), ids=RIVALS)


@pytest.fixture(scope="module")
def answers():
    return {name: make().explain(GRAPHS, seed=3) for name, make in RIVALS.items()}


@pytest.mark.parametrize("name", RIVALS)
def test_no_flip_is_claimed_that_the_classifier_denies(answers, name):
    for answer in answers[name]:
        if answer.counterfactual is None:
            assert answer.outcome is Outcome.OUT_OF_STEPS
            continue
        (outcome,), probability = verdict(MODEL, answer.counterfactual, [answer.target])
        assert answer.outcome is outcome
        assert answer.p_counterfactual == pytest.approx(float(probability))
        after = answer.counterfactual
        Graph(after.B, after.V, after.A, after.E, DATA.schema)  # every check of a graph


@pytest.mark.parametrize("name", RIVALS)
def test_most_methods_find_something_here(answers, name):
    assert sum(answer.flipped for answer in answers[name]) >= 2, name


@every_rival
def test_an_answer_depends_on_graph_target_and_seed_alone(make):
    rival = make()
    together = rival.explain(GRAPHS, seed=3)
    alone = rival.explain(GRAPHS[4], seed=3)[0]
    assert alone.outcome is together[4].outcome
    assert alone.edits == together[4].edits
    torch.rand(3)
    random.random()
    np.random.default_rng(1).random()
    again = make().explain(GRAPHS, seed=3)
    assert [answer.edits for answer in again] == [answer.edits for answer in together]


@every_rival
def test_the_global_generators_are_left_alone(make):
    before, numpy = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    make().explain(GRAPHS[:2], seed=1)
    assert torch.equal(before, torch.get_rng_state())
    assert numpy == np.random.get_state()[1].tolist()  # noqa: NPY002


@pytest.mark.parametrize("name", RIVALS)
def test_a_method_does_nothing_that_it_says_it_cannot(answers, name):
    able = RIVALS[name]().about.abilities
    ops = {edit.op for answer in answers[name] for edit in answer.edits}
    allowed = {"remove_edge"} | ({"add_edge"} if able.adds_edges else set())
    allowed |= {"set_node"} if able.changes_attributes else set()
    allowed |= {"add_node", "remove_node", "set_edge"} if able.changes_nodes else set()
    assert ops <= allowed


@pytest.mark.parametrize("name", RIVALS)
def test_calls_are_counted(answers, name):
    assert all(answer.classifier_calls > 0 for answer in answers[name])


def test_the_law_can_fail():
    class Liar(AbstractRival):
        about = About("liar", "nowhere", Abilities())
        method, classifier = "liar", MODEL

        def search(self, asking):
            return asking.factual

    (answer,) = Liar().explain(GRAPHS[0])
    assert answer.outcome is Outcome.NOT_FLIPPED, "whatever a search returns is asked of the classifier again"


def test_removed_edges_are_the_ones_that_matter():
    """With a classifier that counts thick edges, a learned mask removes thick edges only."""
    found = [a for a in CFGNNExplainer(MODEL, steps=200, rate=1.0).explain(GRAPHS) if a.flipped]
    thick = [edit.before == {"type": "thick"} for answer in found for edit in answer.edits]
    assert thick
    assert all(thick)


MOLECULES = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
ANILINE = from_smiles("Nc1ccccc1", MOLECULES)


def test_mutations_of_selfies_flip_and_leave_generators_alone():
    pytest.importorskip("exmol", reason="needs the package exmol: pip install 'graphflip[peers]'")
    rival = SelfiesMutation(CountsNitrogen(MOLECULES).eval(), samples=300)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    one, same = (rival.explain(ANILINE, seed=2)[0] for _ in range(2))
    assert one.flipped
    assert one.counterfactual == same.counterfactual
    assert before == np.random.get_state()[1].tolist()  # noqa: NPY002
    with pytest.raises(SchemaError, match="for molecules"):
        SelfiesMutation(MODEL).explain(GRAPHS[0])


def test_fragments_need_a_database(monkeypatch):
    pytest.importorskip("crem", reason="needs the package crem: pip install 'graphflip[peers]'")
    monkeypatch.delenv("GRAPHFLIP_CREM", raising=False)
    with pytest.raises(ConfigError, match="database of fragments; got none"):
        FragmentExchange(CountsNitrogen(MOLECULES).eval()).explain(ANILINE)
