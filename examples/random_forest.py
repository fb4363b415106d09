"""A random forest on Morgan fingerprints as a black box: it can be asked, nothing else, and only so often.

Usage: python examples/random_forest.py [molecules to explain] [calls for each]        (needs GRAPHFLIP_DATA)
"""

import sys

import numpy as np
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from sklearn.ensemble import RandomForestClassifier

import graphflip as gf
from graphflip.data.molecules.molecule import to_smiles
from graphflip.explain import LatentSearch
from graphflip.models.adapters import BlackBox

MORGAN = GetMorganGenerator(radius=2, fpSize=2048)


def fingerprints(smiles):
    return np.stack([MORGAN.GetCountFingerprintAsNumPy(MolFromSmiles(one)) for one in smiles])


def train(dataset, num_trees=200):
    part = dataset.part("train")
    smiles = [to_smiles(part.graphs(k)) for k in range(len(part))]
    return RandomForestClassifier(num_trees, random_state=0).fit(fingerprints(smiles), part.labels.numpy())


def as_black_box(forest, schema, budget):
    return BlackBox(lambda smiles: forest.predict_proba(fingerprints(smiles)), schema, takes="smiles", budget=budget)


def by_moves(box):
    """Tries all valid moves, asks other models too: believable, and many questions."""
    return gf.load("mutagenicity", classifier=box).explain


def by_codes(box):
    """Tries codes around the molecule's: few questions."""
    explainer = gf.load("mutagenicity", classifier=box)
    search = LatentSearch(explainer.kit.vae, box, explainer.search().moves)
    return lambda graph: explainer.assess(search.explain(graph)[0])


if __name__ == "__main__":
    limit, budget = [*map(int, sys.argv[1:]), *(5, 5000)[len(sys.argv) - 1 :]]
    dataset = gf.load_dataset("mutagenicity")
    forest = train(dataset)
    for way in (by_moves, by_codes):
        box = as_black_box(forest, dataset.schema, budget)
        explain, flipped, calls = way(box), 0, 0
        for graph in dataset.part("test").graphs()[:limit]:
            box.renew()
            found = explain(graph)
            flipped, calls = flipped + found.flipped, calls + box.calls
            print(found)
        print(f"{way.__name__}: {flipped} of {limit} flipped; {calls / limit:.0f} questions for each")
