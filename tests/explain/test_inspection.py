"""Laws of searches that make the most promising moves first."""

import dataclasses
import math
from itertools import product

import numpy as np
import pytest
import torch

import graphflip
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain import EditSearch, Moves, Outcome
from graphflip.explain.edits.experience.estimates import Effects, Features, Indicators
from graphflip.explain.edits.memory import Memory
from graphflip.explain.edits.neighborhood import SearchStage
from graphflip.explain.edits.rounds.inspection import Inspection
from graphflip.explain.goals.targets import parse_goal
from graphflip.explain.moves.draft import NOTHING, Family, Variants
from graphflip.explain.moves.sketch import Sketch
from graphflip.models.adapters import BlackBox

MOLECULES = molecule_schema(("C", "N", "O", "S", "F", "Cl", "H"), max_nodes=40, explicit_hydrogens=True)
WEIGHTS = {"C": -0.2, "N": 0.7, "O": 0.3, "S": -0.5, "F": 1.1, "Cl": -0.9, "H": 0.0}
ALL, PROMISING = SearchStage(None, 0.0, 4), SearchStage(None, 0.0, 4, estimated=True)


def by_atoms(graphs):
    """A classifier that adds up atoms: the effects of moves are sums exactly."""
    totals = [sum(WEIGHTS[node["type"]] for node in graph.nodes() if node) for graph in graphs]
    return torch.tensor([[1.0 - value, value - 1.0] for value in totals]).softmax(-1)


def beginning(smiles, look=8, predict=by_atoms, **settings):
    graph = from_smiles(smiles, MOLECULES)
    search = EditSearch(BlackBox(predict, MOLECULES), Moves(MOLECULES), look=look, **settings)
    logits = search.classifier(graph)
    return search.start(graph, parse_goal(1, ()).at(logits[0]), logits)


def families(places, groups):
    """Every group at every place."""
    choices = Variants(tuple((str(k),) for k in range(groups)))
    return [Family("add group", (i,), choices, None, lambda _: None) for i in range(places)]


def carbons(count):
    return Sketch(dict.fromkeys(range(count), ("C",)), {i: {} for i in range(count)})


def test_sums_of_effects_are_found_from_a_few_of_them():
    rng = np.random.default_rng(0)
    place, group = rng.normal(size=12), rng.normal(size=10)
    effect = np.array([place[i] + group[k] for i, k in product(range(12), range(10))])
    features = Features()
    rows = np.concatenate([features.of(family, carbons(12)) for family in families(12, 10)])
    effects = Effects(features)
    seen = rng.permutation(len(rows))[:40]
    for k in seen:
        effects.observe(rows[k], effect[k])
    rest = np.setdiff1d(np.arange(len(rows)), seen)
    assert np.corrcoef(effects.estimate(rows[rest])[:, 0], effect[rest])[0, 1] > 0.9
    assert effects.estimate(rows[:0]).shape == (0, 1)


def test_estimates_are_those_of_penalized_least_squares_and_follow_every_observation():
    rng = np.random.default_rng(1)
    features = Features()
    rows = np.concatenate([features.of(family, carbons(5)) for family in families(5, 4)])
    effects = Effects(features, kinds=2, centered=False)
    observed = rng.normal(size=(6, 2))
    every = (rows[..., None] == np.arange(len(features.numbers))).sum(1)
    for count in range(1, 7):
        effects.observe(rows[count - 1], *observed[count - 1])
        seen = every[:count]
        exact = np.linalg.solve(seen.T @ seen + np.eye(seen.shape[1]), seen.T @ observed[:count])
        assert effects.estimate(rows) == pytest.approx(every @ exact, abs=0.03)


def test_indicators_multiply_as_their_matrix_does():
    rng = np.random.default_rng(2)
    rows = np.array([[7, 3, -1], [3, 9, 4], [9, -1, -1]])
    seen = Indicators(rows, 10)
    matrix = (rows[..., None] == np.arange(10)).sum(1)
    assert seen.counts.tolist() == matrix.sum(0).tolist()
    of_moves, of_features = rng.normal(size=(3, 2)), rng.normal(size=(10, 2))
    assert seen.sums(of_moves) == pytest.approx(matrix.T @ of_moves)
    assert seen.of_moves(of_features) == pytest.approx(matrix @ of_features)


def test_nothing_is_expected_of_moves_before_any_was_tried_or_of_features_that_came_later():
    features = Features()
    effects = Effects(features, centered=False)
    row = features.of(Family("remove group", (0,), NOTHING, ("C",), lambda _: None), carbons(2))
    assert effects.estimate(row).tolist() == [[0.0]]
    effects.observe(row[0], 2.0)
    other = features.of(Family("add group", (1,), Variants((("N",),)), None, lambda _: None), carbons(2))
    assert effects.estimate(row)[0, 0] > 0.5
    assert effects.estimate(other).tolist() == [[0.0]]


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
    features, state = search.inspect.features, search.root.sketch
    rows = [features.of(family, state)[:, :2] for family in search.neighborhood.families(search.root, PROMISING)]
    assert set(np.concatenate(rows).ravel().tolist()) == search.inspect.seen


def test_moves_that_cost_too_much_are_not_made():
    search = beginning("CCCCO")
    limit = 2.5
    assert all(search.costs.cost(candidate) < limit for candidate in search.inspect([search.root], PROMISING, limit))


def test_in_the_last_round_only_moves_that_may_take_the_place_of_the_answer_are_tried():
    def last_round(patience):
        search = beginning("CCCCCCO", patience=patience, confidence=0.9)
        search.inspect([search.root], PROMISING, math.inf)
        before, search.scoring.memory = search.scoring.calls, Memory()  # so that every graph that is tried is a call
        tried = search.inspect([search.root], PROMISING, 50.0)
        costs = [search.costs.cost(candidate) for candidate in tried if search.scoring.passes(candidate)]
        return search.scoring.calls - before, min(costs, default=math.inf)

    (few, cheapest), (many, also) = last_round(patience=1), last_round(patience=2)
    assert few < many
    assert cheapest == also


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
        one, two = draft.build(), draft.build()
        if one is None or two is None:
            assert one is two
            continue
        assert one[0] is not two[0]
        assert (one[0].nodes, one[0].near, one[1]) == (two[0].nodes, two[0].near, two[1])
        one[0].touched.clear()
    assert (state.nodes, state.near) == (nodes, near)


def test_prices_are_learned_in_the_order_of_the_moves(monkeypatch):
    """Sums of numbers depend on their order: sets of texts have another one in every process."""
    learn, learn_all, learned, longest = Inspection._learn_price, Inspection._learn_prices, [], []
    monkeypatch.setattr(
        Inspection, "_learn_price", lambda self, options, k, price: learned.append(k) or learn(self, options, k, price)
    )

    def checked(self, options):
        new = self.scoring.prices.keys() - options.priced
        due = [k for key, k in options.made.items() if key in new]
        learned.clear()
        learn_all(self, options)
        assert learned == due
        longest.append(len(due))

    monkeypatch.setattr(Inspection, "_learn_prices", checked)
    assert graphflip.load("mutagenicity").explain("O=[N+]([O-])c1ccccc1").flipped
    assert max(longest) > 5
