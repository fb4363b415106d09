"""Directed graphs whose edges have a weight, with known answers: is a node passed through by strong edges?

Usage: python examples/directed.py [graphs to explain] [graphs] [epochs]
"""

import sys

import graphflip as gf
from graphflip.data.planted.relays import answers, planted_relays, true_class
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.models.training.loop import fit
from graphflip.models.training.recipes import recipe


def explainer_of(dataset, epochs=40):
    plan = recipe("classifier", "default", dataset)
    fit(plan.model, plan.objective, dataset, plan.training.model_copy(update={"epochs": epochs}))
    return gf.Explainer(Kit("relays", plan.model.eval(), Knowledge.mine(dataset.part("train")), dataset.classes))


def explain(explainer, graphs):
    return explainer.explain(graphs, prefer="minimal", confidence=0.9)


def is_right(found):
    """Whether the rule behind the data agrees, and knows no answer with fewer edits."""
    return int(true_class(found.counterfactual)) == found.target and len(found.edits) <= int(answers(found.factual))


if __name__ == "__main__":
    limit, num_graphs, epochs = [*map(int, sys.argv[1:]), *(5, 1200, 40)[len(sys.argv) - 1 :]]
    dataset = planted_relays(num_graphs)
    found = explain(explainer_of(dataset, epochs), dataset.part("test").subset(range(limit)))
    print(*found, sep="\n")
    flipped = [one for one in found if one.flipped]
    print(f"{len(flipped)} of {len(found)} flipped; {sum(map(is_right, flipped))} of them are the known answer")
