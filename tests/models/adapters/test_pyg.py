"""PyG models as classifiers: on hard graphs the model itself, on relaxed ones differentiable, the user's untouched."""

import copy
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GCNConv, global_add_pool

from graphflip.data.pyg.objects import to_pyg
from graphflip.errors import ConfigError, WrongOutput
from graphflip.graph import Graph
from graphflip.models.adapters import PyGClassifier
from graphflip.models.adapters.checks import gradients_at
from graphflip.models.adapters.sparse import Reader
from graphflip.schema import Categories
from graphflip.testing import assert_batch_free, assert_invariant, assert_padding_free, random_graph

from . import networks
from .networks import (
    LAYERS,
    REMOVING,
    SCHEMA,
    WEIGHTED,
    WITH_BONDS,
    Embeds,
    TakesData,
    TakesWeights,
    build,
    make,
)

ALL = [*LAYERS, *WITH_BONDS]
few = settings(max_examples=3)
SEEDS = given(n=st.integers(2, 9), seed=st.integers(0, 2**16))


@cache
def wrapped(name, dtype=torch.float64):
    return PyGClassifier(make(name, dtype=dtype), SCHEMA, 2)


def graphs(n, seed, relaxed=False, schema=SCHEMA, dtype=torch.float64):
    graph = random_graph(schema, n=n, num_graphs=3, seed=seed, relaxed=relaxed).to(dtype)
    return graph[graph.B.any(1)]


def itself(model, graph):
    """What the model says of PyG's own batch of the graphs."""
    data = Batch.from_data_list(to_pyg(graph)).apply(lambda part: part.to(graph.B.dtype), "x", "edge_attr")
    bonds = {"edge_attr": data.edge_attr} if isinstance(model, networks.WithBonds) else {}
    with torch.no_grad():
        return model(x=data.x, edge_index=data.edge_index, batch=data.batch, **bonds)


@pytest.mark.parametrize("name", ALL)
@few
@SEEDS
def test_on_hard_graphs_it_is_the_model_itself(name, n, seed):
    model = make(name, dtype=torch.float64).eval()
    graph = graphs(n, seed)
    if len(graph):
        torch.testing.assert_close(wrapped(name)(graph), itself(model, graph))


@pytest.mark.parametrize("name", ALL)
@few
@SEEDS
def test_a_hard_graph_that_wants_gradients_has_the_same_logits(name, n, seed):
    classifier, graph = wrapped(name), graphs(n, seed)
    straight = Graph.trusted(graph.B, graph.V, graph.A.clone().requires_grad_(), graph.E, SCHEMA)
    torch.testing.assert_close(classifier(straight).detach(), classifier(graph))


@pytest.mark.parametrize("name", ALL)
@few
@SEEDS
def test_laws(name, n, seed):
    classifier, graph = wrapped(name), graphs(n, seed, relaxed=True)
    if len(graph):
        assert_invariant(classifier, graph, seed=seed)
        assert_padding_free(classifier, graph)
        assert_batch_free(classifier, graph)


