"""exmol (Wellawatte et al. 2022) through its package: random mutations of SELFIES, the most similar flip is taken."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import require
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .molecules import draw_seed, flips, readable, smiles_of
from .rival import Abilities, About, AbstractRival, Asking


@dataclass(frozen=True)
class SelfiesMutation(AbstractRival):
    """The package's own sampling (STONED) and its own choice: of the molecules that flip, the most similar by ECFP4.

    Args:
        classifier: Model to explain; it is only asked.
        samples: Molecules that the package draws; its preset "medium" draws 1,500, with up to two mutations.
        mutations: Largest number of mutations.
        method: Name in tables and files.

    Example:
        >>> SelfiesMutation.about.abilities.needs
        ('molecules', 'exmol')
    """

    classifier: AbstractClassifier
    samples: int = 1500
    mutations: int = 2
    method: str = "exmol"
    about: ClassVar[About] = About(
        "exmol",
        "Wellawatte, Seshadri, White. Model agnostic generation of counterfactual explanations for molecules. Chemical "
        "Science 2022, doi 10.1039/D1SC05259D; the package exmol",
        Abilities(adds_edges=True, changes_attributes=True, changes_nodes=True, needs=("molecules", "exmol")),
        "Its paper shows examples (blood-brain barrier, solubility, HIV) and no table of rates on a set that we have.",
    )

    def search(self, asking: Asking) -> Graph | None:
        exmol = require("exmol", "peers", "The method exmol")
        start = smiles_of(asking)
        if start is None:
            return None
        try:
            with _seeded(draw_seed(asking.rng)):
                texts, similarity = exmol.run_stoned(
                    start,
                    num_samples=self.samples,
                    max_mutations=self.mutations,
                    min_mutations=1,
                    alphabet=sorted(exmol.get_basic_alphabet()),  # a set has another order in every process
                )
        except ValueError:  # the package refuses molecules with elements or charges that its alphabet lacks
            return None
        ranked = [text for _, text in sorted(zip(similarity, texts, strict=True), key=lambda pair: -pair[0])]
        pairs = readable(ranked, asking.factual.schema)
        for (_, graph), yes in zip(pairs, flips(asking, pairs), strict=True):
            if yes:
                return graph
        return None


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of Python, NumPy and RDKit, which the package uses; the first two are put back."""
    kept: tuple[Any, Any] = random.getstate(), np.random.get_state()  # noqa: NPY002
    Chem = require("rdkit.Chem", "mol", "The method exmol")
    Chem.MolToRandomSmilesVect(Chem.MolFromSmiles("CC"), 1, randomSeed=seed % (2**31 - 1) + 1)  # seeds random SMILES
    random.setstate(random.Random(seed).getstate())
    np.random.set_state(np.random.RandomState(seed % 2**32).get_state())  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
