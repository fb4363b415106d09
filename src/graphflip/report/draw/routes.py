"""Routes: sequences of points that an edge runs through from one node to another."""

from collections.abc import Sequence
from itertools import pairwise
from math import hypot

import numpy as np
from jaxtyping import Float

from .scene import Point, between, shifted

Route = tuple[Point, ...]

_PIECES = 10


def arc(a: Point, b: Point, height: float) -> Route:
    """A parabola whose top lies `height` to the right of the straight line; the line itself if `height` is 0."""
    if not height:
        return a, b
    shares = [k / _PIECES for k in range(_PIECES + 1)]
    return tuple(shifted(between(a, b, s), between(a, b, 1 + s), 4 * s * (1 - s) * height)[0] for s in shares)


def free_arc(a: Point, b: Point, others: Float[np.ndarray, "n 2"], room: float) -> Route:
    """The flattest arc that stays `room` away from all other points; if there is none, the one that stays farthest."""
    heights = [0.0, *(sign * k * room for k in range(1, 6) for sign in (1, -1))]
    best, best_gap = (a, b), -1.0
    for height in heights:
        route = arc(a, b, height)
        gap = distance(route, others)
        if gap >= room:
            return route
        if gap > best_gap:
            best, best_gap = route, gap
    return best


def distance(route: Route, points: Float[np.ndarray, "n 2"]) -> float:
    """Distance between a route and the nearest of some points."""
    if not len(points):
        return float("inf")
    starts, ends = np.array(route[:-1])[:, None], np.array(route[1:])[:, None]  # k 1 2
    along = ends - starts
    share = ((points - starts) * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-9)
    nearest = starts + np.clip(share, 0, 1)[..., None] * along
    return float(np.sqrt(((points - nearest) ** 2).sum(-1)).min())


def cut(route: Route, from_start: float, from_end: float) -> Route:
    """A route without its ends of these lengths; at least a tenth of it is kept."""
    scale = min(1.0, 0.9 * length(route) / max(from_start + from_end, 1e-9))
    shorter = _without_start(route, scale * from_start)
    return _without_start(shorter[::-1], scale * from_end)[::-1]


def aside(route: Route, distance: float) -> Route:
    """The route at this distance to the right of another, as seen along it."""
    if len(route) == 2:
        return shifted(route[0], route[1], distance)
    ways = [(route[max(k - 1, 0)], route[min(k + 1, len(route) - 1)]) for k in range(len(route))]
    moves = [shifted((0.0, 0.0), (b[0] - a[0], b[1] - a[1]), distance)[0] for a, b in ways]
    return tuple((x + dx, y + dy) for (x, y), (dx, dy) in zip(route, moves, strict=True))


def middle(route: Route) -> Point:
    """The point halfway along a route."""
    return _without_start(route, length(route) / 2)[0]


def length(route: Sequence[Point]) -> float:
    """Length of a route."""
    return sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(route))


def _without_start(route: Route, removed: float) -> Route:
    """A route without its first part of this length."""
    for k, (a, b) in enumerate(pairwise(route)):
        piece = hypot(b[0] - a[0], b[1] - a[1])
        if removed < piece:
            return between(a, b, removed / piece), *route[k + 1 :]
        removed -= piece
    return route[-1], route[-1]
