"""Evidence: verdicts on a counterfactual by models and rules other than the classifier that it flips."""

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..errors import DataError
from ..realism.change import ChemicalChange
from ..schema import first_problem


@dataclass(frozen=True)
class Neighbor:
    """A training molecule that is similar to another molecule.

    Args:
        id: Name of the training molecule.
        smiles: The molecule.
        label: Name of its class, or its value; empty if the training data have no labels.
        similarity: Tanimoto similarity of Morgan fingerprints, from 0 to 1.
        same: True if it is the same molecule.

    Example:
        >>> print(Neighbor("ames/7", "CCO", "nonmutagen", 0.625))
        CCO (nonmutagen, 0.62)
    """

    id: str
    smiles: str
    label: str
    similarity: float
    same: bool = False

    def __str__(self) -> str:
        said = [self.label] if self.label else []
        return f"{self.smiles} ({', '.join([*said, 'the same' if self.same else f'{self.similarity:.2f}'])})"


@dataclass(frozen=True)
class Nearest:
    """Training molecules that are nearest to a molecule.

    Args:
        neighbors: At least one, the nearest first.
        limit: Similarity to the nearest training molecule that 99 % of validation molecules reach.
    """

    neighbors: tuple[Neighbor, ...]
    limit: float

    @property
    def similarity(self) -> float:
        """Similarity of the nearest."""
        return self.neighbors[0].similarity

    @property
    def familiar(self) -> bool:
        """True if the nearest is about as near as it is for molecules like those trained on."""
        return self.similarity >= self.limit

    @property
    def remark(self) -> str:
        """Sentence about a molecule that is unlike the training data, or part of them; else empty."""
        first = self.neighbors[0]
        if first.same:
            labels = sorted({one.label for one in self.neighbors if one.same and one.label})
            return "in the training data" + (f", labeled {' and '.join(labels)}" if labels else "")
        if self.familiar:
            return ""
        return f"unlike anything it was trained on (nearest: {first.smiles}, similarity {first.similarity:.2f})"

    @classmethod
    def from_json(cls, stored: Any) -> "Nearest | None":
        """Read the JSON form of the dataclass, or null; raises DataError if it has another form."""
        if stored is None:
            return None
        try:
            neighbors = tuple(_neighbor(one) for one in stored["neighbors"])
            limit = float(stored["limit"])
        except (TypeError, KeyError, ValueError) as error:
            raise DataError(
                f"Nearest molecules in `evidence` must have `neighbors`, `limit`; got {stored!r}."
            ) from error
        if not neighbors or not math.isfinite(limit):
            raise DataError(f"Nearest molecules in `evidence` must be at least one; got {stored!r}.")
        return cls(neighbors, limit)


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
        chemistry: Outside measures of the change of a molecule: rings, stability, synthesis, stereocentres, alerts.
        nearest_factual: Training molecules that are nearest to the factual, and how near they are.
        nearest_counterfactual: The same for the counterfactual.
    """

    judges: Mapping[str, float] = field(default_factory=dict)
    environment: bool | None = None
    plausible: bool | None = None
    nll_per_node: float | None = None
    molecule: bool | None = None
    radical_free: bool | None = None
    round_trip: bool | None = None
    chemistry: ChemicalChange | None = None
    nearest_factual: Nearest | None = None
    nearest_counterfactual: Nearest | None = None

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
            chemistry=_chemistry(stored.get("chemistry")),
            nearest_factual=Nearest.from_json(stored.get("nearest_factual")),
            nearest_counterfactual=Nearest.from_json(stored.get("nearest_counterfactual")),
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

    def chemistry_in_words(self) -> list[str]:
        """Say the outside measures on one line, those that speak against the change in capitals; none if not known."""
        found = [] if self.chemistry is None else self.chemistry.findings()
        said = [str(one._replace(words=one.words.upper()) if one.good is False else one) for one in found]
        return ["; ".join(said)] if said else []

    def familiarity(self) -> list[str]:
        """Say how near both molecules are to the training data, in at most four lines; none if that is not known."""
        lines = []
        for found, start, whom in (
            (self.nearest_factual, "", "nearest in the training data"),
            (self.nearest_counterfactual, "changed: ", "nearest to the changed one"),
        ):
            if found is not None:
                lines += [f"{start}{found.remark}"] if found.remark else []
                lines.append(f"{whom}: {', '.join(map(str, found.neighbors))}")
        return lines


def _chemistry(stored: Any) -> ChemicalChange | None:
    try:
        text = json.dumps(stored, allow_nan=False)
        return None if stored is None else TypeAdapter(ChemicalChange).validate_json(text, strict=True)
    except (ValueError, TypeError, RecursionError) as error:
        reason = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise DataError(f"`chemistry` in `evidence` must have the measures of a change: {reason}.") from error


def _neighbor(stored: Any) -> Neighbor:
    texts = {name: stored[name] for name in ("id", "smiles", "label")}
    similarity, same = float(stored["similarity"]), stored.get("same", False)
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(same, bool):
        raise TypeError("a neighbor has three texts")
    if not 0 <= similarity <= 1:
        raise ValueError("a similarity is from 0 to 1")
    return Neighbor(**texts, similarity=similarity, same=same)


def _checked(value: Any, name: str, kind: type) -> Any:
    if value is None or (kind is bool and isinstance(value, bool)):
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise DataError(f"`{name}` in `evidence` must be a {kind.__name__}; got {value!r}.")
