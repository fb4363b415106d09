"""The edits that count: hydrogens and charges that follow from other edits are bookkeeping."""

from ....chemistry import BOND_ORDERS
from ....schema import Schema
from ..attributes import Attributes
from ..difference import AttributeChange, Difference
from ..sketch import Sketch
from .orders import column_index


def counted_part(difference: Difference, factual: Sketch, after: Sketch, schema: Schema) -> Difference:
    """The difference without bookkeeping: the edits of `graphflip.edits.heavy_edits`.

    Bookkeeping are hydrogens that are added or removed, where they are nodes; and, where charges are stored, the charge
    of an atom that has another edit at itself or at a neighbor.
    """
    chemistry = schema.chemistry
    if chemistry is None:
        return difference
    if chemistry.stored_charges:
        return _without_charges(difference, factual, column_index(schema.nodes, "charge"))
    if chemistry.explicit_hydrogens:
        return _without_hydrogens(difference, factual, after, column_index(schema.nodes, "type"))
    return difference


def unseen_edits(difference: Difference, schema: Schema) -> int:
    """Number of hydrogens and of their bonds that come or go unseen, where charges are stored and hydrogens implied.

    Counted are hydrogens that atoms lose or gain with bonds among atoms that stay: two for a bond that closes a ring,
    four for a ring that is hydrogenated at two double bonds. One that gives way to a new group, or takes its place, is
    part of that change, and a double bond that moves along a ring moves no hydrogen.
    """
    if schema.chemistry is None or not schema.chemistry.stored_charges or not difference.edges:
        return 0
    at = column_index(schema.edges, "type")
    gained: dict[int, int] = {}
    for pair, (before, after) in difference.edges.items():
        if all(None not in difference.nodes.get(i, ()) for i in pair):
            more = _order(after, at) - _order(before, at)
            for i in pair:
                gained[i] = gained.get(i, 0) + more
    return 2 * sum(map(abs, gained.values()))


def _order(bond: Attributes | None, at: int) -> int:
    return 0 if bond is None else BOND_ORDERS[str(bond[at])]


def _without_hydrogens(difference: Difference, factual: Sketch, after: Sketch, at: int) -> Difference:
    was, now, hydrogen = factual.nodes, after.nodes, ("H",) * (at + 1)
    hydrogens = {i for i in difference.touched if was.get(i, hydrogen)[at] == "H" == now.get(i, hydrogen)[at]}
    if not hydrogens:
        return difference
    return Difference(
        {i: change for i, change in difference.nodes.items() if i not in hydrogens or None not in change},
        {pair: change for pair, change in difference.edges.items() if hydrogens.isdisjoint(pair) or None not in change},
    )


def _without_charges(difference: Difference, factual: Sketch, at: int) -> Difference:
    charges = {i for i, change in difference.nodes.items() if is_of_charge(change, at)}
    if not charges:
        return difference
    edited = {i for i in difference.nodes if i not in charges}
    edited.update(i for pair in difference.edges for i in pair)
    follow = {i for i in charges if i in edited or not edited.isdisjoint(factual.near[i])}
    nodes = {i: change for i, change in difference.nodes.items() if i not in follow}
    return Difference(nodes, difference.edges)


def is_of_charge(change: AttributeChange, at: int) -> bool:
    """True if a node keeps all attributes but its charge."""
    before, after = change
    if before is None or after is None or before[at] == after[at]:
        return False
    return before[:at] == after[:at] and before[at + 1 :] == after[at + 1 :]
