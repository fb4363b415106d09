"""Six classes, and nodes with a continuous attribute: the smallest change to any other class, or to a chosen one.

Usage: python examples/multiclass.py [graphs to explain] [graphs] [epochs]
"""

import sys

import graphflip as gf
from graphflip.data.planted.classes import CLASSES, answers, planted_classes, true_class
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.models.training.loop import fit
from graphflip.models.training.recipes import recipe


def explainer_of(dataset, epochs=40):
    plan = recipe("classifier", "default", dataset)
    fit(plan.model, plan.objective, dataset, plan.training.model_copy(update={"epochs": epochs}))
    return gf.Explainer(Kit("classes", plan.model.eval(), Knowledge.mine(dataset.part("train")), dataset.classes))


def explain(explainer, graphs):
    return explainer.explain(graphs, "any", prefer="minimal", confidence=0.9)


def is_right(found):
    """Whether the rule behind the data agrees, and knows no answer with fewer edits."""
    others = set(range(len(CLASSES))) - {int(true_class(found.factual))}
    fewest = min(int(answers(found.factual, other)) for other in others)
    return int(true_class(found.counterfactual)) == found.target and len(found.edits) <= fewest


if __name__ == "__main__":
    limit, num_graphs, epochs = [*map(int, sys.argv[1:]), *(5, 1200, 40)[len(sys.argv) - 1 :]]
    dataset = planted_classes(num_graphs)
    explainer = explainer_of(dataset, epochs)
    graphs = dataset.part("test").subset(range(limit))
    found = explain(explainer, graphs)
    print(*found, sep="\n")
    print("One of them, and how it could become hot rings:")
    print(explainer.explain(graphs.graphs(0), "hot rings", prefer="minimal"))
    flipped = [one for one in found if one.flipped]
    print(f"{len(flipped)} of {len(found)} flipped; {sum(map(is_right, flipped))} of them are a known answer")
