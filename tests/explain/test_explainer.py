"""The front door: load a kit, explain whatever comes, get what was asked for."""

import dataclasses
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphflip as gf
from graphflip.data.molecules.molecule import from_smiles, to_mol, to_smiles
from graphflip.data.planted.motif import planted
from graphflip.data.pyg.objects import to_pyg
from graphflip.edits import heavy_edits
from graphflip.errors import ConfigError, DataError
from graphflip.explain.constraints import Constraints
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.edits.beam import Round
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit, find_kit, packaged_kits
from graphflip.explain.knowledge import Knowledge
from graphflip.ged.distance import graph_edit_distance

from .oracles import SignedDistance

NITROBENZENE = "O=[N+]([O-])c1ccccc1"
PLANTED = planted(num_graphs=40, seed=5, min_nodes=5, max_nodes=7)
TOY = Explainer(Kit("toy", SignedDistance(PLANTED.schema), Knowledge.mine(PLANTED), ("absent", "present")))


@pytest.fixture(scope="module")
def explainer():
    return gf.load("mutagenicity")


@pytest.fixture(scope="module")
def found(explainer):
    return explainer.explain(NITROBENZENE)


def test_a_smiles_is_explained_in_words_with_evidence(found):
    assert found.flipped
    assert found.one_minimal
    assert found.p_factual < 0.5 < found.p_counterfactual
    text = str(found)
    assert NITROBENZENE in text
    assert "nitro group" in text
    assert str(to_smiles(found.counterfactual)) in text
    assert len(found.evidence.judges) == 2
    assert all(0 <= p <= 1 for p in found.evidence.judges.values())
    assert found.evidence.environment
    assert found.evidence.plausible is not None
    assert (found.evidence.molecule, found.evidence.radical_free, found.evidence.round_trip) == (True, True, True)


def test_every_kind_of_input_gives_the_same_answer(explainer, found):
    graph = from_smiles(NITROBENZENE, explainer.kit.schema)
    kinds = [graph, to_mol(graph), to_pyg(graph)[0]]
    for one in explainer.explain(kinds):
        assert to_smiles(one.counterfactual) == to_smiles(found.counterfactual)


def test_searches_share_what_their_moves_look_up(explainer):
    kit = explainer.kit
    assert explainer.search().moves is explainer.search(target=1).moves is kit.known_moves
    assert kit.known_moves.bonds == kit.knowledge.environments.bonds
    assert explainer.search(prefer="minimal").moves is kit.moves
    assert kit.moves.bonds is None


def test_the_preferences_pull_the_way_they_say(explainer):
    small, large = (explainer.explain("Nc1ccc2ccccc2c1", prefer=name) for name in ("minimal", "believable"))
    assert small.flipped
    assert large.flipped
    assert len(small.edits) <= len(large.edits)
    assert large.p_counterfactual >= explainer.kit.preferences["believable"].confidence


def test_a_thorough_search_misses_nothing_that_estimates_find(explainer):
    """It makes every move, shows the classifier more graphs, and finds the smaller change where there is one."""
    assert all(explainer.search(prefer=name, thorough=True).look == 0 for name in ("balanced", "believable"))
    chlorinated = "Clc1cccc(Cl)c1Cl"
    usual, thorough = explainer.explain(chlorinated), explainer.explain(chlorinated, thorough=True)
    assert thorough.flipped
    assert thorough.classifier_calls > 5 * usual.classifier_calls
    assert len(heavy_edits(thorough.factual, thorough.edits)) < len(heavy_edits(usual.factual, usual.edits))


def test_several_answers_are_different_graphs_that_all_flip(explainer):
    several = explainer.explain("CCN(CC)N=O", num=3)
    assert len(several) == 3
    assert all(one.flipped and one.needed_for for one in several)
    assert len({to_smiles(one.counterfactual) for one in several}) == 3
    assert several[0].edits == explainer.explain("CCN(CC)N=O").edits


def test_the_frontier_goes_from_small_to_believable(explainer):
    frontier = explainer.explain("CCN(CC)N=O", frontier=True)
    sizes = [len(heavy_edits(one.factual, one.edits)) for one in frontier]
    assert all(one.flipped and one.needed_for for one in frontier)
    assert sizes == sorted(sizes)
    assert len(frontier) > 1


def test_the_frontier_begins_with_nothing_larger_than_the_answer(explainer):
    frontier, answer = explainer.explain("CN(C)N=O", frontier=True), explainer.explain("CN(C)N=O")
    assert len(frontier[0].edits) <= len(answer.edits)
    assert all(map(told_briefly, frontier))


@pytest.mark.parametrize("smiles", ["CN(C)N=O", "CCN(CC)N=O", "O=[N+]([O-])c1ccc(Cl)cc1"])
def test_no_other_naming_of_nodes_makes_the_list_shorter(explainer, smiles):
    assert told_briefly(explainer.explain(smiles, confidence=0.97))


def told_briefly(found):
    """True if no shorter list leads to the same graph, but one in which atoms become or were hydrogens, or stray."""
    shortest = graph_edit_distance(found.factual, found.counterfactual)
    heavy, of_shortest = (len(heavy_edits(found.factual, edits)) for edits in (found.edits, shortest.edits))
    brief = len(found.edits) == shortest.upper or heavy < of_shortest
    return brief or has_strayed(found.factual, shortest.edits)


