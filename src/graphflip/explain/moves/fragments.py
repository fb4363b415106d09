"""FragmentVocabulary: groups that hang on one edge, as they occur in training graphs: nitro, amino, methoxy …"""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...data.dataset import GraphDataset
from ...errors import ConfigError, DataError
from ...schema import Schema, first_problem
from .attributes import Attributes, fresh_labels, is_typical, typical
from .sketch import Sketch
from .valence import Valence


class Fragment(BaseModel):
    """A group of nodes: `edges` are between them, node 0 is joined to the rest of a graph by an edge labelled `link`.

    Hydrogens that only fill valences are left out: they follow from the bonds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    nodes: tuple[Attributes, ...]
    edges: tuple[tuple[int, int, Attributes], ...]
    link: Attributes
    count: int = 0


class FragmentVocabulary(BaseModel):
    """Fragments by falling count: what may take the place of another group.

    `max_nodes` is the size of the largest group, hydrogens not counted, that a move takes away.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    fragments: tuple[Fragment, ...] = ()
    max_nodes: int = Field(default=1, gt=0)

    @classmethod
    def of_single_nodes(cls, schema: Schema, like: Sketch) -> "FragmentVocabulary":
        """One node of any label on an edge of any label, or where there are too many labels of those that a graph has:
        what there is without training graphs."""
        nodes = fresh_labels(schema.nodes, like.nodes.values())
        heavy = [label for label in nodes if schema.chemistry is None or "H" not in label]
        links = fresh_labels(schema.edges, (label for *_, label in like.edges()))
        return cls(fragments=tuple(Fragment(nodes=(node,), edges=(), link=link) for node in heavy for link in links))

    @classmethod
    def mine(cls, dataset: GraphDataset, max_nodes: int = 4, minimum: int = 20, size: int = 40) -> "FragmentVocabulary":
        """The `size` most frequent groups of at most `max_nodes` nodes, `minimum` times or more in the graphs.

        Give the train part of a dataset. Continuous attributes are taken at the schema's mean.
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
        valence = Valence(dataset.schema, dataset.schema.chemistry) if dataset.schema.chemistry else None
        counts: Counter[Fragment] = Counter()
        known: dict[Fragment, Fragment] = {}
        for k in range(len(dataset)):
            sketch = Sketch.of(dataset.graphs([k]))
            heavy = valence.heavy(sketch) if valence else list(sketch.nodes)
            for anchor, root, members in groups(sketch, heavy, max_nodes):
                found = _cut_out(sketch, anchor, root, members, dataset.schema)
                if found not in known:
                    known[found] = _canonical(found)
                counts[known[found]] += 1
        frequent = sorted((-count, repr(one), one) for one, count in counts.items() if count >= minimum)[:size]
        return cls(
            fragments=tuple(one.model_copy(update={"count": -count}) for count, _, one in frequent),
            max_nodes=max_nodes,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; `from_dict` reads it back."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: Any, schema: Schema) -> "FragmentVocabulary":
        """Read what `to_dict` wrote; every label must be one of the schema's."""
        try:
            vocabulary = cls.model_validate(stored)
        except ValidationError as error:
            raise DataError(f"This is no vocabulary of fragments: {first_problem(error)}. Mine it again.") from error
        for one in vocabulary.fragments:
            links = (one.link, *(label for *_, label in one.edges))
            known = all(is_typical(label, schema.nodes) for label in one.nodes)
            known = known and all(is_typical(label, schema.edges) for label in links)
            if not one.nodes or not known or any(not 0 <= i < j < len(one.nodes) for i, j, _ in one.edges):
                raise DataError(f"A fragment must have labels of the schema; got {one!r}. Mine it from this data.")
        return vocabulary


def groups(sketch: Sketch, heavy: list[int], max_nodes: int) -> Iterator[tuple[int, int, set[int]]]:
    """Every group of at most `max_nodes` heavy nodes on one edge: the node it hangs on, its root, its heavy nodes."""
    inside = set(heavy)
    for anchor in heavy:
        for root in sketch.around(anchor):
            if root in inside:
                members = _side(sketch, inside, anchor, root, max_nodes)
                if members is not None:
                    yield anchor, root, members


def _side(sketch: Sketch, inside: set[int], anchor: int, root: int, limit: int) -> set[int] | None:
    """Nodes on the root's side of an edge; None if they are too many, or if the edge is in a ring."""
    seen, todo = {root}, [root]
    while todo:
        i = todo.pop()
        for j in sketch.around(i):
            if j == anchor and i != root:
                return None
            if j != anchor and j in inside and j not in seen:
                seen.add(j)
                todo.append(j)
        if len(seen) > limit:
            return None
    return seen


def _cut_out(sketch: Sketch, anchor: int, root: int, members: set[int], schema: Schema) -> Fragment:
    order = [root, *sorted(members - {root})]
    number = {i: k for k, i in enumerate(order)}
    edges = [
        (number[i], number[j], typical(label, schema.edges))
        for i in order
        for j, label in sketch.near[i].items()
        if j in number and number[i] < number[j]
    ]
    return Fragment(
        nodes=tuple(typical(sketch.nodes[i], schema.nodes) for i in order),
        edges=tuple(sorted(edges)),
        link=typical(sketch.near[anchor][root], schema.edges),
    )


def _canonical(fragment: Fragment) -> Fragment:
    """The same group with its nodes, but for the root, in the order that reads first."""
    forms = []
    for rest in permutations(range(1, len(fragment.nodes))):
        order = (0, *rest)
        number = {i: k for k, i in enumerate(order)}
        edges = [(*sorted((number[i], number[j])), label) for i, j, label in fragment.edges]
        forms.append((tuple(fragment.nodes[i] for i in order), tuple(sorted(edges))))
    nodes, edges = min(forms)
    return Fragment(nodes=nodes, edges=edges, link=fragment.link)
