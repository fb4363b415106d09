"""Layout: one place for each node slot, shared by all graphs that are shown side by side."""

from collections.abc import Mapping, Sequence
from math import pi

import numpy as np
from jaxtyping import Float

from ...describe.change import connected_groups, neighbors
from ...errors import require
from ...graph import Graph
from .depiction import depict, num_faults, turned_onto
from .scene import Point

Places = dict[int, Point]
Near = Mapping[int, set[int]]
"""Sets of neighbors, for the nodes that have any."""


def place(graphs: Sequence[Graph], hidden: frozenset[int] = frozenset(), start: Places | None = None) -> Places:
    """Place every node of some aligned graphs, except hidden ones; distances are in edge lengths.

    Nodes that have a place to `start` with keep it. The first graph is laid out by itself. Each further graph keeps the
    places that are taken, so that shared nodes do not move, and adds its new nodes. Edges of earlier graphs count as
    neighbors too, so that no new node is put onto a removed edge.
    """
    taken: Places = dict(start or {})
    near: dict[int, set[int]] = {}
    for graph in graphs:
        slots = [i for i, node in enumerate(graph.nodes()) if node is not None and i not in hidden]
        for i, others in neighbors(graph).items():
            near.setdefault(i, set()).update(others)
        if set(slots) <= taken.keys():
            continue
        arrange = _arrange_molecule if graph.schema.chemistry is not None else _arrange
        arranged = arrange(graph, slots, near, {i: taken[i] for i in slots if i in taken})
        new = {i: arranged[i] for i in slots if i not in taken}
        taken |= _separate_loose(new, taken, graph)
    return taken


def tidied(graphs: Sequence[Graph], places: Places, hidden: frozenset[int]) -> Places:
    """Places of the nodes of the last graph: those given, unless they make more of a tangle of it than of the first.

    Then nodes that hang elsewhere than before are placed anew around the others, which stay. Where that does not help,
    as when a ring was closed between distant atoms, the whole molecule is drawn anew, and turned and moved so that its
    nodes lie as near as possible to where they were; if that has fewer faults.
    """
    graph = graphs[-1]
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None and i not in hidden]
    given, bearable = {i: places[i] for i in slots}, _faults(graphs[0], places)
    if graph.schema.chemistry is None or len(slots) < 3 or _faults(graph, given) <= bearable:
        return given
    near, before = neighbors(graph), neighbors(graphs[0])
    staying = [i for i in slots if near.get(i, set()) & before.get(i, set())]
    mended = _arrange_molecule(graph, slots, near, {i: given[i] for i in staying}) if staying else given
    if _faults(graph, mended) <= bearable:
        return mended
    alone = _arrange_molecule(graph, slots, near, {})
    was, drawn = (np.array([where[i] for i in slots]) for where in (given, alone))
    moved = {i: (float(x), float(y)) for i, (x, y) in zip(slots, turned_onto(drawn, was), strict=True)}
    return min((given, mended, moved), key=lambda one: _faults(graph, one))


def _faults(graph: Graph, places: Places) -> float:
    """Faults of the drawing of a graph whose nodes have these places; nodes without one are left out."""
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None and i in places]
    number = {i: k for k, i in enumerate(slots)}
    pairs = [(number[i], number[j]) for i, j, _ in graph.edges() if i in number and j in number]
    points = np.array([places[i] for i in slots], dtype=float).reshape(-1, 2)
    return num_faults(points, np.array(pairs, dtype=int).reshape(-1, 2))


def free_direction(at: Point, others: Sequence[Point]) -> float:
    """The direction with most room around a point: the middle of the widest gap between the others, as an angle."""
    angles = sorted(np.arctan2(y - at[1], x - at[0]) % (2 * pi) for x, y in others)
    if not angles:
        return -pi / 4
    gaps = [(after - before, before) for before, after in zip(angles, [*angles[1:], angles[0] + 2 * pi], strict=True)]
    gap, start = max(gaps)
    return float(start + gap / 2)


def _separate_loose(new: Places, taken: Places, graph: Graph) -> Places:
    """Move new components that are joined to no placed node into rows below the rest."""
    near = neighbors(graph)
    loose = [part for part in connected_groups(new, near) if not any(j in taken for i in part for j in near.get(i, ()))]
    if not taken or not loose:
        return new
    fixed = taken | {i: point for i, point in new.items() if not any(i in part for part in loose)}
    xs, ys = zip(*fixed.values(), strict=True)
    moved, x, y, height = dict(new), min(xs), max(ys) + 1.0, 0.0
    for part in loose:
        left, right, top, bottom = _bounds([new[i] for i in part])
        if x > min(xs) and x + right - left > max(max(xs), min(xs) + 6.0):
            x, y, height = min(xs), y + height + 1.0, 0.0
        moved |= {i: (new[i][0] - left + x, new[i][1] - top + y) for i in part}
        x, height = x + right - left + 2.1, max(height, bottom - top)
    return moved


