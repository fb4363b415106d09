"""Laws of transformations: what is read off a change makes that change again, in any order of nodes."""

from functools import cache

import torch
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.fragments import FragmentVocabulary
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.summary.applying import Applier
from graphflip.summary.recourses import Recourse, SiteResult, sharpened
from graphflip.summary.sites import PatternIndex
from graphflip.summary.transformations import PatternNode, Transformation, transformations_between

STORED = drug_schema()
EXPLICIT = molecule_schema(("C", "N", "O", "Cl", "H"), max_nodes=24, explicit_hydrogens=True)
MOLECULES = ("c1ccccc1[N+](=O)[O-]", "CC(=O)Nc1ccccc1", "ClCCN(C)C", "OC1CCCCC1", "C1OC1C")
PLANTED = planted(4).graphs()


def molecule(text, schema):
    return from_smiles(Chem.MolToSmiles(Chem.AddHs(Chem.MolFromSmiles(text))) if schema is EXPLICIT else text, schema)


@cache
def graphs():
    return [molecule(text, schema) for schema in (STORED, EXPLICIT) for text in MOLECULES] + list(PLANTED)


@cache
def all_moves(at):
    factual = Sketch.of(graphs()[at])
    schema = graphs()[at].schema
    moves = Moves(schema, FragmentVocabulary.of_single_nodes(schema, factual))
    several = [after for _, after in moves.steps(factual, factual) if Difference.between(factual, after).size]
    return factual, several, moves


def some_move(at, seed):
    """One of the moves of a graph, with the moves of its schema."""
    factual, several, moves = all_moves(at)
    return factual, several[seed % len(several)], moves


def results(change, graph, moves):
    """All graphs that a transformation makes of a graph."""
    factual, applier = Sketch.of(graph), Applier(moves)
    afters = [
        applier.apply(change, site, factual, factual) for site in PatternIndex(factual, moves).sites(change, most=50)
    ]
    return [apply_differences(graph, [Difference.between(factual, after)]) for after in afters if after is not None]


choices = given(at=st.integers(0, len(graphs()) - 1), seed=st.integers(0, 2**16))


@choices
def test_a_move_can_be_made_again_by_what_was_read_off_it(at, seed):
    graph = graphs()[at]
    factual, after, moves = some_move(at, seed)
    wanted = apply_differences(graph, [Difference.between(factual, after)])
    found = transformations_between(factual, after, moves)
    assert not found or any(wanted == made for made in results(found[-1], graph, moves))


@choices
def test_the_order_of_nodes_does_not_matter(at, seed):
    graph = graphs()[at]
    factual, after, moves = some_move(at, seed)
    changed = apply_differences(graph, [Difference.between(factual, after)])
    n = max(graph.num_slots, changed.num_slots)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    before, made = (Sketch.of(one.pad(n).permute(order)) for one in (graph, changed))
    assert set(transformations_between(before, made, moves)) == set(transformations_between(factual, after, moves))


@choices
def test_a_transformation_survives_being_written(at, seed):
    factual, after, moves = some_move(at, seed)
    for change in transformations_between(factual, after, moves):
        assert Transformation.from_json(change.to_json()) == change
        assert Recourse.from_json(Recourse(change).to_json()) == Recourse(change)


def test_a_nitro_group_is_read_as_a_whole():
    """The oxygens belong to the pattern although only the nitrogen changes, so that an amine does not match."""
    before, after = (molecule(text, STORED) for text in ("c1ccccc1[N+](=O)[O-]", "c1ccccc1C(=O)O"))
    moves = Moves(STORED)
    (change,) = transformations_between(Sketch.of(before), Sketch.of(after), moves)
    assert sorted(node.before[0] for node in change.nodes) == ["C", "N", "O", "O"]
    (made,) = results(change, molecule("Clc1ccc([N+](=O)[O-])cc1", STORED), moves)
    assert made == molecule("Clc1ccc(C(=O)O)cc1", STORED)
    assert not results(change, molecule("CC(=O)Nc1ccccc1", STORED), moves)


def test_a_context_is_what_tells_the_sites_that_work_apart():
    recourse = Recourse(Transformation((PatternNode(("red",), ("gray",)),), ()))
    ring, blue, green = (0, "in a ring"), (0, "beside blue"), (0, "beside green")
    works = [SiteResult(k, frozenset({ring, blue}), True) for k in range(9)]
    fails = [SiteResult(k, frozenset({ring, green}), False) for k in range(9)]
    assert sharpened(recourse, [*works, *fails]).context == {blue}
    elsewhere = SiteResult(9, frozenset({ring}), True)
    assert sharpened(recourse, [*works, elsewhere, *fails]).context == set(), "a graph that is flipped would be lost"
    assert sharpened(recourse, [*works[:5], *fails]).context == set(), "five graphs are too few to tell"
    assert sharpened(recourse, works).context == set(), "nothing has to be ruled out"
