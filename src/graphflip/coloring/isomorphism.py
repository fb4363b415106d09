"""Comparing labelled graphs without regard to the order of their nodes."""

import hashlib
from collections import Counter

Plain = tuple[list[str], list[tuple[int, int, str]]]
"""Node labels, and edges (i, j, label); each undirected edge once."""

_Around = list[dict[int, tuple[str, str]]]
"""For each node its neighbors, with the labels of the edges to and from them."""


def color_refinement(labels: list[str], edges: list[tuple[int, int, str]], directed: bool = False) -> list[str]:
    """A digest per node that does not depend on the order of nodes (1-dimensional Weisfeiler-Leman, to stability).

    Nodes of one graph, or of two, have different digests only if no isomorphism maps one to the other.
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
    """Whether some renumbering of nodes turns one graph into the other, labels included."""
    return find_isomorphism(g, h, directed) is not None


def find_isomorphism(g: Plain, h: Plain, directed: bool = False) -> list[int] | None:
    """Numbers `image` such that node i of `g` is node `image[i]` of `h`; None if the graphs differ.

    Exact, by backtracking within refined colors: fast on molecules, exponential at worst on highly regular graphs.
    """
    if len(g[0]) != len(h[0]) or len(g[1]) != len(h[1]):
        return None
    g_colors, h_colors = (color_refinement(*graph, directed=directed) for graph in (g, h))
    if Counter(g_colors) != Counter(h_colors):
        return None
    g_around, h_around = (_neighbors(len(labels), edges, directed) for labels, edges in (g, h))
    order = _search_order(g_colors, g_around)
    candidates = {color: [j for j, other in enumerate(h_colors) if other == color] for color in set(h_colors)}

    image: dict[int, int] = {}
    taken: set[int] = set()
    trials = []  # for each placed node, and the one being placed, what is left to try
    while len(image) < len(order):
        if len(trials) == len(image):
            trials.append(iter(candidates[g_colors[order[len(image)]]]))
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
    """Whether two nodes have the same edges to what is placed already."""
    return {image[k]: tag for k, tag in g_near.items() if k in image} == {k: h_near[k] for k in h_near if k in taken}


def _search_order(colors: list[str], around: _Around) -> list[int]:
    """Nodes such that each follows a neighbor where it can, rare colors first: conflicts show early."""
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


def _neighbors(n: int, edges: list[tuple[int, int, str]], directed: bool) -> _Around:
    labels = {(i, j): label for i, j, label in edges}
    if not directed:
        labels |= {(j, i): label for i, j, label in edges}
    around: _Around = [{} for _ in range(n)]
    for i, j in labels:
        # An absent direction must differ from every label, the empty one included.
        to, back = (f"={labels[pair]}" if pair in labels else "" for pair in ((i, j), (j, i)))
        around[i][j], around[j][i] = (to, back), (back, to)
    return around


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
