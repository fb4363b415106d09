"""Constraints: what a user wants to stay as it is; a counterfactual that breaks one is never returned."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

from ..edits import Op
from ..errors import ConfigError
from ..schema import Categories, Column, Schema
from .moves.connectivity import bridges
from .moves.sketch import AttributeChange, Difference, Pair, Sketch, op_of


@dataclass(frozen=True)
class Constraints:
    """Frozen and forbidden parts, by node number of the factual and by name, and how many edits may be made.

    A frozen node keeps its attributes and its edges, and an atom its hydrogens; a frozen edge, a pair of nodes that are
    joined or not, stays as it is. With `freeze_rings` all edges that are part of a ring stay, whatever is attached to
    it. Forbidden types are not introduced, forbidden kinds of edit not made. Where hydrogens are nodes, adding or
    removing them is bookkeeping: it breaks no `forbid_ops` and costs nothing of the `budget`. Lists become sets.
    """

    freeze_nodes: Collection[int] = frozenset()
    freeze_edges: Collection[Pair] = frozenset()
    forbid_node_types: Collection[str] = frozenset()
    forbid_edge_types: Collection[str] = frozenset()
    forbid_ops: Collection[str] = frozenset()
    budget: int | None = None
    freeze_rings: bool = False

    def __post_init__(self) -> None:
        for name in ("freeze_nodes", "freeze_edges", "forbid_node_types", "forbid_edge_types", "forbid_ops"):
            object.__setattr__(self, name, _as_set(name, getattr(self, name)))
        unknown = sorted(set(self.forbid_ops) - set(get_args(Op)))
        if unknown:
            raise ConfigError(f"`forbid_ops` must be kinds of edit: {', '.join(get_args(Op))}; got {unknown[0]!r}.")
        if self.budget is not None and self.budget < 1:
            raise ConfigError(f"`budget` must be at least 1 edit; got {self.budget}. Leave it out for no limit.")
        if any(i == j for i, j in self.freeze_edges):
            raise ConfigError(f"`freeze_edges` must be pairs of two nodes; got {sorted(self.freeze_edges)}.")

    def spelled_out(self, factual: Sketch, schema: Schema) -> "Constraints":
        """The constraints for one graph, checked, the edges of rings and the hydrogens of frozen atoms among what is
        frozen."""
        self.check(factual, schema)
        return replace(
            self,
            freeze_nodes={*self.freeze_nodes, *self._hydrogens(factual, schema)},
            freeze_edges={*self.freeze_edges, *(_rings(factual) if self.freeze_rings else ())},
        )

    def _hydrogens(self, factual: Sketch, schema: Schema) -> set[int]:
        """Those that are nodes, at frozen ones."""
        if schema.chemistry is None or not schema.chemistry.explicit_hydrogens:
            return set()
        at = _type_column(schema)
        near = {j for i in self.freeze_nodes for j in factual.near[i]}
        return {j for j in near if factual.nodes[j][at] == "H"}

    def check(self, factual: Sketch, schema: Schema) -> None:
        """Raise if a constraint is about what the graph or the schema does not have."""
        nodes = {*self.freeze_nodes, *(i for pair in self.freeze_edges for i in pair)}
        missing = sorted(nodes - factual.nodes.keys())
        if missing:
            raise ConfigError(
                f"Frozen nodes must be nodes of the graph, 0..{max(factual.nodes)}; got {missing[0]}. Correct it."
            )
        for what, names, columns in (
            ("forbid_node_types", self.forbid_node_types, schema.nodes),
            ("forbid_edge_types", self.forbid_edge_types, schema.edges),
        ):
            unknown = sorted(set(names) - _names(columns))
            if unknown:
                has = ", ".join(sorted(_names(columns))) or "none"
                raise ConfigError(f"`{what}` must be among the schema's: {has}; got {unknown[0]!r}.")

    def broken(self, difference: Difference, counted: Difference, directed: bool = False) -> str | None:
        """The first constraint that a difference from the factual breaks; `counted` is it without bookkeeping."""
        if self.budget is not None and counted.size > self.budget:
            return "budget"
        if self.freeze_nodes and not difference.touched.isdisjoint(self.freeze_nodes):
            return "freeze_nodes"
        if self.freeze_edges and any(self._frozen(pair, directed) for pair in difference.edges):
            return "freeze_rings" if self.freeze_rings else "freeze_edges"
        if _introduces(self.forbid_node_types, difference.nodes.values()):
            return "forbid_node_types"
        if _introduces(self.forbid_edge_types, difference.edges.values()):
            return "forbid_edge_types"
        if self.forbid_ops and not _ops(counted).isdisjoint(self.forbid_ops):
            return "forbid_ops"
        return None

    def _frozen(self, pair: Pair, directed: bool) -> bool:
        return pair in self.freeze_edges or (not directed and pair[::-1] in self.freeze_edges)


def counted_part(difference: Difference, factual: Sketch, after: Sketch, schema: Schema) -> Difference:
    """The difference without bookkeeping: the heavy edits of `graphflip.edits.heavy_edits`."""
    if schema.chemistry is None or not schema.chemistry.explicit_hydrogens:
        return difference
    at = _type_column(schema)
    hydrogens = {
        i
        for i in difference.touched
        if all(node is None or node[at] == "H" for node in (factual.nodes.get(i), after.nodes.get(i)))
    }
    return Difference(
        {i: change for i, change in difference.nodes.items() if None not in change or i not in hydrogens},
        {pair: change for pair, change in difference.edges.items() if None not in change or hydrogens.isdisjoint(pair)},
    )


def _rings(sketch: Sketch) -> set[Pair]:
    """Edges that are part of a ring."""
    return {(i, j) for i, near in sketch.near.items() for j in near} - bridges(sketch)


def _type_column(schema: Schema) -> int:
    """Which column of a molecule's nodes names the element."""
    return next(k for k, column in enumerate(schema.nodes) if column.name == "type")


def _as_set(name: str, given: Any) -> frozenset[Any]:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ConfigError(f"`{name}` must be a set or a list; got {given!r}. Write {{{given!r}}} for one of them.")
    return frozenset(tuple(one) if isinstance(one, list) else one for one in given)


def _introduces(forbidden: Collection[str], changes: Iterable[AttributeChange]) -> bool:
    return bool(forbidden) and any(
        value in forbidden and (before is None or value != before[at])
        for before, after in changes
        for at, value in enumerate(after or ())
    )


def _ops(difference: Difference) -> set[Op]:
    ops: set[Op] = {op_of("node", change) for change in difference.nodes.values()}
    ops.update(op_of("edge", change) for change in difference.edges.values())
    return ops


def _names(columns: tuple[Column, ...]) -> set[str]:
    return {name for column in columns if isinstance(column, Categories) for name in column.values}
