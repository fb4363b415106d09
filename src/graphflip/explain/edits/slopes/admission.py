"""Admission: a quick test of the surroundings that a move would create, without making the move."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ....schema import Column
from ...moves.attributes import Attributes
from ...moves.fragments import Fragment
from ...moves.sketch import Environment, Sketch
from ..neighborhood import Neighborhood

Link = tuple[str, Attributes, Attributes]
"""An edge of an environment: its direction, its categories, and those of the neighbor."""


class Admission:
    """Tests moves for the environments that they create at the nodes that they act on.

    What passes may still create an unknown environment elsewhere; what does not pass creates one for sure. Graphs with
    directed edges all pass. What was found out once is kept: the same environments come again and again.

    Args:
        neighborhood: Environments that are known.
        known: True if environments must be known.
    """

    def __init__(self, neighborhood: Neighborhood, known: bool):
        self.environments = None if neighborhood.schema.directed or not known else neighborhood.environments
        self.minimum, self.own = neighborhood.minimum, neighborhood.own_environments
        self.node, self.edge = keeping(neighborhood.schema.nodes), keeping(neighborhood.schema.edges)
        self._numbers: dict[Environment, int] = {}
        self._environments: list[Environment] = []
        self._after: dict[Hashable, Environment] = {}
        self._roots: dict[Hashable, bool] = {}

    def at(self, state: Sketch) -> "StateAdmission":
        """The same for the moves of one state."""
        return StateAdmission(self, state)

    def number(self, environment: Environment) -> int:
        """Number of an environment, by which verdicts are kept."""
        if environment not in self._numbers:
            self._numbers[environment] = len(self._environments)
            self._environments.append(environment)
        return self._numbers[environment]

    def changed_node(self, i: int, here: int, now: Attributes) -> bool:
        """True if the node i, which has such an environment, may have other attributes."""
        key = here, now
        if key not in self._after:
            self._after[key] = self.node(now), self._environments[here][1]
        return self._knows(i, self._after[key])

    def swapped(self, i: int, here: int, gone: Link | None, come: Link | None) -> bool:
        """True if the node i, which has such an environment, may have one edge instead of another."""
        key = here, gone, come
        if key not in self._after:
            node, links = self._environments[here]
            left = list(links)
            if gone is not None:
                left.remove(gone)
            self._after[key] = node, tuple(sorted([*left, *([] if come is None else [come])]))
        return self._knows(i, self._after[key])

    def hung(self, i: int, here: int, fragment: Fragment, gone: Link | None) -> bool:
        """True if the node i, which has such an environment, may have a group in the place of an edge that goes."""
        link, root = self.edge(fragment.link), self.node(fragment.nodes[0])
        key = self._environments[here][0], id(fragment)  # vocabularies live longer than searches
        if key not in self._roots:
            inner = [
                ("", self.edge(edge), self.node(fragment.nodes[i + j])) for i, j, edge in fragment.edges if 0 in (i, j)
            ]
            self._roots[key] = self._knows(-1, (root, tuple(sorted([("", link, key[0]), *inner]))))
        return self._roots[key] and self.swapped(i, here, gone, ("", link, root))

    def _knows(self, i: int, environment: Environment) -> bool:
        assert self.environments is not None
        return self.environments.counts.get(environment, 0) >= self.minimum or self.own.get(i) == environment


class StateAdmission:
    """Tests the moves of one state, see `Admission`."""

    def __init__(self, by: Admission, state: Sketch):
        self.by, self.state, self.passes = by, state, by.environments is None
        self._here: dict[int, int] = {}

    def changed_node(self, i: int, now: Attributes) -> bool:
        """True if a node may have other attributes."""
        if self.passes:
            return True
        was, new = (self.by.node(each) for each in (self.state.nodes[i], now))
        if was == new or not self.by.changed_node(i, self._environment(i), now):
            return was == new
        links = ((j, self.by.edge(edge)) for j, edge in self.state.near[i].items())
        return all(self._swap(j, ("", edge, was), ("", edge, new)) for j, edge in links)

    def changed_edge(self, i: int, j: int, was: Attributes | None, now: Attributes | None) -> bool:
        """True if an edge may have other attributes, come or go."""
        if self.passes:
            return True
        ends = [self.by.node(self.state.nodes[k]) for k in (i, j)]
        old, new = (None if each is None else self.by.edge(each) for each in (was, now))
        return old == new or all(
            self._swap(k, *(None if each is None else ("", each, other) for each in (old, new)))
            for k, other in ((i, ends[1]), (j, ends[0]))
        )

    def may_join(self, pairs: NDArray[np.int64], attributes: Attributes) -> NDArray[np.bool_]:
        """For each pair of nodes without an edge, `changed_edge` of one with these attributes that comes.

        Each node is asked once about an edge to each kind of node.
        """
        if self.passes or not len(pairs):
            return np.ones(len(pairs), dtype=bool)
        edge, kinds = self.by.edge(attributes), {}
        numbers = {i: kinds.setdefault(self.by.node(node), len(kinds)) for i, node in self.state.nodes.items()}
        allowed = np.zeros((max(numbers) + 1, len(kinds)), dtype=bool)
        for i in numbers:
            allowed[i] = [self._swap(i, None, ("", edge, kind)) for kind in kinds]
        kind_of = np.zeros(len(allowed), dtype=np.int64)
        kind_of[list(numbers)] = list(numbers.values())
        i, j = pairs.T
        return allowed[i, kind_of[j]] & allowed[j, kind_of[i]]

    def hung(self, anchor: int, fragment: Fragment | None, root: int | None = None) -> bool:
        """True if a node may have a group hung on it, or the group of a root taken away, or both."""
        if self.passes:
            return True
        here, gone = self._environment(anchor), None
        if root is not None:
            link, node = self.state.near[anchor][root], self.state.nodes[root]
            gone = "", self.by.edge(link), self.by.node(node)
        if fragment is None:
            return self.by.swapped(anchor, here, gone, None)
        return self.by.hung(anchor, here, fragment, gone)

    def _swap(self, i: int, gone: Link | None, come: Link | None) -> bool:
        return self.by.swapped(i, self._environment(i), gone, come)

    def _environment(self, i: int) -> int:
        """Number of a node's environment."""
        if i not in self._here:
            assert self.by.environments is not None
            self._here[i] = self.by.number(self.by.environments.of(self.state, i))
        return self._here[i]


def keeping(columns: Sequence[Column]) -> Callable[[Attributes], Attributes]:
    """A function from attributes to those that are categories."""
    places = [at for at, column in enumerate(columns) if not column.is_continuous]
    if len(places) == len(columns):
        return lambda attributes: attributes
    return lambda attributes: tuple(attributes[at] for at in places)
