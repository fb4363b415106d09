"""Ring systems have one name wherever they occur, and aromatic rings are kept, changed as a whole, or broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.realism.rings import aromatic_kept, ring_systems

SYSTEMS = {
    "CCO": [],
    "Oc1ccccc1": ["c1ccccc1"],
    "C1=CC=CC=C1Cl": ["c1ccccc1"],
    "[O-]c1ccccc1": ["c1ccccc1"],
    "Cn1cccc1": ["c1cc[nH]c1"],
    "C[n+]1ccccc1": ["c1ccncc1"],
    "[O-][n+]1ccccc1": ["c1ccncc1"],
    "C[N+]1(C)CCCC1": ["C1CCNC1"],
    "c1cc[o+]cc1": ["c1cc[o+]cc1"],
    "O=C1CCCC1Cc1ccc2[nH]ccc2c1": ["O=C1CCCC1", "c1ccc2[nH]ccc2c1"],
    "CC1CC2(CC1)OCCO2": ["C1CCC2(C1)OCCO2"],
    "CON=C1CCCCC1": ["N=C1CCCCC1"],
    "CC(C)=C1CCCCC1": ["C=C1CCCCC1"],
    "C[C@H]1CC[C@@H](O)CC1": ["C1CCCCC1"],
    "Cn1c(=O)c2c(ncn2C)n(C)c1=O": ["O=c1[nH]c(=O)c2[nH]cnc2[nH]1"],
    "C1CCCCC1=C1CCCCC1": ["C=C1CCCCC1", "C=C1CCCCC1"],
    "CC1CC2CCC1C2": ["C1CC2CCC1C2"],
}
DRUGS = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21",
    "Clc1ccccc1C1=NCC(=O)Nc2ccc([N+](=O)[O-])cc12",
    "COc1ccc2c(c1)c(CC(=O)O)c(C)n2C(=O)c1ccc(Cl)cc1",
    "OC1CC2CCC(C1)N2C",
    "O=C1c2ccccc2C(=O)c2ccccc21",
    "Nc1nc2[nH]cnc2c(=O)[nH]1",
    "CN1CCC23c4c5ccc(O)c4OC2C(O)C=CC3C1C5",
]
SUBSTITUENTS = ["C", "O", "F", "C(=O)O", "S(=O)(=O)C", "[N+](=O)[O-]", "CC1CC1"]


@pytest.mark.parametrize(("smiles", "systems"), SYSTEMS.items(), ids=list(SYSTEMS))
def test_ring_systems_are_named(smiles, systems):
    assert sorted(one.smiles for one in ring_systems(Chem.MolFromSmiles(smiles))) == sorted(systems)


@given(st.sampled_from(DRUGS), st.randoms(use_true_random=False))
def test_names_do_not_depend_on_how_a_molecule_is_written(smiles, random):
    mol = Chem.MolFromSmiles(smiles)
    order = list(range(mol.GetNumAtoms()))
    random.shuffle(order)
    other = Chem.RenumberAtoms(mol, order)
    again = [(one.smiles, tuple(sorted(order[k] for k in one.atoms))) for one in ring_systems(other)]
    assert sorted(again) == sorted((one.smiles, one.atoms) for one in ring_systems(mol))


@given(st.sampled_from(DRUGS), st.sampled_from(SUBSTITUENTS), st.integers(0, 40))
def test_a_substituent_leaves_the_ring_system_as_it_is(smiles, substituent, at):
    mol = Chem.MolFromSmiles(smiles)
    systems = ring_systems(mol)
    free = [k for one in systems for k in one.atoms if mol.GetAtomWithIdx(k).GetTotalNumHs()]
    place = free[at % len(free)]
    both = Chem.RWMol(Chem.CombineMols(mol, Chem.MolFromSmiles(substituent)))
    both.GetAtomWithIdx(place).SetNumExplicitHs(0)
    both.AddBond(place, mol.GetNumAtoms(), Chem.BondType.SINGLE)
    Chem.SanitizeMol(both)
    assert {one.smiles for one in systems} <= {one.smiles for one in ring_systems(both)}


@pytest.mark.parametrize("smiles", DRUGS)
def test_a_ring_system_is_its_own_ring_system(smiles):
    for one in ring_systems(Chem.MolFromSmiles(smiles)):
        assert [again.smiles for again in ring_systems(Chem.MolFromSmiles(one.smiles))] == [one.smiles]


# Atoms with the same number after the colon are the same atom before and after the change.
KEPT = {
    "benzene to pyridine": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[n:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1"),
    "benzene to cyclohexane": (
        "[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
        "[CH2:1]1[CH2:2][CH2:3][CH2:4][CH2:5][CH2:6]1",
    ),
    "benzene to piperidine": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[NH:1]1[CH2:2][CH2:3][CH2:4][CH2:5][CH2:6]1"),
    "benzene to thiophene, two CH by S": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "s1[cH:2][cH:3][cH:4][cH:5]1"),
    "benzene to thiophene, one CH gone": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[s:1]1[cH:2][cH:3][cH:4][cH:5]1"),
    "pyrrole to pyridine": ("[nH:1]1[cH:2][cH:3][cH:4][cH:5]1", "[n:1]1[cH:2][cH:3][cH:4][cH:5]c1"),
    "phenyl to cyclopentyl": ("C[c:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "C[CH:1]1[CH2:2][CH2:3][CH2:4][CH2:5]1"),
    "phenyl to methyl": ("[CH3:7][c:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[CH3:7][CH3:1]"),
    "phenyl taken away": ("[OH:8][CH2:7]c1ccccc1", "[OH:8][CH3:7]"),
    "naphthalene to tetralin": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "[CH2:1]1[CH2:2][CH2:3][CH2:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
    ),
    "naphthalene to decalin": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "[CH2:1]1[CH2:2][CH2:3][CH2:4][CH:5]2[CH2:6][CH2:7][CH2:8][CH2:9][CH:10]12",
    ),
    "naphthalene to benzene": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "[cH:5]2[cH:6][cH:7][cH:8][cH:9][cH:10]2",
    ),
    "naphthalene to benzothiophene": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "s1[cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
    ),
    "naphthalene to quinoline by another atom": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "n1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
    ),
    "indole to aniline": (
        "[nH:1]1[cH:2][cH:3][c:4]2[cH:5][cH:6][cH:7][cH:8][c:9]12",
        "[NH2:1][c:9]1[cH:4][cH:5][cH:6][cH:7][cH:8]1",
    ),
    "indole to indoline": (
        "[nH:1]1[cH:2][cH:3][c:4]2[cH:5][cH:6][cH:7][cH:8][c:9]12",
        "[NH:1]1[CH2:2][CH2:3][c:4]2[cH:5][cH:6][cH:7][cH:8][c:9]12",
    ),
    "anthracene to its 9,10-dihydride": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][c:7]3[cH:8][cH:9][cH:10][cH:11][c:12]3[cH:13][c:14]12",
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[CH2:6][c:7]3[cH:8][cH:9][cH:10][cH:11][c:12]3[CH2:13][c:14]12",
    ),
    "nitrobenzene to aniline": (
        "O=[N+:7]([O-])[c:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
        "[NH2:7][c:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
    ),
    "pyridine to pyridone": ("[n:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[nH:1]1[c:2](=O)[cH:3][cH:4][cH:5][cH:6]1"),
    "no ring at all": ("[CH3:1][OH:2]", "[CH3:1][NH2:2]"),
    "a ring that was not aromatic is opened": ("[CH2:1]1[CH2:2][CH2:3]1", "[CH3:1][CH2:2][CH3:3]"),
}
BROKEN = {
    "benzene to cyclohexadiene": (
        "[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
        "[CH2:1]1[CH2:2][CH:3]=[CH:4][CH:5]=[CH:6]1",
    ),
    "benzene to cyclohexene": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[CH2:1]1[CH2:2][CH:3]=[CH:4][CH2:5][CH2:6]1"),
    "benzene to hexatriene": ("[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1", "[CH2:1]=[CH:2][CH:3]=[CH:4][CH:5]=[CH2:6]"),
    "phenol to quinone": (
        "[OH:7][c:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
        "[O:7]=[C:1]1[CH:2]=[CH:3][C:4](=O)[CH:5]=[CH:6]1",
    ),
    "benzene with an sp3 carbon": (
        "[cH:1]1[cH:2][cH:3][cH:4][cH:5][cH:6]1",
        "Cl[C:1]1(Cl)[CH:2]=[CH:3][C:4](=C)[CH:5]=[CH:6]1",
    ),
    "naphthalene to its 1,2-dihydride": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "[CH2:1]1[CH2:2][CH:3]=[CH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
    ),
    "naphthalene cut to vinylbenzene": (
        "[cH:1]1[cH:2][cH:3][cH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][c:10]12",
        "[CH2:3]=[CH:4][c:5]2[cH:6][cH:7][cH:8][cH:9][cH:10]2",
    ),
    "pyrene with chlorine on two inner carbons": (
        "[cH:1]1[cH:2][cH:3][c:4]2[cH:5][cH:6][c:7]3[cH:8][cH:9][cH:10][c:11]4[cH:12][cH:13][c:14]1[c:15]2[c:16]34",
        "[CH:1]1=[CH:2][CH:3]=[C:4]2[CH:5]=[CH:6][C:7]3=[CH:8][CH:9]=[CH:10][C:11]4=[CH:12][CH:13]="
        "[C:14]1[C:15]2(Cl)[C:16]34Cl",
    ),
    "carbazole to diphenylamine": (
        "[nH:1]1[c:2]2[cH:3][cH:4][cH:5][cH:6][c:7]2[c:8]2[cH:9][cH:10][cH:11][cH:12][c:13]12",
        "[NH:1]([c:2]2[cH:3][cH:4][cH:5][cH:6][cH:7]2)[c:13]1[cH:8][cH:9][cH:10][cH:11][cH:12]1",
    ),
    "acridine with a wider middle ring": (
        "[n:1]1[c:2]2[cH:3][cH:4][cH:5][cH:6][c:7]2[cH:8][c:9]2[cH:10][cH:11][cH:12][cH:13][c:14]12",
        "[NH:1]1CCCC[c:2]2[cH:3][cH:4][cH:5][cH:6][c:7]2[CH2:8][c:9]2[cH:10][cH:11][cH:12][cH:13][c:14]12",
    ),
}


def changed(before: str, after: str) -> tuple[Chem.Mol, Chem.Mol, dict[int, int]]:
    first, second = Chem.MolFromSmiles(before), Chem.MolFromSmiles(after)
    assert first is not None, before
    assert second is not None, after
    numbers = {atom.GetAtomMapNum(): atom.GetIdx() for atom in second.GetAtoms() if atom.GetAtomMapNum()}
    kept = {atom.GetIdx(): numbers.get(atom.GetAtomMapNum()) for atom in first.GetAtoms()}
    return first, second, {index: other for index, other in kept.items() if other is not None}


@pytest.mark.parametrize("pair", KEPT.values(), ids=list(KEPT))
def test_rings_kept_or_changed_as_a_whole(pair):
    assert aromatic_kept(*changed(*pair))


@pytest.mark.parametrize("pair", BROKEN.values(), ids=list(BROKEN))
def test_rings_broken(pair):
    assert not aromatic_kept(*changed(*pair))


@pytest.mark.parametrize("smiles", DRUGS)
def test_a_molecule_keeps_its_own_rings(smiles):
    mol = Chem.MolFromSmiles(smiles)
    assert aromatic_kept(mol, mol, {k: k for k in range(mol.GetNumAtoms())})


@given(st.sampled_from([*KEPT.values(), *BROKEN.values()]), st.randoms(use_true_random=False))
def test_the_verdict_does_not_depend_on_the_order_of_atoms(pair, random):
    before, after, kept = changed(*pair)
    order = list(range(after.GetNumAtoms()))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    moved = {first: place[second] for first, second in kept.items()}
    assert aromatic_kept(before, Chem.RenumberAtoms(after, order), moved) == aromatic_kept(before, after, kept)
