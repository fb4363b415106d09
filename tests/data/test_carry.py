"""What a model does not see is carried along: stereo, isotopes, counter-ions, elements, charges as they are drawn."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import AllChem

from graphflip.data.inputs import InputRow, read_graph, source_text
from graphflip.data.molecules.carry import carry
from graphflip.data.molecules.drawn import write_source
from graphflip.data.molecules.molecule import drug_schema, from_mol, from_smiles, molecule_schema, to_smiles
from graphflip.edits import Edit, apply_edits
from graphflip.graph import Graph
from graphflip.schema import Schema

DRUG = drug_schema()
ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Na", "K")
IMPLICIT = molecule_schema(ELEMENTS, 100, explicit_hydrogens=False)
EXPLICIT = molecule_schema((*ELEMENTS, "H"), 200, explicit_hydrogens=True)
SCHEMAS = {"stored": DRUG, "implicit": IMPLICIT, "explicit": EXPLICIT}
every_schema = pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
MOLECULES = [
    "C[C@H](N)C(=O)O",
    "C[C@@H]([NH3+])C(=O)[O-]",
    "CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)[O-].[Na+]",
    r"C/C=C/C(=O)N(CC)c1ccccc1C",
    r"C/C=C\C=C\[C@@H](O)CC(/C)=N/O",
    "CN1[C@H]2CC[C@@H]1[C@H]([C@H](C2)OC(=O)c3ccccc3)C(=O)OC",
    "C[C@]12CC[C@H]3[C@H]([C@@H]1CC[C@@H]2O)CCC4=CC(=O)CC[C@]34C",
    "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)[O-].[K+]",
    "[2H]C([2H])([2H])Oc1ccccc1",
    "[13CH3][C@H](O)C(=O)O",
    "[H]/N=C(/C)N",
    "C[S@](=O)c1ccccc1",
    "C[S+]([O-])c1ccccc1.O",
    "CCCC[N+](C)(C)C.[Br-].O.O",
    "O[C@H]([C@@H](O)C(=O)O)C(=O)O.C[C@H](N)Cc1ccccc1",
    r"CN(C)CCOC(c1ccccc1)c1ccccn1.OC(=O)/C=C\C(O)=O",
    "[O-][n+]1ccccc1[C@@H](F)Cl",
    "c1ccc2[nH]c(CC)nc2c1.Cl",
    "CC(C)(C)[C@H](N)C1CC1",
    r"F/C(Cl)=C(/Br)[C@](O)(C)CC",
]


CASES = {schema: [(text, from_smiles(text, schema, parent=True)) for text in MOLECULES] for schema in SCHEMAS.values()}


@every_schema
def test_what_does_not_change_is_written_as_it_was_given(schema):
    for text, graph in CASES[schema]:
        for after in (graph, graph.pad(schema.max_nodes)):
            pair = carry(text, graph, after)
            assert pair.factual == pair.counterfactual == Chem.CanonSmiles(text), text


def changed(graph: Graph, slot: int, kind: str) -> Graph | None:
    """The graph with one atom replaced, removed if it is a terminal one, or added; None if that is no molecule."""
    nodes, edges = graph.nodes(), graph.edges()
    node, near = nodes[slot] or {}, [(i, j, edge) for i, j, edge in edges if slot in (i, j)]
    edits = []
    if kind == "remove" and len(near) == 1:
        edits = [Edit("remove_edge", near[0][:2], near[0][2], {}), Edit("remove_node", (slot,), node, {})]
    elif kind == "add":
        edits = [
            Edit("add_node", (len(nodes),), {}, node | {"type": "F"} | ({"charge": "0"} if "charge" in node else {})),
            Edit("add_edge", (slot, len(nodes)), {}, {"type": "single"}),
        ]
    elif kind in ELEMENTS and node["type"] != kind:
        edits = [Edit("set_node", (slot,), {"type": node["type"]}, {"type": kind})]
    after = apply_edits(graph, edits)
    return after if to_smiles(after) else None


KINDS = ("remove", "add", "N", "O", "S")


def flat(smiles: str, schema: Schema) -> Counter[str | None]:
    """The parts of a molecule as the schema knows them: without stereo, isotopes and charges as they are drawn."""
    return Counter(to_smiles(from_smiles(part, schema, strict=False)) for part in smiles.split("."))


@every_schema
@given(st.integers(0, 2**20))
@settings(max_examples=40)
def test_the_changed_molecule_is_that_of_the_graph(schema, seed):
    # Of ions that hydrogens as nodes make of odd changes, SMILES do not tell how much of the charge was drawn.
    cases = CASES[schema] if schema is not EXPLICIT else [case for case in CASES[schema] if not set("+-") & {*case[0]}]
    rng = random.Random(seed)
    text, graph = rng.choice(cases)
    heavy = [slot for slot, node in enumerate(graph.nodes()) if node["type"] != "H"]
    after = changed(graph, rng.choice(heavy), rng.choice(KINDS))
    if after is None:
        return
    written, own = flat(carry(text, graph, after).counterfactual, schema), flat(to_smiles(after), schema)
    assert own <= written
    assert written - own <= flat(text, schema)


ALONE = [(text, graph) for text, graph in CASES[DRUG] if "." not in text and "H]" not in text.replace("@H]", "")]


@given(st.integers(0, 2**20))
@settings(max_examples=60)
def test_spelling_plays_no_part(seed):
    """The same change of the same molecule, its atoms in another order, is the same molecule with the same stereo."""
    rng = random.Random(seed)
    mol = Chem.MolFromSmiles(rng.choice(ALONE)[0])
    order = rng.sample(range(mol.GetNumAtoms()), mol.GetNumAtoms())
    slot, kind = rng.randrange(len(order)), rng.choice(KINDS)
    other = Chem.RenumberAtoms(mol, order)
    found = []
    for given_mol, place in ((mol, slot), (other, order.index(slot))):
        graph = from_mol(given_mol, DRUG)
        after = changed(graph, place, kind)
        found.append(after and carry(write_source(given_mol), graph, after))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("text", "slot", "kind", "expected"),
    [
        ("C[C@H](N)CCO", 5, "N", "C[C@H](N)CCN"),
        ("C[C@H](N)CCO", 0, "O", "NC(O)CCO"),
        ("C[C@H](N)CCO", 2, "remove", "CCCCO"),
        ("[13CH3]CCO", 3, "N", "[13CH3]CCN"),
        ("[13CH3]CCO", 0, "N", "NCCO"),
        ("[2H]C([2H])([2H])CO", 2, "N", "[2H]C([2H])([2H])CN"),
        ("[2H]C([2H])([2H])CO", 0, "add", "OCCF"),
        (r"C/C=C/CCO", 5, "S", r"C/C=C/CCS"),
        (r"C/C=C/CCO", 0, "O", "OC=CCCO"),
        ("[Na+].[O-]C(=O)CO", 4, "N", "NCC(=O)[O-].[Na+]"),
        ("[Na+].[O-]C(=O)CC.O", 0, "remove", "CCC=O.O"),
        ("C[As](C)CO", 4, "N", "C[As](C)CN"),
        ("CC[TeH]", 0, "N", "NC[TeH]"),
    ],
)
def test_what_is_kept_and_what_is_not(text, slot, kind, expected):
    graph = from_smiles(text, DRUG, parent=True)
    assert carry(text, graph, changed(graph, slot, kind)).counterfactual == Chem.CanonSmiles(expected)


def test_a_slot_that_becomes_a_hydrogen_is_implied():
    before, after = (from_smiles(text, EXPLICIT) for text in ("C[C@H](N)CO", "C[C@H](N)C"))
    edits = [Edit("set_node", (4,), {"type": "O"}, {"type": "H"})]
    for i, j, edge in before.edges():
        if i == 4:
            edits += [Edit("remove_edge", (i, j), edge, {}), Edit("remove_node", (j,), before.nodes()[j], {})]
    changed_graph = apply_edits(before, sorted(edits, key=lambda edit: edit.op != "remove_edge"))
    assert changed_graph == after
    assert carry("C[C@H](N)CO", before, changed_graph).counterfactual == "CC(C)N"


@every_schema
def test_molecules_and_records_of_files_are_carried_as_texts_are(schema):
    for text, graph in CASES[schema]:
        mol = Chem.MolFromSmiles(text)
        rng = random.Random(len(text))
        order = rng.sample(range(mol.GetNumAtoms()), mol.GetNumAtoms())
        shuffled = Chem.RenumberAtoms(mol, order)
        AllChem.Compute2DCoords(shuffled)
        row = InputRow(1, "a", "molblock", Chem.MolToMolBlock(shuffled))
        for given_input in (shuffled, row, Chem.AddHs(shuffled)):
            read, source = read_graph(given_input, schema), source_text(given_input)
            assert read == graph
            assert carry(source, read, None).factual == Chem.CanonSmiles(text), source


def test_what_is_left_out_is_said():
    def remarks(text, slot=None, kind="add", schema=DRUG):
        graph = from_smiles(text, schema, parent=True)
        return carry(text, graph, None if slot is None else changed(graph, slot, kind)).remarks

    assert remarks("CCO", 0) == ()
    assert remarks("[Na+].[O-]C(=O)C", 0, "remove") == (
        "The largest part was explained; left out, because its charge changes: sodium (Na+).",
    )
    assert remarks("OCC.Cl.Cl.CCCC[N+](C)(C)C.[Br-]") == (
        "The largest part was explained; left out and carried along: "
        "bromide (Br-), ethanol (C2H6O), 2 × hydrogen chloride (HCl).",
    )
    assert remarks("CC[O-].[K+]", schema=IMPLICIT) == (
        "The neutral form of the largest part was explained; left out and carried along: potassium (K+).",
    )
    assert remarks("C[C@H](N)[C@H](F)CC[C@@H](F)Cl", 0, "N") == (
        "Stereo marks are not seen by the model; kept at 2 of 3 places, where nothing changed.",
    )
    assert remarks("[13CH3]C") == ("Isotopes are not seen by the model.",)
    assert remarks("C[As](C)C[Hg]C") == ("As (atom 1), Hg (atom 4) are not known to the model, read as 'other'.",)
    assert "maleic acid (C4H4O4)" in remarks(r"NCCCCCCCC.OC(=O)/C=C\C(O)=O")[0]


def test_a_source_that_does_not_fit_is_not_used():
    graph = from_smiles("CCO", DRUG)
    for source in ("", "CCN", "C(", "OCC", "[13CH3]CC"):
        assert carry(source, graph, graph) == ("CCO", "CCO", ())
