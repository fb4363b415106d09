"""Law: the most likely graph of a code is the same whether empty slots are decoded or left out."""

import torch

from graphflip.data.molecules.molecule import drug_schema, from_smiles
from graphflip.models import MostLikely
from graphflip.models.networks.decode import needed_slots
from graphflip.models.networks.pegvae import PEGVAE, PEGVAEConfig


def test_empty_slots_change_nothing():
    torch.manual_seed(0)
    schema = drug_schema(40)
    vae = PEGVAE(schema, PEGVAEConfig(dz=4, width=8, pair_width=4, depth=2, decoder_depth=1)).eval()
    z = torch.randn(3, 40, 4)
    with torch.enable_grad():
        whole = vae.decode(z, MostLikely()).detach()
    with torch.no_grad():
        part = vae.decode(z, MostLikely())
        kept = needed_slots(whole.B, MostLikely())
    assert kept is not None
    assert 0 < len(kept) < 40
    for name in "BVAE":
        torch.testing.assert_close(getattr(whole, name), getattr(part, name))


def test_no_slot_is_left_out_where_gradients_are_asked_for():
    graph = from_smiles("CCO", drug_schema(9)).pad(9)
    assert needed_slots(graph.B, MostLikely()) is None
    with torch.no_grad():
        kept = needed_slots(graph.B, MostLikely())
        assert kept is not None
        assert kept.tolist() == [0, 1, 2]


@torch.no_grad()
def test_a_code_without_nodes_decodes_to_empty_graphs():
    vae = PEGVAE(drug_schema(9), PEGVAEConfig(dz=4, width=8, pair_width=4, depth=2, decoder_depth=1)).eval()
    for parameter in vae.decoder.nodes.parameters():
        parameter.fill_(-1.0)
    assert vae.decode(torch.zeros(2, 9, 4), MostLikely()).B.sum() == 0
