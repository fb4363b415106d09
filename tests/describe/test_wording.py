"""Edits in words: every edit is said once, and groups have the names that chemists give them."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.chemistry import Chemistry
from graphflip.data.molecules.molecule import drug_schema
from graphflip.describe.group_names import GROUPS, _names
from graphflip.describe.wording import describe, sentences
from graphflip.edits import apply_edits, edits_between
from graphflip.explain import Counterfactual, Outcome
from graphflip.graph import Graph
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
SIZES = st.integers(0, 9)


def molecules(explicit: bool, *elements: str) -> Schema:
    return Schema(
        nodes=(Categories(name="type", values=elements),),
        edges=(Categories(name="type", values=("single", "double", "triple")),),
        max_nodes=40,
        chemistry=Chemistry(explicit_hydrogens=explicit),
    )


EXPLICIT = molecules(True, "C", "N", "O", "S", "Cl", "Br", "Na", "H")
IMPLIED = molecules(False, "C", "N", "O", "S", "Cl", "Br")
HYDROCARBONS = molecules(True, "C", "H")
CHARGED = drug_schema(40)


def assert_said_once(factual: Graph, counterfactual: Graph) -> None:
    said = sentences(factual, counterfactual)
    covered = Counter(edit for sentence in said for edit in sentence.edits)
    assert covered == Counter(edits_between(factual, counterfactual))
    assert all(sentence.text and sentence.edits for sentence in said)
    # Nothing but hydrogens is passed over in silence.
    spoken = {i for sentence in said for i in sentence.nodes}
    silent = {i for edit in covered for i in edit.at} - spoken
    nodes = [graph.nodes() for graph in (factual, counterfactual)]
    assert all({part[i]["type"] for part in nodes if i < len(part) and part[i]} == {"H"} for i in silent)


@given(seed=SEEDS, n=SIZES, m=SIZES)
def test_every_edit_is_said_once(seed, n, m):
    schema = random_schema(seed)
    assert_said_once(*(random_graph(schema, n=k, num_graphs=1, seed=seed + k) for k in (n, m)))


@given(seed=SEEDS, n=SIZES, m=SIZES, schema=st.sampled_from([EXPLICIT, IMPLIED, HYDROCARBONS, CHARGED]))
def test_every_edit_of_what_is_hardly_a_molecule_is_said_once(seed, n, m, schema):
    pytest.importorskip("rdkit", reason="install graphflip[mol] to name groups")
    assert_said_once(*(random_graph(schema, n=k, num_graphs=1, seed=seed + k) for k in (n, m)))


def moved(smiles: str, edits: list, schema: Schema = EXPLICIT) -> list[str]:
    """What is said of a molecule after single changes: (slot, element or None) or (slot, slot, bond or None).

    Hydrogens of all atoms are filled in anew by way of SMILES, in slots of their own.
    """
    pytest.importorskip("rdkit", reason="install graphflip[mol] to name groups")
    from graphflip.data.molecules.molecule import from_smiles

    factual = from_smiles(smiles, schema)
    return [sentence.text for sentence in sentences(factual, changed(factual, edits))]


def changed(factual: Graph, edits: list) -> Graph:
    """The factual with other heavy atoms and bonds, and hydrogens that fill valences, old ones where they can stay."""
    nodes = {i: node["type"] for i, node in enumerate(factual.nodes())}
    bonds = {(i, j): edge["type"] for i, j, edge in factual.edges()}
    for *at, new in edits:
        if len(at) == 1:
            nodes[at[0]] = new
        else:
            bonds[tuple(sorted(at))] = new
    nodes = {i: kind for i, kind in nodes.items() if kind}
    bonds = {pair: kind for pair, kind in bonds.items() if set(pair) <= nodes.keys()}
    if factual.schema.chemistry.explicit_hydrogens:
        fill(nodes, bonds)
    n = max(nodes) + 1
    listed = [nodes.get(i) for i in range(n)]
    slots = [i for i in range(n) if listed[i]]
    number = {slot: k for k, slot in enumerate(slots)}
    edges = [(number[i], number[j], {"type": kind}) for (i, j), kind in bonds.items()]
    packed = Graph.build(factual.schema, [{"type": listed[i]} for i in slots], edges)
    order = slots + [i for i in range(n) if i not in number]
    back = sorted(range(n), key=lambda k: order[k])
    return packed.pad(n).permute(torch.tensor(back))


def fill(nodes: dict, bonds: dict) -> None:
    """Add and remove hydrogens until C, N, O, S and halogens have 4, 3, 2, 2, 1 bonds (N+ and O- are left alone)."""
    orders = {"single": 1, "double": 2, "triple": 3}
    wanted = {"C": 4, "N": 3, "O": 2, "S": 6, "Cl": 1, "Br": 1, "Na": 1}
    for i in [i for i, kind in nodes.items() if kind != "H"]:
        near = [pair for pair in bonds if i in pair]
        valence = sum(orders[bonds[pair]] for pair in near)
        beside_cation = any(nodes[a + b - i] == "N" for a, b in near) and nodes[i] == "O"
        if beside_cation or (nodes[i] == "N" and valence > 3):
            continue
        hydrogens = [a + b - i for a, b in near if nodes[a + b - i] == "H"]
        for _ in range(valence - wanted[nodes[i]]):
            gone = hydrogens.pop()
            nodes.pop(gone)
            bonds.pop(tuple(sorted((i, gone))))
        for _ in range(wanted[nodes[i]] - valence):
            new = max(nodes) + 1
            nodes[new] = "H"
            bonds[(i, new)] = "single"
    for i in [i for i, kind in nodes.items() if kind == "H" and not any(i in pair for pair in bonds)]:
        nodes.pop(i)


NITROBENZENE = "O=[N+]([O-])c1ccccc1"


@pytest.mark.parametrize(
    ("smiles", "edits", "expected"),
    [
        (NITROBENZENE, [(0, None), (2, None), (1, "H")], ["replace nitro group on C3 by hydrogen"]),
        (NITROBENZENE, [(0, None), (1, None), (2, None)], ["replace nitro group on C3 by hydrogen"]),
        (NITROBENZENE, [(1, "C")], ["replace nitro group on C3 by carboxy group"]),
        ("Nc1ccccc1", [(0, "C")], ["replace amino group on C1 by methyl group"]),
        ("Nc1ccccc1", [(0, None), (20, "Cl"), (1, 20, "single")], ["replace amino group on C1 by chloro group"]),
        ("CCC", [(3, "Cl")], ["add chloro group to C0"]),
        ("CCC", [(3, "Na")], ["add group -[Na] to C0"]),
        ("CCC", [(20, "O"), (1, 20, "single")], ["add hydroxy group to C1"]),
        ("CCNCC", [(2, "C")], ["replace ethylamino group on C1 by propyl group"]),
        ("C1CCNCC1", [(3, "C")], ["change N3 to C"]),
        ("CC=CC", [(1, 2, "single")], ["change bond C1=C2 to single"]),
        ("C1CCCCC1", [(0, 3, "single")], ["add bond C0-C3"]),
        ("C1CCCCC1", [(20, "O"), (0, 20, "single"), (1, 20, "single")], ["close an epoxide ring over C0 and C1"]),
        (
            "CCCCCCCC(=O)NCC",
            [(11, None), (10, None), (9, None), (8, None), (7, None)],
            ["replace group -C(=O)NCC on C6 by hydrogen"],
        ),
    ],
)
def test_a_chemist_would_say_so(smiles, edits, expected):
    found = moved(smiles, edits)
    assert found == expected


def test_hydrogens_that_are_implied_need_no_word():
    assert moved("COc1ccccc1", [(0, None), (1, None)], IMPLIED) == ["remove methoxy group from C2"]
    assert moved("Cc1ccccc1", [(7, "Cl"), (3, 7, "single")], IMPLIED) == ["add chloro group to C3"]


def test_hydrogens_by_themselves_are_counted():
    graph = Graph.build(
        EXPLICIT, [{"type": "C"}] + [{"type": "H"}] * 4, [(0, k, {"type": "single"}) for k in range(1, 5)]
    )
    bare = Graph.build(EXPLICIT, [{"type": "C"}] + [{"type": "H"}] * 2, [(0, k, {"type": "single"}) for k in (1, 2)])
    assert [one.text for one in sentences(graph, bare)] == ["remove 2 hydrogens from C0"]
    assert [one.text for one in sentences(bare, graph)] == ["add 2 hydrogens to C0"]


def test_parts_that_hang_on_nothing_are_told_together():
    water = [{"type": "O"}, {"type": "O"}, {"type": "N"}]
    one, more = Graph.build(IMPLIED, water[:1], []), Graph.build(IMPLIED, water, [])
    assert [sentence.text for sentence in sentences(one, more)] == ["add O1 and N2"]
    assert [sentence.text for sentence in sentences(more, one)] == ["remove O1 and N2"]


def test_names_of_groups_are_for_different_groups():
    pytest.importorskip("rdkit", reason="install graphflip[mol] to name groups")
    assert len(_names()) == len(GROUPS) == len(set(GROUPS.values()))


def test_numbers_and_other_graphs():
    schema = Schema(
        nodes=(Categories(name="kind", values=("1", "2")), Continuous(name="x"), Continuous(name="y")),
        edges=(Continuous(name="length"),),
        max_nodes=5,
        directed=True,
    )

    def node(kind: str, x: float, y: float) -> dict:
        return {"kind": kind, "x": x, "y": y}

    before = Graph.build(
        schema, [node("1", 0.31, 0.0), node("1", 1.0, 0.0), node("2", 0.0, 0.0)], [(1, 0, {"length": 2.0})]
    )
    after = Graph.build(
        schema,
        [node("1", 0.78, 0.0), node("2", 1.0, 0.5), node("2", 0.0, 0.0), node("1", 0.5, 0.0)],
        [(1, 0, {"length": 3.0}), (3, 0, {"length": 1.0}), (1, 3, {"length": 1.0})],
    )
    assert [one.text for one in sentences(before, after)] == [
        "add node 3 (kind 1, x 0.5, y 0) joined to node 0 and node 1",
        "x of node 0: 0.31 → 0.78",
        "kind of node 1: 1 → 2; y: 0 → 0.5",
        "length of edge 1->0: 2 → 3",
    ]


def test_an_explanation_is_described_and_printed():
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=3)
    before = Graph.build(schema, [{"type": "a"}, {"type": "a"}], [(0, 1, {})])
    after = apply_edits(before, edits_between(before, Graph.build(schema, [{"type": "b"}, {"type": "a"}], [])))
    found = Counterfactual("x", "test", 1, before, after, 0.1, 0.9, Outcome.FLIPPED)
    assert describe(found) == ["remove edge a0-a1", "change a0 to b"]
    assert all(f"  {text}\n" in f"{found}\n" for text in describe(found))
    assert describe(Counterfactual("x", "test", 1, before, None, 0.1, None, Outcome.NOTHING_TO_OFFER)) == []
