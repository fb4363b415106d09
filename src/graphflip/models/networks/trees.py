"""TreeClassifier: boosted trees on counts of environments, stored as plain arrays; the judge that is no GNN."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from ...data.dataset import GraphDataset
from ...errors import DataError, ModelFileError, require
from ...graph import Graph
from ...schema import Schema
from .classifier import AbstractClassifier
from .wl import wl_counts


class TreesConfig(BaseModel):
    """Features and size of the ensemble. `num_nodes` (of the largest tree) is known once the trees are grown."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    features: Literal["wl", "morgan"] = "wl"
    radius: int = Field(default=2, ge=0, le=100)
    bins: int = Field(default=2048, gt=0, le=2**24)
    num_trees: int = Field(default=200, gt=0, le=100_000)
    leaves: int = Field(default=31, gt=1, le=2**20)
    rate: float = Field(default=0.08, gt=0)
    num_nodes: int = Field(default=0, ge=0, le=2**21)


class TreeClassifier(AbstractClassifier):
    """Gradient-boosted trees for two classes, grown by `fit_trees`; for hard graphs, without gradients.

    Args:
        schema: Columns of the graphs.
        config: Features and sizes; `num_nodes` must be that of the grown trees.

    Example:
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> TreeClassifier(graph.schema, TreesConfig(num_trees=1, num_nodes=1))(graph).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """

    default: ClassVar[TreesConfig] = TreesConfig()
    has_gradients: ClassVar[bool] = False
    feature: Int[Tensor, "trees nodes"]
    threshold: Float[Tensor, "trees nodes"]
    child: Int[Tensor, "trees nodes 2"]
    value: Float[Tensor, "trees nodes"]
    offset: Float[Tensor, ""]

    def __init__(self, schema: Schema, config: TreesConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        shape = (config.num_trees, config.num_nodes)
        self.register_buffer("feature", torch.zeros(shape, dtype=torch.int32))
        self.register_buffer("threshold", torch.zeros(shape))
        self.register_buffer("child", torch.zeros(*shape, 2, dtype=torch.int32))
        self.register_buffer("value", torch.zeros(shape))
        self.register_buffer("offset", torch.zeros(()))
        self.register_load_state_dict_post_hook(_check_trees)

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        """Count environments, the features of the trees."""
        return environment_counts(graph, self.config)

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        trees = torch.arange(self.config.num_trees)
        at = torch.zeros(len(embedding), len(trees), dtype=torch.long)
        while True:
            right = embedding.gather(1, self.feature[trees, at].long()) > self.threshold[trees, at]
            below = self.child[trees, at, right.long()].long()
            if bool((below == at).all()):  # leaves point at themselves
                break
            at = below
        logit = self.offset + self.value[trees, at].sum(1)
        return torch.stack([torch.zeros_like(logit), logit], -1)


def _check_trees(trees: TreeClassifier, _: object) -> None:
    """Raise ModelFileError unless every way down a tree ends: children come after their parents, or are the leaf."""
    child, nodes = trees.child.long(), torch.arange(trees.config.num_nodes)[:, None]
    is_leaf = (child == nodes).all(-1)
    descends = ((child > nodes) & (child < len(nodes))).all(-1)
    features = (trees.feature >= 0) & (trees.feature < trees.config.bins)
    if not len(nodes) or not bool((is_leaf | descends).all()) or not bool(features.all()):
        raise ModelFileError(
            "Nodes of trees must be leaves or have children of larger numbers, and ask for features that there are; "
            "some do not. Train the model again."
        )


def fit_trees(dataset: GraphDataset, config: TreesConfig, seed: int = 0) -> TreeClassifier:
    """Grow trees on the train part of a dataset of two classes."""
    ensemble = require("sklearn.ensemble", "train", "Training the tree judge")
    train = dataset.part("train")
    train.require_classes()
    if len(dataset.classes) != 2:
        raise DataError(
            f"{dataset.name}: the tree judge is for two classes; got {len(dataset.classes)}. Use the judge `gnn`."
        )
    counts = torch.cat([environment_counts(train.graphs([k]), config) for k in range(len(train))])
    grower = ensemble.HistGradientBoostingClassifier(
        max_iter=config.num_trees,
        learning_rate=config.rate,
        max_leaf_nodes=config.leaves,
        min_samples_leaf=5,
        l2_regularization=1.0,
        max_features=0.2,
        early_stopping=False,
        random_state=seed,
    ).fit(counts.numpy(), train.labels.numpy())
    trees = [predictor.nodes for (predictor,) in grower._predictors]
    size = max(len(nodes) for nodes in trees)
    judge = TreeClassifier(dataset.schema, config.model_copy(update={"num_nodes": size}))
    judge.child.copy_(torch.arange(size)[:, None].expand(size, 2))
    judge.offset.fill_(float(grower._baseline_prediction.item()))
    for k, nodes in enumerate(trees):
        inner = torch.from_numpy(nodes["is_leaf"] == 0)
        pairs = torch.stack([torch.from_numpy(nodes[side].astype("int32")) for side in ("left", "right")], -1)
        judge.child[k, : len(nodes)][inner] = pairs[inner]
        judge.feature[k, : len(nodes)] = torch.from_numpy(nodes["feature_idx"].astype("int32"))
        judge.threshold[k, : len(nodes)] = torch.from_numpy(nodes["num_threshold"].astype("float32"))
        judge.value[k, : len(nodes)] = torch.from_numpy(nodes["value"].astype("float32"))
    return judge


def environment_counts(graph: Graph, config: TreesConfig) -> Float[Tensor, "b bins"]:
    """Count node environments, by color refinement or as RDKit's Morgan fingerprint of molecules."""
    if config.features == "wl":
        return wl_counts(graph, config.radius, config.bins)
    return _morgan_counts(graph, config)


def _morgan_counts(graph: Graph, config: TreesConfig) -> Float[Tensor, "b bins"]:
    from ...data.molecules.molecule import to_mol

    chem = require("rdkit.Chem", "mol", "Morgan fingerprints")
    logs = require("rdkit.rdBase", "mol", "Morgan fingerprints").BlockLogs()
    generators = require("rdkit.Chem.rdFingerprintGenerator", "mol", "Morgan fingerprints")
    generator = generators.GetMorganGenerator(radius=config.radius, fpSize=config.bins)
    rows = []
    for k in range(len(graph)):
        mol = to_mol(graph, k, sanitize=False)
        if chem.SanitizeMol(mol, catchErrors=True):  # not a molecule: fingerprint what can be read
            mol.UpdatePropertyCache(strict=False)
            chem.FastFindRings(mol)
        else:
            mol = chem.RemoveHs(mol)
        rows.append(torch.from_numpy(generator.GetCountFingerprintAsNumPy(mol).astype("float32")))
    del logs  # RDKit may complain again
    return torch.stack(rows) if rows else torch.zeros(0, config.bins)
