"""Laws of `saturated`: no model that sees it can tell two ways of writing an aromatic ring apart."""

import pytest
import torch

from graphflip.data.molecules.molecule import drug_schema, from_smiles, to_smiles
from graphflip.graph import Graph
from graphflip.models.networks.classifier import (
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    RelationalGIN,
)
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.nn.saturation import saturated

SCHEMA = drug_schema(30)
TWO_FORMS = [
    ("CC1=CC=CC=C1O", "CC1=C(O)C=CC=C1"),
    ("CC1=CC2=CC=CC=C2C=C1", "CC1=CC2=C(C=CC=C2)C=C1"),
    ("CC1=NC=CC=C1[N+](=O)[O-]", "CC1=C([N+](=O)[O-])C=CC=N1"),
]


def read(smiles: str) -> Graph:
    return from_smiles(smiles, SCHEMA)


def models() -> list[torch.nn.Module]:
    torch.manual_seed(0)
    sizes = ClassifierConfig(width=8, depth=3, hidden=8, bonds="sums")
    networks = [cls(SCHEMA, sizes) for cls in (RelationalGIN, AveragingClassifier, AttentionClassifier)]
    return [model.eval() for model in (*networks, CountClassifier(SCHEMA, CountConfig(bins=64, bonds="sums")))]


@pytest.mark.parametrize("forms", TWO_FORMS)
def test_the_form_of_a_ring_does_not_matter(forms):
    first, second = map(read, forms)
    assert first != second
    assert to_smiles(first) == to_smiles(second)
    for model in models():
        torch.testing.assert_close(model(first), model(second))


def test_other_molecules_are_told_apart():
    benzene, triene, hexane = (read(text) for text in ("c1ccccc1", "C=CC=CC=C", "CCCCCC"))
    for model in models():
        outputs = torch.cat([model(graph) for graph in (benzene, triene, hexane)])
        assert torch.pdist(outputs).min() > 1e-6


@torch.no_grad()
def test_nodes_of_one_color_are_computed_once_with_the_same_result():
    graphs = Graph.cat([read(text) for pair in TWO_FORMS for text in pair] * 8)
    for model in models()[:2]:
        together = model(graphs)
        torch.testing.assert_close(together, torch.cat([model(graphs[[k]]) for k in range(len(graphs))]))


def test_the_order_of_a_bond_has_a_gradient():
    graph = read("CC=O")
    E = graph.E.clone().requires_grad_()
    models()[0](Graph.trusted(graph.B, graph.V, graph.A, E, SCHEMA)).diff().sum().backward()
    assert E.grad is not None
    assert float(E.grad.abs().sum()) > 0


def test_what_is_kept_has_no_gradient_to_lose():
    graph = read("CC=O")
    with torch.no_grad():
        kept = saturated(graph)
        assert saturated(graph) is kept
    assert saturated(graph) is not kept
