"""Figures over several splits, and the -ELBO by the published formula, on small planted sets."""

import csv
import json
import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from graphflip.bench.paper import splits
from graphflip.bench.paper.elbo import measure_published_elbo, published_kl
from graphflip.bench.paper.runs import METHODS
from graphflip.bench.paper.splits import STAGES, Plan, means, run_splits
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError
from graphflip.models.networks.pegvae import PAPER, PEGVAE, Posterior
from graphflip.models.training.recipes import recipe

WALK = replace(next(m for m in METHODS if m.name == "cgcf"), settings={"steps": 3})
PLAN = Plan(2, 1, limit=2, ged_seconds=0.01, walk=WALK)


def by_hand(vae, dataset):
    """The published sum, one term at a time: every ordered pair of nodes counts, and so does its type."""
    rng, total, kl = torch.Generator().manual_seed(1), 0.0, 0.0
    for batch in dataset.batches(128):
        graph, posterior = batch.graph, vae.encode(batch.graph, rng)
        z = posterior.sample(rng)
        n = graph.num_slots
        B = torch.nn.functional.pad(graph.B, (0, z.shape[1] - n))
        total += float(binary_cross_entropy_with_logits(vae.node_logits(z), B, reduction="sum"))
        values = vae.node_values(z[:, :n], graph.B).log_softmax(-1)
        edges = vae.edge_logits(z[:, :n], graph.B, graph.V)
        types = vae.edge_values(z[:, :n], graph.B, graph.V, graph.A).log_softmax(-1) if graph.schema.de else None
        for k in range(len(graph)):
            nodes = graph.B[k].nonzero()[:, 0].tolist()
            total -= sum(float(values[k, i] @ graph.V[k, i]) for i in nodes)
            for i in nodes:
                for j in nodes:
                    if i != j:
                        total += float(binary_cross_entropy_with_logits(edges[k, i, j], graph.A[k, i, j]))
                        if types is not None and graph.A[k, i, j]:
                            total -= float(types[k, i, j] @ graph.E[k, i, j])
        sigma = (posterior.log_var / 2).exp()
        kl += float(-0.5 * (1 + sigma.log() - posterior.mean**2 - sigma).sum())
    return kl / len(dataset), total / len(dataset)


def test_the_published_formula_counts_every_pair_twice_and_takes_sigma_for_its_square():
    dataset = planted(12, min_nodes=4, max_nodes=6, seed=3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        vae = PEGVAE(dataset.schema, PAPER).eval().requires_grad_(False)
    kl, reconstruction = by_hand(vae, dataset)
    figures = measure_published_elbo(vae, dataset)
    assert figures["kl_published"] == pytest.approx(kl, rel=1e-4)
    assert figures["reconstruction_published"] == pytest.approx(reconstruction, rel=1e-4)
    assert figures["neg_elbo_published"] == pytest.approx(kl + reconstruction, rel=1e-4)


def test_the_published_kl_is_the_real_one_of_a_prior_and_of_no_other():
    at_prior = Posterior(torch.zeros(1, 3, 2), torch.zeros(1, 3, 2))
    sharp = Posterior(torch.zeros(1, 3, 2), torch.full((1, 3, 2), -6.0))
    assert float(published_kl(at_prior)) == float(at_prior.kl()) == 0
    assert float(published_kl(sharp)) == pytest.approx(6 * 0.5 * (math.exp(-3) - 1 + 3), rel=1e-5)
    assert float(published_kl(sharp)) < float(sharp.kl())


def test_means_have_standard_errors():
    figures = means([{"auroc": 0.7}, {"auroc": 0.8}, {"auroc": 0.9}])
    assert figures == {"auroc": pytest.approx(0.8), "auroc_spread": pytest.approx(0.1 / math.sqrt(3), abs=1e-6)}
    assert means([{"auroc": 0.7}]) == {"auroc": pytest.approx(0.7)}


@pytest.fixture
def go(tmp_path, monkeypatch):
    """Train for one epoch where the paper trains for a hundred."""

    def short(role, preset, dataset):
        plan = recipe(role, preset, dataset)
        return replace(plan, training=plan.training.model_copy(update={"epochs": 1}))

    monkeypatch.setattr(splits, "recipe", short)
    monkeypatch.setattr("graphflip.models.training.train.save_curves", lambda *_: None)

    def run(plan=PLAN, watch=lambda *_: None):
        written = run_splits(
            ["planted"],
            tmp_path,
            plan,
            watch,
            lambda name, seed: planted(40, min_nodes=4, max_nodes=6).split_randomly(seed),
        )
        assert written.read_text().startswith("### Table 4")
        return json.loads((tmp_path / "splits.json").read_text())["planted"]

    return run


def test_splits_that_were_stopped_go_on_and_what_is_done_is_not_done_again(go, tmp_path, monkeypatch):
    def stop(what, done, total):
        if what.startswith("planted, split 1: vae"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(watch=stop)
    partly = json.loads((tmp_path / "splits.json").read_text())["planted"]
    assert (partly["n_classifier"], partly["n_vae"], partly["n_walk"]) == (2, 1, 0)
    assert "sic" not in partly
    whole = go()
    assert whole["splits"]["classifier"] == partly["splits"]["classifier"]
    check_means(whole, tmp_path)
    monkeypatch.setattr(splits, "train_model", lambda *_, **__: pytest.fail("trained again"))
    assert go() == whole
    with pytest.raises(pytest.fail.Exception, match="trained again"):
        go(replace(PLAN, splits=3))


def check_means(figures, out):
    """Every split is another sample, the walk is run on some of them, and the table has means and standard errors."""
    done = figures["splits"]
    assert [len(done[stage]) for stage in STAGES] == [figures[f"n_{stage}"] for stage in STAGES] == [2, 2, 1]
    about = [json.loads(path.read_text())["about"] for path in sorted(out.glob("splits/*/*/classifier.json"))]
    assert len({each["data"] for each in about}) == 2, "the same split twice"
    assert figures["auroc"] == pytest.approx(sum(each["auroc"] for each in done["classifier"]) / 2, abs=1e-5)
    assert all(0 <= each["auroc_all"] <= 1 and each["auroc_all"] != each["auroc"] for each in done["classifier"])
    values = torch.tensor([each["neg_elbo_published"] for each in done["vae"]], dtype=torch.float64)
    assert figures["neg_elbo_published_spread"] == pytest.approx(float(values.std()) / math.sqrt(2), abs=1e-4)
    (row,) = csv.DictReader((out / "splits.csv").read_text().splitlines())
    assert float(row["sic"]) == pytest.approx(done["walk"][0]["sic"], abs=1e-5)


@pytest.mark.parametrize(("number", "walks"), [(1, 1), (5, 6), (5, -1)])
def test_numbers_that_do_not_fit_are_refused(number, walks):
    with pytest.raises(ConfigError, match="2 or more splits, and walks on none, some or all"):
        Plan(number, walks)
