"""Laws of goals: what is reached, how near a model is to it, how it is asked for and written down."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.errors import ConfigError, DataError
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.edits.candidates import votes_for
from graphflip.explain.goals.batches import mean_outputs, outputs_of_labels, reached_each, score_each, shown_each
from graphflip.explain.goals.classes import Another, AnyOther, ClassGoal, LikeliestOther
from graphflip.explain.goals.stored import goal_from_json
from graphflip.explain.goals.targets import parse_goal
from graphflip.explain.goals.values import Shift, ValueGoal
from graphflip.explain.method import ask, verdict
from graphflip.explain.records import from_record, to_record
from graphflip.testing import random_graph

from .oracles import Edges

numbers = st.floats(-20, 20, width=32)
some_logits = st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=1, max_size=5).map(torch.tensor)
some_values = st.lists(st.tuples(numbers), min_size=1, max_size=5).map(torch.tensor)
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
bounds = st.one_of(ranges, numbers.map(lambda low: (low, math.inf)), numbers.map(lambda high: (-math.inf, high)))
class_goals = st.one_of(st.builds(ClassGoal, st.integers(0, 3)), st.builds(AnyOther, st.integers(0, 3)))
value_goals = bounds.map(lambda pair: ValueGoal(*pair))


@given(class_goals, some_logits)
def test_a_class_is_reached_where_it_is_the_likeliest(goal, logits):
    prob = logits.softmax(-1)
    for k, row in enumerate(prob.tolist()):
        wanted = [goal.index] if isinstance(goal, ClassGoal) else [i for i in range(4) if i != goal.predicted]
        assert float(goal.shown(logits)[k]) == pytest.approx(max(row[i] for i in wanted), abs=1e-5)
        if sorted(row)[-1] - sorted(row)[-2] > 1e-5:
            assert bool(goal.reached(logits)[k]) == (row.index(max(row)) in wanted)
    assert bool((goal.score(logits) <= 1e-6).all())
    torch.testing.assert_close(goal.score(logits).exp(), goal.shown(logits))


@given(class_goals, some_logits, st.floats(0.5, 0.99))
def test_what_is_sure_enough_is_reached(goal, logits, confidence):
    sure = goal.score(logits) >= goal.enough(confidence + 1e-5)
    assert bool((goal.reached(logits) | ~sure).all())
    assert sure.tolist() == (goal.shown(logits) >= confidence + 1e-5).tolist() or confidence > 0.98


@given(value_goals, some_values)
def test_a_value_is_reached_within_its_range_and_scores_by_its_distance(goal, values):
    for value, reached, score in zip(
        values[:, 0].tolist(), goal.reached(values).tolist(), goal.score(values).tolist(), strict=True
    ):
        gap = max(goal.low - value, value - goal.high, 0.0)
        assert score == pytest.approx(-gap, abs=1e-5)
        assert reached == (gap == 0) or gap < 1e-3  # up to rounding
        assert reached or score < goal.enough(0.5)
    assert torch.equal(goal.shown(values), values[:, 0])


@given(st.one_of(st.tuples(class_goals, some_logits), st.tuples(value_goals, some_values)))
def test_a_step_up_the_gradient_scores_no_worse(pair):
    goal, outputs = pair
    outputs = outputs.double().requires_grad_()
    (gradient,) = torch.autograd.grad(goal.score(outputs).sum(), outputs)
    assert bool(gradient.isfinite().all())
    before, after = (goal.score((outputs + step * gradient).detach()) for step in (0, 1e-4))
    assert bool((after >= before - 1e-9).all())


@given(numbers, numbers.filter(lambda by: abs(by) > 0.01))
def test_a_shift_is_relative_to_what_is_predicted(value, by):
    goal = Shift(by).at(torch.tensor([value]))
    assert not bool(goal.reached(torch.tensor([[value]])))
    assert bool(goal.reached(torch.tensor([[value + 1.01 * by]])))
    assert not bool(goal.reached(torch.tensor([[value + 0.98 * by]])))
    assert not bool(goal.reached(torch.tensor([[value - 2 * by]])))
    start, halfway = goal.score(torch.tensor([[value], [value + by / 2]])).tolist()
    assert start == pytest.approx(-3, abs=0.01)
    assert halfway == pytest.approx(-1.5, abs=0.01)


@given(some_logits.filter(lambda logits: bool((logits[0].topk(2).values.diff().abs() > 1e-3).all())))
def test_other_classes_are_others_than_the_predicted(logits):
    row = logits[0]
    other, any_other = LikeliestOther().at(row), Another().at(row)
    assert isinstance(other, ClassGoal)
    assert other.index != int(row.argmax())
    assert float(row[other.index]) == float(row.sort().values[-2])
    assert any_other == AnyOther(int(row.argmax()))
    assert not bool(any_other.reached(row))
    assert any_other.settled(row) == other


@given(st.lists(st.one_of(class_goals), min_size=0, max_size=3), st.integers(0, 99))
def test_a_batch_is_its_rows(goals, seed):
    outputs = torch.randn(len(goals), 2, 4, generator=torch.Generator().manual_seed(seed))
    for together, alone in ((score_each, "score"), (reached_each, "reached"), (shown_each, "shown")):
        found = together(goals, outputs)
        assert found.shape == (len(goals), 2)
        for goal, row, one in zip(goals, outputs, found, strict=True):
            assert torch.equal(getattr(goal, alone)(row), one)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_opinions_count_by_their_mean(k, c, seed):
    outputs = torch.randn(k, 3, c, generator=torch.Generator().manual_seed(seed))
    mean = mean_outputs(outputs)
    if c == 1:
        torch.testing.assert_close(mean, outputs.mean(0))
    else:
        torch.testing.assert_close(mean.softmax(-1), outputs.softmax(-1).mean(0))


def test_what_is_not_finite_is_no_vote():
    for goal, outputs in ((ClassGoal(0), [[math.inf, 0.0], [math.nan, 1.0]]), (ValueGoal(low=0.0), [[math.inf]])):
        votes = votes_for(torch.tensor(outputs), goal)
        assert all(vote.score == -math.inf and not vote.predicted for vote in votes)
        assert not bool(reached_each([goal] * len(outputs), torch.tensor(outputs)).any())


def test_labels_reach_what_predictions_of_them_would():
    assert ClassGoal(1).reached(outputs_of_labels(torch.tensor([0, 1, 2, 1]))).tolist() == [False, True, False, True]
    assert AnyOther(1).reached(outputs_of_labels(torch.tensor([0, 1, 2, 1]))).tolist() == [True, False, True, False]
    assert ValueGoal(1.0, 2.0).reached(outputs_of_labels(torch.tensor([0.5, 1.0, 2.1]))).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("raise by 0.5", Shift(0.5)),
        ("Increase by 2", Shift(2.0)),
        ("lower  by 1e-2", Shift(-0.01)),
        ("decrease by .5", Shift(-0.5)),
        ("below 2", ValueGoal(high=2.0)),
        ("<= -1.5", ValueGoal(high=-1.5)),
        ("at most 2", ValueGoal(high=2.0)),
        ("above 3", ValueGoal(low=3.0)),
        (">3", ValueGoal(low=3.0)),
        ("between -1 and 2.5", ValueGoal(-1.0, 2.5)),
        ("2 within 0.5", ValueGoal(1.5, 2.5)),
        ("2 +- 0.5", ValueGoal(1.5, 2.5)),
        ("any", Another()),
        ("any other class", Another()),
        ("cat", ClassGoal(0)),
        ("below 2 dogs", ClassGoal(1)),
        ("1", ClassGoal(1)),
        (1, ClassGoal(1)),
        (np.int64(1), ClassGoal(1)),
        (torch.tensor(0), ClassGoal(0)),
        (None, LikeliestOther()),
        (ValueGoal(1.0, 2.0), ValueGoal(1.0, 2.0)),
    ],
)
def test_words_for_goals(text, request_):
    assert parse_goal(text, ("cat", "below 2 dogs")) == request_


@pytest.mark.parametrize(
    "text",
    [
        "dog",
        "raise",
        "raise by",
        "by 2",
        "raise by 0",
        "between 3 and 2",
        "2 within -1",
        "below nan",
        "7",
        -1,
        torch.tensor([1, 0]),
    ],
)
def test_words_that_mean_nothing(text):
    with pytest.raises(ConfigError, match="must"):
        parse_goal(text, ("cat", "mouse"))


@pytest.mark.parametrize(
    "goal", [ClassGoal(3), AnyOther(0), ValueGoal(-1.5, 2.0), ValueGoal(low=0.5), ValueGoal(high=7.0)]
)
def test_goals_are_written_and_read(goal):
    assert goal_from_json(goal.to_json()) == goal
    graph = random_graph(num_graphs=1).trim()
    target = goal.index if isinstance(goal, ClassGoal) else goal
    record = to_record(Counterfactual("x", "test", target, graph, graph, 0.1, 0.9, Outcome.NOT_FLIPPED))
    assert from_record(record, graph.schema).target == target


@pytest.mark.parametrize("stored", [True, -1, 2.5, "1", {}, {"low": "1"}, {"low": 1, "up": 2}, {"not": "a"}, None, [1]])
def test_what_is_no_target_is_said(stored):
    with pytest.raises(DataError, match="class number"):
        goal_from_json(stored)


@pytest.mark.parametrize("stored", [{"low": None, "high": None}, {"low": 2, "high": 1}])
def test_ranges_have_a_bound_and_an_order(stored):
    with pytest.raises(ConfigError, match="lower one first"):
        goal_from_json(stored)


def test_requests_must_fit_the_model():
    graph = random_graph(num_graphs=3)
    for outputs, asked in ((1, None), (1, 0), (1, Another()), (2, Shift(1.0)), (2, ValueGoal(low=1.0)), (2, 2)):
        with pytest.raises(ConfigError, match=r"predicts|class of"):
            ask(Edges(graph.schema, outputs), graph, asked, ["", "", ""], 0)


def test_each_graph_may_have_its_own_target():
    graph = random_graph(num_graphs=3)
    question = ask(Edges(graph.schema, 1), graph, [Shift(1.0), ValueGoal(high=3.0), Shift(-2.0)], list("abc"), 0)
    values = graph.num_edges.tolist()
    assert [(goal.low, goal.high) for goal in question.goals] == [
        (values[0] + 1, math.inf),
        (-math.inf, 3),
        (-math.inf, values[2] - 2),
    ]
    assert question.p_factual.tolist() == values
    outcomes, shown = verdict(Edges(graph.schema, 1), graph, question.target)
    assert shown.tolist() == values
    assert [outcome is Outcome.FLIPPED for outcome in outcomes] == [False, values[1] <= 3, False]
