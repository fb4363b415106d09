"""LogP: molecules that come with RDKit, labeled with Crippen's estimate of log P, to explain a predicted value."""

import dataclasses
from pathlib import Path

from ...errors import GraphflipError, require
from ..dataset import BadRow, GraphDataset
from ..splits import grouped_split
from ..tables import read_smiles
from .building import no_logs
from .molecule import drug_schema, from_mol
from .salts import largest_part


def load_logp(seed: int = 0) -> GraphDataset:
    """Load the NCI compounds of RDKit's wheel (4,999 rows) in `drug_schema`, each with Crippen's log P of its parent.

    Of a salt or mixture the largest organic part is taken. Equal molecules are in one part of the split, 80/10/10.

    Args:
        seed: Decides the split.

    Returns:
        The dataset, whose labels are numbers; `bad` lists rows that are no molecules of the schema, with the reason.
    """
    Chem = require("rdkit.Chem", "mol", "Loading RDKit's molecules")
    crippen = require("rdkit.Chem.Crippen", "mol", "Loading RDKit's molecules")
    path = Path(require("rdkit.RDConfig", "mol", "Loading RDKit's molecules").RDDataDir) / "NCI" / "first_5K.smi"
    schema = drug_schema()
    graphs, labels, ids, smiles, bad = [], [], [], [], []
    for row in read_smiles(path):
        with no_logs():
            mol = Chem.MolFromSmiles(row.smiles)
        if mol is None:
            bad.append(BadRow(path.name, row.row, f"{row.smiles}: RDKit cannot read it"))
            continue
        mol = largest_part(mol)
        try:
            graphs.append(from_mol(mol, schema))
        except GraphflipError as error:
            bad.append(BadRow(path.name, row.row, str(error)))
            continue
        smiles.append(Chem.MolToSmiles(mol))
        labels.append(crippen.MolLogP(Chem.MolFromSmiles(smiles[-1])))
        ids.append(f"logp/{row.row}")
    dataset = GraphDataset.from_graphs("logp", graphs, labels, (), ids, bad=bad)
    return dataclasses.replace(dataset, split=grouped_split(smiles, seed=seed))
