"""Realism: the price of what real molecules or graphs seldom have, and what no candidate may bring."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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


class AbstractStrangeness(ABC):
    """Prices what is strange about candidates beside one factual."""

    @abstractmethod
    def price(self, candidate: Candidate, lenient: bool = False) -> float:
        """Price of a candidate, infinite if it is not to be believed.

        With `lenient`, what is merely unfamiliar has a high price instead.
        """


class AbstractRealism(ABC):
    """Knowledge of real graphs by which a search prices its candidates."""

    @abstractmethod
    def beside(self, factual: Sketch) -> AbstractStrangeness:
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

    def beside(self, factual: Sketch) -> AbstractStrangeness:
        return _Unfamiliar(self, factual)


class _Unfamiliar(AbstractStrangeness):
    """Prices candidates for one graph by the rarest environment that they create."""

    def __init__(self, realism: FamiliarGraphs, factual: Sketch):
        self.realism, self.factual = realism, factual

    def price(self, candidate: Candidate, lenient: bool = False) -> float:
        realism, counts = self.realism, self.realism.environments
        created = counts.created(self.factual, candidate.sketch, candidate.difference.touched)
        rarest = min((counts.counts.get(environment, 0) for _, environment in created), default=realism.common)
        return realism.rarity * max(0.0, math.log10(realism.common / (1.0 + rarest)))


@dataclass(frozen=True)
class ChemicalRealism(AbstractRealism):
    """Prices what molecules of a large corpus seldom have, and rules out what a chemist would not sign.

    Ruled out are: an environment of radius 1 that the corpus does not have, more unknown ring systems than the factual
    has, an aromatic ring that is broken, a group that cannot be isolated (`realism.groups`), and a molecule that is
    much harder to make. Priced are rare environments of radius 1 and 2, a molecule that is harder to make or less like
    the factual, new stereocenters, several halogens, and groups that sprawl. Where nothing believable flips the class,
    what is unknown or much harder to make has a high price instead; aromatic rings are never broken, and groups can
    always be isolated.

    Args:
        schema: Schema of the molecules, which have kinds of bonds.
        corpus: Counts in real molecules.
        training: Price of what is rare in the training data, about which the models know little.
        rarity: Price of the rarest environment for each factor of ten by which it is rarer than a common one.
        synthesis: Price of a point of Ertl's score.
        stereo: Price of a new stereocenter.
        likeness: Price of a molecule that shares no environment with the factual; of others in proportion.
        halogens: Price of each halogen that comes with a change, after the first.
        sprawl: Price of each atom by which a new group is larger than four atoms.
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
    halogens: float = 0.0
    sprawl: float = 5.0
    harder: float = 1.0
    minimum: float = 3.0
    common: tuple[float, float] = (4.5, 2.5)

    @cached_property
    def rules(self) -> AbstractMoleculeRules:
        """Rules of the schema for atoms and bonds."""
        rules = rules_of(self.schema)
        assert isinstance(rules, AbstractMoleculeRules)
        return rules

    def beside(self, factual: Sketch) -> AbstractStrangeness:
        return _Beside(self, factual)


class _Price(NamedTuple):
    """Price of a candidate; `unfamiliar` are the reasons not to believe it that may be overlooked."""

    amount: float
    unfamiliar: int = 0


