"""Graph edit distance: labelled, independent of the order of nodes, exact where it can be proved, bounded otherwise."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from ..coloring.isomorphism import find_isomorphism
from ..edits import Edit, EditCosts, edits_between
from ..errors import ConfigError, GraphError, SchemaError
from ..graph import Graph
from ..jsongraph import single_hard
from .bounds import StarBound, disagreement, star_bound
from .exact import solve
from .problem import TOLERANCE, Allowed, AssignmentProblem, alignment_problem
from .search import descend, grow, improve, starting_alignments

_STEP, _MOMENTUM = 0.7, 0.7
_TRIES_BEFORE_PROGRAM = 15
_GAP_FOR_PROGRAM = 8.0


@dataclass(frozen=True)
class EditDistance:
    """Bounds of a graph edit distance, and the edits that attain the upper one.

    `alignment[i]` is the slot of the second graph that slot i of the first becomes, -1 where that node is removed or
    the slot is empty. The edits are in terms of the first graph; added nodes fill its empty slots, then follow.
    """

    lower: float
    upper: float
    edits: list[Edit]
    alignment: Int[Tensor, " n"]

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
    """The least cost of edits that turn one hard graph into the other, as far as `time_limit` seconds can tell.

    An `alignment` that is known (`torch.arange(g.num_slots)` if slots were kept; -1 for "no counterpart") is a free
    upper bound: close graphs are then mostly proved within milliseconds. Continuous attributes count as in `EditCosts`,
    and a proof then holds up to 1e-5; without them and with whole costs, bounds are whole numbers.

    >>> from graphflip import Categories, Schema
    >>> schema = Schema(nodes=(Categories(name="type", values=("C", "O")),), max_nodes=4)
    >>> path = Graph.build(schema, [{"type": "C"}, {"type": "C"}, {"type": "O"}], [(0, 1, {}), (1, 2, {})])
    >>> ring = Graph.build(schema, [{"type": "C"}] * 3, [(0, 1, {}), (1, 2, {}), (0, 2, {})])
    >>> distance = graph_edit_distance(path, ring)
    >>> distance.lower, distance.upper, distance.exact
    (2.0, 2.0, True)
    """
    if g.schema != h.schema:
        raise SchemaError("Both graphs must have the same schema; these differ. Load them from one dataset.")
    if not time_limit >= 0:
        raise ConfigError(f"`time_limit` must be a number of seconds >= 0; got {time_limit}.")
    costs = costs or EditCosts()
    search, image = _best_found(g, h, costs, alignment, time.perf_counter() + time_limit)
    edits = edits_between(g, _reorder_like(g, h, image))
    upper = costs.total(edits, g.schema)
    return EditDistance(upper if search.proved else min(search.lower, upper), upper, edits, image)


def closer_alignment(g: Graph, h: Graph, alignment: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    """An alignment, as in `EditDistance`, under which two hard graphs are no more edits apart than under the one given.

    No proof is sought and no clock is looked at, so that it is the same on every machine.
    """
    return _best_found(g, h, EditCosts(), alignment, None)[1]


def _best_found(
    g: Graph, h: Graph, costs: EditCosts, alignment: Int[Tensor, " n"] | None, deadline: float | None
) -> "tuple[_State, Int[Tensor, ' n']]":
    """The end of a search, and the alignment of the slots that it found; without a deadline there is no proof."""
    slots, other_slots = (_existing(single_hard(graph)) for graph in (g, h))
    known = [] if alignment is None else [_check_alignment(alignment, slots, other_slots, g.num_slots)]
    if len(slots) <= len(other_slots):
        search = _search(alignment_problem(g.trim(), h.trim(), costs), known, deadline)
        pairs = {i: int(k) for i, k in enumerate(search.image[: len(slots)])}
    else:
        back = replace(costs, add_node=costs.remove_node, remove_node=costs.add_node)
        back = replace(back, add_edge=costs.remove_edge, remove_edge=costs.add_edge)
        known = [{k: i for i, k in image.items()} for image in known]
        search = _search(alignment_problem(h.trim(), g.trim(), back), known, deadline)
        pairs = {int(i): k for k, i in enumerate(search.image[: len(other_slots)])}
    image = torch.full((g.num_slots,), -1)
    for i, k in pairs.items():
        image[slots[i]] = other_slots[k]
    return search, image


@dataclass(eq=False)
class _State:
    """The best alignment so far, a proved lower bound, and what a better alignment may still look like."""

    problem: AssignmentProblem
    deadline: float
    image: Int[np.ndarray, " n"] = field(init=False)
    upper: float = field(init=False)
    allowed: Allowed = field(init=False)
    lower: float = 0.0

    def __post_init__(self) -> None:
        n = self.problem.n
        self.image, self.allowed = np.arange(n), np.ones((n, n), dtype=bool)
        self.upper = self.problem.cost(self.image)

    @property
    def proved(self) -> bool:
        return self.lower > self.problem.beaten_by(self.upper) + TOLERANCE / 2

    def stop(self, at: float | None = None) -> bool:
        return self.proved or time.perf_counter() >= (self.deadline if at is None else at)

    def offer(self, image: Int[np.ndarray, " n"]) -> None:
        """Keep an alignment if it is the best so far."""
        cost = self.problem.cost(image)
        if cost < self.upper - 1e-9:
            self.image, self.upper = image, cost

    def learn(self, lower: float) -> None:
        """Take note of a lower bound that holds for all alignments that would be better than the best so far."""
        self.lower = max(self.lower, min(self.problem.round_up(lower), self.upper))

    def bound(self, share: np.ndarray) -> StarBound:
        """Raise the lower bound and rule out pairs of nodes that no better alignment can have."""
        bound = star_bound(self.problem, share, self.allowed)
        self.learn(bound.lower)
        self.allowed &= bound.when_aligned <= self.problem.beaten_by(self.upper) + TOLERANCE / 2
        return bound


def _search(problem: AssignmentProblem, known: Iterable[dict[int, int]], deadline: float | None) -> _State:
    """Cheap bounds first, then ever more work until they meet or time is over; without a deadline the cheap ones."""
    state = _State(problem, math.inf if deadline is None else deadline)
    if problem.num_real == 0:
        state.learn(state.upper)
        return state
    for pairs in known:
        state.offer(improve(problem, _complete(problem.n, pairs)))
    if state.bound(problem.saving / 2).lower < TOLERANCE:
        _recognize_copy(state)
    for start in starting_alignments(problem):
        if state.stop():
            return state
        state.offer(improve(problem, start))
        state.offer(improve(problem, descend(problem, start)))
    if deadline is None:
        _ascend(state, _TRIES_BEFORE_PROGRAM)
        return state
    _ascend(state)
    if not state.stop():
        _run_program(state)
    return state


def _recognize_copy(state: _State) -> None:
    problem = state.problem
    ends = ((problem.tail, problem.head), (problem.other_tail, problem.other_head))
    g, h = (
        (
            [str(label) for label in nodes],
            [(int(i), int(j), str(label)) for i, j, label in zip(*pair, links, strict=True)],
        )
        for nodes, links, pair in zip(problem.node_labels, problem.link_labels, ends, strict=True)
    )
    # Links are listed from either end, each with a label of its own.
    image = find_isomorphism(g, h, directed=True)
    if image is not None:
        state.offer(np.array(image))


def _ascend(state: _State, tries: int = 10**6) -> None:
    """Shift savings between the ends of links so that the stars agree more, and try the alignments that come up."""
    problem, share = state.problem, state.problem.saving / 2
    direction = np.zeros_like(share)
    halfway = (time.perf_counter() + state.deadline) / 2
    for attempt in range(tries):
        bound = state.bound(share)
        if not state.proved:
            state.offer(improve(problem, bound.image))
            state.offer(improve(problem, grow(problem, bound.when_aligned - bound.lower)))
        few_left = attempt >= _TRIES_BEFORE_PROGRAM and state.allowed.sum() <= 4 * problem.n
        promising = state.upper - state.lower <= _GAP_FOR_PROGRAM
        if few_left or state.stop(halfway if promising else state.deadline):
            return
        direction = disagreement(problem, share, bound.image, state.allowed) + _MOMENTUM * direction
        size = float((direction**2).sum())
        if size == 0:
            return
        share = share - _STEP * (state.upper - bound.lower) / size * direction


def _run_program(state: _State) -> None:
    cutoff = state.problem.beaten_by(state.upper)
    solved = solve(state.problem, state.allowed, cutoff, state.deadline - time.perf_counter())
    if solved.image is not None:
        state.offer(solved.image)
    state.learn(solved.lower)


def _existing(graph: Graph) -> list[int]:
    return graph.B[0].nonzero()[:, 0].tolist()


def _complete(n: int, pairs: dict[int, int]) -> Int[np.ndarray, " n"]:
    image = np.full(n, -1)
    for i, k in pairs.items():
        image[i] = k
    image[image < 0] = np.setdiff1d(np.arange(n), image)
    return image


def _check_alignment(alignment: Tensor, slots: list[int], others: list[int], n: int) -> dict[int, int]:
    """The alignment as pairs of node numbers (empty slots not counted), of nodes that exist in both graphs."""
    if alignment.shape != (n,):
        raise GraphError(
            f"`alignment` must have one entry for each of the {n} slots; got shape {tuple(alignment.shape)}."
        )
    number, other_number = ({slot: i for i, slot in enumerate(part)} for part in (slots, others))
    pairs = [(i, k) for i, k in enumerate(alignment.tolist()) if k >= 0]
    if len({k for _, k in pairs}) != len(pairs):
        raise GraphError("`alignment` must not give two slots the same counterpart. Use -1 for slots without one.")
    return {number[i]: other_number[k] for i, k in pairs if i in number and k in other_number}


def _reorder_like(g: Graph, h: Graph, image: Int[Tensor, " n"]) -> Graph:
    """`h` with its nodes in the slots of the nodes of `g` that they are; the others fill empty slots, then follow."""
    added = sorted(set(_existing(h)) - set(image.tolist()))
    free = [i for i in range(g.num_slots) if g.B[0, i] == 0]
    n = max(g.num_slots, h.num_slots, g.num_slots + len(added) - len(free))
    order = image.tolist() + [-1] * (n - g.num_slots)
    for slot, k in zip(free + list(range(g.num_slots, n)), added, strict=False):
        order[slot] = k
    empty = iter(sorted(set(range(n)) - set(order)))
    return h.pad(n).permute(torch.tensor([k if k >= 0 else next(empty) for k in order], dtype=torch.long))
