"""Regression: what raises or lowers a molecule's log P, estimated by a GNN, by 1? RDKit's own estimate is the check.

Usage: python examples/regression.py [molecules to explain] [molecules] [epochs]
"""

import sys

from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Crippen import MolLogP

import graphflip as gf
from graphflip.data.molecules.molecule import to_smiles
from graphflip.data.molecules.smiles import load_rdkit_molecules
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.models.training.loop import fit
from graphflip.models.training.recipes import recipe


def explainer_of(dataset, epochs=40):
    plan = recipe("classifier", "default", dataset)  # labels are numbers, so it predicts a value
    fit(plan.model, plan.objective, dataset, plan.training.model_copy(update={"epochs": epochs}))
    return gf.Explainer(Kit("logp", plan.model.eval(), Knowledge.mine(dataset.part("train"))))


def explain(explainer, graphs):
    asked = ("raise by 1", "lower by 1")
    return [explainer.explain(graph, asked[k % 2]) for k, graph in enumerate(graphs.graphs())]


def real_change(found):
    """By how much RDKit's estimate changes."""
    before, after = (MolLogP(MolFromSmiles(to_smiles(one))) for one in (found.factual, found.counterfactual))
    return after - before


def is_right(found):
    """Whether RDKit's estimate has gone the same way, at least half as far."""
    return real_change(found) * (1 if found.p_counterfactual > found.p_factual else -1) >= 0.5


if __name__ == "__main__":
    limit, num_molecules, epochs = [*map(int, sys.argv[1:]), *(4, 2000, 40)[len(sys.argv) - 1 :]]
    dataset = load_rdkit_molecules("logp", limit=num_molecules)
    found = explain(explainer_of(dataset, epochs), dataset.part("test").subset(range(limit)))
    flipped = [one for one in found if one.flipped]
    for one in found:
        print(one, f"  RDKit's estimate changes by {real_change(one):+.2f}", sep="\n")
    print(f"{len(flipped)} of {len(found)} flipped; {sum(map(is_right, flipped))} of them by RDKit's estimate too")
