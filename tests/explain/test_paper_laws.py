"""The walk, the baselines and the networks of the paper, against what its text says, worked out by hand."""

import dataclasses
from itertools import permutations

import pytest
import torch

from graphflip.explain import LatentTraversal, NeighborMean, RandomExample
from graphflip.explain.latent.active import ActiveGraphs
from graphflip.explain.latent.baselines import LatentIndex
from graphflip.explain.method import ask
from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.decode import Gumbel, MostLikely
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.testing import random_graph


def first_step(walk, graph):
    """The code after one step of a walk, from the walk itself."""
    question = ask(walk.classifier, graph, None, ["0"], 0)
    return next(walk.traverse(ActiveGraphs(question, walk.classifier)))


@pytest.fixture
def walk(vae, classifier):
    return LatentTraversal(vae, classifier, steps=5, optimizer="descent", infer="samples", samples=6)


def by_hand(walk, graph, draws):
    """Eq. 5 and 6 for one graph, with the draws that the walk makes, of which some guide it."""
    question = ask(walk.classifier, graph, None, ["0"], 0)
    z = walk.vae.locate(graph, question.rngs("identity")).detach().requires_grad_()
    (rng,) = question.rngs("noise")
    decoded = walk.vae.decode(z.repeat_interleave(walk.samples, 0), Gumbel([rng] * walk.samples, walk.tau))
    target = int(question.goals[0].target) if hasattr(question.goals[0], "target") else None
    scores = question.goals[0].score(walk.classifier(decoded)) if target is None else None
    log_prob = walk.classifier(decoded).log_softmax(-1)[:, target] if scores is None else scores
    loss = -log_prob[:draws].mean() + walk.regularization * z.square().sum().sqrt()
    (gradient,) = torch.autograd.grad(loss, z)
    return z.detach() - walk.step_size * gradient


def walking(walk, dataset):
    """A graph whose walk takes a step."""
    for k in range(len(dataset)):
        graph = dataset.graphs([k])
        if len(first_step(walk, graph)):
            return graph
    raise AssertionError("no graph walks")


def test_several_draws_guide_the_walk_by_their_mean(walk, dataset):
    graph = walking(walk, dataset)
    step = first_step(walk, graph)
    assert torch.allclose(step, by_hand(walk, graph, walk.samples), atol=1e-5)
    assert not torch.allclose(step, by_hand(walk, graph, 1), atol=1e-5)


def test_the_temperature_changes_the_gradient(walk, dataset):
    graph = walking(walk, dataset)
    cold = dataclasses.replace(walk, tau=0.3)
    assert torch.allclose(first_step(cold, graph), by_hand(cold, graph, walk.samples), atol=1e-5)
    assert not torch.allclose(first_step(cold, graph), first_step(walk, graph), atol=1e-6)


def test_the_draw_that_is_returned_is_the_best_one(walk, dataset, classifier):
    """A walk over several draws that stops at once returns the likeliest of them."""
    wide = dataclasses.replace(walk, samples=8, steps=1)
    seen = 0
    for k in range(20):
        graph = dataset.graphs([k])
        (answer,) = wide.explain(graph)
        question = ask(classifier, graph, None, ["0"], 0)
        (rng,) = question.rngs("noise")
        z = wide.vae.locate(graph, question.rngs("identity")).repeat_interleave(8, 0)
        drawn = wide.vae.decode(z, Gumbel([rng] * 8, wide.tau))
        likely = classifier(drawn).softmax(-1)[:, answer.target]
        if answer.flipped:
            seen += 1
            assert answer.p_counterfactual == pytest.approx(float(likely.max()), abs=1e-4)
    assert seen


class Listening(PEGVAE):
    """Notes what it is asked to decode."""

    def decode(self, z, infer):
        self.heard = (z.detach().clone(), infer)
        return super().decode(z, infer)


@pytest.fixture
def listening(vae):
    copy = Listening(vae.schema, vae.config).eval().requires_grad_(False)
    copy.load_state_dict(vae.state_dict())
    return copy


def test_random_draws_from_the_whole_prior_and_decodes_a_draw(listening, classifier, dataset):
    RandomExample(listening, classifier).explain(dataset.graphs(range(60)), batch_size=60)
    z, infer = listening.heard
    assert isinstance(infer, Gumbel)
    assert float(z.std()) == pytest.approx(1.0, abs=0.06)
    assert float(z.mean()) == pytest.approx(0.0, abs=0.08)
    assert float((z.abs() > 2).float().mean()) == pytest.approx(0.0455, abs=0.02)


