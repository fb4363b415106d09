"""graphflip as an algorithm of PyG's Explainer: masks of what changed, and the changed graph itself."""

import pytest
import torch
from torch import nn
from torch_geometric.explain import Explainer
from torch_geometric.nn import SimpleConv, global_add_pool

from graphflip.data.planted.motif import planted
from graphflip.data.pyg.objects import to_pyg
from graphflip.errors import DataError
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.pyg import CounterfactualExplainer

DATASET = planted(num_graphs=40, seed=3)
KIT = Kit("planted", RelationalGIN(DATASET.schema), Knowledge.mine(DATASET.part("train")))
RAW = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


class ManyNeighbors(nn.Module):
    """Whether the nodes of the first type have more than so many neighbors in all."""

    def __init__(self, limit):
        super().__init__()
        self.limit, self.sum = limit, SimpleConv(aggr="sum")

    def forward(self, x, edge_index, batch, edge_attr=None):
        received = self.sum(x[:, :1].float(), edge_index)
        margin = global_add_pool(received, batch) - self.limit
        return torch.cat([-margin, margin], 1)


class OneNumber(ManyNeighbors):
    def forward(self, x, edge_index, batch, edge_attr=None):
        return super().forward(x, edge_index, batch)[:, 1].sigmoid()


def explain(data, model=None, config=RAW, **settings):
    algorithm = CounterfactualExplainer(KIT, prefer="minimal", **settings)
    model = model or ManyNeighbors(neighbors(data) - 0.5)
    explainer = Explainer(
        model,
        algorithm,
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config=config,
    )
    batch = torch.zeros(len(data.x), dtype=torch.long)
    more = {"edge_attr": data.edge_attr} if data.edge_attr is not None else {}
    return model, explainer(data.x, data.edge_index, batch=batch, **more)


def neighbors(data):
    return float(data.x[data.edge_index[0], 0].sum())


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return [data for data in to_pyg(DATASET) if neighbors(data) > 1][request.param]


def test_the_explanation_carries_the_changed_graph_and_masks_of_the_change(data):
    model, explanation = explain(data)
    after = explanation.counterfactual
    zeros = torch.zeros(len(after.x), dtype=torch.long)
    assert int(model(after.x, after.edge_index, zeros).argmax()) == 0 != int(explanation.target)
    assert explanation.found.flipped
    assert explanation.validate(raise_on_error=True)

    kept = {int(old): k for k, old in enumerate(after.origin) if old >= 0}
    pairs = {tuple(edge) for edge in after.edge_index.T.tolist()}
    changed = {i for edit in explanation.found.edits for i in edit.at if i < len(data.x)}
    for (i, j), marked in zip(data.edge_index.T.tolist(), explanation.edge_mask.tolist(), strict=True):
        still_there = i in kept and j in kept and (kept[i], kept[j]) in pairs
        assert bool(marked) == (not still_there)
    assert set(explanation.node_mask[:, 0].nonzero()[:, 0].tolist()) >= changed
    assert bool(explanation.node_mask.any())
    assert model.training
    assert len(explanation.get_complement_subgraph().counterfactual.origin) == len(after.x)


def test_one_probability_is_that_of_the_second_class(data):
    config = {"mode": "binary_classification", "task_level": "graph", "return_type": "probs"}
    _, explanation = explain(data, OneNumber(neighbors(data) - 0.5), config)
    assert explanation.found.flipped
    assert explanation.found.target == 0


def test_nothing_found_is_no_change(data):
    from graphflip.explain.constraints import Constraints

    everything = Constraints(freeze_nodes=frozenset(range(len(data.x))))
    _, explanation = explain(data, constraints=everything)
    assert "counterfactual" not in explanation
    assert not explanation.node_mask.any()
    assert not explanation.edge_mask.any()
    assert explanation.found.outcome.advice


def test_several_graphs_at_a_time_are_refused(data):
    algorithm = CounterfactualExplainer(KIT)
    algorithm.connect(*_configs())
    with pytest.raises(DataError, match="One graph can be explained at a time"):
        algorithm(ManyNeighbors(1), data.x, data.edge_index, target=torch.tensor([0]), batch=torch.arange(len(data.x)))


@pytest.mark.parametrize(
    ("config", "explanation_type", "rule"),
    [
        (RAW | {"task_level": "node"}, "model", "`task_level` must be 'graph'"),
        (RAW | {"mode": "regression"}, "model", "`target` must be given for a regression"),
        (RAW, "phenomenon", "`explanation_type` must be 'model'"),
    ],
)
def test_what_is_not_supported_is_said(config, explanation_type, rule, caplog):
    with pytest.raises(ValueError, match="does not support"):
        CounterfactualExplainer(KIT).connect(*_configs(config, explanation_type))
    assert rule in caplog.text


def _configs(config=RAW, explanation_type="model"):
    from torch_geometric.explain.config import ExplainerConfig, ModelConfig

    return ExplainerConfig(explanation_type, edge_mask_type="object"), ModelConfig(**config)
