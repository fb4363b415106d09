"""Answers are told in few edits, and in such as a person would make."""

import torch

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain.edits.minimize import Minimizer
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.alignment import align
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch

from .oracles import CountsType

SCHEMA = molecule_schema(("C", "N", "O", "H"), max_nodes=20, explicit_hydrogens=True)
SINGLE = ("single",)


def beginning(smiles):
    graph, classifier = from_smiles(smiles, SCHEMA), CountsType(SCHEMA, "O", 2)
    explainer = EditSearch(classifier, Moves(SCHEMA), hydrogen_price=1.0)
    return explainer.start(graph, ClassGoal(1), classifier(graph)), Sketch.of(graph).copy()


def scored(search, sketch):
    (found,) = search.scoring.score(
        [search.neighborhood.candidate(align(search.neighborhood.factual, sketch, SCHEMA.max_nodes))]
    )
    return found


def realigned(search, sketch):
    found = scored(search, sketch)
    minimize = Minimizer(search.neighborhood, search.scoring, search.inspect, next(search.stages()))
    return found, minimize.realigned(found)


@torch.no_grad()
def test_a_group_that_moved_is_not_removed_and_built_anew():
    search, sketch = beginning("NCC(O)CC")  # the amino group at the other end
    for i in [0, *(j for j in sketch.near[0] if j > 5)]:
        sketch.remove(i)
    new = sketch.add(("N",))
    sketch.join(5, new, SINGLE)
    gone = next(j for j in sketch.near[5] if sketch.nodes[j] == ("H",))
    sketch.remove(gone)
    for at in (new, new, 1):
        sketch.join(at, sketch.add(("H",)), SINGLE)
    found, again = realigned(search, sketch)
    assert again is not None
    assert search.costs.cost(again) < search.costs.cost(found)


@torch.no_grad()
def test_no_hydrogen_of_one_atom_becomes_the_oxygen_of_another():
    search, sketch = beginning("Nc1ccncc1")  # to hydroxypyridine oxide
    at_amine = next(j for j in sketch.near[0] if sketch.nodes[j] == ("H",))
    sketch.remove(at_amine)
    sketch.set_node(0, ("O",))
    sketch.join(4, sketch.add(("O",)), SINGLE)
    found, again = realigned(search, sketch)
    assert found.heavy == 3
    assert again is None