def _bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of some points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), max(xs), min(ys), max(ys)


def _arrange_molecule(graph: Graph, slots: Sequence[int], near: Near, fixed: Places) -> Places:
    """Lay out a molecule with RDKit, with some atoms fixed."""
    from ...data.molecules.molecule import to_mol

    chem = require("rdkit.Chem", "mol", "Drawing molecules")
    mol = chem.RWMol(to_mol(graph, sanitize=False))
    present = [i for i, node in enumerate(graph.nodes()) if node is not None]
    for k in reversed([k for k, i in enumerate(present) if i not in set(slots)]):
        mol.RemoveAtom(k)
    for k, i in enumerate(slots):
        for m, j in enumerate(slots[:k]):
            if j in near.get(i, ()) and mol.GetBondBetweenAtoms(k, m) is None:
                mol.AddBond(k, m, chem.BondType.SINGLE)
    mol.UpdatePropertyCache(strict=False)
    chem.FastFindRings(mol)
    points = depict(mol, {k: fixed[i] for k, i in enumerate(slots) if i in fixed})
    if points is None:
        return _arrange(graph, slots, near, fixed)
    return {i: (float(x), float(y)) for i, (x, y) in zip(slots, points, strict=True)}


def _arrange(graph: Graph, slots: Sequence[int], near: Near, fixed: Places) -> Places:
    """Lay out a graph by stress majorization, so that distances are about those along edges; nothing is random."""
    number = {i: k for k, i in enumerate(slots)}
    wanted = _EDGE * _distances([[number[j] for j in near.get(i, ()) if j in number] for i in slots])
    start = _spectral(wanted)
    rows = np.array([k for k, i in enumerate(slots) if i in fixed], dtype=int)
    anchored = np.array([fixed[slots[k]] for k in rows]).reshape(-1, 2)
    if len(rows):
        start = start + (anchored - start[rows]).mean(0)
    points = _majorize(start, wanted, rows, anchored)
    points = points if len(rows) else _enlarge(points)
    return {i: (float(x), float(y)) for i, (x, y) in zip(slots, points, strict=True)}


_EDGE = 1.4
"""Length of an edge between discs, which need more room than the letters of atoms."""


def _distances(near: Sequence[Sequence[int]]) -> Float[np.ndarray, "n n"]:
    """Shortest path lengths between nodes; between components, 1.5 and half the roots of their sizes."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = len(near)
    pairs = np.array([(i, j) for i in range(n) for j in near[i]], dtype=int).reshape(-1, 2)
    lengths = shortest_path(csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)), directed=False)
    finite = np.isfinite(lengths)
    return np.where(finite, lengths, 1.5 + np.sqrt(finite.sum(1))[:, None] / 2 + np.sqrt(finite.sum(1))[None] / 2)


def _spectral(wanted: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n 2"]:
    """Start of the layout: classical scaling, plus a small spiral that separates nodes at equal distances."""
    n = len(wanted)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ wanted**2 @ center)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.clip(values[::-1][:2], 0, None))
    axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    # The sign of an eigenvector is arbitrary: make its largest entry positive, so that every machine draws the same.
    axes *= np.where(np.take_along_axis(axes, np.abs(axes).round(6).argmax(0)[None], 0) < 0, -1, 1)
    turns = np.arange(n)
    return axes + 0.05 * np.stack([np.cos(2.4 * turns), np.sin(2.4 * turns)], 1) * np.sqrt(turns + 1)[:, None]


def _majorize(
    points: Float[np.ndarray, "n 2"],
    wanted: Float[np.ndarray, "n n"],
    rows: np.ndarray,
    anchored: Float[np.ndarray, "k 2"],
    rounds: int = 120,
) -> Float[np.ndarray, "n 2"]:
    """Move all points but the anchored ones until their distances are about those wanted."""
    n = len(points)
    points = points.copy()
    points[rows] = anchored
    weights = np.where(np.eye(n) > 0, 0.0, 1.0 / np.maximum(wanted, 1e-9) ** 2)
    total = np.maximum(weights.sum(1, keepdims=True), 1e-9)
    for _ in range(rounds):
        gap = points[:, None] - points[None]
        length = np.maximum(np.sqrt((gap**2).sum(-1)), 1e-6)
        points = ((weights[..., None] * (points[None] + gap * (wanted / length)[..., None])).sum(1)) / total
        points[rows] = anchored
    return points


def _enlarge(points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Enlarge a layout whose nodes stand too close to each other."""
    gaps = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) + 9.0 * np.eye(len(points))
    return points * np.clip(0.9 / max(gaps.min(initial=9.0), 1e-6), 1.0, 3.0)
