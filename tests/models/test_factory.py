"""Classifiers by the name of a factory: a user's own code runs when asked for, and errors say what must hold."""

import sys

import pytest

from graphflip.errors import ConfigError, IgnoresEdges
from graphflip.models.adapters import BlackBox, DenseClassifier, PyGClassifier
from graphflip.models.adapters.factory import as_classifier, load_factory
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph

SCHEMA = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=8)
CODE = """
import torch
from torch import nn
from torch_geometric.nn import GINConv, global_add_pool
from graphflip.models.adapters import BlackBox
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.schema import Schema

class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layer, self.out = GINConv(nn.Linear(d, 4)), nn.Linear(4, 2)
    def forward(self, x, edge_index, batch):
        return self.out(global_add_pool(self.layer(x, edge_index).tanh(), batch))

def with_schema(schema):
    return Net(schema.dv)
def without():
    return Net(2)
def ours(schema=None):
    return RelationalGIN(schema)
def function():
    return lambda A, B: torch.stack([A.sum((1, 2)), B.sum(1)], 1)
def box(schema):
    return BlackBox(lambda graphs: [0.5] * len(graphs), schema)
def blind():
    return lambda B: torch.stack([B.sum(1), -B.sum(1)], 1)
def fails():
    raise FileNotFoundError("weights.pt")
def other():
    return RelationalGIN(Schema(max_nodes=3))
def nothing():
    return None
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module in the current folder."""
    (tmp_path / "my_models.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    yield "my_models"
    sys.modules.pop("my_models", None)


@pytest.mark.parametrize(
    ("factory", "kind"),
    [
        ("with_schema", PyGClassifier),
        ("without", PyGClassifier),
        ("ours", RelationalGIN),
        ("function", DenseClassifier),
        ("box", BlackBox),
    ],
)
def test_whatever_a_factory_makes_becomes_a_classifier(module, factory, kind):
    path = list(sys.path)
    classifier = load_factory(f"{module}:{factory}", SCHEMA)
    assert isinstance(classifier, kind)
    assert classifier(random_graph(SCHEMA, n=5)).shape == (2, 2)
    assert sys.path == path


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("my_models", "package.module:name; got 'my_models'"),
        ("my_models:", "package.module:name"),
        ("no_such_module:make", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("my_models:mkae", "`mkae` must be a function of my_models, which has .*with_schema"),
        ("my_models:number", "`number` must be a function"),
        ("my_models:fails", "FileNotFoundError: weights.pt"),
        ("my_models:other", "schema of the graphs"),
        ("my_models:nothing", r"got NoneType\(\)"),
    ],
)
def test_errors_say_what_must_hold(module, spec, says):
    with pytest.raises(ConfigError, match=says):
        load_factory(spec, SCHEMA)


def test_a_bad_model_is_refused_as_ever(module):
    with pytest.raises(IgnoresEdges):
        load_factory(f"{module}:blind", SCHEMA)


def test_a_function_that_can_only_be_asked_must_be_wrapped():
    with pytest.raises(ConfigError, match="BlackBox"):
        as_classifier(lambda graphs: graphs, SCHEMA)
