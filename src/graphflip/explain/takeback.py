"""Take back: an explanation without some of its changes, judged anew. Does the answer still hold?"""

import dataclasses
from collections.abc import Collection, Iterable, Sequence

import torch

from ..edits import Edit
from ..errors import ConfigError, GraphError
from ..graph import Graph
from ..jsongraph import aligned_pair
from .explainer import Counterfactual, verdict
from .interface import Explainer
from .moves import Moves
from .sketch import Difference, Sketch, drawn
from .words import sentences


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
    return _judged(explainer, dataclasses.replace(found, factual=factual, counterfactual=left))


def with_edits(factual: Graph, edits: Sequence[Edit], moves: Moves) -> Graph:
    """The graph after a part of a list of edits: what hangs on an edit that is not made is not made either, and
    hydrogens are filled in. Raises GraphError if no valid graph comes of it."""
    before = Sketch.of(factual)
    draft = before.copy()
    columns = {True: factual.schema.nodes, False: factual.schema.edges}
    rank = ("remove_edge", "remove_node", "add_node", "set_node", "add_edge", "set_edge").index
    for edit in sorted(edits, key=lambda edit: rank(edit.op)):
        _make(draft, edit, [column.name for column in columns[edit.is_node]])
    changed = {
        i for i in Difference.between(before, draft).touched if i in set(moves.heavy(draft)) or i not in draft.nodes
    }
    _drop_loose(draft, before, moves)
    settled = moves.settled(before, draft, changed, before)
    if settled is None:
        raise GraphError("What is left must be a valid graph; without this change it is none. Take back another one.")
    return drawn(factual, [Difference.between(before, settled)])


def _make(draft: Sketch, edit: Edit, names: Iterable[str]) -> None:
    """Make an edit in place, if what it is about is there."""
    i, j = edit.at[0], edit.at[-1]
    there = i in draft.nodes and j in draft.nodes
    joined = there and not edit.is_node and j in draft.near[i]
    if edit.op == "add_node":
        draft.nodes[i], draft.near[i] = tuple(edit.after[name] for name in names), {}
    elif edit.op == "remove_node" and there and not draft.around(i):
        draft.remove(i)
    elif edit.op == "set_node" and there:
        draft.nodes[i] = _relabeled(draft.nodes[i], edit, names)
    elif edit.op == "remove_edge" and joined:
        draft.cut(i, j)
    elif edit.op == "add_edge" and there:
        draft.join(i, j, tuple(edit.after[name] for name in names))
    elif edit.op == "set_edge" and joined:
        draft.join(i, j, _relabeled(draft.near[i][j], edit, names))


def _relabeled(label: tuple, edit: Edit, names: Iterable[str]) -> tuple:
    return tuple(edit.after.get(name, value) for name, value in zip(names, label, strict=True))


def _drop_loose(draft: Sketch, before: Sketch, moves: Moves) -> None:
    """Remove nodes that hang on nothing and did not do so before."""
    alone = [i for i in draft.nodes if not draft.around(i) and (i not in before.nodes or before.around(i))]
    for i in alone if len(draft.nodes) > 1 else []:
        draft.remove(i)


@torch.no_grad()
def _judged(explainer: Explainer, found: Counterfactual) -> Counterfactual:
    graph = found.counterfactual
    if graph is None:
        return found
    whole = graph.pad(explainer.kit.schema.max_nodes)
    (outcome,), probability = verdict(explainer.kit.classifier, whole, [found.target])
    judged = dataclasses.replace(
        found, outcome=outcome, p_counterfactual=float(probability), one_minimal=None, evidence=None, note=""
    )
    return explainer.assess(judged)
