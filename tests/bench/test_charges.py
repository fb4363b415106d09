"""Benchmarks of molecules with stored charges: a case by hand, whose every figure can be told."""

import pytest
import torch

pytest.importorskip("rdkit", reason="install graphflip[mol] to read molecules")

from graphflip.bench.nitro import nitro_groups, touches_nitro
from graphflip.bench.quality.limit import SingleEdits
from graphflip.bench.score import Scorer
from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema, to_smiles
from graphflip.data.molecules.validity import is_molecule, is_radical_free, num_fragments
from graphflip.edits import edits_between
from graphflip.explain.claims.validity import Validity
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.moves.apply import apply_differences
from graphflip.graph import Graph
from graphflip.jsongraph import aligned_pair
from graphflip.models.networks.classifier import AbstractClassifier

CHARGED = drug_schema(14)
NITROBENZENE = "O=[N+]([O-])c1ccccc1"
REAL = (NITROBENZENE, "O=C(O)c1ccccc1", "Nc1ccccc1", "C[N+](C)(C)CC(=O)[O-]", "C[S+](C)C", "C[As](C)C", "CN=[N+]=[N-]")


class SeesCations(AbstractClassifier):
    """Class 0 (mutagen) if an atom has the charge +1, else class 1."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema
        self.column = schema.nodes[0].width + schema.nodes[1].values.index("+1")

    def embed(self, graph):
        return graph.V[:, :, self.column].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([embedding - 0.5, 0.5 - embedding], 1)


@pytest.fixture(scope="module")
def scorer():
    graphs = [from_smiles(smiles, CHARGED) for smiles in REAL]
    labels = torch.tensor([int("+" not in smiles) for smiles in REAL])
    dataset = GraphDataset.from_graphs("by hand", graphs, labels, ("mutagen", "nonmutagen"))
    model = SeesCations(CHARGED)
    kit = Kit("by hand", model, Knowledge.mine(dataset), dataset.classes, judges={"trees": model})
    return Scorer.of(kit, dataset, ged_seconds=0.05)


def test_real_molecules_are_as_real_ones_are(scorer):
    shares = ("molecule", "radical_free", "round_trip", "nafr_other")
    assert {name: scorer.real.figures[name] for name in shares} == dict.fromkeys(shares, 1.0)


def test_a_nitro_group_that_becomes_a_carboxy_group_is_scored(scorer):
    before, after = aligned_pair(from_smiles(NITROBENZENE, CHARGED), from_smiles("O=C(O)c1ccccc1", CHARGED))
    measures = scorer.score([Counterfactual("x", "by hand", 1, before, after, 0.1, 0.9, Outcome.FLIPPED)])
    expected = {"flip_ratio": 1, "nafr_other": 1, "nitro_touched": 1, "molecule": 1, "radical_free": 1, "round_trip": 1}
    assert {name: float(measures[name]) for name in expected} == expected
    assert float(measures["edits"]) == float(measures["ged"]) == 2, "N+ becomes C, O- becomes O"


def test_nitro_groups_are_found_by_stored_charges():
    nitro, ester = from_smiles(NITROBENZENE, CHARGED), from_smiles("O=C(O)c1ccccc1", CHARGED)
    away = from_smiles("O=[N+]([O-])c1ccccn1", CHARGED)
    assert nitro_groups(nitro) == [{0, 1, 2}]
    assert not nitro_groups(ester)
    assert touches_nitro(nitro, edits_between(nitro, ester)) is True
    assert touches_nitro(nitro, edits_between(nitro, away)) is False


STARS = {
    "a part": "C",
    "two parts": "CN",
    "filled": "CHHHH",
    "a radical": "CHH",
    "too many bonds": "CHHHHH",
    "salt": "CHHHHK",
}


@pytest.mark.parametrize("atoms", STARS.values(), ids=STARS)
@pytest.mark.parametrize("explicit", [True, False])
def test_validity_says_what_the_checks_of_molecules_say(atoms, explicit):
    """Stars of hydrogens around the first atom; other atoms stand apart. Where gradients are off, it is kept."""
    schema = molecule_schema(("C", "N", "K", "H"), 9, explicit)
    edges = [(0, i, {"type": "single"}) for i, atom in enumerate(atoms) if atom == "H"]
    graph = Graph.build(schema, [{"type": atom} for atom in atoms], edges)
    for kept in (False, True):
        with torch.set_grad_enabled(not kept):
            found = Validity.of(graph)
            assert (Validity.of(graph) is found) == kept
        assert found.num_parts == int(num_fragments(graph))
        assert (found.filled, found.molecule) == (bool(is_radical_free(graph)), bool(is_molecule(graph, None)))


def test_stored_charges_count_as_they_are():
    assert Validity.of(from_smiles("CC(=O)[O-]", CHARGED)).charge == 1
    assert Validity.of(from_smiles("C[N+](C)(C)CC(=O)[O-]", CHARGED)).charge == 0


def test_single_edits_give_no_ion_too_many_bonds_and_create_nothing_unnamed():
    graph = from_smiles("C[N+](=O)[O-]", CHARGED)
    for changed in apply_differences(graph, list(SingleEdits(CHARGED).steps(graph))):
        assert to_smiles(changed) is not None
        assert "other" not in {node["type"] for node in changed.nodes() if node}
