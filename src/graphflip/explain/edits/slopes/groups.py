"""Moves of whole groups with estimates: groups that come, go, or take the place of others."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....schema import Column
from ...moves.attributes import Attributes
from ...moves.connectivity import neighbors
from ...moves.draft import Draft, Once, copy_of, with_group, with_leaf, with_other_group
from ...moves.fragments import Fragment, groups
from ...moves.sketch import Pair, Sketch
from .encode import encode_all
from .ground import Ground
from .residuals import Codes


class Choice(NamedTuple):
    """Moves of a kind as arrays.

    Args:
        rises: Rises of the scores, a row for each move: by the classifier, by the surrogates.
        edits: Costs of their edits.
        codes: Their sorts and finer sorts.
        make: Makes the draft of the k-th of them; None if it is not allowed.
    """

    rises: NDArray[np.float64]
    edits: NDArray[np.float64]
    codes: Codes
    make: Callable[[int], Draft | None]


# Nodes like the root of a group by which the effect of joining such a node is estimated.
_ALIKE = 24

# Nodes of the largest branch that goes at once.
_LARGEST_BRANCH = 8


class _Hanging(NamedTuple):
    """A group that hangs on a node by one edge: the node, the group's root, and its nodes."""

    anchor: int
    root: int
    members: set[int]


