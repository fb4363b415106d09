"""Graph edit distance of labelled graphs in any order of nodes: exact where it can be proved, bounded otherwise."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from ..edits import Edit, EditCosts, edits_between
from ..errors import ConfigError, GraphError, SchemaError
from ..graph import Graph
from ..jsongraph import single_hard
from .bounds import StarBound, disagreement, star_bound
from .problem import TOLERANCE, Allowed, AssignmentProblem, alignment_problem
from .search import completed, descend, grow, improve, isomorphism, starting_alignments

_STEP, _MOMENTUM = 0.7, 0.7
_TRIES_BEFORE_PROGRAM = 15
_LARGEST_BOUNDED = 300  # nodes up to which bounds, whose time grows with the cube of nodes, are cheap
_GAP_FOR_PROGRAM = 8.0


@dataclass(frozen=True)
class EditDistance:
    """Bounds of a graph edit distance, and the edits that attain the upper one.

    Args:
        lower: Proved lower bound of the cost.
        upper: Cost of `edits`.
        edits: Edits that turn the first graph into the second, by slots of the first; added nodes fill its empty slots,
            then follow.
        alignment: For each slot of the first graph the slot of the second that it becomes; -1 if the node is removed or
            the slot is empty.

    Example:
        >>> from graphflip import Schema, graph_edit_distance
        >>> empty, edge = (Graph.build(Schema(max_nodes=2), [{}, {}], edges) for edges in ([], [(0, 1, {})]))
        >>> distance = graph_edit_distance(empty, edge)
        >>> distance.edits, distance.alignment.tolist(), distance.exact
        ([Edit(op='add_edge', at=(0, 1), before={}, after={})], [0, 1], True)
    """

    lower: float
    upper: float
    edits: list[Edit]
    alignment: Int[Tensor, " n"]

    @property
    def exact(self) -> bool:
        """True if the distance is proved: the bounds are equal."""
        return self.lower >= self.upper


def graph_edit_distance(
    g: Graph,
    h: Graph,
    *,
    costs: EditCosts | None = None,
    alignment: Int[Tensor, " n"] | None = None,
    time_limit: float = 1.0,
) -> EditDistance:
    """Compute the least cost of edits that turn one hard graph into another, in any order of nodes.

    Args:
        g: First graph, a batch of one.
        h: Second graph, a batch of one, of the same schema.
        costs: Costs of the kinds of edit; by default every edit costs 1. With continuous attributes a proof holds up to
            1e-5; without them and with whole costs, bounds are whole numbers.
        alignment: A known alignment, as in `EditDistance`: `torch.arange(g.num_slots)` if slot i is the same node in
            both. It gives an upper bound at once; close graphs are then mostly proved within milliseconds.
        time_limit: Seconds after which the search ends with the bounds it has.

    Returns:
        Bounds of the distance, the edits that attain the upper bound, and their alignment.

    Raises:
        SchemaError: If the schemas differ.
        GraphError: If a graph is relaxed or a batch of several, or the alignment is wrong.
        ConfigError: If `time_limit` is negative.

    Example:
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
    search, image = _best_alignment(g, h, costs, alignment, time.perf_counter() + time_limit)
    edits = edits_between(g, _reorder_like(g, h, image))
    upper = costs.total(edits, g.schema)
    return EditDistance(upper if search.proved else min(search.lower, upper), upper, edits, image)


