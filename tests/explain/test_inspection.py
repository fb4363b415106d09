"""Laws of searches that make the most promising moves first."""

import dataclasses
import math
from itertools import product

import numpy as np
import pytest
import torch

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain import EditSearch, Moves, Outcome
from graphflip.explain.edits.experience.estimates import Effects, Features
from graphflip.explain.edits.neighborhood import SearchStage
from graphflip.explain.goals.targets import parse_goal
from graphflip.explain.moves.drafts import Draft
from graphflip.explain.moves.sketch import Sketch
from graphflip.models.adapters import BlackBox

MOLECULES = molecule_schema(("C", "N", "O", "S", "F", "Cl", "H"), max_nodes=40, explicit_hydrogens=True)
WEIGHTS = {"C": -0.2, "N": 0.7, "O": 0.3, "S": -0.5, "F": 1.1, "Cl": -0.9, "H": 0.0}
ALL, PROMISING = SearchStage(None, 0.0, 4), SearchStage(None, 0.0, 4, estimated=True)


def by_atoms(graphs):
    """A classifier that adds up atoms: the effects of moves are sums exactly."""
    totals = [sum(WEIGHTS[node["type"]] for node in graph.nodes() if node) for graph in graphs]
    return torch.tensor([[1.0 - value, value - 1.0] for value in totals]).softmax(-1)


def beginning(smiles, look=8, predict=by_atoms):
    graph = from_smiles(smiles, MOLECULES)
    search = EditSearch(BlackBox(predict, MOLECULES), Moves(MOLECULES), look=look)
    logits = search.classifier(graph)
    return search.start(graph, parse_goal(1, ()).at(logits[0]), logits)


def test_sums_of_effects_are_found_from_a_few_of_them():
    rng = np.random.default_rng(0)
    place, group = rng.normal(size=12), rng.normal(size=10)
    state = Sketch(dict.fromkeys(range(12), ("C",)), {i: {} for i in range(12)})
    moves = [
        Draft("add group", (i,), (str(k),), None, lambda: (state, set())) for i, k in product(range(12), range(10))
    ]
    effect = np.array([place[i] + group[k] for i, k in product(range(12), range(10))])
    features = Features()
    rows = [features.of(move, state) for move in moves]
    effects = Effects(features)
    seen = rng.permutation(len(moves))[:40]
    for k in seen:
        effects.observe(rows[k], effect[k])
    rest = np.setdiff1d(np.arange(len(moves)), seen)
    estimated = effects.estimate(features.matrix([rows[k] for k in rest]))[:, 0]
    assert np.corrcoef(estimated, effect[rest])[0, 1] > 0.9
    assert effects.estimate(features.matrix(rows[:0])).shape == (0, 1)


def test_estimates_are_those_of_penalized_least_squares():
    rng = np.random.default_rng(1)
    features = Features()
    state = Sketch(dict.fromkeys(range(5), ("C",)), {i: {} for i in range(5)})
    moves = [Draft("add group", (i,), (str(k),), None, lambda: (state, set())) for i, k in product(range(5), range(4))]
    rows = [features.of(move, state) for move in moves]
    effects = Effects(features, kinds=2, centered=False)
    observed = rng.normal(size=(6, 2))
    for row, pair in zip(rows, observed, strict=False):
        effects.observe(row, *pair)
    seen = features.matrix(rows[:6]).toarray()
    exact = np.linalg.solve(seen.T @ seen + np.eye(seen.shape[1]), seen.T @ observed)
    assert effects.estimate(features.matrix(rows)) == pytest.approx(features.matrix(rows) @ exact, abs=0.03)


def test_nothing_is_expected_of_moves_before_any_was_tried():
    features = Features()
    state = Sketch({0: ("C",)}, {0: {}})
    row = features.of(Draft("remove group", (0,), None, ("C",), lambda: (state, set())), state)
    assert Effects(features).estimate(features.matrix([row])).tolist() == [[0.0]]


@pytest.mark.parametrize("smiles", ["CCCCO", "Cc1ccccc1CN", "OCC(C)CCS"])
def test_the_best_move_is_found_with_fewer_calls(smiles):
    every, some = beginning(smiles), beginning(smiles)
    best = min(every.inspect([every.root], ALL, math.inf), key=every.scoring.rank)
    found = min(some.inspect([some.root], PROMISING, math.inf), key=some.scoring.rank)
    assert every.scoring.rank(found) == pytest.approx(every.scoring.rank(best))
    assert some.scoring.calls < 0.7 * every.scoring.calls


def test_every_place_and_every_group_is_tried_once():
    search = beginning("Cc1ccccc1CCCN", look=1)
    tried = search.inspect([search.root], PROMISING, math.inf)
    assert len(tried) == len({candidate.key() for candidate in tried}) <= search.scoring.calls - 1
    drafts = list(search.neighborhood.drafts(search.root, PROMISING))
    main = {feature for draft in drafts for feature in search.inspect.features.of(draft, search.root.sketch)[:2]}
    assert main == search.inspect.seen


def test_moves_that_cost_too_much_are_not_made():
    search = beginning("CCCCO")
    limit = 2.5
    assert all(search.costs.cost(candidate) < limit for candidate in search.inspect([search.root], PROMISING, limit))


def test_a_needle_is_found_by_trying_everything_in_the_end():
    def needle(graphs):
        """Class 1 is a fluorine on the nitrogen: nothing that was tried says that this move leads to it."""
        joined = [{tuple(sorted(str(g.nodes()[k]["type"]) for k in (i, j))) for i, j, _ in g.edges()} for g in graphs]
        return torch.tensor([[0.1, 0.9] if ("F", "N") in pairs else [0.9, 0.1] for pairs in joined])

    search = EditSearch(BlackBox(needle, MOLECULES), Moves(MOLECULES), look=1, max_moves=1)
    (answer,) = search.explain(from_smiles("CCCCCCN", MOLECULES), target=1)
    assert answer.outcome is Outcome.FLIPPED


def test_the_answer_is_the_same_each_time_and_the_budget_holds():
    graph = planted(num_graphs=4, seed=0, min_nodes=6, max_nodes=8).graphs([1])

    def red(graphs):
        counts = [sum(node["type"] == "red" for node in each.nodes() if node) for each in graphs]
        return torch.sigmoid(torch.tensor([[1.5 - n, n - 1.5] for n in counts]))

    search = EditSearch(BlackBox(red, graph.schema), Moves(graph.schema), look=4)
    target = 1 - int(search.classifier(graph).argmax())
    (one,), (two,) = search.explain(graph, target=target), search.explain(graph, target=target)
    assert one.flipped
    assert one.edits == two.edits
    (short,) = dataclasses.replace(search, max_calls=6).explain(graph, target=target)
    assert short.classifier_calls <= 6


@pytest.mark.parametrize("smiles", ["c1ccc2ccccc2c1", "CC(=O)NCCO"])
def test_a_move_is_made_alike_each_time_and_leaves_the_state_alone(smiles):
    state = Sketch.of(from_smiles(smiles, MOLECULES))
    nodes, near = dict(state.nodes), {i: dict(edges) for i, edges in state.near.items()}
    for draft in Moves(MOLECULES).drafts(state, state):
        assert all(i in nodes for i in draft.place)
        if draft.kind.endswith("ring"):
            continue  # rings are changed when they are found
        (one, changed), (two, again) = draft.build(), draft.build()
        assert one is not two
        assert (one.nodes, one.near, changed) == (two.nodes, two.near, again)
        one.touched.clear()
    assert (state.nodes, state.near) == (nodes, near)
