"""Reasons to trust a prediction: what it hangs on, what judges say, and what the training data have like the input."""

from typing import Any

import torch

from ...explain.claims.importance import Importance
from ...explain.edits.slopes.sensitivity import estimate, node_slopes
from ...explain.explainer import Explainer
from ...explain.method import ask
from ...graph import Graph

Json = dict[str, Any]


@torch.no_grad()
def trust_in(explainer: Explainer, graph: Graph, num: int = 4) -> Json:
    """Predictions of the judges, and the training molecules nearest to a graph."""
    kit, padded = explainer.kit, graph.ample()
    judges = {name: _prediction(judge(padded)[0], kit.classes) for name, judge in kit.judges.items()}
    nearest = None if kit.training is None else kit.training.nearest(graph, num)
    if nearest is None:
        return {"judges": judges}
    same = sorted({one.label for one in nearest.neighbors if one.same})
    return {
        "judges": judges,
        "neighbors": [
            {"smiles": one.smiles, "label": one.label, "similarity": one.similarity, "same": one.same}
            for one in nearest.neighbors
        ],
        "familiar": nearest.familiar,
        "known": " and ".join(same) if same else None,
    }


def held_by(explainer: Explainer, graph: Graph) -> Importance | None:
    """Hold of each node on the predicted class, by the classifier's gradient; None if it has none, or of values."""
    classifier = explainer.kit.classifier
    question = ask(classifier, graph, None, [""], 0) if len(explainer.kit.classes) > 1 else None
    if question is None:
        return None
    goal = question.goals[0]
    return estimate(node_slopes(classifier, graph, goal), goal, float(question.p_factual))


def _prediction(outputs: torch.Tensor, classes: tuple[str, ...]) -> dict[str, float]:
    if len(outputs) == 1:
        return {"value": float(outputs)}
    names = classes or tuple(map(str, range(len(outputs))))
    return dict(zip(names, outputs.softmax(-1).tolist(), strict=True))
