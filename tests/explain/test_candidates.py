"""Laws of differences that are kept up to date, and of how several answers are chosen."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain.edits.candidates import GRAIN, Candidate, Vote, choose_different, choose_frontier, edit_distance
from graphflip.explain.moves.alignment import renumber
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.ged.distance import graph_edit_distance
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

MOLECULES = molecule_schema(("C", "O", "N", "Cl", "H"), max_nodes=16, explicit_hydrogens=True)
GRAPHS = planted(num_graphs=8, seed=3, min_nodes=4, max_nodes=7)
DIRECTED = Schema(
    nodes=(Categories(name="type", values=("a", "b")),),
    edges=(Categories(name="type", values=("x", "y")),),
    max_nodes=6,
    directed=True,
)


def walked(moves: Moves, factual: Sketch, picks: list[int]) -> list[tuple[Difference, Sketch, Sketch]]:
    """The state before each of some moves, what it differs in from the factual, and the state after."""
    rows, state = [], factual
    for pick in picks:
        steps = [after for _, after in moves.steps(state, factual)]
        if not steps:
            break
        after = steps[pick % len(steps)]
        rows.append((Difference.between(factual, state), state, after))
        state = after
    return rows


def same(one: Difference, other: Difference) -> bool:
    return one.nodes == other.nodes and one.edges == other.edges


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=4), st.sampled_from(["CCO", "c1ccccc1N", "OC=O", "CCl"]))
def test_a_difference_kept_up_to_date_is_the_difference_in_molecules(picks, smiles):
    factual = Sketch.of(from_smiles(smiles, MOLECULES).pad(16))
    for before, _, after in walked(Moves(MOLECULES), factual, picks):
        assert same(before.updated(factual, after), Difference.between(factual, after))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=4), st.integers(0, 7), st.booleans())
def test_a_difference_kept_up_to_date_is_the_difference_in_any_graph(picks, k, directed):
    graph = random_graph(DIRECTED, seed=k, n=5, num_graphs=1) if directed else GRAPHS.graphs([k])
    factual = Sketch.of(graph)
    for before, state, after in walked(Moves(graph.schema), factual, picks):
        assert same(before.updated(factual, after), Difference.between(factual, after))
        assert after is not state  # whoever changes a sketch copies it first


def test_sketches_that_share_dictionaries_do_not_change_each_other():
    factual = Sketch.of(from_smiles("CCO", MOLECULES).pad(16))
    nodes, near = dict(factual.nodes), {i: dict(edges) for i, edges in factual.near.items()}
    for _, after in Moves(MOLECULES).steps(factual, factual):
        list(Moves(MOLECULES).steps(after, factual))
    assert factual.nodes == nodes
    assert factual.near == near


def candidates() -> list[Candidate]:
    """All single moves of propanol with made-up votes."""
    factual = Sketch.of(from_smiles("CCCO", MOLECULES).pad(16))
    found = [Candidate.of(factual, after, MOLECULES) for _, after in Moves(MOLECULES).steps(factual, factual)]
    return [one.with_votes([Vote(math.log((7 * k % 10 + 1) / 11), True)]) for k, one in enumerate(found)]


def test_several_answers_differ_and_the_cheapest_comes_first():
    found = [one for one in candidates() if one.size]
    chosen = choose_different(found, 5, lambda one: float(one.size))
    assert len(chosen) == 5
    assert chosen[0].size == min(one.size for one in found)
    gaps = [edit_distance(a, b) for k, a in enumerate(chosen) for b in chosen[:k]]
    assert min(gaps) > 0
    cheapest = sorted(found, key=lambda one: one.size)[:5]
    plain = [edit_distance(a, b) for k, a in enumerate(cheapest) for b in cheapest[:k]]
    assert sum(gaps) > sum(plain)


def test_there_are_no_more_answers_than_graphs():
    one = candidates()[0]
    assert choose_different([one, one], 5, lambda one: 1.0) == [one]
    assert choose_different([], 3, lambda one: 1.0) == []


def test_nothing_beats_what_is_on_the_frontier():
    found = candidates()
    chosen = choose_frontier(found, lambda one: float(one.size))
    costs, beliefs = [one.size for one in chosen], [one.belief for one in chosen]
    assert costs == sorted(set(costs))
    assert beliefs == sorted(set(beliefs))
    for one in found:
        assert any(best.size <= one.size and best.belief >= one.belief for best in chosen)


def test_belief_is_a_geometric_mean():
    (one,) = candidates()[:1]
    voted = one.with_votes([Vote(math.log(0.9), True), Vote(math.log(0.4), False)])
    assert abs(voted.belief - math.sqrt(0.9 * 0.4)) < GRAIN  # of rounded scores


@given(st.integers(0, 7), st.integers(0, 3), st.permutations(range(12)), st.booleans())
def test_renumbered_nodes_keep_their_order_and_their_edges(k, added, numbers, only_new):
    sketch = Sketch.of(GRAPHS.graphs(k)).copy()
    for _ in range(added):
        sketch.join(next(iter(sketch.nodes)), sketch.add(next(iter(sketch.nodes.values()))), ("thin",))
    free = [number for number in numbers if number not in sketch.nodes]
    slot = dict(zip([i for i in sketch.nodes if i < 0], free, strict=False))
    slot = slot if only_new else dict(zip(sketch.nodes, numbers, strict=False))
    after = renumber(sketch, slot)
    assert [*after.nodes.items()] == [(slot.get(i, i), label) for i, label in sketch.nodes.items()]
    assert [*after.near] == [*after.nodes]
    assert after.near == {
        slot.get(i, i): {slot.get(j, j): label for j, label in near.items()} for i, near in sketch.near.items()
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_no_alignment_takes_fewer_edits_than_kinds_alone_say(seed, n, m, directed):
    schema = DIRECTED if directed else DIRECTED.model_copy(update={"directed": False})
    g, h = (random_graph(schema, seed=seed + k, n=size, num_graphs=1).pad(6) for k, size in enumerate((n, m)))
    difference = Difference.between(Sketch.of(g), Sketch.of(h))
    assert 0 <= difference.least_size(schema) <= graph_edit_distance(g, h).upper <= difference.size


def test_least_edits_are_those_of_kinds_that_come_and_go():
    before, after = (Sketch.of(from_smiles(smiles, MOLECULES).pad(16)) for smiles in ("CCO", "OCC"))
    difference = Difference.between(before, after)
    assert difference.size > 0
    assert difference.least_size(MOLECULES) == 0  # the same molecule, written from its other end
    numbers = Schema(nodes=(Continuous(name="x", scale=1.0),), max_nodes=6)
    assert difference.least_size(numbers) == 0  # numbers change by parts of an edit


def test_a_copy_with_other_votes_or_price_is_the_same_graph_with_scores_of_its_own():
    factual = Sketch.of(from_smiles("CCO", MOLECULES).pad(16))
    first = Candidate.of(factual, next(after for _, after in Moves(MOLECULES).steps(factual, factual)), MOLECULES)
    key, voted = first.key(), first.with_votes([Vote(-1.0, True)])
    assert voted.scores == (-1.0,)
    again = voted.with_votes([Vote(-2.0, False), Vote(-3.0, False)]).with_strangeness(4.0)
    assert (again.scores, again.strangeness, again.key()) == ((-2.0, -3.0), 4.0, key)
    assert (voted.scores, voted.strangeness, first.votes) == ((-1.0,), 0.0, ())
