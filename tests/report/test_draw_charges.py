"""Drawings of molecules with stored charges, up to the size of drugs."""

import numpy as np
import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.data.molecules.molecule import drug_schema, from_smiles
from graphflip.report.draw.depiction import num_faults
from graphflip.report.draw.layout import place
from graphflip.report.draw.pictures import draw_graph, draw_pair
from graphflip.report.draw.scene import Text

from .pairs import CHARGED, molecule_pair


def texts(picture) -> list[str]:
    return [shape.text for one in picture.scene.elements for shape in one.shapes if _is_label(shape)]


def _is_label(shape) -> bool:
    return isinstance(shape, Text) and shape.style == "label"


def marks(picture) -> dict:
    return {element.key: element.mark for element in picture.scene.elements if element.mark}


@pytest.mark.parametrize(
    ("smiles", "letters"),
    [
        ("CC(=O)[O-]", ["O", "O⁻"]),
        ("C[NH3+]", ["NH₃⁺"]),
        ("C[S+](C)C", ["S⁺"]),
        ("C[N-]C", ["N⁻"]),
        ("CN=[N+]=[N-]", ["N", "N⁺", "N⁻"]),
        ("C[As](C)C", ["X"]),
    ],
)
def test_letters_of_stored_charges(smiles, letters):
    found = texts(draw_graph(from_smiles(smiles, CHARGED)))
    assert sorted("".join(sorted(text)) for text in found) == sorted("".join(sorted(text)) for text in letters)


def test_an_atom_whose_charge_alone_changes_is_marked():
    before, after = draw_pair(*molecule_pair("CC(=O)[O-]", "CC(=O)O", CHARGED))
    assert marks(before) == marks(after) == {"atom-3": "changed"}
    assert {"O⁻"} <= set(texts(before))
    assert {"O", "H"} <= set(texts(after))


CROWDED = {
    "paclitaxel": "CC1=C2C(C(=O)C3(C(CC4C(C3C(C(C2(C)C)(CC1OC(=O)C(C(C5=CC=CC=C5)NC(=O)C6=CC=CC=C6)O)O)OC(=O)"
    "C7=CC=CC=C7)(CO4)OC(=O)C)O)C)OC(=O)C",
    "quinine": "COc1ccc2nccc(C(O)C3CC4CCN3CC4C=C)c2c1",
    "erythromycin": "CCC1C(C(C(C(=O)C(CC(C(C(C(C(C(=O)O1)C)OC2CC(C(C(O2)C)O)(C)OC)C)OC3"
    "C(C(CC(O3)C)N(C)C)O)(C)O)C)C)O)(C)O",
    "imatinib": "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
}


@pytest.mark.parametrize("name", CROWDED)
def test_nothing_covers_anything_in_drug_sized_molecules(name):
    graph = from_smiles(CROWDED[name], drug_schema())
    points = np.array(list(place([graph]).values()))
    bonds = np.array([(i, j) for i, j, _ in graph.edges()])
    assert num_faults(points, bonds) == 0
    crowded = points.copy()
    crowded[0] = crowded[5]
    assert num_faults(crowded, bonds) > 0
