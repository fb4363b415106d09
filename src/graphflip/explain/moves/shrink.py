"""Shrink: the graphs in which one change of a continuous attribute is made smaller."""

from collections.abc import Iterator, Sequence

from ...schema import Column, Continuous, Schema
from .attributes import Attributes, has_continuous, tidy
from .sketch import Sketch

_SHARES = (0.5, 0.25, 0.125)
_LEAST = 1 / 20  # of a scale: changes are not measured more finely


def shrunk(factual: Sketch, after: Sketch, schema: Schema) -> Iterator[Sketch]:
    """Each graph in which one continuous attribute has come a share of the way back to what it is in the factual."""
    if not has_continuous(schema):
        return
    for i, label in after.nodes.items():
        for closer in _closer(factual.nodes.get(i), label, schema.nodes):
            draft = after.copy()
            draft.set_node(i, closer)
            yield draft
    for i, j, label in after.edges():
        for closer in _closer(factual.near.get(i, {}).get(j), label, schema.edges):
            draft = after.copy()
            draft.join(i, j, closer)
            yield draft


def _closer(was: Attributes | None, now: Attributes, columns: Sequence[Column]) -> Iterator[Attributes]:
    if was is None or was == now:
        return
    for at, column in enumerate(columns):
        if isinstance(column, Continuous):
            gap = float(was[at]) - float(now[at])
            for share in _SHARES:
                if abs(gap) * share >= _LEAST * column.scale:
                    yield (*now[:at], tidy(float(now[at]) + share * gap, column), *now[at + 1 :])
