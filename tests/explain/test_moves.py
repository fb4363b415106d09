"""Laws of moves: what comes out is valid, the edits lead there, and the fast ways agree with the slow ones."""

import json
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.building import atoms_and_bonds
from graphflip.data.molecules.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.molecules.validity import is_molecule, is_radical_free
from graphflip.data.planted.motif import planted
from graphflip.edits import apply_edits, edits_between, heavy_edits
from graphflip.errors import DataError, SchemaError
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.atoms.counting import counted_part
from graphflip.explain.moves.atoms.valence import Valence
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.fragments import Fragment, FragmentVocabulary
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.revert import reverted
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.testing import random_graph, random_schema

ELEMENTS = ("C", "N", "O", "S", "Cl", "H")
EXPLICIT = molecule_schema(ELEMENTS, max_nodes=40, explicit_hydrogens=True)
IMPLICIT = molecule_schema(ELEMENTS[:-1], max_nodes=20, explicit_hydrogens=False)
SMILES = ["C[N+](=O)[O-]", "CC=O", "C1CC1C#N", "CN=[N+]=[N-]", "CS(=O)(=O)C", "CCl.CN"]
NITRO = Fragment(
    nodes=(("N",), ("O",), ("O",)), edges=((0, 1, ("double",)), (0, 2, ("single",))), link=("single",), count=9
)
METHOXY = Fragment(nodes=(("O",), ("C",)), edges=((0, 1, ("single",)),), link=("single",), count=5)
VOCABULARY = FragmentVocabulary(fragments=(NITRO, METHOXY), max_nodes=3)
CASES = [from_smiles(text, schema) for text in SMILES for schema in (EXPLICIT, IMPLICIT)]
molecules = pytest.mark.parametrize("graph", CASES, ids=lambda graph: to_smiles(graph))


@cache
def moves_of(graph, vocabulary=VOCABULARY):
    return Moves(graph.schema, vocabulary).valid(graph)


def after_all(graph, moves):
    before = Sketch.of(graph)
    return apply_differences(graph, [Difference.between(before, move.after) for move in moves])


def num_parts(graph, k=0):
    return len(Sketch.of(graph, k).parts())


def net_charge(graph, k=0):
    return sum(graph.schema.chemistry.formal_charges(*atoms_and_bonds(graph, k)))


@pytest.mark.parametrize("schema", [EXPLICIT, IMPLICIT], ids=["explicit", "implicit"])
@pytest.mark.parametrize("known", [False, True])
def test_moves_that_remember_other_molecules_list_the_same(schema, known):
    single, double = ("single",), ("double",)
    bonds = frozenset({(("C",), single, ("C",)), (("C",), single, ("O",)), (("N",), double, ("O",))}) if known else None
    kept = Moves(schema, VOCABULARY, bonds)
    sketches = [Sketch.of(from_smiles(text, schema)) for text in SMILES]
    listed = [[family[:4] for family in kept.families(each, each)] for _ in range(2) for each in sketches]
    anew = [[family[:4] for family in Moves(schema, VOCABULARY, bonds).families(each, each)] for each in sketches]
    assert listed == [*anew, *anew]


@molecules
def test_moves_of_molecules_lead_to_molecules(graph):
    moves = moves_of(graph)
    after = after_all(graph, moves)
    assert bool(is_molecule(after, num_parts(graph)).all())
    assert bool(is_radical_free(after).all())
    for k in range(len(after)):
        assert abs(net_charge(after, k)) <= abs(net_charge(graph))


