"""Types of what `Explainer.explain` takes, so that editors complete and check its keywords."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, Required, runtime_checkable

from ..data.inputs import InputRow
from ..graph import Graph
from .edits.beam import Round
from .query import CommonOptions, Query, QueryOptions


@runtime_checkable
class MoleculeLike(Protocol):
    """An RDKit molecule."""

    def GetAtoms(self) -> Any:
        """Its atoms."""
        ...


@runtime_checkable
class GraphDataLike(Protocol):
    """A PyG Data object."""

    edge_index: Any


Input = Graph | str | MoleculeLike | GraphDataLike | InputRow
"""One thing to explain: a Graph, a SMILES text, an RDKit molecule, a PyG Data object, or a row of a file."""

Watch = Callable[[Round], None]
"""Called after every round of a search; what it raises ends the search."""


class OneAnswer(CommonOptions, total=False):
    """Keywords of `Explainer.explain` that ask for one answer to each input."""

    num: Literal[1]
    frontier: Literal[False]
    ids: Sequence[str]
    watch: Watch


class SeveralAnswers(QueryOptions, total=False):
    """Keywords of `Explainer.explain` that may ask for several answers to each input."""

    ids: Sequence[str]
    watch: Watch


class PreparedQuestion(SeveralAnswers):
    """Keywords of `Explainer.explain` with a query that was made before."""

    query: Required[Query]
