"""Laws of the memory of a search: no graph is shown twice, and remembering changes no answer."""

from collections import Counter

import pytest
import torch

import graphflip
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain import EditSearch, Moves
from graphflip.explain.edits.memory import Memory
from graphflip.explain.edits.scoring import Scoring
from graphflip.models.adapters import BlackBox

MOLECULES = molecule_schema(("C", "N", "O", "S", "F", "Cl", "H"), max_nodes=40, explicit_hydrogens=True)
HARD = "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34"  # no single change is enough, so that several rounds follow


@pytest.fixture
def shown(monkeypatch):
    """How often each set of models was asked about each graph of a search."""
    counts, asked = Counter(), Scoring._asked

    def counted(self, models, candidates):
        counts.update((len(models), candidate.key()) for candidate in candidates)
        return asked(self, models, candidates)

    monkeypatch.setattr(Scoring, "_asked", counted)
    return counts


def forgetful(monkeypatch):
    """Searches ask about every candidate anew, as if none had been seen."""
    monkeypatch.setattr(Memory, "lacking", lambda self, candidates, votes: list(candidates))


@pytest.mark.parametrize("prefer", ["balanced", "minimal"])
def test_no_graph_is_shown_twice(shown, prefer):
    graphflip.load("mutagenicity").explain(HARD, prefer=prefer)
    assert len(shown) > 50
    assert max(shown.values()) == 1


@pytest.mark.parametrize("prefer", ["balanced", "minimal"])
def test_remembering_changes_no_answer(monkeypatch, prefer):
    explainer = graphflip.load("mutagenicity")
    remembered = explainer.explain(HARD, prefer=prefer)
    forgetful(monkeypatch)
    asked_again = explainer.explain(HARD, prefer=prefer)
    assert remembered.edits == asked_again.edits
    assert remembered.p_counterfactual == pytest.approx(asked_again.p_counterfactual, abs=1e-5)
    assert remembered.classifier_calls < asked_again.classifier_calls


@pytest.mark.parametrize("prefer", ["balanced", "minimal"])
def test_claims_about_changes_use_what_was_said_in_the_search(monkeypatch, prefer):
    explainer = graphflip.load("mutagenicity")
    remembered = explainer.explain(HARD, prefer=prefer)
    monkeypatch.setattr(Memory, "classifier_vote", lambda self, difference: None)
    asked_again = explainer.explain(HARD, prefer=prefer)
    assert remembered.needed_for == asked_again.needed_for
    assert remembered.one_minimal == asked_again.one_minimal
    assert (remembered.smaller is None) == (asked_again.smaller is None)
    assert remembered.classifier_calls < asked_again.classifier_calls


def nitrogens(graphs):
    counts = [sum(bool(node) and node["type"] == "N" for node in graph.nodes()) for graph in graphs]
    return torch.tensor([[2.5 - count, count - 2.5] for count in counts]).softmax(-1)


@pytest.mark.parametrize("budget", [1, 2, 40, 333])
def test_a_budget_is_kept_and_what_it_allows_is_used(budget):
    box = BlackBox(nitrogens, MOLECULES, budget=budget)
    (found,) = EditSearch(box, Moves(MOLECULES), beam=2, max_calls=budget).explain(
        from_smiles("CCOCCC", MOLECULES), target=1
    )
    assert found.classifier_calls <= budget
    assert found.flipped or found.classifier_calls == budget
