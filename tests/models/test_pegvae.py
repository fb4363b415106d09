"""PEGVAE: likelihood against a loop over nodes and edges, KL against torch, graphs against Graph's own checks."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from graphflip.explain.assess import nll_per_node
from graphflip.graph import Graph
from graphflip.models.networks.decode import Gumbel, MostLikely, Soft
from graphflip.models.networks.modern import eigenvectors
from graphflip.models.networks.pegvae import PAPER, PEGVAE, PEGVAEConfig, Posterior, linear_config
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

SEEDS = st.integers(0, 2**16)
few = settings(max_examples=6)
CONFIGS = {
    "paper": PAPER.model_copy(update={"width": 6, "dz": 2}),
    "modern": PEGVAEConfig(dz=4, width=8, pair_width=4, depth=2, decoder_depth=1),
    "linear": PEGVAEConfig(design="linear", dz=30, width=4),
}
TYPE, SIZE = Categories(name="type", values=("a", "b", "c")), Continuous(name="size", mean=1.0, scale=2.0)
SCHEMAS = {
    "undirected": Schema(nodes=(TYPE, SIZE), edges=(SIZE, TYPE), max_nodes=8),
    "directed": Schema(nodes=(SIZE,), edges=(TYPE,), max_nodes=8, directed=True),
    "no edge labels": Schema(nodes=(TYPE,), max_nodes=8),
    "no labels": Schema(max_nodes=8),
}
over_everything = [
    pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS),
    pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS),
]


def everywhere(test):
    for mark in over_everything:
        test = mark(test)
    return test


def build(config, schema):
    vae = PEGVAE(schema, config)
    reset_parameters(vae, torch.Generator().manual_seed(3))
    with torch.no_grad():
        vae.log_scale.copy_(torch.linspace(-0.5, 0.5, len(vae.log_scale)))
    return vae.double().eval().requires_grad_(False)


def codes(vae, seed, num_graphs=2):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(num_graphs, vae.schema.max_nodes, vae.config.dz, generator=rng, dtype=torch.float64) * 2


def bernoulli(logit, there):
    return -math.log1p(math.exp(-logit)) if there else -math.log1p(math.exp(logit))


def columns(slices, parameters, values, log_scales):
    total, scales = 0.0, iter(log_scales)
    for column, at in slices:
        if isinstance(column, Categories):
            total += float(parameters[at].log_softmax(-1)[values[at].argmax()])
        else:
            spread = column.scale * math.exp(next(scales))
            density = Normal(parameters[at][0], spread).log_prob(values[at][0])
            total += float(density) + math.log(column.scale)  # in units of the column's scale
    return total


def slow_likelihood(vae, graph, z, g):
    """Parts of log p(G | z) for graph g, node by node and edge by edge; every undirected edge once."""
    schema, n = vae.schema, graph.num_slots
    alone, near = graph.select(g), z[g : g + 1, :n]
    B, V, A, E = alone.B[0], alone.V[0], alone.A[0], alone.E[0]
    log_scales = vae.log_scale.tolist()
    num_node_scales = sum(isinstance(column, Continuous) for column in schema.nodes)
    exists = [bool(B[i]) if i < n else False for i in range(schema.max_nodes)]
    logits = vae.node_logits(z[g : g + 1])[0].tolist()
    nodes = sum(bernoulli(logits[i], exists[i]) for i in range(schema.max_nodes))
    parameters = vae.node_values(near, alone.B)[0]
    node_values = sum(
        columns(schema.node_slices(), parameters[i], V[i], log_scales[:num_node_scales]) for i in range(n) if exists[i]
    )
    edge_logits = vae.edge_logits(near, alone.B, alone.V)[0]
    pairs = [(i, j) for i in range(n) for j in range(n) if exists[i] and exists[j]]
    pairs = [(i, j) for i, j in pairs if (i != j if schema.directed else i < j)]
    edges = sum(bernoulli(float(edge_logits[i, j]), bool(A[i, j])) for i, j in pairs)
    edge_values = 0.0
    if schema.de:
        parameters = vae.edge_values(near, alone.B, alone.V, alone.A)[0]
        edge_values = sum(
            columns(schema.edge_slices(), parameters[i, j], E[i, j], log_scales[num_node_scales:])
            for i, j in pairs
            if A[i, j]
        )
    return nodes, node_values, edges, edge_values


@everywhere
@few
@given(seed=SEEDS, n=st.integers(1, 6))
def test_likelihood_equals_a_loop_over_nodes_and_edges(schema, config, seed, n):
    vae, graph = build(config, schema), random_graph(schema, n=n, seed=seed).to(torch.float64)
    z = codes(vae, seed)
    found = vae.log_likelihood(graph, z)
    for g in range(len(graph)):
        parts = [float(part[g]) for part in (found.nodes, found.node_values, found.edges, found.edge_values)]
        assert parts == pytest.approx(slow_likelihood(vae, graph, z, g), rel=1e-5, abs=1e-5)
        assert float(found.total[g]) == pytest.approx(sum(parts))


@everywhere
@few
@given(seed=SEEDS, n=st.integers(1, 6))
def test_likelihood_ignores_padding(schema, config, seed, n):
    vae, graph = build(config, schema), random_graph(schema, n=n, seed=seed).to(torch.float64)
    z = codes(vae, seed)
    torch.testing.assert_close(vae.log_likelihood(graph.pad(8), z).total, vae.log_likelihood(graph, z).total)


@given(seed=SEEDS)
def test_kl_is_the_one_of_two_gaussians(seed):
    mean, log_var = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = kl_divergence(Normal(mean, (log_var / 2).exp()), Normal(torch.zeros_like(mean), 1.0)).sum((1, 2))
    torch.testing.assert_close(Posterior(mean, log_var).kl(), expected)
    assert float(Posterior(mean * 0, log_var * 0).kl().abs().max()) == 0


def test_samples_have_the_moments_of_the_posterior():
    mean, log_var = torch.full((1, 20_000, 1), 2.0), torch.full((1, 20_000, 1), math.log(0.25))
    sample = Posterior(mean, log_var).sample(torch.Generator().manual_seed(0))
    assert float(sample.mean()) == pytest.approx(2.0, abs=0.02)
    assert float(sample.std()) == pytest.approx(0.5, abs=0.02)


@everywhere
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_the_bound_is_the_sum_of_its_parts(schema, config, beta):
    vae, graph = build(config, schema), random_graph(schema, n=5, seed=1).to(torch.float64)
    found, parts, kl = vae.neg_elbo(graph, torch.Generator().manual_seed(2), beta)
    posterior = vae.encode(graph, rng := torch.Generator().manual_seed(2))
    torch.testing.assert_close(kl, posterior.kl())
    torch.testing.assert_close(parts.total, vae.log_likelihood(graph, posterior.sample(rng)).total)
    torch.testing.assert_close(found, -parts.nodes - parts.node_values - parts.edges - parts.edge_values + beta * kl)


@everywhere
@few
@given(seed=SEEDS, hard=st.booleans())
def test_decoded_graphs_pass_the_checks_of_graph(schema, config, seed, hard):
    vae = build(config, schema)
    z = codes(vae, seed)
    rngs = [torch.Generator().manual_seed(seed + g) for g in range(len(z))]
    for infer in (MostLikely(), Gumbel(rngs, hard=hard), Soft()):
        graph = vae.decode(z, infer)
        Graph(graph.B, graph.V, graph.A, graph.E, schema)
        assert graph.num_slots == schema.max_nodes
        assert graph.is_hard or not (isinstance(infer, MostLikely) or (isinstance(infer, Gumbel) and hard))


@everywhere
def test_a_decoded_graph_does_not_depend_on_its_neighbors(schema, config):
    vae = build(config, schema)
    z = codes(vae, 1, num_graphs=3)
    together = vae.decode(z, Gumbel([torch.Generator().manual_seed(g) for g in range(3)]))
    alone = vae.decode(z[2:], Gumbel([torch.Generator().manual_seed(2)]))
    # Draws are the same to the bit; continuous attributes are products of matrices, which are rounded by their size.
    assert all(torch.equal(getattr(together, name)[2:], getattr(alone, name)) for name in "BAE")
    torch.testing.assert_close(together.V[2:], alone.V, rtol=1e-5, atol=1e-5)


@everywhere
def test_gradients_reach_the_code_through_a_hard_graph(schema, config):
    vae = build(config, schema)
    z = codes(vae, 4).requires_grad_()
    graph = vae.decode(z, MostLikely())
    parts = torch.cat([graph.B.flatten(), graph.A.flatten()])
    loss = (parts * torch.linspace(-1, 1, len(parts))).sum()
    (gradient,) = torch.autograd.grad(loss, z)
    assert bool(gradient.isfinite().all())
    assert bool((gradient != 0).any(-1).all())


@everywhere
@few
@given(seed=SEEDS, n=st.integers(1, 6))
def test_likelihood_per_node_is_that_of_all_slots(schema, config, seed, n):
    """Slots after the last node of a batch are left out; empty ones between nodes stay."""
    vae, graph = build(config, schema), random_graph(schema, n=n, seed=seed).to(torch.float64).pad(8)
    order = torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    for whole in (graph, graph[1], graph.permute(order)):
        posterior = vae.encode(whole)
        nll = posterior.kl() - vae.log_likelihood(whole, posterior.mean).total
        expected = nll / whole.num_nodes.clamp(min=1)
        torch.testing.assert_close(nll_per_node(vae, whole), expected, atol=1e-6, rtol=1e-6)


@everywhere
@few
@given(seed=SEEDS, n=st.integers(1, 6))
def test_a_code_is_the_same_however_a_batch_is_padded(schema, config, seed, n):
    """One empty slot stands for all of them, and what a graph draws does not depend on the size of its batch."""
    vae, graph = build(config, schema), random_graph(schema, n=n, seed=seed).to(torch.float64)
    posteriors = [vae.encode(graph.pad(slots)) for slots in (n, n + 1, 8)]
    for posterior in posteriors:
        assert posterior.mean.shape == (2, 8, config.dz)
        torch.testing.assert_close(posterior.mean, posteriors[0].mean, atol=1e-7, rtol=1e-6)
        torch.testing.assert_close(posterior.log_var, posteriors[0].log_var, atol=1e-7, rtol=1e-6)
    one = vae.encode(graph.select(1), [torch.Generator().manual_seed(0)])
    torch.testing.assert_close(one.mean, posteriors[0].mean[1:], atol=1e-7, rtol=1e-6)


def ring(n=6):
    schema = Schema(max_nodes=8)
    return Graph.build(schema, [{}] * n, [(i, (i + 1) % n, {}) for i in range(n)]).to(torch.float64)


def test_identity_tells_automorphic_nodes_apart():
    means = {name: build(config, ring().schema).encode(ring()).mean[0, :6] for name, config in CONFIGS.items()}
    assert float((means["paper"] - means["paper"][0]).abs().max()) < 1e-9
    distances = torch.cdist(means["modern"], means["modern"]) + torch.eye(6)
    assert float(distances.min()) > 1e-3


@given(seed=SEEDS)
def test_eigenvectors_are_permuted_with_graph_and_noise(seed):
    graph = random_graph(Schema(max_nodes=9), n=7, seed=seed).to(torch.float64)
    rng = torch.Generator().manual_seed(seed)
    noise = torch.randn(graph.B.shape, generator=rng, dtype=torch.float64) * graph.B
    order = torch.randperm(7, generator=rng)
    expected, found = eigenvectors(graph, noise)[:, order], eigenvectors(graph.permute(order), noise[:, order])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)
    padded = eigenvectors(graph.pad(9), torch.nn.functional.pad(noise, (0, 2)))
    torch.testing.assert_close(padded[:, :7], eigenvectors(graph, noise), atol=1e-6, rtol=1e-6)
    assert not bool(padded[:, 7:].any())


def test_a_located_code_makes_its_graph_likelier():
    schema = SCHEMAS["undirected"]
    vae = PEGVAE(schema, CONFIGS["modern"].model_copy(update={"refine_steps": 15}))
    reset_parameters(vae, torch.Generator().manual_seed(0))
    graph = random_graph(n=6, num_graphs=4, seed=1, schema=schema)
    with torch.no_grad():
        guess = vae.encode(graph, torch.Generator().manual_seed(2)).mean
        before = vae.eval().log_likelihood(graph, guess).total
        after = vae.log_likelihood(graph, vae.locate(graph, torch.Generator().manual_seed(2))).total
    assert bool((after > before).all())


@pytest.mark.parametrize(("nodes", "width"), [(4, 8), (12, 9), (40, 30), (64, 48), (200, 48)])
def test_the_linear_design_tells_three_quarters_of_the_nodes_apart(nodes, width):
    assert linear_config(Schema(max_nodes=nodes)).width == width