def has_strayed(factual, edits):
    """True if an atom stays, but none of its bonds does: it goes in one place and comes back in another."""
    gone = {edit.at[0] for edit in edits if edit.op == "remove_node"}
    cut = {frozenset(edit.at) for edit in edits if edit.op == "remove_edge"}
    bonds = [{i, j} for i, j, _ in factual.edges()]
    kept = set().union(*(bond for bond in bonds if bond.isdisjoint(gone) and frozenset(bond) not in cut))
    return any(i not in kept | gone for i in set().union(*bonds))


def test_a_stream_is_answered_as_it_comes(explainer):
    def endless():
        while True:
            yield NITROBENZENE

    answers = explainer.explain_each(endless(), prefer="minimal")
    assert next(answers)[0].flipped
    assert next(answers)[0].flipped


def test_whoever_watches_can_end_a_search(explainer):
    rounds = []

    def watch(progress: Round) -> None:
        rounds.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explainer.explain(NITROBENZENE, watch=watch)
    assert rounds[0].calls > 1


def test_a_target_may_have_a_name(explainer):
    assert explainer.explain(NITROBENZENE, "nonmutagen").flipped
    assert explainer.explain(NITROBENZENE, "mutagen").outcome is Outcome.ALREADY_THERE
    with pytest.raises(ConfigError, match="mutagen"):
        explainer.explain(NITROBENZENE, "harmless")
    with pytest.raises(ConfigError, match="not a value"):
        explainer.request("raise by 1")


def test_a_path_leads_from_one_to_the_other(explainer, found):
    path = explainer.path(found, steps=5)
    assert path.graphs[0] == found.factual
    assert path.graphs[4] == found.counterfactual
    assert path.probabilities[0] == pytest.approx(found.p_factual, abs=1e-4)


@pytest.mark.parametrize("wrong", [3.5, None, object()])
def test_what_cannot_be_explained_is_said(explainer, wrong):
    with pytest.raises(DataError, match="SMILES"):
        explainer.explain(wrong)


def test_kits_have_names():
    assert {"mutagenicity", "nci1", "aids"} <= set(packaged_kits())
    assert find_kit("Mutagenicity") == find_kit("mutagenicity")
    with pytest.raises(ConfigError, match="graphflip fit"):
        gf.load("no such kit")


def test_preferences_have_names(explainer):
    with pytest.raises(ConfigError, match="balanced"):
        explainer.explain(NITROBENZENE, prefer="best")


OPS = ["add_node", "remove_node", "set_node", "add_edge", "remove_edge"]
slots = st.integers(0, 4)
constraints = st.builds(
    Constraints,
    freeze_nodes=st.frozensets(slots, max_size=2),
    freeze_edges=st.frozensets(st.tuples(slots, slots).filter(lambda pair: pair[0] != pair[1]), max_size=2),
    forbid_node_types=st.frozensets(st.sampled_from(PLANTED.schema.nodes[0].values), max_size=1),
    forbid_ops=st.frozensets(st.sampled_from(OPS), max_size=2),
    budget=st.none() | st.integers(1, 3),
)


@settings(max_examples=12, deadline=None)
@given(constraints, st.integers(0, 39), st.sampled_from(["minimal", "balanced"]), st.integers(1, 3))
def test_no_answer_ever_breaks_a_constraint(wanted, k, prefer, num):
    # Two rounds: where constraints rule out every flip, eight of them take seconds and break no more of them.
    search = dataclasses.replace(TOY.search(prefer=prefer, constraints=wanted), max_moves=2)
    for one in search.explain(PLANTED.graphs([k]), num=num):
        touched = {i for edit in one.edits for i in edit.at}
        assert not touched & wanted.freeze_nodes
        pairs = {edit.at for edit in one.edits if not edit.is_node}
        assert not {tuple(sorted(pair)) for pair in wanted.freeze_edges} & {tuple(sorted(pair)) for pair in pairs}
        assert not {edit.op for edit in one.edits} & wanted.forbid_ops
        assert not {str(edit.after.get("type")) for edit in one.edits if edit.is_node} & wanted.forbid_node_types
        assert wanted.budget is None or len(one.edits) <= wanted.budget
        assert one.flipped == (int(TOY.kit.classifier(one.counterfactual).argmax()) == one.target and bool(one.edits))


@torch.no_grad()
def test_a_budget_of_calls_is_kept():
    for calls in (1, 20, 60):
        search = dataclasses.replace(TOY.search(prefer="minimal"), max_calls=calls)
        for one in search.explain(PLANTED.graphs(slice(0, 8))):
            assert one.classifier_calls <= calls
            assert one.flipped or one.outcome in (Outcome.OUT_OF_CALLS, Outcome.NOT_CONFIDENT)


def test_an_explainer_that_has_answered_can_be_sent_to_another_process():
    """What searches looked up stays behind; the copy gives the same answer."""
    explainer = gf.load("mutagenicity")
    first = explainer.explain("O=[N+]([O-])c1ccccc1")
    assert explainer.kit.known_moves.__dict__.keys() > {"schema", "vocabulary", "bonds"}
    copy = pickle.loads(pickle.dumps(explainer))
    assert copy.kit.known_moves.__dict__.keys() == {"schema", "vocabulary", "bonds"}
    assert copy.explain("O=[N+]([O-])c1ccccc1").edits == first.edits
