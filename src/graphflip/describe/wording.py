"""Edits in words: the changes of an answer, as a person would say them."""

from collections.abc import Collection, Sequence

from ..edits import Edit, edits_between
from ..explain.counterfactual import Counterfactual
from ..graph import Graph
from ..schema import AttributeDict, Column, Schema
from .change import GraphChange, Sentence, Side, claim, connected_groups, listed
from .charges import is_charge_alone, settle_charges
from .double_bonds import is_redrawn, settle_double_bonds
from .molecules import group_sentences, settle_hydrogens
from .rings import ring_sentences

_LINKS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":"}


def describe(counterfactual: Counterfactual) -> list[str]:
    """Describe the changes of an answer, a sentence for each.

    Molecules are described by their groups, "replace nitro group on C3 by hydrogen"; hydrogens that only fill valences
    are left out. Numbers are slots of the factual. A group that has no name is written as SMILES that begins with the
    bond it hangs on: "group -NC(C)=O".

    Args:
        counterfactual: The answer of an explainer.

    Returns:
        The sentences; none if there is no counterfactual, or nothing has changed.

    Example:
        >>> from graphflip.data.molecules.molecule import from_smiles, molecule_schema
        >>> from graphflip.describe import describe
        >>> from graphflip.explain import Counterfactual, Outcome
        >>> schema = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
        >>> before, after = from_smiles("c1ccccc1C", schema), from_smiles("c1ccccc1O", schema)
        >>> describe(Counterfactual("0", "by hand", 1, before, after, 0.2, 0.8, Outcome.FLIPPED))
        ['replace methyl group on C5 by hydroxy group']
    """
    if counterfactual.counterfactual is None:
        return []
    return [sentence.text for sentence in sentences(counterfactual.factual, counterfactual.counterfactual)]


def sentences(factual: Graph, counterfactual: Graph) -> list[Sentence]:
    """Describe the difference of two aligned graphs.

    Args:
        factual: The graph before, a batch of one hard graph.
        counterfactual: The graph after; a node that stays has the same slot in both.

    Returns:
        Sentences with their edits; each edit between the graphs belongs to exactly one sentence.

    Example:
        >>> from graphflip.data.molecules.molecule import from_smiles, molecule_schema
        >>> from graphflip.describe import sentences
        >>> schema = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
        >>> (sentence,) = sentences(from_smiles("CCO", schema), from_smiles("CC=O", schema))
        >>> sentence.text, [edit.op for edit in sentence.edits]
        ('change bond C1-O2 to double', ['set_edge'])
    """
    n = max(factual.num_slots, counterfactual.num_slots)
    return sentences_for(Side(factual.pad(n)), counterfactual.pad(n), edits_between(factual, counterfactual))


def sentences_for(before: Side, after: Graph, edits: Sequence[Edit]) -> list[Sentence]:
    """Describe the edits between two aligned graphs of as many slots, as `sentences` does.

    Args:
        before: The graph before; it may be the same side of several changes.
        after: The graph after.
        edits: The edits that lead there, as `edits_between` lists them.

    Returns:
        Sentences with their edits.
    """
    if not edits:
        return []
    change = GraphChange(before, Side(after))
    if not _is_plain_molecule(change.schema):
        return _other_sentences(change, edits)[0]
    rings, rest = ring_sentences(change, edits)
    groups, rest = group_sentences(change, rest, told={i for ring in rings for i in ring.replaced})
    charges = [edit for edit in rest if is_charge_alone(edit, change.schema)]
    redrawn = [edit for edit in rest if is_redrawn(change, edit)]
    others, rest = _other_sentences(change, [edit for edit in rest if edit not in (*charges, *redrawn)])
    said = settle_double_bonds(change, [*(ring.sentence for ring in rings), *groups, *others], redrawn)
    return settle_charges(change, settle_hydrogens(change, said, rest), charges)


