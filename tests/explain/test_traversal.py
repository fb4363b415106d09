"""Laws of the latent walk."""

import dataclasses

import pytest
import torch
from torch import nn

from graphflip.errors import ConfigError
from graphflip.explain import LatentTraversal, Outcome
from graphflip.explain.latent.active import ActiveGraphs
from graphflip.explain.method import ask
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.networks.decode import MostLikely


@pytest.fixture
def walk(vae, classifier):
    return LatentTraversal(vae, classifier, steps=40)


def same(a, b):
    return (
        a.outcome is b.outcome
        and a.steps == b.steps
        and all(torch.equal(getattr(a.counterfactual, part), getattr(b.counterfactual, part)) for part in "BVAE")
    )


def test_what_is_returned_is_a_valid_hard_graph_that_the_classifier_assigns_to_the_target(walk, dataset, classifier):
    found = walk.explain(dataset.graphs(range(20)))
    assert any(one.flipped for one in found)
    for one in found:
        graph = one.counterfactual
        assert graph.is_hard
        Graph(graph.B, graph.V, graph.A, graph.E, graph.schema)
        predicted = int(classifier(graph).argmax())
        assert one.flipped == (predicted == one.target)
        assert one.p_counterfactual == pytest.approx(float(classifier(graph).softmax(-1)[0, one.target]), abs=1e-5)


def test_the_target_is_the_class_that_is_not_predicted(walk, dataset, classifier):
    graph = dataset.graphs(range(10))
    assert [one.target for one in walk.explain(graph)] == (1 - classifier(graph).argmax(-1)).tolist()


@pytest.mark.parametrize("infer", ["gumbel", "samples", "most_likely"])
def test_an_answer_does_not_depend_on_batch_mates_or_batch_size(walk, dataset, infer):
    walk = dataclasses.replace(walk, infer=infer, samples=3, steps=12)
    graph = dataset.graphs(range(9))
    together, in_threes = walk.explain(graph), walk.explain(graph, batch_size=3)
    reverse = walk.explain(graph[torch.arange(8, -1, -1)])[::-1]
    for a, b, c in zip(together, in_threes, reverse, strict=True):
        assert same(a, b)
        assert same(a, c)


def test_same_seed_same_answer_other_seed_other_walk(walk, dataset):
    graph = dataset.graphs(range(12))
    first, again, other = walk.explain(graph), walk.explain(graph), walk.explain(graph, seed=1)
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert not all(same(a, b) for a, b in zip(first, other, strict=True))


def test_several_answers_for_each_graph_are_those_of_the_next_seeds(walk, dataset):
    graph = dataset.graphs(range(3))
    several = walk.explain(graph, num=2, seed=4)
    assert [(one.id, one.seed) for one in several] == [("0", 4), ("0", 5), ("1", 4), ("1", 5), ("2", 4), ("2", 5)]
    assert all(same(a, b) for a, b in zip(several[1::2], walk.explain(graph, seed=5), strict=True))


def test_a_finished_graph_leaves_the_batch_and_the_rest_is_not_disturbed(walk, dataset):
    question = ask(walk.classifier, dataset.graphs(range(20)), None, [str(k) for k in range(20)], 0)
    graphs = ActiveGraphs(question, walk.classifier)
    steps = walk.traverse(graphs)
    z = next(z for z in steps if len(graphs.active) < 20)
    assert len(z) == len(graphs.active) < 20
    gone = set(range(20)) - set(graphs.active.tolist())
    before = {k: len(graphs.probabilities[k]) for k in gone}
    next(steps)
    assert all(len(graphs.probabilities[k]) == before[k] for k in gone)


def test_weights_get_no_gradient(walk, dataset):
    walk.explain(dataset.graphs(range(4)))
    assert all(p.grad is None for model in (walk.vae, walk.classifier) for p in model.parameters())


def test_descent_is_the_update_of_the_paper(vae, classifier, dataset):
    walk = LatentTraversal(vae, classifier, optimizer="descent", infer="most_likely", step_size=0.3, regularization=0.7)
    question = ask(classifier, dataset.graphs(range(6)), None, [""] * 6, 0)
    graphs = ActiveGraphs(question, classifier)
    z = vae.locate(question.graph, question.rngs("identity")).requires_grad_()
    log_prob = classifier(vae.decode(z, MostLikely())).log_softmax(-1)
    loss = -log_prob[range(6), question.target].sum() + 0.7 * z.flatten(1).norm(dim=1).sum()
    loss.backward()
    after = next(walk.traverse(graphs))
    assert z.grad is not None
    expected = (z - 0.3 * z.grad)[graphs.active]
    torch.testing.assert_close(after, expected.detach())


def test_the_walk_of_the_experiments_takes_the_steps_of_adam(vae, classifier, dataset):
    walk = LatentTraversal(vae, classifier, infer="most_likely", regularization=0.7)
    question = ask(classifier, dataset.graphs(range(6)), None, [""] * 6, 0)
    graphs = ActiveGraphs(question, classifier)
    z = nn.Parameter(vae.locate(question.graph, question.rngs("identity")))
    optimizer = torch.optim.Adam([z], lr=0.05)
    log_prob = classifier(vae.decode(z, MostLikely())).log_softmax(-1)
    (-log_prob[range(6), question.target].sum() + 0.7 * z.flatten(1).norm(dim=1).sum()).backward()
    optimizer.step()
    after = next(walk.traverse(graphs))
    torch.testing.assert_close(after, z.detach()[graphs.active])


