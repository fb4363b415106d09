"""Changes of whole rings in words: a ring that goes, comes, becomes another one, or gains or loses its double bonds."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..edits import Edit
from .change import GraphChange, Sentence, connected_groups, listed
from .charges import following_charges
from .double_bonds import connected_edits, is_beside_ring, with_edits
from .ring_names import Ring, RingNames

_OPENED = ("epoxide", "aziridine", "thiirane")
"""Rings that are opened and closed where others are taken away and fused on."""


@dataclass(frozen=True)
class RingSentence:
    """A change of a ring in words.

    Args:
        sentence: The words with their edits.
        replaced: Slots of atoms that came or went with the ring, or became others.
    """

    sentence: Sentence
    replaced: frozenset[int]


@dataclass(frozen=True)
class _Found:
    """A change of rings, before its edits are known.

    Args:
        text: The words.
        atoms: Atoms of the rings; edits of bonds between them belong to the change.
        named: Atoms whose numbers are in the text.
        moved: Atoms that come or go; all edits at them belong to the change.
        relabeled: Atoms that become others.
    """

    text: str
    atoms: frozenset[int]
    named: frozenset[int]
    moved: frozenset[int] = frozenset()
    relabeled: frozenset[int] = frozenset()

    def owns(self, edit: Edit) -> bool:
        """True if an edit belongs to the change."""
        at = set(edit.at)
        inside = at <= self.relabeled if edit.is_node else at <= self.atoms
        return inside or not at.isdisjoint(self.moved)


def ring_sentences(change: GraphChange, edits: Sequence[Edit]) -> tuple[list[RingSentence], list[Edit]]:
    """Sentences for changes of whole rings, and the edits that belong to none.

    Bonds of the aromatic system that change with a ring are told with it. There are no such sentences if one of the
    graphs is no molecule.
    """
    said: list[RingSentence] = []
    left = list(edits)
    for found in _found(change) if any(_is_heavy_bond(change, edit) for edit in edits) else ():
        taken = tuple(edit for edit in left if found.owns(edit))
        if taken:
            taken += following_charges(change, taken, left)
            left = [edit for edit in left if edit not in taken]
            nodes = found.atoms | found.moved | found.named
            sentence = Sentence(found.text, taken, nodes, found.named)
            said.append(RingSentence(sentence, found.moved | found.relabeled))
    for atoms, some in connected_edits([edit for edit in left if is_beside_ring(change, edit)]):
        home = next((k for k, one in enumerate(said) if one.sentence.nodes & atoms), None)
        if home is not None:
            said[home] = replace(said[home], sentence=with_edits(said[home].sentence, some))
            left = [edit for edit in left if edit not in some]
    return said, left


def _is_heavy_bond(change: GraphChange, edit: Edit) -> bool:
    """True if an edit is about a bond between atoms other than hydrogen: without one, no ring changes."""
    return not edit.is_node and any(all(change.is_heavy(side, i) for i in edit.at) for side in (0, 1))


def _found(change: GraphChange) -> Iterator[_Found]:
    if change.rings is not None:
        exchanged = list(_exchanged(change, *change.rings))
        resized = frozenset().union(*(found.moved for found in exchanged))
        for side in (0, 1):
            yield from _moved_rings(change, side, resized)
        yield from exchanged
        yield from _resaturated(change, *change.rings)


def _moved_rings(change: GraphChange, side: int, resized: frozenset[int]) -> Iterator[_Found]:
    """Rings that only one side has, with all of their atoms that are in no other ring, and what hangs on these.

    What hangs on the rest by a single bond is a group, not a ring. Atoms by which rings were resized do not count.
    """
    assert change.rings is not None
    rings, near = change.rings[side], change.near[side]
    only_here = {i for i in near if change.is_heavy(side, i) and not change.is_heavy(1 - side, i)} - resized
    for part in connected_groups(only_here | _reused(change, side) - resized, near):
        touched = [ring for ring in rings.aromatic if ring & part]
        stay = frozenset().union(*(ring for ring in rings.aromatic if not ring & part))
        links = [j for i in part for j in near[i] if change.is_heavy(side, j) and j not in part]
        whole = all(ring - stay <= part and len(ring & part & only_here) > 1 for ring in touched)
        if _is_over_bond(change, rings, touched, part & only_here):
            yield _opened(change, rings, side, frozenset(part & only_here), touched[0])
        elif touched and len(links) > 1 and whole:
            yield from _moved(change, side, frozenset(part), touched, links)


def _reused(change: GraphChange, side: int) -> set[int]:
    """Atoms of rings of one side whose slots have atoms of no ring on the other: groups in the place of rings."""
    assert change.rings is not None
    here, there = (set().union(*change.rings[k].aromatic) for k in (side, 1 - side))
    return {i for i in here - there if change.is_heavy(1 - side, i)}


def _is_over_bond(change: GraphChange, rings: RingNames, touched: list[Ring], part: set[int]) -> bool:
    """True if some atoms make a ring of three with two atoms that are joined on both sides."""
    if len(touched) != 1 or rings.name(touched[0]) not in _OPENED or len(touched[0] - part) != 2:
        return False
    i, j = touched[0] - part
    return all(j in near.get(i, set()) for near in change.near)


def _opened(change: GraphChange, rings: RingNames, side: int, part: frozenset[int], ring: Ring) -> _Found:
    """The words for a ring of three that is opened, before, or closed, after."""
    named = ring - part if side else ring
    text = f"close {rings.a(ring)} over" if side else f"open {rings.the(ring)} of"
    return _Found(f"{text} {_names(change, named)}", ring, named, moved=part)


def _moved(
    change: GraphChange, side: int, part: frozenset[int], touched: list[Ring], links: Sequence[int]
) -> Iterator[_Found]:
    """The words for rings that come or go with a part of the molecule, which is joined to the rest by some links."""
    assert change.rings is not None
    rings, whole = change.rings[side], frozenset().union(*touched)
    groups = _groups_instead(change, 1 - side, part)
    if groups is None:
        return
    named = frozenset(links) & whole or frozenset(links)
    there, fused = _names(change, named), len(named & whole) > 1
    if side == 0:
        what = _went(rings, touched, there, fused)
        text = f"replace {what} by {_instead(change, groups)}" if groups else f"take away {what}"
    else:
        what = rings.a(touched[0]) if len(touched) == 1 else f"{len(touched)} rings"
        what += _with_branches(change, part - whole)
        verb, joined = ("fuse", "fused") if fused else ("join", "joined")
        text = f"{verb} {what}" if not groups else f"replace {_instead(change, groups)} by {what} {joined}"
        text += f" to {there}"
    moved = part.union(*(group.members for group in groups))
    yield _Found(text, whole, named.union(group.anchor for group in groups), moved=moved)


class _Group(NamedTuple):
    """A group that has slots of a ring: its name, the atom that it hangs on, and its atoms."""

    name: str
    anchor: int
    members: frozenset[int]


def _groups_instead(change: GraphChange, side: int, part: frozenset[int]) -> list[_Group] | None:
    """Groups on one side that have slots of a ring of the other; None if what has them is no such group."""
    near, groups = change.near[side], []
    heavy = {i for i in near if change.is_heavy(side, i)}
    fresh = {i for i in heavy if not change.is_heavy(1 - side, i)}
    for members in connected_groups(heavy & part | fresh, near):
        ends = [j for i in members for j in near[i] - members if j in heavy]
        if members & part and (len(ends) != 1 or len(members & part) != 1):
            return None
        if members & part:
            name, _ = change.sides[side].name_group(ends[0], members)
            groups.append(_Group(name, ends[0], frozenset(members)))
    return groups


def _instead(change: GraphChange, groups: Sequence[_Group]) -> str:
    return listed([f"{group.name} on {change.names[group.anchor]}" for group in groups])


def _went(rings: RingNames, touched: list[Ring], there: str, fused: bool) -> str:
    if len(touched) == 1:
        return f"{rings.the(touched[0])} {'fused ' if fused else ''}at {there}"
    return f"{len(touched)} {'fused ' if fused else ''}rings at {there}"


def _with_branches(change: GraphChange, atoms: frozenset[int]) -> str:
    """The groups that a new ring brings along, such as " with chloro group"; "" if there are none."""
    near, names = change.near[1], []
    for branch in connected_groups(atoms, near):
        ends = [j for i in branch for j in near[i] - branch if change.is_heavy(1, j)]
        joined = len(ends) == 1
        names.append(change.sides[1].name_group(ends[0], branch)[0] if joined else f"{len(branch)} more atoms")
    return f" with {listed(sorted(names))}" if names else ""


def _exchanged(change: GraphChange, before: RingNames, after: RingNames) -> Iterator[_Found]:
    """Rings that become rings of another size, one of them aromatic."""
    old = [ring for ring in before.aromatic if ring not in after.aromatic]
    new = [ring for ring in after.aromatic if ring not in before.aromatic]
    for ring in old:
        able = (other for other in new if before.aromatic[ring] or after.aromatic[other])
        other = next((other for other in able if _is_resized(change, ring, other)), None)
        groups = None if other is None else _groups_instead(change, 1, ring - other)
        if other is None or groups is None:
            continue
        text = f"exchange {before.the(ring)} of {_names(change, ring)} for {after.a(other)}"
        text += f" with {_instead(change, groups)}" if groups else ""
        relabeled = frozenset(i for i in ring & other if change.type(0, i) != change.type(1, i))
        moved = (ring ^ other).union(*(group.members for group in groups))
        named = ring.union(group.anchor for group in groups)
        yield _Found(text, ring | other, named, moved=moved, relabeled=relabeled)


def _is_resized(change: GraphChange, ring: Ring, other: Ring) -> bool:
    """True if a ring becomes another one by atoms that leave it, or by new ones."""
    fresh = not any(change.is_heavy(0, i) for i in other - ring)
    return fresh and (ring < other or other < ring) and len(ring & other) >= 4


def _resaturated(change: GraphChange, before: RingNames, after: RingNames) -> Iterator[_Found]:
    """Rings with the same atoms that lose all double bonds of their own, or become aromatic."""
    for ring, was_aromatic in before.aromatic.items():
        names = _names(change, ring)
        is_aromatic = after.aromatic.get(ring, was_aromatic)
        if is_aromatic and not was_aromatic and not _bonds(change, ring) & {"triple"}:
            yield _Found(f"make the ring of {names} aromatic", ring, ring)
        elif was_aromatic and not is_aromatic and _is_saturated(change, after, ring):
            yield _Found(f"hydrogenate the ring of {names}", ring, ring)


def _is_saturated(change: GraphChange, after: RingNames, ring: Ring) -> bool:
    """True if all bonds of a ring are single, but for those that are in an aromatic ring too."""
    return _bonds(change, ring, besides=after.aromatic_bonds) <= {"single"}


def _bonds(change: GraphChange, ring: Ring, besides: Collection[tuple[int, ...]] = ()) -> set[str]:
    """Kinds of the bonds of a ring after the change, besides some."""
    bonds = [((i, j), str(edge["type"])) for i, j, edge in change.graphs[1].edges() if i in ring and j in ring]
    return {kind for pair, kind in bonds if pair not in besides}


def _names(change: GraphChange, atoms: Iterable[int]) -> str:
    return listed([change.names[i] for i in sorted(atoms)])
