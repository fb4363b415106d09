"""Take back: an explanation without some of its changes, judged anew. Does the answer still hold?"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import get_args

import torch

from ..edits import Edit, Op
from ..errors import ConfigError
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from ..explain.method import verdict
from ..explain.moves.apply import apply_differences
from ..explain.moves.attributes import Attributes
from ..explain.moves.difference import Difference
from ..explain.moves.moves import Moves
from ..explain.moves.sketch import Sketch
from ..graph import Graph
from ..jsongraph import aligned_pair
from .sentences import sentences


def take_back(explainer: Explainer, found: Counterfactual, numbers: Collection[int]) -> Counterfactual:
    """The explanation without the sentences of these numbers (as `words.sentences` counts them, from 0).

    Hydrogens follow. What the classifier and the judges say is what they say of the graph that is left.
    """
    if found.counterfactual is None:
        raise ConfigError("There must be a counterfactual to take changes back from; nothing was found here.")
    factual, after = aligned_pair(found.factual, found.counterfactual)
    said = sentences(factual, after)
    wrong = [number for number in numbers if not 0 <= number < len(said)]
    if wrong:
        raise ConfigError(f"A change must be one of 0..{len(said) - 1}; got {wrong[0]}.")
    kept = [one.edits for number, one in enumerate(said) if number not in numbers]
    left = with_edits(factual, [edit for edits in kept for edit in edits], explainer.search().moves)
    return _judged(explainer, dataclasses.replace(found, factual=factual), left)


def with_edits(factual: Graph, edits: Sequence[Edit], moves: Moves) -> Graph:
    """The graph after a part of a list of edits: what hangs on an edit that is not made is not made either, and
    hydrogens are filled in. Where valences cannot be filled, the graph is as the edits leave it."""
    before = Sketch.of(factual)
    draft = before.copy()
    for edit in sorted(edits, key=lambda edit: get_args(Op).index(edit.op)):
        columns = factual.schema.nodes if edit.is_node else factual.schema.edges
        _make(draft, edit, [column.name for column in columns])
    _drop_loose(draft, before)
    heavy = set(moves.heavy(draft))
    changed = {i for i in Difference.between(before, draft).touched if i in heavy or i not in draft.nodes}
    settled = moves.settled(before, draft.branch(), changed, before)
    return apply_differences(factual, [Difference.between(before, settled or draft)])


def _make(draft: Sketch, edit: Edit, names: Sequence[str]) -> None:
    """Make an edit in place, if what it is about is there."""
    i, j = edit.at[0], edit.at[-1]
    there = i in draft.nodes and j in draft.nodes
    joined = there and not edit.is_node and j in draft.near[i]
    if edit.op == "add_node":
        draft.set_node(i, tuple(edit.after[name] for name in names))
    elif edit.op == "remove_node" and there and not draft.around(i):
        draft.remove(i)
    elif edit.op == "set_node" and there:
        draft.set_node(i, _relabeled(draft.nodes[i], edit, names))
    elif edit.op == "remove_edge" and joined:
        draft.cut(i, j)
    elif edit.op == "add_edge" and there:
        draft.join(i, j, tuple(edit.after[name] for name in names))
    elif edit.op == "set_edge" and joined:
        draft.join(i, j, _relabeled(draft.near[i][j], edit, names))


def _relabeled(label: Attributes, edit: Edit, names: Sequence[str]) -> Attributes:
    return tuple(edit.after.get(name, value) for name, value in zip(names, label, strict=True))


def _drop_loose(draft: Sketch, before: Sketch) -> None:
    """Remove nodes that hang on nothing and did not do so before."""
    alone = [i for i in draft.nodes if not draft.around(i) and (i not in before.nodes or before.around(i))]
    for i in alone if len(draft.nodes) > len(alone) else []:
        draft.remove(i)


@torch.no_grad()
def _judged(explainer: Explainer, found: Counterfactual, left: Graph) -> Counterfactual:
    """The explanation with another counterfactual, and what classifier and judges say of that."""
    whole = left.pad(explainer.kit.schema.max_nodes)
    (outcome,), probability = verdict(explainer.kit.classifier, whole, [found.target])
    changes = {"counterfactual": left, "outcome": outcome, "p_counterfactual": float(probability)}
    return explainer.assess(dataclasses.replace(found, **changes, one_minimal=None, evidence=None, note=""))
