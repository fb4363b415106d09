"""Published scores of fragments, for Ertl's score of synthetic accessibility, in a table that is read quickly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus, read_arrays

SYNTHESIS = Path(__file__).with_name("synthesis.npz")
"""The scores that the package carries; `tools/synthesis.py` makes them of the file in RDKit's Contrib/SA_Score."""

_UNKNOWN = -4.0


@dataclass(frozen=True, eq=False)
class FragmentScores:
    """Scores of Morgan environments up to radius 2: logarithms of how often they occur in PubChem.

    Args:
        keys: Keys of environments in rising order.
        codes: For each of them the position of its score.
        scores: Scores, each once.
    """

    keys: NDArray[np.uint32]
    codes: NDArray[np.uint16]
    scores: NDArray[np.float64]

    @classmethod
    @cache
    def packaged(cls) -> "FragmentScores":
        """The scores that the package carries, of the fragments that its corpus counts."""
        codes, scores = read_arrays(SYNTHESIS, ("codes", "scores"))
        return cls(Corpus.packaged().fragments.keys, codes, scores)

    def fragment_scores(self, keys: Sequence[int]) -> list[float]:
        """Scores of some environments; one that is unknown has -4."""
        wanted = np.asarray(keys, dtype=np.uint32)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.scores[self.codes[at]], _UNKNOWN).tolist()
