"""Counterfactuals in `torch_geometric.explain`: an algorithm for PyG's Explainer."""

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
    """Algorithm for PyG's Explainer: the smallest believable change that changes the model's prediction.

    The Explanation has `edge_mask` (edges removed or changed), `node_mask` (nodes changed, or at a changed edge),
    `counterfactual` (the changed graph as Data; its node k is node `counterfactual.origin[k]` of the explained graph,
    or new: -1) and `found` (graphflip's `Counterfactual`: outcome, edits, evidence). If the search fails,
    `counterfactual` is missing and the masks are zero. docs/guides/classifiers.md has a whole example.

    Args:
        kit: Models of this kind of graphs: the name of a kit of the package, a folder that `graphflip fit` wrote, or a
            loaded kit.
        target: Class by number or name, by default the likeliest other one; for a regression a change of the value, as
            in "raise by 0.5".
        x: Form in which the model reads node attributes, as in `PyGClassifier`; recognized by default.
        edge_attr: Form in which the model reads edge attributes.
        **settings: Options of `graphflip.Explainer.explain`.

    Example:
        >>> algorithm = CounterfactualExplainer("ames", target=0)  # doctest: +SKIP
    """

    def __init__(
        self,
        kit: str | Path | Kit,
        target: int | str | None = None,
        *,
        x: Form | None = None,
        edge_attr: Form | None = None,
        **settings: Any,
    ):
        super().__init__()
        self.kit = kit if isinstance(kit, Kit) else load_kit(kit)
        self.target, self.settings = target, settings
        self.x: Form | None = x
        self.edge_attr: Form | None = edge_attr

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
        """Explain one graph; called by PyG's Explainer.

        Args:
            model: The model to explain.
            x: Node features.
            edge_index: Edges, of shape 2 x m.
            target: The model's prediction; not used, because the search computes it.
            index: Not used: the model predicts one output per graph.
            **kwargs: Further inputs of the model; `edge_attr` and `batch` are read.

        Returns:
            Masks of the changes, and the counterfactual.

        Raises:
            DataError: If `batch` holds several graphs, or the graph does not fit the kit.
        """
        if kwargs.get("batch") is not None and bool(kwargs["batch"].any()):
            raise DataError("One graph can be explained at a time; `batch` names several. Call the explainer for each.")
        returns = "value" if self.model_config.mode == ModelMode.regression else self.model_config.return_type.value
        classifier = PyGClassifier(model, self.kit.schema, x=self.x, edge_attr=self.edge_attr, return_type=returns)
        needs_edges = "edge_attr" in classifier.names.values()
        graph = _read(x, edge_index, kwargs.get("edge_attr"), self.kit.schema, needs_edges)
        found = Explainer(self.kit.with_classifier(classifier)).explain(graph, self.target, **self.settings)
        return _explanation(found, edge_index, classifier)

    def supports(self) -> bool:
        """True if graphflip can explain this kind of model; logs the reason if not."""
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


def _read(x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, schema: Schema, is_needed: bool = True) -> Graph:
    if schema.de and edge_attr is None:
        if is_needed:
            raise DataError(
                f"Graphs of this kit must have `edge_attr`, {schema.de} columns; none came. Give it to the explainer; "
                "if the model has no use for it, let its forward take `edge_attr=None`."
            )
        first = [number for column in schema.edges for number in column.encode(column.choices[0])]
        said = ", ".join(f"{column.name} {column.choices[0]}" for column in schema.edges)
        logging.getLogger(__name__).warning(
            "The model takes no `edge_attr` and none came: all edges are read as %s. Give `edge_attr` to keep them.",
            said,
        )
        edge_attr = torch.tensor(first).expand(edge_index.shape[1], -1)
    columns = {"edge_attr": edge_attr} if schema.de else {}
    return from_pyg([Data(x=x, edge_index=edge_index, y=torch.zeros(1), **columns)], schema=schema).graphs()


def _explanation(
    counterfactual: Counterfactual, edge_index: Int[Tensor, "2 m"], classifier: PyGClassifier
) -> Explanation:
    """Masks of the changes in the explained graph, whose nodes are its first slots, and the changed graph."""
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
    """Masks of the slots, and of the pairs of slots, that differ between two graphs."""
    nodes = (before.B != after.B) | (before.V != after.V).any(-1)
    pairs = (before.A != after.A) | (before.E != after.E).any(-1)
    return nodes[0], pairs[0]


def _data(graph: Graph, n: int, classifier: PyGClassifier) -> Data:
    """Convert a graph to the form that the model reads; slots from `n` on are new nodes."""
    batch = SparseBatch.of(graph, graph.B > 0.5, graph.A > 0.5)
    columns = {"edge_attr": classifier.edges.read(batch.E)} if graph.schema.de else {}
    # An attribute of the counterfactual: as one of the Explanation, PyG would cut it like the explained graph's nodes.
    columns["origin"] = torch.where(batch.slot < n, batch.slot, -1)
    return Data(x=classifier.nodes.read(batch.V), edge_index=batch.edge_index, **columns)
