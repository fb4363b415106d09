"""Painter of molecules: skeletal formulas without letters for carbon, hydrogens beside their atom."""

from collections.abc import Mapping, Sequence
from math import atan2, cos, hypot, pi, tan
from typing import NamedTuple

from ...chemistry import BOND_ORDERS, OTHER, Chemistry
from ...data.molecules.building import atoms_and_bonds
from ...data.molecules.molecule import to_mol
from ...describe.atoms import atoms_of
from ...describe.change import neighbors
from ...errors import require
from ...graph import Graph
from ...schema import AttributeDict
from .layout import free_direction
from .painter import AbstractPainter
from .routes import Route
from .scene import (
    FONT,
    REACH,
    UNIT,
    Anchor,
    Form,
    Lines,
    Mark,
    Point,
    Text,
    halo_radius,
    node_key,
    polar,
    strokes,
    text_width,
    trimmed,
)
from .stage import Stage

_LETTER = 0.34 * UNIT
"""Space that a bond leaves free around a letter."""

_SIDES = {"right": (1.0, 0.0), "left": (-1.0, 0.0), "below": (0.0, 1.0), "above": (0.0, -1.0)}
_LAST = ("O", "S", "Se", "F", "Cl", "Br", "I")
"""Elements written after their hydrogens in the formula of a hydride: H₂O, but NH₃."""

_SYMBOLS = {OTHER: "X"}
"""Letters for what is no element."""

_DOWN, _UP = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