def _located(vae, judge, dataset):
    """Each graph with its code."""
    for k in range(len(dataset)):
        graph = dataset.graphs([k])
        yield graph, vae.locate(graph, ask(judge, graph, None, ["0"], 0).rngs("identity"))[0]


def _all_differ(z):
    """True if no two slots have one code: else several matchings are best."""
    return bool((torch.cdist(z, z) + torch.eye(len(z)) > 1e-3).all())


@pytest.mark.parametrize("k", [1, 3])
def test_the_mean_of_neighbors_is_that_of_their_aligned_codes(listening, classifier, k):
    """By trying every matching of slots: which neighbors, how each is turned, and how many there are."""
    from graphflip.data.planted.motif import planted

    small = planted(24, min_nodes=4, max_nodes=5, seed=2)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        vae = Listening(small.schema, listening.config).eval().requires_grad_(False)
        judge = InvariantClassifier(small.schema).eval()
    codes = torch.randn(len(small), small.schema.max_nodes, vae.config.dz, generator=torch.Generator().manual_seed(3))
    index = LatentIndex(small, codes)
    graph, z = next(pair for pair in _located(vae, judge, small) if _all_differ(pair[1]))
    (answer,) = NeighborMean(vae, judge, index, k=k).explain(graph)
    orders = [torch.tensor(order) for order in permutations(range(len(z)))]
    best = []
    for row in (small.labels == answer.target).nonzero()[:, 0].tolist():
        turned = min((codes[row][order] for order in orders), key=lambda code: float((z - code).square().sum()))
        best.append((float((z - turned).square().sum()), turned))
    nearest = [turned for _, turned in sorted(best, key=lambda pair: pair[0])[:k]]
    decoded, infer = vae.heard
    assert isinstance(infer, MostLikely)
    assert torch.allclose(decoded[0], torch.stack(nearest).mean(0), atol=1e-5)


@pytest.fixture(scope="module")
def shaken(vae, classifier, dataset):
    """Weights of which none is zero."""
    rng = torch.Generator().manual_seed(7)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        models = PEGVAE(dataset.schema, vae.config).eval(), InvariantClassifier(dataset.schema).eval()
    for model in models:
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3, generator=rng)
    return models


def other_types(graph):
    return dataclasses.replace(graph, V=graph.V.roll(1, -1) * graph.B[..., None])


@torch.no_grad()
def test_each_decoder_sees_what_was_decoded_before(shaken, dataset):
    """Eq. 3: V is decoded given B, A given B and V, E given B, V and A."""
    vae, graph = shaken[0], random_graph(dataset.schema, n=6, num_graphs=3, seed=1)
    z = torch.randn(3, graph.num_slots, vae.config.dz, generator=torch.Generator().manual_seed(2))
    fewer = graph.B.clone()
    fewer[:, 0] = 0
    assert not torch.allclose(vae.node_values(z, graph.B), vae.node_values(z, fewer))
    changed = other_types(graph).V
    assert not torch.allclose(vae.edge_logits(z, graph.B, graph.V), vae.edge_logits(z, graph.B, changed))
    kept = vae.edge_values(z, graph.B, graph.V, graph.A)
    assert not torch.allclose(kept, vae.edge_values(z, graph.B, changed, graph.A))
    assert not torch.allclose(kept, vae.edge_values(z, graph.B, graph.V, torch.zeros_like(graph.A)))


@torch.no_grad()
def test_the_classifier_of_the_paper_sees_types_and_edges(shaken, dataset):
    classifier, graph = shaken[1], random_graph(dataset.schema, n=6, num_graphs=3, seed=1)
    said = classifier(graph)
    assert not torch.allclose(said, classifier(other_types(graph)))
    bare = dataclasses.replace(graph, A=torch.zeros_like(graph.A), E=torch.zeros_like(graph.E))
    assert not torch.allclose(said, classifier(bare))
    if graph.schema.de > 1:
        assert not torch.allclose(said, classifier(dataclasses.replace(graph, E=graph.E.roll(1, -1))))
