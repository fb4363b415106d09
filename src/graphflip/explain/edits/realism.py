"""Realism: the price of what real molecules or graphs seldom have, and what no candidate may bring."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ...realism.corpus import Corpus
from ...realism.portrait import Portrait
from ...realism.rings import aromatic_kept
from ...schema import Schema
from ..moves.atoms.choice import rules_of
from ..moves.atoms.rules import AbstractMoleculeRules
from ..moves.difference import Difference
from ..moves.environments import EnvironmentCounts
from ..moves.rings.perception import HeavyAtoms
from ..moves.sketch import Sketch
from .candidates import Candidate

Strangeness = Callable[[Candidate], float]
"""Price of what is strange about a candidate beside its factual; infinite if it is not to be believed."""


class AbstractRealism(ABC):
    """Knowledge of real graphs by which a search prices its candidates."""

    @abstractmethod
    def beside(self, factual: Sketch) -> Strangeness:
        """Prepare to price candidates for one factual: only what they add to its own strangeness counts."""


@dataclass(frozen=True)
class FamiliarGraphs(AbstractRealism):
    """Prices environments of nodes by how rare they are in the training data.

    Args:
        environments: Counts of environments in the training data.
        rarity: Price of an environment that is ten times as rare as a common one.
        common: Number of occurrences from which an environment is common.
    """

    environments: EnvironmentCounts
    rarity: float = 1.0
    common: float = 1000.0

    def beside(self, factual: Sketch) -> Strangeness:
        counts = self.environments

        def strangeness(candidate: Candidate) -> float:
            created = counts.created(factual, candidate.sketch, candidate.difference.touched)
            rarest = min((counts.counts.get(environment, 0) for _, environment in created), default=self.common)
            return self.rarity * max(0.0, math.log10(self.common / (1.0 + rarest)))

        return strangeness


@dataclass(frozen=True)
class ChemicalRealism(AbstractRealism):
    """Prices what molecules of a large corpus seldom have, and rules out what a chemist would not sign.

    Ruled out are: an environment of radius 1 that the corpus does not have, more unknown ring systems than the factual
    has, an aromatic ring that is broken, a group that cannot be isolated (`realism.groups`), and a molecule that is
    much harder to make. Priced are rare environments of radius 1 and 2, a molecule that is harder to make or less like
    the factual, and new stereocenters.

    Args:
        schema: Schema of the molecules, which have kinds of bonds.
        corpus: Counts in real molecules.
        training: Price of what is rare in the training data, about which the models know little.
        rarity: Price of the rarest environment for each factor of ten by which it is rarer than a common one.
        synthesis: Price of a point of Ertl's score.
        stereo: Price of a new stereocenter.
        likeness: Price of a molecule that shares no environment with the factual; of others in proportion.
        harder: Points of Ertl's score above which a molecule is too much harder to make.
        minimum: Number of times that an environment of radius 1 must occur.
        common: Decimal logarithm of the number of occurrences from which environments of radius 1 and 2 are common.
    """

    schema: Schema
    corpus: Corpus
    training: AbstractRealism
    rarity: float = 0.5
    synthesis: float = 1.0
    stereo: float = 1.0
    likeness: float = 4.0
    harder: float = 1.0
    minimum: float = 3.0
    common: tuple[float, float] = (4.5, 2.5)

    @cached_property
    def rules(self) -> AbstractMoleculeRules:
        """Rules of the schema for atoms and bonds."""
        rules = rules_of(self.schema)
        assert isinstance(rules, AbstractMoleculeRules)
        return rules

    def beside(self, factual: Sketch) -> Strangeness:
        return _Beside(self, factual)


class _Beside:
    """Prices candidates for one molecule."""

    def __init__(self, realism: ChemicalRealism, factual: Sketch):
        self.realism, self.training = realism, realism.training.beside(factual)
        self.atoms = HeavyAtoms.of(factual, realism.rules)
        self.portrait = None if self.atoms is None else Portrait(self.atoms.mol)
        self.known: dict[frozenset, float] = {}

    def __call__(self, candidate: Candidate) -> float:
        key = candidate.key()
        if key not in self.known:
            self.known[key] = self._strangeness(candidate)
        return self.known[key]

    def _strangeness(self, candidate: Candidate) -> float:
        if self.atoms is None or self.portrait is None:
            return 0.0  # nothing can be compared with a factual that is no molecule
        atoms = HeavyAtoms.of(candidate.sketch, self.realism.rules)
        if atoms is None:
            return math.inf
        after = Portrait(atoms.mol)
        rarity = self._rarity(self.portrait, after)
        if rarity == math.inf or any(number > self.portrait.unstable[name] for name, number in after.unstable.items()):
            return math.inf
        if _changes_rings(candidate.difference, self.atoms, atoms) and (
            self._has_unknown_rings(self.portrait, after) or not _keeps_aromatic_rings(self.atoms, atoms)
        ):
            return math.inf
        realism, corpus = self.realism, self.realism.corpus
        harder = after.synthetic_accessibility(corpus) - self.portrait.synthetic_accessibility(corpus)
        if harder > realism.harder:
            return math.inf
        stereo = max(after.stereocenters - self.portrait.stereocenters, 0)
        price = realism.rarity * rarity + realism.synthesis * max(harder, 0.0) + realism.stereo * stereo
        price += self.training(candidate)
        return price + realism.likeness * (1.0 - after.similarity(self.portrait))

    def _rarity(self, before: Portrait, after: Portrait) -> float:
        """Factors of ten by which the rarest new environments are rarer than common ones; infinite if unknown."""
        rarity = 0.0
        for radius, common in zip((1, 2), self.realism.common, strict=True):
            new = [key for key in after.environments[radius] if key not in before.environments[radius]]
            if new:
                rarest = float(self.realism.corpus.environment_counts(new).min())
                if radius == 1 and rarest < self.realism.minimum:
                    return math.inf
                rarity += max(0.0, common - math.log10(1.0 + rarest))
        return rarity

    def _has_unknown_rings(self, before: Portrait, after: Portrait) -> bool:
        """True if more ring systems than in the factual are unknown to the corpus."""
        knows = self.realism.corpus.knows_ring
        new = sum(not knows(smiles) for smiles in after.rings.keys() - before.rings.keys())
        return new > sum(not knows(smiles) for smiles in before.rings.keys() - after.rings.keys())


def _changes_rings(difference: Difference, before: HeavyAtoms, after: HeavyAtoms) -> bool:
    """False if rings, their atoms and the double bonds at them are the same, so that nobody need look at them."""
    inside = before.ring_slots
    if inside != after.ring_slots or not inside.isdisjoint(difference.nodes):
        return True
    at_rings = ((pair, change) for pair, change in difference.edges.items() if not inside.isdisjoint(pair))
    return any(
        inside.issuperset(pair) or "double" in (change.before or ()) + (change.after or ()) for pair, change in at_rings
    )


def _keeps_aromatic_rings(before: HeavyAtoms, after: HeavyAtoms) -> bool:
    place = {slot: k for k, slot in enumerate(after.slots)}
    kept = {k: place[slot] for k, slot in enumerate(before.slots) if slot in place}
    return aromatic_kept(before.mol, after.mol, kept)