class Skeleton(AbstractPainter):
    """Draws a molecule. A carbon has its letter if it is charged, changed, open, or has no bond that shows it."""

    reach = REACH

    def __init__(self, stage: Stage, graph: Graph, chemistry: Chemistry, marks: Mapping[str, Mark]) -> None:
        self.stage, self.marks = stage, marks
        self.atoms = _atoms(graph, chemistry, stage.hidden)
        self.rings = _rings(graph)
        self._bonds = [(i, j) for i, j, _ in graph.edges() if i in stage.places and j in stage.places]

    def node(self, i: int) -> Sequence[Form]:
        letters = self._letters(i) if self._has_letter(i) else []
        style = self.stage.number_style(i)
        if not style:
            return letters
        at, taken = self.stage.places[i], self.stage.around(i)
        if letters and self.atoms[i].hydrogens:
            dx, dy = _SIDES[self._open_side(i)]
            taken.append((at[0] + dx, at[1] + dy))
        distance = 0.64 * UNIT if letters or node_key(i) in self.marks else 0.42 * UNIT
        angle = self._clear_direction(i, taken, distance)
        return [*letters, Text(polar(at, angle, distance), str(i), style)]

    def _clear_direction(self, i: int, taken: Sequence[Point], distance: float) -> float:
        """The direction in which a number beside an atom is farthest from other atoms and bonds.

        That with most room between the atom's own bonds, unless something else is there.
        """
        at, first = self.stage.places[i], free_direction(self.stage.places[i], taken)
        others = [(p, p) for k, p in self.stage.places.items() if k != i]
        lines = [(self.stage.places[a], self.stage.places[b]) for a, b in self._bonds] + others
        near = [line for line in lines if distance_to(line, at) < distance + UNIT]

        def room(angle: float) -> float:
            place = polar(at, angle, distance)
            clear = min((distance_to(line, place) for line in near), default=UNIT)
            return min(clear, 0.45 * UNIT) - 0.02 * UNIT * _turn(angle, first)

        return max((first + k * pi / 6 for k in range(12)), key=room)

    def route(self, i: int, j: int) -> Route:
        return self.stage.places[i], self.stage.places[j]

    def room(self, i: int, j: int) -> float:
        """Space for the letters of an atom and the halo around them; none for a carbon without letter."""
        if not self._has_letter(i):
            return 0.0
        (x, y), (to_x, to_y) = self.stage.places[i], self.stage.places[j]
        angle, mark = atan2(to_y - y, to_x - x), self.marks.get(node_key(i), "")
        return max(_LETTER, halo_radius(mark, angle, self.reach) if mark else self.atoms[i].tail_reach(angle))

    def edge(self, i: int, j: int, attributes: AttributeDict) -> Sequence[Form]:
        places = self.stage.places
        ends = trimmed(places[i], places[j], self.room(i, j), self.room(j, i))
        ring = next((ring for ring in self.rings if i in ring and j in ring), ())
        return [Lines(strokes(*ends, BOND_ORDERS[str(attributes["type"])], [places[k] for k in ring if k in places]))]

    def _has_letter(self, i: int) -> bool:
        mark, degree = self.marks.get(node_key(i), ""), len(self.stage.near.get(i, ()))
        return self.atoms[i].has_letter or degree == 0 or mark == "changed" or (mark != "" and degree == 1)

    def _letters(self, i: int) -> list[Text]:
        """Letters of an atom; a carbon with several bonds is drawn without its hydrogens."""
        atom = self.atoms[i]
        if atom.symbol == "C" and len(self.stage.near.get(i, ())) > 1:
            atom = atom._replace(hydrogens=0)
        at, side = self.stage.places[i], self._open_side(i)
        mark = self.marks.get(node_key(i), "")
        return atom.letters_in_halo(at, side, mark, self.reach) if mark else atom.letters(at, side)

    def _open_side(self, i: int) -> str:
        """The side of an atom on which its hydrogens cover no bond, in all pictures if there is such a side."""
        (x, y), everywhere = self.stage.places[i], self.stage.around(i)
        if not everywhere:
            return "left" if self.atoms[i].symbol in _LAST else "right"

        def room(side: str, others: Sequence[Point]) -> float:
            dx, dy = _SIDES[side]
            return min((_turn(atan2(p[1] - y, p[0] - x), atan2(dy, dx)) for p in others), default=pi)

        here = [self.stage.places[b if a == i else a] for a, b in self._bonds if i in (a, b)]
        for others in (everywhere, here):
            beside = [side for side in ("right", "left") if room(side, others) > 0.9]
            if beside:
                return next((side for side in beside if self._is_free(i, side)), beside[0])
        return max(_SIDES, key=lambda side: room(side, here))

    def _is_free(self, i: int, side: str) -> bool:
        """True if no other atom and no bond between other atoms is where the hydrogens of an atom would stand."""
        (x, y), (dx, dy) = self.stage.places[i], _SIDES[side]
        ends = (x + 0.6 * UNIT * dx, y + 0.6 * UNIT * dy), (x + UNIT * dx, y + UNIT * dy)
        others = [(p, p) for k, p in self.stage.places.items() if k != i]
        lines = [(self.stage.places[a], self.stage.places[b]) for a, b in self._bonds if i not in (a, b)] + others
        return all(distance_to(line, end) > 0.4 * UNIT for line in lines for end in ends)