@molecules
def test_edits_of_moves_are_those_between_the_graphs_and_apply(graph):
    moves = moves_of(graph)
    for k in range(0, len(moves), 1 + len(moves) // 20):
        wide = apply_differences(graph, [Difference.between(Sketch.of(graph), moves[k].after)])
        assert moves[k].edits == edits_between(graph, wide)
        applied = apply_edits(graph, moves[k].edits).pad(wide.num_slots)
        assert all(torch.equal(getattr(applied, part), getattr(wide, part)) for part in "BVAE")
        Graph(wide.B, wide.V, wide.A, wide.E, wide.schema)


@settings(max_examples=15)
@given(st.integers(0, 2**16), st.integers(1, 5))
def test_moves_of_any_graph_fit_its_schema_and_do_not_split_it(seed, n):
    schema = random_schema(seed, max_nodes=7)
    graph = random_graph(schema, n=n, num_graphs=1, seed=seed)
    moves = moves_of(graph, FragmentVocabulary())
    for move in moves[:: 1 + len(moves) // 15]:
        after = apply_edits(graph, move.edits)
        Graph(after.B, after.V, after.A, after.E, schema)
        assert 1 <= num_parts(after) <= max(num_parts(graph), 1)


@settings(max_examples=10)
@given(st.integers(0, 2**16))
def test_every_single_edit_that_does_not_split_a_graph_is_among_the_moves(seed):
    """Against a slow obvious list: all attributes, all pairs, all leaves."""
    graph = planted(2, seed=seed, min_nodes=4, max_nodes=5).graphs(0)
    found = {tuple(move.edits) for move in moves_of(graph, FragmentVocabulary())}
    nodes, edges = graph.nodes(), {(i, j): attributes for i, j, attributes in graph.edges()}
    expected = []
    for i, node in enumerate(nodes):
        if node is not None:
            expected += [
                ("set_node", (i,), value) for value in ("gray", "green", "blue", "red") if value != node["type"]
            ]
            expected += [
                ("set_edge" if (i, j) in edges else "add_edge", (i, j), value)
                for j in range(i + 1, len(nodes))
                if nodes[j] is not None
                for value in ("thin", "thick")
                if edges.get((i, j), {}).get("type") != value
            ]
    single = {(e.op, e.at, e.after.get("type")) for (e, *rest) in found if not rest and e.op != "remove_edge"}
    assert single == set(expected)
    cut = {e.at for (e, *rest) in found if not rest and e.op == "remove_edge"}
    whole = num_parts(graph)
    assert cut == {at for at in edges if num_parts(_without(graph, at)) == whole}
    assert all(found)
    leaves = {e.at[0] for edits in found for e in edits if e.op == "remove_node"}
    degree = [sum(i in pair for pair in edges) for i in range(len(nodes))]
    assert leaves == {i for i, node in enumerate(nodes) if node is not None and degree[i] == 1}


def _without(graph, at):
    i, j = at
    A, E = graph.A.clone(), graph.E.clone()
    A[0, i, j] = A[0, j, i] = 0
    E[0, i, j] = E[0, j, i] = 0
    return Graph(graph.B, graph.V, A, E, graph.schema)


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("C[N+](=O)[O-]", "C"),  # the group is removed, a hydrogen takes its place
        ("C[N+](=O)[O-]", "COC"),  # … or another group
        ("C[N+](=O)[O-]", "CN=O"),  # … or a part of it
        ("CC", "CC[N+](=O)[O-]"),  # a group is added, charges included
        ("c1ccccc1", "c1ccncc1"),  # an atom of a ring changes and loses its hydrogen
        ("C1CC1", "CCC"),  # a ring opens
        ("CCO", "C1CO1"),  # a ring of three with a heteroatom closes
        ("CCO", "CC=O"),
        ("CCCl", "CCO"),
    ],
)
@pytest.mark.parametrize("schema", [EXPLICIT, IMPLICIT], ids=["explicit", "implicit"])
def test_moves_that_a_chemist_would_make(smiles, expected, schema):
    graph = from_smiles(smiles, schema)
    after = after_all(graph, moves_of(graph))
    assert to_smiles(from_smiles(expected, schema)) in {to_smiles(after, k) for k in range(len(after))}


@pytest.mark.parametrize(
    ("smiles", "expected", "total", "heavy"),
    [("CC", "CCCl", 1, 1), ("C[N+](=O)[O-]", "C", 5, 5), ("CCCl", "CCO", 3, 1), ("CCO", "CC=O", 5, 1)],
)
def test_edits_are_few_because_new_nodes_take_the_place_of_old_ones(smiles, expected, total, heavy):
    graph = from_smiles(smiles, EXPLICIT)
    wanted = to_smiles(from_smiles(expected, EXPLICIT))
    moves = moves_of(graph)
    after = after_all(graph, moves)
    edits = min((m.edits for k, m in enumerate(moves) if to_smiles(after, k) == wanted), key=len)
    assert (len(edits), len(heavy_edits(graph, edits))) == (total, heavy)


@molecules
def test_what_counts_are_the_heavy_edits(graph):
    before = Sketch.of(graph)
    for move in moves_of(graph)[::7]:
        counted = counted_part(Difference.between(before, move.after), before, move.after, graph.schema)
        assert counted.edits(graph.schema) == heavy_edits(graph, move.edits)


@molecules
@pytest.mark.parametrize("seed", [0, 1])
def test_undoing_gives_molecules_and_after_one_move_the_factual(graph, seed):
    moves = Moves(graph.schema, VOCABULARY)
    factual = Sketch.of(graph)
    first = moves_of(graph)[7 * seed :: 20]
    for move in first:
        assert 0 in [Difference.between(factual, sketch).size for sketch in reverted(moves, factual, move.after)]
    steps = list(moves.steps(first[0].after, factual))
    back = [sketch for _, after in steps[seed::20] for sketch in reverted(moves, factual, after)]
    assert bool(
        is_radical_free(apply_differences(graph, [Difference.between(factual, sketch) for sketch in back])).all()
    )


