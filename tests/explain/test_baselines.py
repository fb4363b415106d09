"""Laws of the baselines, the controls and the refinement."""

import pytest
import torch

from graphflip.edits import apply_edits
from graphflip.errors import GraphError
from graphflip.explain import (
    LatentTraversal,
    NearestNeighbor,
    NeighborMean,
    NoChange,
    Outcome,
    RandomExample,
    ReconstructionOnly,
    Refine,
)
from graphflip.explain.latent.baselines import LatentIndex, _nearest_aligned
from graphflip.explain.method import verdict


@pytest.fixture(scope="module")
def index(vae, dataset):
    return LatentIndex.build(vae, dataset.part("train"))


def explainers(vae, classifier, index):
    return [
        RandomExample(vae, classifier),
        NoChange(classifier),
        ReconstructionOnly(vae, classifier),
        NearestNeighbor(vae, classifier, index),
        NearestNeighbor(vae, classifier, index, aligned=False),
        NeighborMean(vae, classifier, index, k=3),
        NeighborMean(vae, classifier, index, k=3, aligned=False),
        LatentTraversal(vae, classifier, steps=5),
        Refine(LatentTraversal(vae, classifier, steps=5)),
    ]


def test_every_explainer_answers_every_graph_and_flipped_means_flipped(vae, classifier, index, dataset):
    graph = dataset.graphs(range(5))
    for explainer in explainers(vae, classifier, index):
        found = explainer.explain(graph, ids=list("abcde"))
        assert [one.id for one in found] == list("abcde")
        assert all(one.method == explainer.method for one in found)
        for one in found:
            assert one.counterfactual.is_hard
            assert one.flipped == (int(classifier(one.counterfactual).argmax()) == one.target)


def test_no_change_changes_nothing_and_never_flips(classifier, dataset):
    for one in NoChange(classifier).explain(dataset.graphs(range(8))):
        assert one.edits == []
        assert one.outcome is Outcome.NOT_FLIPPED
        assert one.p_counterfactual == pytest.approx(one.p_factual)


def test_the_nearest_neighbor_is_a_training_graph_with_the_target_label(vae, classifier, index, dataset):
    train = index.dataset
    for one in NearestNeighbor(vae, classifier, index).explain(dataset.graphs(range(6))):
        matches = [k for k in range(len(train)) if train.graphs([k]) == one.counterfactual.trim()]
        assert matches
        assert all(int(train.labels[k]) == one.target for k in matches)


@pytest.mark.parametrize("kind", [NearestNeighbor, NeighborMean])
def test_aligned_neighbors_do_not_depend_on_the_order_of_nodes(vae, classifier, index, dataset, kind):
    graph = dataset.graphs([0])
    order = torch.randperm(graph.num_slots, generator=torch.Generator().manual_seed(5))
    explainer = kind(vae, classifier, index)
    (plain,), (renumbered,) = explainer.explain(graph), explainer.explain(graph.permute(order))
    assert plain.counterfactual.trim() == renumbered.counterfactual.trim()


def test_aligned_search_equals_trying_all_candidates():
    rng = torch.Generator().manual_seed(0)
    z, codes = torch.randn(5, 3, generator=rng), torch.randn(40, 5, 3, generator=rng)
    from itertools import permutations

    orders = [torch.tensor(order) for order in permutations(range(5))]
    exact = torch.stack([torch.stack([(z - code[order]).square().sum() for order in orders]).min() for code in codes])
    assert [row for row, _ in _nearest_aligned(z, codes, 7)] == exact.argsort()[:7].tolist()


def test_nothing_to_offer_where_no_graph_has_the_label(vae, classifier, dataset):
    train = dataset.part("train")
    only = train.subset((train.labels == 0).nonzero()[:, 0])
    index = LatentIndex.build(vae, only)
    (one,) = NearestNeighbor(vae, classifier, index).explain(dataset.graphs([0]), 1)
    assert one.outcome is Outcome.NOTHING_TO_OFFER
    assert one.counterfactual is None
    assert not one.flipped


def test_refined_edits_are_fewer_and_minimal(vae, classifier, dataset):
    walk = LatentTraversal(vae, classifier, steps=40)
    graph = dataset.graphs(range(10))
    flipped = 0
    for plain, refined in zip(walk.explain(graph), Refine(walk).explain(graph), strict=True):
        assert plain.flipped == refined.flipped
        if not refined.flipped:
            continue
        flipped += 1
        assert len(refined.edits) <= len(plain.edits)
        for k in range(len(refined.edits)):
            try:
                smaller = apply_edits(refined.factual, refined.edits[:k] + refined.edits[k + 1 :])
            except GraphError:
                continue  # this edit is needed by another
            outcomes, _ = verdict(classifier, smaller, torch.tensor([refined.target]))
            assert outcomes != [Outcome.FLIPPED]
    assert flipped
