"""Forecast: nodes and edges that a move adds or removes, known before it is made."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from ....schema import Schema
from ..attributes import Attributes, attribute_choices
from ..draft import Family, Variants, with_group
from ..fragments import Fragment
from ..sketch import Sketch
from .rules import AbstractMoleculeRules, AbstractRules


class Growth(NamedTuple):
    """Nodes and edges that a move adds to a graph; those that it removes are counted with a minus.

    Args:
        nodes: Nodes, explicit hydrogens included.
        edges: Edges, those of explicit hydrogens included.
        hydrogens: Hydrogens that come or go at the ends of an edge, or at a node, that a move changes; those that are
            no nodes count where charges are stored, as in `unseen_edits`.
    """

    nodes: int
    edges: int
    hydrogens: int = 0


@dataclass(frozen=True)
class Forecast:
    """Counts what moves would add, by the rules of a schema.

    Args:
        schema: Schema of the graphs.
        rules: Its rules.
        alone: What each group adds by itself, kept once it was counted.
        brought: The same of all groups that a family of moves brings.
    """

    schema: Schema
    rules: AbstractRules
    alone: dict[Fragment, Growth | None] = field(default_factory=dict)
    brought: dict[Variants, list[tuple[Growth | None, int | None]]] = field(default_factory=dict)

    def of(self, state: Sketch, family: Family) -> list[Growth | None]:
        """Growth by each move of a family; None where that is only known once the move was made."""
        kind, choices = family.kind, family.choices.values
        if kind == "change node":
            (i,) = family.place
            gained = (self.rules.hydrogens_gained(state, i, cast(Attributes, node)) for node in choices)
            return [None if more is None else Growth(more, more, abs(more)) for more in gained]
        if kind in ("change edge", "add edge", "remove edge"):
            return list(self._with_edges(state, family))
        if kind in ("add group", "remove group", "replace group", "remove part"):
            return self._with_groups(state, family)
        return [None] * len(choices)

    def _with_edges(self, state: Sketch, family: Family) -> Iterator[Growth | None]:
        i, j = family.place
        order = self.rules.order
        was, edges = 0 if family.kind == "add edge" else order(state.near[i][j]), _SIGN[family.kind]
        for bond in family.choices.values:
            more = (0 if family.kind == "remove edge" else order(cast(Attributes, bond))) - was
            ends = [self.rules.hydrogens_gained(state, k, state.nodes[k], more, edges) for k in (i, j)]
            known = [end for end in ends if end is not None]
            unseen = 2 * abs(more) if self._has_unseen else 0
            grown, moved = sum(known), sum(map(abs, known)) + unseen
            yield Growth(grown, grown + edges, moved) if len(known) == len(ends) else None

    @cached_property
    def _has_unseen(self) -> bool:
        return self.schema.chemistry is not None and self.schema.chemistry.stored_charges

    def _with_groups(self, state: Sketch, family: Family) -> list[Growth | None]:
        gone = {j for i in family.gone for j in (i, *self._hydrogens(state, i))}
        nodes, edges = -len(gone), -_edges_at(state, gone)
        anchor = None if family.kind == "remove part" or family.place[0] in gone else family.place[0]
        link = self.rules.order(state.near[anchor][family.place[1]]) if anchor is not None and family.gone else None
        gained: dict[int | None, int | None] = {}
        grown: list[Growth | None] = []
        for added, order in self._brought(family.choices):
            if order not in gained:
                gained[order] = self._gained(state, anchor, order, link)
            more = gained[order]
            if added is None or more is None:
                grown.append(None)
            else:
                grown.append(Growth(nodes + added.nodes + more, edges + added.edges + more, abs(more)))
        return grown

    def _hydrogens(self, state: Sketch, i: int) -> Iterator[int]:
        """Explicit hydrogens of a node."""
        return (j for j in state.near[i] if self.rules.is_hydrogen(state, j))

    def _gained(self, state: Sketch, anchor: int | None, order: int | None, link: int | None) -> int | None:
        """Hydrogens that an anchor gains with a link of one order in the place of another; None is no link."""
        if anchor is None:
            return 0
        orders, bonds = (order or 0) - (link or 0), (order is not None) - (link is not None)
        return self.rules.hydrogens_gained(state, anchor, state.nodes[anchor], orders, bonds)

    def _brought(self, choices: Variants) -> list[tuple[Growth | None, int | None]]:
        """Growth by each group alone, and the order of its link; nothing and None where no group comes."""
        if choices not in self.brought:
            groups = (value[0] if isinstance(value, tuple) else value for value in choices.values)
            self.brought[choices] = [
                (self._alone(group), self.rules.order(group.link)) if isinstance(group, Fragment) else (_NOTHING, None)
                for group in groups
            ]
        return self.brought[choices]

    def _alone(self, group: Fragment) -> Growth | None:
        """Growth by a group without the hydrogens that it replaces at its anchor."""
        if group not in self.alone:
            self.alone[group] = self._on_methane(group) if self.rules.counts_hydrogens else _bare(group)
        return self.alone[group]

    def _on_methane(self, group: Fragment) -> Growth | None:
        """The same, found by hanging the group on methane; None if it cannot hang there, or is charged."""
        if not isinstance(self.rules, AbstractMoleculeRules):
            return None
        carbon = [node for node in attribute_choices(self.schema.nodes) if self.rules.symbol(node) == "C"]
        if not carbon:
            return None
        methane = Sketch({0: carbon[0]}, {0: {}})
        after, changed = with_group(methane, 0, group)
        alone = methane.copy()
        if not (
            self.rules.settle(methane, alone, {0}, methane) and self.rules.settle(methane, after, changed, methane)
        ):
            return None
        if any(self.rules.hydrogens_gained(after, i, after.nodes[i]) is None for i in self.rules.heavy(after)):
            return None
        order, (nodes, edges), (was, bonds) = self.rules.order(group.link), after.size, alone.size
        return Growth(nodes - was + order, edges - bonds + order)


_NOTHING = Growth(0, 0)
_SIGN = {"change edge": 0, "add edge": 1, "remove edge": -1}


def _bare(group: Fragment) -> Growth:
    return Growth(len(group.nodes), len(group.edges) + 1)


def _edges_at(sketch: Sketch, nodes: set[int]) -> int:
    """Number of edges that have an end among the nodes."""
    if sketch.directed:
        return sum(1 for i, j, _ in sketch.edges() if i in nodes or j in nodes)
    inside = sum(j in nodes for i in nodes for j in sketch.near[i])
    return sum(len(sketch.near[i]) for i in nodes) - inside // 2
