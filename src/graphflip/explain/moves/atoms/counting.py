"""The edits that count: hydrogens and charges that follow from other edits are bookkeeping."""

from ....schema import Schema
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


def _without_hydrogens(difference: Difference, factual: Sketch, after: Sketch, at: int) -> Difference:
    hydrogens = {
        i
        for i in difference.touched
        if all(node is None or node[at] == "H" for node in (factual.nodes.get(i), after.nodes.get(i)))
    }
    return Difference(
        {i: change for i, change in difference.nodes.items() if None not in change or i not in hydrogens},
        {pair: change for pair, change in difference.edges.items() if None not in change or hydrogens.isdisjoint(pair)},
    )


def _without_charges(difference: Difference, factual: Sketch, at: int) -> Difference:
    charges = {i for i, change in difference.nodes.items() if _is_of_charge(change, at)}
    if not charges:
        return difference
    edited = {i for i in difference.nodes if i not in charges}
    edited.update(i for pair in difference.edges for i in pair)
    follow = {i for i in charges if i in edited or not edited.isdisjoint(factual.near[i])}
    nodes = {i: change for i, change in difference.nodes.items() if i not in follow}
    return Difference(nodes, difference.edges)


def _is_of_charge(change: AttributeChange, at: int) -> bool:
    """True if a node keeps all attributes but its charge."""
    before, after = change
    if before is None or after is None or before[at] == after[at]:
        return False
    return before[:at] == after[:at] and before[at + 1 :] == after[at + 1 :]
