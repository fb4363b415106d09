"""Listing: the moves of a graph that is no molecule which promise most by a gradient; the others are never listed."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....schema import Column
from ...moves.attributes import Attributes, fresh_attributes
from ...moves.connectivity import bridges
from ...moves.draft import Draft, cut, joined, with_node
from ...moves.sketch import Pair
from .alternatives import Alternatives, alternatives
from .encode import encode_all
from .ground import Ground
from .groups import Choice, GroupMoves
from .reach import near_pairs
from .residuals import Codes

Rises = NDArray[np.float64]
"""Expected rises of the scores, a row for each move: by the classifier, by the surrogates."""

# Moves that are looked at, best first, for each one that is listed: few may create environments that are known.
_LOOKS = 30

# Rise of log-odds beyond which an estimate is not believed.
_FARTHEST = 8.0
# Attributes of a node or an edge that are looked at, if there are more.
_MOST_COLUMNS = 256

# Steps of this share of a list, begun anew at its end, are spread evenly over it, however many they are.
_GOLDEN = 0.6180339887498949


class Promise(NamedTuple):
    """A move and what it should do.

    Args:
        draft: The move.
        rises: Rises of the scores by the gradient alone.
        edits: Cost of its edits.
        codes: Its sort and finer sort.
    """

    draft: Draft
    rises: NDArray[np.float64]
    edits: float
    codes: Codes


class Choices:
    """Moves of one kind as arrays, of which few become drafts; what became of a move is kept."""

    def __init__(self) -> None:
        self.parts: list[Choice] = []
        self.made: dict[int, Promise | None] = {}

    def add(self, part: Choice) -> None:
        """Add some moves."""
        if len(part.rises):
            self.parts.append(part)

    def best(self, rank: "Rank", most: int) -> Iterator[Promise]:
        """The first moves by rank that are allowed, at most so many."""
        if not self.parts:
            return
        columns = zip(*(part[:3] for part in self.parts), strict=True)
        rises, edits, codes = (np.concatenate(arrays) for arrays in columns)
        ranks = rank(rises, edits, codes)
        count = min(_LOOKS * most, len(ranks))
        first = np.flatnonzero(ranks <= np.partition(ranks, count - 1)[count - 1])  # which ones tie is for no processor
        order = first[np.argsort(ranks[first], kind="stable")][:count]
        yield from islice(self.drafts(order), most)

    def sorts(self) -> Iterator["Sort"]:
        """The sorts of moves that there are; small steps are left out: of these the gradient is right."""
        start = 0
        for part in self.parts:
            large = part.edits >= 1.0
            for sort in np.unique(part.codes[large, 0]):
                members = np.flatnonzero(large & (part.codes[:, 0] == sort))
                yield Sort(self, start + members, part.codes[members, 1], float(part.rises[members].mean(1).max()))
            start += len(part.rises)

    def drafts(self, order: NDArray[np.integer]) -> Iterator[Promise]:
        """The moves at these places that are allowed."""
        ends = np.cumsum([len(part.rises) for part in self.parts])
        parts = np.searchsorted(ends, order, side="right")
        starts = np.concatenate([[0], ends])[parts]
        for k, at, start in zip(order.tolist(), parts.tolist(), starts.tolist(), strict=True):
            if k not in self.made:
                self.made[k] = self._promise(self.parts[at], k - start)
            promise = self.made[k]
            if promise is not None:
                yield promise

    def _promise(self, part: Choice, k: int) -> Promise | None:
        draft = part.make(k)
        return None if draft is None else Promise(draft, part.rises[k], float(part.edits[k]), part.codes[k])


class Sort(NamedTuple):
    """Moves of one sort.

    Args:
        choices: Moves of the kind.
        members: Places of the moves in it.
        finer: Finer sort of each.
        promise: Highest rise that the gradient promises, mean of the scores.
    """

    choices: Choices
    members: NDArray[np.int64]
    finer: NDArray[np.int64]
    promise: float

    def spread(self, each: int) -> Iterator[Promise]:
        """A few moves, of the finer sorts in turn, at places all over the graph."""
        order = self.members[np.argsort(_turns(self.finer), kind="stable")]
        return islice(self.choices.drafts(order[: _LOOKS * each]), each)


def _turns(sorts: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each move, its turn when every sort has one move in each turn; later ones are far from those before."""
    turns = np.empty(len(sorts))
    for sort in np.unique(sorts):
        members = np.flatnonzero(sorts == sort)
        turns[members] = (np.arange(len(members)) * _GOLDEN) % 1.0 * len(members)
        turns[members] = np.argsort(np.argsort(turns[members]))
    return turns


Rank = Callable[[Rises, NDArray[np.float64], Codes], NDArray[np.float64]]
"""Rank of moves, lowest first, by their rises, the costs of their edits, and their sorts."""


