"""Counterfactuals for `torch_geometric.explain`: an algorithm for its Explainer, and what its Explanation carries."""

import logging
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from .data.pyg.objects import from_pyg
from .errors import DataError, require
from .explain.counterfactual import Counterfactual
from .explain.explainer import Explainer
from .explain.kit import Kit, load_kit
from .graph import Graph
from .models.adapters.pyg import PyGClassifier
from .models.adapters.sparse import Form, SparseBatch
from .schema import Schema

require("torch_geometric", "pyg", "graphflip.pyg")

from torch_geometric.data import Data  # noqa: E402
from torch_geometric.explain import ExplainerAlgorithm, Explanation  # noqa: E402
from torch_geometric.explain.config import ExplanationType, MaskType, ModelMode, ModelTaskLevel  # noqa: E402


class CounterfactualExplainer(ExplainerAlgorithm):
    """Explains a graph by the smallest believable change that changes the model's answer.

    `kit` knows the graphs: the name of one that the package carries, or a folder that `graphflip fit` wrote. `target`
    is a class by number or name, by default the likeliest other one, or for a regression a change of the value, as in
    "raise by 0.5"; `x` and `edge_attr` say what the model reads, as in `PyGClassifier`; `settings` are those of
    `graphflip.Explainer.explain`.

    Of the Explanation, `edge_mask` marks edges that were taken away or changed, `node_mask` nodes that were changed or
    whose edges were, `counterfactual` is the changed graph as Data, whose node k is node `counterfactual.origin[k]` of
    the graph explained, or new (-1), and `found` has everything else: outcome, edits, evidence. Where none was found,
    `counterfactual` is missing and the masks are zero. docs/guides/classifiers.md has an example.
    """

    def __init__(
        self,
        kit: str | Path | Kit,
        target: int | str | None = None,
        *,
        x: Form = "columns",
        edge_attr: Form = "columns",
        **settings: Any,
    ):
        super().__init__()
        self.kit = kit if isinstance(kit, Kit) else load_kit(kit)
        self.target, self.settings = target, settings
        self.x: Form = x
        self.edge_attr: Form = edge_attr

    def forward(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Int[Tensor, "2 m"],
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> Explanation:
        """The explanation of one graph. `target`, the model's own prediction, is known to the search by itself."""
        if kwargs.get("batch") is not None and bool(kwargs["batch"].any()):
            raise DataError("One graph can be explained at a time; `batch` names several. Call the explainer for each.")
        returns = "value" if self.model_config.mode == ModelMode.regression else self.model_config.return_type.value
        classifier = PyGClassifier(model, self.kit.schema, x=self.x, edge_attr=self.edge_attr, return_type=returns)
        graph = _read(x, edge_index, kwargs.get("edge_attr"), self.kit.schema)
        found = Explainer(self.kit.with_classifier(classifier)).explain(graph, self.target, **self.settings)
        return _explanation(found, edge_index, classifier)

    def supports(self) -> bool:
        """Whether graphflip can explain what is asked; logs the reason if not."""
        rules = {
            "`task_level` must be 'graph'": self.model_config.task_level == ModelTaskLevel.graph,
            "`target` must be given for a regression": self.target is not None
            or self.model_config.mode != ModelMode.regression,
            "`explanation_type` must be 'model'": self.explainer_config.explanation_type == ExplanationType.model,
            "`node_mask_type` must be 'object' or None": self.explainer_config.node_mask_type
            in (None, MaskType.object),
        }
        for rule, holds in rules.items():
            if not holds:
                logging.getLogger(__name__).error("CounterfactualExplainer: %s.", rule)
        return all(rules.values())


def _read(x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, schema: Schema) -> Graph:
    if schema.de and edge_attr is None:
        raise DataError(
            f"Graphs of this kit must have `edge_attr`, {schema.de} columns; none came. Give it to the explainer; if "
            "the model has no use for it, let its forward take `edge_attr=None`."
        )
    columns = {"edge_attr": edge_attr} if schema.de else {}
    return from_pyg([Data(x=x, edge_index=edge_index, y=torch.zeros(1), **columns)], schema=schema).graphs()


def _explanation(
    counterfactual: Counterfactual, edge_index: Int[Tensor, "2 m"], classifier: PyGClassifier
) -> Explanation:
    """Masks of what changed in the graph explained, whose nodes are its first slots, and the changed graph."""
    before, after = counterfactual.factual, counterfactual.counterfactual if counterfactual.flipped else None
    n = int(before.num_nodes)
    nodes, pairs = _changes(before, before if after is None else after)
    touched = nodes | pairs.any(0) | pairs.any(1)
    explanation = Explanation(node_mask=touched[:n, None].float(), edge_mask=pairs[tuple(edge_index)].float())
    explanation.found = counterfactual
    if after is not None:
        explanation.counterfactual = _data(after, n, classifier)
    return explanation


def _changes(before: Graph, after: Graph) -> tuple[Bool[Tensor, " n"], Bool[Tensor, "n n"]]:
    """Which slots, and which pairs of slots, differ between two graphs."""
    nodes = (before.B != after.B) | (before.V != after.V).any(-1)
    pairs = (before.A != after.A) | (before.E != after.E).any(-1)
    return nodes[0], pairs[0]


def _data(graph: Graph, n: int, classifier: PyGClassifier) -> Data:
    """A graph as the model reads it; slots from `n` on are new nodes."""
    batch = SparseBatch.of(graph, graph.B > 0.5, graph.A > 0.5)
    columns = {"edge_attr": classifier.edges.read(batch.E)} if graph.schema.de else {}
    # Not an attribute of the Explanation, whose subgraphs would take it for one of the explained graph's nodes.
    columns["origin"] = torch.where(batch.slot < n, batch.slot, -1)
    return Data(x=classifier.nodes.read(batch.V), edge_index=batch.edge_index, **columns)
