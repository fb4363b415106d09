"""Where it matters, how far a search is, and parts that stay because a pattern matches them."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

pytest.importorskip("rdkit", reason="install graphflip[mol] to read molecules")

import graphflip
from graphflip.errors import ConfigError, DataError
from graphflip.explain.claims.importance import Importance
from graphflip.explain.edits.slopes.sensitivity import estimate, node_slopes, with_estimates
from graphflip.explain.records import from_record, to_record
from graphflip.models.adapters import BlackBox

NITROBENZENE = "O=[N+]([O-])c1ccccc1"


@pytest.fixture(scope="module")
def explainer():
    return graphflip.load("ames")


@pytest.fixture(scope="module")
def asked(explainer):
    """An answer, and the progress of the search for it."""
    seen = []
    return explainer.explain(NITROBENZENE, prefer="minimal", watch=seen.append), seen


def test_the_nitro_group_holds_the_prediction(explainer, asked):
    """Changes at its atoms raise the target most; every place is one of the factual, each effect a rise of it."""
    answer, _ = asked
    nodes, edges = answer.importance.nodes, answer.importance.edges
    present = {i for i, node in enumerate(answer.factual.nodes()) if node is not None}
    assert set(nodes) <= present
    assert set(edges) <= {(i, j) for i, j, _ in answer.factual.edges()}
    assert all(-1 <= effect <= 1 for effect in (*nodes.values(), *edges.values()))
    assert max(nodes, key=lambda i: nodes[i]) in (0, 1, 2), "an atom of the nitro group"
    assert answer.importance.largest == max(map(abs, (*nodes.values(), *edges.values())))


def test_it_is_stored_with_the_numbers_of_the_record(explainer, asked):
    answer, _ = asked
    again = from_record(to_record(answer), explainer.kit.schema)
    assert again.importance.nodes == pytest.approx(answer.importance.nodes, abs=1e-4)
    without = {key: value for key, value in to_record(answer).items() if key != "importance"}
    assert from_record(without, explainer.kit.schema).importance is None
    with pytest.raises(DataError, match="`importance` must have `nodes`"):
        from_record(without | {"importance": {"nodes": [3]}}, explainer.kit.schema)
    moved = Importance({0: 0.1, 1: 0.2}, {(0, 1): 0.3}, {4: 0.5}).renumbered({0: 5, 1: 2, 4: 0}, directed=False)
    assert (moved.nodes, moved.edges, moved.estimated) == ({5: 0.1, 2: 0.2}, {(2, 5): 0.3}, {0: 0.5})
    assert Importance.from_json(moved.to_json()) == moved


def test_where_nothing_was_tried_the_gradient_says_it(explainer):
    """Estimates rank the atoms as the effects of all single changes do, by and large, and have their scale."""
    ranks = []
    for smiles in (NITROBENZENE, "Nc1ccc2cc3ccccc3cc2c1", "CC(=O)Oc1ccccc1C(=O)O", "CN(C)c1ccc(cc1)N=Nc1ccccc1"):
        answer = explainer.explain(smiles, prefer="minimal")
        tried = answer.importance
        assert (
            tried.estimated.keys() == {i for i, node in enumerate(answer.factual.nodes()) if node} - tried.nodes.keys()
        )
        slopes = node_slopes(explainer.kit.classifier, answer.factual, answer.goal)
        half = Importance({i: effect for i, effect in tried.nodes.items() if i % 2}, {})
        guessed = estimate(slopes, answer.goal, answer.p_factual, half)
        assert guessed.nodes == half.nodes
        assert guessed.estimated.keys() == slopes.keys() - half.nodes.keys()
        assert guessed.largest == half.largest
        ranks.append(spearmanr([slopes[i] for i in tried.nodes], list(tried.nodes.values())).statistic)
    assert np.mean(ranks) > 0.4, ranks
    alone = estimate(slopes, answer.goal, answer.p_factual)
    assert all(-1 <= effect <= 1 for effect in alone.estimated.values())


def test_a_classifier_without_gradients_has_no_estimates(explainer):
    box = BlackBox(explainer.kit.classifier, explainer.kit.schema)
    answer = explainer.explain("CCN(C)N=O", prefer="minimal", budget=2)
    bare = dataclasses.replace(answer, importance=Importance({0: 0.1}, {}))
    assert with_estimates([bare], box)[0].importance == bare.importance
    assert node_slopes(box, answer.factual, answer.goal) == {}


def test_progress_grows_and_is_whole_only_when_all_is_done(explainer, asked):
    """Also for a frontier, which takes three searches, and where all rounds of a stage are used up in vain."""
    frontier, long = [], []
    explainer.explain(NITROBENZENE, frontier=True, budget=2, watch=frontier.append)
    explainer.explain(NITROBENZENE, prefer="minimal", confidence=0.9999, watch=long.append)
    assert len(long) >= explainer.search(prefer="minimal").max_moves
    for seen in (asked[1], frontier, long):
        shares = [round_.turn / round_.max_turns for round_ in seen]
        assert shares
        assert shares == sorted(shares)
        assert shares[-1] < 1
        assert all(dataclasses.asdict(round_)["calls"] > 0 for round_ in seen)


def test_what_matches_a_pattern_stays(explainer):
    answer = explainer.explain(NITROBENZENE, prefer="minimal", freeze_smarts=["[N+](=O)[O-]"])
    touched = {i for edit in answer.edits for i in edit.at}
    assert answer.edits
    assert not touched & {0, 1, 2}
    with pytest.raises(ConfigError, match="must be SMARTS patterns"):
        explainer.explain(NITROBENZENE, freeze_smarts=["(("])
