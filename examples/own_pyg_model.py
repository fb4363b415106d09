"""Ordinary PyG classifiers, trained here and explained without a change to their source.

Usage: python examples/own_pyg_model.py gin|gat|gine [graphs to explain] [epochs]      (needs GRAPHFLIP_DATA)
"""

import sys

import torch
from torch import nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GAT, GIN, MLP, GINEConv, global_add_pool

import graphflip as gf
from graphflip.data.pyg.objects import to_pyg
from graphflip.models.adapters import PyGClassifier


class Plain(nn.Module):
    def __init__(self, network, width=64):
        super().__init__()
        self.network, self.last = network, MLP([width, width, 2], norm=None, dropout=0.3)

    def forward(self, x, edge_index, batch, edge_attr=None):
        return self.last(global_add_pool(self.network(x, edge_index), batch) / 20)


class WithBonds(nn.Module):
    def __init__(self, dv, de, width=64):
        super().__init__()
        self.layers = nn.ModuleList(GINEConv(MLP([d, width, width]), edge_dim=de) for d in (dv, width, width, width))
        self.last = MLP([width, width, 2], norm=None, dropout=0.3)

    def forward(self, x, edge_index, batch, edge_attr):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr).relu()
        return self.last(global_add_pool(x, batch) / 20)


def train(kind, dataset, epochs=20):
    torch.manual_seed(0)
    dv, de = dataset.schema.dv, dataset.schema.de
    networks = {"gin": lambda: GIN(dv, 64, 4, norm="batch_norm"), "gat": lambda: GAT(dv, 64, 4, heads=4)}
    model = WithBonds(dv, de) if kind == "gine" else Plain(networks[kind]())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        for data in DataLoader(to_pyg(dataset.part("train")), batch_size=64, shuffle=True):
            loss = nn.functional.cross_entropy(model(data.x, data.edge_index, data.batch, data.edge_attr), data.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


if __name__ == "__main__":
    kind, limit, epochs = [*sys.argv[1:], *("gin", "5", "20")[len(sys.argv) - 1 :]]
    dataset = gf.load_dataset("mutagenicity")
    classifier = PyGClassifier(train(kind, dataset, int(epochs)), dataset.schema, num_classes=2)
    found = gf.load("mutagenicity", classifier=classifier).explain(dataset.part("test").subset(range(int(limit))))
    print(*found, sep="\n")
    print(f"{sum(one.flipped for one in found)} of {len(found)} flipped")
