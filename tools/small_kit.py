"""A kit that explains small molecules in milliseconds, for tests, faults and measurements of jobs; and such molecules.

Usage: python tools/small_kit.py FOLDER     (writes FOLDER/kit and FOLDER/molecules.csv)
"""

import sys
from pathlib import Path

import torch

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain.knowledge import KNOWLEDGE, Knowledge
from graphflip.explain.neighbors import save_training_molecules
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.models.storage.store import DataCard, save_model
from graphflip.nn.initialize import reset_parameters

SCHEMA = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
BAD = ("nonsense((", "", "[U]", "C" * 40)
"""Texts that are no molecules of this schema."""


def molecule(number: int) -> str:
    """A chain of carbon, nitrogen and oxygen; every number gives another one."""
    atoms = []
    while number:
        number, digit = divmod(number - 1, 3)
        atoms.append("CNO"[digit])
    return "C" + "".join(atoms) + "C"


def make_kit(folder: Path, seed: int = 1, common: float = 0.75) -> Path:
    """Write a kit: a small classifier with random weights, to which so many of such molecules are fancy.

    Another seed gives other weights and other knowledge.
    """
    numbers = range(seed, seed + 199)
    graphs = [from_smiles(molecule(k), SCHEMA) for k in numbers]
    dataset = GraphDataset.from_graphs("chains", graphs, [k % 2 for k in numbers], ("plain", "fancy"))
    model = InvariantClassifier(SCHEMA, ClassifierConfig(width=8, hidden=16))
    reset_parameters(model, torch.Generator().manual_seed(seed))
    torch.nn.init.normal_(model.out.weight, std=1.0, generator=torch.Generator().manual_seed(seed + 1))
    with torch.no_grad():
        for _ in range(20):  # batch statistics of real graphs
            model.train()(dataset.graphs())
        plain, fancy = model.eval()(dataset.graphs()).unbind(1)
        model.out.bias[1] += 100 if common == 1 else -(fancy - plain).quantile(1 - common)
    save_model(model, folder / "classifier", DataCard.of(dataset))
    Knowledge.mine(dataset).save(folder / KNOWLEDGE)
    save_training_molecules(dataset.split_randomly(), folder)
    return folder


def write_molecules(path: Path, count: int, bad: bool = True) -> Path:
    """A table of molecules; if `bad`, four of them are none, the last of each fifth."""
    texts = [molecule(k + 1) for k in range(count)]
    if bad:
        for k, text in enumerate(BAD, start=1):
            texts[count * k // 5] = text
    path.write_text("id,smiles\n" + "".join(f"m{k},{text}\n" for k, text in enumerate(texts)))
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1])
    make_kit(target / "kit")
    write_molecules(target / "molecules.csv", 200)
