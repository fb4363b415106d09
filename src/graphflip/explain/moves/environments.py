"""EnvironmentCounts: how often each node was seen among these neighbors, so that what an edit creates can be judged."""

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
from ...schema import Schema
from .attributes import Attributes
from .difference import Difference
from .sketch import Bond, Environment, Sketch


@dataclass(frozen=True, eq=False)
class EnvironmentCounts:
    """Counts of radius-1 environments: a node's categories with those of its edges and neighbors, in any order.

    Continuous attributes are left out.
    """

    schema: Schema
    counts: Mapping[Environment, int]

    @classmethod
    def mine(cls, dataset: GraphDataset) -> "EnvironmentCounts":
        """Count in every graph of a dataset: give its train part."""
        counts: Counter[Environment] = Counter()
        mined = cls(dataset.schema, counts)
        for k in range(len(dataset)):
            sketch = Sketch.of(dataset.graphs([k]))
            counts.update(mined._categories(sketch.environment(i)) for i in sketch.nodes)
        return mined

    def created_are_known(self, factual: Graph, counterfactual: Graph, minimum: int = 5) -> Bool[Tensor, " b"]:
        """Whether every environment that edits created was seen `minimum` times or more; graphs pairwise aligned.

        Created is what a slot's environment is now if it was another one, or if the node is new.
        """
        if self.schema != factual.schema or self.schema != counterfactual.schema:
            raise SchemaError(
                "Environments must be counted in graphs of the same schema; these differ. Count in the training data."
            )
        known = []
        for k in range(len(factual)):
            before, after = Sketch.of(factual, k), Sketch.of(counterfactual, k)
            known.append(not self.unknown(before, after, Difference.between(before, after), minimum))
        return tensor(known)

    def bonds(self, minimum: int) -> frozenset[Bond]:
        """Pairs of neighbors, with the edge between them, that occur in environments seen `minimum` times or more."""
        often = (environment for environment, count in self.counts.items() if count >= minimum)
        return frozenset((node, edge, other) for node, edges in often for _, edge, other in edges)

    def created(self, before: Sketch, after: Sketch, touched: Iterable[int]) -> list[tuple[int, Environment]]:
        """Nodes around those touched, with the environments that they have now."""
        nodes = set(touched)
        nodes |= {
            j
            for i in touched
            if after.nodes.get(i) != before.nodes.get(i) and i in after.nodes
            for j in after.around(i)
        }
        return [(i, self._categories(after.environment(i))) for i in nodes if i in after.nodes]

    def unknown(self, factual: Sketch, after: Sketch, difference: Difference, minimum: int) -> list[int]:
        """Nodes whose environment the difference created and that is rarer than `minimum`."""
        nodes = {*difference.touched, *(j for i in difference.nodes if i in after.nodes for j in after.around(i))}
        return [i for i in sorted(nodes) if i in after.nodes and not self._is_known(factual, after, i, minimum)]

    def _is_known(self, factual: Sketch, after: Sketch, i: int, minimum: int) -> bool:
        now = self._categories(after.environment(i))
        if self.counts.get(now, 0) >= minimum:
            return True
        return i in factual.nodes and self._categories(factual.environment(i)) == now

    def _categories(self, environment: Environment) -> Environment:
        """The environment without continuous attributes."""
        if not self._has_continuous:
            return environment
        (node, edges), schema = environment, self.schema
        kept = sorted((way, _kept(edge, schema.edges), _kept(other, schema.nodes)) for way, edge, other in edges)
        return _kept(node, schema.nodes), tuple(kept)

    @cached_property
    def _has_continuous(self) -> bool:
        return self.schema.has_continuous

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, the most frequent first; `from_dict` reads it back."""
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], repr(item[0])))
        return {"environments": [[node, list(edges), count] for (node, edges), count in ordered]}

    @classmethod
    def from_dict(cls, stored: Any, schema: Schema) -> "EnvironmentCounts":
        try:
            rows = stored["environments"]
            counts = {
                (
                    _label(node),
                    tuple(sorted((str(way), _label(edge), _label(other)) for way, edge, other in edges)),
                ): int(count)
                for node, edges, count in rows
            }
        except (TypeError, ValueError, KeyError) as error:
            raise DataError(
                f"Counts of environments must be lists [node, edges, count]; these are not ({error}). Count again."
            ) from error
        return cls(schema, counts)


def environment_share(known: Sequence[bool] | Bool[Tensor, " b"]) -> float:
    """Share of counterfactuals whose edits created only environments that are known; 0 if there are none."""
    claims = [bool(one) for one in known]
    return sum(claims) / len(claims) if claims else 0.0


def _kept(label: Attributes, columns: Sequence) -> Attributes:
    return tuple(value for column, value in zip(columns, label, strict=True) if not column.is_continuous)


def _label(stored: Iterable[Any]) -> Attributes:
    if isinstance(stored, str):
        raise ValueError(f"{stored!r} is no list of attributes")
    return tuple(str(value) for value in stored)
