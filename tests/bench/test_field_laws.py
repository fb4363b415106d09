"""Every row of the field (rivals, the paper's methods, ours) through the laws of answers; new ones are here at once."""

import dataclasses
from functools import cache

import pytest

from graphflip.bench.field import methods
from graphflip.bench.field.methods import METHODS
from graphflip.bench.quality.material import Material
from graphflip.data.planted.motif import planted
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.goals.stored import goals_of
from graphflip.explain.method import AbstractExplainer, verdict

from .stand_ins import red_kit

DATA = planted(120, max_nodes=7, min_nodes=5)
MATERIAL = Material(DATA, red_kit(DATA), "test", own_demands=False)
GRAPHS = DATA.part("test").graphs(slice(0, 3))
HERE = [name for name, method in METHODS.items() if not method.needs_molecules]
"""Methods for any graph; those for molecules have their laws in tests/rivals."""


@cache
def built(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "CLEAR_STEPS", 20)
        return METHODS[name].build(MATERIAL)


@cache
def answers(name):
    return built(name).explain(GRAPHS, seed=5)


def assert_no_flip_is_claimed_that_the_classifier_denies(found):
    for answer in found:
        if answer.counterfactual is None:
            assert not answer.flipped
            continue
        graph = answer.counterfactual.pad(DATA.schema.max_nodes)
        (outcome,), _ = verdict(MATERIAL.kit.classifier, graph, goals_of([answer.target]))
        assert answer.flipped == (outcome is Outcome.FLIPPED)


@pytest.mark.parametrize("name", HERE)
def test_no_flip_is_claimed_that_the_classifier_denies(name):
    assert_no_flip_is_claimed_that_the_classifier_denies(answers(name))


@pytest.mark.parametrize("name", HERE)
def test_an_answer_depends_on_graph_target_and_seed_alone(name):
    together, again = answers(name), built(name).explain(GRAPHS, seed=5)
    (alone,) = built(name).explain(GRAPHS[2], seed=5)
    assert [one.edits for one in again] == [one.edits for one in together]
    assert (alone.outcome, alone.edits) == (together[2].outcome, together[2].edits)


@dataclasses.dataclass(frozen=True)
class Boaster(AbstractExplainer):
    """Returns the factual and claims a flip."""

    classifier: object
    method: str = "boaster"

    def explain_batch(self, question):
        graphs = (question.graph[k] for k in range(len(question.graph)))
        return [
            question.answer(k, self.method, graph, Outcome.FLIPPED, p_counterfactual=1.0)
            for k, graph in enumerate(graphs)
        ]


def test_the_law_can_fail():
    with pytest.raises(AssertionError):
        assert_no_flip_is_claimed_that_the_classifier_denies(Boaster(MATERIAL.kit.classifier).explain(GRAPHS))
