"""Functions of dense tensors as classifiers: the four tensors by name, and the same rules."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import DenseGINConv

from graphflip.errors import (
    BatchDependent,
    ClassifierError,
    IgnoresEdges,
    NotDifferentiable,
    OrderDependent,
    WrongOutput,
)
from graphflip.models.adapters import DenseClassifier
from graphflip.testing import assert_invariant, random_graph

from .networks import SCHEMA, WIDTH, D, build, network


def triangles(B, A, E):
    """More triangles than nodes, and some say for the kinds of edges."""
    count = torch.einsum("bij,bjk,bki->b", A, A, A)
    margin = count / 6 - B.sum(1) + E[..., 0].sum((1, 2)) / 4
    return torch.stack([-margin, margin], 1)


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.out = DenseGINConv(network(D)), nn.Linear(WIDTH, 2)

    def forward(self, x, adj, mask=None):
        return self.out(self.layer(x, adj, mask=mask).sum(1))


@pytest.mark.parametrize("make", [lambda: triangles, lambda: build(Dense)], ids=["function", "module"])
@settings(max_examples=10)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**16), relaxed=st.booleans())
def test_it_is_the_function_of_the_four_tensors(make, n, seed, relaxed):
    function = make()
    classifier, graph = DenseClassifier(function, SCHEMA, 2), random_graph(SCHEMA, n=n, seed=seed, relaxed=relaxed)
    given = (graph.B, graph.A, graph.E) if function is triangles else (graph.V, graph.A, graph.B)
    torch.testing.assert_close(classifier(graph), function(*given))
    assert_invariant(classifier, graph, seed=seed)


def test_a_module_is_copied_and_left_alone():
    model = build(Dense)
    classifier = DenseClassifier(model, SCHEMA)
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert not any(parameter.requires_grad for parameter in classifier.parameters())


def test_graphs_without_slots_have_an_answer():
    assert DenseClassifier(triangles, SCHEMA)(random_graph(SCHEMA, n=0)).shape == (2, 2)


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda V: V.sum(1)[:, :2], IgnoresEdges, "without any"),
        (lambda A: A[:, 0, :2], OrderDependent, "order of nodes"),
        (lambda A: A.mean((1, 2))[:, None] * torch.tensor([1.0, 2.0]), BatchDependent, "empty slots"),
        (lambda A: (A.sum((1, 2)) / A.sum())[:, None] * torch.tensor([1.0, 2.0]), BatchDependent, "by itself"),
        (lambda A: (A > 0.5).float().sum(2)[:, :2].sort().values, OrderDependent, "order of nodes"),
        (lambda A, V: torch.stack([(A > 0.5).sum((1, 2)), V.sum((1, 2))], 1), NotDifferentiable, "they are zero"),
        (lambda A: A.sum((1, 2))[:, None].expand(-1, 3), WrongOutput, "must have 2 classes; it returns 3"),
        (lambda A: A, WrongOutput, "one row for each graph"),
        (lambda graph: graph, ClassifierError, "this one takes graph"),
    ],
)
def test_bad_functions_are_refused_with_the_reason(function, error, says):
    with pytest.raises(error, match=says):
        DenseClassifier(function, SCHEMA, 2)
