"""Comparison of labelled graphs regardless of the order of their nodes."""

import hashlib
from collections import Counter

import torch
from jaxtyping import Float
from torch import Tensor

Plain = tuple[list[str], list[tuple[int, int, str]]]
"""A graph as lists: a label for each node, and edges (i, j, label); each undirected edge once."""

_Neighbors = list[dict[int, tuple[str, str]]]
"""For each node its neighbors, with the labels of the edges to and from them."""


def plain_graph(
    B: Float[Tensor, " n"],
    V: Float[Tensor, "n dv"],
    A: Float[Tensor, "n n"],
    E: Float[Tensor, "n n de"],
    directed: bool,
) -> Plain:
    """Labels of the existing nodes of one graph, renumbered from 0, and of the edges between them.

    A label is the row of numbers itself, to four digits, so that relaxed graphs compare by their probabilities.
    """
    slots = B.nonzero()[:, 0]
    nodes = torch.cat([B[:, None], V], 1)[slots]
    A, E = A[slots][:, slots], E[slots][:, slots]
    i, j = (A if directed else A.triu(1)).nonzero(as_tuple=True)
    edges = torch.cat([A[..., None], E], 2)[i, j]
    return _labels(nodes), list(zip(i.tolist(), j.tolist(), _labels(edges), strict=True))


def color_refinement(labels: list[str], edges: list[tuple[int, int, str]], directed: bool = False) -> list[str]:
    """Color of each node by 1-dimensional Weisfeiler-Leman, repeated until the colors are stable.

    Colors are hashes that do not depend on the order of nodes. Two nodes, of one graph or of two, have different colors
    only if no isomorphism maps one to the other.
    """
    around = _neighbors(len(labels), edges, directed)
    colors = [_digest(label) for label in labels]
    for _ in labels:
        finer = [
            _digest(repr((color, sorted((tag, colors[j]) for j, tag in near.items()))))
            for color, near in zip(colors, around, strict=True)
        ]
        if len(set(finer)) == len(set(colors)):
            return finer
        colors = finer
    return colors


def isomorphic(g: Plain, h: Plain, directed: bool = False) -> bool:
    """True if some renumbering of nodes turns one graph into the other, labels included."""
    return find_isomorphism(g, h, directed) is not None


def find_isomorphism(g: Plain, h: Plain, directed: bool = False) -> list[int] | None:
    """Find an isomorphism: node i of `g` is node `image[i]` of `h`; None if the graphs differ.

    Exact, by backtracking among nodes of one color: fast on molecules, exponential at worst on highly regular graphs.
    """
    if len(g[0]) != len(h[0]) or len(g[1]) != len(h[1]):
        return None
    g_colors, h_colors = (color_refinement(*graph, directed=directed) for graph in (g, h))
    if Counter(g_colors) != Counter(h_colors):
        return None
    g_around, h_around = (_neighbors(len(labels), edges, directed) for labels, edges in (g, h))
    order = _search_order(g_colors, g_around)
    of_color = {color: [j for j, other in enumerate(h_colors) if other == color] for color in set(h_colors)}
    return _place(order, [of_color[g_colors[i]] for i in order], g_around, h_around)


def _place(
    order: list[int], candidates: list[list[int]], g_around: _Neighbors, h_around: _Neighbors
) -> list[int] | None:
    """Give each node in `order` one of its candidates, by backtracking, so that all edges agree; None if impossible."""
    image: dict[int, int] = {}
    taken: set[int] = set()
    trials = []  # for each placed node, and the one being placed, the candidates left to try
    while len(image) < len(order):
        if len(trials) == len(image):
            trials.append(iter(candidates[len(image)]))
        i = order[len(trials) - 1]
        j = next((j for j in trials[-1] if j not in taken and _fits(g_around[i], h_around[j], image, taken)), None)
        if j is not None:
            image[i] = j
            taken.add(j)
            continue
        trials.pop()
        if not trials:
            return None
        taken.remove(image.pop(order[len(trials) - 1]))
    return [image[i] for i in range(len(order))]


def _fits(g_near: dict, h_near: dict, image: dict[int, int], taken: set[int]) -> bool:
    """True if two nodes have the same edges to the nodes that are placed already."""
    return {image[k]: tag for k, tag in g_near.items() if k in image} == {k: h_near[k] for k in h_near if k in taken}


def _search_order(colors: list[str], around: _Neighbors) -> list[int]:
    """Order of the nodes in which each follows a neighbor if possible, rare colors first: conflicts show early."""
    rarity = Counter(colors)
    order: dict[int, None] = {}
    for start in sorted(range(len(colors)), key=lambda i: rarity[colors[i]]):
        stack = [start]
        while stack:
            i = stack.pop()
            if i not in order:
                order[i] = None
                stack.extend(sorted(around[i], key=lambda j: -rarity[colors[j]]))
    return list(order)


def _neighbors(n: int, edges: list[tuple[int, int, str]], directed: bool) -> _Neighbors:
    labels = {(i, j): label for i, j, label in edges}
    if not directed:
        labels |= {(j, i): label for i, j, label in edges}
    around: _Neighbors = [{} for _ in range(n)]
    for i, j in labels:
        # An absent direction must differ from every label, the empty one included.
        to, back = (f"={labels[pair]}" if pair in labels else "" for pair in ((i, j), (j, i)))
        around[i][j], around[j][i] = (to, back), (back, to)
    return around


def _labels(rows: Float[Tensor, "k d"]) -> list[str]:
    return [" ".join(f"{x:.4g}" for x in row) for row in (rows + 0.0).tolist()]  # + 0.0: -0.0 becomes 0.0


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
