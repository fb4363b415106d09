"""Laws of what is known of a move before it is made: its size, its least cost, and that the cheapest answer stays."""

import dataclasses
import math
import random
from itertools import islice

import pytest
import torch

import graphflip
from graphflip.columns import Categories, Continuous
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain import EditSearch, Moves
from graphflip.explain.constraints import Constraints
from graphflip.explain.edits.neighborhood import Neighborhood, SearchStage
from graphflip.explain.edits.rounds import cheapest, inspection
from graphflip.explain.edits.rounds.cheapest import CheapestFirst
from graphflip.explain.edits.settings import Costs
from graphflip.explain.goals.targets import parse_goal
from graphflip.explain.moves.fragments import FragmentVocabulary
from graphflip.graph import Graph
from graphflip.models.adapters import BlackBox
from graphflip.schema import Schema

SMILES = ("O=[N+]([O-])c1ccc(Cl)cc1", "C1OC1CN(C)N=O", "C[N+](C)(C)CC(=O)[O-]")
STAGE = SearchStage(None, 0.34, 4, known=False)
EXPLICIT = molecule_schema(("C", "N", "O", "S", "F", "Cl", "H"), max_nodes=40, explicit_hydrogens=True)
KINDS = Categories(name="type", values=("a", "b"))
ARROWS = Schema(nodes=(KINDS,), edges=(Categories(name="type", values=("x", "y")),), max_nodes=8, directed=True)
LENGTHS = Schema(nodes=(KINDS, Continuous(name="length")), max_nodes=8)


def molecules(schema, vocabulary):
    graphs = []
    for smiles in SMILES:
        try:
            graphs.append(from_smiles(smiles, schema))
        except graphflip.GraphflipError:
            continue
    assert len(graphs) >= 2
    return graphs, Moves(schema, vocabulary)


def of_a_kit(name):
    kit = graphflip.load(name).kit
    return molecules(kit.schema, kit.knowledge.vocabulary)


def of_colors():
    data = planted(num_graphs=12, seed=5)
    return [data.graphs()[k] for k in range(4)], Moves(data.schema, FragmentVocabulary.mine(data, minimum=2))


def of_arrows():
    nodes = [{"type": kind} for kind in "abab"]
    return [Graph.build(ARROWS, nodes, [(0, 1, {"type": "x"}), (1, 2, {"type": "y"}), (3, 1, {"type": "x"})])], Moves(
        ARROWS
    )


def of_lengths():
    nodes = [{"type": kind, "length": length} for kind, length in zip("abab", (0.1, 0.5, 2.0, -1.0), strict=True)]
    return [Graph.build(LENGTHS, nodes, [(0, 1, {}), (1, 2, {}), (2, 3, {}), (0, 3, {})])], Moves(LENGTHS)


SETS = {
    "explicit hydrogens": lambda: of_a_kit("mutagenicity"),
    "few elements": lambda: molecules(EXPLICIT, FragmentVocabulary()),
    "stored charges": lambda: of_a_kit("ames"),
    "colors": of_colors,
    "arrows": of_arrows,
    "lengths": of_lengths,
}


def walks(around, depth, rng):
    """States up to some moves from the factual, with every move of each: what was said of it, and what it led to."""
    front = [around.candidate(around.factual)]
    for _ in range(depth):
        reached = []
        for state in front:
            for family in around.families(state, STAGE):
                growths = around.moves.forecast.of(state.sketch, family)
                said = zip(
                    growths,
                    around.least_costs.of(state, family),
                    around.least_costs.counted(state, family),
                    strict=True,
                )
                for k, (growth, least, counted) in enumerate(said):
                    after = around.made(state, family.draft(k), STAGE, math.inf)
                    if after is not None:
                        reached.append(after)
                        yield state, growth, (least, counted), after
        cheap = sorted(reached, key=around.costs.cost)[:40]
        front = [*rng.sample(reached, min(1, len(reached))), *rng.sample(cheap, min(1, len(cheap)))]


