"""Ames: the whole Mutagenicity set of the TU collection as molecules with charges, salts reduced to their parent."""

import dataclasses
from typing import Literal

from ..errors import GraphflipError, require
from .dataset import BadRow, GraphDataset
from .molecules.building import no_logs
from .molecules.molecule import drug_schema, from_mol, to_smiles
from .molecules.salts import largest_part
from .splits import grouped_split
from .tu.reading import load_tu


def load_ames(split: Literal["random", "scaffold"] = "random", seed: int = 0, limit: int | None = None) -> GraphDataset:
    """Load the 4,337 molecules of the TU set Mutagenicity in `drug_schema`: heavy atoms, charges, up to 100 atoms.

    The set has hydrogens as nodes and no charges: the charge rule gives them. Of a mixture the largest organic part is
    taken. Equal molecules are always in one part of the split.

    Args:
        split: "random" is 80/10/10 by `seed`. With "scaffold", molecules of one Murcko scaffold are in one part and the
            largest groups in the train part, so that the test part has ring systems that were not trained on.
        seed: Decides a random split.
        limit: Number of molecules, the first of the set; None for all.

    Returns:
        The dataset; `bad` lists molecules that are too large.

    Raises:
        DataError: The set is not on this machine and cannot be downloaded.
    """
    Chem = require("rdkit.Chem", "mol", "Loading molecules")
    source, schema = load_tu("Mutagenicity", attributes=False), drug_schema()
    graphs, kept, smiles, bad = [], [], [], []
    for k in range(len(source))[:limit]:
        with no_logs():
            mol = largest_part(Chem.MolFromSmiles(to_smiles(source.graphs([k]))))
        try:
            graphs.append(from_mol(mol, schema))
        except GraphflipError as error:
            bad.append(BadRow("Mutagenicity", k, str(error)))
            continue
        kept.append(k)
        smiles.append(Chem.MolToSmiles(mol))
    ids = [f"ames/{source.ids[k].rpartition('/')[2]}" for k in kept]
    dataset = GraphDataset.from_graphs("ames", graphs, source.labels[kept], source.classes, ids, bad=bad)
    if split == "scaffold":
        return dataclasses.replace(dataset, split=grouped_split([murcko_scaffold(text) for text in smiles], seed=None))
    return dataclasses.replace(dataset, split=grouped_split(smiles, seed=seed))


def murcko_scaffold(smiles: str) -> str:
    """Write the Murcko scaffold of a molecule as SMILES: its rings and what links them; empty if it has no ring."""
    scaffolds = require("rdkit.Chem.Scaffolds.MurckoScaffold", "mol", "Splitting by scaffold")
    return scaffolds.MurckoScaffoldSmiles(smiles=smiles)
