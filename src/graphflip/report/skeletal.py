"""Molecules as chemists draw them: carbon without a letter, hydrogens beside their atom, double bonds inside rings."""

from collections.abc import Collection, Sequence
from math import atan2, pi
from typing import NamedTuple

from ..chemistry import BOND_ORDERS
from ..data.molecule import atoms_and_bonds, to_mol
from ..errors import require
from ..explain.words import neighbors
from ..graph import Graph
from .layout import Places
from .scene import FONT, UNIT, Lines, Point, Text, strokes, text_width, trimmed

_LETTER = 0.34 * UNIT
"""What a bond leaves free around a letter."""

_DOWN, _UP = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("123456789+-", "¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


_LAST = ("O", "S", "Se", "F", "Cl", "Br", "I")


class Atom(NamedTuple):
    """An atom with the hydrogens that are not drawn by themselves; `is_open`: its valence is not filled."""

    symbol: str
    hydrogens: int
    charge: int
    is_open: bool

    @property
    def has_letter(self) -> bool:
        """Whether it needs one even without being marked."""
        return self.symbol != "C" or self.charge != 0 or self.is_open

    def letters(self, at: Point, side: str) -> list[Text]:
        """Its symbol, hydrogens on the given side of it, and its charge."""
        count = str(self.hydrogens).translate(_DOWN) if self.hydrogens > 1 else ""
        hydrogens = f"H{count}" if self.hydrogens else ""
        size = str(abs(self.charge)) if abs(self.charge) > 1 else ""
        charge = f"{size}{'+' if self.charge > 0 else '-'}".translate(_UP) if self.charge else ""
        charge += "•" if self.is_open else ""
        half = text_width(self.symbol, "label") / 2
        if hydrogens and side == "left":
            return [
                Text(
                    (at[0] + half + text_width(charge, "label"), at[1]),
                    f"{hydrogens}{self.symbol}{charge}",
                    "label",
                    "end",
                )
            ]
        if hydrogens and side in ("above", "below"):
            y = at[1] + (0.95 if side == "below" else -0.95) * FONT["label"]
            beside = Text((at[0] - half, y), hydrogens, "label", "start")
            return [Text((at[0] - half, at[1]), f"{self.symbol}{charge}", "label", "start"), beside]
        return [Text((at[0] - half, at[1]), f"{self.symbol}{hydrogens}{charge}", "label", "start")]


def open_side(symbol: str, at: Point, others: Sequence[Point]) -> str:
    """Where hydrogens beside an atom cover no bond; water is H₂O, methane CH₄."""
    if not others:
        return "left" if symbol in _LAST else "right"
    angles = [atan2(y - at[1], x - at[0]) for x, y in others]
    sides = {"right": 0.0, "left": pi, "below": pi / 2, "above": -pi / 2}
    room = {side: min(_turn(angle, middle) for angle in angles) for side, middle in sides.items()}
    return next((side for side in ("right", "left") if room[side] > 0.9), max(sides, key=lambda side: room[side]))


def _turn(a: float, b: float) -> float:
    """The angle between two directions."""
    return abs((a - b + pi) % (2 * pi) - pi)


def atoms_of(graph: Graph, hidden: Collection[int]) -> dict[int, Atom]:
    """The atoms of a molecule that are drawn."""
    chemistry = graph.schema.chemistry
    if chemistry is None:
        return {}
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    symbols, bonds = atoms_and_bonds(graph)
    charges = chemistry.formal_charges(symbols, bonds)
    is_open = set(chemistry.unfilled(symbols, bonds)) if chemistry.explicit_hydrogens else set()
    near = neighbors(graph)
    implied = [0] * len(slots) if chemistry.explicit_hydrogens else _implied_hydrogens(graph)
    return {
        i: Atom(symbols[k], implied[k] + len(near.get(i, set()) & set(hidden)), charges[k], k in is_open)
        for k, i in enumerate(slots)
        if i not in hidden
    }


def bonds_of(graph: Graph, places: Places, lettered: Collection[int]) -> dict[tuple[int, int], Lines]:
    """The lines of each bond between atoms that are drawn; `lettered` are atoms that bonds keep a distance from."""
    rings = _rings(graph)
    found = {}
    for i, j, edge in graph.edges():
        if i in places and j in places:
            ends = trimmed(places[i], places[j], *(_LETTER if k in lettered else 0.0 for k in (i, j)))
            ring = next((ring for ring in rings if i in ring and j in ring), ())
            inside = [places[k] for k in ring if k in places]
            found[i, j] = Lines(strokes(*ends, BOND_ORDERS[str(edge["type"])], inside))
    return found


def _rings(graph: Graph) -> list[tuple[int, ...]]:
    """Slots of the atoms of each ring, small rings first."""
    chem = require("rdkit.Chem", "mol", "Drawing molecules")
    mol = to_mol(graph, sanitize=False)
    chem.GetSSSR(mol)
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    return sorted((tuple(slots[k] for k in ring) for ring in mol.GetRingInfo().AtomRings()), key=len)


def _implied_hydrogens(graph: Graph) -> list[int]:
    mol = to_mol(graph, sanitize=False)
    mol.UpdatePropertyCache(strict=False)
    return [atom.GetTotalNumHs() for atom in mol.GetAtoms()]