def _other_sentences(change: GraphChange, edits: Sequence[Edit]) -> tuple[list[Sentence], list[Edit]]:
    """Sentences for connected groups of nodes that are added or removed, with their edges, and for each other edit.

    Groups that are joined to nothing are told together. Edits at hydrogens are left for `settle_hydrogens`: they are
    the second list.
    """
    left = [edit for edit in edits if not any(change.is_hydrogen(i) for i in edit.at)]
    at_hydrogens = [edit for edit in edits if any(change.is_hydrogen(i) for i in edit.at)]
    said = []
    for verb, side in (("remove", 0), ("add", 1)):
        groups = connected_groups({edit.at[0] for edit in left if edit.op == f"{verb}_node"}, change.near[side])
        joined = [group for group in groups if _outside(change, side, group)]
        alone = {i for group in groups if group not in joined for i in group}
        for group in [*joined, *([alone] if alone else [])]:
            taken, left = claim(left, group)
            said.append(_group_sentence(verb, change, side, group, taken))
    return said + [Sentence(_say(edit, change), (edit,), *2 * [frozenset(edit.at)]) for edit in left], at_hydrogens


def _group_sentence(verb: str, change: GraphChange, side: int, group: set[int], edits: tuple[Edit, ...]) -> Sentence:
    names = [change.names[i] + _more(change.nodes[side][i], _silent(change.schema, side)) for i in sorted(group)]
    outside = _outside(change, side, group)
    joined = f" joined to {listed([change.names[j] for j in sorted(outside)])}" if outside else ""
    return Sentence(f"{verb} {listed(names)}{joined}", edits, *2 * [frozenset(group | outside)])


def _outside(change: GraphChange, side: int, group: set[int]) -> set[int]:
    """Neighbors of a group that do not belong to it, without hydrogens."""
    return {j for i in group for j in change.near[side].get(i, set()) if not change.is_hydrogen(j)} - group


def _more(node: AttributeDict, silent: Collection[tuple[str, str | float]]) -> str:
    """Attributes of a node other than its type, in brackets, without silent ones."""
    more = [(name, value) for name, value in node.items() if name != "type" and (name, value) not in silent]
    parts = [f"{name} {_number(value)}" for name, value in more]
    return f" ({', '.join(parts)})" if parts else ""


def _silent(schema: Schema, side: int) -> set[tuple[str, str | float]]:
    """Attributes that go without saying: that an atom has no charge, and which one it had before it was removed."""
    column = schema.node_charge
    return set() if column is None else {(column.name, value) for value in (("0",) if side else column.values)}


def _say(edit: Edit, change: GraphChange) -> str:
    """A single edit in words."""
    if edit.is_node:
        what = change.names[edit.at[0]]
    else:
        i, j = (change.names[k].removeprefix("node ").replace("the other atom ", "*") for k in edit.at)
        kind = "edge" if change.schema.chemistry is None else "bond"
        link = _LINKS.get(str((edit.before or edit.after).get("type")), "->" if change.schema.directed else "-")
        what = f"{kind} {i}{link}{j}"
    if not edit.op.startswith("set"):
        return f"{edit.op.split('_')[0]} {what}"
    if "type" in edit.after and change.schema.node_charge is not None and edit.is_node:
        return f"change {what} to {_ion(change.nodes[1][edit.at[0]])}"
    columns = {column.name: column for column in (change.schema.nodes if edit.is_node else change.schema.edges)}
    numbers = [_from_to(columns[name], edit.before[name], edit.after[name]) for name in edit.after]
    rest = [(name, number) for name, number in zip(edit.after, numbers, strict=True) if name != "type"]
    if "type" in edit.after:
        return "; ".join([f"change {what} to {edit.after['type']}", *(f"{name}: {number}" for name, number in rest)])
    (first, number), *others = rest
    return "; ".join([f"{first} of {what}: {number}", *(f"{name}: {number}" for name, number in others)])


def _from_to(column: Column, before: str | float, after: str | float) -> str:
    """The change of an attribute; the size of a number's change in standard deviations, where these are known."""
    text = f"{_number(before)} → {_number(after)}"
    if not column.is_continuous or (column.mean, column.scale) == (0.0, 1.0):
        return text
    size = column.distance(before, after)
    if round(size, 1) == 1:
        return f"{text} (one standard deviation)"
    return f"{text} ({'less than 0.1' if size < 0.05 else f'{size:.1f}'} standard deviations)"


def _ion(node: AttributeDict) -> str:
    """An atom with a stored charge, such as N or N+."""
    charge = str(node["charge"])
    return f"{node['type']}{'' if charge == '0' else charge.replace('1', '')}"


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _is_plain_molecule(schema: Schema) -> bool:
    """True if nodes are atoms and edges bonds, with a type, atoms with a charge if that is stored, and nothing else."""
    columns = [column.name for column in (*schema.nodes, *schema.edges) if column != schema.node_charge]
    return schema.chemistry is not None and columns == ["type", "type"]