class _Atom(NamedTuple):
    """An atom with its hydrogens that are not drawn as nodes; `is_open` if its valence is not filled."""

    symbol: str
    hydrogens: int
    charge: int
    is_open: bool

    @property
    def has_letter(self) -> bool:
        """True unless the atom is a plain carbon."""
        return self.symbol != "C" or self.charge != 0 or self.is_open

    @property
    def hydride(self) -> str:
        """The hydrogens as text: H, H₂; empty if there are none."""
        return "H" * (self.hydrogens > 0) + (str(self.hydrogens).translate(_DOWN) if self.hydrogens > 1 else "")

    @property
    def tail(self) -> str:
        """The charge as text, and a dot for an open valence."""
        charge = f"{abs(self.charge) if abs(self.charge) > 1 else ''}{'+' if self.charge > 0 else '-'}".translate(_UP)
        return (charge if self.charge else "") + ("•" if self.is_open else "")

    def letters(self, at: Point, side: str) -> list[Text]:
        """Texts of the atom: its symbol, the hydrogens on the given side of it, and its charge."""
        (x, y), half = at, text_width(self.symbol, "label") / 2
        if self.hydrogens and side == "left":
            end = x + half + text_width(self.tail, "label")
            return [Text((end, y), f"{self.hydride}{self.symbol}{self.tail}", "label", "end")]
        if self.hydrogens and side != "right":
            lower = y + (0.95 if side == "below" else -0.95) * FONT["label"]
            beside = Text((x - half, lower), self.hydride, "label", "start")
            return [Text((x - half, y), f"{self.symbol}{self.tail}", "label", "start"), beside]
        return [Text((x - half, y), f"{self.symbol}{self.hydride}{self.tail}", "label", "start")]

    def letters_in_halo(self, at: Point, side: str, mark: Mark, reach: float) -> list[Text]:
        """Texts of a marked atom: its hydrogens stand outside the halo."""
        inside = Text(at, f"{self.symbol}{self.tail}", "label")
        if not self.hydrogens:
            return [inside]
        dx, dy = _SIDES[side]
        far = halo_radius(mark, atan2(dy, dx), reach) + (1.5 if dx else 0.5 * FONT["label"])
        anchors: dict[str, Anchor] = {"right": "start", "left": "end"}
        beside = Text((at[0] + far * dx, at[1] + far * dy), self.hydride, "label", anchors.get(side, "middle"))
        return [inside, beside]

    def tail_reach(self, angle: float) -> float:
        """Space that a bond in this direction must leave for the charge at the upper right of the symbol."""
        if not self.tail or cos(angle) <= 0:
            return 0.0
        start = text_width(self.symbol, "label") / 2
        end, size = start + text_width(self.tail, "label"), FONT["label"]
        is_above, is_below = end * tan(angle) < -0.7 * size, start * tan(angle) > 0.15 * size
        return 0.0 if is_above or is_below else (end + 2) / cos(angle)


def distance_to(line: tuple[Point, Point], point: Point) -> float:
    """Distance between a line, or a point that is one, and a point."""
    (x, y), (to_x, to_y) = line
    dx, dy = to_x - x, to_y - y
    share = ((point[0] - x) * dx + (point[1] - y) * dy) / max(dx * dx + dy * dy, 1e-9)
    share = min(max(share, 0.0), 1.0)
    return hypot(x + share * dx - point[0], y + share * dy - point[1])


def _turn(a: float, b: float) -> float:
    """The angle between two directions."""
    return abs((a - b + pi) % (2 * pi) - pi)


def _atoms(graph: Graph, chemistry: Chemistry, hidden: frozenset[int]) -> dict[int, _Atom]:
    """Atoms by slot, with their hidden and implied hydrogens."""
    atoms, near = atoms_of(graph), neighbors(graph)
    is_open = set(chemistry.unfilled(*atoms_and_bonds(graph))) if chemistry.explicit_hydrogens else set()
    implied = _implied_hydrogens(graph) if any(atom.filling is None for atom in atoms.values()) else {}
    return {
        i: _Atom(
            _SYMBOLS.get(atom.symbol, atom.symbol),
            implied.get(i, atom.filling or 0) + len(near.get(i, set()) & hidden),
            atom.charge,
            k in is_open,
        )
        for k, (i, atom) in enumerate(atoms.items())
    }


def _rings(graph: Graph) -> list[tuple[int, ...]]:
    """Slots of the atoms of each ring, smallest rings first."""
    mol = to_mol(graph, sanitize=False)
    require("rdkit.Chem", "mol", "Drawing molecules").GetSSSR(mol)
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    return sorted((tuple(slots[k] for k in ring) for ring in mol.GetRingInfo().AtomRings()), key=len)


def _implied_hydrogens(graph: Graph) -> dict[int, int]:
    """Number of hydrogens of each atom of a graph whose hydrogens are neither nodes nor follow from stored charges."""
    mol = to_mol(graph, sanitize=False)
    mol.UpdatePropertyCache(strict=False)
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    return {i: atom.GetTotalNumHs() for i, atom in zip(slots, mol.GetAtoms(), strict=True)}