@pytest.mark.parametrize("name", ALL)
@few
@given(seed=st.integers(0, 2**16))
def test_gradients_agree_with_finite_differences(name, seed):
    """Along a random direction that keeps to what takes part: existing nodes, and edges that are not faint."""
    classifier, rng = wrapped(name), torch.Generator().manual_seed(seed)
    graph = graphs(6, seed, relaxed=True)
    graph = Graph.trusted((graph.B > 0).double(), graph.V, graph.A.clamp(max=0.9), graph.E, SCHEMA)
    gradients = gradients_at(classifier, graph)
    step = {part: torch.randn(getattr(graph, part).shape, generator=rng).double() for part in ("V", "A")}
    step["A"] = (step["A"] + step["A"].mT) * ((graph.A > 0.05) & (graph.A < 0.95))

    def at(t):
        logits = classifier(Graph.trusted(graph.B, graph.V + t * step["V"], graph.A + t * step["A"], graph.E, SCHEMA))
        return (logits * torch.tensor([-1.0, 1.0])).sum()

    slope = (at(1e-6) - at(-1e-6)) / 2e-6
    expected = sum((gradients[part] * step[part]).sum() for part in step)
    torch.testing.assert_close(slope, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_where_weight_zero_removes_an_edge_is_measured(name):
    assert wrapped(name).removes_edges == (name in REMOVING)


@pytest.mark.parametrize("name", ["gin", "gcn", "gat", "sage"])
def test_there_are_gradients_for_edges_that_are_not_there(name):
    classifier, graph = wrapped(name), graphs(6, 3)
    absent = (graph.A == 0) & (graph.B[:, :, None] * graph.B[:, None, :] > 0) & ~torch.eye(6, dtype=torch.bool)
    assert bool(gradients_at(classifier, graph)["A"][absent].any())


def test_a_zero_mask_on_gcn_is_no_removal_and_ours_is():
    """PyG's masks leave the edge in the normalization; existence as weight takes it out of there too."""
    from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

    model = make("gcn", dtype=torch.float64).eval()
    graph = graphs(6, 1)[:1]
    i, j = (int(k) for k in graph.A[0].nonzero()[0])
    A = graph.A.clone()
    A[0, i, j] = A[0, j, i] = 0
    without = Graph.trusted(graph.B, graph.V, A, graph.E, SCHEMA)
    truth = itself(model, without)

    (data,) = to_pyg(graph)
    mask = torch.ones(data.edge_index.shape[1])
    nodes = graph.B[0].nonzero()[:, 0].tolist()
    ends = {nodes.index(i), nodes.index(j)}
    mask[[k for k, edge in enumerate(data.edge_index.T.tolist()) if set(edge) == ends]] = 0
    masked = copy.deepcopy(model)
    set_masks(masked, mask.double(), data.edge_index, apply_sigmoid=False)
    naive = masked(data.x.double(), data.edge_index, torch.zeros(len(data.x), dtype=torch.long))
    clear_masks(masked)
    assert float((naive - truth).detach().abs().max()) > 1e-3

    classifier = PyGClassifier(model, SCHEMA, 2)
    A = A.requires_grad_()  # so that it is the relaxed way that is taken
    torch.testing.assert_close(classifier(Graph.trusted(graph.B, graph.V, A, graph.E, SCHEMA)).detach(), truth)


@pytest.mark.parametrize("name", ["gin", "gcn", "gat, bonds"])
def test_the_users_model_is_left_alone(name):
    model = make(name)
    before, flags = copy.deepcopy(model.state_dict()), [p.requires_grad for p in model.parameters()]
    classifier = PyGClassifier(model, SCHEMA)
    gradients_at(classifier, graphs(5, 0, relaxed=True, dtype=torch.float32))
    assert model.training
    assert [p.requires_grad for p in model.parameters()] == flags
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    for layer in [*model.modules(), *classifier.model.modules()]:
        assert not layer._forward_hooks
        assert not layer._forward_pre_hooks
        assert not getattr(layer, "_message_forward_hooks", None)


def test_hooks_are_gone_after_an_error():
    classifier = wrapped("gin", torch.float32)
    with pytest.raises(RuntimeError):  # a floating-point type that the weights do not have
        classifier(graphs(5, 0, relaxed=True, dtype=torch.float64))
    assert not any(getattr(layer, "_message_forward_hooks", None) for layer in classifier.model.modules())


@few
@SEEDS
def test_a_model_may_take_one_data_object(n, seed):
    plain = make("gin")
    takes_data = build(TakesData, LAYERS["gin"])
    takes_data.load_state_dict(plain.state_dict())
    graph = graphs(n, seed, dtype=torch.float32)
    torch.testing.assert_close(PyGClassifier(takes_data, SCHEMA)(graph), PyGClassifier(plain, SCHEMA)(graph))


@cache
def weighing():
    model = build(TakesWeights, lambda d: GCNConv(d, networks.WIDTH)).eval()
    return model, PyGClassifier(model, WEIGHTED)


@pytest.mark.parametrize("relaxed", [False, True])
@few
@SEEDS
def test_a_continuous_edge_column_is_the_weight(relaxed, n, seed):
    model, classifier = weighing()
    graph = graphs(n, seed, relaxed=False, schema=WEIGHTED, dtype=torch.float32)
    if not len(graph):
        return
    graph = Graph.trusted(graph.B, graph.V, graph.A, graph.E.abs(), WEIGHTED)  # GCN takes roots of degrees
    data = Batch.from_data_list(to_pyg(graph))
    with torch.no_grad():
        expected = model(data.x, data.edge_index, data.batch, data.edge_attr[:, 0])
    asked = Graph.trusted(graph.B, graph.V, graph.A.clone().requires_grad_(relaxed), graph.E, WEIGHTED)
    torch.testing.assert_close(classifier(asked).detach(), expected, atol=1e-4, rtol=1e-4)


@few
@SEEDS
def test_ids_are_embedded_and_mixed(n, seed):
    """A model of integers equals one that multiplies one-hot columns with the embeddings, relaxed graphs included."""

    class Multiplies(nn.Module):
        def __init__(self, embeds):
            super().__init__()
            self.embeds = embeds

        def forward(self, x, edge_index, edge_attr, batch):
            x, bonds = x @ self.embeds.atoms.weight, edge_attr @ self.embeds.bonds.weight
            x = torch.tanh(self.embeds.layer(x, edge_index, bonds))
            return self.embeds.out(global_add_pool(x, batch))

    model = build(Embeds).double()
    ids = PyGClassifier(model, SCHEMA, 2, x="ids", edge_attr="id")
    columns = PyGClassifier(Multiplies(model), SCHEMA, 2)
    for relaxed in (False, True):
        graph = graphs(n, seed, relaxed)
        torch.testing.assert_close(ids(graph), columns(graph))
    soft = graphs(n, seed, relaxed=True)
    for part, gradient in gradients_at(ids, soft).items():
        torch.testing.assert_close(gradient, gradients_at(columns, soft)[part])


def test_ids_are_the_names_of_categories_where_these_are_numbers():
    rows = torch.eye(3)
    for values, ids in ((("5", "-1", "8"), [5, -1, 8]), (("a", "5", "8"), [0, 1, 2])):
        reader = Reader((Categories(name="type", values=values),), "id", "x")
        assert reader.read(rows).tolist() == ids
    assert Reader((Categories(name="type", values=("a", "b", "c")),), "ids", "x").read(rows).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("form", "schema", "says"),
    [("ids", WEIGHTED, "categories alone"), ("id", SCHEMA.model_copy(update={"edges": SCHEMA.edges * 2}), "one group")],
)
def test_forms_that_the_schema_cannot_have_are_refused(form, schema, says):
    with pytest.raises(ConfigError, match=says):
        PyGClassifier(make("gine"), schema, edge_attr=form)


