"""Laws of anchored decoding: the factual's own code is the factual, and a path starts and ends where it should."""

import pytest
import torch

from graphflip.edits import edits_between
from graphflip.explain.latent.anchored import Anchor, latent_path
from graphflip.explain.latent.saliency import SaliencyWalk
from graphflip.graph import Graph
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph

SCHEMAS = [
    Schema(
        nodes=(Categories(name="type", values=("a", "b", "c")),),
        edges=(Categories(name="type", values=("x", "y")),),
        max_nodes=7,
        directed=directed,
    )
    for directed in (False, True)
]


def untrained(schema, config=None):
    vae = PEGVAE(schema, config) if config else PEGVAE(schema)
    classifier = RelationalGIN(schema)
    for seed, model in enumerate((vae, classifier)):
        reset_parameters(model, torch.Generator().manual_seed(seed))
    torch.nn.init.normal_(classifier.out.weight, generator=torch.Generator().manual_seed(2))  # it starts at zero
    return vae.eval().requires_grad_(False), classifier.eval().requires_grad_(False)


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("config", [None, PAPER])
def test_the_code_of_the_factual_decodes_to_the_factual_however_bad_the_autoencoder(schema, config):
    vae, _ = untrained(schema, config)
    graph = Graph.cat([random_graph(schema, seed=k, n=5, num_graphs=1) for k in range(3)])
    anchor = Anchor.at(vae, graph)
    soft = anchor.soft(anchor.z)
    for part in "BVAE":
        assert torch.equal((getattr(soft, part) > 0.5).float(), getattr(anchor.graph, part))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_path_runs_from_the_factual_to_the_counterfactual_and_keeps_what_they_share(schema):
    vae, classifier = untrained(schema)
    one, other = (
        random_graph(schema, seed=1, n=5, num_graphs=1).pad(7),
        random_graph(schema, seed=2, n=6, num_graphs=1).pad(7),
    )
    path = latent_path(vae, classifier, one, other, target=1, steps=9)
    assert (path.positions[0], path.positions[-1], len(path.probabilities)) == (0.0, 1.0, 9)
    assert not edits_between(one, path.graphs[0])
    assert not edits_between(other, path.graphs[8])
    Graph(path.graphs.B, path.graphs.V, path.graphs.A, path.graphs.E, schema)  # each of them is a graph
    there = {(edit.op, edit.at) for edit in edits_between(one, other)}
    for graph in path.graphs:
        assert {edit.at for edit in edits_between(one, graph)} <= {at for _, at in there}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_empty_slots_do_not_change_a_path(schema):
    vae, classifier = untrained(schema)
    one, other = (random_graph(schema, seed=seed, n=5, num_graphs=1) for seed in (1, 2))
    bare, padded = (
        latent_path(vae, classifier, *ends, target=1, steps=9) for ends in ((one, other), (one.pad(6), other.pad(7)))
    )
    assert bare.graphs.num_slots == padded.graphs.num_slots == schema.max_nodes
    for part in "BVAE":
        assert torch.equal(getattr(bare.graphs, part), getattr(padded.graphs, part))
    assert bare.probabilities == pytest.approx(padded.probabilities, abs=1e-5)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_walk_moves_towards_the_target_and_a_graph_does_not_feel_its_neighbors(schema):
    vae, classifier = untrained(schema)
    graph = Graph.cat([random_graph(schema, seed=k, n=5, num_graphs=1) for k in range(3)])
    walk = SaliencyWalk(vae, (classifier,), steps=6)
    together = walk.saliencies(graph, [1, 0, 1])
    alone = walk.saliencies(graph[1], [0])[0]
    assert torch.allclose(torch.tensor(together[1].nodes), torch.tensor(alone.nodes), atol=1e-4)
    opposite = walk.saliencies(graph[1], [1])[0]
    assert not torch.allclose(torch.tensor(opposite.nodes), torch.tensor(alone.nodes), atol=1e-4)


def test_no_step_moves_nothing():
    vae, classifier = untrained(SCHEMAS[0])
    (saliency,) = SaliencyWalk(vae, (classifier,), steps=0).saliencies(
        random_graph(SCHEMAS[0], seed=0, n=5, num_graphs=1), [1]
    )
    assert not any(saliency.nodes)
