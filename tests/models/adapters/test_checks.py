"""Planted bad models: each is refused with its own error, which says what is wrong."""

from typing import get_args

import pytest
import torch
from torch import nn
from torch_geometric.nn import GINConv, SAGPooling, global_add_pool
from torch_geometric.utils import to_dense_batch

from graphflip.errors import (
    BatchDependent,
    ClassifierError,
    ConfigError,
    IgnoresEdges,
    NotDeterministic,
    NotDifferentiable,
    NotFinite,
    OrderDependent,
    SchemaError,
    WrongOutput,
)
from graphflip.models.adapters import PyGClassifier
from graphflip.models.adapters.black_box import Takes
from graphflip.models.adapters.checks import check_word
from graphflip.models.adapters.outputs import ReturnType
from graphflip.models.adapters.sparse import Form
from graphflip.testing import random_graph

from .networks import LAYERS, SCHEMA, WEIGHTED, WIDTH, D, Plain, build


class IgnoresItsEdges(Plain):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index[:, :0], batch)


class LooksAtTheFirstNode(Plain):
    def forward(self, x, edge_index, batch):
        first = to_dense_batch(x, batch)[0][:, 0]
        return super().forward(x, edge_index, batch) + first.sum(1, keepdim=True) * first[:, :2]


class DividesByZero(Plain):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch) / global_add_pool(x[:, :1] * 0, batch)


class Tosses(Plain):
    def forward(self, x, edge_index, batch):
        return nn.functional.dropout(super().forward(x, edge_index, batch), training=True)


class NormalizesByBatch(Plain):
    def forward(self, x, edge_index, batch):
        logits = super().forward(x, edge_index, batch)
        return logits - logits.mean(0)


class Detaches(Plain):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).detach()


class GoesItsOwnWay(nn.Module):
    """Passes messages without PyG's layers: nobody can weight them."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(D, 2)

    def forward(self, x, edge_index, batch):
        x = x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]).tanh()
        return self.out(global_add_pool(x, batch))


class DropsNodes(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = LAYERS["gin"](D), LAYERS["gin"](WIDTH)
        self.pool, self.out = SAGPooling(WIDTH, 0.5), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        x, edge_index, _, batch, *_ = self.pool(self.first(x, edge_index), edge_index, batch=batch)
        return self.out(global_add_pool(self.second(x, edge_index), batch))


class PerNode(Plain):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, torch.arange(len(x)))


class WantsPositions(Plain):
    def forward(self, x, edge_index, batch, pos):
        return super().forward(x, edge_index, batch)


class WantsOneGraph(Plain):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index, torch.zeros(len(x), dtype=torch.long))


class TakesRoots(Plain):
    """Its gradient at zero is infinite."""

    def forward(self, x, edge_index, batch):
        zero = global_add_pool(x, batch).sum(1, keepdim=True)
        return super().forward(x, edge_index, batch) + (zero - zero.detach()).sqrt()


@pytest.mark.parametrize(
    ("kind", "error", "says"),
    [
        (IgnoresItsEdges, IgnoresEdges, "same answers without any"),
        (LooksAtTheFirstNode, OrderDependent, "must not depend on the order of nodes"),
        (DividesByZero, NotFinite, "NaN or infinity for 4 of 4"),
        (Tosses, NotDeterministic, "when asked again"),
        (NormalizesByBatch, BatchDependent, "passing graph 0 by itself"),
        (Detaches, NotDifferentiable, "its logits have none"),
        (TakesRoots, NotDifferentiable, "finite gradients"),
        (PerNode, WrongOutput, "one row for each graph"),
        (WantsPositions, ClassifierError, "takes x, edge_index, batch, pos"),
    ],
)
def test_a_bad_model_is_refused_with_the_reason(kind, error, says):
    with pytest.raises(error, match=says) as refusal:
        PyGClassifier(build(kind, LAYERS["gin"]), SCHEMA)
    assert type(refusal.value) is error


@pytest.mark.parametrize("kind", [GoesItsOwnWay, DropsNodes])
def test_what_cannot_be_relaxed_is_refused_with_the_way_out(kind):
    with pytest.raises(NotDifferentiable, match="BlackBox"):
        PyGClassifier(build(kind), SCHEMA)


def test_the_number_of_classes_is_checked():
    with pytest.raises(WrongOutput, match="must have 2 classes; it returns 3"):
        PyGClassifier(build(Plain, LAYERS["gin"], 3), SCHEMA, num_classes=2)
    assert PyGClassifier(build(Plain, LAYERS["gin"], 3), SCHEMA).num_classes == 3


def test_a_model_for_other_columns_says_what_it_complained_about():
    with pytest.raises(ClassifierError, match=r"4 node columns, 1 edge columns\) .*RuntimeError.*x=.ids"):
        PyGClassifier(build(Plain, lambda d: GINConv(nn.Linear(WIDTH, WIDTH))), WEIGHTED)


def test_a_model_that_cannot_be_copied_is_refused():
    model = build(Plain, LAYERS["gin"])
    model.kept = model.out.weight * 2
    with pytest.raises(ClassifierError, match=r"copy.deepcopy"):
        PyGClassifier(model, SCHEMA)


def test_a_model_whose_weights_have_no_shape_yet_is_refused():
    model = build(Plain, LAYERS["gin"])
    model.out = nn.LazyLinear(2)
    with pytest.raises(ClassifierError, match="never called"):
        PyGClassifier(model, SCHEMA)


@pytest.mark.parametrize("words", [Form, ReturnType, Takes])
def test_a_setting_that_is_no_word_is_said(words):
    for word in get_args(words):
        check_word("setting", word, words)
    with pytest.raises(ConfigError, match=r"`setting` must be one of .*; got 'logits'"):
        check_word("setting", "logits", words)


def test_the_sample_must_have_the_schema():
    with pytest.raises(SchemaError, match="has another"):
        PyGClassifier(build(Plain, LAYERS["gin"]), SCHEMA, sample=random_graph(WEIGHTED))
