"""Laws of summaries: known answers, no dependence on order, and flips that hold when asked again."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from graphflip.errors import ConfigError
from graphflip.explain.method import verdict
from graphflip.report.summary_page import summary_html
from graphflip.summary import SummaryOptions

from .models import Majority, Noise, Reds, Rule, explainer_of

SMALL = {"sample": 9, "answers": 1, "shortlist": 10, "num": 2, "times": 1, "prefer": "minimal", "num_graphs": 1}


@pytest.fixture(scope="module")
def rule():
    explainer, dataset = explainer_of(Rule, 36)
    return explainer, dataset, explainer.summarize(dataset, "no motif", name="planted", **SMALL)


def test_the_first_recourse_is_the_planted_motif(rule):
    """A blue node with thick edges to two red ones: the change breaks it, and the context names the rest of it."""
    *_, summary = rule
    (part,) = summary.directions
    first = part.recourses[0]
    said = json.dumps(first.recourse.to_json())
    assert {"blue", "red", "thick"} <= set(re.findall(r"[a-z]+", said))
    assert first.applies.count == first.flips.count == part.total
    assert part.curve[0] == part.held_out_curve[0] == 1.0
    assert not part.reasons


def test_every_printed_flip_holds_when_asked_again(rule):
    explainer, _, summary = rule
    for one in (one for part in summary.directions for one in part.recourses):
        assert one.examples
        for answer in one.examples:
            graph = answer.counterfactual.pad(explainer.kit.schema.max_nodes)
            outcomes, _ = verdict(explainer.kit.classifier, graph, [answer.goal])
            assert outcomes[0] is answer.outcome
            assert answer.flipped
        assert not any(answer.flipped for answer in one.failures)


def test_a_summary_does_not_depend_on_the_order_of_inputs(rule):
    explainer, dataset, summary = rule
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(1))
    shuffled = dataset.subset(order)
    other = explainer.summarize(shuffled, "no motif", name="planted", **SMALL)
    assert other.to_json()["directions"] == summary.to_json()["directions"]


def test_noise_is_called_noise():
    explainer, dataset = explainer_of(Noise, 36)
    (part,) = explainer.summarize(dataset, "no motif", **SMALL | {"answers": 0, "sample": 3}).directions
    assert any("almost any change does" in reason for reason in part.reasons)
    assert any("they do not" in reason for reason in part.reasons)
    assert "There is little to say" in str(part)


def test_a_value_is_raised_by_what_raises_it():
    """The number of red nodes grows by one where a node becomes red, or a red one is added."""
    explainer, dataset = explainer_of(Reds, 24, ())
    (part,) = explainer.summarize(dataset, "raise by 1", **SMALL | {"answers": 0, "sample": 4, "theta": 0.2}).directions
    assert part.target == "raise by 1"
    assert part.total == len(dataset)
    assert '"red"' in json.dumps(part.recourses[0].recourse.to_json())
    assert part.held_out_curve[-1] == 1.0
    assert not part.graphs


def test_each_of_several_classes_has_its_part():
    explainer, dataset = explainer_of(Majority, 24, ("blue", "even", "red"))
    told = {**SMALL, "answers": 0, "sample": 4, "num_graphs": 0, "theta": 0.2}
    summary = explainer.summarize(dataset, **told)
    assert [part.target for part in summary.directions] == ["blue", "even", "red"]
    with torch.no_grad():
        predicted = explainer.kit.classifier(dataset.graphs()).argmax(-1)
    assert [part.total for part in summary.directions] == [int((predicted != k).sum()) for k in range(3)]
    assert all(answer.flipped for part in summary.directions for one in part.recourses for answer in one.examples)


def test_the_page_holds_everything_and_runs_nothing(rule):
    *_, summary = rule
    page = summary_html(summary)
    assert "<script" not in page
    assert not re.search(r"(src|href)=", page)
    first = summary.directions[0].recourses[0]
    assert all(f"<li>{name}</li>" in page for name in first.covers)
    assert np.isclose(first.flips.value, 1)


def test_the_page_opens_the_examples_of_the_first_change_alone(rule):
    *_, summary = rule
    (part,) = summary.directions
    page = summary_html(replace(summary, directions=(replace(part, recourses=part.recourses[:1] * 3),)))
    assert page.count("<details open>") == 1
    assert page.count("that no change above flips") == 2


@pytest.mark.parametrize("wrong", [{"theta": 0.0}, {"num": 0}, {"held_out": 1.0}, {"thета": 1}])
def test_wrong_settings_say_what_to_write(rule, wrong):
    explainer, dataset, _ = rule
    with pytest.raises(ConfigError):
        explainer.summarize(dataset, **wrong)
    assert SummaryOptions().num == 10
