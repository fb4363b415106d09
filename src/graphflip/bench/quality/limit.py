"""FewestEdits: a wide beam search over single edits, for the smallest number of edits that can flip the classifier.

For benchmarks only. Its graphs are valid in the weakest sense: no atom has more bonds than it can have, and the graph
stays in one part. Open valences are allowed, and stored charges change by edits of their own, so its answers are a
bound and not explanations.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ...explain.counterfactual import Counterfactual, Outcome
from ...explain.goals.goal import AbstractGoal
from ...explain.method import AbstractExplainer, Question, verdict
from ...explain.moves.apply import apply_differences
from ...explain.moves.atoms.choice import rules_of
from ...explain.moves.atoms.rules import AbstractRules
from ...explain.moves.attributes import attribute_choices, other_attributes
from ...explain.moves.difference import AttributeChange, Difference
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...schema import Schema


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
        search = _Levels(self.classifier, question.goals[k], self.beam, self.batch_size)
        candidate = search.run(question.graph[k].trim(), self.max_edits).pad(question.graph.num_slots)
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
    """A graph of the search.

    Args:
        graph: One hard graph.
        score: Score of the classifier for the target, higher is closer; -inf for the factual, which is not scored.
        flips: True if the graph reaches the target.
    """

    graph: Graph
    score: float = -torch.inf
    flips: bool = False


class _Levels:
    """Graphs that the search from one factual has met, by number of edits; `calls` counts those classified.

    Args:
        classifier: Classifier to flip.
        goal: Target of the search.
        beam: Number of graphs that are kept for each number of edits.
        batch_size: Graphs that are classified at a time.
    """

    def __init__(self, classifier: AbstractClassifier, goal: AbstractGoal, beam: int, batch_size: int):
        self.classifier, self.goal, self.beam, self.batch_size = classifier, goal, beam, batch_size
        self.levels: dict[int, list[_State]] = defaultdict(list)
        self.seen: set[bytes] = set()
        self.calls = 0

    def run(self, factual: Graph, max_edits: int) -> Graph:
        """The graph with the fewest edits that reaches the target; if none does, the one with the best score."""
        self.levels[0].append(_State(factual))
        for level in range(max_edits):
            for state in self._front(level):
                self._expand(level, state.graph)
                flipped = [state for state in self.levels[level + 1] if state.flips]
                if flipped:  # none had fewer edits
                    return max(flipped, key=_score).graph
        return max((state for states in self.levels.values() for state in states), key=_score).graph

    def _front(self, level: int) -> list[_State]:
        """The best states of a level that were not expanded before, as many as the beam holds."""
        front: list[_State] = []
        for state in sorted(self.levels[level], key=_score, reverse=True):
            key = _key(state.graph)
            if key not in self.seen:
                self.seen.add(key)
                front.append(state)
            if len(front) == self.beam:
                break
        return front

    @torch.no_grad()
    def _expand(self, level: int, graph: Graph) -> None:
        """Classify all graphs one edit away, and keep the best of each number of edits."""
        steps = list(SingleEdits(graph.schema).steps(graph))
        for at in range(0, len(steps), self.batch_size):
            chunk = steps[at : at + self.batch_size]
            batch = apply_differences(graph, chunk)
            self.calls += len(chunk)
            logits = self.classifier(batch)
            score, flips = self.goal.score(logits), self.goal.reached(logits)
            for k in _best_of_each_size(chunk, score, self.beam):
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
    """Bytes that are equal for equal graphs."""
    whole = graph.pad(graph.schema.max_nodes)
    return b"".join(part.numpy().tobytes() for part in (whole.V.to(torch.int8), whole.A.bool(), whole.E.to(torch.int8)))


@dataclass(frozen=True)
class SingleEdits:
    """All single edits of a graph that give no atom too many bonds and keep the graph connected.

    Args:
        schema: Schema of the graphs.
    """

    schema: Schema

    def steps(self, graph: Graph) -> Iterator[Difference]:
        """Yield the difference that each edit makes; a leaf comes or goes with its edge."""
        sketch = Sketch.of(graph)
        room = {i: self._rules.limit(sketch.nodes[i]) - self._taken(sketch, i) for i in sketch.nodes}
        yield from self._node_changes(sketch)
        yield from self._edge_changes(sketch, room)
        yield from self._removed_leaves(sketch)
        yield from self._added_leaves(sketch, room)

    def _node_changes(self, sketch: Sketch) -> Iterator[Difference]:
        for i, attributes in sketch.nodes.items():
            for other in other_attributes(attributes, self.schema.nodes):
                if self._taken(sketch, i) <= self._rules.limit(other):
                    yield Difference({i: AttributeChange(attributes, other)}, {})

    def _edge_changes(self, sketch: Sketch, room: dict[int, int]) -> Iterator[Difference]:
        columns = self.schema.edges
        for i in sketch.nodes:
            for j in sketch.nodes:
                edge = sketch.near[i].get(j)
                if i >= j:
                    continue
                free = min(room[i], room[j]) + (self._rules.order(edge) if edge is not None else 0)
                for other in attribute_choices(columns) if edge is None else other_attributes(edge, columns):
                    if self._rules.order(other) <= free:
                        yield Difference({}, {(i, j): AttributeChange(edge, other)})
                if edge is not None and j in sketch.reach(i, block=j):
                    yield Difference({}, {(i, j): AttributeChange(edge, None)})

    def _removed_leaves(self, sketch: Sketch) -> Iterator[Difference]:
        for i, attributes in sketch.nodes.items():
            if len(sketch.near[i]) <= 1 and len(sketch.nodes) > 1:
                edges = {(min(i, j), max(i, j)): AttributeChange(edge, None) for j, edge in sketch.near[i].items()}
                yield Difference({i: AttributeChange(attributes, None)}, edges)

    def _added_leaves(self, sketch: Sketch, room: dict[int, int]) -> Iterator[Difference]:
        new = next((k for k in range(self.schema.max_nodes) if k not in sketch.nodes), None)
        if new is None:
            return
        for i in sketch.nodes:
            for edge in attribute_choices(self.schema.edges):
                for node in attribute_choices(self.schema.nodes) if self._rules.order(edge) <= room[i] else ():
                    if self._rules.order(edge) <= self._rules.limit(node):
                        pair = (min(i, new), max(i, new))
                        yield Difference({new: AttributeChange(None, node)}, {pair: AttributeChange(None, edge)})

    def _taken(self, sketch: Sketch, i: int) -> int:
        """Sum of the orders of a node's bonds; the number of edges if the graphs are no molecules."""
        return sum(map(self._rules.order, sketch.near[i].values()))

    @cached_property
    def _rules(self) -> AbstractRules:
        return rules_of(self.schema)
