"""Corpus: counts of atom environments and ring systems in about two million real molecules, in a compact table."""

import math
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError

CORPUS = Path(__file__).with_name("corpus.npz")
"""The table that the package carries; `tools/corpus.py` makes it, `corpus.json` beside it names its sources."""

# A count is stored as a byte: this many steps for a factor of ten.
_STEPS = 40

# Counts that are kept once they were looked up.
_KEPT = 2**16


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts by 32-bit key.

    Args:
        keys: Keys in rising order.
        levels: Logarithm of each count, in steps of 1/40 of a factor of ten.

    Example:
        >>> counts = Counts.of({7: 1, 3: 1000})
        >>> counts[[3, 4, 7]].round().tolist()
        [1000.0, 0.0, 1.0]
    """

    keys: NDArray[np.uint32]
    levels: NDArray[np.uint8]

    @classmethod
    def of(cls, counts: Mapping[int, int] | Mapping[int, float]) -> "Counts":
        """Pack counts of at least 1."""
        keys = np.array(sorted(counts), dtype=np.uint32)
        values = np.array([counts[int(key)] for key in keys], dtype=float)
        levels = np.round(_STEPS * np.log10(np.maximum(values, 1.0)))
        return cls(keys, np.minimum(levels, 255).astype(np.uint8))

    def __getitem__(self, keys: Sequence[int] | NDArray[np.uint32]) -> NDArray[np.float64]:
        """Counts of some keys, 0 for those that do not occur."""
        wanted = np.asarray(keys, dtype=np.uint32)
        if not len(self.keys):
            return np.zeros(len(wanted))
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, 10.0 ** (self.levels[at] / _STEPS), 0.0)

    def each(self, keys: Iterable[int]) -> list[float]:
        """The same for a few keys, most of which were asked for before."""
        return [self._known[key] for key in keys]

    @cached_property
    def _known(self) -> "_Known":
        return _Known(self)


class _Known(dict[int, float]):
    """Counts that were looked up before, up to some megabytes of them."""

    def __init__(self, counts: Counts):
        super().__init__()
        self.counts = counts

    def __missing__(self, key: int) -> float:
        if len(self) >= _KEPT:
            self.clear()
        count = self[key] = float(self.counts[[key]][0])
        return count


@dataclass(frozen=True, eq=False)
class Corpus:
    """Numbers of occurrences of environments and ring systems in real molecules.

    Args:
        fragments: Counts of Morgan environments up to radius 2 in PubChem, as published with Ertl's score of synthetic
            accessibility.
        environments: Counts of the same environments in other sources.
        rings: Numbers of molecules with each ring system, by `ring_key`.

    Example:
        >>> corpus = Corpus.packaged()
        >>> corpus.knows_ring("c1ccc2[nH]ccc2c1"), corpus.knows_ring("C1=CC=CN=CC1=O")
        (True, False)
    """

    fragments: Counts
    environments: Counts
    rings: Counts

    @classmethod
    @cache
    def packaged(cls) -> "Corpus":
        """The table that the package carries."""
        return cls.load(CORPUS)

    def save(self, path: Path) -> None:
        """Write a compressed NumPy archive."""
        tables = {"fragments": self.fragments, "environments": self.environments, "rings": self.rings}
        arrays = {f"{name}_{part}": getattr(table, part) for name, table in tables.items() for part in _PARTS}
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> "Corpus":
        """Read what `save` wrote; raises ModelFileError if it cannot be read."""
        names = [f"{name}_{part}" for name in ("fragments", "environments", "rings") for part in _PARTS]
        arrays = read_arrays(path, names)
        return cls(*(Counts(*pair) for pair in zip(arrays[::2], arrays[1::2], strict=True)))

    def fragment_scores(self, keys: Sequence[int]) -> list[float]:
        """Scores of fragments for Ertl's score, from their counts: log10(c) - 3.1265 of one that occurs c times."""
        return [math.log10(c) - 3.1265 if c else -4.0 for c in self.fragments.each(keys)]

    def environment_counts(self, keys: Sequence[int]) -> list[float]:
        """Number of times that Morgan environments occur in all sources together."""
        return [a + b for a, b in zip(self.fragments.each(keys), self.environments.each(keys), strict=True)]

    def knows_ring(self, smiles: str, minimum: float = 1.0) -> bool:
        """True if a ring system, as `realism.rings.ring_systems` writes it, occurs in so many molecules."""
        return bool(self.rings[[ring_key(smiles)]][0] >= minimum)


def read_arrays(path: Path, names: Sequence[str]) -> list[NDArray]:
    """Arrays of a NumPy archive; raises ModelFileError if it cannot be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return [stored[name] for name in names]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelFileError(f"{path}: not a readable table of molecules ({error}). Install it again.") from error


def ring_key(smiles: str) -> int:
    """Key of a ring system."""
    return zlib.crc32(smiles.encode())


_PARTS = ("keys", "levels")
