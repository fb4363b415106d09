"""FragmentVocabulary: groups attached by one edge that occur in training graphs, such as nitro, amino, methoxy."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import permutations
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...data.dataset import GraphDataset
from ...errors import ConfigError, DataError
from ...schema import Schema, first_problem
from .atoms.choice import rules_of
from .atoms.rules import AbstractRules
from .attributes import Attributes, fresh_attributes, is_typical, typical
from .sketch import Sketch


class Fragment(BaseModel):
    """A group of nodes that is attached to the rest of a graph by one edge.

    Hydrogens that only fill valences are left out: they follow from the bonds.

    Args:
        nodes: Attributes of the nodes; the first is the root, by which the group is attached.
        edges: Edges between the nodes: two indices, the smaller one first, and attributes.
        link: Attributes of the edge between the root and the rest of the graph.
        count: Number of times that the group occurs in the training graphs; 0 if it was not counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    nodes: tuple[Attributes, ...]
    edges: tuple[tuple[int, int, Attributes], ...]
    link: Attributes
    count: int = 0

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.nodes, self.edges, self.link))


class FragmentVocabulary(BaseModel):
    """Groups of nodes that moves add and put in the place of others.

    Args:
        fragments: The groups, the most frequent first.
        max_nodes: Nodes of the largest group that a move removes or replaces, at least 1, hydrogens not counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    fragments: tuple[Fragment, ...] = ()
    max_nodes: int = Field(default=1, gt=0)

    @classmethod
    def of_single_nodes(cls, schema: Schema, like: Sketch) -> "FragmentVocabulary":
        """Single nodes with any attributes, on links with any; for searches without training graphs.

        If the schema has too many combinations of attributes, they are those that occur in the sketch `like`.
        """
        nodes = rules_of(schema).fresh(like.nodes.values())
        links = fresh_attributes(schema.edges, (attributes for *_, attributes in like.edges()))
        return cls(fragments=tuple(Fragment(nodes=(node,), edges=(), link=link) for node in nodes for link in links))

    @classmethod
    def mine(cls, dataset: GraphDataset, max_nodes: int = 4, minimum: int = 20, size: int = 40) -> "FragmentVocabulary":
        """Collect the most frequent groups of a dataset; continuous attributes are set to the schema's mean.

        Args:
            dataset: The train part of a dataset of undirected graphs.
            max_nodes: Nodes of the largest group, hydrogens not counted.
            minimum: Number of times that a group must occur.
            size: Largest number of groups.

        Raises:
            ConfigError: If a number is below 1.
            DataError: If the graphs are directed.
        """
        if min(max_nodes, minimum, size) < 1:
            raise ConfigError(
                f"`max_nodes`, `minimum` and `size` must be at least 1; got {max_nodes}, {minimum} and {size}."
            )
        if dataset.schema.directed:
            raise DataError(
                f"{dataset.name}: groups are mined from undirected graphs; these are directed. "
                "Leave the vocabulary out: single nodes are added all the same."
            )
        counts = _count_groups(dataset, max_nodes)
        frequent = sorted((-count, repr(group), group) for group, count in counts.items() if count >= minimum)[:size]
        fragments = tuple(group.model_copy(update={"count": -count}) for count, _, group in frequent)
        return cls(fragments=fragments, max_nodes=max_nodes)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; `from_dict` reads it back."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: Any, schema: Schema) -> "FragmentVocabulary":
        """Read what `to_dict` wrote; raise DataError if the form is another one or attributes are not the schema's."""
        try:
            vocabulary = cls.model_validate(stored)
        except ValidationError as error:
            raise DataError(f"This is no vocabulary of fragments: {first_problem(error)}. Mine it again.") from error
        for fragment in vocabulary.fragments:
            if not _fits(fragment, schema):
                raise DataError(
                    f"A fragment must have attributes of the schema; got {fragment!r}. Mine it from this data."
                )
        return vocabulary


