"""Training molecules by fingerprint: the nearest are those of a slow search, and the unlike are called unlike."""

import dataclasses
import json
import sys
import zlib

import numpy as np
import pytest
import torch

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.describe.text import as_text
from graphflip.errors import ConfigError, DataError, MissingExtra, ModelFileError
from graphflip.explain import Counterfactual, Explainer, Outcome
from graphflip.explain.assess import Assessor
from graphflip.explain.evidence import Evidence, Nearest, Neighbor
from graphflip.explain.kit import Kit, load_kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.neighbors import NEIGHBORS, TrainingMolecules, save_training_molecules
from graphflip.explain.records import from_record, to_record
from graphflip.models.networks.classifier import ClassifierConfig, RelationalGIN
from graphflip.models.storage.files import read_tensors, write_tensors
from graphflip.report.rows import explanation_row

pytest.importorskip("rdkit")

TRAIN = ["c1ccccc1N", "c1ccccc1[N+](=O)[O-]", "CCO", "CCCO", "CC(=O)Nc1ccccc1", "C1CCNCC1", "c1ccccc1N", "CCCCCCCC"]
LABELS = [1, 1, 0, 0, 0, 0, 0, 0]
VALIDATION = ["c1ccccc1NC", "CCCCO", "Cc1ccccc1N"]
SCHEMAS = {
    "charges": drug_schema(40),
    "hydrogens": molecule_schema(("C", "N", "O", "H", "Cl", "F", "S"), max_nodes=50, explicit_hydrogens=True),
}


def dataset(schema=SCHEMAS["charges"], classes=("harmless", "harmful"), labels=LABELS):
    texts = [*TRAIN, *VALIDATION]
    graphs = [from_smiles(text, schema) for text in texts]
    split = {"train": torch.arange(len(TRAIN)), "validation": torch.arange(len(TRAIN), len(texts))}
    return GraphDataset.from_graphs("few", graphs, [*labels, *labels[: len(VALIDATION)]], classes, split=split)


@pytest.fixture(scope="module", params=SCHEMAS)
def known(request):
    return SCHEMAS[request.param], TrainingMolecules.of(dataset(SCHEMAS[request.param]))


@pytest.fixture
def explainer():
    data = dataset()
    classifier = RelationalGIN(data.schema, ClassifierConfig(width=4, depth=1, hidden=4)).eval()
    return Explainer(Kit("few", classifier, Knowledge.mine(data), data.classes, training=TrainingMolecules.of(data)))


@pytest.mark.parametrize("smiles", ["Nc1ccccc1", "CCN", "O=C(O)c1ccccc1", "FC(F)(F)S", "CCCCCCCCCCCC"])
def test_the_nearest_are_those_of_rdkit(known, smiles):
    from rdkit.Chem import MolFromSmiles, rdFingerprintGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    schema, molecules = known
    make = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024).GetFingerprint
    asked = make(MolFromSmiles(smiles))
    slow = sorted(-TanimotoSimilarity(asked, make(MolFromSmiles(text))) for text in TRAIN)
    for num in (1, 3, 20):
        found = molecules.nearest(from_smiles(smiles, schema), num).neighbors
        assert [one.similarity for one in found] == [pytest.approx(-s, abs=1e-4) for s in slow[:num]]
        assert all(one.id.startswith("few/") for one in found)


@pytest.mark.parametrize("spelling", ["CCO", "OCC", "C(O)C"])
def test_a_training_molecule_is_recognized_however_it_is_spelled(known, spelling):
    schema, molecules = known
    found = molecules.nearest(from_smiles(spelling, schema))
    assert [one.same for one in found.neighbors] == [True, False, False]
    assert found.neighbors[0] == Neighbor("few/2", "CCO", "harmless", 1.0, same=True)
    assert found.remark == "in the training data, labeled harmless"


def test_labels_that_contradict_each_other_are_both_said(known):
    schema, molecules = known
    assert (
        molecules.nearest(from_smiles("Nc1ccccc1", schema)).remark
        == "in the training data, labeled harmful and harmless"
    )


