"""The slow twin computes the same maps, memory is kept where it can be, and each benchmark prints its figures."""

import ctypes
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.nn.layers import EquivariantBlock
from graphflip.nn.memory import keep_memory
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCHEMA = Schema(
    nodes=(Categories(name="type", values=("C", "N", "O")),),
    edges=(Categories(name="type", values=("single", "double")),),
    max_nodes=6,
)
few = settings(max_examples=5)


def load_slow_twin():
    spec = importlib.util.spec_from_file_location("slow_twin", FOLDER / "slow_twin.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


slow_twin = load_slow_twin()


def lively(model, seed):
    """Weights and running statistics that are nowhere zero or one, so that a forgotten one is seen."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.add_(torch.rand(tensor.shape, generator=rng) * 0.2 - 0.1)
    return model


@pytest.mark.parametrize("order", [(1, 1), (1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("training", [True, False])
@few
@given(seed=st.integers(0, 2**16))
def test_slow_block_is_the_fast_block(order, training, seed):
    k, l = order
    rng = torch.Generator().manual_seed(seed)
    fast, slow = lively(EquivariantBlock(k, l, 3, 4), seed), slow_twin.StackedBlock(k, l, 3, 4)
    slow_twin.copy_weights(torch.nn.ModuleDict({"block": fast}), torch.nn.ModuleDict({"block": slow}))
    x = torch.randn(2, *[5] * k, 3, generator=rng)
    x, B = (x + x.transpose(1, 2) if k == 2 else x), torch.ones(2, 5)
    expected = fast.train(training)(x, B)
    found = slow.train(training)(x.movedim(-1, 1), B).movedim(1, -1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@few
@given(seed=st.integers(0, 2**16))
def test_slow_classifier_is_the_fast_classifier(seed):
    graph = random_graph(SCHEMA, seed=seed)
    fast = lively(InvariantClassifier(SCHEMA), seed).eval()
    slow = slow_twin.slow_classifier(fast).eval()
    torch.testing.assert_close(slow(*slow_twin.all_slots(graph)), fast(graph), atol=1e-4, rtol=1e-4)


@few
@given(seed=st.integers(0, 2**16))
def test_slow_bound_is_the_fast_bound(seed):
    graph = random_graph(SCHEMA, seed=seed)
    fast = lively(PEGVAE(SCHEMA, PAPER), seed).eval()
    slow = slow_twin.slow_vae(fast).eval()
    rngs = [torch.Generator().manual_seed(seed) for _ in range(2)]
    expected, _, _ = fast.neg_elbo(graph.pad(SCHEMA.max_nodes), rngs[0], beta=0.5)
    found = slow.neg_elbo(*slow_twin.all_slots(graph), rngs[1], beta=0.5)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-4)


def test_slow_walk_moves_towards_the_target():
    graph = random_graph(SCHEMA, seed=3)
    vae, classifier = PEGVAE(SCHEMA, PAPER), InvariantClassifier(SCHEMA)
    walk = slow_twin.SlowWalk(
        slow_twin.slow_vae(vae), slow_twin.slow_classifier(classifier), graph, torch.zeros(len(graph), dtype=torch.long)
    )
    before = walk.z.detach().clone()
    walk.step()
    assert bool((walk.z.detach() != before).any())
    assert all(weight.grad is not None for weight in walk.classifier.parameters())


def test_memory_is_kept_where_there_is_glibc():
    has_glibc = hasattr(ctypes.CDLL(None), "gnu_get_libc_version")
    assert keep_memory() is has_glibc


def test_no_glibc_is_no_error(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert keep_memory() is False


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("layers", {"speedup", "memory_ratio"}),
        ("train_step", {"speedup"}),
        ("explain", {"iteration_speedup", "graph_speedup", "gemm_ratio"}),
        ("answers --only start", {"cold_cli_cpu_seconds", "cold_answer_cpu_seconds", "python_seconds"}),
        (
            "answers --only molecules",
            {"balanced_cpu_seconds", "balanced_calls", "minimal_cpu_seconds", "enumeration_ratio"},
        ),
    ],
)
def test_benchmark_prints_figures(name, keys):
    if name != "layers" and "GRAPHFLIP_DATA" not in os.environ:
        pytest.skip("set GRAPHFLIP_DATA to the folder with AIDS.zip, Mutagenicity.zip and NCI1.zip")
    name, *part = name.split()
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick", "--graphs", "2", *part]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(run.stdout.splitlines()[-1])
    assert keys <= set(figures)
    assert all(figures[key] > 0 for key in keys)


@pytest.mark.parametrize(("part", "key"), [("speed", "dask"), ("rows", "overhead_seconds_per_100000_rows")])
def test_benchmark_of_jobs_prints_figures(part, key):
    command = [sys.executable, str(FOLDER / "scale.py"), "--quick", "--only", part]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout.removeprefix(part))[key]
