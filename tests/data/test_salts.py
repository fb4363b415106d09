"""Parents of salts and ions: the neutral molecule, however the salt is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.data.molecules.molecule import from_mol, from_smiles, molecule_schema
from graphflip.data.molecules.salts import parent_of
from graphflip.data.molecules.sdf import from_molblock
from graphflip.errors import DataError, SchemaError

IMPLICIT = molecule_schema(("C", "N", "O", "S", "Cl", "Na"), 30, explicit_hydrogens=False)
EXPLICIT = molecule_schema(("C", "N", "O", "S", "Cl", "H"), 50, explicit_hydrogens=True)
PARENTS = {
    "CC(=O)[O-].[Na+]": "CC(=O)O",
    "C[NH3+].[Cl-]": "CN",
    "Nc1ccccc1.Cl": "Nc1ccccc1",
    "[K+].[O-]S(=O)(=O)c1ccccc1": "OS(=O)(=O)c1ccccc1",
    "CC(=O)[O-].CC(=O)[O-].[Ca+2]": "CC(=O)O",
    "C[N+](C)(C)C.[Cl-]": "C[N+](C)(C)C",
    "[O-][N+](=O)c1ccccc1.O": "[O-][N+](=O)c1ccccc1",
    "[NH3+]CC(=O)[O-]": "NCC(=O)O",
    "OS(=O)(=O)O.CN": "CN",
    "CCO": "CCO",
    "[Na+].[Cl-]": "Cl",
}
COUNTERIONS = ["[Na+]", "[K+]", "[Ca+2]", "Cl", "[Cl-]", "[Br-]", "O", "OS(=O)(=O)O", "[NH4+]"]


@pytest.mark.parametrize("schema", [IMPLICIT, EXPLICIT], ids=["implicit", "explicit"])
@pytest.mark.parametrize(("salt", "parent"), PARENTS.items(), ids=list(PARENTS))
def test_the_parent_is_what_a_chemist_means(salt, parent, schema):
    wanted = from_smiles(parent, schema)
    assert from_smiles(salt, schema, parent=True) == wanted
    mol = Chem.MolFromSmiles(salt)
    assert from_mol(mol, schema, parent=True) == wanted
    assert from_molblock(Chem.MolToMolBlock(Chem.AddHs(mol)), schema, parent=True) == wanted


@given(st.sampled_from(sorted(PARENTS)), st.lists(st.sampled_from(COUNTERIONS), max_size=4), st.randoms())
def test_neither_ions_around_it_nor_spelling_change_the_parent(salt, others, random):
    parts = [*PARENTS[salt].split("."), *others]
    before = Chem.MolToSmiles(parent_of(Chem.MolFromSmiles(PARENTS[salt])))
    if "C" not in before.replace("Cl", ""):
        return
    random.shuffle(parts)
    assert Chem.MolToSmiles(parent_of(Chem.MolFromSmiles(".".join(parts)))) == before


@given(st.sampled_from(sorted(PARENTS)))
def test_a_parent_is_its_own_parent(salt):
    once = parent_of(Chem.MolFromSmiles(salt))
    assert Chem.MolToSmiles(parent_of(once)) == Chem.MolToSmiles(once)
    assert len(Chem.GetMolFrags(once)) == 1


def test_bonds_stay_as_they_are_written():
    rings = ["CC1=CC=CC=C1C(=O)", "CC=1C=CC=CC1C(=O)"]
    first, second = (from_smiles(f"{ring}[O-].[K+]", IMPLICIT, parent=True) for ring in rings)
    assert first != second
    for found, ring in ((first, rings[0]), (second, rings[1])):
        plain = from_smiles(f"{ring}O", IMPLICIT)
        assert (found.nodes(), found.edges()) == (plain.nodes(), plain.edges())


def test_a_molecule_that_nothing_sanitized_has_a_parent():
    assert Chem.MolToSmiles(parent_of(Chem.MolFromSmiles("CC(=O)[O-].[Na+]", sanitize=False))) == "CC(=O)O"


@pytest.mark.parametrize(("salt", "error"), [("CC(=O)[O-].[Na+]", DataError), ("CC(=O)[O-].[K+]", SchemaError)])
def test_a_salt_that_cannot_be_read_is_told_its_parent(salt, error):
    with pytest.raises(error, match=r"give CC\(=O\)O, or leave out `--as-is`"):
        from_smiles(salt, IMPLICIT)


@pytest.mark.parametrize("hopeless", ["[CH2]C", "[K+]", "C[N+](C)(C)CC(=O)[O-]"])
def test_no_parent_is_promised_that_cannot_be_read(hopeless):
    for parent in (False, True):
        with pytest.raises((DataError, SchemaError)) as caught:
            from_smiles(hopeless, IMPLICIT, parent=parent)
        assert "--as-is" not in str(caught.value)
