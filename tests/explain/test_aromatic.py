"""Frozen rings of molecules: what RDKit finds aromatic before it finds aromatic afterwards."""

import pytest

import graphflip as gf
from graphflip.explain.constraints import Constraints
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.restrictions import Restrictions
from graphflip.explain.moves.rings.aromatic import AromaticRings
from graphflip.explain.moves.sketch import Sketch
from graphflip.jsongraph import aligned_pair

pytest.importorskip("rdkit", reason="install graphflip[mol] to read molecules")

from graphflip.data.molecules.building import sanitize_mol, unchecked_mol
from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.explain.moves.apply import apply_differences

MOLECULES = [
    "CCn1cc(C(=O)O)c(=O)c2cc(F)c(-c3ccncc3)c(F)c21",
    "O=[N+]([O-])c1ccco1",
]
SCHEMAS = {"charged": drug_schema(30), "hydrogens": molecule_schema(("C", "N", "O", "S", "H"), 24, True)}


def aromatic_bonds(graph: gf.Graph) -> set[tuple[int, ...]] | None:
    """Aromatic bonds by slot, from the graph itself."""
    slots, mol = [i for i, node in enumerate(graph.nodes()) if node is not None], unchecked_mol(graph, 0)
    if sanitize_mol(mol) is not None:
        return None
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds() if bond.GetIsAromatic()]
    return {tuple(sorted((slots[i], slots[j]))) for i, j in bonds}


@pytest.mark.parametrize("kit", ["ames", "mutagenicity"])
def test_aromatic_rings_stay_aromatic(kit):
    explainer = gf.load(kit)
    for smiles in MOLECULES:
        found = explainer.explain(smiles, constraints=Constraints(freeze_rings=True))
        before, after = aligned_pair(found.factual, found.counterfactual)
        assert (aromatic_bonds(before) or set()) <= (aromatic_bonds(after) or set()), found.smiles


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("smiles", ["O=[N+]([O-])c1ccco1", "O=c1cc[nH]cc1", "c1ccsc1"])
def test_the_quick_look_misses_no_move_that_breaks_a_ring(schema, smiles):
    """Every move that no frozen edge forbids is judged as a whole molecule is."""
    factual = from_smiles(smiles, schema)
    before, wanted = Sketch.of(factual), aromatic_bonds(factual)
    assert wanted
    rings = AromaticRings.of(before, schema)
    edges = Restrictions.of(Constraints(freeze_rings=True), before, schema).edges
    kept = {True: 0, False: 0}
    for _, after in Moves(schema).steps(before, before):
        difference = Difference.between(before, after)
        if edges.isdisjoint(difference.edges):
            bonds = aromatic_bonds(apply_differences(factual, [difference]))
            stays = bonds is not None and wanted <= bonds
            assert rings.stay(difference) is stays
            kept[stays] += 1
    assert all(kept.values())