def test_whole_branches_go_where_that_is_asked():
    graph = from_smiles("CCCCCc1ccccc1", IMPLICIT)
    before, moves = Sketch.of(graph), Moves(IMPLICIT, VOCABULARY)

    def left(branches):
        steps = moves.steps(before, before, branches=branches)
        found = apply_differences(
            graph, [Difference.between(before, after) for kind, after in steps if kind == "remove group"]
        )
        return {to_smiles(found[k]) for k in range(len(found))}

    assert left(branches=0.0) == {"CCCCc1ccccc1", "CCCc1ccccc1", "CCc1ccccc1"}
    alkanes = {"C" * k for k in range(1, 6)}
    assert left(branches=1.0) == alkanes | {"C" * k + "c1ccccc1" for k in range(5)}


def test_no_slot_no_new_node():
    """Of what methane could become, only acetylene is not larger."""
    schema = molecule_schema(("C", "H"), max_nodes=5, explicit_hydrogens=True)
    graph = from_smiles("C", schema)
    after = after_all(graph, moves_of(graph, FragmentVocabulary()))
    assert {to_smiles(one) for one in after} == {"C#C"}


def test_the_law_of_molecules_sees_a_fault(monkeypatch):
    """Hydrogens that are not filled in leave radicals."""
    monkeypatch.setattr(Valence, "settle", lambda *_: True)
    graph = from_smiles("CC", EXPLICIT)
    after = after_all(graph, Moves(EXPLICIT, VOCABULARY).valid(graph))
    assert not bool(is_radical_free(after).all())


@pytest.fixture(scope="module")
def substituted():
    smiles = ["Cc1ccccc1", "O=[N+]([O-])c1ccccc1", "COc1ccccc1", "O=[N+]([O-])c1ccc(C)cc1", "c1ccc(cc1)[N+](=O)[O-]"]
    graphs = [from_smiles(text, EXPLICIT) for text in smiles]
    return GraphDataset.from_graphs("few", graphs, [0, 1, 0, 1, 1], ("a", "b"))


def test_a_vocabulary_counts_groups_whatever_the_order_of_their_atoms(substituted):
    found = FragmentVocabulary.mine(substituted, minimum=1)
    counts = {(one.nodes, one.link): one.count for one in found.fragments}
    assert counts[NITRO.nodes, ("single",)] == 3
    assert counts[METHOXY.nodes, ("single",)] == 1
    assert counts[(("C",),), ("single",)] == 3  # two methyls, one of them also as part of methoxy
    again = substituted.graphs()
    order = torch.arange(again.num_slots - 1, -1, -1)
    turned = GraphDataset.from_graphs("few", [again.permute(order)], substituted.labels, ("a", "b"))
    assert FragmentVocabulary.mine(turned, minimum=1) == found


def test_a_vocabulary_survives_json_and_refuses_what_does_not_fit(substituted):
    found = FragmentVocabulary.mine(substituted, minimum=1)
    stored = json.loads(json.dumps(found.to_dict()))
    assert FragmentVocabulary.from_dict(stored, EXPLICIT) == found
    with pytest.raises(DataError, match="attributes of the schema"):
        FragmentVocabulary.from_dict(stored, molecule_schema(("C", "H"), 9, explicit_hydrogens=True))
    with pytest.raises(DataError, match="no vocabulary of fragments"):
        FragmentVocabulary.from_dict({"fragments": 3}, EXPLICIT)


def test_groups_are_for_undirected_graphs():
    with pytest.raises(SchemaError, match="directed"):
        Moves(random_schema(0, directed=True), VOCABULARY)


@pytest.mark.parametrize("count", [1, 2])
def test_differences_are_written_whatever_the_strides_of_a_graph(count):
    graph = from_smiles("CCO", IMPLICIT)
    turned = Graph.trusted(
        graph.B, graph.V, graph.A.mT.contiguous().mT, graph.E.transpose(1, 2).contiguous().transpose(1, 2), IMPLICIT
    )
    before = Sketch.of(graph)
    after = before.copy()
    after.set_node(0, ("N",))
    after.cut(1, 2)
    differences = [Difference.between(before, after)] * count
    assert apply_differences(turned, differences) == apply_differences(graph, differences)
    assert Sketch.of(apply_differences(turned, differences), count - 1).nodes[0] == ("N",)