class Listing:
    """Lists the moves of one state that should rank first.

    Args:
        ground: The state and its gradients.
    """

    def __init__(self, ground: Ground):
        self.ground, self.state, self.slopes = ground, ground.state, ground.slopes
        self.schema, self.nodes, self.number, self.admission = (
            ground.schema,
            ground.nodes,
            ground.number,
            ground.admission,
        )

    def kinds(self, largest: int | None, branches: float) -> Iterator[Choices]:
        """Moves by kind; `largest` and `branches` are as in `Moves.steps`."""
        yield self.node_changes
        yield self.edge_changes
        yield self.new_edges
        groups, of_groups = Choices(), GroupMoves(self.ground)
        for part in of_groups.choices(largest, branches):
            groups.add(part._replace(rises=bounded(part.rises)))
        yield groups

    @cached_property
    def node_changes(self) -> Choices:
        """Other attributes of nodes."""
        state, choices = self.state, Choices()
        gradients = [slope.nodes[self.nodes, 1:] for slope in self.slopes]
        rows = [state.nodes[i] for i in self.nodes.tolist()]

        def make(at: int, value: str | float, i: int, was: Attributes) -> Draft | None:
            now = (*was[:at], value, *was[at + 1 :])
            if not self.admission.changed_node(i, now):
                return None
            return Draft("change node", (i,), now, was, partial(with_node, state, i, now))

        self._attributes(choices, rows, self.schema.nodes, gradients, [(i,) for i in self.nodes.tolist()], make)
        return choices

    @cached_property
    def edge_changes(self) -> Choices:
        """Other attributes of edges, and edges that go without splitting the graph."""
        state, choices, held = self.state, Choices(), self._held
        edges = list(state.edges())
        if not edges:
            return choices
        i, j = (np.array(ends) for ends in zip(*((i, j) for i, j, _ in edges), strict=True))
        rows, places = [attributes for *_, attributes in edges], [(i, j) for i, j, _ in edges]
        gradients = [slope.pairs[i, j] for slope in self.slopes]

        def make(at: int, value: str | float, i: int, j: int, was: Attributes) -> Draft | None:
            now = (*was[:at], value, *was[at + 1 :])
            if not self.admission.changed_edge(i, j, was, now):
                return None
            return Draft("change edge", (i, j), now, was, partial(joined, state, i, j, now))

        self._attributes(choices, rows, self.schema.edges, [each[:, 1:] for each in gradients], places, make)
        encoded = encode_all(rows, self.schema.edges)
        free = [k for k, (a, b) in enumerate(places) if (state.directed and a in state.near[b]) or (a, b) not in held]
        gone = np.stack([-(each[:, 0] + (each[:, 1:] * encoded).sum(1)) for each in gradients], axis=1)[free]

        def remove(k: int) -> Draft | None:
            i, j = places[free[k]]
            if not self.admission.changed_edge(i, j, rows[free[k]], None):
                return None
            return Draft("remove edge", (i, j), None, rows[free[k]], partial(cut, state, i, j))

        codes = np.full((len(free), 2), self.number("remove edge"))
        choices.add(Choice(bounded(gone), np.ones(len(free)), codes, remove))
        return choices

    @cached_property
    def new_edges(self) -> Choices:
        """Edges between nodes that are near each other."""
        state, choices = self.state, Choices()
        near = near_pairs(state)
        for attributes in fresh_attributes(self.schema.edges, (each for *_, each in state.edges())):
            pairs = near[self.admission.may_join(near, attributes)]
            row = encode_all([attributes], self.schema.edges)[0]
            gradients = [slope.pairs[*pairs.T] for slope in self.slopes]
            rises = np.stack([each[:, 0] + each[:, 1:] @ row for each in gradients], axis=1)

            def make(k: int, attributes: Attributes = attributes, pairs: NDArray[np.int64] = pairs) -> Draft:
                i, j = pairs[k].tolist()
                return Draft("add edge", (i, j), attributes, None, partial(joined, state, i, j, attributes))

            codes = np.full((len(pairs), 2), self.number(("add edge", attributes)))
            choices.add(Choice(bounded(rises), np.ones(len(pairs)), codes, make))
        return choices

    def _attributes(
        self,
        choices: Choices,
        rows: list[Attributes],
        columns: Sequence[Column],
        gradients: Sequence[NDArray[np.float32]],
        places: Sequence[tuple[int, ...]],
        make: Callable[..., Draft | None],
    ) -> None:
        """Add every other value of every attribute of some nodes or edges; of very many attributes, the steepest."""
        ends = np.cumsum([column.width for column in columns])
        for at in steepest(columns, gradients):
            column, start = columns[at], ends[at] - columns[at].width
            part = [each[:, start : ends[at]] for each in gradients]
            others = alternatives(column, [row[at] for row in rows])
            # place x value x score: the gradient times the change of the column's entries
            rises = np.stack([np.einsum("pd,pvd->pv", each, others.changes) for each in part], axis=-1)

            def one(k: int, at: int = at, others: Alternatives = others) -> Draft | None:
                place, value = divmod(k, others.edits.shape[1])
                new = others.value(rows[place][at], value)
                return None if new is None else make(at, new, *places[place], rows[place])

            sorts = others.sorts(lambda sort, at=at: self.number((len(places[0]), at, sort)))
            choices.add(Choice(bounded(rises.reshape(-1, rises.shape[-1])), others.edits.ravel(), sorts, one))

    @cached_property
    def _held(self) -> set[Pair]:
        return bridges(self.state)


def steepest(columns: Sequence[Column], gradients: Sequence[NDArray[np.float32]]) -> list[int]:
    """Columns whose change by a unit may do most, by the gradients; all, in order, unless they are very many."""
    if len(columns) <= _MOST_COLUMNS:
        return list(range(len(columns)))
    entries = np.max([np.abs(each).max(axis=0, initial=0.0) for each in gradients], axis=0)
    starts = np.cumsum([0, *(column.width for column in columns[:-1])])
    rises = np.maximum.reduceat(entries, starts) * np.array([column.unit for column in columns])
    return sorted(np.argsort(-rises, kind="stable")[:_MOST_COLUMNS].tolist())


def bounded(rises: Rises) -> Rises:
    """Rises as far as an estimate is believed."""
    return np.asarray(rises, dtype=np.float64).clip(-_FARTHEST, _FARTHEST)