@pytest.mark.parametrize(
    ("name", "hydrogen_price"), [*((name, 1.0) for name in SETS), ("explicit hydrogens", 0.4), ("stored charges", 0.4)]
)
def test_no_move_costs_less_than_it_was_said_to_cost_at_least(name, hydrogen_price):
    graphs, moves = SETS[name]()
    rng, exact, exactly_counted, total = random.Random(0), 0, 0, 0
    for graph in graphs:
        around = Neighborhood(graph, moves, Costs(hydrogen_price=hydrogen_price), Constraints())
        for state, _, (least, counted), after in walks(around, 2, rng):
            assert least <= around.costs.cost(after) + 1e-9, (state.difference, after.difference)
            assert counted <= after.counted.size, (state.difference, after.difference)
            exact, total = exact + (least >= around.costs.cost(after) - 1e-9), total + 1
            exactly_counted += counted == after.counted.size
    assert exact > 0.02 * total  # a bound of 0 would be true, and of no use
    assert exactly_counted > 0.02 * total


@pytest.mark.parametrize("name", SETS)
def test_a_budget_leaves_out_only_what_breaks_it(name):
    graphs, moves = SETS[name]()
    stage, left_out = STAGE._replace(branches=0.0), 0
    for graph in graphs[:1]:
        free, bound = (Neighborhood(graph, moves, Costs(), Constraints(budget=budget)) for budget in (None, 2))
        state = free.candidate(free.factual)
        for _ in range(2):
            reached, within = (
                [
                    after
                    for family in around.families(state, stage)
                    for k in range(len(family.choices))
                    if (after := around.made(state, family.draft(k), stage, math.inf)) is not None
                ]
                for around in (free, bound)
            )
            assert [after.key() for after in within] == [after.key() for after in reached if after.counted.size <= 2]
            left_out += bound.ruled_out["budget"]
            state = min(reached, key=lambda after: (after.counted.size, sorted(map(str, after.key()))))
    assert left_out


@pytest.mark.parametrize("name", SETS)
def test_a_forecast_of_nodes_and_edges_comes_true(name):
    graphs, moves = SETS[name]()
    rng, known, total = random.Random(1), 0, 0
    for graph in graphs:
        around = Neighborhood(graph, moves, Costs(), Constraints())
        for state, growth, _, after in walks(around, 2, rng):
            grown = tuple(now - was for now, was in zip(after.sketch.size, state.sketch.size, strict=True))
            total += 1
            if growth is not None:
                known += 1
                assert grown == (growth.nodes, growth.edges), (state.difference, after.difference)
    assert known > 0.5 * total


def test_moves_that_are_kept_are_those_of_the_state_and_the_stage(monkeypatch):
    monkeypatch.setattr("graphflip.explain.edits.neighborhood._KEPT", 3)
    graphs, moves = molecules(EXPLICIT, FragmentVocabulary())
    around = Neighborhood(graphs[0], moves, Costs(), Constraints())
    root = around.candidate(around.factual)
    states = [root, *[state for *_, state in islice(walks(around, 1, random.Random(0)), 4)]]
    for state, stage in [(state, STAGE._replace(branches=share)) for state in (*states, root) for share in (0.0, 0.5)]:
        anew = list(moves.families(state.sketch, around.factual, stage.largest, stage.branches))
        for _ in range(2):
            assert [family[:4] for family in around.families(state, stage)] == [family[:4] for family in anew]
        assert len(around._listed) <= 3


