"""Laws of experience: effects that were learned on training graphs, stored in a kit, and looked up by searches."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.errors import ModelFileError
from graphflip.explain import EditSearch, Moves
from graphflip.explain.edits.experience.practice import learn_experience
from graphflip.explain.edits.experience.table import EXPERIENCE, Experience, feature_key, features_of
from graphflip.explain.edits.neighborhood import SearchStage
from graphflip.explain.goals.classes import AnyOther, ClassGoal
from graphflip.explain.moves.fragments import Fragment
from graphflip.models.adapters import BlackBox
from graphflip.models.storage.files import write_tensors

SCHEMA = molecule_schema(("C", "N", "O", "F", "Cl", "H"), max_nodes=30, explicit_hydrogens=True)
WEIGHTS = {"C": -0.2, "N": 0.7, "O": 0.3, "F": 1.1, "Cl": -0.9, "H": 0.0}
TRAIN = ("CCO", "CCN", "CCCCl", "CC(C)O", "NCCO", "FCCO", "CCOC", "CNC", "ClCCN", "CC(F)C")
STAGE = SearchStage(None, 0.0, 1, estimated=True)


def by_atoms(graphs):
    """A classifier whose log-odds add up atoms."""
    totals = [sum(WEIGHTS[node["type"]] for node in graph.nodes() if node) for graph in graphs]
    return torch.tensor([[-value, value] for value in totals]).softmax(-1)


SEARCH = EditSearch(BlackBox(by_atoms, SCHEMA), Moves(SCHEMA), look=6)


@pytest.fixture(scope="module")
def experience():
    return learn_experience(SEARCH, [from_smiles(smiles, SCHEMA) for smiles in TRAIN], per_graph=200, minimum=4)


def begun(smiles, experience=None, goal=1):
    graph = from_smiles(smiles, SCHEMA)
    logits = SEARCH.classifier(graph)
    return dataclasses.replace(SEARCH, experience=experience).start(graph, ClassGoal(goal), logits)


def test_effects_carry_over_to_graphs_that_were_never_seen(experience):
    search = begun("CCCOCC")
    drafts = list(search.neighborhood.drafts(search.root, STAGE))
    families = search.neighborhood.families(search.root, STAGE)
    expected = experience.expected(search.root.sketch, families, ClassGoal(1))
    made = [search.neighborhood.made(search.root, draft, STAGE, math.inf) for draft in drafts]
    voted = {each.key(): each for each in search.scoring.vote([each for each in made if each is not None])}
    rises = [math.nan if each is None else _log_odds(voted[each.key()], search.root) for each in made]
    known = np.isfinite(rises)
    assert np.corrcoef(expected.score[known], np.array(rises)[known])[0, 1] > 0.8
    other = experience.expected(search.root.sketch, families, ClassGoal(0))
    assert other.score == pytest.approx(-expected.score, abs=1e-6)


def _log_odds(candidate, root):
    def odds(score):
        return score - math.log(-math.expm1(min(score, -1e-9)))

    return odds(candidate.classifier_score) - odds(root.classifier_score)


def test_with_experience_the_best_move_is_found_with_fewer_calls(experience):
    every, some = begun("CCCCOCC"), begun("CCCCOCC", experience)
    every.inspect.cheapest_first.slack = math.inf  # so that every move is made
    best = min(every.inspect([every.root], STAGE._replace(estimated=False), math.inf), key=every.scoring.rank)
    found = min(some.inspect([some.root], STAGE, math.inf), key=some.scoring.rank)
    assert every.scoring.rank(found) == pytest.approx(every.scoring.rank(best))
    assert some.scoring.calls < 0.3 * every.scoring.calls


def test_experience_is_stored_and_read_back(experience, tmp_path):
    experience.save(tmp_path / EXPERIENCE)
    again = Experience.load(tmp_path / EXPERIENCE)
    assert (again.keys == experience.keys).all()
    assert again.weights == pytest.approx(experience.weights, abs=0.01)
    assert again.num_classes == experience.num_classes == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"keys": torch.zeros(3, dtype=torch.int32)},
        {"keys": torch.zeros(2)},
        {"mean": torch.zeros(7)},
        {"weights": torch.zeros(2, 8, 1)},
        {"more": torch.zeros(1)},
    ],
)
def test_other_files_are_refused(changed, tmp_path):
    tensors = {"keys": torch.zeros(2, dtype=torch.int32), "weights": torch.zeros(2, 8), "mean": torch.zeros(8)}
    write_tensors(tmp_path / EXPERIENCE, tensors, {"format": "1"})
    assert Experience.load(tmp_path / EXPERIENCE).num_classes == 2
    write_tensors(tmp_path / EXPERIENCE, tensors | changed, {"format": "1"})
    with pytest.raises(ModelFileError, match="table of effects"):
        Experience.load(tmp_path / EXPERIENCE)


def test_keys_do_not_depend_on_the_process_or_on_counts():
    one, two = (Fragment(nodes=(("C",),), edges=(), link=("single",), count=count) for count in (1, 2))
    assert feature_key(("add group", one)) == feature_key(("add group", two)) != feature_key(("add group", None))
    assert int(feature_key(("add group", one))) == 685624576


def test_nothing_is_expected_for_goals_without_a_class(experience):
    search = begun("CCO")
    families = search.neighborhood.families(search.root, STAGE)
    assert experience.expected(search.root.sketch, families, AnyOther(0)) is None
    assert experience.expected(search.root.sketch, families, ClassGoal(5)) is None


@pytest.mark.parametrize("smiles", ["CCCOCC", "Clc1ccccc1N", "C1CO1"])
def test_effects_of_a_family_are_the_sums_over_the_features_of_each_move(experience, smiles):
    search = begun(smiles)
    state, families = search.root.sketch, search.neighborhood.families(search.root, STAGE)
    drafts = [draft for family in families for draft in family.drafts()]
    number = {int(key): k for k, key in enumerate(experience.keys)}
    slow = [
        experience.mean
        + sum(experience.weights[number[key]] for key in map(int, map(feature_key, row)) if key in number)
        for row in features_of(state, drafts)
    ]
    for _ in range(2):  # as computed, and as kept
        expected = experience.expected(state, families, ClassGoal(1))
        assert expected.score == pytest.approx(np.array(slow)[:, 1])
        assert expected.strangeness == pytest.approx(np.array(slow)[:, -1])
