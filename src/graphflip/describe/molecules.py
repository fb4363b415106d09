"""Changes of a molecule in a chemist's words: groups that are added, removed or replaced by others."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..edits import Edit
from .change import GraphChange, Sentence, claim, connected_groups, listed

_LARGEST = 12
"""Heavy atoms of the largest group that is called by its name."""


@dataclass(frozen=True)
class _Group:
    """A group on an atom that stays, before and after.

    Args:
        anchor: The atom that it hangs on.
        members: Atoms of the group, before or after.
        before: Name of the group before; None if no heavy atom was there.
        after: Name of the group after; None if no heavy atom is there.
        known: True if chemists know both by these names.
    """

    anchor: int
    members: frozenset[int]
    before: str | None
    after: str | None
    known: bool


def group_sentences(
    change: GraphChange, edits: Sequence[Edit], told: Collection[int] = ()
) -> tuple[list[Sentence], list[Edit]]:
    """Sentences for groups of heavy atoms that hang on one atom, and the edits that belong to no such group.

    Atoms that were told already, and what they were or are part of, are no groups.
    """
    said, left = [], list(edits)
    for group in _exchanges(_groups(change, told)):
        taken, left = claim(left, set(group.members))
        named = frozenset([group.anchor])
        said.append(Sentence(_say(change, group), taken, group.members | named, named))
    return said, left


def settle_hydrogens(change: GraphChange, said: Sequence[Sentence], edits: Sequence[Edit]) -> list[Sentence]:
    """The sentences, with edits at hydrogens added to those about atoms beside them, others told by themselves."""
    settled, left = list(said), list(edits)
    alone: dict[str, list[Sentence]] = {}
    for hydrogen in sorted({i for edit in edits for i in edit.at if change.is_hydrogen(i)}):
        taken, left = claim(left, {hydrogen})
        beside = change.around(hydrogen)
        # An oxide beside a nitrogen that becomes a carbon is a hydroxy group: look one bond further.
        reach = (beside, {j for i in beside for j in change.around(i)})
        home = next((k for slots in reach for k, sentence in enumerate(said) if sentence.nodes & slots), None)
        if home is not None:
            settled[home] = replace(settled[home], edits=settled[home].edits + taken)
        elif taken:
            text, nodes = _say_hydrogen(change, hydrogen), frozenset(beside | {hydrogen})
            alone.setdefault(text, []).append(Sentence(text, taken, nodes, frozenset(beside)))
    return settled + [_together(several) for several in alone.values()]


def _together(several: Sequence[Sentence]) -> Sentence:
    """One sentence for several hydrogens with the same text."""
    text = several[0].text if len(several) == 1 else several[0].text.replace("hydrogen", f"{len(several)} hydrogens", 1)
    edits = tuple(edit for sentence in several for edit in sentence.edits)
    nodes = frozenset().union(*(sentence.nodes for sentence in several))
    return replace(several[0], text=text, edits=edits, nodes=nodes)


def _say(change: GraphChange, group: _Group) -> str:
    anchor, before, after = change.names[group.anchor], _the(group.before), _a(group.after)
    if before and after:
        return f"replace {before} on {anchor} by {after}"
    if after:
        return f"add {after} to {anchor}"
    if change.num_hydrogens(1, group.anchor) > change.num_hydrogens(0, group.anchor):
        return f"replace {before} on {anchor} by hydrogen"
    return f"remove {before} from {anchor}"


def _the(name: str | None) -> str | None:
    """A name of a group as it is, one of a single atom with its article: the oxide oxygen."""
    return name if name is None or "group" in name.split() else f"the {name}"


def _a(name: str | None) -> str | None:
    return name if name is None or "group" in name.split() else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _say_hydrogen(change: GraphChange, i: int) -> str:
    before, after = (
        listed([change.names[j] for j in sorted(near.get(i, set()))] or ["nothing"]) for near in change.near
    )
    if i not in change.nodes[0]:
        return f"add hydrogen to {after}"
    if i not in change.nodes[1]:
        return f"remove hydrogen from {before}"
    return f"move hydrogen from {before} to {after}"


def _exchanges(groups: Sequence[_Group]) -> list[_Group]:
    """The groups, where one that is removed and one that is added on the same atom are one that is replaced."""
    merged: list[_Group] = []
    for group in groups:
        partner = next((other for other in merged if _complement(other, group)), None)
        if partner is None:
            merged.append(group)
        else:
            both = partner.members | group.members
            names = partner.before or group.before, partner.after or group.after
            whole = _Group(group.anchor, both, *names, partner.known and group.known)
            merged[merged.index(partner)] = whole
    return merged


def _complement(group: _Group, other: _Group) -> bool:
    """True if one of the groups is removed from an atom and the other is added to it."""
    gone, came = (group, other) if group.after is None else (other, group)
    return group.anchor == other.anchor and gone.after is None and came.before is None


def _groups(change: GraphChange, told: Collection[int]) -> list[_Group]:
    """Groups in which an atom is added, removed or changed; no two of them overlap."""
    types = {i: (change.type(0, i), change.type(1, i)) for i in change.names if i not in told}
    heavy = {i for i in types if set(types[i]) - {"H", None}}
    near = {i: change.around(i) & heavy for i in heavy}
    changed = {i for i in heavy if types[i][0] != types[i][1]}
    groups: list[_Group] = []
    for part in connected_groups({i for i in heavy if change.nodes[0].get(i) != change.nodes[1].get(i)}, near):
        # Atoms that are no group as a whole may have groups among them: those that do not only change their charge,
        # or those that are added or removed.
        gone, came = ({i for i in part if types[i][k] is None} for k in (1, 0))
        choices = [[part], [part & changed], [came, gone]] if part & changed else []
        groups += next(filter(None, (_named(change, parts, near) for parts in choices)), [])
    beside = {j for i in told for j in change.around(i)}
    return _apart([group for group in groups if beside.isdisjoint(group.members)])


def _named(change: GraphChange, parts: Sequence[set[int]], near: dict[int, set[int]]) -> list[_Group]:
    """Groups that connected atoms of some parts are part of."""
    pieces = [piece for part in parts for piece in connected_groups(part, near)]
    return [group for piece in pieces if (group := _group(change, piece, near))]


def _apart(groups: Sequence[_Group]) -> list[_Group]:
    """The groups that neither overlap with a larger one nor hang on it."""
    kept: list[_Group] = []
    for group in sorted(groups, key=lambda each: (-len(each.members), each.anchor, min(each.members))):
        reach = group.members | {group.anchor}
        if all(other.members.isdisjoint(reach) and other.anchor not in group.members for other in kept):
            kept.append(group)
    return sorted(kept, key=lambda each: (each.anchor, min(each.members)))


def _group(change: GraphChange, changed: set[int], near: dict[int, set[int]]) -> _Group | None:
    """The smallest group that some connected changed atoms are part of; None if they are part of none.

    Atoms that stay belong to it only if that gives it a name before and after, on an atom that keeps its charge: a
    nitro group that becomes a carboxy group keeps its oxygens. Without such names it is the changed atoms alone.
    """
    anchors = {j for i in changed for j in near[i]} - changed
    further = {j for i in anchors for j in near[i]} - changed - anchors
    unnamed: list[_Group] = []
    for group in (group for some in (anchors, further) for group in _hanging(change, some, changed, near)):
        if group.known:
            return group
        unnamed.append(group)
    return unnamed[0] if unnamed else None


def _hanging(change: GraphChange, anchors: set[int], changed: set[int], near: dict[int, set[int]]) -> Iterator[_Group]:
    """Groups with these atoms in them that hang on one of the anchors, smallest first."""
    sides = []
    for anchor in anchors:
        side = next(part for part in connected_groups(near.keys() - {anchor}, near) if changed <= part)
        sides.append((len(side), anchor, side))
    for size, anchor, side in sorted(sides, key=lambda each: each[:2]):
        before = _name(change, 0, anchor, side) if size <= _LARGEST else None
        after = None if before is None else _name(change, 1, anchor, side)
        if before is None or after is None or before == after:
            continue
        known = before.known and after.known
        if side == changed or (known and change.charge_gain(anchor) == 0):
            yield _Group(anchor, frozenset(side), before.text, after.text, known)


class _Name(NamedTuple):
    """Name of a group, None if it has no heavy atom; `known` is True if chemists know it by that name."""

    text: str | None
    known: bool


def _name(change: GraphChange, k: int, anchor: int, members: set[int]) -> _Name | None:
    """The name of these atoms before (k = 0) or after (1); None if they are not one group."""
    near, heavy = change.near[k], {i for i in members if change.type(k, i) not in ("H", None)}
    if not heavy:
        return _Name(None, True)
    if len(near.get(anchor, set()) & heavy) != 1 or len(connected_groups(heavy, near)) != 1:
        return None
    return _Name(*change.sides[k].name_group(anchor, heavy))
