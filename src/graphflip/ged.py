"""Graph edit distance: labelled, independent of the order of nodes, exact where it can be proved, bounded otherwise."""

import time
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from .edits import Edit, EditCosts, edits_between
from .errors import GraphError, SchemaError
from .ged_bounds import FORBIDDEN, disagreement, reversed_links, star_bound
from .ged_exact import solve
from .ged_problem import Problem, alignment_problem
from .ged_search import descend, improve, starting_alignments
from .graph import Graph
from .isomorphism import find_isomorphism

_MAX_ASCENT = 60


@dataclass(frozen=True)
class EditDistance:
    """Bounds of the graph edit distance and the edits that attain the upper one.

    `alignment` gives for each slot of the first graph the slot of `aligned` that is the same node: itself. `aligned` is
    the second graph in the order of the first, nodes that are added after them; `edits` turns the first graph into it.
    """

    lower: float
    upper: float
    edits: list[Edit]
    aligned: Graph

    @property
    def exact(self) -> bool:
        """Whether the distance is proved: the bounds meet."""
        return self.lower >= self.upper


def graph_edit_distance(
    g: Graph,
    h: Graph,
    *,
    costs: EditCosts | None = None,
    alignment: Int[Tensor, " n"] | None = None,
    time_limit: float = 1.0,
) -> EditDistance:
    pass


class Search:
    """The state of one search: the best alignment so far, a proved lower bound, and what is left to consider."""

    def __init__(self, problem: Problem, deadline: float):
        self.problem = problem
        self.deadline = deadline
        self.image = np.arange(problem.n)
        self.upper = problem.cost(self.image)
        self.lower = 0.0
        self.allowed = np.ones((problem.n, problem.n), dtype=bool)
        self.log = []

    def offer(self, image):
        cost = self.problem.cost(image)
        if cost < self.upper - 1e-9:
            self.image, self.upper = image, cost
            return True
        return False

    @property
    def done(self):
        return self.lower >= self.upper - 1e-9 or time.perf_counter() > self.deadline

    def raise_lower(self, bound):
        self.lower = min(max(self.lower, self.problem.round_up(bound)), self.upper)

    def run(self):
        t0 = time.perf_counter()
        p = self.problem
        share = p.saving / 2
        self.bound(share)
        self.log.append(("branch", self.lower, self.upper, time.perf_counter() - t0))
        for start in starting_alignments(p):
            if self.done: return self.log
            self.offer(improve(p, start))
            self.offer(improve(p, descend(p, start)))
        self.log.append(("search", self.lower, self.upper, time.perf_counter() - t0))
        self.ascend(share)
        self.log.append(("ascend", self.lower, self.upper, time.perf_counter() - t0, int(self.allowed.sum())))
        if self.done: return self.log
        solved = solve(p, self.allowed, p.beaten_by(self.upper), self.deadline - time.perf_counter())
        if solved.image is not None: self.offer(solved.image)
        self.raise_lower(solved.lower)
        self.log.append(("milp", self.lower, self.upper, time.perf_counter() - t0))
        return self.log

    def bound(self, share):
        p = self.problem
        b = star_bound(p, share, self.allowed)
        cutoff = p.beaten_by(self.upper)
        if b.lower > cutoff + 1e-6:
            self.raise_lower(float("inf") if b.lower > FORBIDDEN / 2 else b.lower)
            if b.lower > cutoff + 1e-6: self.lower = self.upper
            return b
        self.raise_lower(b.lower)
        self.allowed &= b.when_aligned <= cutoff + 1e-6
        return b

    def ascend(self, share):
        p = self.problem
        rev = np.ix_(*reversed_links(p))
        for it in range(_MAX_ASCENT):
            if self.done: return
            b = self.bound(share)
            if self.done: return
            self.offer(improve(p, b.image))
            g = disagreement(p, share, b.image, self.allowed)
            norm = (g * g).sum() / 2
            if norm == 0: return
            step = 0.7*(self.upper - b.lower) / norm
            share = share - step * g / 2
