"""Changes of stored charges in words: part of another change, or protons that come and go."""

from collections.abc import Sequence
from dataclasses import replace

from ..edits import Edit
from ..schema import Schema
from .change import GraphChange, Sentence
from .group_names import name_site


def is_charge_alone(edit: Edit, schema: Schema) -> bool:
    """True if an edit changes the stored charge of an atom and nothing else."""
    return schema.node_charge is not None and edit.op == "set_node" and set(edit.after) == {schema.node_charge.name}


def settle_charges(change: GraphChange, said: Sequence[Sentence], edits: Sequence[Edit]) -> list[Sentence]:
    """The sentences, with changes of charges added to those that they are part of, others told by themselves."""
    settled: list[Sentence] = list(said)
    for edit in edits:
        (i,) = edit.at
        home = next((k for k, sentence in enumerate(said) if _belongs(change, edit, sentence)), None)
        if home is None:
            settled.append(Sentence(_say(change, i), (edit,), frozenset([i]), frozenset([i])))
        else:
            whole = settled[home]
            settled[home] = replace(whole, edits=(*whole.edits, edit), nodes=whole.nodes | {i})
    return settled


def following_charges(change: GraphChange, told: Sequence[Edit], edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Those of the edits that change charges of atoms whose bonds change, and the opposite charges beside these."""
    charges = [edit for edit in edits if is_charge_alone(edit, change.schema) and edit not in told]
    ends = {i for edit in told if not edit.is_node for i in edit.at}
    gains = {i: change.charge_gain(i) for edit in charges for i in edit.at}
    first = {i for i in gains if i in ends}
    second = {i for i in gains if any(gains[i] * gains[j] < 0 for j in first & change.around(i))}
    return tuple(edit for edit in charges if edit.at[0] in first | second)


def _belongs(change: GraphChange, edit: Edit, sentence: Sentence) -> bool:
    """True if a sentence tells of a bond of the atom, or of a neighbor whose charge goes the opposite way."""
    (i,) = edit.at
    if any(not other.is_node and i in other.at for other in sentence.edits):
        return True
    partners = {other.at[0] for other in sentence.edits if other.is_node} & change.around(i)
    return any(change.charge_gain(i) * change.charge_gain(j) < 0 for j in partners)


def _say(change: GraphChange, i: int) -> str:
    """A change of charge alone: protons that are added or removed, if hydrogens change with it."""
    gain, protons = change.charge_gain(i), change.num_hydrogens(1, i) - change.num_hydrogens(0, i)
    if gain != protons:
        before, after = (f"{atoms[i].charge:+d}".replace("+0", "0") for atoms in change.atoms)
        return f"change the charge of {change.names[i]} from {before} to {after}"
    site = name_site(change.graphs[0], i)
    times = {1: "", 2: " twice"}.get(abs(gain), f" {abs(gain)} times")
    return f"{'protonate' if gain > 0 else 'deprotonate'} {f'the {site} ' if site else ''}{change.names[i]}{times}"
