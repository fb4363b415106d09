"""Constraints: parts of a graph that must stay as they are; a counterfactual that breaks one is never returned."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, get_args

from ..errors import ConfigError
from ..schema import Op


@dataclass(frozen=True)
class Constraints:
    """Frozen parts by node number of the factual, forbidden parts by name, and the largest number of edits.

    Where hydrogens are nodes, adding or removing them is bookkeeping, and so are stored charges that follow from other
    edits: it breaks no `forbid_ops` and costs nothing of the `budget`. Any collection may be given; it is kept
    as a frozenset, so that equal constraints are equal values.

    Args:
        freeze_nodes: Nodes that keep their attributes and their edges; atoms keep their hydrogens, too.
        freeze_edges: Pairs of nodes whose edge, or missing edge, stays as it is.
        forbid_node_types: Values of node attributes that are not introduced, such as "Cl".
        forbid_edge_types: Values of edge attributes that are not introduced, such as "triple".
        forbid_ops: Kinds of edit that are not made: remove_edge, remove_node, add_node, set_node, add_edge, set_edge.
        budget: Largest number of edits, at least 1; None sets no limit.
        freeze_rings: Keeps all edges that are part of a ring, and aromatic rings of molecules aromatic. Atoms of rings,
            and what is attached to them, may change.

    Raises:
        ConfigError: If a value is not of its kind: a text instead of a list, an unknown operation, a budget below 1,
            or an edge from a node to itself.

    Example:
        >>> Constraints(freeze_nodes=[0, 3], forbid_node_types={"Cl"}, budget=4).budget
        4
        >>> Constraints(freeze_nodes=[2, 1]) == Constraints(freeze_nodes={1, 2})
        True
    """

    freeze_nodes: Collection[int] = frozenset()
    freeze_edges: Collection[tuple[int, int]] = frozenset()
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


def _as_set(name: str, given: Any) -> frozenset[Any]:
    """A collection as a frozenset, pairs that came as lists made tuples."""
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ConfigError(f"`{name}` must be a set or a list; got {given!r}. Write {{{given!r}}} for one of them.")
    return frozenset(tuple(value) if isinstance(value, list) else value for value in given)
