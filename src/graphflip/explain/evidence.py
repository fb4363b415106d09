"""Evidence: verdicts on a counterfactual by models and rules other than the classifier that it flips."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import DataError


@dataclass(frozen=True)
class Evidence:
    """Verdicts of independent models and rules on one counterfactual; None where there is nothing to ask.

    Args:
        judges: Probability of the target, or the predicted value, by models that no search has consulted, by name.
        environment: True if every radius-1 environment that the edits created occurs in the training data.
        plausible: True if the autoencoder finds the graph at least as likely as the least likely 1 % of real graphs.
        nll_per_node: Negative log-likelihood under the autoencoder, in nats per node.
        molecule: True if RDKit accepts the graph as a molecule, in one piece if the factual was.
        radical_free: True if every valence is filled.
        round_trip: True if the molecule, written as SMILES and read back, still flips; None if it does not flip.
    """

    judges: Mapping[str, float] = field(default_factory=dict)
    environment: bool | None = None
    plausible: bool | None = None
    nll_per_node: float | None = None
    molecule: bool | None = None
    radical_free: bool | None = None
    round_trip: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready form; `from_json` reads it back."""
        return dataclasses.asdict(self) | {"judges": dict(self.judges)}

    @classmethod
    def from_json(cls, stored: Any) -> "Evidence":
        """Read what `to_json` writes; keys that are missing or unknown are None or ignored."""
        if not isinstance(stored, dict) or not isinstance(stored.get("judges", {}), dict):
            raise DataError(f"`evidence` must be an object whose `judges` are an object; got {stored!r}.")
        judges = {str(name): _checked(value, name, float) for name, value in stored.get("judges", {}).items()}
        claims = ("environment", "plausible", "molecule", "radical_free", "round_trip")
        nll = stored.get("nll_per_node")
        return cls(
            judges={name: value for name, value in judges.items() if value is not None},
            nll_per_node=None if nll is None else _checked(nll, "nll_per_node", float),
            **{name: _checked(stored.get(name), name, bool) for name in claims},
        )

    def __str__(self) -> str:
        return self.in_words("give the target")

    def in_words(self, verb: str) -> str:
        """Say it on one line; `verb` says what judges do with their numbers, e.g. "give the target"."""
        said = ", ".join(f"{p:.2f} ({name})" for name, p in self.judges.items())
        parts = [f"judges {verb} {said}"] if said else []
        for claim, yes, no in (
            (self.environment, "surroundings as in the data", "SURROUNDINGS NEVER SEEN in the data"),
            (self.plausible, "plausible", "IMPLAUSIBLE to the autoencoder"),
            (self.radical_free, "all valences filled", "VALENCES LEFT OPEN"),
            (self.round_trip, "holds as SMILES", "LOST when written as SMILES"),
        ):
            if claim is not None:
                parts.append(yes if claim else no)
        return "; ".join(parts)


def _checked(value: Any, name: str, kind: type) -> Any:
    if value is None or (kind is bool and isinstance(value, bool)):
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise DataError(f"`{name}` in `evidence` must be a {kind.__name__}; got {value!r}.")
