"""Where nodes are drawn: one place for each slot, shared by all graphs that are shown side by side."""

from collections.abc import Mapping, Sequence
from math import pi

import numpy as np
from jaxtyping import Float

from ...describe.sentences import lots, neighbors
from ...errors import require
from ...graph import Graph
from .scene import Point

Places = dict[int, Point]
Near = Mapping[int, set[int]]
"""The neighbors of nodes that have some."""


def place(graphs: Sequence[Graph], hidden: frozenset[int] = frozenset()) -> Places:
    """A place for every node of some aligned graphs but the hidden ones, in units of the usual length of an edge.

    The first graph is laid out by itself. Each further one keeps the places that are taken, so that what two graphs
    share stands still, and finds places for its new nodes; edges of earlier graphs count too, so that nothing new is
    put where an edge has gone.
    """
    taken: Places = {}
    near: dict[int, set[int]] = {}
    for graph in graphs:
        slots = [i for i, node in enumerate(graph.nodes()) if node is not None and i not in hidden]
        for i, others in neighbors(graph).items():
            near.setdefault(i, set()).update(others)
        if set(slots) <= taken.keys():
            continue
        arrange = _arrange_molecule if graph.schema.chemistry is not None else _arrange
        found = arrange(graph, slots, near, {i: taken[i] for i in slots if i in taken})
        new = {i: found[i] for i in slots if i not in taken}
        taken |= _apart(new, taken, graph)
    return taken


def free_direction(at: Point, others: Sequence[Point]) -> float:
    """The angle at which there is most room around a point."""
    angles = sorted(np.arctan2(y - at[1], x - at[0]) % (2 * pi) for x, y in others)
    if not angles:
        return -pi / 4
    gaps = [(after - before, before) for before, after in zip(angles, [*angles[1:], angles[0] + 2 * pi], strict=True)]
    gap, start = max(gaps)
    return float(start + gap / 2)


def _apart(new: Places, taken: Places, graph: Graph) -> Places:
    """New places; parts that are joined to nothing old are set in rows below all else."""
    near = neighbors(graph)
    loose = [part for part in lots(new, near) if not any(j in taken for i in part for j in near.get(i, ()))]
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
    """Left, right, top and bottom."""
    xs, ys = zip(*points, strict=True)
    return min(xs), max(xs), min(ys), max(ys)


def _arrange_molecule(graph: Graph, slots: Sequence[int], near: Near, fixed: Places) -> Places:
    """RDKit's coordinates of the atoms that are drawn."""
    from ...data.molecules.molecule import to_mol

    chem = require("rdkit.Chem", "mol", "Drawing molecules")
    depict = require("rdkit.Chem.rdDepictor", "mol", "Drawing molecules")
    point = require("rdkit.Geometry", "mol", "Drawing molecules").Point2D
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
    at = {k: point(_RDKIT * fixed[i][0], -_RDKIT * fixed[i][1]) for k, i in enumerate(slots) if i in fixed}
    quiet = require("rdkit.rdBase", "mol", "Drawing molecules").BlockLogs
    try:
        with quiet():
            depict.Compute2DCoords(mol, coordMap=at, canonOrient=not at)
    except RuntimeError:  # what no chemist would draw, RDKit cannot always place around atoms that are to stay
        return _arrange(graph, slots, near, fixed)
    conformer = mol.GetConformer()
    points = [conformer.GetAtomPosition(k) for k in range(len(slots))]
    return {i: (p.x / _RDKIT, -p.y / _RDKIT) for i, p in zip(slots, points, strict=True)}


_RDKIT = 1.5
"""RDKit's length of a bond; its y axis points up, that of pictures down."""


def _arrange(graph: Graph, slots: Sequence[int], near: Near, fixed: Places) -> Places:
    """Distances on the picture as along edges, as far as that goes: stress majorization, without any random start."""
    number = {i: k for k, i in enumerate(slots)}
    wanted = _EDGE * _distances([[number[j] for j in near.get(i, ()) if j in number] for i in slots])
    start = _spectral(wanted)
    rows = np.array([k for k, i in enumerate(slots) if i in fixed], dtype=int)
    anchored = np.array([fixed[slots[k]] for k in rows]).reshape(-1, 2)
    if len(rows):
        start = start + (anchored - start[rows]).mean(0)
    points = _majorized(start, wanted, rows, anchored)
    points = points if len(rows) else _loosened(points)
    return {i: (float(x), float(y)) for i, (x, y) in zip(slots, points, strict=True)}


_EDGE = 1.4
"""Length of an edge between nodes that are discs: they need more room than letters."""


def _distances(near: Sequence[Sequence[int]]) -> Float[np.ndarray, "n n"]:
    """Numbers of edges between nodes; between parts that are not joined a little more than their size asks for."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = len(near)
    pairs = np.array([(i, j) for i in range(n) for j in near[i]], dtype=int).reshape(-1, 2)
    found = shortest_path(csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)), directed=False)
    finite = np.isfinite(found)
    return np.where(finite, found, 1.5 + np.sqrt(finite.sum(1))[:, None] / 2 + np.sqrt(finite.sum(1))[None] / 2)


def _spectral(wanted: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n 2"]:
    """Classical scaling, with a small spiral that keeps nodes apart which it cannot tell from each other."""
    n = len(wanted)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ wanted**2 @ center)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.clip(values[::-1][:2], 0, None))
    axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    # The sign of an eigenvector is arbitrary: make its largest entry positive, so that every machine draws the same.
    axes *= np.where(np.take_along_axis(axes, np.abs(axes).round(6).argmax(0)[None], 0) < 0, -1, 1)
    turns = np.arange(n)
    return axes + 0.05 * np.stack([np.cos(2.4 * turns), np.sin(2.4 * turns)], 1) * np.sqrt(turns + 1)[:, None]


def _majorized(
    points: Float[np.ndarray, "n 2"],
    wanted: Float[np.ndarray, "n n"],
    rows: np.ndarray,
    anchored: Float[np.ndarray, "k 2"],
    rounds: int = 120,
) -> Float[np.ndarray, "n 2"]:
    """Points moved, all but the anchored ones, until distances are about those wanted."""
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


def _loosened(points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """A crowded picture made larger."""
    gaps = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) + 9.0 * np.eye(len(points))
    return points * np.clip(0.9 / max(gaps.min(initial=9.0), 1e-6), 1.0, 3.0)