class _Beside(AbstractStrangeness):
    """Prices candidates for one molecule."""

    def __init__(self, realism: ChemicalRealism, factual: Sketch):
        self.realism, self.training = realism, realism.training.beside(factual)
        self.factual, self.atoms = factual, HeavyAtoms.of(factual, realism.rules)
        self.portrait = None if self.atoms is None else Portrait(self.atoms.mol)
        self.known: dict[frozenset, _Price] = {}

    def price(self, candidate: Candidate, lenient: bool = False) -> float:
        key = candidate.key()
        if key not in self.known:
            self.known[key] = self._priced(candidate)
        amount, unfamiliar = self.known[key]
        return math.inf if unfamiliar and not lenient else amount + _UNFAMILIAR * unfamiliar

    def _priced(self, candidate: Candidate) -> _Price:
        if self.atoms is None or self.portrait is None:
            return _Price(0.0)  # nothing can be compared with a factual that is no molecule
        atoms = HeavyAtoms.of(candidate.sketch, self.realism.rules)
        if atoms is None:
            return _NEVER
        after = Portrait(atoms.mol)
        if any(number > self.portrait.unstable[name] for name, number in after.unstable.items()):
            return _NEVER
        new_rings = _changes_rings(candidate.difference, self._in_rings, _in_rings(atoms, after))
        if new_rings and not _keeps_aromatic_rings(self.atoms, atoms):
            return _NEVER
        realism, corpus = self.realism, self.realism.corpus
        rarity, is_unknown = self._rarity(self.portrait, after)
        unfamiliar = is_unknown + (new_rings and self._has_unknown_rings(self.portrait, after))
        if unfamiliar > 1:
            return _NEVER
        harder = after.synthetic_accessibility(corpus) - self._accessibility
        unfamiliar += harder > realism.harder
        stereo = max(after.stereocenters - self.portrait.stereocenters, 0)
        price = realism.rarity * rarity + realism.synthesis * max(harder, 0.0) + realism.stereo * stereo
        price += self.training.price(candidate) + realism.sprawl * self._sprawl(candidate)
        price += realism.halogens * max(after.halogens - self.portrait.halogens - 1, 0)
        return _Price(price + realism.likeness * (1.0 - after.similarity(self.portrait)), int(unfamiliar))

    @cached_property
    def _in_rings(self) -> set[int]:
        """Nodes of the factual, a molecule, that are in a ring."""
        assert self.atoms is not None
        assert self.portrait is not None
        return _in_rings(self.atoms, self.portrait)

    @cached_property
    def _accessibility(self) -> float:
        """Ertl's score of the factual, a molecule."""
        assert self.portrait is not None
        return self.portrait.synthetic_accessibility(self.realism.corpus)

    def _sprawl(self, candidate: Candidate) -> int:
        """Number of atoms by which new groups are larger than four."""
        new = {i for i in candidate.counted.nodes if i in candidate.sketch.nodes and i not in self.factual.nodes}
        excess = 0
        while new:
            group, todo = set[int](), [new.pop()]
            while todo:
                i = todo.pop()
                group.add(i)
                near = new.intersection(candidate.sketch.near[i])
                new -= near
                todo += near
            excess += max(len(group) - _GROUP, 0)
        return excess

    def _rarity(self, before: Portrait, after: Portrait) -> tuple[float, bool]:
        """Factors of ten by which the rarest new environments are rarer than common ones; True if one is unknown."""
        rarity, is_unknown = 0.0, False
        for radius, common in zip((1, 2), self.realism.common, strict=True):
            new = [key for key in after.environments[radius] if key not in before.environments[radius]]
            if new:
                rarest = min(self.realism.corpus.environment_counts(new))
                is_unknown |= radius == 1 and rarest < self.realism.minimum
                rarity += max(0.0, common - math.log10(1.0 + rarest))
        return rarity, is_unknown

    def _has_unknown_rings(self, before: Portrait, after: Portrait) -> bool:
        """True if more ring systems than in the factual are unknown to the corpus."""
        knows = self.realism.corpus.knows_ring
        new = sum(not knows(smiles) for smiles in after.rings.keys() - before.rings.keys())
        return new > sum(not knows(smiles) for smiles in before.rings.keys() - after.rings.keys())


_NEVER = _Price(math.inf)

# Price of a reason not to believe a candidate, where it may be overlooked.
_UNFAMILIAR = 8.0

# Atoms of a new group that is not thought to sprawl.
_GROUP = 4


def _in_rings(atoms: HeavyAtoms, portrait: Portrait) -> set[int]:
    """Nodes that are in a ring."""
    return {atoms.slots[k] for k in set().union(*portrait.atom_rings)}


def _changes_rings(difference: Difference, inside: set[int], afterwards: set[int]) -> bool:
    """False if rings, their atoms and the double bonds at them are the same, so that nobody need look at them.

    `inside` are the nodes in rings, `afterwards` those after the change.
    """
    if inside != afterwards or not inside.isdisjoint(difference.nodes):
        return True
    at_rings = ((pair, change) for pair, change in difference.edges.items() if not inside.isdisjoint(pair))
    return any(
        inside.issuperset(pair) or "double" in (change.before or ()) + (change.after or ()) for pair, change in at_rings
    )


def _keeps_aromatic_rings(before: HeavyAtoms, after: HeavyAtoms) -> bool:
    place = {slot: k for k, slot in enumerate(after.slots)}
    kept = {k: place[slot] for k, slot in enumerate(before.slots) if slot in place}
    return aromatic_kept(before.mol, after.mol, kept)
