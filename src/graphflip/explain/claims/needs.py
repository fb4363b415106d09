"""Needs: what would be lost of an answer without each of its changes, and a smaller answer that keeps the class."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...edits import Edit
from ...errors import DataError


class Loss(Enum):
    """First thing that an answer loses without a change.

    Example:
        >>> Loss("confidence").keeps_class
        True
    """

    CLASS = "class"
    VALIDITY = "validity"
    CONFIDENCE = "confidence"
    AGREEMENT = "agreement"
    NOTHING = "nothing"

    @property
    def keeps_class(self) -> bool:
        """True if a valid graph of the target class is left."""
        return self not in (Loss.CLASS, Loss.VALIDITY)


@dataclass(frozen=True)
class Need:
    """Reason for one change of an answer.

    Args:
        lost: First thing that is lost without the change, in this order: the class (the classifier no longer predicts
            the target), validity (the rest is no valid graph, or breaks a constraint), the confidence that was asked
            of the classifier, the agreement that was asked of the surrogates; or nothing.
        edits: Edits of the change: those of one sentence of `describe`.
    """

    lost: Loss
    edits: tuple[Edit, ...]

    def to_json(self, numbers: dict[Edit, int]) -> dict[str, Any]:
        """Return a JSON-ready form, with the number of each edit in the list of all; `from_json` reads it back."""
        return {"for": self.lost.value, "edits": sorted(numbers[edit] for edit in self.edits)}

    @classmethod
    def from_json(cls, stored: Any, edits: Sequence[Edit]) -> "Need":
        """Read what `to_json` writes, given the list of all edits; raises DataError if it has another form."""
        try:
            if any(type(number) is not int or number < 0 for number in stored["edits"]):
                raise IndexError
            return cls(Loss(stored["for"]), tuple(edits[number] for number in stored["edits"]))
        except (TypeError, KeyError, IndexError, ValueError) as error:
            known = ", ".join(loss.value for loss in Loss)
            raise DataError(
                f"`needed_for` must be a list of objects with `for` ({known}) and `edits`, numbers of edits; "
                f"got {stored!r}."
            ) from error


@dataclass(frozen=True)
class Smaller:
    """An answer with fewer changes, of which only the class was asked.

    Args:
        edits: Edits that lead from the factual to its graph.
        probability: Probability of the target, or the predicted value.

    Example:
        >>> Smaller((Edit("remove_node", (3,), {"type": "Cl"}),), 0.55).to_json()
        {'p': 0.55, 'edits': [{'op': 'remove_node', 'node': 3, 'from': {'type': 'Cl'}}]}
    """

    edits: tuple[Edit, ...]
    probability: float

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready form; `from_json` reads it back."""
        return {"p": self.probability, "edits": [edit.to_json() for edit in self.edits]}

    @classmethod
    def from_json(cls, stored: Any) -> "Smaller | None":
        """Read what `to_json` writes, or null; raises DataError if it has another form."""
        if stored is None:
            return None
        if not isinstance(stored, dict) or type(stored.get("p")) not in (int, float):
            raise DataError(f"`smaller` must be an object with the keys `p`, a number, and `edits`; got {stored!r}.")
        if not isinstance(stored.get("edits"), list):
            raise DataError(f"`edits` of `smaller` must be a list; got {stored.get('edits')!r}.")
        return cls(tuple(Edit.from_json(edit) for edit in stored["edits"]), float(stored["p"]))