def test_the_path_has_a_code_and_a_probability_for_each_step(vae, classifier, dataset):
    walk = LatentTraversal(vae, classifier, steps=7, keep_path=True)
    for one in walk.explain(dataset.graphs(range(6))):
        assert len(one.probabilities) == len(one.path) == one.steps <= 7


def test_already_there_and_targets_out_of_range(walk, dataset, classifier):
    graph = dataset.graphs(range(3))
    predicted = classifier(graph).argmax(-1).tolist()
    assert all(one.outcome is Outcome.ALREADY_THERE and not one.flipped for one in walk.explain(graph, predicted))
    with pytest.raises(ConfigError, match=r"class of 0\.\.1; got 7"):
        walk.explain(graph, 7)


class _Broken(AbstractClassifier):
    """A classifier whose logits are a constant, whatever it is shown."""

    def __init__(self, schema, value):
        super().__init__()
        self.schema, self.value = schema, value

    def embed(self, graph):
        return graph.B.sum(1, keepdim=True) * 0

    def head(self, embedding):
        return embedding + torch.tensor([1.0, self.value])


@pytest.mark.parametrize(("value", "outcome"), [(float("nan"), Outcome.NOT_A_NUMBER), (0.0, Outcome.OUT_OF_STEPS)])
def test_a_classifier_without_an_opinion_flips_nothing(vae, dataset, value, outcome):
    walk = LatentTraversal(vae, _Broken(dataset.schema, value), steps=3)
    assert [one.outcome for one in walk.explain(dataset.graphs(range(3)), 1)] == [outcome] * 3


class _Size(AbstractClassifier):
    """A classifier that is surer of class 1 the more nodes there are: .5 at `half` nodes."""

    def __init__(self, schema, half, slope=0.6):
        super().__init__()
        self.schema, self.middle, self.slope = schema, half, slope

    def embed(self, graph):
        return graph.B.sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([torch.zeros_like(embedding), self.slope * (embedding - self.middle)], -1)


@pytest.fixture
def past_the_boundary(vae, dataset):
    """Walks to more nodes, and the graphs to start from, which have fewer than the boundary."""
    graph = dataset.graphs(dataset.num_nodes.argsort()[:8])
    classifier = _Size(dataset.schema, float(graph.B.sum(1).max()) + 0.5)
    return LatentTraversal(vae, classifier, steps=40, regularization=0.0), graph


def test_a_confident_walk_ends_at_the_first_graph_that_is_sure_enough(past_the_boundary):
    walk, graph = past_the_boundary
    for confidence in (0.6, 0.8, 0.9):
        sure = dataclasses.replace(walk, stop="confident", confidence=confidence)
        answers = sure.explain(graph, 1)
        assert any(one.flipped for one in answers)
        for one in answers:
            before = one.probabilities[:-1]
            assert all(p < confidence for p in before)
            assert one.flipped == (one.p_counterfactual >= confidence)
            assert one.p_counterfactual == pytest.approx(
                float(walk.classifier(one.counterfactual).softmax(-1)[0, 1]), abs=1e-5
            )


def test_a_confident_walk_goes_on_from_where_the_boundary_ends_the_other(past_the_boundary):
    walk, graph = past_the_boundary
    boundary = walk.explain(graph, 1)
    confident = dataclasses.replace(walk, stop="confident", confidence=0.9).explain(graph, 1)
    assert any(b.steps > a.steps for a, b in zip(boundary, confident, strict=True))
    for a, b in zip(boundary, confident, strict=True):
        shared = min(a.steps, b.steps)
        assert a.probabilities[:shared] == pytest.approx(b.probabilities[:shared], abs=1e-5)
        assert b.steps >= a.steps


def test_a_walk_that_never_is_confident_returns_the_surest_graph_and_says_so(past_the_boundary):
    walk, graph = past_the_boundary
    answers = dataclasses.replace(walk, stop="confident", confidence=0.9999).explain(graph, 1)
    unsure = [one for one in answers if one.outcome is Outcome.NOT_CONFIDENT]
    assert unsure
    for one in unsure:
        assert not one.flipped
        assert one.steps == walk.steps
        assert 0.5 < one.p_counterfactual < 0.9999
        assert one.p_counterfactual == pytest.approx(max(one.probabilities), abs=1e-5)
        assert int(walk.classifier(one.counterfactual).argmax()) == 1


@pytest.mark.parametrize(("setting", "value"), [("confidence", 0.0), ("confidence", 1.0), ("steps", 0)])
def test_settings_out_of_range_are_refused(walk, setting, value):
    with pytest.raises(ConfigError, match=f"must .*{setting if setting == 'steps' else 'above 0'}.*{value}"):
        dataclasses.replace(walk, **{setting: value})


def test_every_outcome_has_advice():
    assert all(len(outcome.advice) > 20 for outcome in Outcome)