def by_atoms(weights):
    def predict(graphs):
        totals = [sum(weights[node["type"]] for node in graph.nodes() if node) for graph in graphs]
        return torch.tensor([[0.6 - value, value - 0.6] for value in totals]).softmax(-1)

    return predict


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("smiles", ["Nc1ccccc1", "C1OC1CO"])
def test_leaving_out_what_is_too_dear_does_not_change_the_answer(monkeypatch, smiles, seed):
    rng = random.Random(seed)
    weights = {symbol: rng.gauss(0, 0.5) for symbol in ("C", "N", "O", "S", "F", "Cl")} | {"H": rng.gauss(0, 0.05)}
    graph = from_smiles(smiles, EXPLICIT)
    search = EditSearch(BlackBox(by_atoms(weights), EXPLICIT), Moves(EXPLICIT), hydrogen_price=1.0, beam=2, max_moves=3)
    target = 1 - int(search.classifier(graph).argmax())
    monkeypatch.setattr(cheapest, "_AT_ONCE", 1)  # so that every candidate counts
    monkeypatch.setattr(cheapest, "_MOST", 10**9)
    (quick,) = search.explain(graph, target=target)
    monkeypatch.setattr(CheapestFirst, "decides", False)
    (thorough,) = search.explain(graph, target=target)
    assert quick.edits == thorough.edits
    assert quick.outcome == thorough.outcome
    assert quick.classifier_calls <= thorough.classifier_calls
    if quick.flipped and len(quick.edits) == 1 and thorough.classifier_calls > 100:
        assert quick.classifier_calls < 0.7 * thorough.classifier_calls


@pytest.mark.parametrize("most", [1, 100])
def test_of_later_rounds_the_cheapest_moves_and_the_most_promising_are_made(monkeypatch, most):
    explainer, smiles = graphflip.load("mutagenicity"), "Cc1ccc2c(c1)-c1cc3ccccc3c3cc4ccccc4c-2c13"
    monkeypatch.setattr(cheapest, "_MOST", most)
    monkeypatch.setattr(inspection, "_LOOK", 32)
    some = explainer.explain(smiles, prefer="minimal")
    monkeypatch.setattr(cheapest, "_MOST", 10**9)
    every = explainer.explain(smiles, prefer="minimal")
    assert some.flipped
    assert len(some.edits) == len(every.edits) > 2
    assert some.classifier_calls < 0.8 * every.classifier_calls


def test_every_single_move_is_made_however_many_there_are(monkeypatch):
    graph = from_smiles("CCOCCC", EXPLICIT)
    weights = dict.fromkeys(("C", "N", "O", "S", "F", "Cl", "H"), 0.0)  # nothing leads anywhere
    search = EditSearch(BlackBox(by_atoms(weights), EXPLICIT), Moves(EXPLICIT), beam=1, max_moves=1)
    monkeypatch.setattr(cheapest, "_MOST", 1)
    (few,) = search.explain(graph, target=1)
    monkeypatch.setattr(cheapest, "_MOST", 10**9)
    (every,) = search.explain(graph, target=1)
    assert few.classifier_calls == every.classifier_calls > 50


def test_where_nothing_else_flips_no_move_is_left_out():
    weights = dict.fromkeys(("C", "N", "O", "S", "F", "Cl", "H"), 0.0)
    search = EditSearch(BlackBox(by_atoms(weights), EXPLICIT), Moves(EXPLICIT), beam=2)
    stages = list(begun(search, "CCO").stages())
    assert [stage.complete for stage in stages] == [False] * (len(stages) - 1) + [True]
    assert not any(stage.complete for stage in begun(dataclasses.replace(search, look=8), "CCO").stages())


def begun(search, smiles):
    graph = from_smiles(smiles, EXPLICIT)
    logits = search.classifier(graph)
    return search.start(graph, parse_goal(1, ()).at(logits[0]), logits)


def test_a_complete_stage_makes_every_move_of_every_round(monkeypatch):
    weights = dict.fromkeys(("C", "N", "O", "S", "F", "Cl", "H"), 0.0)
    search = begun(EditSearch(BlackBox(by_atoms(weights), EXPLICIT), Moves(EXPLICIT), beam=1), "CCO")
    monkeypatch.setattr(cheapest, "_MOST", 1)
    first = search.inspect([search.root], STAGE, math.inf)
    state = max(first, key=search.costs.cost)
    some, _ = search.inspect.cheapest_first([state], STAGE, math.inf)
    every, is_complete = search.inspect.cheapest_first([state], STAGE._replace(complete=True), math.inf)
    assert is_complete
    assert len(some) <= 1 < len(every)
    assert len(every) == len(list(search.neighborhood.one_move_from([state], STAGE, math.inf)))