class GroupMoves:
    """Moves of groups of one state.

    A node that is not there yet has no gradient. What joining it does is taken from nodes like it that are there: the
    mean gradient of an edge to them, and of their being there.

    Args:
        ground: The state, its gradients, and the tests of its moves.
    """

    def __init__(self, ground: Ground):
        self.moves, self.factual, self.state = ground.moves, ground.factual, ground.state
        self.slopes, self.number, self.admission = ground.slopes, ground.number, ground.admission
        self.schema, self.around = ground.schema, neighbors(ground.state)
        self.nodes = ground.nodes
        self.by_kind: dict[Attributes, list[int]] = {}
        for i, attributes in self.state.nodes.items():
            self.by_kind.setdefault(_categories(attributes, self.schema.nodes), []).append(i)

    def choices(self, largest: int | None, branches: float) -> Iterator[Choice]:
        """All kinds of moves; `largest` and `branches` are as in `Moves.steps`."""
        fragments = self.moves.fragments(self.factual, largest)
        hung = self._hung(fragments)
        yield from self._added(fragments, hung)
        if self.schema.directed:
            leaves = [i for i, near in self.around.items() if len(near) <= 1 and len(self.nodes) > 1]
            yield self._removed([_Hanging(i, i, {i}) for i in leaves])
            return
        most = max(self.moves.vocabulary.max_nodes, min(int(branches * len(self.nodes)), _LARGEST_BRANCH))
        hanging = [_Hanging(*group) for group in groups(self.state, self.nodes.tolist(), most)]
        hanging += [_Hanging(-1, min(part), part) for part in self._small_parts()]
        yield self._removed(hanging)
        small = [one for one in hanging if one.anchor >= 0 and len(one.members) <= self.moves.vocabulary.max_nodes]
        yield self._replaced(small, fragments, hung)

    def _hung(self, fragments: Sequence[Fragment]) -> NDArray[np.float64]:
        """Rises by hanging each group on each node: node x group x score."""
        known: dict[tuple[Attributes, Attributes], NDArray[np.float64]] = {}
        presence: dict[Attributes, NDArray[np.float64]] = {}
        columns = []
        for fragment in fragments:
            root = _categories(fragment.nodes[0], self.schema.nodes)
            if (root, fragment.link) not in known:
                known[root, fragment.link] = self._joined_to(root, fragment.link)
            for node in fragment.nodes:
                if node not in presence:
                    presence[node] = self._there(node)
            columns.append(known[root, fragment.link] + sum(presence[node] for node in fragment.nodes))
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.nodes), 0, len(self.slopes)))

    def _joined_to(self, kind: Attributes, link: Attributes) -> NDArray[np.float64]:
        """Rises by an edge from each node to one of a kind, on average: node x score."""
        alike = self.by_kind.get(kind, [])[:_ALIKE]
        if not alike:
            return np.zeros((len(self.nodes), len(self.slopes)))
        row = encode_all([link], self.schema.edges)[0]
        rises = [slope.pairs[self.nodes[:, None], alike] for slope in self.slopes]  # node x alike x (1 + de)
        return np.stack([(each[..., 0] + each[..., 1:] @ row).mean(1) for each in rises], axis=1)

    def _there(self, node: Attributes) -> NDArray[np.float64]:
        """Rises by the existence of a node, as that of nodes like it."""
        alike = self.by_kind.get(_categories(node, self.schema.nodes), [])[:_ALIKE]
        row = encode_all([node], self.schema.nodes)[0]
        if not alike:
            return np.zeros(len(self.slopes))
        return np.array([float((slope.nodes[alike, 0] + slope.nodes[alike, 1:] @ row).mean()) for slope in self.slopes])

    def _added(self, fragments: Sequence[Fragment], hung: NDArray[np.float64]) -> Iterator[Choice]:
        edits = np.array([float(len(each.nodes) + len(each.edges) + 1) for each in fragments])
        state, count = self.state, len(fragments)
        flat, costs = hung.reshape(-1, hung.shape[-1]), np.tile(edits, len(self.nodes))
        sorts = np.array([self.number(("add group", fragment)) for fragment in fragments], dtype=np.int64)
        codes = np.tile(sorts, len(self.nodes))[:, None].repeat(2, 1)
        if not count:
            return

        def add(k: int) -> Draft | None:
            i, fragment = int(self.nodes[k // count]), fragments[k % count]
            if not self.admission.hung(i, fragment):
                return None
            return Draft("add group", (i,), fragment, None, partial(with_group, state, i, fragment))

        def leaf(k: int, outwards: bool) -> Draft:
            i, fragment = int(self.nodes[k // count]), fragments[k % count]
            return Draft(
                "add group", (i,), (fragment, outwards), None, partial(with_leaf, state, i, (fragment, outwards))
            )

        if self.schema.directed:
            for outwards in (True, False):
                yield Choice(flat, costs, codes, partial(leaf, outwards=outwards))
        else:
            yield Choice(flat, costs, codes, add)

    def _removed(self, hanging: Sequence[_Hanging]) -> Choice:
        state = self.state

        def remove(k: int) -> Draft | None:
            one = hanging[k]
            if one.anchor >= 0 and one.anchor != one.root and not self.admission.hung(one.anchor, None, one.root):
                return None
            changed = one.members if one.anchor in one.members or one.anchor < 0 else {one.anchor, *one.members}
            build = partial(copy_of, Once(partial(without, state, one.members)), changed)
            gone = tuple(sorted(state.nodes[i] for i in one.members))
            if one.anchor < 0:
                return Draft("remove part", tuple(sorted(one.members)), None, gone, build)
            if one.anchor == one.root:
                return Draft("remove group", (one.root,), None, state.nodes[one.root], build)
            return Draft("remove group", one[:2], None, (state.near[one.anchor][one.root], gone), build)

        sizes = [self.number(("remove group", min(len(one.members), 4))) for one in hanging]
        codes = np.array(sizes, dtype=np.int64)[:, None].repeat(2, 1)
        return Choice(*self._gone(hanging), codes, remove)

    def _replaced(
        self, hanging: Sequence[_Hanging], fragments: Sequence[Fragment], hung: NDArray[np.float64]
    ) -> Choice:
        """Each group with others in its place."""
        state, row = self.state, {i: k for k, i in enumerate(self.nodes.tolist())}
        removed, costs = self._gone(hanging)
        anchors = np.array([row[one.anchor] for one in hanging], dtype=np.int64)
        sizes = np.array([len(each.nodes) + len(each.edges) + 1.0 for each in fragments])
        rises = removed[:, None] + hung[anchors]  # group x fragment x score
        edits = np.maximum(costs[:, None], sizes)

        def replace(k: int) -> Draft | None:
            one, fragment = hanging[k // len(fragments)], fragments[k % len(fragments)]
            link = state.near[one.anchor][one.root]
            if len(one.members) == len(fragment.nodes) == 1 and fragment.link == link:
                return None  # the same as other attributes for the node
            if not self.admission.hung(one.anchor, fragment, one.root):
                return None
            bare = Once(partial(without, state, one.members))
            gone = (link, tuple(sorted(state.nodes[i] for i in one.members)))
            build = partial(with_other_group, bare, one.anchor, one.members, fragment)
            return Draft("replace group", one[:2], fragment, gone, build)

        sorts = np.array([self.number(("replace group", fragment)) for fragment in fragments], dtype=np.int64)
        codes = np.tile(sorts, len(hanging))[:, None].repeat(2, 1)
        return Choice(rises.reshape(-1, len(self.slopes)), edits.ravel(), codes, replace)

    def _gone(self, hanging: Sequence[_Hanging]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rises by the removal of groups, and costs."""
        rises, edits = np.zeros((len(hanging), len(self.slopes))), np.zeros(len(hanging))
        nodes, edges = self._presence
        for k, one in enumerate(hanging):
            ends = {(i, j) if i < j else (j, i) for i in one.members for j in self.around[i]}
            rises[k] = -sum(nodes[i] for i in one.members) - sum(edges[pair] for pair in ends)
            edits[k] = len(one.members) + len(ends)
        return rises, edits

    @cached_property
    def _presence(self) -> tuple[dict[int, NDArray[np.float64]], dict[Pair, NDArray[np.float64]]]:
        """Rises by every node and every edge that is there; edges by their ends, the lower one first."""
        state, schema = self.state, self.schema
        V = encode_all(list(state.nodes.values()), schema.nodes)
        nodes = np.stack([s.nodes[self.nodes, 0] + (s.nodes[self.nodes, 1:] * V).sum(1) for s in self.slopes], 1)
        edges = list(state.edges())
        if not edges:
            return dict(zip(state.nodes, nodes, strict=True)), {}
        i, j = np.array([each[:2] for each in edges]).T
        E = encode_all([attributes for *_, attributes in edges], schema.edges)
        joined = np.stack([s.pairs[i, j, 0] + (s.pairs[i, j, 1:] * E).sum(1) for s in self.slopes], 1)
        rises: dict[Pair, NDArray[np.float64]] = {}
        for (a, b, _), rise in zip(edges, joined, strict=True):
            pair = min(a, b), max(a, b)
            rises[pair] = rises[pair] + rise if pair in rises else rise
        return dict(zip(state.nodes, nodes, strict=True)), rises

    def _small_parts(self) -> list[set[int]]:
        """Connected components that a move may remove; none if the graph is connected."""
        parts = self.state.parts()
        return [part for part in parts if len(parts) > 1 and len(part) <= self.moves.vocabulary.max_nodes]


def without(state: Sketch, members: set[int]) -> Sketch:
    """A copy of a sketch without some nodes."""
    draft = state.copy()
    for i in members:
        draft.remove(i)
    return draft


def _categories(attributes: Attributes, columns: Sequence[Column]) -> Attributes:
    return tuple(value for column, value in zip(columns, attributes, strict=True) if not column.is_continuous)
