"""The charge rule: what it says of known groups, that order does not matter, and that RDKit agrees about valences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.chemistry import BOND_ORDERS, OTHER, Chemistry, surroundings
from graphflip.data.molecules.molecule import ELEMENTS, drug_schema
from graphflip.schema import Categories, Schema

IMPLICIT, EXPLICIT = (Chemistry(explicit_hydrogens=explicit) for explicit in (False, True))
NONMETALS = ("H", "B", "C", "N", "O", "F", "Si", "P", "S", "As", "Se", "Br", "I")

# name: symbols, bonds, charges; hydrogens left out
GROUPS = {
    "nitro": ("C N O O", [(0, 1, 1), (1, 2, 2), (1, 3, 1)], [0, 1, 0, -1]),
    "N-oxide": ("C C C N O", [(0, 3, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1)], [0, 0, 0, 1, -1]),
    "tetramethylammonium": ("N C C C C", [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)], [1, 0, 0, 0, 0]),
    "azide": ("C N N N", [(0, 1, 1), (1, 2, 2), (2, 3, 2)], [0, 0, 1, -1]),
    "diazo": ("C N N", [(0, 1, 2), (1, 2, 2)], [0, 1, -1]),
    "diazonium": ("C N N", [(0, 1, 1), (1, 2, 3)], [0, 1, 0]),
    "isonitrile": ("C N C", [(0, 1, 3), (1, 2, 1)], [-1, 1, 0]),
    "sulfonium": ("S C C C", [(0, 1, 1), (0, 2, 1), (0, 3, 1)], [1, 0, 0, 0]),
    "sulfoxide": ("S C C O", [(0, 1, 1), (0, 2, 1), (0, 3, 2)], [0, 0, 0, 0]),
    "phosphonium": ("P C C C C", [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)], [1, 0, 0, 0, 0]),
    "phosphinic acid": ("P C O O", [(0, 1, 1), (0, 2, 1), (0, 3, 2)], [0, 0, 0, 0]),
    "acid": ("C C O O", [(0, 1, 1), (1, 2, 2), (1, 3, 1)], [0, 0, 0, 0]),
    "sodium": ("Na", [], [1]),
    "hydrochloride": ("Cl", [], [0]),
}


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_charges_of_known_groups(group):
    symbols, bonds, charges = group
    assert IMPLICIT.formal_charges(symbols.split(), bonds) == charges


def test_chloride_needs_explicit_hydrogens():
    assert EXPLICIT.formal_charge("Cl", 0, 0) == -1
    assert IMPLICIT.formal_charge("Cl", 0, 0) == 0


@st.composite
def molecules(draw):
    n = draw(st.integers(1, 8))
    symbols = draw(st.lists(st.sampled_from(["C", "N", "O", "S", "P", "Cl", "Na", "H"]), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return symbols, [(i, j, draw(st.sampled_from([1, 2, 3]))) for i, j in chosen]


@given(molecules(), st.sampled_from([IMPLICIT, EXPLICIT]), st.randoms(use_true_random=False))
def test_charges_follow_their_atoms(molecule, chemistry, random):
    symbols, bonds = molecule
    order = random.sample(range(len(symbols)), len(symbols))  # atom i of the copy is atom order[i]
    place = {old: new for new, old in enumerate(order)}
    shuffled = [(place[j], place[i], bond) for i, j, bond in random.sample(bonds, len(bonds))]
    charges = chemistry.formal_charges(symbols, bonds)
    assert chemistry.formal_charges([symbols[i] for i in order], shuffled) == [charges[i] for i in order]
    unfilled = chemistry.unfilled(symbols, bonds)
    assert sorted(place[i] for i in unfilled) == chemistry.unfilled([symbols[i] for i in order], shuffled)


@given(molecules(), st.sampled_from([IMPLICIT, EXPLICIT]))
def test_what_is_filled_is_allowed(molecule, chemistry):
    for atom in surroundings(*molecule):
        if chemistry.is_filled(*atom):
            assert atom[1] in chemistry.allowed_valences(atom[0])


def test_explicit_hydrogens_are_counted_as_they_stand():
    assert EXPLICIT.is_filled("C", 4, 4)
    assert not EXPLICIT.is_filled("C", 3, 3)
    assert not EXPLICIT.is_filled("O", 1, 1)
    assert EXPLICIT.is_filled("O", 1, 1, beside_cation=True)
    assert IMPLICIT.is_filled("C", 3, 3)
    assert not IMPLICIT.is_filled("C", 5, 5)


@pytest.mark.parametrize("symbol", NONMETALS)
@pytest.mark.parametrize("chemistry", [IMPLICIT, EXPLICIT], ids=["implicit", "explicit"])
def test_allowed_valences_are_those_rdkit_accepts(symbol, chemistry):
    Chem = pytest.importorskip("rdkit.Chem", reason="set up with the extra `mol` to check valences against RDKit")
    rdBase = pytest.importorskip("rdkit.rdBase")
    for valence in range(9):
        for orders in ([1] * valence, [2] * (valence // 2) + [1] * (valence % 2)):
            mol = Chem.RWMol(Chem.MolFromSmiles(".".join(["C"] * len(orders))) if orders else Chem.Mol())
            center = mol.AddAtom(Chem.Atom(symbol))
            mol.GetAtomWithIdx(center).SetFormalCharge(chemistry.formal_charge(symbol, valence, len(orders)))
            for i, order in enumerate(orders):
                mol.AddBond(center, i, Chem.BondType.values[order])
            with rdBase.BlockLogs():
                accepted = Chem.SanitizeMol(mol, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE
            assert accepted == (valence in chemistry.allowed_valences(symbol)), (symbol, orders)


def test_max_valence_is_reached_bond_by_bond():
    for symbol in (*NONMETALS, "Cl", "Na", "Pt"):
        top = IMPLICIT.max_valence(symbol)
        assert set(range(top + 1)) <= set(IMPLICIT.allowed_valences(symbol))
        assert top + 1 not in IMPLICIT.allowed_valences(symbol)
    assert IMPLICIT.allowed_valences("Cl") == (0, 1, 7)  # perchlorate


@given(st.booleans())
def test_schema_with_chemistry_survives_json(explicit):
    schema = Schema(
        nodes=(Categories(name="type", values=("C", "O")),),
        edges=(Categories(name="type", values=tuple(BOND_ORDERS)),),
        max_nodes=5,
        chemistry=Chemistry(explicit_hydrogens=explicit),
    )
    again = Schema.model_validate_json(schema.model_dump_json())
    assert again == schema == Schema.from_dict(schema.to_dict())
    assert hash(again) == hash(schema)
    assert schema != schema.model_copy(update={"chemistry": Chemistry(explicit_hydrogens=not explicit)})


@pytest.mark.parametrize("charge", range(-2, 4))
@pytest.mark.parametrize("symbol", [name for name in ELEMENTS if name not in (OTHER, "Na", "K")])
def test_hydrogens_of_ions_are_those_of_rdkit(symbol, charge):
    chemistry = Chemistry(explicit_hydrogens=False, stored_charges=True)
    for valence in range(max(chemistry.ion_valences(symbol, charge), default=-1) + 1):
        mol = Chem.RWMol()
        mol.AddAtom(Chem.Atom(symbol))
        mol.GetAtomWithIdx(0).SetFormalCharge(charge)
        for k in range(valence):
            mol.AddAtom(Chem.Atom("C"))
            mol.AddBond(0, k + 1, Chem.BondType.SINGLE)
        Chem.SanitizeMol(mol)
        assert mol.GetAtomWithIdx(0).GetTotalNumHs() == chemistry.num_hydrogens(symbol, charge, valence)


def test_valences_beyond_the_largest_have_no_hydrogens():
    chemistry = Chemistry(explicit_hydrogens=False, stored_charges=True)
    assert chemistry.num_hydrogens("C", 0, 5) is None
    assert chemistry.num_hydrogens(OTHER, 0, 1) is None
    assert chemistry.num_hydrogens("C", 3, 0) is None


def test_stored_charges_need_a_column_and_implied_hydrogens():
    with pytest.raises(ValueError, match="implied"):
        Chemistry(explicit_hydrogens=True, stored_charges=True)
    with pytest.raises(ValueError, match="charge"):
        Schema(max_nodes=3, chemistry=Chemistry(explicit_hydrogens=False, stored_charges=True))


def test_old_schemas_are_written_as_before():
    assert Chemistry(explicit_hydrogens=True).model_dump() == {"explicit_hydrogens": True}
    stored = drug_schema().to_dict()
    assert Schema.from_dict(stored) == drug_schema()
