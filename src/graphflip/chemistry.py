"""Chemistry: valences of elements and ions, hydrogens that follow from them, and a rule for charges not stored."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, model_serializer, model_validator

BOND_ORDERS = {"single": 1, "double": 2, "triple": 3}
"""Names of bond types in a schema, and how much of a valence each one takes."""

Bond = tuple[int, int, int]
"""Two atoms and the order of the bond between them."""

OTHER = "other"
"""Element of an atom that a schema has no name for: it can be read, and is never created or joined to anything new."""

HYPERVALENT = ("P", "S", "Cl", "As", "Se", "Br", "I")
"""Elements whose bonds to oxygen are written as double bonds, and not as X(+)-O(-)."""


class Chemistry(BaseModel):
    """Rules by which a graph of element symbols and bond types is a molecule.

    Graphs either store the charge of each atom in a node column named `charge`, or do not. If they do, an atom has as
    many hydrogens as fill the smallest valence that RDKit allows its element and charge (`num_hydrogens`), and a nitro
    group is N+ beside O- like any other ions.

    If they do not, the charge rule derives charges from the surroundings of an atom within two bonds: an atom whose
    bonds fit only an ion is that ion (4-valent N is N+, 3-valent O and S are O+ and S+, an isolated Na is Na+), and an
    atom one bond short beside a 4-valent N is its counterpart (the O- of nitro groups and N-oxides, the end of azides
    and diazo groups, the C- of isonitriles). Everything else is neutral.

    Args:
        explicit_hydrogens: True if hydrogens are nodes of the graphs; False if they are implied.
        stored_charges: True if nodes have the charge of their atom as a column; hydrogens must then be implied.

    Example:
        >>> nitromethane = ["C", "N", "O", "O"], [(0, 1, 1), (1, 2, 2), (1, 3, 1)]
        >>> chemistry = Chemistry(explicit_hydrogens=False)
        >>> chemistry.formal_charges(*nitromethane), chemistry.unfilled(*nitromethane)
        ([0, 1, 0, -1], [])
        >>> chemistry.allowed_valences("O"), chemistry.max_valence("C")
        ((0, 1, 2, 3), 4)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    explicit_hydrogens: bool
    stored_charges: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> "Chemistry":
        if self.explicit_hydrogens and self.stored_charges:
            raise ValueError("charges can be stored only where hydrogens are implied; got explicit hydrogens as well")
        return self

    @model_serializer(mode="wrap")
    def _without_default(self, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Leave out `stored_charges` where it is False, so that fingerprints of such data stay as they were."""
        return {name: value for name, value in serialize(self).items() if name != "stored_charges" or value}

    def ion_valences(self, symbol: str, charge: int) -> tuple[int, ...]:
        """Sums of bond orders, hydrogens included, of an atom with a stored charge.

        Args:
            symbol: Element, as in "N".
            charge: Its formal charge.

        Returns:
            Valences in rising order, those of RDKit; none if the element has no such ion or is "other".

        Example:
            >>> chemistry = Chemistry(explicit_hydrogens=False, stored_charges=True)
            >>> chemistry.ion_valences("S", 0), chemistry.ion_valences("N", 1), chemistry.ion_valences("C", 2)
            ((2, 4, 6), (4,), ())
        """
        return _ION_VALENCES.get((symbol, charge), ())

    def num_hydrogens(self, symbol: str, charge: int, valence: int) -> int | None:
        """Number of hydrogens of an atom with a stored charge.

        Args:
            symbol: Element, as in "N".
            charge: Its formal charge.
            valence: Sum of the orders of its bonds to other atoms.

        Returns:
            Hydrogens that fill the smallest valence with room for these bonds; None if there is none.

        Example:
            >>> Chemistry(explicit_hydrogens=False, stored_charges=True).num_hydrogens("N", 1, 1)
            3
        """
        return next((filled - valence for filled in self.ion_valences(symbol, charge) if filled >= valence), None)

    def formal_charge(self, symbol: str, valence: int, degree: int, beside_cation: bool = False) -> int:
        """Charge of one atom by the charge rule.

        Args:
            symbol: Element, as in "N".
            valence: Sum of the orders of its bonds.
            degree: Number of its bonds.
            beside_cation: True if a neighbor is a 4-valent nitrogen.

        Returns:
            Formal charge; 0 if the bonds fit no closed shell.
        """
        state = self._state(symbol, valence, degree, beside_cation)
        return state.charge if state else 0

    def formal_charges(self, symbols: Sequence[str], bonds: Sequence[Bond]) -> list[int]:
        """Charges of all atoms of a molecule.

        Args:
            symbols: Element of each atom.
            bonds: Two atoms and the order of the bond, 1 to 3; each bond once.

        Returns:
            Formal charge of each atom.
        """
        return [self.formal_charge(*atom) for atom in surroundings(symbols, bonds)]

    def allowed_valences(self, symbol: str) -> tuple[int, ...]:
        """Sums of bond orders that an atom may have, hydrogens that are still missing not counted.

        Args:
            symbol: Element, as in "Cl".

        Returns:
            0 to `max_valence`, and larger ones that only occur as a whole: the 7 of perchlorate.
        """
        element = _element(symbol)
        lone = tuple(state.valence for state in element.states if state.valence > element.max_valence)
        return (*range(element.max_valence + 1), *lone)

    def max_valence(self, symbol: str) -> int:
        """Largest sum of bond orders that an atom of this element can reach bond by bond through allowed ones."""
        return _element(symbol).max_valence

    def is_filled(self, symbol: str, valence: int, degree: int, beside_cation: bool = False) -> bool:
        """True if an atom has neither an open valence nor too many bonds.

        Where hydrogens are implied they fill every open valence. Arguments are those of `formal_charge`.
        """
        if not self.explicit_hydrogens:
            return valence in self.allowed_valences(symbol)
        return self._state(symbol, valence, degree, beside_cation) is not None

    def unfilled(self, symbols: Sequence[str], bonds: Sequence[Bond]) -> list[int]:
        """Atoms with an open valence (radicals) or too many bonds, as numbers; arguments as in `formal_charges`."""
        return [i for i, atom in enumerate(surroundings(symbols, bonds)) if not self.is_filled(*atom)]

    def _state(self, symbol: str, valence: int, degree: int, beside_cation: bool) -> "_State | None":
        """Closed shell that fits these bonds, a neutral one if possible; None if there is none."""
        for state in _element(symbol).states:
            if (
                state.valence == valence
                and degree in range(state.min_degree, state.max_degree + 1)
                and (beside_cation or not state.beside_cation)
                and (self.explicit_hydrogens or not state.needs_explicit)
            ):
                return state
        return None


def surroundings(symbols: Sequence[str], bonds: Sequence[Bond]) -> list[tuple[str, int, int, bool]]:
    """Symbol, valence, degree and `beside_cation` of each atom: the inputs of the charge rule."""
    valence, degree = [0] * len(symbols), [0] * len(symbols)
    for i, j, order in bonds:
        for atom in (i, j):
            valence[atom] += order
            degree[atom] += 1
    beside = [False] * len(symbols)
    for i, j, _ in bonds:
        for atom, neighbor in ((i, j), (j, i)):
            beside[atom] |= symbols[neighbor] == "N" and valence[neighbor] == 4
    return list(zip(symbols, valence, degree, beside, strict=True))


class _State(NamedTuple):
    """A closed shell: the sum of bond orders (hydrogens included) and the charge that goes with it."""

    valence: int
    charge: int = 0
    min_degree: int = 0
    max_degree: int = 8
    beside_cation: bool = False
    needs_explicit: bool = False


class _Element(NamedTuple):
    """Closed shells of an element, neutral ones first, and the largest valence reached bond by bond."""

    max_valence: int
    states: tuple[_State, ...]


def _element(symbol: str) -> _Element:
    return _ELEMENTS.get(symbol, _METAL)


# A halogen without bonds is an anion only where hydrogens are explicit; where they are implied it is HCl, as in the
# hydrochlorides of AIDS.
_HALIDE = _State(0, -1, needs_explicit=True)

# An element that is not in the table may have any bonds and stays neutral, as in RDKit for transition metals.
_METAL = _Element(8, tuple(_State(valence) for valence in range(9)))

_ELEMENTS = {
    "H": _Element(1, (_State(1),)),
    "Li": _Element(1, (_State(1), _State(0, 1))),
    "B": _Element(4, (_State(3), _State(4, -1))),
    "C": _Element(4, (_State(4), _State(3, -1, max_degree=1, beside_cation=True))),
    "N": _Element(4, (_State(3), _State(4, 1), _State(2, -1, beside_cation=True))),
    "O": _Element(3, (_State(2), _State(3, 1), _State(1, -1, beside_cation=True))),
    "F": _Element(1, (_State(1), _HALIDE)),
    "Na": _Element(1, (_State(1), _State(0, 1))),
    "Mg": _Element(2, (_State(2), _State(0, 2))),
    "Si": _Element(4, (_State(4),)),
    # Below four neighbors a 4-valent P lacks a hydrogen, R-PH(=O)-OH; with four it is a phosphonium.
    "P": _Element(5, (_State(3), _State(5), _State(4, 1, min_degree=4))),
    "S": _Element(6, (_State(2), _State(4), _State(6), _State(3, 1, min_degree=2), _State(5, 1, min_degree=4))),
    "Cl": _Element(1, (_State(1), _State(7, min_degree=4, max_degree=4), _HALIDE)),
    "K": _Element(1, (_State(1), _State(0, 1))),
    "Ca": _Element(2, (_State(2), _State(0, 2))),
    "Zn": _Element(2, (_State(2), _State(0, 2))),
    "As": _Element(5, (_State(3), _State(5), _State(4, 1, min_degree=4))),
    "Se": _Element(6, (_State(2), _State(4), _State(6), _State(3, 1, min_degree=2))),
    "Br": _Element(1, (_State(1), _HALIDE)),
    "Sn": _Element(4, (_State(2), _State(4))),
    "I": _Element(5, (_State(1), _State(3), _State(5), _State(2, 1, min_degree=2), _HALIDE)),
}

# Valences of elements by charge, as RDKit has them; ions that no stable molecule has are left out.
_ION_VALENCES = {
    ("B", 0): (3,), ("B", -1): (4,),
    ("C", 0): (4,), ("C", 1): (3,), ("C", -1): (3,),
    ("N", 0): (3,), ("N", 1): (4,), ("N", -1): (2,), ("N", -2): (1,),
    ("O", 0): (2,), ("O", 1): (3,), ("O", -1): (1,), ("O", -2): (0,),
    ("F", 0): (1,), ("F", -1): (0,),
    ("Na", 0): (1,), ("Na", 1): (0,),
    ("Si", 0): (4,), ("Si", -1): (3, 5), ("Si", -2): (2, 4, 6),
    ("P", 0): (3, 5), ("P", 1): (4,), ("P", -1): (2, 4, 6),
    ("S", 0): (2, 4, 6), ("S", 1): (3, 5), ("S", 2): (4,), ("S", -1): (1, 3, 5), ("S", -2): (0, 2, 4),
    ("Cl", 0): (1,), ("Cl", -1): (0,), ("Cl", 1): (2, 4, 6), ("Cl", 2): (3, 5), ("Cl", 3): (4,),
    ("K", 0): (1,), ("K", 1): (0,),
    ("Se", 0): (2, 4, 6), ("Se", 1): (3, 5), ("Se", -1): (1, 3, 5), ("Se", -2): (0, 2, 4),
    ("Br", 0): (1,), ("Br", -1): (0,), ("Br", 1): (2, 4, 6), ("Br", 2): (3, 5), ("Br", 3): (4,),
    ("I", 0): (1, 3, 5), ("I", -1): (0, 2, 4, 6), ("I", 1): (2, 4, 6), ("I", 2): (3, 5), ("I", 3): (2, 4),
}  # fmt: skip
