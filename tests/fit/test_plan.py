"""A plan keeps to its time and is followed by a resumed run; the autoencoder rebuilds graphs almost untrained."""

import json
import shutil

import pytest
import torch

import graphflip as gf
from graphflip.errors import ConfigError
from graphflip.fit import kit as fit
from graphflip.fit import plan as planning
from graphflip.fit.kit import fit_kit
from graphflip.fit.plan import CLASSIFIER, JUDGES, SURROGATES, VAE, make_plan, sensible_minutes
from graphflip.models.networks.linear import products, summaries
from graphflip.models.networks.pegvae import PEGVAE, linear_config
from graphflip.models.training.evaluate import measure_vae
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

from .own_models import PLANTED, QUICK
from .test_graphs import edgy

PARTS = [CLASSIFIER, *SURROGATES, VAE, *JUDGES]


@pytest.fixture
def steady(monkeypatch):
    """Machine on which an epoch of every model takes a second."""
    monkeypatch.setattr(planning, "seconds_per_epoch", lambda *args: 1.0)


@pytest.mark.parametrize("minutes", [0.5, 2.0, 9.0])
def test_a_plan_keeps_to_its_time(steady, minutes):
    plan = make_plan(PARTS, PLANTED, minutes)
    assert plan.seconds <= 60 * minutes + len(PARTS) + 10  # each has an epoch at least, and trees take what they take
    assert [part.name for part in plan.parts] == [part.name for part in PARTS]
    judge = plan.parts[-1]
    assert judge.seconds >= 0.05 * 60 * minutes or judge.epochs == 1  # what trees take is everybody's loss
    text = str(plan)
    assert all(part.name in text for part in PARTS)


def test_more_time_is_never_less_training(steady):
    short, long = make_plan(PARTS, PLANTED, 1.0), make_plan(PARTS, PLANTED, 4.0)
    assert all(few.epochs <= many.epochs for few, many in zip(short.parts, long.parts, strict=True))
    assert sum(part.epochs for part in long.parts) > sum(part.epochs for part in short.parts)


def test_few_validation_graphs_do_not_end_training(steady):
    few, many = PLANTED, PLANTED.subset(list(range(len(PLANTED))) * 30)
    assert len(few.part("validation")) < 100 <= len(many.part("validation"))
    for part in make_plan(PARTS, few, 2.0).parts:
        assert part.changes["patience"] == 0
        assert part.changes["keep"] == "last"
    trained = [part for part in make_plan(PARTS, many, 2.0).parts if part.epochs]
    assert all(part.patience > 0 and part.changes["keep"] == "best" for part in trained)


def test_small_sets_take_less_time():
    assert sensible_minutes(PLANTED) < 1.5
    assert sensible_minutes(PLANTED.subset(list(range(40)) * 3)) > sensible_minutes(PLANTED)


def test_a_resumed_run_follows_the_plan_that_was_made_first(kit, tmp_path, monkeypatch):
    folder = shutil.copytree(kit[0], tmp_path / "kit")
    shutil.rmtree(folder / "surrogate-linear")
    monkeypatch.setattr(fit, "make_plan", None)  # it would be another plan on another machine
    fit_kit(PLANTED, folder, minutes=QUICK, resume=True)
    manifest = json.loads((folder / "fit.json").read_text())
    (folder / "fit.json").write_text(json.dumps(manifest | {"plan": {"parts": 3}}))
    with pytest.raises(ConfigError, match="not a readable plan"):
        fit_kit(PLANTED, folder, minutes=QUICK, resume=True)


@pytest.mark.parametrize("directed", [False, True])
def test_summaries_are_exact_for_as_many_nodes_as_numbers(directed):
    rng = torch.Generator().manual_seed(0)
    R, A = torch.randn(2, 6, 8, generator=rng).double(), torch.rand(2, 3, 6, 6, generator=rng).double()
    A = A if directed else A + A.transpose(2, 3)
    S = summaries(R, A, directed)
    rebuilt = products(R, S.transpose(1, 2), directed).movedim(-1, 1)
    torch.testing.assert_close(rebuilt, A, rtol=0.0, atol=0.02)


TYPE, SIZE = Categories(name="type", values=("a", "b", "c")), Continuous(name="size")


@pytest.mark.parametrize(
    "schema",
    [
        Schema(nodes=(TYPE, SIZE), edges=(SIZE,), max_nodes=8),
        Schema(nodes=(TYPE,), edges=(TYPE,), max_nodes=8, directed=True),
        Schema(nodes=(SIZE,), edges=(Categories(name="kind", values=tuple("abcdefg")),), max_nodes=8),
    ],
    ids=["numbers", "directed", "many kinds of edges"],
)
def test_an_autoencoder_of_linear_codes_rebuilds_before_it_is_trained(schema):
    graph = random_graph(schema, n=7, num_graphs=12, seed=1)
    vae = PEGVAE(schema, linear_config(schema, refine_steps=40))
    reset_parameters(vae, torch.Generator().manual_seed(0))
    figures = measure_vae(vae, edgy(schema, 2))
    assert figures["atoms"] > 0.97
    assert figures["edges"] > 0.9
    assert figures.get("node_error", 0.0) < 0.1
    assert len(vae.encode(graph).mean) == 12


def test_a_thousand_graphs_take_less_than_three_minutes():
    thousand = PLANTED.subset([k % len(PLANTED) for k in range(1000)])
    assert sensible_minutes(thousand) < 3.0
    assert sensible_minutes(PLANTED.subset([k % len(PLANTED) for k in range(9000)])) <= planning.DEFAULT_MINUTES


def test_a_judge_that_there_is_no_time_for_is_left_out(monkeypatch, tmp_path):
    with monkeypatch.context() as slow:
        slow.setattr(planning, "seconds_per_epoch", lambda *args: 300.0)
        plan = make_plan(PARTS, PLANTED, 2.0)
    assert [part.name for part in plan.parts if part.left_out] == ["judge"]
    assert "judge                left out: one epoch would take 5.0 min" in str(plan)
    assert not any(part.left_out for part in make_plan(PARTS, PLANTED, 0.01).parts)
    monkeypatch.setattr(planning, "_TOO_LONG", 0.0)
    monkeypatch.setattr(planning, "_LONG", 0.0)
    readiness = fit_kit(PLANTED, tmp_path / "kit", minutes=QUICK)
    assert not (tmp_path / "kit" / "judge").exists()
    assert "judge" not in readiness.auroc
    assert "trees" in readiness.auroc
    assert list(gf.load(tmp_path / "kit").kit.judges) == ["trees"]
