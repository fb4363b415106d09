"""Edits in words: what an explanation changes, as a person would say it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..edits import AttributeDict, Edit, edits_between
from ..explain.counterfactual import Counterfactual
from ..graph import Graph
from ..schema import Schema

_LINKS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":"}


@dataclass(frozen=True)
class Sentence:
    """Some change in words, with the edits that it stands for.

    `nodes` are all those that it is about, `named` the ones whose numbers are in the text.
    """

    text: str
    edits: tuple[Edit, ...]
    nodes: frozenset[int]
    named: frozenset[int]


def describe(found: Counterfactual) -> list[str]:
    """What an explanation changes, a sentence for each change.

    Molecules are described by their groups, "replace nitro group on C3 by hydrogen"; hydrogens that only fill valences
    go without saying. Numbers are slots of the factual. A group that has no name is written as SMILES that begins with
    the bond it hangs on: "group -NC(C)=O".
    """
    if found.counterfactual is None:
        return []
    return [sentence.text for sentence in sentences(found.factual, found.counterfactual)]


def sentences(factual: Graph, counterfactual: Graph) -> list[Sentence]:
    """The same for two aligned graphs: each of the edits between them belongs to exactly one sentence."""
    edits = edits_between(factual, counterfactual)
    if not edits:
        return []
    n = max(factual.num_slots, counterfactual.num_slots)
    change = GraphChange(factual.pad(n), counterfactual.pad(n))
    if _is_plain_molecule(factual.schema):
        from .molecules import group_sentences, settle_hydrogens

        said, rest = group_sentences(change, edits)
        singles, rest = say_the_rest(change, rest)
        return settle_hydrogens(change, [*said, *singles], rest)
    said, _ = say_the_rest(change, edits)
    return said


class GraphChange:
    """Two aligned graphs, as wording looks at them: names and neighbors of nodes, before and after."""

    def __init__(self, factual: Graph, counterfactual: Graph) -> None:
        self.schema: Schema = factual.schema
        self.graphs = (factual, counterfactual)
        self.nodes = tuple({i: a for i, a in enumerate(g.nodes()) if a is not None} for g in self.graphs)
        self.near = tuple(neighbors(g) for g in self.graphs)
        self.names = {i: _name(i, node) for nodes in reversed(self.nodes) for i, node in nodes.items()}

    def type(self, side: int, i: int) -> str | None:
        """The type of a node before (side 0) or after (1); None where there is no such node."""
        node = self.nodes[side].get(i)
        return None if node is None else str(node.get("type"))

    def around(self, i: int) -> set[int]:
        """Neighbors of a node before or after."""
        return self.near[0].get(i, set()) | self.near[1].get(i, set())

    def is_hydrogen(self, i: int) -> bool:
        """Whether a node is a hydrogen whenever it is there, in molecules that have hydrogens as nodes."""
        chemistry = self.schema.chemistry
        types = {self.type(0, i), self.type(1, i)} - {None}
        return chemistry is not None and chemistry.explicit_hydrogens and types == {"H"}


def say_the_rest(change: GraphChange, edits: Sequence[Edit]) -> tuple[list[Sentence], list[Edit]]:
    """Sentences for nodes that come or go, with their edges, lot by lot, and for every other edit by itself.

    Parts that are joined to nothing are told together. What is at hydrogens is left for `settle_hydrogens`: the
    second of the two lists.
    """
    left = [edit for edit in edits if not any(change.is_hydrogen(i) for i in edit.at)]
    aside = [edit for edit in edits if any(change.is_hydrogen(i) for i in edit.at)]
    said = []
    for verb, side in (("remove", 0), ("add", 1)):
        parts = lots({edit.at[0] for edit in left if edit.op == f"{verb}_node"}, change.near[side])
        joined = [part for part in parts if _outside(change, side, part)]
        alone = {i for part in parts if part not in joined for i in part}
        for part in [*joined, *([alone] if alone else [])]:
            taken, left = claim(left, part)
            said.append(_lot_sentence(verb, change, side, part, taken))
    return said + [Sentence(_say(edit, change), (edit,), *2 * [frozenset(edit.at)]) for edit in left], aside


def claim(edits: Iterable[Edit], slots: set[int]) -> tuple[tuple[Edit, ...], list[Edit]]:
    """The edits at these nodes or at edges of theirs, and the others."""
    taken, left = [], []
    for edit in edits:
        (taken if slots.intersection(edit.at) else left).append(edit)
    return tuple(taken), left


def lots(slots: Iterable[int], near: Mapping[int, set[int]]) -> list[set[int]]:
    """The connected parts of some nodes, the one with the lowest number first."""
    left, found = set(slots), []
    while left:
        lot, todo = set(), [min(left)]
        while todo:
            i = todo.pop()
            if i in left:
                left.remove(i)
                lot.add(i)
                todo += near.get(i, set())
        found.append(lot)
    return found


def neighbors(graph: Graph) -> dict[int, set[int]]:
    """Neighbors of each node that has some, along edges of either direction."""
    near: dict[int, set[int]] = {}
    for i, j, _ in graph.edges():
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    return near


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Names in a row: "C1, C2 and C3"; a long row is cut short."""
    shown = list(names) if len(names) <= limit else [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _lot_sentence(verb: str, change: GraphChange, side: int, lot: set[int], edits: tuple[Edit, ...]) -> Sentence:
    names = [change.names[i] + _more(change.nodes[side][i]) for i in sorted(lot)]
    outside = _outside(change, side, lot)
    joined = f" joined to {listed([change.names[j] for j in sorted(outside)])}" if outside else ""
    return Sentence(f"{verb} {listed(names)}{joined}", edits, *2 * [frozenset(lot | outside)])


def _outside(change: GraphChange, side: int, lot: set[int]) -> set[int]:
    """Neighbors of a lot that do not belong to it, hydrogens left out."""
    return {j for i in lot for j in change.near[side].get(i, set()) if not change.is_hydrogen(j)} - lot


def _more(node: AttributeDict) -> str:
    parts = [f"{name} {_number(value)}" for name, value in node.items() if name != "type"]
    return f" ({', '.join(parts)})" if parts else ""


def _say(edit: Edit, change: GraphChange) -> str:
    if edit.is_node:
        what = change.names[edit.at[0]]
    else:
        i, j = (change.names[k].removeprefix("node ") for k in edit.at)
        kind = "edge" if change.schema.chemistry is None else "bond"
        link = _LINKS.get(str((edit.before or edit.after).get("type")), "->" if change.schema.directed else "-")
        what = f"{kind} {i}{link}{j}"
    if not edit.op.startswith("set"):
        return f"{edit.op.split('_')[0]} {what}"
    numbers = [f"{_number(edit.before[name])} → {_number(edit.after[name])}" for name in edit.after]
    rest = [(name, number) for name, number in zip(edit.after, numbers, strict=True) if name != "type"]
    if "type" in edit.after:
        return "; ".join([f"change {what} to {edit.after['type']}", *(f"{name}: {number}" for name, number in rest)])
    (first, number), *others = rest
    return "; ".join([f"{first} of {what}: {number}", *(f"{name}: {number}" for name, number in others)])


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _name(i: int, node: AttributeDict) -> str:
    kind = str(node.get("type", ""))
    return f"{kind}{i}" if kind.isalpha() else f"node {i}"


def _is_plain_molecule(schema: Schema) -> bool:
    """Whether nodes are atoms and edges bonds that have a type and nothing else."""
    columns = [column.name for column in (*schema.nodes, *schema.edges)]
    return schema.chemistry is not None and columns == ["type", "type"]
