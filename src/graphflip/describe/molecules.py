"""A chemist's words: what changes in a molecule, told by the groups that come, go or take another's place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..edits import Edit
from .group_names import name_group
from .sentences import GraphChange, Sentence, claim, listed, lots

_LARGEST = 12
"""Heavy atoms of the largest group that is called by its name."""


@dataclass(frozen=True)
class _Group:
    """What hangs on one atom that stays, before and after; None where nothing heavy hangs there."""

    anchor: int
    members: frozenset[int]
    before: str | None
    after: str | None


def group_sentences(change: GraphChange, edits: Sequence[Edit]) -> tuple[list[Sentence], list[Edit]]:
    """Sentences for groups of heavy atoms that hang on one atom, and the edits that belong to none."""
    said, left = [], list(edits)
    for group in _exchanges(_groups(change)):
        taken, left = claim(left, set(group.members))
        named = frozenset([group.anchor])
        said.append(Sentence(_say(change, group), taken, group.members | named, named))
    return said, left


def settle_hydrogens(change: GraphChange, said: Sequence[Sentence], edits: Sequence[Edit]) -> list[Sentence]:
    """The sentences with all edits at hydrogens: they go without saying where something happens beside them."""
    settled, left = list(said), list(edits)
    alone: dict[str, list[Sentence]] = {}
    for hydrogen in sorted({i for edit in edits for i in edit.at if change.is_hydrogen(i)}):
        taken, left = claim(left, {hydrogen})
        beside = change.around(hydrogen)
        # An oxide beside a nitrogen that becomes a carbon is a hydroxy group: look one bond further.
        reach = (beside, {j for i in beside for j in change.around(i)})
        home = next((k for slots in reach for k, one in enumerate(said) if one.nodes & slots), None)
        if home is not None:
            settled[home] = replace(settled[home], edits=settled[home].edits + taken)
        elif taken:
            one = Sentence(_say_hydrogen(change, hydrogen), taken, frozenset(beside | {hydrogen}), frozenset(beside))
            alone.setdefault(one.text, []).append(one)
    return settled + [_together(several) for several in alone.values()]


def _together(several: Sequence[Sentence]) -> Sentence:
    """Hydrogens of which the same is said, in one sentence."""
    text = several[0].text if len(several) == 1 else several[0].text.replace("hydrogen", f"{len(several)} hydrogens", 1)
    edits = tuple(edit for one in several for edit in one.edits)
    return replace(several[0], text=text, edits=edits, nodes=frozenset().union(*(one.nodes for one in several)))


def _say(change: GraphChange, group: _Group) -> str:
    anchor = change.names[group.anchor]
    if group.before and group.after:
        return f"replace {group.before} on {anchor} by {group.after}"
    if group.after:
        return f"add {group.after} to {anchor}"
    if _num_hydrogens(change, 1, group.anchor) > _num_hydrogens(change, 0, group.anchor):
        return f"replace {group.before} on {anchor} by hydrogen"
    return f"remove {group.before} from {anchor}"


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
    """The groups, one that only goes and one that only comes on the same atom made into one that takes its place."""
    found: list[_Group] = []
    for group in groups:
        partner = next((one for one in found if _complement(one, group)), None)
        if partner is None:
            found.append(group)
        else:
            both = partner.members | group.members
            whole = _Group(group.anchor, both, partner.before or group.before, partner.after or group.after)
            found[found.index(partner)] = whole
    return found


def _complement(one: _Group, other: _Group) -> bool:
    gone, came = (one, other) if one.after is None else (other, one)
    return one.anchor == other.anchor and gone.after is None and came.before is None


def _groups(change: GraphChange) -> list[_Group]:
    """Groups in which an atom comes, goes or becomes another one; none has a part in common with another."""
    types = {i: (change.type(0, i), change.type(1, i)) for i in change.names}
    heavy = {i for i in types if set(types[i]) - {"H", None}}
    near = {i: change.around(i) & heavy for i in heavy}
    found: list[_Group] = []
    for part in lots({i for i in heavy if types[i][0] != types[i][1]}, near):
        whole = _group(change, part, near)
        # What is no group as a whole may have some that come or go.
        pieces = [lot for k in (0, 1) for lot in lots({i for i in part if types[i][k] is None}, near)]
        found += [whole] if whole else [group for piece in pieces if (group := _group(change, piece, near))]
    return _apart(found)


def _apart(groups: Sequence[_Group]) -> list[_Group]:
    """The groups, larger ones first, that neither overlap with one before them nor hang on it."""
    found: list[_Group] = []
    for group in sorted(groups, key=lambda one: (-len(one.members), one.anchor, min(one.members))):
        reach = group.members | {group.anchor}
        if all(one.members.isdisjoint(reach) and one.anchor not in group.members for one in found):
            found.append(group)
    return sorted(found, key=lambda one: (one.anchor, min(one.members)))


def _group(change: GraphChange, lot: set[int], near: dict[int, set[int]]) -> _Group | None:
    """The smallest group that a lot of changed atoms is part of; None if they are part of none.

    Atoms that stay belong to it only where that gives it a name: a nitro group that becomes a carboxy group keeps its
    oxygens.
    """
    sides = []
    for anchor in {j for i in lot for j in near[i]} - lot:
        side = next(part for part in lots(near.keys() - {anchor}, near) if lot <= part)
        sides.append((len(side), anchor, side))
    for size, anchor, side in sorted(sides, key=lambda one: one[:2]):
        before, after = (_name(change, k, anchor, side) if size <= _LARGEST else None for k in (0, 1))
        if before is None or after is None or before == after:
            continue
        if side == lot or (before.known and after.known):
            return _Group(anchor, frozenset(side), before.text, after.text)
    return None


class _Name(NamedTuple):
    """What a group is called, None if it is but a hydrogen or nothing, and whether that is a well-known name."""

    text: str | None
    known: bool


def _name(change: GraphChange, k: int, anchor: int, members: set[int]) -> _Name | None:
    """What these atoms are called before (k = 0) or after; None if they are not one group."""
    near, heavy = change.near[k], {i for i in members if change.type(k, i) not in ("H", None)}
    if not heavy:
        return _Name(None, True)
    if len(near.get(anchor, set()) & heavy) != 1 or len(lots(heavy, near)) != 1:
        return None
    return _Name(*name_group(change.graphs[k], anchor, heavy))


def _num_hydrogens(change: GraphChange, k: int, i: int) -> int:
    return sum(change.type(k, j) == "H" for j in change.near[k].get(i, set()))
