"""Depictions of molecules: the first of RDKit's layouts in which nothing covers anything else."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ...data.molecules.building import rdkit_chem, sanitize_mol
from ...errors import require
from .scene import Point

BOND = 1.5
"""Length of a bond in RDKit's coordinates, whose y axis points up; that of pictures points down."""


def depict(mol: Any, fixed: Mapping[int, Point]) -> Float[np.ndarray, "n 2"] | None:
    """Places of the atoms of a molecule in bond lengths, some of them fixed; None if RDKit can place them nowhere.

    RDKit's own layout is taken if it is clean. Otherwise, and if no atom is fixed, it is compared with others that
    are better at large rings and cages.
    """
    best, fewest = None, float("inf")
    for layout in _layouts(mol, fixed):
        points = _places(mol, layout)
        faults = float("inf") if points is None else num_faults(points, _bonds(mol)) + _num_squashed(mol, points)
        if points is not None and (best is None or faults < fewest):
            best, fewest = points, faults
        if not faults:
            break
    return best


def num_faults(points: Float[np.ndarray, "n 2"], bonds: Int[np.ndarray, "m 2"]) -> float:
    """Weighted number of atoms that cover atoms or bonds, of bonds that cross, and of bonds too short or too long."""
    if not len(bonds):
        return 0.0
    starts, ends = points[bonds[:, 0]], points[bonds[:, 1]]
    lengths = np.linalg.norm(ends - starts, axis=1)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1) + 9.0 * np.eye(len(points))
    shares = ((points - starts[:, None]) * (ends - starts)[:, None]).sum(-1) / np.maximum(lengths[:, None] ** 2, 1e-9)
    nearest = starts[:, None] + np.clip(shares, 0, 1)[..., None] * (ends - starts)[:, None]
    away = np.linalg.norm(points - nearest, axis=-1)  # m n
    np.put_along_axis(away, bonds, 9.0, axis=1)
    covered, odd = (gaps < 0.45).sum() / 2, (lengths < 0.75) | (lengths > 1.35)
    return float(4 * covered + 2 * (away < 0.3).sum() + 1.5 * _num_crossings(starts, ends) + 0.5 * odd.sum())


def _num_squashed(mol: Any, points: Float[np.ndarray, "n 2"]) -> float:
    """Weighted number of rings of five and six atoms that are far from round, but for those of cages."""
    squashed, rings = 0.0, [set(ring) for ring in mol.GetRingInfo().AtomRings()]
    for ring in rings:
        in_cage = any(2 < len(ring & other) < len(ring) for other in rings)
        corners = points[list(ring)]
        radii = np.linalg.norm(corners - corners.mean(0), axis=1)
        squashed += 3.0 * (len(ring) in (5, 6) and not in_cage and radii.max() > 1.5 * radii.min())
    return squashed


def turned_onto(points: Float[np.ndarray, "n 2"], places: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Turn, mirror and move points as a whole so that most of them lie as near as possible to their places.

    Places that are far off after a first fit, because something was rebuilt there, do not count in a second one.
    """
    weights = np.ones(len(points))
    fitted = points
    for _ in range(3):
        fitted = _fitted(points, places, weights)
        away = np.linalg.norm(fitted - places, axis=1)
        weights = 1.0 / (0.3 + away) ** 2
    return fitted


def _fitted(
    points: Float[np.ndarray, "n 2"], places: Float[np.ndarray, "n 2"], weights: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n 2"]:
    """The rigid motion of least squares, by Kabsch; reflections are allowed."""
    share = (weights / weights.sum())[:, None]
    middle, there = (points * share).sum(0), (places * share).sum(0)
    left, _, right = np.linalg.svd(((points - middle) * share).T @ (places - there))
    return (points - middle) @ (left @ right) + there


def _num_crossings(starts: Float[np.ndarray, "m 2"], ends: Float[np.ndarray, "m 2"]) -> float:
    """Number of pairs of lines that cross between their ends."""

    def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        u, v = b - a, c - a
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    a, b, c, d = starts[:, None], ends[:, None], starts[None], ends[None]
    crossing = (side(a, b, c) * side(a, b, d) < -1e-6) & (side(c, d, a) * side(c, d, b) < -1e-6)
    return crossing.sum() / 2


def _layouts(mol: Any, fixed: Mapping[int, Point]) -> Iterator[Callable[[Any], object]]:
    """Ways to place the atoms, the usual one first; others only for what RDKit takes for a molecule."""
    chem = rdkit_chem()
    depictor = require("rdkit.Chem.rdDepictor", "mol", "Drawing molecules")
    point = require("rdkit.Geometry", "mol", "Drawing molecules").Point2D
    at = {k: point(BOND * x, -BOND * y) for k, (x, y) in fixed.items()}
    yield lambda mol: depictor.Compute2DCoords(mol, coordMap=at, canonOrient=not at)
    if not at and not sanitize_mol(chem.Mol(mol)):
        generator = require("rdkit.Chem.rdCoordGen", "mol", "Drawing molecules")
        yield lambda mol: depictor.Compute2DCoords(mol, useRingTemplates=True)
        yield lambda mol: (generator.AddCoords(mol), depictor.NormalizeDepiction(mol))


def _places(mol: Any, layout: Callable[[Any], object]) -> Float[np.ndarray, "n 2"] | None:
    """Places by one layout, in bond lengths, y pointing down; None if it cannot place every atom."""
    copy = require("rdkit.Chem", "mol", "Drawing molecules").Mol(mol)
    try:
        with require("rdkit.rdBase", "mol", "Drawing molecules").BlockLogs():
            layout(copy)
    except RuntimeError:  # RDKit cannot place every odd structure around fixed atoms
        return None
    return copy.GetConformer().GetPositions()[:, :2] / (BOND, -BOND)


def _bonds(mol: Any) -> Int[np.ndarray, "m 2"]:
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
    return np.array(pairs, dtype=int).reshape(-1, 2)
