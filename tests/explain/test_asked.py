"""Whatever is given to an explainer, or asked of it: an answer for each input, or words that say what to give."""

import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from rdkit import Chem

import graphflip as gf
from graphflip.data.inputs import is_single, one_by_one
from graphflip.data.molecules.molecule import from_smiles, to_smiles
from graphflip.data.planted.motif import planted
from graphflip.data.pyg.objects import to_pyg
from graphflip.errors import ConfigError, DataError
from graphflip.explain.constraints import Constraints
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit, find_kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.query import Query
from graphflip.explain.records import from_record, to_record
from graphflip.graph import Graph

from .oracles import SignedDistance

PLANTED = planted(num_graphs=40, seed=5, min_nodes=5, max_nodes=7)
TOY = Explainer(Kit("toy", SignedDistance(PLANTED.schema), Knowledge.mine(PLANTED), ("absent", "present")))
GRAPHS = list(PLANTED.graphs(PLANTED.labels.nonzero()[:2, 0].tolist()))
BOTH = Graph.cat(GRAPHS)


@pytest.fixture(scope="module")
def explainer():
    return gf.load("mutagenicity")


def many_of() -> dict:
    from torch_geometric.data import Batch, InMemoryDataset
    from torch_geometric.loader import DataLoader

    class Own(InMemoryDataset):
        def __init__(self):
            super().__init__()
            self.data, self.slices = self.collate(to_pyg(BOTH))

    array = np.empty(2, dtype=object)
    array[:] = to_pyg(BOTH)
    return {
        "tuple": tuple(GRAPHS),
        "generator": (one for one in GRAPHS),
        "iterator": iter(GRAPHS),
        "array": array,
        "a graph of two": BOTH,
        "PyG list": to_pyg(BOTH),
        "PyG batch": Batch.from_data_list(to_pyg(BOTH)),
        "PyG dataset": Own(),
        "PyG loader": DataLoader(to_pyg(BOTH), batch_size=2),
    }


@pytest.mark.parametrize("kind", many_of())
def test_several_inputs_have_a_list_of_answers(kind):
    answers = TOY.explain(many_of()[kind], "present")  # where they are already
    assert isinstance(answers, list)
    assert [one.outcome for one in answers] == [Outcome.ALREADY_THERE] * 2
    assert [one.factual for one in answers] == GRAPHS
    assert GRAPHS[0] != GRAPHS[1]
    assert [one.factual for (one,) in TOY.explain_each(many_of()[kind], "present")] == GRAPHS


@pytest.mark.parametrize("kind", ["array", "series", "tuple"])
def test_texts_come_in_arrays_and_columns(kind, explainer):
    texts = ["O=[N+]([O-])c1ccccc1", "CCN(CC)N=O"]
    if kind == "series":
        texts = pytest.importorskip("pandas").Series(texts, index=["b", "a"])
    given = {"array": np.array, "tuple": tuple}.get(kind, lambda same: same)(texts)
    answers = explainer.explain(given, "mutagen")  # where they are already
    assert [one.id for one in answers] == list(texts)
    assert [to_smiles(one.factual) for one in answers] == list(texts)


def test_no_input_is_no_answer():
    assert TOY.explain([]) == []
    assert TOY.explain(iter(())) == []


def test_inputs_are_read_as_they_are_needed():
    taken = []

    def endless():
        for k in count():
            taken.append(k)
            yield GRAPHS[0]

    answers = TOY.explain_each(endless(), "present")
    next(answers)
    next(answers)
    assert taken == [0, 1]
    stream = one_by_one(endless())
    next(stream)
    assert len(taken) == 3


@pytest.mark.parametrize("unordered", [{"a": "CC"}, {"CC"}, frozenset(), SimpleNamespace(columns=["smiles"])])
def test_inputs_without_an_order_are_refused(unordered):
    with pytest.raises(DataError, match="one after the other"):
        TOY.explain(unordered)


