"""Double bonds of aromatic rings that only change places: part of what else changes there."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..edits import Edit
from .change import GraphChange, Sentence, connected_groups, listed

_ORDERS = {"single", "double"}


def is_redrawn(change: GraphChange, edit: Edit) -> bool:
    """True if an edit swaps single and double for a bond that is aromatic before and after."""
    return _swaps(edit) and change.rings is not None and all(edit.at in side.aromatic_bonds for side in change.rings)


def is_beside_ring(change: GraphChange, edit: Edit) -> bool:
    """True if an edit swaps single and double for a bond that is aromatic before or after."""
    return _swaps(edit) and change.rings is not None and any(edit.at in side.aromatic_bonds for side in change.rings)


def settle_double_bonds(change: GraphChange, said: Sequence[Sentence], edits: Sequence[Edit]) -> list[Sentence]:
    """The sentences, with double bonds that change places added to those that are about the same aromatic system.

    Double bonds of a system in which nothing else changes are told by themselves.
    """
    settled = list(said)
    for atoms, some in connected_edits(edits):
        home = _home(change, said, atoms)
        if home is None:
            names = listed([change.names[i] for i in sorted(atoms)])
            settled.append(Sentence(f"draw the double bonds of {names} elsewhere", some, *2 * [frozenset(atoms)]))
        else:
            settled[home] = with_edits(settled[home], some)
    return settled


def with_edits(sentence: Sentence, edits: Collection[Edit]) -> Sentence:
    """A sentence that stands for more edits, without a word on them."""
    nodes = sentence.nodes.union(*(edit.at for edit in edits))
    return replace(sentence, edits=(*sentence.edits, *edits), nodes=nodes)


def connected_edits(edits: Sequence[Edit]) -> list[tuple[set[int], tuple[Edit, ...]]]:
    """Edits of bonds in groups that share atoms: the atoms of each group, and its edits."""
    near: dict[int, set[int]] = {}
    for i, j in (edit.at for edit in edits):
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    return [
        (atoms, tuple(edit for edit in edits if atoms.issuperset(edit.at))) for atoms in connected_groups(near, near)
    ]


def _home(change: GraphChange, said: Sequence[Sentence], atoms: set[int]) -> int | None:
    """Number of the first sentence about some of the atoms, else about atoms beside them, else in their system."""
    beside = {j for i in atoms for j in change.around(i)}
    reaches = (atoms, beside, _system(change, atoms))
    return next((k for reach in reaches for k, sentence in enumerate(said) if sentence.nodes & reach), None)


def _system(change: GraphChange, atoms: set[int]) -> set[int]:
    """Atoms that aromatic bonds connect with these."""
    near: dict[int, set[int]] = {}
    for i, j in (pair for side in change.rings or () for pair in side.aromatic_bonds):
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    return set().union(*(group for group in connected_groups(near, near) if group & atoms))


def _swaps(edit: Edit) -> bool:
    return edit.op == "set_edge" and {edit.before.get("type"), edit.after.get("type")} == _ORDERS
