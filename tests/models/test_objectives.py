"""Figures by which models are judged: AUROC against scikit-learn, shares rebuilt on known rebuilds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.graph import Graph
from graphflip.models.networks.pegvae import PEGVAE, PEGVAEConfig
from graphflip.models.training.evaluate import auroc, measure_classifier, measure_vae, predict
from graphflip.models.training.objectives import Classification, Reconstruction
from graphflip.nn.initialize import reset_parameters

DATA = planted(30, seed=2)
CONFIG = PEGVAEConfig(dz=3, width=8, pair_width=4, depth=1, decoder_depth=1)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_that_of_scikit_learn(pairs):
    """Ties included."""
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = [float(score) for score, _ in pairs], [int(label) for _, label in pairs]
    found = auroc(torch.tensor(scores), torch.tensor(labels))
    if len(set(labels)) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(metrics.roc_auc_score(labels, scores))


def test_auroc_stays_exact_for_many_graphs():
    """Ranks add up to numbers that float32 cannot hold."""
    labels = (torch.arange(12_001) % 3 == 0).long()
    scores = torch.randperm(12_001, generator=torch.Generator().manual_seed(0)).float()
    won = (scores[labels == 1][:, None] > scores[labels == 0]).sum().item()
    assert auroc(scores, labels) == won / (int(labels.sum()) * int((1 - labels).sum()))


class Counter(nn.Module):
    """Logits from types and slots of nodes: no two graphs get the same."""

    def __init__(self, num_classes):
        super().__init__()
        self.num_classes = num_classes

    def forward(self, graph):
        slots = torch.arange(1, graph.num_slots + 1).sqrt()
        return (graph.V * slots[:, None]).sum(1) @ torch.linspace(-0.7, 1.3, 4 * self.num_classes).view(4, -1).square()


def test_predictions_stand_in_the_order_of_the_dataset():
    found = predict(Counter(2), DATA)
    for k in range(len(DATA)):
        assert torch.equal(found[k], Counter(2)(DATA.graphs(k))[0])


@pytest.mark.parametrize("num_classes", [2, 3])
def test_figures_of_a_classifier_are_those_of_scikit_learn(num_classes):
    metrics = pytest.importorskip("sklearn.metrics")
    labels = torch.arange(len(DATA)) % num_classes
    data = GraphDataset.from_graphs("x", [DATA.graphs()], labels, tuple("abc"[:num_classes]))
    prob = Counter(num_classes)(DATA.graphs()).double().softmax(-1)
    figures = measure_classifier(Counter(num_classes), data)
    expected = (
        metrics.roc_auc_score(labels, prob[:, 1])
        if num_classes == 2
        else metrics.roc_auc_score(labels, prob, multi_class="ovr")
    )
    assert figures["auroc"] == pytest.approx(expected)
    assert figures["accuracy"] == pytest.approx(metrics.accuracy_score(labels, prob.argmax(-1)))
    assert figures["log_likelihood"] == pytest.approx(-metrics.log_loss(labels, prob), rel=1e-5)


def test_a_class_that_is_not_there_does_not_spoil_the_auroc():
    labels = torch.arange(len(DATA)) % 2
    data = GraphDataset.from_graphs("x", [DATA.graphs()], labels, ("a", "b", "c"))
    assert 0 <= measure_classifier(Counter(3), data)["auroc"] <= 1
    one = GraphDataset.from_graphs("x", [DATA.graphs()], labels * 0, ("a", "b"))
    assert math.isnan(measure_classifier(Counter(2), one)["auroc"])


def pretender(rebuild):
    """An autoencoder that decodes the graph it encoded last, changed by `rebuild`."""
    vae = PEGVAE(DATA.schema, CONFIG)
    reset_parameters(vae, torch.Generator().manual_seed(0))
    last, encode = {}, vae.encode

    def remember(graph, *arguments):
        last["graph"] = graph
        return encode(graph, *arguments)

    vae.encode = remember
    vae.decode = lambda z, infer: rebuild(last["graph"].pad(DATA.schema.max_nodes))
    return vae


def without_first_edge(graph):
    A, E = graph.A.clone(), graph.E.clone()
    i, j = graph.A[0].nonzero()[0].tolist()
    for a, b in ((i, j), (j, i)):
        A[0, a, b], E[0, a, b] = 0, 0
    return Graph(graph.B, graph.V, A, E, graph.schema)


def with_one_type_changed(graph):
    V = graph.V.clone()
    V[0, 0] = V[0, 0].roll(1)
    return Graph(graph.B, V, graph.A, graph.E, graph.schema)


def with_one_edge_type_changed(graph):
    E = graph.E.clone()
    i, j = graph.A[0].nonzero()[0].tolist()
    E[0, i, j] = E[0, j, i] = E[0, i, j].flip(0)
    return Graph(graph.B, graph.V, graph.A, E, graph.schema)


def with_one_node_more(graph):
    B, V = graph.B.clone(), graph.V.clone()
    k = int(graph.num_nodes[0])
    B[0, k], V[0, k, 0] = 1, 1
    return Graph(B, V, graph.A, graph.E, graph.schema)


NODES, EDGES, GRAPHS = int(DATA.num_nodes.sum()), int(DATA.num_edges.sum()), len(DATA)
REBUILDS = {
    "perfect": (lambda graph: graph, 1, 1, 1),
    "edge lost": (without_first_edge, 1, (EDGES - 1) / EDGES, (GRAPHS - 1) / GRAPHS),
    "type changed": (with_one_type_changed, (NODES - 1) / NODES, 1, (GRAPHS - 1) / GRAPHS),
    "edge type changed": (with_one_edge_type_changed, 1, (EDGES - 1) / EDGES, (GRAPHS - 1) / GRAPHS),
    "node added": (with_one_node_more, 1, 1, (GRAPHS - 1) / GRAPHS),
}


@pytest.mark.parametrize(("rebuild", "atoms", "edges", "graphs"), REBUILDS.values(), ids=REBUILDS)
def test_shares_rebuilt(rebuild, atoms, edges, graphs):
    figures = measure_vae(pretender(rebuild), DATA)
    assert figures["atoms"] == pytest.approx(atoms)
    assert figures["edges"] == pytest.approx(edges)
    assert figures["graphs"] == pytest.approx(graphs)


def test_the_bound_measured_is_the_sum_of_its_parts():
    figures = measure_vae(pretender(lambda graph: graph), DATA)
    parts = sum(figures[name] for name in ("kl", "nodes", "node_values", "edges_nll", "edge_values"))
    assert figures["neg_elbo"] == pytest.approx(parts, rel=1e-5)
    objective = Reconstruction(beta=0.3).measure(pretender(lambda graph: graph), DATA)
    assert objective["objective"] == pytest.approx(-(parts - 0.7 * figures["kl"]), rel=1e-5)


def test_the_losses_are_cross_entropy_and_the_bound_with_a_rising_beta():
    batch = next(DATA.batches(8))
    loss = Classification().loss(Counter(2), batch, torch.Generator(), 0.5)
    prob = Counter(2)(batch.graph).softmax(-1)
    assert float(loss) == pytest.approx(-float(prob[torch.arange(8), batch.labels].log().mean()), rel=1e-5)
    vae = PEGVAE(DATA.schema, CONFIG).eval()
    reset_parameters(vae, torch.Generator().manual_seed(1))
    for progress, beta in ((0.0, 0.0), (0.05, 0.25), (0.1, 0.5), (1.0, 0.5)):
        loss = Reconstruction(beta=0.5, burn_in=0.1).loss(vae, batch, torch.Generator().manual_seed(2), progress)
        bound = vae.neg_elbo(batch.graph, torch.Generator().manual_seed(2), beta)[0].mean()
        assert loss.item() == pytest.approx(bound.item() / DATA.schema.max_nodes, rel=1e-5)


def test_weights_of_classes_are_as_if_graphs_were_there_so_many_times():
    """A graph of weight three is worth three of it, in training and in what is measured."""
    labels = torch.tensor([0, 1, 1, 0])
    logits = torch.randn(4, 2, generator=torch.Generator().manual_seed(3))

    class Fixed(Counter):
        def forward(self, graph):
            return logits[: len(graph)] if len(graph) == 4 else logits[[0, 0, 0, 1, 2, 3, 3, 3]]

    once = GraphDataset.from_graphs("x", [DATA.graphs([0] * 4)], labels, ("a", "b"))
    repeated = GraphDataset.from_graphs("x", [DATA.graphs([0] * 8)], labels[[0, 0, 0, 1, 2, 3, 3, 3]], ("a", "b"))
    weighed = Classification(weights=(3.0, 1.0)).measure(Fixed(2), once)["log_likelihood"]
    assert weighed == pytest.approx(measure_classifier(Fixed(2), repeated)["log_likelihood"])
    (batch,), rng = once.batches(4), torch.Generator()
    assert float(Classification(weights=(3.0, 1.0)).loss(Fixed(2), batch, rng, 0.5)) == pytest.approx(-weighed)
