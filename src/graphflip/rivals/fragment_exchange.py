"""CReM (Polishchuk 2020) through its package: fragments are exchanged for others seen in like surroundings."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..errors import ConfigError, require
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .molecules import draw_seed, flips, readable, smiles_of
from .rival import Abilities, About, AbstractRival, Asking

DATABASE = "GRAPHFLIP_CREM"
"""Environment variable with the path of a fragment database, as the commands of the package make or its site offers."""


@dataclass(frozen=True)
class FragmentExchange(AbstractRival):
    """The package's mutations of one fragment; of those that flip, the most similar by ECFP4 is taken.

    Args:
        classifier: Model to explain; it is only asked.
        database: File of fragments; None reads the environment variable GRAPHFLIP_CREM.
        radius: Radius of the surroundings that must be alike.
        most: Largest number of mutations.
        method: Name in tables and files.

    Raises:
        ConfigError: There is no file of fragments.

    Example:
        >>> FragmentExchange.about.abilities.needs
        ('molecules', 'crem', 'a fragment database')
    """

    classifier: AbstractClassifier
    database: str | None = None
    radius: int = 3
    most: int = 1000
    method: str = "crem"
    about: ClassVar[About] = About(
        "CReM",
        "Polishchuk. CReM: chemically reasonable mutations framework for structure generation. Journal of "
        "Cheminformatics 12, 28, 2020; the package crem",
        Abilities(
            adds_edges=True,
            changes_attributes=True,
            changes_nodes=True,
            needs=("molecules", "crem", "a fragment database"),
        ),
        "A generator, used for counterfactuals by others; its paper has no rate of flips.",
    )

    def search(self, asking: Asking) -> Graph | None:
        crem = require("crem.crem", "peers", "The method crem")
        Chem = require("rdkit.Chem", "mol", "The method crem")
        path = find_database(self.database)
        start = smiles_of(asking)
        if start is None:
            return None
        mol = Chem.MolFromSmiles(start)
        # No more than the largest heavy part can be exchanged; the size of what comes differs by at most two atoms.
        texts = sorted(
            crem.mutate_mol(mol, str(path), radius=self.radius, max_replacements=self.most, seed=draw_seed(asking.rng))
        )
        pairs = readable(_nearest_first(start, texts), asking.factual.schema)
        for (_, graph), yes in zip(pairs, flips(asking, pairs), strict=True):
            if yes:
                return graph
        return None


def find_database(given: str | None = None) -> Path:
    """The file of fragments; an error that says what to set if there is none."""
    path = Path(given or os.environ.get(DATABASE, ""))
    if not path.is_file():
        raise ConfigError(
            f"The method crem needs a database of fragments; got {str(path) if path.name else 'none'}. Make one with "
            f"the package's command cremdb_create from any molecules, and set {DATABASE} to its path."
        )
    return path


def _nearest_first(start: str, texts: list[str]) -> list[str]:
    """Molecules by similarity to the first, ECFP4 of 2,048 bits."""
    Chem = require("rdkit.Chem", "mol", "The method crem")
    DataStructs = require("rdkit.DataStructs", "mol", "The method crem")
    generators = require("rdkit.Chem.rdFingerprintGenerator", "mol", "The method crem")
    make = generators.GetMorganGenerator(radius=2, fpSize=2048).GetFingerprint
    mols = [(text, Chem.MolFromSmiles(text)) for text in texts]
    known = [(text, make(mol)) for text, mol in mols if mol is not None]
    mine = make(Chem.MolFromSmiles(start))
    ranked = sorted(known, key=lambda pair: (-DataStructs.TanimotoSimilarity(mine, pair[1]), pair[0]))
    return [text for text, _ in ranked]
