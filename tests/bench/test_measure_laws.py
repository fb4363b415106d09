"""Measures against their formulas, on pairs of graphs of which each says something else."""

import pytest
import torch

from graphflip.bench.measure import Pairs, Yardstick, measure, stack, validity
from graphflip.bench.paper.runs import METHODS, WALK
from graphflip.data.planted.motif import planted
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.latent.baselines import NeighborMean
from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.models.training.recipes import recipe

DATA = planted(12, max_nodes=7, min_nodes=5)
GRAPHS = stack([DATA.graphs()])


@pytest.fixture(scope="module")
def yardstick():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        vae, classifier = PEGVAE(DATA.schema, PAPER).eval(), InvariantClassifier(DATA.schema).eval()
        torch.nn.init.normal_(classifier.out.weight)
    return Yardstick(classifier, vae, {"nafr": classifier}, nll_limit=8.0, ged_seconds=0.03)


@pytest.fixture(scope="module")
def answers():
    order = torch.randperm(GRAPHS.num_slots, generator=torch.Generator().manual_seed(1))
    pairs = [(GRAPHS[k], GRAPHS[k + 1].permute(order), k % 2) for k in range(8)]
    return [Counterfactual("x", "test", target, a, b, 0.1, 0.9, Outcome.FLIPPED) for a, b, target in pairs]


@torch.no_grad()
def test_sic_is_what_the_target_gains(yardstick, answers):
    """SIC = p(target | counterfactual) - p(target | factual): positive if the change leads to the target."""
    sic = validity(Pairs.of(answers), yardstick.classifier, {})["sic"]
    for gain, one in zip(sic, answers, strict=True):
        before, after = (yardstick.classifier(graph).softmax(-1)[0] for graph in (one.factual, one.counterfactual))
        assert float(gain) == pytest.approx(float(after[one.target] - before[one.target]), abs=1e-5)
    assert float(sic.abs().max()) > 1e-3


@torch.no_grad()
def test_led_is_measured_slot_by_slot_and_the_aligned_one_is_not(yardstick, answers):
    count = len(answers)
    found = measure(answers, torch.zeros(count, dtype=torch.long), torch.zeros(count), yardstick)
    for k, one in enumerate(answers):
        z, w = (yardstick.vae.encode(graph).mean[0] for graph in (one.factual, one.counterfactual))
        assert float(found["led"][k]) == pytest.approx(float((z - w).square().sum().sqrt()), rel=1e-4, abs=1e-5)
    assert bool((found["led_aligned"] <= found["led"] + 1e-5).all())
    assert float((found["led"] - found["led_aligned"]).max()) > 1e-3


def test_the_walk_of_the_experiment_is_the_one_of_the_paper():
    """Appendix: Adam with epsilon 0.05, lambda 1, tau 1, at most 1,000 steps, pulled to the origin; means of ten."""
    assert WALK["steps"] == 1000
    assert (WALK["step_size"], WALK["regularization"], WALK["tau"]) == (0.05, 1.0, 1.0)
    assert (WALK["optimizer"], WALK["anchor"]) == ("adam", "origin")
    means = [method for method in METHODS if method.explainer is NeighborMean]
    assert means
    assert {method.settings["k"] for method in means} == {10}
    assert [method.settings for method in METHODS if method.name == "cgcf"] == [WALK]


@pytest.mark.parametrize(("name", "beta"), [("aids", 0.1), ("mutagenicity", 0.5), ("nci1", 0.5)])
def test_the_recipes_of_the_paper_are_those_of_its_text(name, beta):
    data = planted(20, seed=0)
    object.__setattr__(data, "name", name)
    autoencoder, classifier = recipe("vae", "paper", data), recipe("classifier", "paper", data)
    assert autoencoder.objective.beta == beta
    assert autoencoder.model.config == PAPER
    assert (PAPER.dz, PAPER.width, PAPER.depth) == (1, 20, 4)
    assert classifier.training.rate == 1e-3
    assert classifier.training.epochs == 100
    sizes = classifier.model.config
    assert (sizes.width, sizes.depth, sizes.hidden) == (20, 4, 200)
