"""Claims as JSON: part of the open format of docs/concepts/format.md."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from ...edits import Edit, apply_edits
from ...errors import DataError
from ...graph import Graph
from ...jsongraph import aligned_order
from ...schema import Op
from ..counterfactual import Counterfactual
from .importance import Importance
from .needs import Need, Smaller


def claims_to_json(explanation: Counterfactual, edits: Sequence[Edit]) -> dict[str, Any]:
    """Convert what an explanation claims, given its edits with the node numbers of the record."""
    claims: dict[str, Any] = {"one_minimal": explanation.one_minimal, "needed_for": None, "smaller": None}
    after, directed = explanation.counterfactual, explanation.factual.schema.directed
    order = range(explanation.factual.num_slots) if after is None else aligned_order(explanation.factual, after)[0]
    place = {slot: number for number, slot in enumerate(order)}
    if explanation.importance is not None:
        claims["importance"] = explanation.importance.renumbered(place, directed).to_json()
    if after is None:
        return claims
    numbers = {edit: number for number, edit in enumerate(edits)}
    if explanation.needed_for is not None:
        needs = [replace(one, edits=_renumbered(one.edits, place, directed)) for one in explanation.needed_for]
        claims["needed_for"] = [need.to_json(numbers) for need in needs]
    if explanation.smaller is not None:
        smaller = explanation.smaller
        claims["smaller"] = replace(smaller, edits=_renumbered(smaller.edits, place, directed)).to_json()
    return claims


def claims_from_json(stored: Mapping[str, Any], factual: Graph, edits: Sequence[Edit]) -> dict[str, Any]:
    """Read what `claims_to_json` writes, as arguments of a Counterfactual; raises DataError if it is wrong.

    Records without `needed_for` are from before it was said what a change is needed for: their `one_minimal` was not
    about the class, and is not taken over. Without a counterfactual there is nothing to claim but the importance.
    """
    importance = Importance.from_json(stored.get("importance"))
    if "needed_for" not in stored or stored.get("counterfactual") is None:
        return {"importance": importance}
    one_minimal, needs = stored.get("one_minimal"), stored["needed_for"]
    if one_minimal is not None and not isinstance(one_minimal, bool):
        raise DataError(f"`one_minimal` must be true, false or null; got {one_minimal!r}.")
    if needs is not None and not isinstance(needs, list):
        raise DataError(f"`needed_for` must be a list or null; got {needs!r}.")
    smaller = Smaller.from_json(stored.get("smaller"))
    if smaller is not None:
        apply_edits(factual, smaller.edits)  # raises an error that names the edit that does not fit
    needed_for = None if needs is None else tuple(Need.from_json(one, edits) for one in needs)
    return {"one_minimal": one_minimal, "needed_for": needed_for, "smaller": smaller, "importance": importance}


def _renumbered(edits: Sequence[Edit], place: Mapping[int, int], directed: bool) -> tuple[Edit, ...]:
    """The edits with other node numbers, in the order of `edits_between`; numbers without a place stay."""
    moved = []
    for edit in edits:
        at = [place.get(i, i) for i in edit.at]
        moved.append(replace(edit, at=tuple(at if directed else sorted(at))))
    return tuple(sorted(moved, key=lambda edit: (get_args(Op).index(edit.op), edit.at)))
