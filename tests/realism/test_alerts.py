"""Structural alerts: each is found in molecules that have it, and not in those that a chemist would not name so."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

import graphflip
from graphflip.realism.alerts import ALERTS, POLYCYCLIC, alerts_moved, count_alerts

EXAMPLES: dict[str, tuple[dict[str, int], list[str]]] = {
    "aromatic nitro": (
        {"O=[N+]([O-])c1ccccc1": 1, "O=[N+]([O-])c1ccc(o1)C=O": 1, "O=[N+]([O-])c1cccc([N+](=O)[O-])c1": 2},
        ["C[N+](=O)[O-]", "O=[N+]([O-])c1ccc(C(F)(F)F)cc1", "O=[N+]([O-])c1ccc(S(N)(=O)=O)cc1", "c1ccccc1[N+](C)(C)C"],
    ),
    "primary aromatic amine": (
        {"Nc1ccccc1": 1, "Nc1ccc(cc1)-c1ccc(N)cc1": 2, "Nc1ncc2c(n1)ccc1ccccc12": 1},
        ["NCc1ccccc1", "CC(=O)Nc1ccccc1", "Nc1ccc(S(=O)(=O)O)cc1", "Nc1ccc(S(N)(=O)=O)cc1", "Nc1ccccc1C(=O)O", "NN"],
    ),
    "aromatic methylamine": (
        {"CNc1ccccc1": 1, "CN(C)c1ccccc1": 1},
        ["CCNc1ccccc1", "CC(=O)N(C)c1ccccc1", "CN(N=O)c1ccccc1", "CNCc1ccccc1", "CNc1ccc(S(=O)(=O)O)cc1"],
    ),
    "aromatic hydroxylamine or its ester": (
        {"ONc1ccccc1": 1, "CC(=O)ONc1ccccc1": 1, "CC(=O)N(O)c1ccc2c(c1)Cc1ccccc1-2": 1},
        ["CNO", "CONc1ccccc1", "Oc1ccccc1"],
    ),
    "nitroso": ({"O=Nc1ccccc1": 1, "CC(C)(C)N=O": 1}, ["CN(C)N=O", "CON=O", "C=NO", "O=[N+]([O-])c1ccccc1"]),
    "N-nitroso": ({"CN(C)N=O": 1, "CN(N=O)C(N)=O": 1}, ["CC(C)(C)N=O", "CON=O", "CN(C)[N+](=O)[O-]"]),
    "alkyl nitrite": ({"CCCCON=O": 1}, ["CCCCO[N+](=O)[O-]", "CN(C)N=O"]),
    "N-nitro": ({"CN(C)[N+](=O)[O-]": 1}, ["CN(C)N=O", "C[N+](=O)[O-]"]),
    "three-membered ring with O, N or S": (
        {"C1CO1": 1, "CC1CN1": 1, "C1CS1": 1, "C1OC1CC1CO1": 2},
        ["C1CC1", "C1COC1", "C1CCO1"],
    ),
    "azide": ({"CCN=[N+]=[N-]": 1, "[N-]=[N+]=Nc1ccccc1": 1}, ["C=[N+]=[N-]", "CN=NC"]),
    "diazo": ({"CCOC(=O)C=[N+]=[N-]": 1}, ["CCN=[N+]=[N-]", "CC=N"]),
    "diazonium": ({"N#[N+]c1ccccc1": 1}, ["N#Cc1ccccc1", "C[N+]#[C-]"]),
    "triazene": ({"CN(C)N=Nc1ccccc1": 1}, ["CN=NC", "c1ccc2[nH]nnc2c1"]),
    "aromatic azo": (
        {"c1ccccc1N=Nc1ccccc1": 1, "OS(=O)(=O)c1ccc(cc1)N=Nc1ccccc1": 1},
        ["CN=NC", "OS(=O)(=O)c1ccc(cc1)N=Nc1c(O)ccc2cc(S(=O)(=O)O)ccc12", "CN(C)N=Nc1ccccc1"],
    ),
    "aromatic azoxy": ({"c1ccccc1N=[N+]([O-])c1ccccc1": 1}, ["c1ccccc1N=Nc1ccccc1", "CN=[N+]([O-])C"]),
    "aliphatic azo or azoxy": ({"CN=[N+]([O-])CO": 2, "CN=Nc1ccccc1": 1}, ["c1ccccc1N=Nc1ccccc1", "CC=NN"]),
    "hydrazine or hydrazone": ({"CNN": 1, "NNC(=O)c1ccncc1": 1, "NNc1nncc2ccccc12": 1}, ["CNNC", "CN", "CC(N)=O"]),
    "substituted hydrazine": ({"CNNC": 1, "c1ccccc1NNc1ccccc1": 1}, ["CNN", "CC(=O)NNC(C)=O", "CN(C)N=O"]),
    "hydroxylamine": ({"CNO": 1, "CC(=O)NO": 1}, ["CC=NO", "ONc1ccccc1", "C[N+](=O)[O-]", "CON"]),
    "hydroperoxide": ({"CC(C)(C)OO": 1}, ["CC(C)(C)OOC(C)(C)C", "CO"]),
    "aliphatic halide": (
        {"CCBr": 1, "ClCCl": 2, "ClCc1ccccc1": 1, "BrCC(Br)CCl": 3},
        ["CCF", "Clc1ccccc1", "CC(C)(C)Cl", "FC(F)(F)Cl", "CC(=O)Cl", "ClCCN(C)CCCl", "ClC=C"],
    ),
    "nitrogen or sulfur mustard": ({"CN(CCCl)CCCl": 2, "ClCCSCCCl": 2}, ["ClCCOCCCl", "CN(C)CCCCl", "CNCCO"]),
    "acyl halide": ({"CC(=O)Cl": 1, "CN(C)C(=O)Cl": 1}, ["CC(=O)CCl", "CC(=O)O", "O=S(=O)(Cl)c1ccccc1"]),
    "sulfonate or sulfate ester": (
        {"CCOS(C)(=O)=O": 1, "COS(=O)(=O)OC": 2},
        ["CS(=O)(=O)O", "CS(=O)(=O)Oc1ccccc1", "COP(=O)(OC)OC"],
    ),
    "small lactone or sultone": ({"O=C1CCO1": 1, "O=S1(=O)CCCO1": 1}, ["O=C1CCCO1", "O=C1CCN1", "C1COC1"]),
    "unsaturated aldehyde": ({"C=CC=O": 1, "CC=CC=O": 1}, ["CCC=O", "C=CC(C)=O", "O=Cc1ccccc1"]),
    "quinone": (
        {"O=C1C=CC(=O)C=C1": 1, "O=C1c2ccccc2C(=O)c2c1cccc2O": 1},
        ["Oc1ccc(O)cc1", "O=C1CCC(=O)CC1", "O=c1cc[nH]cc1"],
    ),
    "isocyanate or isothiocyanate": ({"O=C=Nc1ccccc1": 1, "C=CCN=C=S": 1}, ["CC#N", "CSC#N", "CNC=O"]),
    "vinyl halide": ({"C=CCl": 1, "ClC=CCl": 2}, ["ClC(Cl)=C(Cl)Cl", "Clc1ccccc1", "C=CCCl"]),
    "unsaturated ether": ({"C=COCC": 1, "C1=COC2C1c1ccccc1O2": 1}, ["c1ccoc1", "C=CCOC", "COc1ccccc1"]),
    "aromatic N-oxide": ({"[O-][n+]1ccccc1": 1}, ["C[n+]1ccccc1", "C[N+](C)(C)[O-]"]),
    POLYCYCLIC: (
        {
            "c1ccc2c(c1)ccc1ccccc12": 1,
            "c1cc2ccc3cccc4ccc(c1)c2c34": 1,
            "c1ccc2c(c1)-c1cccc3cccc-2c13": 1,
            "c1ccc2nc3ccccc3cc2c1": 1,
            "c1ccc2[nH]c3ccccc3c2c1": 1,
            "c1ccc2cc3ccccc3cc2c1CCc1c2ccccc2cc2ccccc12": 2,
        },
        ["c1ccc2ccccc2c1", "c1ccc(cc1)-c1ccccc1-c1ccccc1", "c1ccc2c(c1)Cc1ccccc1-2", "C1CCC2C(C1)CCC1CCCCC12"],
    ),
}
HARMLESS = [
    "CCO",
    "CC(=O)O",
    "OCC(O)CO",
    "NC(Cc1ccccc1)C(=O)O",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "Cn1c(=O)c2c(ncn2C)n(C)c1=O",
]


def mol(smiles: str) -> Chem.Mol:
    return Chem.MolFromSmiles(smiles)


def test_every_alert_has_examples():
    assert list(EXAMPLES) == [*(alert.name for alert in ALERTS), POLYCYCLIC]
    assert all(Chem.MolFromSmarts(alert.smarts) is not None for alert in ALERTS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_alerts_are_found_where_they_are(name):
    having, lacking = EXAMPLES[name]
    assert {smiles: count_alerts(mol(smiles)).get(name, 0) for smiles in having} == having
    assert {smiles: count_alerts(mol(smiles)).get(name, 0) for smiles in lacking} == dict.fromkeys(lacking, 0)


@pytest.mark.parametrize("smiles", HARMLESS)
def test_harmless_molecules_have_no_alert(smiles):
    assert count_alerts(mol(smiles)) == {}


ANY = st.sampled_from([smiles for having, lacking in EXAMPLES.values() for smiles in [*having, *lacking]])


@given(ANY, st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order_of_atoms(smiles, random):
    order = list(range(mol(smiles).GetNumAtoms()))
    random.shuffle(order)
    assert count_alerts(Chem.RenumberAtoms(mol(smiles), order)) == count_alerts(mol(smiles))


@given(ANY, ANY)
def test_a_change_and_its_reverse_move_alerts_oppositely(first, second):
    assert alerts_moved(mol(first), mol(second)) == -alerts_moved(mol(second), mol(first))
    assert alerts_moved(mol(first), mol(first)) == 0


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("O=[N+]([O-])c1ccccc1", "Cc1ccccc1", -1),
        ("Cc1ccccc1", "Nc1ccccc1", 1),
        ("O=[N+]([O-])c1ccccc1", "Nc1ccccc1", 0),
        ("O=[N+]([O-])c1ccccc1", "O=[N+]([O-])c1ccc(C(F)(F)F)cc1", -1),
        ("ClCCl", "CCl", -1),
        ("c1ccc2cc3ccccc3cc2c1", "c1ccc2ccccc2c1", -1),
    ],
)
def test_known_moves(before, after, moved):
    assert alerts_moved(mol(before), mol(after)) == moved


def test_no_search_uses_alerts():
    """The answer must be the classifier's, not the textbook's: only measures and evidence may import the alerts."""
    source = Path(graphflip.__file__).parent
    files = [*(source / "explain" / "edits").glob("*.py"), *(source / "explain" / "moves").rglob("*.py")]
    files += (source / "explain" / "latent").glob("*.py")
    imports = [
        node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)
    ]
    assert imports
    assert not [
        node for node in imports if "alerts" in (node.module or "") or any(n.name == "alerts" for n in node.names)
    ]
