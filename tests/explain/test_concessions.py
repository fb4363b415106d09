"""Where nothing has all that is asked, less will do if the caller lets it; the answer says so, and is never a claim."""

import dataclasses

import pytest
import torch

from graphflip.data.dataset import GraphDataset
from graphflip.explain.constraints import Constraints
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.edits.candidates import Vote
from graphflip.explain.edits.neighborhood import SearchStage
from graphflip.explain.edits.realism import FamiliarGraphs
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.moves import Moves
from graphflip.explain.preferences import PREFERENCES, Preference, less_than
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.schema import Categories, Schema

SCHEMA = Schema(nodes=(Categories(name="type", values=("a", "b")),), edges=(), max_nodes=5)


class CountsB(AbstractClassifier):
    """The more nodes are b, the likelier is class 1; sure of it only as far as `slope` goes."""

    def __init__(self, slope: float, offset: float = 0.5):
        super().__init__()
        self.schema, self.slope, self.offset = SCHEMA, slope, offset

    def embed(self, graph: Graph) -> torch.Tensor:
        return graph.V[..., 1].sum(1, keepdim=True)

    def head(self, embedding: torch.Tensor) -> torch.Tensor:
        score = self.slope * (embedding[:, 0] - self.offset)
        return torch.stack([-score, score], 1)


def chain() -> Graph:
    B = torch.ones(1, 3)
    V = torch.zeros(1, 3, 2)
    V[..., 0] = 1
    A = torch.zeros(1, 3, 3)
    A[0, 0, 1] = A[0, 1, 0] = A[0, 1, 2] = A[0, 2, 1] = 1
    return Graph(B, V, A, torch.zeros(1, 3, 3, 0), SCHEMA)


def search(**changes) -> EditSearch:
    settings = {"confidence": 0.9, "constraints": Constraints(budget=1), "beam": 1} | changes
    return EditSearch(CountsB(0.5), Moves(SCHEMA), **settings)


def explained(settings: EditSearch) -> Counterfactual:
    (found,) = settings.explain(chain())
    return found


def test_what_is_asked_is_had_where_it_can_be():
    found = explained(search(constraints=Constraints(), concede_to=0.5))
    assert found.outcome is Outcome.FLIPPED
    assert (found.p_counterfactual or 0.0) >= 0.9
    assert found.note == ""


def test_less_will_do_and_is_said():
    found = explained(search(concede_to=0.5))
    assert found.outcome is Outcome.FLIPPED
    assert found.p_counterfactual == pytest.approx(float(torch.tensor(0.5).sigmoid()))
    assert "0.9 was asked" in found.note
    assert found.note in str(found)
    assert found.one_minimal
    assert "thorough" not in found.note  # this search has tried every change
    assert "A thorough search" in explained(search(concede_to=0.5, look=4)).note


def test_surroundings_that_the_data_lack_are_the_last_resort_and_are_said():
    mined = EnvironmentCounts.mine(GraphDataset.from_graphs("chains", [chain()] * 9, [0] * 9, classes=("c",)))
    found = explained(search(confidence=0.5, concede_to=0.5, environments=mined))
    assert found.outcome is Outcome.FLIPPED
    assert "No believable change was found" in found.note
    insisted = explained(search(confidence=0.5, environments=mined))
    assert not insisted.flipped
    assert "with surroundings that the data do not have" in insisted.note
    assert not mined.created_are_known(found.factual, found.counterfactual)[0]


def test_the_last_resort_of_a_search_by_estimates_is_greedy():
    counts = EnvironmentCounts.mine(GraphDataset.from_graphs("one", [chain()], [0], ("a", "b")))
    settings = search(concede_to=0.5, look=4, environments=counts, minimum=1, beam=3)
    for realism in (FamiliarGraphs(counts), None):
        begun = dataclasses.replace(settings, realism=realism).start(chain(), ClassGoal(1), CountsB(0.5)(chain()))
        *_, last = begun.stages()
        assert (last.estimated, last.beam) == (False, 1)


def test_a_caller_who_insists_is_told_no():
    found = explained(search())
    assert found.outcome is Outcome.NOT_CONFIDENT
    assert "0.9 was asked" in found.note


def test_nothing_below_the_least_is_an_answer():
    assert explained(search(concede_to=0.7)).outcome is Outcome.NOT_CONFIDENT


@pytest.mark.parametrize("stubborn", [-4.0, 0.0])
def test_opinions_may_be_overruled_but_the_classifier_never(stubborn):
    asked = {"surrogates": (CountsB(stubborn),), "agreement": 0.8, "confidence": 0.6}
    assert explained(search(**asked)).outcome is Outcome.NOT_CONFIDENT
    found = explained(search(**asked, concede_to=0.5))
    assert found.outcome is Outcome.FLIPPED
    assert (found.p_counterfactual or 0.0) >= 0.6
    assert "other models give it" in found.note
    never = dataclasses.replace(search(**asked, concede_to=0.5), classifier=CountsB(0.5, offset=9.0))
    assert not explained(never).flipped


def test_levels_go_down_to_the_least_and_no_further():
    levels = search(concede_to=0.5, surrogates=(CountsB(1.0),), agreement=0.8).demand.levels()
    assert levels == [(0.9, 0.8), (0.7, 0.65), (0.5, 0.0)]
    assert search().demand.levels() == [(0.9, 0.5)]
    assert search(concede_to=0.9).demand.levels()[-1] == (0.9, 0.0)
    stops = search(
        concede_to=0.5, surrogates=(CountsB(1.0),), agreement=0.8, content_with=((0.7, 0.6),)
    ).demand.levels()
    assert [round(one, 9) for stop in stops for one in stop] == [0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.6, 0.55, 0.5, 0.0]


def test_a_preference_comes_down_to_those_that_ask_less():
    assert less_than(PREFERENCES["minimal"]) == less_than(PREFERENCES["balanced"]) == ()
    balanced = PREFERENCES["balanced"]
    assert less_than(PREFERENCES["believable"]) == ((balanced.confidence, balanced.agreement),)
    kept = Preference(confidence=0.99, agreement=0.9)  # of what asks more in one thing, nothing is said
    assert less_than(Preference(confidence=0.9, agreement=0.95), {"kept": kept, **PREFERENCES})[0] != (0.99, 0.9)


@pytest.mark.parametrize("experienced", [True, False])
def test_without_experience_a_wider_stage_comes_before_less_is_accepted(monkeypatch, experienced):
    counts = EnvironmentCounts.mine(GraphDataset.from_graphs("one", [chain()], [0], ("a", "b")))
    settings = search(concede_to=0.5, look=4, environments=counts, minimum=1, realism=FamiliarGraphs(counts))
    begun = settings.start(chain(), ClassGoal(1), settings.classifier(chain()))
    begun.inspect.experience = object() if experienced else None
    half = dataclasses.replace(begun.root, votes=tuple(Vote(-0.6, True, 0.55) for _ in begun.root.votes))
    seen: list[SearchStage] = []

    def flips_only(stage, slack):
        seen.append(stage)
        return [half], half

    monkeypatch.setattr(begun, "_search", flips_only)
    begun._explore(slack=0.0)
    assert len(seen) == (1 if experienced else 2)
    assert all(stage.known for stage in seen)
