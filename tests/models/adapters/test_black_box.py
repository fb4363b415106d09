"""Models that can only be asked: what they are shown, what they may answer, and what it costs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.errors import (
    BatchDependent,
    BudgetSpent,
    ClassifierError,
    ConfigError,
    NotDifferentiable,
    NotFinite,
    OrderDependent,
    WrongOutput,
)
from graphflip.graph import Graph
from graphflip.models.adapters import BlackBox
from graphflip.testing import random_graph

from .networks import SCHEMA

MOLECULES = molecule_schema(["C", "N", "O"], max_nodes=8, explicit_hydrogens=False)


def share_of_edges(graphs):
    return [float(graph.num_edges) / 40 for graph in graphs]


@settings(max_examples=10)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**16), takes=st.sampled_from(["graphs", "pyg"]))
def test_probabilities_are_those_of_the_function(n, seed, takes):
    def predict(shown):
        return share_of_edges(shown) if takes == "graphs" else [data.edge_index.shape[1] / 80 for data in shown]

    graph = random_graph(SCHEMA, n=n, num_graphs=4, seed=seed)
    graph = graph[graph.B.any(1)]
    box = BlackBox(predict, SCHEMA, takes=takes)
    expected = (graph.num_edges / 40).clamp(min=1e-6)
    torch.testing.assert_close(box(graph).softmax(-1)[:, 1], expected, atol=1e-5, rtol=1e-5)
    assert box.calls == len(graph)
    assert box(graph).dtype == graph.B.dtype


def test_molecules_are_shown_as_text_and_asked_about_once():
    asked = []

    def predict(smiles):
        asked.extend(smiles)
        return ["O" in text for text in smiles]

    box = BlackBox(predict, MOLECULES, takes="smiles")
    graph = Graph.cat([from_smiles(text, MOLECULES) for text in ("CCO", "OCC", "CCN", "CCO")])
    assert box(graph).argmax(1).tolist() == [1, 1, 0, 1]
    assert (sorted(asked), box.calls) == (["CCN", "CCO"], 2)
    assert box(graph).argmax(1).tolist() == [1, 1, 0, 1]
    assert box.calls == 2
    box.renew()
    box(graph)
    assert (len(asked), box.calls) == (4, 2)


def test_what_has_nothing_to_show_is_not_asked():
    pentavalent = Graph.build(
        MOLECULES, [{"type": "O"}, *[{"type": "C"}] * 4], [(0, k, {"type": "single"}) for k in range(1, 5)]
    )
    empty = random_graph(MOLECULES, n=0, num_graphs=1)
    for takes, shown in (("smiles", [pentavalent, empty]), ("graphs", [empty]), ("pyg", [empty])):
        box = BlackBox(lambda _: pytest.fail("asked"), MOLECULES, 3, takes=takes)
        assert bool((box(Graph.cat(shown)).softmax(-1) - 1 / 3).abs().max() < 1e-6)
        assert box.calls == 0


def test_the_budget_is_never_overspent_and_can_be_renewed():
    box = BlackBox(share_of_edges, SCHEMA, budget=5)
    graph = random_graph(SCHEMA, n=6, num_graphs=3)
    box(graph)
    with pytest.raises(BudgetSpent, match="may be shown 5 graphs; 3 are spent and 3 more"):
        box(graph)
    assert box.calls == 3
    box(graph[:2])
    assert box.calls == 5
    box.renew()
    box(graph)
    assert box.calls == 3


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (np.array([[0.25, 0.75]] * 2), [0.25, 0.75]),
        (np.array([0.75, 0.75], dtype=np.float32), [0.25, 0.75]),
        (torch.tensor([[0.25, 0.75]] * 2, dtype=torch.float64), [0.25, 0.75]),
        ([1, 1], [0.0, 1.0]),
        (np.array([0, 0]), [1.0, 0.0]),
        ([False, False], [1.0, 0.0]),
    ],
)
def test_probabilities_and_labels_of_all_kinds(answer, expected):
    box = BlackBox(lambda _: answer, SCHEMA)
    graph = random_graph(SCHEMA, n=6)
    torch.testing.assert_close(box(graph).softmax(-1)[0], torch.tensor(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        ([[0.2, 0.3, 0.5]] * 2, WrongOutput, r"2 probabilities or one class number for each of 2 graphs; got shape"),
        ([0.5], WrongOutput, "got shape"),
        ([[1.5, 3.0]] * 2, WrongOutput, "sum to 1"),
        ([0, 2], WrongOutput, r"0..1; got \[0, 2\]"),
        (["yes", "no"], WrongOutput, "must return numbers"),
        (None, WrongOutput, "got NoneType"),
        ([[0.5, float("nan")]] * 2, NotFinite, "NaN"),
    ],
)
def test_other_answers_are_refused(answer, error, says):
    with pytest.raises(error, match=says):
        BlackBox(lambda _: answer, SCHEMA)(random_graph(SCHEMA, n=6))


def test_what_goes_wrong_in_the_function_is_said():
    def predict(graphs):
        raise ConnectionError("no route to host")

    with pytest.raises(ClassifierError, match="ConnectionError: no route to host"):
        BlackBox(predict, SCHEMA)(random_graph(SCHEMA, n=6))


def test_relaxed_graphs_are_refused():
    with pytest.raises(NotDifferentiable, match="hard graphs only"):
        BlackBox(share_of_edges, SCHEMA)(random_graph(SCHEMA, n=6, relaxed=True))


@pytest.mark.parametrize(
    ("predict", "error"),
    [
        (lambda graphs: [float(graph.A[0, 0].sum()) / 20 for graph in graphs], OrderDependent),
        (lambda graphs: [len(graphs) / 10] * len(graphs), BatchDependent),
    ],
)
def test_with_a_sample_the_function_is_tried(predict, error):
    with pytest.raises(error):
        BlackBox(predict, SCHEMA, sample=random_graph(SCHEMA, n=8, num_graphs=4, seed=1))
    BlackBox(share_of_edges, SCHEMA, sample=random_graph(SCHEMA, n=8))


@pytest.mark.parametrize("settings", [{"num_classes": 0}, {"budget": 0}, {"takes": "smiles"}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError):
        BlackBox(share_of_edges, SCHEMA, **settings)
