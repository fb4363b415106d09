"""Arguments of a PyG module's forward: which of a batch's tensors each of them is, recognized by its name."""

import inspect

from torch import nn

from ...errors import ClassifierError
from ...schema import Column, Schema

SYNONYMS = {
    "x": ("x", "features", "feat", "feats", "node_features", "node_feat", "node_attr", "h", "nodes", "inputs"),
    "edge_index": ("edge_index", "edges", "edge_list", "edge_idx", "index"),
    "batch": ("batch", "batch_index", "batch_idx", "batch_vec", "graph_index", "graph_ids", "node_to_graph"),
    "edge_attr": ("edge_attr", "edge_attrs", "edge_features", "edge_feat", "edge_type", "edge_types", "e"),
    "edge_weight": ("edge_weight", "edge_weights", "weight", "weights"),
    "batch_size": ("batch_size", "num_graphs", "size", "dim_size", "n_graphs"),
}
"""Names of an argument that stand for each tensor of a batch."""

_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def module_arguments(model: nn.Module, schema: Schema) -> dict[str, str]:
    """Tensor that each argument of a module's forward is given; `{name: "data"}` if it takes one object with all.

    Raises:
        ClassifierError: If an argument that has no default cannot be recognized, or nodes or edges are not taken.
    """
    if not isinstance(model, nn.Module):
        raise ClassifierError(f"A PyG classifier must be a torch.nn.Module; got {type(model).__name__}.")
    signature = inspect.signature(model.forward).parameters
    parameters = {name: p for name, p in signature.items() if p.kind not in _STARRED}
    needed = [name for name, p in parameters.items() if p.default is p.empty]
    if len(needed) == 1 and needed[0] not in SYNONYMS["x"]:
        return {needed[0]: "data"}
    known = {name: what for name in parameters if (what := _meaning(name)) is not None}
    unknown = [name for name in needed if name not in known]
    missing = [what for what in ("x", "edge_index") if what not in known.values()]
    if unknown or missing:
        raise ClassifierError(
            "A PyG classifier's forward must take x, edge_index and batch, and may take edge_attr, edge_weight and "
            f"batch_size, or one `data`; this one takes {', '.join(parameters)}. Write a module around it that does."
        )
    if not schema.de and any(known.get(name) == "edge_attr" for name in needed):
        raise ClassifierError(
            "The model takes `edge_attr`, but the schema has no edge columns. Use a schema that has them."
        )
    skipped = {"edge_attr"} if not schema.de else set()
    weighted = any(known.get(name) == "edge_weight" for name in needed)
    if not weighted and weight_column(schema.edges) is None:
        skipped.add("edge_weight")  # the model's own default
    return {name: what for name, what in known.items() if what not in skipped}


def weight_column(columns: tuple[Column, ...]) -> int | None:
    """Position in E of the continuous column, if there is exactly one."""
    continuous = [column for column in columns if column.is_continuous]
    if len(continuous) != 1:
        return None
    return sum(column.width for column in columns[: columns.index(continuous[0])])


def _meaning(name: str) -> str | None:
    return next((what for what, names in SYNONYMS.items() if name in names), None)
