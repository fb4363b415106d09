"""Connectivity: pairs of nodes that a move may join, and bridges, in time about linear in the graph's size."""

from collections.abc import Sequence

from .sketch import Pair, Sketch

PARTNERS = 40
"""Number of nearest nodes that a node may be joined with; in graphs of up to 41 nodes these are all the others."""


def partners(sketch: Sketch, nodes: Sequence[int], most: int = PARTNERS) -> dict[int, Sequence[int]]:
    """For each of the nodes, those that it may be joined with, in the order of `nodes`.

    In graphs of up to `most` + 1 nodes these are all. In larger ones i and j may be joined if one is among the `most`
    that are nearest to the other. Nodes of other components count as farthest, in the order of `nodes`.
    """
    if len(nodes) <= most + 1:
        return dict.fromkeys(nodes, nodes)
    around, inside = neighbors(sketch), dict.fromkeys(nodes)
    near: dict[int, set[int]] = {i: set() for i in nodes}
    for i in nodes:
        nearest = _nearest(around, i, inside, most)
        near[i].update(nearest)
        for j in nearest:
            near[j].add(i)
    place = {i: k for k, i in enumerate(nodes)}
    return {i: sorted(near[i], key=place.__getitem__) for i in nodes}


def bridges(sketch: Sketch) -> set[Pair]:
    """Pairs of neighbors, in both directions, that only the edges between them connect."""
    around = neighbors(sketch)
    entered: dict[int, int] = {}
    pairs: set[Pair] = set()
    for root in sketch.nodes:
        if root not in entered:
            pairs |= _bridges_from(root, around, entered)
    return pairs


def neighbors(sketch: Sketch) -> dict[int, list[int]]:
    """Neighbors of every node along edges of either direction, each once."""
    around: dict[int, dict[int, None]] = {i: {} for i in sketch.nodes}
    for i, near in sketch.near.items():
        for j in near:
            around[i][j] = around[j][i] = None
    return {i: list(others) for i, others in around.items()}


def _bridges_from(root: int, around: dict[int, list[int]], entered: dict[int, int]) -> set[Pair]:
    """Bridges of the component of `root`, by depth-first search for low points; numbers its nodes in `entered`."""
    pairs: set[Pair] = set()
    entered[root] = len(entered)
    lowest = {root: entered[root]}
    path = [(root, root, iter(around[root]))]
    while path:
        i, before, rest = path[-1]
        for j in rest:
            if j not in entered:
                entered[j] = lowest[j] = len(entered)
                path.append((j, i, iter(around[j])))
                break
            if j != before:
                lowest[i] = min(lowest[i], entered[j])
        else:
            path.pop()
            lowest[before] = min(lowest[before], lowest[i])
            if lowest[i] > entered[before]:
                pairs |= {(before, i), (i, before)}
    return pairs


def _nearest(around: dict[int, list[int]], start: int, inside: dict[int, None], most: int) -> list[int]:
    """Up to `most` nodes of `inside` that are nearest to `start` and not its neighbors, nearer ones first."""
    seen, todo, nearest = {start, *around[start]}, list(around[start]), []
    for i in todo:  # grows as it is walked through
        if len(nearest) >= most:
            return nearest[:most]
        fresh = [j for j in around[i] if j not in seen]
        seen.update(fresh)
        todo += fresh
        nearest += [j for j in fresh if j in inside]
    return [*nearest, *(j for j in inside if j not in seen)][:most]
