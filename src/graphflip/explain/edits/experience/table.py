"""Experience: what moves have done to training graphs on average, so that a search knows where to look first."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, UInt32
from numpy.typing import NDArray

from ....errors import ModelFileError
from ....models.storage.files import read_tensors, write_tensors
from ...goals.classes import ClassGoal
from ...goals.goal import AbstractGoal
from ...moves.draft import Draft, Family
from ...moves.fragments import Fragment
from ...moves.sketch import Environment, Sketch

EXPERIENCE = "experience.safetensors"
"""Name of the file in a kit."""

COST_PARTS = 3
"""Columns about cost: edits, hydrogens, places."""

_FORMAT = "1"

# Families whose sums are kept: some ten megabytes.
_KEPT = 4096


class ExpectedEffects(NamedTuple):
    """Effects that moves are expected to have, one number for each move.

    Args:
        score: Rise of the log-odds of the target by the classifier.
        agreement: Rise of the log-odds of the target by the surrogates.
        edits: Cost of the edits.
        hydrogens: Hydrogens that come or go.
        sites: Places that are changed.
        strangeness: Price of what real graphs seldom have; high for moves that are not allowed.
    """

    score: NDArray[np.float64]
    agreement: NDArray[np.float64]
    edits: NDArray[np.float64]
    hydrogens: NDArray[np.float64]
    sites: NDArray[np.float64]
    strangeness: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Experience:
    """Effects of moves as sums over their features: the kind, what comes, what goes, and the surroundings.

    Args:
        keys: Keys of the features, ascending.
        weights: Effect of each feature: on the log-odds of each class by the classifier, then by the surrogates; on
            edits, hydrogens and places; on the strangeness.
        mean: Mean effect of all moves.

    A feature that is not in the table has no effect.
    """

    keys: UInt32[np.ndarray, " f"]
    weights: Float[np.ndarray, "f columns"]
    mean: Float[np.ndarray, " columns"]
    _rows: dict[Hashable, int] = field(default_factory=dict, repr=False)
    _sums: dict[Hashable, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @property
    def num_classes(self) -> int:
        """Number of classes of the classifier that it was learned from."""
        return (len(self.mean) - COST_PARTS - 1) // 2

    def expected(self, state: Sketch, families: Sequence[Family], goal: AbstractGoal) -> ExpectedEffects | None:
        """Effects of the moves of a state, family by family; None if the goal is not one of the classes."""
        if not isinstance(goal, ClassGoal) or goal.index >= self.num_classes:
            return None
        around = {family.place[0] for family in families}
        here = {i: state.environment(i) for i in around}
        summed = np.concatenate([np.empty((0, len(self.mean))), *(self._summed(each, here) for each in families)])
        classes = self.num_classes
        columns = (goal.index, classes + goal.index, *range(2 * classes, summed.shape[1]))
        return ExpectedEffects(*(summed[:, column] for column in columns))

    def _summed(self, family: Family, around: Mapping[int, Environment]) -> NDArray[np.float64]:
        """Sums of the effects of the features of each move; kept, because most places are like others."""
        kind, choices, takes = family.kind, family.choices, family.takes
        here = around[family.place[0]]
        key = kind, choices, takes, here
        if key not in self._sums:
            if len(self._sums) >= _KEPT:
                self._sums.clear()
            rows = [[self._row(each) for each in features(kind, brings, takes, here)] for brings in choices.values]
            self._sums[key] = self.mean + self._table[np.array(rows, dtype=np.int64)].sum(1)
        return self._sums[key]

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """Weights, with a last row for features that have none."""
        return np.vstack([self.weights, np.zeros_like(self.weights[:1])])

    def _row(self, feature: Hashable) -> int:
        row = self._rows.get(feature)
        if row is None:
            key = feature_key(feature)
            at = int(np.searchsorted(self.keys, key))
            row = self._rows[feature] = at if at < len(self.keys) and self.keys[at] == key else -1
        return row

    def save(self, path: Path) -> None:
        """Write a safetensors file, atomically."""
        tensors = {
            "keys": torch.from_numpy(self.keys.view(np.int32)),
            "weights": torch.from_numpy(self.weights.astype(np.float16)),
            "mean": torch.from_numpy(self.mean.astype(np.float32)),
        }
        write_tensors(path, tensors, {"format": _FORMAT})

    @classmethod
    def load(cls, path: Path) -> "Experience":
        """Read what `save` wrote; raises ModelFileError if it has another form."""
        tensors, stored = read_tensors(path)
        problem = ModelFileError(f"{path}: not a readable table of effects. Make it again, or remove the file.")
        if stored.get("format") != _FORMAT or tensors.keys() != {"keys", "weights", "mean"}:
            raise problem
        keys, weights, mean = (tensors[name].numpy() for name in ("keys", "weights", "mean"))
        fits = keys.ndim == mean.ndim == 1 and weights.shape == (*keys.shape, *mean.shape)
        if not fits or keys.dtype != np.int32 or len(mean) < COST_PARTS + 5 or (len(mean) - COST_PARTS) % 2 == 0:
            raise problem
        return cls(keys.view(np.uint32), weights.astype(np.float64), mean.astype(np.float64))


def features_of(state: Sketch, drafts: Sequence[Draft]) -> Iterator[tuple[Hashable, ...]]:
    """Features of moves of a state."""
    for kind, place, brings, takes, _ in drafts:
        yield features(kind, brings, takes, state.environment(place[0]))


def features(kind: str, brings: Hashable, takes: Hashable, here: Environment) -> tuple[Hashable, ...]:
    """Features of a move: kind; what comes; what goes; both; each with the surroundings of the place."""
    return (
        (kind,),
        (kind, "brings", brings),
        (kind, "takes", takes),
        (kind, brings, takes),
        (kind, "brings", brings, here),
        (kind, "takes", takes, here),
    )


def feature_key(feature: Hashable) -> np.uint32:
    """Key of a feature, the same in every process."""
    return np.uint32(int.from_bytes(blake2b(_text(feature).encode(), digest_size=8).digest()[:4], "little"))


def _text(part: object) -> str:
    if isinstance(part, Fragment):
        return _text_of_group(part)
    if isinstance(part, tuple):
        return f"({','.join(map(_text, cast(tuple[object, ...], part)))})"
    return repr(part)


@lru_cache(maxsize=2**10)
def _text_of_group(group: Fragment) -> str:
    return repr((group.nodes, group.edges, group.link))
