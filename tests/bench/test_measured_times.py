"""Times that are measured are among the measures, also of answers without a graph."""

import torch

from graphflip.bench.measure import Yardstick, measure
from graphflip.data.planted.motif import planted
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE

SMALL = planted(12, max_nodes=7, min_nodes=5)


def test_the_time_of_each_answer_is_kept():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        vae, classifier = PEGVAE(SMALL.schema, PAPER).eval(), InvariantClassifier(SMALL.schema).eval()
    nothing = [Counterfactual("x", "test", 1, SMALL.graphs([k]), None, 0.1, None, Outcome.OUT_OF_STEPS) for k in (0, 1)]
    found = measure(
        nothing,
        torch.zeros(2, dtype=torch.long),
        torch.tensor([1.5, 2.5]),
        Yardstick(classifier, vae, {"nafr": classifier}, nll_limit=8.0, ged_seconds=0.03),
    )
    assert found["seconds"].tolist() == [1.5, 2.5]
    assert found["flip_ratio"].tolist() == [0, 0]
    assert bool(found["sic"].isnan().all())