def groups(sketch: Sketch, heavy: list[int], max_nodes: int) -> Iterator[tuple[int, int, set[int]]]:
    """Yield every group of at most `max_nodes` heavy nodes that is attached by one edge.

    Each comes as the node that it is attached to, its root, and its heavy nodes.
    """
    inside = set(heavy)
    for anchor in heavy:
        for root in sketch.around(anchor):
            if root in inside:
                members = _side(sketch, inside, anchor, root, max_nodes)
                if members is not None:
                    yield anchor, root, members


def _side(sketch: Sketch, inside: set[int], anchor: int, root: int, limit: int) -> set[int] | None:
    """Heavy nodes on the root's side of an edge; None if they are more than `limit`, or if the edge is in a ring."""
    seen, todo = {root}, [root]
    while todo:
        i = todo.pop()
        for j in sketch.around(i):
            if j == anchor and i != root:
                return None
            if j != anchor and j in inside and j not in seen:
                seen.add(j)
                todo.append(j)
                if len(seen) > limit:  # checked here: a hub may have hundreds of neighbors
                    return None
    return seen


def _count_groups(dataset: GraphDataset, max_nodes: int) -> Counter[Fragment]:
    """Number of times that each group occurs in the graphs, in whatever order its nodes stand there."""
    schema = dataset.schema
    rules = rules_of(schema)
    counts: Counter[Fragment] = Counter()
    canonical: dict[Fragment, Fragment] = {}
    for k in range(len(dataset)):
        sketch = Sketch.of(dataset.graphs([k]))
        for anchor, root, members in groups(sketch, rules.heavy(sketch), max_nodes):
            fragment = _cut_out(sketch, anchor, root, members, schema, rules)
            if fragment is None:
                continue
            if fragment not in canonical:
                canonical[fragment] = _canonical(fragment)
            counts[canonical[fragment]] += 1
    return counts


def _fits(fragment: Fragment, schema: Schema) -> bool:
    """True if a fragment has nodes, all attributes are among the schema's, and edges join two of its nodes."""
    links = (fragment.link, *(attributes for *_, attributes in fragment.edges))
    known = all(is_typical(attributes, schema.nodes) for attributes in fragment.nodes)
    known = known and all(is_typical(attributes, schema.edges) for attributes in links)
    return bool(fragment.nodes) and known and all(0 <= i < j < len(fragment.nodes) for i, j, _ in fragment.edges)


def _cut_out(
    sketch: Sketch, anchor: int, root: int, members: set[int], schema: Schema, rules: AbstractRules
) -> Fragment | None:
    """A group as a fragment; None if it has nodes that may not be created."""
    order = [root, *sorted(members - {root})]
    number = {i: k for k, i in enumerate(order)}
    edges = [
        (number[i], number[j], typical(attributes, schema.edges))
        for i in order
        for j, attributes in sketch.near[i].items()
        if j in number and number[i] < number[j]
    ]
    nodes = [rules.as_new(typical(sketch.nodes[i], schema.nodes), sketch, i) for i in order]
    if None in nodes:
        return None
    return Fragment(
        nodes=tuple(node for node in nodes if node is not None),
        edges=tuple(sorted(edges)),
        link=typical(sketch.near[anchor][root], schema.edges),
    )


def _canonical(fragment: Fragment) -> Fragment:
    """The same group with its nodes, after the root, in the order that sorts first."""
    forms = []
    for rest in permutations(range(1, len(fragment.nodes))):
        order = (0, *rest)
        number = {i: k for k, i in enumerate(order)}
        edges = [(*sorted((number[i], number[j])), attributes) for i, j, attributes in fragment.edges]
        forms.append((tuple(fragment.nodes[i] for i in order), tuple(sorted(edges))))
    nodes, edges = min(forms)
    return Fragment(nodes=nodes, edges=edges, link=fragment.link)
