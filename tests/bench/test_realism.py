"""Outside measures of answers by hand, whose every figure can be told."""

import math

import pytest
import torch

pytest.importorskip("rdkit", reason="install graphflip[mol] to read molecules")

from graphflip.bench.realism import REALISM, RealismScorer, realism_figures
from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.edits import Edit, apply_edits
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier

CHARGED = drug_schema(16)
CLASSES = ("mutagen", "nonmutagen")


class SeesNitrogen(AbstractClassifier):
    """Class 0 (mutagen) if there is a nitrogen, else class 1."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        return graph.V[:, :, self.schema.node_type.values.index("N")].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([embedding - 0.5, 0.5 - embedding], 1)


def scorer(schema=CHARGED, classes=CLASSES):
    graphs = [from_smiles(smiles, schema) for smiles in ("Nc1ccccc1", "CCO")]
    dataset = GraphDataset.from_graphs("by hand", graphs, torch.tensor([0, 1]), classes)
    return RealismScorer(Kit("by hand", SeesNitrogen(schema), Knowledge.mine(dataset), classes))


def answer(before: Graph, after: Graph | None, target: int) -> Counterfactual:
    return Counterfactual("x", "by hand", target, before, after, 0.1, 0.9, Outcome.FLIPPED, classes=CLASSES)


def atom(slot: int, old: str, new: str) -> Edit:
    return Edit("set_node", (slot,), {"type": old}, {"type": new})


def measured(found: Counterfactual, by: RealismScorer | None = None) -> dict[str, float]:
    columns = (by or scorer()).score([found])
    assert tuple(columns) == REALISM
    return {name: float(column[0]) for name, column in columns.items() if not math.isnan(float(column[0]))}


def test_aniline_to_phenol():
    aniline = from_smiles("Nc1ccccc1", CHARGED)
    found = measured(answer(aniline, apply_edits(aniline, [atom(0, "N", "O")]), 1))
    assert found.pop("similarity") == pytest.approx(0.375, abs=0.2)
    assert found == {
        "aromatic_kept": 1, "scaffold_kept": 1, "rings_known": 1, "sa_up_le1": 1, "new_stereo": 0, "halogens_added": 0,
        "changes": 1, "alerts_toward.nonmutagen": 1, "alerts_toward_all.nonmutagen": 1, "class_minimal": 1,
    }  # fmt: skip


def test_phenol_to_chloroaniline_is_two_changes_of_which_one_is_enough():
    phenol = from_smiles("Oc1ccccc1", CHARGED)
    add = [Edit("add_node", (7,), {}, {"type": "Cl", "charge": "0"}), Edit("add_edge", (4, 7), {}, {"type": "single"})]
    found = measured(answer(phenol, apply_edits(phenol, [atom(0, "O", "N"), *add]), 0))
    assert found["changes"] == 2
    assert found["halogens_added"] == 1
    assert found["class_minimal"] == 0
    assert found["alerts_toward.mutagen"] == found["alerts_toward_all.mutagen"] == 1


def test_a_broken_ring_is_seen():
    benzene = from_smiles("C1=CC=CC=C1", CHARGED)
    opened = apply_edits(benzene, [Edit("set_edge", (0, 1), {"type": "double"}, {"type": "single"})])
    found = measured(answer(benzene, opened, 0))
    assert found["aromatic_kept"] == found["scaffold_kept"] == 0
    assert found["alerts_toward.mutagen"] == 0


def test_where_no_alert_was_none_can_go():
    methylamine = from_smiles("CN", CHARGED)
    found = measured(answer(methylamine, apply_edits(methylamine, [atom(1, "N", "O")]), 1))
    assert found["alerts_toward_all.nonmutagen"] == 0
    assert "alerts_toward.nonmutagen" not in found


def test_alerts_are_asked_of_mutagens_only():
    aniline = from_smiles("Nc1ccccc1", CHARGED)
    found = measured(answer(aniline, apply_edits(aniline, [atom(0, "N", "O")]), 1), scorer(classes=("a", "b")))
    assert not [name for name in found if name.startswith("alerts")]


def test_what_is_no_molecule_keeps_nothing():
    explicit = molecule_schema(("C", "N", "O", "H", "F"), 20, explicit_hydrogens=True)
    methane = from_smiles("C", explicit)
    wrong = apply_edits(methane, [atom(0, "C", "F")])
    found = measured(answer(methane, wrong, 1), scorer(explicit))
    assert found["aromatic_kept"] == found["rings_known"] == found["similarity"] == 0
    assert "new_stereo" not in found


def test_hydrogens_that_follow_are_no_change():
    explicit = molecule_schema(("C", "N", "O", "H", "F"), 20, explicit_hydrogens=True)
    ethane, ethanol = from_smiles("CC", explicit), from_smiles("CCO", explicit)
    swapped = apply_edits(ethane, [atom(2, "H", "O")])
    swapped = apply_edits(
        swapped, [Edit("add_node", (8,), {}, {"type": "H"}), Edit("add_edge", (2, 8), {}, {"type": "single"})]
    )
    found = measured(answer(ethane, swapped, 0), scorer(explicit))
    assert found["changes"] == 1
    assert (
        found["similarity"] == measured(answer(from_smiles("CC", explicit), ethanol, 0), scorer(explicit))["similarity"]
    )


def test_without_an_answer_there_is_nothing_to_measure():
    assert measured(answer(from_smiles("CN", CHARGED), None, 1)) == {}


def test_figures_are_means_over_flips():
    part = {name: torch.tensor([1.0, 0.0, 0.0]) for name in REALISM} | {"flip_ratio": torch.tensor([1.0, 1.0, 0.0])}
    figures = realism_figures([part])
    assert {figures[name] for name in REALISM} == {0.5}


def test_rings_of_real_molecules():
    graphs = [from_smiles(smiles, CHARGED) for smiles in ("c1ccncc1", "CCO", "C1=CC=CN=CC1=O")]
    real = GraphDataset.from_graphs("real", graphs, torch.tensor([0, 1, 1]), CLASSES)
    assert scorer().rings_known(real) == pytest.approx(2 / 3)
