"""Every method of the literature through the laws of answers; a new method is one more line."""

import random
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest
import torch

from graphflip import rivals
from graphflip.data.planted.motif import planted
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.method import verdict
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.rivals.cf2 import CF2
from graphflip.rivals.cf_gnn import CFGNNExplainer
from graphflip.rivals.clear import Clear
from graphflip.rivals.edge_weights import pair_list, toggled
from graphflip.rivals.gcf_walk import ReinforcedWalk
from graphflip.rivals.irand import IRand
from graphflip.rivals.oblivious import ObliviousSearch
from graphflip.rivals.rival import Abilities, About, AbstractRival
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


def test_the_law_of_seeds_can_fail():
    class Moody(AbstractRival):
        about = About("moody", "nowhere", Abilities(adds_edges=True))
        method, classifier = "moody", MODEL

        def search(self, asking):
            everywhere = pair_list(asking.factual)
            return toggled(asking.factual, [everywhere[int(torch.randint(len(everywhere), ()))]])

    with torch.random.fork_rng():
        torch.manual_seed(0)
        with pytest.raises(AssertionError):
            test_an_answer_depends_on_graph_target_and_seed_alone(Moody)


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


def test_every_method_of_the_literature_is_here():
    """A new method is noticed here until it is one more line; those that need molecules have laws of their own."""
    modules = [import_module(f"graphflip.rivals.{module.name}") for module in iter_modules(rivals.__path__)]
    found = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    methods = {kind.method for kind in found if issubclass(kind, AbstractRival) and hasattr(kind, "about")}
    assert methods == {*RIVALS, "exmol", "crem"}


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