@pytest.mark.parametrize("wrong", [b"CC", np.array("CC"), np.zeros(2), torch.zeros(2), Path("x.csv"), [["CC"]], [None]])
def test_what_holds_no_inputs_is_refused(wrong, explainer):
    with pytest.raises(DataError, match="must be a Graph, a SMILES"):
        explainer.explain(wrong)


def test_a_stream_of_one_is_a_mistake(explainer):
    with pytest.raises(DataError, match="Use `explain`"):
        next(explainer.explain_each("CC"))
    assert not is_single(GRAPHS)
    assert is_single(GRAPHS[0])


@pytest.mark.parametrize("y", [torch.ones(1, 12), torch.tensor([float("nan")]), torch.empty(0), None, "toxic"])
def test_labels_are_not_read(y):
    data = to_pyg(GRAPHS[0])[0]
    data.y = y
    assert TOY.read(data) == GRAPHS[0]
    assert data.y is y


def test_the_parent_of_a_salt_is_explained(explainer):
    salt = "[O-]c1ccc(cc1)[N+](=O)[O-].[K+]"
    with pytest.raises(gf.GraphflipError, match="--as-is"):
        explainer.explain(salt, parent=False)
    found = explainer.explain(salt, "mutagen")
    assert found.id == salt
    assert found.factual == from_smiles("Oc1ccc(cc1)[N+](=O)[O-]", explainer.kit.schema)
    assert found.smiles.factual == Chem.CanonSmiles(salt)
    assert "left out and carried along: potassium (K+)" in str(found)
    assert to_smiles(found.factual) == Chem.CanonSmiles("Oc1ccc(cc1)[N+](=O)[O-]")
    again = from_record(json.loads(json.dumps(to_record(found))), explainer.kit.schema)
    assert (again.smiles, again.source) == (found.smiles, salt)
    for graph in (found.factual, to_pyg(found.factual)[0]):
        assert explainer.explain(graph, "mutagen").remarks == ()


@pytest.mark.parametrize("num", [2.5, "3", 0, -1, True, None, float("nan")])
def test_a_number_of_answers_is_a_whole_number(num):
    with pytest.raises(ConfigError, match=r"`num` must be a whole number, at least 1; got .*Leave"):
        Query.of(num=num)


@pytest.mark.parametrize("confidence", ["0.9", 1.5, 0.0, 1, float("nan"), [0.9]])
def test_a_confidence_is_a_probability(confidence):
    with pytest.raises(ConfigError, match=r"`confidence` must be a number between 0 and 1; got .*Write"):
        Query.of(confidence=confidence)


@pytest.mark.parametrize("constraints", [{"budget": 2}, {}, [3], "freeze"])
def test_constraints_are_constraints(constraints):
    with pytest.raises(ConfigError, match=r"must be graphflip.Constraints; got a .*Write"):
        Query.of(constraints=constraints)


@pytest.mark.parametrize("prefer", [None, 3, ["minimal"]])
def test_a_preference_is_a_name(prefer):
    with pytest.raises(ConfigError, match=r"`prefer` must be one of minimal, balanced, believable; got .*Leave"):
        Query.of(prefer=prefer)


@pytest.mark.parametrize("source", [None, 3, b"mutagenicity", ["mutagenicity"]])
def test_a_kit_has_a_name_or_a_path(source):
    with pytest.raises(ConfigError, match=r"named by a text or a path; got .*Give"):
        find_kit(source)


def test_what_is_right_passes():
    assert Query.of(num=np.int64(3)).num == 3
    assert Query.of(num=1, frontier=True).frontier
    asked = Query.of(prefer="minimal", constraints=Constraints(budget=2), confidence=np.float32(0.5))
    assert (asked.prefer, asked.constraints, asked.confidence) == ("minimal", Constraints(budget=2), 0.5)


@pytest.mark.parametrize(
    ("asked", "says"),
    [({"num": 0}, "`num`"), ({"num": 2, "frontier": True}, "Either `num`"), ({"confidence": 1.5}, "`confidence`")],
)
def test_an_explainer_looks_at_what_is_asked(asked, says):
    with pytest.raises(ConfigError, match=says):
        TOY.explain(GRAPHS[0], **asked)
