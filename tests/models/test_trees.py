"""The tree judge gives scikit-learn's probabilities from plain arrays; its features do not know the order of nodes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.errors import DataError, ModelFileError
from graphflip.graph import Graph
from graphflip.models.networks.trees import TreesConfig, environment_counts, fit_trees
from graphflip.models.networks.wl import wl_counts
from graphflip.schema import Categories, Schema
from graphflip.testing import assert_batch_free, assert_invariant, assert_padding_free, random_graph, random_schema

DATA = planted(120)
CONFIG = TreesConfig(num_trees=8, bins=128, leaves=5)
SEEDS = st.integers(0, 2**16)


@pytest.fixture(scope="module")
def judge():
    pytest.importorskip("sklearn")
    return fit_trees(DATA, CONFIG)


def test_probabilities_are_those_of_scikit_learn(monkeypatch):
    ensemble = pytest.importorskip("sklearn.ensemble")
    grown, original = [], ensemble.HistGradientBoostingClassifier

    def remember(**settings):
        grown.append(original(**settings))
        return grown[-1]

    monkeypatch.setattr(ensemble, "HistGradientBoostingClassifier", remember)
    judge = fit_trees(DATA, CONFIG)
    counts = environment_counts(DATA.graphs(), CONFIG)
    expected = torch.from_numpy(grown[0].predict_proba(counts.numpy()))
    torch.testing.assert_close(judge(DATA.graphs()).softmax(-1).double(), expected, atol=1e-5, rtol=1e-5)
    assert float(expected.std()) > 0.05  # trees that say something
    # The judges of the package were grown in this way: with other settings they would be others.
    settings = grown[0].get_params()
    chosen = {"min_samples_leaf": 5, "l2_regularization": 1.0, "max_features": 0.2, "early_stopping": False}
    assert {name: settings[name] for name in chosen} == chosen
    assert (settings["max_iter"], settings["max_leaf_nodes"], settings["learning_rate"]) == (8, 5, CONFIG.rate)


def test_trees_learn_and_follow_the_seed(judge):
    train = DATA.part("train")
    assert float((judge(train.graphs()).argmax(-1) == train.labels).float().mean()) > 0.8
    again = fit_trees(DATA, CONFIG)
    assert all(torch.equal(a, b) for a, b in zip(judge.state_dict().values(), again.state_dict().values(), strict=True))


def test_trees_obey_the_laws(judge):
    graph = DATA.graphs(slice(0, 6))
    assert_invariant(judge, graph)
    assert_batch_free(judge, graph)
    small = DATA.graphs(DATA.num_nodes.argsort()[:4])
    assert_padding_free(judge, small)
    assert judge(graph.select(slice(0, 0))).shape == (0, 2)


def test_trees_are_for_two_classes():
    pytest.importorskip("sklearn")
    split = {"train": torch.arange(30)}
    three = GraphDataset.from_graphs("x", [DATA.graphs(slice(0, 30))], torch.arange(30) % 3, tuple("abc"), split=split)
    with pytest.raises(DataError, match=r"the tree judge is for two classes; got 3. Use the judge `gnn`"):
        fit_trees(three, CONFIG)
    one = GraphDataset.from_graphs("x", [DATA.graphs(slice(0, 30))], torch.zeros(30), tuple("ab"), split=split)
    with pytest.raises(DataError, match="at least two classes; got only `a`"):
        fit_trees(one, CONFIG)


@given(seed=SEEDS, n=st.integers(0, 7), rounds=st.integers(0, 3))
def test_counts_obey_the_laws(seed, n, rounds):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed)

    def counts(graph):
        return wl_counts(graph, rounds, 64)

    assert_invariant(counts, graph, seed=seed)
    assert_padding_free(counts, graph)
    assert torch.equal(counts(graph).sum(1), graph.num_nodes * (rounds + 1))


PLAIN = Schema(
    nodes=(Categories(name="type", values=("C", "O")),),
    edges=(Categories(name="type", values=("1", "2")),),
    max_nodes=8,
)
ARCS = Schema(max_nodes=4, directed=True)


def path(types, bonds=None, schema=PLAIN):
    bonds = bonds or "1" * (len(types) - 1)
    edges = [(k, k + 1, {"type": bond}) for k, bond in enumerate(bonds)]
    return Graph.build(schema, [{"type": kind} for kind in types], edges)


@pytest.mark.parametrize(
    ("one", "other", "rounds"),
    [
        (path("CCO"), path("CCC"), 0),
        (path("CCO"), path("COC"), 1),
        (path("CCC", "12"), path("CCC", "11"), 1),
        (path("CCCCO"), path("CCCOC"), 1),
        (path("CCCCC", "1112"), path("CCCCC", "1121"), 1),
        (
            Graph.build(ARCS, [{}] * 3, [(0, 1, {}), (0, 2, {})]),
            Graph.build(ARCS, [{}] * 3, [(1, 0, {}), (2, 0, {})]),
            1,
        ),
    ],
)
def test_counts_tell_environments_apart(one, other, rounds):
    assert not torch.equal(wl_counts(one, rounds, 2048), wl_counts(other, rounds, 2048))
    if rounds and not one.schema.directed and one.nodes() == other.nodes():
        assert torch.equal(wl_counts(one, 0, 2048), wl_counts(other, 0, 2048))


def test_counts_are_the_same_in_every_process():
    """Stored trees are useless if a bin means something else tomorrow: these numbers must never change."""
    found = wl_counts(path("CCO", "12"), 2, 2048)[0]
    assert {int(k): int(found[k]) for k in found.nonzero()[:, 0]} == GOLDEN


GOLDEN = {261: 1, 393: 1, 914: 1, 1089: 1, 1104: 2, 1194: 1, 1269: 1, 1621: 1}


def test_morgan_counts_are_those_of_rdkit():
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    schema = molecule_schema(("C", "N", "O", "H"), max_nodes=20, explicit_hydrogens=True)
    config = TreesConfig(features="morgan", bins=256)
    for smiles in ("c1ccccc1O", "CC(=O)N", "C[N+](=O)[O-]"):
        found = environment_counts(from_smiles(smiles, schema), config)[0]
        expected = GetMorganGenerator(radius=2, fpSize=256).GetCountFingerprintAsNumPy(chem.MolFromSmiles(smiles))
        assert found.tolist() == expected.tolist()


def test_morgan_counts_of_what_is_no_molecule(capfd):
    pytest.importorskip("rdkit")
    schema = molecule_schema(("C", "O"), max_nodes=8, explicit_hydrogens=False)
    bond = {"type": "single"}
    crowded = Graph.build(schema, [{"type": "O"}] + [{"type": "C"}] * 5, [(0, k, bond) for k in range(1, 6)])
    counts = environment_counts(crowded, TreesConfig(features="morgan", bins=256))
    assert float(counts.sum()) > 0
    assert capfd.readouterr().err == ""


def test_a_tree_of_which_one_node_leads_back_is_refused(judge):
    weights = {name: value.clone() for name, value in judge.state_dict().items()}
    inner = int((judge.child[0, :, 0] > torch.arange(judge.child.shape[1])).nonzero()[-1])
    weights["child"][0, inner] = 0
    with pytest.raises(ModelFileError, match="children of larger numbers"):
        judge.load_state_dict(weights)


@given(seed=SEEDS)
def test_every_node_counts_once_for_each_radius(seed):
    graph = random_graph(n=6, num_graphs=3, seed=seed)
    for rounds in range(3):
        counts = wl_counts(graph, rounds, bins=4096)
        assert counts.sum(1).tolist() == ((rounds + 1) * graph.B.sum(1)).tolist()
    assert bool((wl_counts(graph, 2, 4096) >= wl_counts(graph, 1, 4096)).all())
