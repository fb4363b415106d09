"""Methods that mutate molecules through packages of their own: the laws of answers, and what they need."""

import random

import numpy as np
import pytest
import torch

from graphflip.data.molecules.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, SchemaError
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.method import verdict
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.rivals.fragment_exchange import DATABASE, FragmentExchange
from graphflip.rivals.selfies_mutation import SelfiesMutation

SCHEMA = molecule_schema(("C", "N", "O"), max_nodes=14, explicit_hydrogens=False)
CORPUS = [
    "Nc1ccccc1",
    "Oc1ccccc1",
    "Cc1ccccc1",
    "CCc1ccccc1",
    "Nc1ccc(C)cc1",
    "Oc1ccc(N)cc1",
    "COc1ccccc1",
    "CCN",
    "CCO",
]
MOLECULES = Graph.cat([from_smiles(text, SCHEMA).pad(14) for text in ("Nc1ccccc1", "Cc1ccc(N)cc1", "CCO", "Oc1ccccc1")])


class CountsNitrogen(AbstractClassifier):
    """Class 1 if there is a nitrogen."""

    def __init__(self, schema):
        super().__init__()
        self.schema, self.at = schema, schema.node_type.values.index("N")

    def embed(self, graph):
        return graph.V[..., self.at].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([0.5 - embedding, embedding - 0.5], 1)


MODEL = CountsNitrogen(SCHEMA).eval()


@pytest.fixture(scope="module", params=["exmol", "crem"])
def rival(request, tmp_path_factory):
    """Each method; CReM with a database of a few molecules' fragments."""
    if request.param == "exmol":
        pytest.importorskip("exmol", reason="needs the package exmol: pip install 'graphflip[peers]'")
        return SelfiesMutation(MODEL, samples=200)
    db = pytest.importorskip("crem.db", reason="needs the package crem: pip install 'graphflip[peers]'")
    database = tmp_path_factory.mktemp("crem") / "fragments.db"
    db.create_db(CORPUS, database, "corpus", radii=(1,))
    return FragmentExchange(MODEL, str(database), radius=1)


@pytest.fixture(scope="module")
def answers(rival):
    return rival.explain(MOLECULES, seed=3)


def test_no_flip_is_claimed_that_the_classifier_denies(answers):
    assert sum(answer.flipped for answer in answers) >= 2
    for answer in answers:
        if answer.counterfactual is None:
            assert answer.outcome is Outcome.OUT_OF_STEPS
            continue
        (outcome,), probability = verdict(MODEL, answer.counterfactual, [answer.target])
        assert answer.outcome is outcome
        assert answer.p_counterfactual == pytest.approx(float(probability))
        assert to_smiles(answer.counterfactual) is not None, "what a generator of molecules returns is a molecule"


def test_an_answer_depends_on_graph_target_and_seed_alone(rival, answers):
    random.random()
    torch.rand(3)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    (alone,) = rival.explain(MOLECULES[1], seed=3)
    assert (alone.outcome, alone.counterfactual) == (answers[1].outcome, answers[1].counterfactual)
    again = rival.explain(MOLECULES, seed=3)
    assert [one.counterfactual for one in again] == [one.counterfactual for one in answers]
    assert before == np.random.get_state()[1].tolist(), "the global generator is left alone"  # noqa: NPY002


def test_graphs_that_are_no_molecules_are_refused(rival):
    with pytest.raises(SchemaError, match="for molecules"):
        rival.explain(planted(4).graphs(0), seed=0)


def test_fragments_need_a_database(monkeypatch):
    pytest.importorskip("crem", reason="needs the package crem: pip install 'graphflip[peers]'")
    monkeypatch.delenv(DATABASE, raising=False)
    with pytest.raises(ConfigError, match="database of fragments; got none"):
        FragmentExchange(MODEL).explain(MOLECULES[0])
