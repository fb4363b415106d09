"""Molecules in TU sets: sets whose node labels are elements and whose edge labels are bonds get their chemistry."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...chemistry import Bond, Chemistry
from .notes import LabelNotes
from .tables import TuTables

_SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am"
)
ELEMENTS = frozenset(_SYMBOLS.split())
_BONDS = {"-": "single", "=": "double", "#": "triple", ":": "aromatic", "1": "single", "2": "double", "3": "triple"}
_ORDERS = {"single": 1, "double": 2, "triple": 3}
_ENOUGH = 0.9  # share of graphs that must be molecules by the rules


def as_molecules(raw: TuTables, notes: LabelNotes) -> tuple[TuTables, LabelNotes, Chemistry | None]:
    """Recognize a set of molecules by its names of labels, and draw aromatic rings with alternating double bonds.

    Args:
        raw: Tables of the set.
        notes: Names of its labels.

    Returns:
        The tables with single, double and triple bonds, their names, and the chemistry; all as they were, and None, if
        labels are no elements and bonds, or fewer than 90 % of the graphs obey the rules of valence.
    """
    elements, bonds = _column(raw.node_labels, notes, "node"), _column(raw.edge_labels, notes, "edge")
    if elements is None or bonds is None or raw.directed:
        return raw, notes, None
    bonds = {value: _BONDS.get(name, name.lower()) for value, name in bonds.items()}
    if not set(elements.values()) <= ELEMENTS or not set(bonds.values()) <= {*_ORDERS, "aromatic"}:
        return raw, notes, None
    symbols = [elements[value] for value in raw.node_labels[:, 0].tolist()]
    chemistry = Chemistry(explicit_hydrogens="H" in symbols)
    orders, share = _orders(raw, symbols, [bonds[value] for value in raw.edge_labels[:, 0].tolist()], chemistry)
    if share < _ENOUGH:
        return raw, notes, None
    names = {0: "single", 1: "double", 2: "triple"}
    maps = notes.maps | {"edge labels": [names]}
    drawn = replace(raw, edge_labels=(orders - 1)[:, None])
    return drawn, LabelNotes(notes.names | {"node labels": ["type"], "edge labels": ["type"]}, maps), chemistry


def _column(labels: np.ndarray, notes: LabelNotes, kind: str) -> dict[int, str] | None:
    """Names of the values of the only column of labels that occur; None if there are several, or one has no name."""
    maps = notes.maps.get(f"{kind} labels", [])
    if labels.shape[1] != 1 or len(maps) != 1:
        return None
    values = np.unique(labels).tolist()
    return {value: maps[0][value] for value in values} if all(value in maps[0] for value in values) else None


def _orders(raw: TuTables, symbols: list[str], bonds: list[str], chemistry: Chemistry) -> tuple[np.ndarray, float]:
    """Order of each row of edges, and the share of graphs that are molecules by the rules."""
    orders = np.array([_ORDERS.get(bond, 1) for bond in bonds])
    first = np.searchsorted(raw.graph_of, np.arange(len(raw.number) + 1))
    owner = raw.graph_of[raw.edges[:, 0]]
    rows_of = np.argsort(owner, kind="stable")
    starts, right = np.searchsorted(owner[rows_of], np.arange(len(raw.number) + 1)), 0
    for graph in range(len(raw.number)):
        rows = rows_of[starts[graph] : starts[graph + 1]]
        ends = (raw.edges[rows] - first[graph]).tolist()
        kinds = {(min(i, j), max(i, j)): bonds[row] for (i, j), row in zip(ends, rows.tolist(), strict=True)}
        atoms = symbols[first[graph] : first[graph + 1]]
        drawn = kekulized(atoms, kinds)
        for (i, j), row in zip(ends, rows.tolist(), strict=True):
            orders[row] = drawn[min(i, j), max(i, j)]
        listed: list[Bond] = [(i, j, order) for (i, j), order in drawn.items()]
        right += not chemistry.unfilled(atoms, listed) if atoms else 0
    return orders, right / max(len(raw.number), 1)


def kekulized(symbols: Sequence[str], bonds: dict[tuple[int, int], str]) -> dict[tuple[int, int], int]:
    """Orders of bonds of a molecule, aromatic ones alternating between 1 and 2 so that all carbons have four.

    Args:
        symbols: Element of each atom.
        bonds: Kind of each bond by its two atoms: single, double, triple or aromatic.

    Returns:
        The order of each bond. An atom that no alternation reaches keeps single bonds.

    Example:
        >>> ring = {(k, (k + 1) % 6) if k < 5 else (0, 5): "aromatic" for k in range(6)}
        >>> sorted(kekulized("CCCCCC", ring).values())
        [1, 1, 1, 2, 2, 2]
    """
    import networkx

    orders = {pair: _ORDERS.get(kind, 1) for pair, kind in bonds.items()}
    aromatic = [pair for pair, kind in bonds.items() if kind == "aromatic"]
    if not aromatic:
        return orders
    degree, taken = [0] * len(symbols), [0] * len(symbols)
    for pair, order in orders.items():
        for atom in pair:
            degree[atom] += 1
            taken[atom] += order
    able = {"C": 4, "N": 3, "P": 3, "B": 3}
    worth = {
        i: (100 if symbols[i] == "C" else 10)
        for i in range(len(symbols))
        if taken[i] + 1 <= able.get(symbols[i], 0) and degree[i] < able.get(symbols[i], 0)
    }
    graph = networkx.Graph()
    graph.add_weighted_edges_from((i, j, worth[i] + worth[j]) for i, j in sorted(aromatic) if i in worth and j in worth)
    for i, j in networkx.max_weight_matching(graph):
        orders[min(i, j), max(i, j)] = 2
    return orders
