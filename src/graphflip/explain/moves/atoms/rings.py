"""Rings that a new bond may close: of five to seven atoms, or of three with a heteroatom, and across no other ring."""

from collections.abc import Callable, Sequence

from ..connectivity import bridges
from ..sketch import Sketch

_SIZES = (5, 6, 7)
_SMALL = 3


def ring_partners(sketch: Sketch, nodes: Sequence[int], is_carbon: Callable[[int], bool]) -> dict[int, list[int]]:
    """Atoms that each of the atoms may be joined with.

    A bond across a ring system (between two of its atoms) makes a cage that hardly any molecule has; one between
    separate parts is no change of a molecule.

    Args:
        sketch: The molecule.
        nodes: Its atoms.
        is_carbon: Tells if an atom is carbon.

    Returns:
        For each atom, in the order of `nodes`, those with which a bond closes a ring of an allowed size.
    """
    system = ring_systems(sketch)
    allowed: dict[int, list[int]] = {}
    for i in nodes:
        ways = _shortest_ways(sketch, i)
        allowed[i] = [
            j
            for j in nodes
            if j in ways
            and (len(ways[j]) in _SIZES or (len(ways[j]) == _SMALL and not all(map(is_carbon, ways[j]))))
            and (i not in system or system.get(j) != system[i])
        ]
    return allowed


def ring_systems(sketch: Sketch) -> dict[int, int]:
    """Number of the ring system of each atom that is in one: atoms that are joined by bonds of rings."""
    single, system = bridges(sketch), {}
    for start in sketch.nodes:
        todo = [start] if start not in system and any((start, j) not in single for j in sketch.near[start]) else []
        while todo:
            i = todo.pop()
            system[i] = start
            todo += [j for j in sketch.near[i] if (i, j) not in single and j not in system]
    return system


def _shortest_ways(sketch: Sketch, start: int) -> dict[int, tuple[int, ...]]:
    """A shortest way from an atom to each atom near it, as the atoms on it; ways of at most the largest ring's size."""
    ways, todo = {start: (start,)}, [start]
    for i in todo:  # grows as it is walked through
        if len(ways[i]) < max(_SIZES):
            fresh = [j for j in sketch.near[i] if j not in ways]
            ways |= {j: (*ways[i], j) for j in fresh}
            todo += fresh
    return ways
