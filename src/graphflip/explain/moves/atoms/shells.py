"""Shells: look-ups of the charge rule and of the hydrogens that atoms need, each worked out once."""

from dataclasses import dataclass
from functools import cache, cached_property

from ....chemistry import Chemistry


@dataclass(frozen=True)
class Shells:
    """Charges and hydrogens of atoms by element, sum of bond orders, number of bonds, and a cation beside them.

    Args:
        chemistry: Chemistry of the molecules.
    """

    chemistry: Chemistry

    @cached_property
    def charge(self):
        """Formal charge of an atom, as `Chemistry.formal_charge` gives it."""
        return cache(self.chemistry.formal_charge)

    @cached_property
    def is_filled(self):
        """True if an atom has neither an open valence nor too many bonds, as `Chemistry.is_filled` says."""
        return cache(self.chemistry.is_filled)

    @cached_property
    def wanted(self):
        @cache
        def wanted(symbol: str, valence: int, degree: int, beside: bool) -> int | None:
            """Number of hydrogens that an atom without any needs; None if no number fills its valence.

            These are the fewest that leave it without a positive charge, or the fewest of all if none does.
            """
            able = [
                (self.charge(symbol, valence + h, degree + h, beside) > 0, h)
                for h in range(self.chemistry.max_valence(symbol) + 1)
                if self.is_filled(symbol, valence + h, degree + h, beside)
            ]
            return min(able)[1] if able else None

        return wanted
