"""EnvironmentCounts: counts of the surroundings of nodes in training graphs, to judge those that edits create."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jaxtyping import Bool
from torch import Tensor, tensor

from ...data.dataset import GraphDataset
from ...errors import DataError, SchemaError
from ...graph import Graph
from ...schema import Column, Schema
from .attributes import Attributes
from .difference import Difference
from .sketch import Bond, Environment, Sketch

USUAL_MINIMUM = 5
"""Number of times that an environment must occur in a set of thousands of graphs to be known."""


@dataclass(frozen=True, eq=False)
class EnvironmentCounts:
    """Counts of radius-1 environments: the categories of a node, of its edges, and of its neighbors, in any order.

    Continuous attributes are left out.

    Args:
        schema: Schema of the graphs.
        counts: Number of nodes with each environment in the graphs.
        minimum: Number of times that an environment must occur to be known.
    """

    schema: Schema
    counts: Mapping[Environment, int]
    minimum: int = USUAL_MINIMUM

    @classmethod
    def mine(cls, dataset: GraphDataset) -> "EnvironmentCounts":
        """Count the environments in all graphs of a dataset, which should be the train part."""
        counts: Counter[Environment] = Counter()
        mined = cls(dataset.schema, counts)
        for k in range(len(dataset)):
            sketch = Sketch.of(dataset.graphs([k]))
            counts.update(mined._categories(sketch.environment(i)) for i in sketch.nodes)
        return mined

    @cached_property
    def total(self) -> int:
        """Number of nodes that were counted."""
        return sum(self.counts.values())

    def created_are_known(
        self, factual: Graph, counterfactual: Graph, minimum: int | None = None
    ) -> Bool[Tensor, " b"]:
        """True for each pair of graphs whose edits created known environments only.

        An environment is created if the node is new, or had another environment before.

        Args:
            factual: Graphs before the edits.
            counterfactual: Graphs after the edits, aligned to the factual ones.
            minimum: Number of times that an environment must occur to be known; by default the counts' own.

        Returns:
            One truth value for each pair.

        Raises:
            SchemaError: If the graphs are of another schema than the counts.
        """
        if self.schema != factual.schema or self.schema != counterfactual.schema:
            raise SchemaError(
                "Environments must be counted in graphs of the same schema; these differ. Count in the training data."
            )
        known, minimum = [], self.minimum if minimum is None else minimum
        for k in range(len(factual)):
            before, after = Sketch.of(factual, k), Sketch.of(counterfactual, k)
            known.append(not self.unknown(before, after, Difference.between(before, after), minimum))
        return tensor(known)

    @cached_property
    def bonds(self) -> frozenset[Bond]:
        """Attributes of neighbors and of the edge between them in environments that are known."""
        often = (environment for environment, count in self.counts.items() if count >= self.minimum)
        return frozenset((node, edge, other) for node, edges in often for _, edge, other in edges)

    def created(self, before: Sketch, after: Sketch, touched: Iterable[int]) -> list[tuple[int, Environment]]:
        """Nodes whose environment may have changed, with the environments that they have now.

        These are the touched nodes and, if a node's own attributes changed, its neighbors.
        """
        nodes = set(touched)
        nodes |= {
            j
            for i in touched
            if after.nodes.get(i) != before.nodes.get(i) and i in after.nodes
            for j in after.around(i)
        }
        return [(i, self._categories(after.environment(i))) for i in nodes if i in after.nodes]

    def of(self, sketch: Sketch, i: int) -> Environment:
        """The environment of a node, without continuous attributes."""
        return self._categories(sketch.environment(i))

    def unknown(self, factual: Sketch, after: Sketch, difference: Difference, minimum: int) -> list[int]:
        """Nodes with an environment that the difference created and that occurs fewer than `minimum` times."""
        nodes = {*difference.touched, *(j for i in difference.nodes if i in after.nodes for j in after.around(i))}
        return [i for i in sorted(nodes) if i in after.nodes and not self._is_known(factual, after, i, minimum)]

    def _is_known(self, factual: Sketch, after: Sketch, i: int, minimum: int) -> bool:
        """True if a node's environment occurs `minimum` times, or is the one that it has in the factual."""
        now = self._categories(after.environment(i))
        if self.counts.get(now, 0) >= minimum:
            return True
        return i in factual.nodes and self._categories(factual.environment(i)) == now

    def _categories(self, environment: Environment) -> Environment:
        """The environment without continuous attributes."""
        if not self._has_continuous:
            return environment
        (node, edges), (of_nodes, of_edges) = environment, self._kept
        kept = sorted((way, _chosen(edge, of_edges), _chosen(other, of_nodes)) for way, edge, other in edges)
        return _chosen(node, of_nodes), tuple(kept)

    @cached_property
    def _kept(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numbers of the columns of nodes and of edges that are categories."""
        return _categorical(self.schema.nodes), _categorical(self.schema.edges)

    @cached_property
    def _has_continuous(self) -> bool:
        return self.schema.has_continuous

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, the most frequent first; `from_dict` reads it back."""
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], repr(item[0])))
        stored = {"environments": [[node, list(edges), count] for (node, edges), count in ordered]}
        return stored if self.minimum == USUAL_MINIMUM else stored | {"minimum": self.minimum}

    @classmethod
    def from_dict(cls, stored: Any, schema: Schema) -> "EnvironmentCounts":
        """Read what `to_dict` wrote for graphs of this schema; raise DataError if the form is another one."""
        try:
            rows, minimum = stored["environments"], int(stored.get("minimum", USUAL_MINIMUM))
            counts = {
                (
                    _attributes(node),
                    tuple(sorted((str(way), _attributes(edge), _attributes(other)) for way, edge, other in edges)),
                ): int(count)
                for node, edges, count in rows
            }
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DataError(
                f"Counts of environments must be lists [node, edges, count]; these are not ({error}). Count again."
            ) from error
        return cls(schema, counts, minimum)


def environment_share(known: Sequence[bool] | Bool[Tensor, " b"]) -> float:
    """Share of counterfactuals whose edits created only known environments; 0 if there are no counterfactuals."""
    claims = [bool(claim) for claim in known]
    return sum(claims) / len(claims) if claims else 0.0


def _categorical(columns: Sequence[Column]) -> tuple[int, ...]:
    return tuple(k for k, column in enumerate(columns) if not column.is_continuous)


def _chosen(attributes: Attributes, at: tuple[int, ...]) -> Attributes:
    return tuple([attributes[k] for k in at])


def _attributes(stored: Iterable[Any]) -> Attributes:
    if isinstance(stored, str):
        raise ValueError(f"{stored!r} is no list of attributes")
    return tuple(str(value) for value in stored)
