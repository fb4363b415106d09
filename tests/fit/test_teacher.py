"""A user's classifier is asked once about each graph; surrogates see graphs near the data, with its answers to them."""

import torch

from graphflip.explain.knowledge import Knowledge
from graphflip.fit.plausibility import rewired, useful_limit
from graphflip.fit.teacher import AskedOnce, num_nearby, with_nearby
from graphflip.models.adapters import BlackBox
from graphflip.models.networks.pegvae import PEGVAE, linear_config
from graphflip.testing import random_graph

from .own_models import PLANTED, EdgeCounter


class Counting(EdgeCounter):
    asked = 0

    def embed(self, graph):
        Counting.asked += len(graph)
        return super().embed(graph)


def test_a_classifier_is_asked_once_about_each_graph(tmp_path):
    Counting.asked = 0
    teacher = AskedOnce(Counting(PLANTED.schema), tmp_path / "answers")
    graphs = PLANTED.graphs()
    first = teacher(graphs)
    torch.testing.assert_close(first, EdgeCounter(PLANTED.schema)(graphs))
    different = teacher.calls
    assert torch.equal(teacher(graphs.pad(PLANTED.schema.max_nodes)), first)
    assert Counting.asked == different <= len(graphs)
    teacher.save()
    again = AskedOnce(Counting(PLANTED.schema), tmp_path / "answers")
    assert torch.equal(again(graphs), first)
    assert Counting.asked == again.calls == different


def test_nearby_graphs_join_train_and_validation_but_not_test(tmp_path):
    teacher = AskedOnce(EdgeCounter(PLANTED.schema), tmp_path / "answers")
    more = with_nearby(PLANTED, teacher, Knowledge.mine(PLANTED.part("train")), 240)
    assert torch.equal(more.split["test"], PLANTED.split["test"])
    assert len(more.part("train")) > len(PLANTED.part("train")) + 100
    assert len(more.part("validation")) > len(PLANTED.part("validation"))
    assert more.subset(range(len(PLANTED))).fingerprint() != more.fingerprint()
    near = more.part("train").subset(range(len(PLANTED.part("train")), len(more.part("train"))))
    before, after = (EdgeCounter(PLANTED.schema)(part.graphs()).softmax(-1) for part in (PLANTED.part("train"), near))
    assert float(after[:, 1].var()) > 0.01  # walks cross to the other class
    assert len(before) == 32
    again = with_nearby(PLANTED, teacher, Knowledge.mine(PLANTED.part("train")), 240)
    assert again.fingerprint() == more.fingerprint()


def test_a_box_with_a_budget_is_not_overspent():
    box = BlackBox(lambda graphs: [0.5] * len(graphs), PLANTED.schema, budget=100)
    assert num_nearby(PLANTED, box) == 60
    assert num_nearby(PLANTED, BlackBox(lambda graphs: [0.5] * len(graphs), PLANTED.schema, budget=10)) == 0
    assert num_nearby(PLANTED, EdgeCounter(PLANTED.schema)) == 600


def test_a_likelihood_that_says_nothing_is_not_used():
    vae = PEGVAE(PLANTED.schema, linear_config(PLANTED.schema)).eval()
    assert all(bool(weight.isfinite().all()) for weight in vae.parameters())
    with torch.no_grad():
        for weight in vae.parameters():
            weight.fill_(torch.nan)
    assert useful_limit(vae, PLANTED) is None
    graph = random_graph(PLANTED.schema, n=5, num_graphs=4, seed=0)
    dealt = rewired(graph, torch.Generator().manual_seed(0))
    assert torch.equal(dealt.V.sum(1), graph.V.sum(1))
    assert torch.equal(dealt.A, graph.A)
