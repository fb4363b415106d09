"""A vertex-reinforced random walk over edits, as in GCFExplainer (Kosan et al. 2023): a baseline of our own.

The walk goes from a graph to one that is a single move away. Graphs that it has visited, and graphs of the wanted
class, draw it more. Now and then it jumps to another input.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ...explain.goals.goal import AbstractGoal
from ...explain.moves.apply import apply_differences
from ...explain.moves.difference import Difference
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ..studies import Study

_JUMP = 0.1
_NEIGHBORS = 24


class Visited(NamedTuple):
    """A graph of the wanted class that the walk has visited.

    Args:
        start: Place of the input that the walk came from.
        difference: Its difference from that input.
        count: Number of visits.
    """

    start: int
    difference: Difference
    count: int


def random_walk(
    study: Study,
    inputs: Sequence[Graph],
    goal: Callable[[Graph], AbstractGoal | None],
    steps: int,
    seed: int = 0,
) -> list[Visited]:
    """Walk, and list the counterfactuals on the way, the most visited first.

    Args:
        study: The study, for its classifier and moves.
        inputs: Graphs to start from.
        goal: Gives the goal of an input.
        steps: Number of steps.
        seed: Seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    visits: Counter[tuple] = Counter()
    found: dict[tuple, tuple[int, Difference]] = {}
    start, factual, state, wanted = -1, Sketch({}, {}), Sketch({}, {}), None
    for _ in range(steps):
        if wanted is None or rng.random() < _JUMP:
            start = int(rng.integers(len(inputs)))
            factual, wanted = Sketch.of(inputs[start]), goal(inputs[start])
            state = factual
            if wanted is None:
                continue
        near = _neighbors(study, state, factual, rng)
        if not near:
            wanted = None
            continue
        prob = _probabilities(study, inputs[start], near, wanted)
        keys = [after.colors(2) for after, _ in near]
        weight = np.array([(visits[key] + 1) * p for key, p in zip(keys, prob, strict=True)])
        at = int(rng.choice(len(near), p=weight / weight.sum()))
        state = near[at][0]
        visits[keys[at]] += 1
        if prob[at] > 0.5:
            found.setdefault(keys[at], (start, near[at][1]))
    ranked = sorted(found, key=lambda key: -visits[key])
    return [Visited(*found[key], visits[key]) for key in ranked]


def _neighbors(
    study: Study, state: Sketch, factual: Sketch, rng: np.random.Generator
) -> list[tuple[Sketch, Difference]]:
    """Some of the graphs that are one move away."""
    drafts = list(study.moves.drafts(state, factual))
    near = []
    for k in rng.permutation(len(drafts))[:_NEIGHBORS]:
        after = study.moves.made(state, drafts[k], factual)
        if after is not None:
            difference = Difference.between(factual, after)
            if difference.size:
                near.append((after, difference))
    return near


@torch.no_grad()
def _probabilities(
    study: Study, graph: Graph, near: list[tuple[Sketch, Difference]], goal: AbstractGoal
) -> list[float]:
    outputs = study.explainer.kit.classifier(apply_differences(graph, [difference for _, difference in near]))
    return goal.score(outputs).exp().clamp(min=1e-6).tolist()
