"""Representatives: a few counterfactual graphs that are near as many inputs as possible (Kosan et al. 2023)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float

from ...explain.goals.goal import AbstractGoal
from ...explain.moves.difference import Difference
from ...explain.moves.moves import Moves
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ..coverage import Cover, greedy_cover
from .alignment import CAREFUL, THOROUGH, Effort, align_pairs
from .centers import CenterSearch
from .codes import Codebook, CodedGraphs
from .frames import CodeChange, Frame, all_changes
from .nearness import Profiles

_STARTS = 2
"""Graphs to climb from in each round."""
_HOPE, _WIDTH = 0.1, 0.05
"""Worth of a start beside an input that it is not near, and the unlikeness at which that falls to a third."""
_ALIKE = 60
"""Graphs to start from that each input is aligned with."""
_BATCH = 256


@dataclass(frozen=True, eq=False)
class Representatives:
    """Counterfactual graphs with the inputs that they are proved to be near.

    Args:
        graphs: Graphs of the wanted class.
        near: For each of them, True for inputs within theta of it.
    """

    graphs: tuple[Graph, ...]
    near: Bool[np.ndarray, "c g"]

    def choose(self, num: int, among: Bool[np.ndarray, " g"] | None = None) -> Cover:
        """Choose graphs that are near as many inputs as possible, or as many of some of them."""
        return greedy_cover(self.near if among is None else self.near[:, among], num)


@dataclass(frozen=True, eq=False)
class RepresentativeSearch:
    """Looks for graphs of a wanted class that stand for many inputs.

    Args:
        inputs: Graphs to stand for, each a batch of one hard graph.
        classifier: The classifier.
        goal: The wanted class.
        theta: Largest normalized edit distance that counts as near.
        moves: Changes that may be made; None allows every single edit, as the literature does.
        kinds: True if changes of an edge's attributes are edits; False counts edges only as there or not.
        allows: Says for a graph before and after a move if it may be made; None if all may.
    """

    inputs: Sequence[Graph]
    classifier: AbstractClassifier
    goal: AbstractGoal
    theta: float = 0.1
    moves: Moves | None = None
    kinds: bool = True
    allows: Callable[[Sketch, Sketch], bool] | None = None

    @cached_property
    def book(self) -> Codebook:
        """Numbers of attributes."""
        return Codebook()

    @cached_property
    def slots(self) -> int:
        """Slots of every coded graph."""
        return max(self.inputs[0].schema.max_nodes, max(graph.num_slots for graph in self.inputs))

    @cached_property
    def profiles(self) -> Profiles:
        """The inputs as distances see them."""
        return Profiles(self._seen(self._coded(self.inputs)))

    def search(
        self, rounds: int, weights: Float[np.ndarray, " g"] | None = None, others: Sequence[Graph] = ()
    ) -> Representatives:
        """Climb from the graphs that are near most inputs, one after another, for the inputs that are left each time.

        Others are of the wanted class already: one of them is tried each time, in case it is too far away from inputs.
        Then each of them climbs once more, for the inputs that the others leave to it.

        Args:
            rounds: Number of graphs to look for; each is the best of a few climbs.
            weights: Weight of each input, 0 for those that nothing may be learned from; by default 1.
            others: Further graphs to start from.
        """
        weights = np.ones(len(self.inputs)) if weights is None else weights
        starts = self._coded([*self.inputs, *others])
        may_start = np.concatenate([weights > 0, np.ones(len(others), dtype=bool)])
        beside = self._beside(starts, may_start) + _HOPE * np.exp(-self._unlikeness(starts) / _WIDTH)
        free, left = np.array(weights, float), may_start
        found: list[tuple[CodedGraphs, np.ndarray]] = []
        for _ in range(rounds):
            promise = np.where(left, beside @ free, -1.0)
            tried = [int(at) for at in np.argsort(-promise, kind="stable")[:_STARTS] if left[at]]
            left[tried] = False
            if len(others) and left[len(self.inputs) :].any():
                tried.append(len(self.inputs) + int(np.argmax(np.where(left, promise, -1.0)[len(self.inputs) :])))
                left[tried[-1]] = False
            best = self._best([starts[[at]] for at in tried], free)
            if best is not None:
                found.append(best)
                free = np.where(best[1], 0.0, free)
        for at, (center, near) in enumerate(found):
            taken = [one for k, (_, one) in enumerate(found) if k != at]
            free = np.where(np.any(taken, axis=0), 0.0, weights) if taken else weights
            best = self._best([center], free)
            if best is not None and best[1] @ free > near @ free:
                found[at] = best
        return self.of([self._graphs(center) for center, _ in found])

    @cached_property
    def climber(self) -> CenterSearch:
        """Looks for centers among the inputs."""
        changes = all_changes if self.moves is None else self._moved
        return CenterSearch(Profiles(self._coded(self.inputs)), self._lead, self.theta, changes, self.kinds)

    def _best(
        self, starts: Sequence[CodedGraphs], free: Float[np.ndarray, " g"]
    ) -> tuple[CodedGraphs, Bool[np.ndarray, " g"]] | None:
        """The best center that some climbs lead to, with the inputs near it; None if none reaches the class."""
        climbed = (self.climber.climb(start, free) for start in starts)
        centers = [(one, self.near(one, CAREFUL)) for one in climbed if one is not None]
        return max(centers, key=lambda one: float(one[1] @ free), default=None)

    def of(self, candidates: Sequence[Graph]) -> Representatives:
        """Given graphs of the wanted class, with the inputs near them."""
        coded = self._coded(candidates)
        near = [self.near(coded[[c]]) for c in range(len(coded))]
        return Representatives(tuple(candidates), np.array(near).reshape(len(coded), len(self.inputs)))

    def among(self, graphs: Sequence[Graph]) -> Representatives:
        """Many given graphs of the wanted class, with the inputs near them, by quick alignments of likely pairs."""
        return Representatives(tuple(graphs), self._beside(self._coded(graphs), np.ones(len(graphs), dtype=bool)))

    def near(self, center: CodedGraphs, effort: Effort = THOROUGH) -> Bool[np.ndarray, " g"]:
        """Inputs that are proved to be within theta of a center."""
        return self.climber.near(center, effort)

    def distances(self, graphs: Sequence[Graph], asked: Sequence[int]) -> Float[np.ndarray, " m"]:
        """Upper bounds of the normalized distance from some inputs to the nearest of some graphs."""
        inputs, nearest = self.profiles.graphs[asked], np.ones(len(asked))
        coded = self._seen(self._coded(graphs))
        for c in range(len(coded)):
            repeated = coded[np.full(len(asked), c)]
            edits = align_pairs(repeated, inputs, self.theta * (repeated.sizes + inputs.sizes), CAREFUL).edits
            nearest = np.minimum(nearest, edits / (repeated.sizes + inputs.sizes))
        return nearest

    def _coded(self, graphs: Sequence[Graph]) -> CodedGraphs:
        return self.book.read([Sketch.of(graph.trim()) for graph in graphs], self.slots)

    def _seen(self, graphs: CodedGraphs) -> CodedGraphs:
        """Graphs as distances see them: without the attributes of edges, if these do not count."""
        return graphs if self.kinds else graphs.bare

    def _beside(self, starts: CodedGraphs, may_start: Bool[np.ndarray, " s"]) -> Bool[np.ndarray, "s g"]:
        """True where a start is proved to be near an input; of each input the most alike starts are aligned."""
        seen = self._seen(starts)
        profiles = Profiles(seen)
        unlike, sizes = self._unlikeness(starts), profiles.sizes[:, None] + self.profiles.sizes
        far = (self.profiles.at_least(profiles) > self.theta * sizes) | ~may_start[:, None]
        beside = np.zeros(far.shape, dtype=bool)
        for g in range(len(self.inputs)):
            likely = np.flatnonzero(~far[:, g])
            likely = likely[np.argsort(unlike[likely, g], kind="stable")[:_ALIKE]]
            if len(likely):
                enough = self.theta * sizes[likely, g]
                found = align_pairs(seen[likely], self.profiles.graphs[np.full(len(likely), g)], enough)
                beside[likely, g] = found.edits <= enough + 1e-9
        return beside

    def _unlikeness(self, starts: CodedGraphs) -> Float[np.ndarray, "s g"]:
        return self.profiles.unlikeness(Profiles(self._seen(starts)))

    @torch.no_grad()
    def _lead(self, graphs: CodedGraphs) -> Float[np.ndarray, " g"]:
        """Above 0 for graphs that reach the goal, else the log-probability of it."""
        values = []
        for start in range(0, len(graphs), _BATCH):
            outputs = self.classifier(self._graphs(graphs[np.arange(start, min(start + _BATCH, len(graphs)))]))
            reached = self.goal.reached(outputs) & outputs.isfinite().all(-1)
            values.append(torch.where(reached, 1.0, self.goal.score(outputs).clamp(max=0)))
        return torch.cat(values).double().numpy()

    def _graphs(self, graphs: CodedGraphs) -> Graph:
        """Coded graphs as a batch."""
        schema = self.inputs[0].schema
        V, E = (
            _table(book, columns)
            for book, columns in ((self.book.nodes, schema.nodes), (self.book.edges, schema.edges))
        )
        labels, links = (torch.as_tensor(codes.astype(np.int64)) for codes in (graphs.labels, graphs.links))
        return Graph.trusted((labels > 0).float(), V[labels], (links > 0).float(), E[links], schema)

    def _moved(self, frame: Frame) -> list[CodeChange]:
        """The moves of a center, as changes of codes."""
        if self.moves is None:
            return []
        state, changes = self.book.sketch(frame.center, 0), {}
        for _, after in self.moves.steps(state, state):
            difference = Difference.between(state, after)
            if self.allows is not None and not self.allows(state, after):
                continue
            if difference.size and max(difference.touched) < self.slots:
                nodes = tuple((i, self.book.node(change.after)) for i, change in sorted(difference.nodes.items()))
                links = ((i, j, self.book.edge(change.after)) for (i, j), change in sorted(difference.edges.items()))
                changes[CodeChange(nodes, tuple(links))] = None
        return list(changes)


def _table(book: dict, columns: tuple) -> torch.Tensor:
    """Rows of V or E for each code; zeros for 0."""
    width = sum(column.width for column in columns)
    rows = [
        [number for column, value in zip(columns, key, strict=True) for number in column.encode(value)] for key in book
    ]
    return torch.tensor([[0.0] * width, *rows], dtype=torch.float32).reshape(len(book) + 1, width)
