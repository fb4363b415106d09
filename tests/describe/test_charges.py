"""Words for molecules with stored charges: charges are part of what else changes, or protons that come and go."""

from collections import Counter

import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to name groups")

from graphflip.data.molecules.molecule import drug_schema, from_smiles
from graphflip.describe.wording import sentences
from graphflip.edits import edits_between
from graphflip.graph import Graph
from graphflip.jsongraph import graph_from_json

CHARGED = drug_schema(40)
NITROBENZENE, OXIDE = "O=[N+]([O-])c1ccccc1", "[O-][n+]1ccccc1"


def changed(smiles: str, atoms: dict, bonds: dict) -> tuple[Graph, Graph]:
    """A molecule before and after: atoms by slot as "N+1" or None, bonds by their ends as a type or None."""
    factual = from_smiles(smiles, CHARGED)
    nodes = dict(enumerate(factual.nodes())) | {i: _node(text) for i, text in atoms.items()}
    edges = {(i, j): edge["type"] for i, j, edge in factual.edges()} | bonds
    there = {i for i, node in nodes.items() if node}
    stored = {
        "nodes": [nodes.get(i) for i in range(max(there) + 1)],
        "edges": [[i, j, {"type": kind}] for (i, j), kind in edges.items() if kind and {i, j} <= there],
    }
    return factual, graph_from_json(stored, CHARGED)


def _node(text: str | None) -> dict | None:
    if text is None:
        return None
    symbol = text.rstrip("+-0123456789")
    return {"type": symbol, "charge": text.removeprefix(symbol) or "0"}


@pytest.mark.parametrize(
    ("smiles", "atoms", "bonds", "expected"),
    [
        (NITROBENZENE, {0: None, 1: None, 2: None}, {}, ["replace nitro group on C3 by hydrogen"]),
        (NITROBENZENE, {1: "C", 2: "O"}, {}, ["replace nitro group on C3 by carboxy group"]),
        (NITROBENZENE, {0: None, 1: "N", 2: None}, {}, ["replace nitro group on C3 by amino group"]),
        (NITROBENZENE, {1: "N", 2: None}, {}, ["replace nitro group on C3 by nitroso group"]),
        (OXIDE, {0: None, 1: "N"}, {}, ["remove the oxide oxygen from N1"]),
        ("n1ccccc1", {6: "O-1", 0: "N+1"}, {(0, 6): "single"}, ["add an oxide oxygen to N0"]),
        (OXIDE, {0: "O", 1: "C"}, {}, ["change N1 to C"]),
        ("COc1ccccc1", {0: None, 1: None}, {}, ["replace methoxy group on C2 by hydrogen"]),
        ("CN=[N+]=[N-]", {1: None, 2: None, 3: None}, {}, ["replace azide group on C0 by hydrogen"]),
        ("CN=[N+]=[N-]", {2: None, 3: None}, {}, ["replace azide group on C0 by amino group"]),
        ("CC=[N+]=[N-]", {2: None, 3: None}, {}, ["replace diazo group on C1 by hydrogen"]),
        ("C1CC[N+]2(CC1)CC2", {3: None, 6: None, 7: None}, {}, ["remove N3, C6 and C7 joined to C2 and C4"]),
        ("C[NH3+]", {1: None}, {}, ["replace ammonium group on C0 by hydrogen"]),
        ("c1ccccc1C(=O)[O-]", {6: None, 7: None, 8: None}, {}, ["replace carboxylate group on C5 by hydrogen"]),
        ("CC(=O)[O-]", {3: None}, {}, ["replace the carboxylate oxygen on C1 by hydrogen"]),
        (
            "C[S+](C)C",
            {0: None, 1: "S"},
            {},
            ["replace dimethylsulfonium group on C2 by methylsulfanyl group"],
        ),
        ("C[N+](C)(C)CCO", {0: None, 1: "N"}, {}, ["replace trimethylammonium group on C4 by dimethylamino group"]),
        ("C[n+]1ccccc1", {0: None, 1: "N"}, {}, ["remove methyl group from N1"]),
        ("CC(=O)[O-]", {3: "O"}, {}, ["protonate the carboxylate oxygen O3"]),
        ("CC(=O)O", {3: "O-1"}, {}, ["deprotonate the carboxylic acid oxygen O3"]),
        ("CC(=O)NC", {3: "N-1"}, {}, ["deprotonate N3"]),
        ("C[NH2+]C", {1: "N"}, {}, ["deprotonate the ammonium nitrogen N1"]),
        ("C[S+](C)C", {1: "S"}, {}, ["change the charge of S1 from +1 to 0"]),
        ("C1CCCCC1", {2: "N+1"}, {}, ["change C2 to N+"]),
        ("C1CCCCC1", {6: "N+1"}, {(0, 6): "single", (1, 6): "single"}, ["add N6 (charge +1) joined to C0 and C1"]),
        ("C1CCCCC1", {6: "O"}, {(0, 6): "single", (1, 6): "single"}, ["close an epoxide ring over C0 and C1"]),
        ("C[As](C)c1ccccc1", {1: "N"}, {}, ["change the other atom 1 to N"]),
        ("[As]c1ccccc1", {0: None}, {}, ["replace the other atom on C1 by hydrogen"]),
        ("CC[As](C)CC", {}, {(1, 2): "double"}, ["change bond C1-*2 to double"]),
        (
            "NC(Cc1ccccc1)C(=O)[O-]",
            {11: "O", 12: "Cl"},
            {(4, 12): "single"},
            ["add chloro group to C4", "protonate the carboxylate oxygen O11"],
        ),
    ],
)
def test_a_chemist_would_say_so(smiles, atoms, bonds, expected):
    factual, counterfactual = changed(smiles, atoms, bonds)
    said = sentences(factual, counterfactual)
    assert [sentence.text for sentence in said] == expected
    covered = Counter(edit for sentence in said for edit in sentence.edits)
    assert covered == Counter(edits_between(factual, counterfactual))
