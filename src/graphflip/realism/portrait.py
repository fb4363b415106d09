"""Portrait: what a chemist looks at in a molecule, counted once, so that two molecules can be compared quickly."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ..data.molecules.building import rdkit_chem
from .corpus import Corpus
from .groups import unstable_groups
from .rings import ring_systems
from .synthesis import FragmentScores

if TYPE_CHECKING:
    import rdkit.Chem

_RADII = (0, 1, 2)


@dataclass(frozen=True, eq=False)
class Portrait:
    """Features of a molecule, each computed when it is first asked for.

    Args:
        mol: A sanitized molecule of heavy atoms.

    Example:
        >>> from rdkit import Chem
        >>> portrait = Portrait(Chem.MolFromSmiles("CC(O)c1ccccc1"))
        >>> portrait.stereocenters, sorted(portrait.rings)
        (1, ['c1ccccc1'])
        >>> round(portrait.synthetic_accessibility(Corpus.packaged()), 1)
        1.8
    """

    mol: "rdkit.Chem.Mol"

    @cached_property
    def environments(self) -> tuple[dict[int, int], ...]:
        """Numbers of Morgan environments of radius 0, 1 and 2, by key."""
        counts: tuple[dict[int, int], ...] = tuple({} for _ in _RADII)
        for key, places in self._places.items():
            for _, radius in places:
                counts[radius][key] = counts[radius].get(key, 0) + 1
        return counts

    @cached_property
    def _places(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """Centers and radii of Morgan environments, by key."""
        output = _generators().AdditionalOutput()
        output.CollectBitInfoMap()
        _morgan().GetSparseCountFingerprint(self.mol, additionalOutput=output)
        return output.GetBitInfoMap()

    def similarity(self, other: "Portrait") -> float:
        """Share of the environments that both molecules have among those that either has: unfolded ECFP4."""
        mine, yours = self._counts.keys(), other._counts.keys()
        shared = len(mine & yours)
        return shared / max(len(mine) + len(yours) - shared, 1)

    @cached_property
    def _counts(self) -> dict[int, int]:
        """Numbers of environments of all radii."""
        return {key: len(places) for key, places in self._places.items()}

    @cached_property
    def atom_rings(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the atoms of each of the smallest rings."""
        return self.mol.GetRingInfo().AtomRings()

    @cached_property
    def rings(self) -> Counter[str]:
        """Numbers of ring systems, by SMILES."""
        return Counter(system.smiles for system in ring_systems(self.mol))

    @cached_property
    def unstable(self) -> Counter[str]:
        """Numbers of groups that cannot be isolated, by name."""
        return unstable_groups(self.mol)

    @cached_property
    def stereocenters(self) -> int:
        """Number of atoms that are stereocenters, assigned or not."""
        Chem = rdkit_chem()  # as `FindMolChiralCenters` does it, which walks over all atoms twice
        before = Chem.GetUseLegacyStereoPerception()
        Chem.SetUseLegacyStereoPerception(True)
        try:
            Chem.AssignStereochemistry(self.mol, cleanIt=True, force=True, flagPossibleStereoCenters=True)
        finally:
            Chem.SetUseLegacyStereoPerception(before)
        return len(self.mol.GetAtomsMatchingQuery(_center()))

    @cached_property
    def halogens(self) -> int:
        """Number of atoms of fluorine, chlorine, bromine or iodine."""
        return len(self.mol.GetSubstructMatches(_halogen()))

    def synthetic_accessibility(self, table: Corpus | FragmentScores) -> float:
        """Ertl's score, from 1 (easy to make) to 10 (hard), by the published scores or by a corpus's counts."""
        counts = self._counts
        keys = list(counts)
        scores = table.fragment_scores(keys)
        total = sum(counts.values())
        score = sum(score * counts[key] for key, score in zip(keys, scores, strict=True)) / max(total, 1)
        score -= self._complexity
        atoms = self.mol.GetNumAtoms()
        score += 0.5 * math.log(atoms / len(keys)) if atoms > len(keys) > 0 else 0.0
        scaled = 11.0 - (score + 5.0) / 6.5 * 9.0
        scaled = 8.0 + math.log(scaled - 8.0) if scaled > 8.0 else scaled
        return min(max(scaled, 1.0), 10.0)

    @cached_property
    def _complexity(self) -> float:
        """Penalties for size, stereocenters, spiro atoms, bridgeheads and large rings."""
        descriptors = _descriptors()
        atoms = self.mol.GetNumAtoms()
        large = any(len(ring) > 8 for ring in self.atom_rings)
        numbers = (
            self.stereocenters,
            descriptors.CalcNumSpiroAtoms(self.mol),
            descriptors.CalcNumBridgeheadAtoms(self.mol),
        )
        return atoms**1.005 - atoms + sum(math.log10(number + 1) for number in numbers) + large * math.log10(2)


@cache
def _generators() -> Any:
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator


@cache
def _morgan() -> Any:
    return _generators().GetMorganGenerator(radius=2)


@cache
def _halogen() -> Any:
    return rdkit_chem().MolFromSmarts("[#9,#17,#35,#53]")


@cache
def _center() -> Any:
    """Query for atoms that are stereocenters, as RDKit has marked them."""
    from rdkit.Chem.rdqueries import HasPropQueryAtom

    query = HasPropQueryAtom("_CIPCode")
    query.ExpandQuery(HasPropQueryAtom("_ChiralityPossible"), rdkit_chem().CompositeQueryType.COMPOSITE_OR)
    return query


@cache
def _descriptors() -> Any:
    from rdkit.Chem import rdMolDescriptors

    return rdMolDescriptors