def closer_alignment(g: Graph, h: Graph, alignment: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    """Improve an alignment of two hard graphs, without proof and without a time limit: the same on every machine.

    Args:
        g: First graph, a batch of one.
        h: Second graph, a batch of one.
        alignment: For each slot of `g` the slot of `h` that it becomes, -1 for none.

    Returns:
        An alignment of the same form that takes no more edits.

    Raises:
        GraphError: If a graph is relaxed or a batch of several, or the alignment is wrong.

    Example:
        >>> from graphflip import Categories, Schema
        >>> schema = Schema(nodes=(Categories(name="type", values=("C", "O")),), max_nodes=2)
        >>> g, h = (Graph.build(schema, [{"type": a}, {"type": b}], []) for a, b in ("CO", "OC"))
        >>> closer_alignment(g, h, torch.arange(2)).tolist()
        [1, 0]
    """
    return _best_alignment(g, h, EditCosts(), alignment, None)[1]


def _best_alignment(
    g: Graph, h: Graph, costs: EditCosts, alignment: Int[Tensor, " n"] | None, deadline: float | None
) -> "tuple[_State, Int[Tensor, ' n']]":
    """Final state of the search, and the best alignment of slots; without a deadline no proof is sought."""
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
    """State of a search: the best alignment so far, a proved lower bound, and the pairs a better one may have.

    `tried` are the alignments that were improved before.
    """

    problem: AssignmentProblem
    deadline: float
    image: Int[np.ndarray, " n"] = field(init=False)
    upper: float = field(init=False)
    allowed: Allowed = field(init=False)
    tried: set[bytes] = field(init=False, default_factory=set)
    lower: float = 0.0

    def __post_init__(self) -> None:
        n = self.problem.n
        self.image, self.allowed = np.arange(n), np.ones((n, n), dtype=bool)
        self.upper = self.problem.cost(self.image)

    @property
    def proved(self) -> bool:
        """True if no alignment can be better than the best so far."""
        return self.lower > self.problem.beaten_by(self.upper) + TOLERANCE / 2

    def stop(self, at: float | None = None) -> bool:
        """True if the distance is proved or the time (`at`, by default the deadline) is over."""
        return self.proved or time.perf_counter() >= (self.deadline if at is None else at)

    def offer(self, image: Int[np.ndarray, " n"]) -> None:
        """Keep an alignment if it is the best so far."""
        cost = self.problem.cost(image)
        if cost < self.upper - 1e-9:
            self.image, self.upper = image, cost

    def offer_improved(self, image: Int[np.ndarray, " n"]) -> None:
        """Offer what exchanges make of an alignment."""
        key = image.tobytes()
        if key not in self.tried:
            self.tried.add(key)
            self.offer(improve(self.problem, image))

    def learn(self, lower: float) -> None:
        """Raise the lower bound to one that holds for all alignments better than the best so far."""
        self.lower = max(self.lower, min(self.problem.round_up(lower), self.upper))

    def bound(self, share: np.ndarray) -> StarBound:
        """Raise the lower bound and rule out pairs of nodes that no better alignment can have."""
        bound = star_bound(self.problem, share, self.allowed)
        self.learn(bound.lower)
        self.allowed &= bound.when_aligned <= self.problem.beaten_by(self.upper) + TOLERANCE / 2
        return bound


def _search(problem: AssignmentProblem, known: Sequence[dict[int, int]], deadline: float | None) -> _State:
    """Search with ever more expensive bounds until they meet or time is over; without a deadline only cheap ones.

    Without a deadline, known alignments of large graphs are improved by exchanges alone.
    """
    state = _State(problem, math.inf if deadline is None else deadline)
    if problem.num_real == 0:
        state.learn(state.upper)
        return state
    for pairs in known:
        state.offer_improved(completed(problem.n, pairs))
    if known and deadline is None and problem.n > _LARGEST_BOUNDED:
        return state
    if state.bound(problem.saving / 2).lower < TOLERANCE:
        copy = isomorphism(problem)
        if copy is not None:
            state.offer(copy)
    for start in starting_alignments(problem):
        if state.stop():
            return state
        state.offer_improved(start)
        state.offer_improved(descend(problem, start))
    if deadline is None:
        _ascend(state, _TRIES_BEFORE_PROGRAM)
        return state
    _ascend(state)
    if not state.stop():
        _run_program(state)
    return state


def _ascend(state: _State, tries: int = 10**6) -> None:
    """Raise the star bound by subgradient ascent on the shares of savings, and offer the alignments on the way."""
    problem, share = state.problem, state.problem.saving / 2
    direction = np.zeros_like(share)
    halfway = (time.perf_counter() + state.deadline) / 2
    for attempt in range(tries):
        bound = state.bound(share)
        if not state.proved:
            state.offer_improved(bound.image)
            state.offer_improved(grow(problem, bound.when_aligned - bound.lower))
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
    """Solve the integer program in the time that is left."""
    cutoff = state.problem.beaten_by(state.upper)
    from .exact import solve  # imports optimizers that most distances do not need

    solved = solve(state.problem, state.allowed, cutoff, state.deadline - time.perf_counter())
    if solved.image is not None:
        state.offer(solved.image)
    state.learn(solved.lower)


def _existing(graph: Graph) -> list[int]:
    return graph.B[0].nonzero()[:, 0].tolist()


def _check_alignment(alignment: Tensor, slots: list[int], others: list[int], n: int) -> dict[int, int]:
    """Pairs of node numbers (empty slots not counted) of an alignment, for nodes that exist in both graphs."""
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
    """Reorder `h` so that aligned nodes stand in the slots of `g`; added nodes fill empty slots, then follow."""
    added = sorted(set(_existing(h)) - set(image.tolist()))
    free = [i for i in range(g.num_slots) if g.B[0, i] == 0]
    n = max(g.num_slots, h.num_slots, g.num_slots + len(added) - len(free))
    order = image.tolist() + [-1] * (n - g.num_slots)
    for slot, k in zip(free + list(range(g.num_slots, n)), added, strict=False):
        order[slot] = k
    empty = iter(sorted(set(range(n)) - set(order)))
    return h.pad(n).permute(torch.tensor([k if k >= 0 else next(empty) for k in order], dtype=torch.long))
