"""Ordinary PyG classifiers, and bad ones, to wrap."""

import torch
from torch import nn
from torch_geometric.nn import (
    GATConv,
    GATv2Conv,
    GCNConv,
    GENConv,
    GINConv,
    GINEConv,
    GraphConv,
    SAGEConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)

from graphflip.schema import Categories, Continuous, Schema

TYPE = Categories(name="type", values=tuple("abcd"))
SCHEMA = Schema(nodes=(TYPE,), edges=(Categories(name="bond", values=("x", "y", "z")),), max_nodes=12)
WEIGHTED = Schema(nodes=(TYPE,), edges=(Continuous(name="weight", mean=1.0, scale=0.3),), max_nodes=12, directed=True)
D, DE, WIDTH = SCHEMA.dv, SCHEMA.de, 8


def network(d: int) -> nn.Module:
    return nn.Sequential(nn.Linear(d, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))


LAYERS = {
    "gin": lambda d: GINConv(network(d)),
    "gcn": lambda d: GCNConv(d, WIDTH),
    "graph conv": lambda d: GraphConv(d, WIDTH),
    "graph conv, mean": lambda d: GraphConv(d, WIDTH, aggr="mean"),
    "sage": lambda d: SAGEConv(d, WIDTH),
    "gat": lambda d: GATConv(d, WIDTH // 2, heads=2),
    "gatv2, no loops": lambda d: GATv2Conv(d, WIDTH // 2, heads=2, add_self_loops=False),
    "gen": lambda d: GENConv(d, WIDTH),
}
WITH_BONDS = {
    "gine": lambda d: GINEConv(network(d), edge_dim=DE),
    "gat, bonds": lambda d: GATConv(d, WIDTH, edge_dim=DE),
    "transformer": lambda d: TransformerConv(d, WIDTH // 2, heads=2, edge_dim=DE),
}
REMOVING = [name for name in (*LAYERS, *WITH_BONDS) if name not in ("gen", "gat, bonds")]
"""Layers in which a weight of 0 is as good as no edge."""


class Plain(nn.Module):
    def __init__(self, layer, num_classes=2):
        super().__init__()
        self.layers = nn.ModuleList([layer(D), layer(WIDTH)])
        self.norm, self.out = nn.BatchNorm1d(WIDTH), nn.Linear(2 * WIDTH, num_classes)

    def forward(self, x, edge_index, batch):
        for layer in self.layers:
            x = torch.tanh(layer(x, edge_index))
        x = self.norm(x)
        return self.out(torch.cat([global_add_pool(x, batch), global_mean_pool(x, batch)], 1))


class WithBonds(Plain):
    def forward(self, edge_index, edge_attr, batch, x):
        for layer in self.layers:
            x = torch.tanh(layer(x, edge_index, edge_attr))
        return self.out(torch.cat([global_add_pool(x, batch), global_max_pool(x, batch)], 1))


class TakesData(Plain):
    def forward(self, data):
        return super().forward(data.x, data.edge_index, data.batch)


class TakesWeights(Plain):
    def forward(self, x, edge_index, batch, edge_weight=None):
        for layer in self.layers:
            x = torch.tanh(layer(x, edge_index, edge_weight))
        return self.out(torch.cat([global_add_pool(x, batch), global_mean_pool(x, batch)], 1))


class Embeds(nn.Module):
    """Reads integers, of nodes as "m 1" and of edges as " m"."""

    def __init__(self):
        super().__init__()
        self.atoms, self.bonds = nn.Embedding(D, WIDTH), nn.Embedding(DE, WIDTH)
        self.layer, self.out = GINEConv(network(WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        x = torch.tanh(self.layer(self.atoms(x.squeeze(-1)), edge_index, self.bonds(edge_attr)))
        return self.out(global_add_pool(x, batch))


def make(name, seed=0, dtype=torch.float32):
    """A network by name, with weights that have no special values."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Plain(LAYERS[name]) if name in LAYERS else WithBonds(WITH_BONDS[name])
        for parameter in model.parameters():
            parameter.data += torch.randn_like(parameter) / 5
    return model.to(dtype)


def build(kind, *args, seed=0):
    """Another of these, with reproducible weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind(*args)