def test_the_same_molecule_comes_before_others_with_its_fingerprint(known):
    schema, molecules = known
    octane = molecules.smiles.index("CCCCCCCC")
    texts = tuple("CCCCCCCCC" if k == 0 else text for k, text in enumerate(molecules.smiles))
    prints = molecules.fingerprints.copy()
    prints[0] = prints[octane]  # nonane has the bits of octane
    found = dataclasses.replace(molecules, smiles=texts, fingerprints=prints).nearest(from_smiles("CCCCCCCC", schema))
    assert [(one.smiles, one.similarity, one.same) for one in found.neighbors[:2]] == [
        ("CCCCCCCC", 1.0, True),
        ("CCCCCCCCC", 1.0, False),
    ]


def test_equal_fingerprints_are_not_yet_the_same_molecule(known):
    """Long chains have the environments of an octane."""
    schema, molecules = known
    found = molecules.nearest(from_smiles("CCCCCCCCCCCC", schema))
    assert (found.similarity, found.neighbors[0].same, found.remark) == (1.0, False, "")


def test_one_in_a_hundred_validation_molecules_is_unlike_the_training_data(known):
    schema, molecules = known
    nearest = [molecules.nearest(from_smiles(text, schema)) for text in VALIDATION]
    assert molecules.limit == pytest.approx(np.quantile([one.similarity for one in nearest], 0.01), abs=1e-3)
    assert sum(one.familiar for one in nearest) == len(nearest) - 1
    strange = molecules.nearest(from_smiles("FC(F)(F)S", schema))
    assert not strange.familiar
    assert strange.remark.startswith("unlike anything it was trained on (nearest: ")
    assert f"similarity {strange.similarity:.2f})" in strange.remark


def test_what_is_no_molecule_has_no_neighbors(known):
    schema, molecules = known
    five = from_smiles("C", schema)
    broken = type(five).build(schema, [five.nodes()[0]] * 6, [(0, k, {"type": "single"}) for k in range(1, 6)])
    assert molecules.nearest(broken) is None


def test_a_file_gives_the_same_molecules_back(known, tmp_path):
    _, molecules = known
    molecules.save(tmp_path / NEIGHBORS)
    again = TrainingMolecules.load(tmp_path / NEIGHBORS)
    assert (again.smiles, again.ids, again.labels, again.limit) == (
        molecules.smiles,
        molecules.ids,
        molecules.labels,
        molecules.limit,
    )
    assert np.array_equal(again.fingerprints, molecules.fingerprints)


def test_labels_may_be_values_or_missing():
    values = TrainingMolecules.of(dataset(classes=(), labels=[k / 3 for k in range(8)]))
    assert values.labels[1] == "0.3333"
    unlabeled = TrainingMolecules.of(dataset(classes=(), labels=[0.0] * 8))
    assert set(unlabeled.labels) == {""}
    assert unlabeled.nearest(from_smiles("CCO", drug_schema(40))).remark == "in the training data"


def test_graphs_that_are_no_molecules_have_no_file(tmp_path):
    from graphflip.data.planted.motif import planted

    assert TrainingMolecules.of(planted(30, seed=0)) is None
    save_training_molecules(planted(30, seed=0), tmp_path)
    assert not (tmp_path / NEIGHBORS).exists()


def relabel(tensors, about):
    """Another table of the same form, which the checksum does not fit."""
    table = zlib.decompress(tensors["table"].numpy().tobytes()).replace(b"harmful", b"helpful")
    tensors["table"] = torch.frombuffer(bytearray(zlib.compress(table)), dtype=torch.uint8)


@pytest.mark.parametrize(
    "change",
    [
        relabel,
        lambda tensors, about: tensors.pop("table"),
        lambda tensors, about: tensors.update(table=tensors["table"].float()),
        lambda tensors, about: tensors["fingerprints"].add_(1),
        lambda tensors, about: about.update(count=9),
        lambda tensors, about: about.update(limit=None),
        lambda tensors, about: about.update(format=2),
        lambda tensors, about: about.pop("sha256"),
    ],
)
def test_a_wrong_file_is_named(known, tmp_path, change):
    path = tmp_path / NEIGHBORS
    known[1].save(path)
    tensors, metadata = read_tensors(path)
    tensors, about = {name: tensor.clone() for name, tensor in tensors.items()}, json.loads(metadata["about"])
    change(tensors, about)
    write_tensors(path, tensors, {"about": json.dumps(about)})
    with pytest.raises(ModelFileError, match=NEIGHBORS):
        TrainingMolecules.load(path)


