"""Links: which pairs of nodes a move may join, and which edges hold a graph together; both take time like the graph's
size, not like its square."""

from collections.abc import Sequence

from .sketch import Pair, Sketch

PARTNERS = 40
"""With so many nodes, the nearest ones, a node may be joined; graphs of up to 41 nodes are searched whole."""


def partners(sketch: Sketch, nodes: Sequence[int], most: int = PARTNERS) -> dict[int, Sequence[int]]:
    """For each of these nodes the others that it may be joined with, in their order: all, or in large graphs the `most`
    that are nearest to it or that it is nearest to. Nodes of another part are the farthest, in their order."""
    if len(nodes) <= most + 1:
        return dict.fromkeys(nodes, nodes)
    around, inside = neighbors(sketch), dict.fromkeys(nodes)
    near: dict[int, set[int]] = {i: set() for i in nodes}
    for i in nodes:
        found = _nearest(around, i, inside, most)
        near[i].update(found)
        for j in found:
            near[j].add(i)
    place = {i: k for k, i in enumerate(nodes)}
    return {i: sorted(near[i], key=place.__getitem__) for i in nodes}


def bridges(sketch: Sketch) -> set[Pair]:
    """The pairs of neighbors, each both ways, that are joined by nothing else than their edges."""
    around = neighbors(sketch)
    entered: dict[int, int] = {}
    lowest: dict[int, int] = {}
    found: set[Pair] = set()
    for root in sketch.nodes:
        if root in entered:
            continue
        entered[root] = lowest[root] = len(entered)
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
                    found |= {(before, i), (i, before)}
    return found


def neighbors(sketch: Sketch) -> dict[int, list[int]]:
    """The neighbors of every node, whatever the direction, each once."""
    around: dict[int, dict[int, None]] = {i: {} for i in sketch.nodes}
    for i, near in sketch.near.items():
        for j in near:
            around[i][j] = around[j][i] = None
    return {i: list(others) for i, others in around.items()}


def _nearest(around: dict[int, list[int]], start: int, inside: dict[int, None], most: int) -> list[int]:
    """The nearest of these nodes that are not neighbors, up to `most` of them, nearer ones first."""
    seen, todo, found = {start, *around[start]}, list(around[start]), []
    for i in todo:  # grows as it is walked through
        if len(found) >= most:
            return found[:most]
        fresh = [j for j in around[i] if j not in seen]
        seen.update(fresh)
        todo += fresh
        found += [j for j in fresh if j in inside]
    return [*found, *(j for j in inside if j not in seen)][:most]
