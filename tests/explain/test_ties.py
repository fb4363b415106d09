"""Laws of ties: what two processors round differently does not decide between candidates that are alike."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import graphflip
from graphflip.explain.edits.candidates import GRAIN, Candidate, votes_for
from graphflip.explain.edits.scoring import Scoring
from graphflip.explain.edits.settings import Costs, Level, Limits
from graphflip.explain.edits.slopes.gradients import gradients
from graphflip.explain.explainer import Explainer
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier, RelationalGIN
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph

NOISE = 2e-7
"""Relative size of what sums in single precision lose."""

GRAPH = random_graph(n=3, num_graphs=1, seed=0)
START = Candidate.of(Sketch.of(GRAPH), Sketch.of(GRAPH), GRAPH.schema)


class Shaken(AbstractClassifier):
    """A model on another processor: the last digits of its outputs, and of its gradients, are others."""

    def __init__(self, model, seed):
        super().__init__()
        self.model, self.schema, self.has_gradients = model, model.schema, model.has_gradients
        self.config = model.config
        self.rng = torch.Generator().manual_seed(seed)

    def shaken(self, x):
        return x * (1 + NOISE * torch.randn(x.shape, generator=self.rng))

    def embed(self, graph):
        if torch.is_grad_enabled():
            graph = Graph.trusted(graph.B, self.shaken(graph.V), graph.A, graph.E, graph.schema)
        return self.model.embed(graph)

    def head(self, embedding):
        return self.shaken(self.model.head(embedding))


def shaken(kit, seed):
    surrogates = tuple(Shaken(model, seed + k) for k, model in enumerate(kit.surrogates, 1))
    return Explainer(dataclasses.replace(kit, classifier=Shaken(kit.classifier, seed), surrogates=surrogates))


def said(answer):
    return [(edit.op, edit.at, edit.after) for edit in answer.edits], answer.classifier_calls


@pytest.mark.parametrize("prefer", ["balanced", "minimal"])
@pytest.mark.parametrize("smiles", ["Nc1ccc(N)cc1", "O=[N+]([O-])c1ccc2ccccc2c1", "ClC(Cl)(Cl)C(Cl)(Cl)Cl"])
def test_what_is_lost_in_rounding_changes_no_answer_about_a_symmetric_molecule(smiles, prefer):
    explainer = graphflip.load("mutagenicity")
    expected = said(explainer.explain(smiles, prefer=prefer))
    for seed in (0, 100):
        assert said(shaken(explainer.kit, seed).explain(smiles, prefer=prefer)) == expected


def test_what_is_lost_in_rounding_changes_no_answer_by_gradients():
    explainer = graphflip.load("nci1")
    carbon, nitrogen = {"type": "C"}, {"type": "N"}
    ring = [(i, (i + 1) % 6, {}) for i in range(6)]
    graph = Graph.build(explainer.kit.schema, [carbon] * 6 + [nitrogen] * 2, [*ring, (0, 6, {}), (3, 7, {})])
    expected = said(explainer.explain(graph))
    for seed in (0, 100):
        assert said(shaken(explainer.kit, seed).explain(graph)) == expected


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=5))
def test_candidates_are_compared_by_multiples_of_the_grain_near_the_truth(logits):
    votes = votes_for(torch.tensor([[0.0, x] for x in logits]), ClassGoal(1))
    for vote, score in zip(votes, START.with_votes(votes).scores, strict=True):
        assert score == round(score / GRAIN) * GRAIN
        assert abs(vote.score - score) <= 0.51 * GRAIN
    (lost,) = votes_for(torch.tensor([[torch.nan, 0.0]]), ClassGoal(1))
    assert START.with_votes([lost]).scores == (-np.inf,)


class Says(AbstractClassifier):
    """Gives every graph one probability of class 1."""

    def __init__(self, schema, probability):
        super().__init__()
        self.schema, self.logit = schema, float(torch.logit(torch.tensor(probability, dtype=torch.float64)))

    def embed(self, graph):
        return graph.B.new_tensor([[0.0, self.logit]]).expand(len(graph), 2)

    def head(self, embedding):
        return embedding


@given(asked=st.floats(0.05, 0.99), more=st.floats(-2e-3, 2e-3))
def test_no_rounding_lets_anything_pass_with_less_confidence_than_was_asked(asked, more):
    assume(0.001 < asked + more < 0.999)
    goal, model = ClassGoal(1), Says(GRAPH.schema, asked + more)
    scoring = Scoring(GRAPH, goal, model, [], Level(asked, 0.0), Costs(), Limits())
    says = START.with_votes(votes_for(model(GRAPH), goal))
    if scoring.passes(says):
        assert more >= -1e-6
    if says.predicted and more >= 1e-4:
        assert scoring.passes(says)


def test_gradients_are_multiples_of_a_small_part_of_the_steepest():
    graph = random_graph(n=6, num_graphs=1, seed=3)
    torch.manual_seed(0)
    model = RelationalGIN(graph.schema).eval()
    (slope,) = gradients([model], graph, ClassGoal(1)) or [None]
    assert slope is not None
    steepest = max(abs(slope.nodes).max(), abs(slope.pairs).max())
    grain = 2.0 ** (np.frexp(steepest)[1] - 10)
    for part in slope:
        assert np.array_equal(part, (part / grain).round() * grain)
    assert 2**9 <= steepest / grain <= 2**10


@given(seed=st.integers(0, 2**16))
def test_nodes_at_like_places_have_like_gradients(seed):
    """All nodes of a ring look the same, so that the maximum over them is of all: none of them stands for the rest."""
    n, rng = 5, torch.Generator().manual_seed(seed)
    schema = Schema(nodes=(Categories(name="type", values=("C", "N")),), max_nodes=n)
    ring = Graph.build(schema, [{"type": "C"}] * n, [(i, (i + 1) % n, {}) for i in range(n)])
    model = RelationalGIN(schema).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(0.3 * torch.randn(weights.shape, generator=rng))
    V = (ring.V * (1 + NOISE * torch.randn(ring.V.shape, generator=rng))).requires_grad_()
    (model.embed(Graph.trusted(ring.B, V, ring.A, ring.E, schema)) ** 2).sum().backward()
    assert V.grad is not None
    spread = (V.grad - V.grad.mean(1, keepdim=True)).abs().max()
    assert float(spread) <= 1e-3 * float(V.grad.abs().max())
    hard = model(ring)
    with torch.no_grad():
        torch.testing.assert_close(model(ring), hard, rtol=1e-4, atol=1e-4)
