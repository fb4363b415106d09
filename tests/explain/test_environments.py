"""Laws of environments."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.errors import DataError, SchemaError
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.moves.environments import EnvironmentCounts, environment_share
from graphflip.graph import Graph
from graphflip.testing import random_graph, random_schema

SCHEMA = molecule_schema(("C", "O", "Cl"), max_nodes=8, explicit_hydrogens=False)


def counted(*smiles):
    graphs = [from_smiles(text, SCHEMA) for text in smiles]
    return EnvironmentCounts.mine(GraphDataset.from_graphs("few", graphs, [0] * len(graphs), ("a", "b")))


def set_type(graph, i, value):
    V = graph.V.clone()
    V[0, i] = torch.eye(3)[SCHEMA.nodes[0].values.index(value)]
    return Graph(graph.B, V, graph.A, graph.E, SCHEMA)


def test_an_environment_is_a_node_with_its_bonds_and_neighbors():
    found = counted("CCO", "CC=O").counts
    single, double, C, O = ("single",), ("double",), ("C",), ("O",)
    assert found[C, (("", single, C),)] == 2
    assert found[C, (("", single, C), ("", single, O))] == 1
    assert found[C, (("", double, O), ("", single, C))] == 1
    assert sum(found.values()) == 6


def test_created_environments_must_be_frequent_and_old_ones_need_not():
    environments = counted(*["CCO"] * 5, *["CCCl"] * 4)
    factual = from_smiles("CCO", SCHEMA)
    same = environments.created_are_known(factual, factual, minimum=99)
    assert same.tolist() == [True]  # nothing was created
    changed = set_type(factual, 2, "Cl")
    assert environments.created_are_known(factual, changed).tolist() == [False]
    assert environments.created_are_known(factual, changed, minimum=4).tolist() == [True]


def test_the_neighbors_of_what_changed_are_looked_at_too():
    environments = counted(*["CO"] * 5, *["OC"] * 5, *["CCO"] * 5)
    factual = from_smiles("CCO", SCHEMA)
    changed = set_type(factual, 0, "O")  # O-C is known, a carbon between two O is not
    assert environments.created_are_known(factual, changed).tolist() == [False]


@settings(max_examples=15)
@given(st.integers(0, 2**16))
def test_counts_ignore_the_order_of_nodes_and_survive_json(seed):
    schema = random_schema(seed)
    graph = random_graph(schema, n=5, num_graphs=3, seed=seed)
    graph = graph[(graph.num_nodes > 0).nonzero()[:, 0]]
    if not len(graph):
        return
    order = torch.rand(graph.B.shape, generator=torch.Generator().manual_seed(seed)).argsort(1)
    one, two = (
        EnvironmentCounts.mine(GraphDataset.from_graphs("few", [g], [0] * len(g), ("a", "b")))
        for g in (graph, graph.permute(order))
    )
    assert one.counts == two.counts
    again = EnvironmentCounts.from_dict(json.loads(json.dumps(one.to_dict())), schema)
    assert again.counts == one.counts
    assert bool(one.created_are_known(graph, graph.permute(order), minimum=1).all())


def test_share_and_errors():
    assert environment_share([True, False]) == 0.5
    assert environment_share([]) == 0.0
    with pytest.raises(DataError, match="Count again"):
        EnvironmentCounts.from_dict({"environments": [[1, 2]]}, SCHEMA)
    other = random_graph(n=2, num_graphs=1)
    with pytest.raises(SchemaError, match="same schema"):
        counted("CO").created_are_known(other, other)


def test_small_sets_know_what_occurs_once_and_keep_that_in_their_file(tmp_path):
    smiles = [*["CCO"] * 6, "CCCl"]
    few = GraphDataset.from_graphs("few", [from_smiles(text, SCHEMA) for text in smiles], [0] * 7, ("a", "b"))
    factual = from_smiles("CCO", SCHEMA)
    chlorinated = set_type(factual, 2, "Cl")
    for in_proportion in (False, True):
        knowledge = Knowledge.mine(few, in_proportion=in_proportion)
        knowledge.save(tmp_path / "knowledge.json")
        again = Knowledge.load(tmp_path / "knowledge.json", SCHEMA)
        assert again.environments.minimum == knowledge.environments.minimum == (1 if in_proportion else 5)
        assert again.environments.created_are_known(factual, chlorinated).tolist() == [in_proportion]
        assert again.vocabulary == knowledge.vocabulary
        assert bool(knowledge.vocabulary.fragments) == in_proportion  # a group occurs six times, not twenty
        assert any(("Cl",) in bond for bond in again.environments.bonds) == in_proportion