def test_a_small_file_does_not_become_a_large_one(known, tmp_path, monkeypatch):
    known[1].save(tmp_path / NEIGHBORS)
    monkeypatch.setattr("graphflip.explain.neighbors._MOST_BYTES", 10)
    with pytest.raises(ModelFileError, match="longer than it may be"):
        TrainingMolecules.load(tmp_path / NEIGHBORS)


def test_explainers_find_the_nearest(explainer):
    assert [one.smiles for one in explainer.nearest("OCC", num=2)] == ["CCO", "CCCO"]
    alone = dataclasses.replace(explainer.kit, training=None)
    with pytest.raises(ConfigError, match="few"):
        Explainer(alone).nearest("CCO")


@pytest.fixture
def answer(explainer):
    before, after = (from_smiles(text, explainer.kit.schema) for text in ("CCO", "FCS"))
    plain = Counterfactual("x", "by hand", 1, before, after.pad(3), 0.2, 0.8, Outcome.FLIPPED)
    return explainer.assess(plain)


def test_an_answer_says_what_is_nearest(answer, explainer):
    evidence = answer.evidence
    assert list(evidence.nearest_factual.neighbors) == explainer.nearest("CCO")
    assert list(evidence.nearest_counterfactual.neighbors) == explainer.nearest("FCS")
    text, row = as_text(answer), explanation_row(answer, 1, "")
    for said in (text, row):
        assert "in the training data, labeled harmless" in said
        assert "changed: unlike anything it was trained on (nearest: CC" in said
    assert "nearest in the training data: CCO (harmless, the same), CCCO (harmless, " in text
    assert "<code>CCCO</code> harmless" in row


def test_records_keep_the_nearest(answer, explainer):
    record = json.loads(json.dumps(to_record(answer)))
    assert from_record(record, explainer.kit.schema).evidence == answer.evidence
    old = record | {"evidence": {k: v for k, v in record["evidence"].items() if not k.startswith("nearest")}}
    assert from_record(old, explainer.kit.schema).evidence.nearest_factual is None


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {},
        {"neighbors": [], "limit": 0.1},
        {"neighbors": [{}], "limit": 0.1},
        {"neighbors": ["CCO"], "limit": 0.1},
        {"neighbors": [{"id": "a", "smiles": "C", "label": 3, "similarity": 0.1}], "limit": 0.1},
        {"neighbors": [{"id": "a", "smiles": "C", "label": "b", "similarity": 7}], "limit": 0.1},
        {"neighbors": [{"id": "a", "smiles": "C", "label": "b", "similarity": 0.1}], "limit": "low"},
    ],
)
def test_wrong_evidence_is_named(stored):
    with pytest.raises(DataError, match="earest molecules"):
        Evidence.from_json({"nearest_factual": stored})


def test_texts_of_neighbors_are_escaped(answer):
    evil = Nearest((Neighbor("<b>", "<script>", "<i>", 0.1),), 0.2)
    row = explanation_row(dataclasses.replace(answer, evidence=Evidence(nearest_factual=evil)), 1, "")
    assert "<script>" not in row
    assert "<i>" not in row


def test_without_rdkit_kits_load_and_nothing_is_said_of_neighbors(answer, explainer, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    explainer.kit.training.save(tmp_path / NEIGHBORS)
    assert len(TrainingMolecules.load(tmp_path / NEIGHBORS).smiles) == len(TRAIN)
    with pytest.raises(MissingExtra):
        explainer.kit.training.nearest(answer.factual)
    assessor = Assessor(explainer.kit.classifier, training=explainer.kit.training)
    assert assessor.nearest(answer.factual, answer.counterfactual) == {}


@pytest.mark.parametrize("name", ["ames", "mutagenicity", "aids"])
def test_packaged_kits_of_molecules_know_their_training_data(name):
    kit = load_kit(name)
    assert set(kit.training.labels) == set(kit.classes)
    assert 0.1 < kit.training.limit < 0.5
    assert load_kit("nci1").training is None