@pytest.mark.parametrize("num_slots", [0, 3])
def test_graphs_without_nodes_have_equal_logits(num_slots):
    classifier = wrapped("gin", torch.float32)
    nothing = random_graph(SCHEMA, n=0).pad(num_slots)
    assert classifier(nothing).tolist() == [[0, 0], [0, 0]]
    some = graphs(5, 1, dtype=torch.float32)[:1]
    together = classifier(Graph.cat([nothing, some, nothing]))
    torch.testing.assert_close(together[2:3], classifier(some))
    assert not together[[0, 1, 3, 4]].any()


class Ends(nn.Module):
    """A model with another last function."""

    def __init__(self, model, last):
        super().__init__()
        self.model, self.last = model, last

    def forward(self, x, edge_index, batch):
        return self.last(self.model(x, edge_index, batch))


@pytest.mark.parametrize(
    ("last", "return_type"),
    [
        (lambda logits: logits.softmax(-1), "probs"),
        (lambda logits: logits.log_softmax(-1), "log_probs"),
        (lambda logits: logits.softmax(-1)[:, 1], "probs"),
        (lambda logits: logits[:, 1:] - logits[:, :1], "raw"),
        (lambda logits: logits[:, 1] - logits[:, 0], "raw"),
    ],
)
def test_all_that_models_return_means_the_same_probabilities(last, return_type):
    model, graph = make("gin", dtype=torch.float64), graphs(6, 2)
    classifier = PyGClassifier(Ends(model, last), SCHEMA, 2, return_type=return_type)
    expected = PyGClassifier(model, SCHEMA, 2)(graph).softmax(-1)
    torch.testing.assert_close(classifier(graph).softmax(-1), expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("last", "return_type", "says"),
    [
        (lambda logits: logits.softmax(-1), "raw", 'Give `return_type="probs"`'),
        (lambda logits: logits, "probs", "must sum to 1"),
        (lambda logits: logits, "log_probs", "must sum to 1"),
        (lambda logits: logits.argmax(-1), "raw", "floating-point tensor"),
        (lambda logits: (logits.argmax(-1), 3), "raw", "a tuple of shape .*, int"),
        (lambda logits: logits.sum(), "raw", "one row for each graph"),
    ],
)
def test_what_cannot_be_logits_is_refused(last, return_type, says):
    with pytest.raises(WrongOutput, match=says):
        PyGClassifier(Ends(make("gin"), last), SCHEMA, return_type=return_type)
