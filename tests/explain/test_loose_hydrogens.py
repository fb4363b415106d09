"""Graphs that are nearly molecules (an edge too many or too few) get answers, not errors."""

import pytest

from graphflip.data.molecules.molecule import from_smiles
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import load_kit
from graphflip.rivals.edge_weights import pair_list, toggled


@pytest.fixture(scope="module")
def kit():
    return load_kit("mutagenicity")


@pytest.mark.parametrize("prefer", ["minimal", "balanced"])
def test_a_molecule_with_an_edge_too_many_or_too_few_is_explained(kit, prefer):
    methanol = from_smiles("CO", kit.schema).pad(kit.schema.max_nodes)
    search = Explainer(kit).search(prefer=prefer)
    for pair in pair_list(methanol)[:8]:
        (answer,) = search.explain(toggled(methanol, [pair]), seed=0)
        assert answer.outcome
