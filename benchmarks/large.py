"""Answers for large sparse graphs with a continuous attribute, by a PyG network as users bring it.

Every node has a heat; the class is the presence of two hot neighbors. For each size a GIN learns it from a few dozen
graphs, and graphs that it had not seen are explained with the default preference. Processor seconds and classifier
calls are means; memory is what the process grew by at most while it answered. `exponent` is p of seconds ~ nodes^p. Up
to `COMPARED` nodes the number of edits is compared with that of a search that makes every move.

Usage: python benchmarks/large.py [--quick] [--sizes 50,100,200,500,1000]
"""

import argparse
import json
import math
import time
from statistics import mean

import torch
from measure import forget_peak, peak_memory
from torch import Tensor, nn

from graphflip.data.dataset import GraphDataset
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.graph import Graph
from graphflip.models.adapters import PyGClassifier
from graphflip.schema import Categories, Continuous, Schema

SIZES = (50, 100, 200, 500, 1000)
COMPARED = 100
GRAPHS, TRAINED, EPOCHS = 3, 96, 40
HOT = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50 and 200 nodes only, and one network for both")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of nodes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes = (50, 200) if options.quick else tuple(int(size) for size in options.sizes.split(","))
    figures = measure_large(sizes, options.quick)
    print(json.dumps(figures))


def measure_large(sizes: tuple[int, ...], quick: bool = False) -> dict[str, object]:
    """Seconds, calls, MiB and edits for graphs of each size, and the exponent of the seconds.

    With `quick`, the network that has learned from the smallest graphs answers for all sizes.
    """
    net = trained(hot_neighbors(sizes[0], TRAINED, seed=1)) if quick else None
    rows = {str(n): measure(n, net) for n in sizes}
    found: dict[str, object] = {"large": rows}
    if len(sizes) > 1:
        found["large_exponent"] = round(slope([(n, rows[str(n)]["seconds"]) for n in sizes]), 3)
    return found


def measure(n: int, net: "Net | None" = None) -> dict[str, float]:
    """Figures for graphs of n nodes, of which few are needed for a network that has learned already."""
    known = TRAINED if net is None else 8
    whole = hot_neighbors(n, known + GRAPHS, seed=1)
    train, test = whole.subset(torch.arange(known)), whole.subset(torch.arange(known, known + GRAPHS))
    net = net or trained(train)
    classifier = PyGClassifier(net, train.schema, num_classes=2, sample=train.graphs(range(2)))
    explainer = Explainer(Kit("large", classifier, Knowledge.mine(train), train.classes))
    graphs = [test.graphs([k]) for k in range(GRAPHS)]
    right = mean(float(int(classifier(graph).argmax()) == int(test.labels[k])) for k, graph in enumerate(graphs))
    held, began = forget_peak(), time.process_time()
    answers = [explainer.explain(graph) for graph in graphs]
    row = {
        "seconds": round((time.process_time() - began) / GRAPHS, 3),
        "calls": mean(answer.classifier_calls for answer in answers),
        "mib": round(peak_memory() - held, 1),
        "peak_mib": round(peak_memory(), 1),
        "edits": mean(len(answer.edits) for answer in answers),
        "flipped": mean(answer.flipped for answer in answers),
        "right": right,
    }
    if n <= COMPARED:
        row["edits_of_all_moves"] = mean(len(explainer.explain(graph, thorough=True).edits) for graph in graphs)
    return row


def hot_neighbors(n: int, count: int, seed: int, kinds: bool = False, most: int = 1) -> GraphDataset:
    """Sparse graphs in which a few nodes are hot: neighbors of each other in every second graph.

    Heat is a number, or with `kinds` one of three words; there are up to `most` pairs of hot neighbors.
    """
    rng = torch.Generator().manual_seed(seed)
    heat_column = Categories(name="heat", values=("cold", "warm", "hot")) if kinds else Continuous(name="heat")
    schema = Schema(nodes=(heat_column,), max_nodes=n + 8)

    def said(heat: float) -> float | str:
        return ("hot" if heat > HOT else "warm" if heat > 0.5 else "cold") if kinds else heat

    def draw(below: int) -> int:
        return int(torch.randint(below, (), generator=rng))

    def one(label: int) -> Graph:
        pairs = {(max(k - 1 - draw(3), 0), k) for k in range(1, n)} | {(k - 5, k) for k in range(5, n, 10)}
        heat = torch.rand(n, generator=rng)
        order, near = sorted(pairs), {i: {j for pair in pairs if i in pair for j in pair} for i in range(0, n, n // 5)}
        hot = {i for _ in range(1 + draw(most)) for i in order[draw(len(order))]} if label else set()
        for i in near:  # lonely hot nodes in both classes
            if not near[i] & hot and len(hot) < 2 * most + 2:
                hot.add(i)
        for i in hot:
            heat[i] = HOT + 0.3 + 0.5 * float(torch.rand((), generator=rng))
        return Graph.build(schema, [{"heat": said(x)} for x in heat.tolist()], [(i, j, {}) for i, j in order])

    labels = [k % 2 for k in range(count)]
    graphs = [one(label) for label in labels]
    return GraphDataset.from_graphs("hot neighbors", graphs, labels, ("apart", "together")).with_scales()


class Net(nn.Module):
    """A GIN as people write it: sparse, two layers, the highest of all nodes counts."""

    def __init__(self, num_features: int, width: int = 32):
        from torch_geometric.nn import GINConv, global_max_pool

        super().__init__()
        self.enter = nn.Sequential(nn.Linear(num_features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.layers = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()))
            for _ in range(2)
        )
        self.out, self.pool = nn.Linear(width, 2), global_max_pool

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.enter(x)
        for layer in self.layers:
            h = layer(h, edge_index)
        return self.out(self.pool(h, batch))


def trained(dataset: GraphDataset) -> Net:
    """The network after a short training."""
    from torch_geometric.loader import DataLoader

    from graphflip.data.pyg.objects import to_pyg

    torch.manual_seed(0)
    net, data = Net(dataset.schema.dv), []
    for k in range(len(dataset)):
        (item,) = to_pyg(dataset.graphs([k]))
        item.y = dataset.labels[k : k + 1]
        data.append(item)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    loader = DataLoader(data, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
    for _ in range(EPOCHS):
        for batch in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimizer.step()
    return net.eval()


def slope(points: list[tuple[int, float]]) -> float:
    """p of y ~ x^p, by least squares of the logarithms."""
    x, y = ([math.log(point[k]) for point in points] for k in (0, 1))
    dx, dy = [value - mean(x) for value in x], [value - mean(y) for value in y]
    return sum(a * b for a, b in zip(dx, dy, strict=True)) / sum(a * a for a in dx)


if __name__ == "__main__":
    main()
