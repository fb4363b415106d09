"""Restrictions: constraints applied to one graph, to name the constraint that a candidate breaks."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ...edits import Op
from ...errors import ConfigError
from ...schema import Column, Schema
from ..constraints import Constraints
from .atoms.orders import column_index
from .connectivity import bridges
from .difference import AttributeChange, Difference, op_of
from .rings.aromatic import AromaticRings
from .sketch import Pair, Sketch


@dataclass(frozen=True)
class Restrictions:
    """Constraints with the frozen parts of one graph spelled out.

    Args:
        constraints: Constraints of the query.
        nodes: Frozen nodes, and the explicit hydrogens of frozen atoms.
        edges: Frozen edges and, if rings are frozen, the edges of rings; in both directions if edges are undirected.
        aromatic: If rings of a molecule are frozen, its aromatic rings, which must stay aromatic.
    """

    constraints: Constraints
    nodes: frozenset[int]
    edges: frozenset[Pair]
    aromatic: AromaticRings | None = None

    @classmethod
    def of(cls, constraints: Constraints, factual: Sketch, schema: Schema) -> "Restrictions":
        """Apply constraints to a graph; raise ConfigError if they name what the graph or the schema does not have."""
        check_nodes(constraints, factual)
        check_types(constraints, schema)
        edges = {*constraints.freeze_edges, *(_rings(factual) if constraints.freeze_rings else ())}
        if not schema.directed:
            edges |= {(j, i) for i, j in edges}
        hydrogens = _hydrogens_at(constraints.freeze_nodes, factual, schema)
        molecular = constraints.freeze_rings and schema.chemistry is not None
        aromatic = AromaticRings.of(factual, schema) if molecular else None
        return cls(constraints, frozenset({*constraints.freeze_nodes, *hydrogens}), frozenset(edges), aromatic)

    def broken(self, difference: Difference, counted: Difference) -> str | None:
        """Name the first constraint that a difference from the factual breaks; None if it breaks none.

        `counted` is the difference without bookkeeping of hydrogens and charges, as `counted_part` gives it.
        """
        rules = self.constraints
        if rules.budget is not None and counted.size > rules.budget:
            return "budget"
        if self.nodes and not difference.touched.isdisjoint(self.nodes):
            return "freeze_nodes"
        if self.edges and not self.edges.isdisjoint(difference.edges):
            return "freeze_rings" if rules.freeze_rings else "freeze_edges"
        if self.aromatic is not None and not self.aromatic.stay(difference):
            return "freeze_rings"
        if _introduces(rules.forbid_node_types, difference.nodes.values()):
            return "forbid_node_types"
        if _introduces(rules.forbid_edge_types, difference.edges.values()):
            return "forbid_edge_types"
        if rules.forbid_ops and not _ops(counted).isdisjoint(rules.forbid_ops):
            return "forbid_ops"
        return None


def check_nodes(constraints: Constraints, factual: Sketch) -> None:
    """Raise ConfigError unless all frozen nodes are nodes of the graph."""
    nodes = {*constraints.freeze_nodes, *(i for pair in constraints.freeze_edges for i in pair)}
    missing = sorted(nodes - factual.nodes.keys())
    if missing:
        raise ConfigError(
            f"Frozen nodes must be nodes of the graph, 0..{max(factual.nodes)}; got {missing[0]}. Correct it."
        )


def check_types(constraints: Constraints, schema: Schema) -> None:
    """Raise ConfigError unless all forbidden types are values of the schema."""
    for what, names, columns in (
        ("forbid_node_types", constraints.forbid_node_types, schema.nodes),
        ("forbid_edge_types", constraints.forbid_edge_types, schema.edges),
    ):
        unknown = sorted(set(names) - _names(columns))
        if unknown:
            lists = (f"{column.name}: {', '.join(column.values)}" for column in columns if column.values)
            has = "; ".join(lists) or "none"
            raise ConfigError(f"`{what}` must be among the schema's ({has}); got {unknown[0]!r}. Correct it.")


def _rings(sketch: Sketch) -> set[Pair]:
    """Edges that are part of a ring."""
    return {(i, j) for i, near in sketch.near.items() for j in near} - bridges(sketch)


def _hydrogens_at(nodes: Collection[int], sketch: Sketch, schema: Schema) -> set[int]:
    """Neighbors of these nodes that are hydrogens, in a schema where hydrogens are nodes."""
    if schema.chemistry is None or not schema.chemistry.explicit_hydrogens:
        return set()
    at = column_index(schema.nodes, "type")
    return {j for i in nodes for j in sketch.near[i] if sketch.nodes[j][at] == "H"}


def _introduces(forbidden: Collection[str], changes: Iterable[AttributeChange]) -> bool:
    """True if a change sets an attribute to a forbidden value that it did not have before."""
    return bool(forbidden) and any(
        value in forbidden and (before is None or value != before[at])
        for before, after in changes
        for at, value in enumerate(after or ())
    )


def _ops(difference: Difference) -> set[Op]:
    """Kinds of edit in a difference."""
    ops: set[Op] = {op_of("node", change) for change in difference.nodes.values()}
    ops.update(op_of("edge", change) for change in difference.edges.values())
    return ops


def _names(columns: tuple[Column, ...]) -> set[str]:
    """Categories of all columns."""
    return {name for column in columns for name in column.values}
