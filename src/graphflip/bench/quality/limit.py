"""FewestEdits: a wide beam search over single edits, for the smallest number of edits that can flip the classifier.

For benchmarks only. Its graphs are valid in the weakest sense: no atom has more bonds than it can have, and the graph
stays in one part. Open valences are allowed, so its answers are a bound and not explanations.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ...chemistry import BOND_ORDERS
from ...explain.counterfactual import Counterfactual, Outcome
from ...explain.goals.goal import AbstractGoal
from ...explain.method import AbstractExplainer, Question, verdict
from ...explain.moves.apply import apply_differences
from ...explain.moves.attributes import Attributes, labels_of, other_labels
from ...explain.moves.difference import AttributeChange, Difference
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...schema import Column, Schema


@dataclass(frozen=True)
class FewestEdits(AbstractExplainer):
    """Beam search by number of edits: from the best graphs with k edits, try every graph with one edit more.

    The first graph that reaches the target is the answer. A leaf that comes or goes with its edge counts two edits.

    Args:
        classifier: Classifier to flip.
        beam: Number of graphs that are kept for each number of edits.
        max_edits: Largest number of edits.
        batch_size: Graphs that are classified at a time.
        method: Name of the method in answers.
    """

    classifier: AbstractClassifier
    beam: int = 32
    max_edits: int = 8
    batch_size: int = 256
    method: str = "limit"

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [self._explain_one(question, k) for k in range(len(question.graph))]

    def _explain_one(self, question: Question, k: int) -> Counterfactual:
        started = time.perf_counter()
        search = _Levels(self, question.graph[k].trim(), question.goals[k])
        candidate = search.run().pad(question.graph.num_slots)
        (outcome,), probability = verdict(self.classifier, candidate, question.goals[k : k + 1])
        return question.answer(
            k,
            self.method,
            candidate,
            Outcome.OUT_OF_MOVES if outcome is Outcome.NOT_FLIPPED else outcome,
            p_counterfactual=float(probability),
            seconds=time.perf_counter() - started,
            classifier_calls=search.calls,
        )


@dataclass(frozen=True, eq=False)
class _State:
    """A graph of the search, its score for the target, and True in `flips` if it reaches the target."""

    graph: Graph
    score: float = -torch.inf
    flips: bool = False


class _Levels:
    """Graphs that the search has met from one factual, by number of edits."""

    def __init__(self, settings: FewestEdits, graph: Graph, goal: AbstractGoal):
        self.settings, self.goal, self.calls = settings, goal, 0
        self.edits = SingleEdits(graph.schema)
        self.levels: dict[int, list[_State]] = defaultdict(list, {0: [_State(graph)]})
        self.seen: set[bytes] = set()

    def run(self) -> Graph:
        """Search; return the graph with the fewest edits that reaches the target, else the one with the best score."""
        for level in range(self.settings.max_edits):
            for state in self._front(level):
                self._expand(level, state.graph)
                flipped = [state for state in self.levels[level + 1] if state.flips]
                if flipped:  # none had fewer edits
                    return max(flipped, key=_score).graph
        return max((state for states in self.levels.values() for state in states), key=_score).graph

    def _front(self, level: int) -> list[_State]:
        front: list[_State] = []
        for state in sorted(self.levels[level], key=_score, reverse=True):
            key = _key(state.graph)
            if key not in self.seen:
                self.seen.add(key)
                front.append(state)
            if len(front) == self.settings.beam:
                break
        return front

    @torch.no_grad()
    def _expand(self, level: int, graph: Graph) -> None:
        steps = list(self.edits.steps(graph))
        for at in range(0, len(steps), self.settings.batch_size):
            chunk = steps[at : at + self.settings.batch_size]
            batch = apply_differences(graph, chunk)
            self.calls += len(chunk)
            logits = self.settings.classifier(batch)
            score, flips = self.goal.score(logits), self.goal.reached(logits)
            for k in _best_of_each_size(chunk, score, self.settings.beam):
                self.levels[level + chunk[k].size].append(_State(batch[k], float(score[k]), bool(flips[k])))


def _score(state: _State) -> float:
    return state.score


def _best_of_each_size(steps: list[Difference], score: Tensor, count: int) -> Iterator[int]:
    """Indices of the best `count` steps of each size, as no more can enter the beam."""
    left: dict[int, int] = defaultdict(lambda: count)
    for k in score.argsort(descending=True).tolist():
        if left[steps[k].size]:
            left[steps[k].size] -= 1
            yield k


def _key(graph: Graph) -> bytes:
    whole = graph.pad(graph.schema.max_nodes)
    return b"".join(part.numpy().tobytes() for part in (whole.V.to(torch.int8), whole.A.bool(), whole.E.to(torch.int8)))


@dataclass(frozen=True)
class SingleEdits:
    """All single edits of a graph that leave no atom with too many bonds and the graph in one part."""

    schema: Schema

    def steps(self, graph: Graph) -> Iterator[Difference]:
        """Yield the difference that each edit makes; a leaf comes or goes with its edge."""
        sketch = Sketch.of(graph)
        room = {i: self._limit(sketch.nodes[i]) - self._taken(sketch, i) for i in sketch.nodes}
        yield from self._labels(sketch)
        yield from self._edges(sketch, room)
        yield from self._leaves(sketch, room)

    def _labels(self, sketch: Sketch) -> Iterator[Difference]:
        for i, label in sketch.nodes.items():
            for other in other_labels(label, self.schema.nodes):
                if self._taken(sketch, i) <= self._limit(other):
                    yield Difference({i: AttributeChange(label, other)}, {})

    def _edges(self, sketch: Sketch, room: dict[int, int]) -> Iterator[Difference]:
        for i in sketch.nodes:
            for j in sketch.nodes:
                label = sketch.near[i].get(j)
                if i >= j:
                    continue
                free = min(room[i], room[j]) + (self._order(label) if label is not None else 0)
                wanted = labels_of(self.schema.edges) if label is None else other_labels(label, self.schema.edges)
                for other in wanted:
                    if self._order(other) <= free:
                        yield Difference({}, {(i, j): AttributeChange(label, other)})
                if label is not None and j in sketch.reach(i, block=j):
                    yield Difference({}, {(i, j): AttributeChange(label, None)})

    def _leaves(self, sketch: Sketch, room: dict[int, int]) -> Iterator[Difference]:
        for i, label in sketch.nodes.items():
            if len(sketch.near[i]) <= 1 and len(sketch.nodes) > 1:
                edges = {(min(i, j), max(i, j)): AttributeChange(edge, None) for j, edge in sketch.near[i].items()}
                yield Difference({i: AttributeChange(label, None)}, edges)
        new = next((k for k in range(self.schema.max_nodes) if k not in sketch.nodes), None)
        if new is None:
            return
        for i in sketch.nodes:
            for edge in labels_of(self.schema.edges):
                for label in labels_of(self.schema.nodes) if self._order(edge) <= room[i] else ():
                    if self._order(edge) <= self._limit(label):
                        place = (min(i, new), max(i, new))
                        yield Difference({new: AttributeChange(None, label)}, {place: AttributeChange(None, edge)})

    def _taken(self, sketch: Sketch, i: int) -> int:
        return sum(map(self._order, sketch.near[i].values()))

    def _limit(self, label: Attributes) -> int:
        chemistry = self.schema.chemistry
        return 99 if chemistry is None else chemistry.max_valence(str(label[_type(self.schema.nodes)]))

    def _order(self, label: Attributes) -> int:
        return 1 if self.schema.chemistry is None else BOND_ORDERS[str(label[_type(self.schema.edges)])]


def _type(columns: tuple[Column, ...]) -> int:
    return next(k for k, column in enumerate(columns) if column.name == "type")
