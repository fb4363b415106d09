"""Places of the double bonds in an aromatic system, chosen anew after a change of it."""

from collections.abc import Collection, Iterable

from ..sketch import Pair, Sketch


def place_double_bonds(
    draft: Sketch, atoms: Collection[int], bonds: Iterable[Pair], is_double: Collection[Pair]
) -> dict[Pair, bool] | None:
    """Choose bonds such that each of the atoms has exactly one double bond.

    Of all choices, one that keeps as many double bonds where they are as possible (a matching of largest weight).

    Args:
        draft: The molecule.
        atoms: Atoms that need a double bond.
        bonds: Bonds that may be double; those between other atoms are left out.
        is_double: Bonds that are double now.

    Returns:
        For each of the bonds between the atoms, True if it is to be double; None if no choice serves all atoms.
    """
    inside = set(atoms)
    able = {(min(i, j), max(i, j)) for i, j in bonds if i in inside and j in inside and j in draft.near.get(i, ())}
    kept = {pair for pair in able if pair in is_double}
    ends = [i for pair in kept for i in pair]
    if len(ends) == len(inside) == len(set(ends)):
        return {pair: pair in kept for pair in able}  # every double bond stays, and no other choice keeps as many
    return _matched(inside, able, is_double)


def _matched(inside: set[int], able: set[Pair], is_double: Collection[Pair]) -> dict[Pair, bool] | None:
    """The choice among the bonds of these atoms by a search for a matching."""
    from networkx import Graph, max_weight_matching  # torch itself needs it, so it is always there

    graph = Graph()
    graph.add_nodes_from(sorted(inside))
    graph.add_weighted_edges_from((i, j, 2.0 if (i, j) in is_double else 1.0) for i, j in sorted(able))
    chosen = {(min(i, j), max(i, j)) for i, j in max_weight_matching(graph, maxcardinality=True)}
    if 2 * len(chosen) != len(inside):
        return None
    return {pair: pair in chosen for pair in able}


def connected_atoms(atoms: Collection[int], bonds: Collection[Pair], start: Collection[int]) -> set[int]:
    """Those of the atoms that can be reached from the start along the bonds."""
    near: dict[int, list[int]] = {}
    for i, j in bonds:
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    seen, todo = set(start), list(start)
    while todo:
        fresh = [j for j in near.get(todo.pop(), ()) if j not in seen]
        seen.update(fresh)
        todo += fresh
    return seen & set(atoms)
