"""The sets of whole molecules: what they hold, and splits that keep equal molecules and scaffolds together."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.data.ames import load_ames, murcko_scaffold
from graphflip.data.molecules.molecule import to_smiles
from graphflip.data.splits import PARTS, grouped_split
from graphflip.data.tu.reading import load_tu
from graphflip.models.storage.store import PRETRAINED, read_card

GROUPS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=60)


@given(GROUPS, st.one_of(st.none(), st.integers(0, 9)))
def test_every_graph_is_in_one_part_and_every_group_too(groups, seed):
    split = grouped_split(groups, seed=seed)
    everything = torch.cat([split[part] for part in PARTS])
    assert sorted(everything.tolist()) == list(range(len(groups)))
    names = [{groups[k] for k in split[part].tolist()} for part in PARTS]
    assert all(a.isdisjoint(b) for a, b in zip(names, names[1:] + names[:1], strict=True))


def test_without_a_seed_the_largest_groups_are_trained_on():
    groups = ["ring"] * 70 + ["chain"] * 15 + [f"rare {k}" for k in range(15)]
    split = grouped_split(groups, seed=None)
    assert {groups[k] for k in split["test"].tolist()} <= {f"rare {k}" for k in range(15)}
    assert np.isclose(len(split["train"]) / len(groups), 0.8, atol=0.16)


def test_the_order_of_groups_depends_on_the_seed_alone():
    groups = [str(k % 50) for k in range(200)]
    first, again, other = (grouped_split(groups, seed=seed) for seed in (1, 1, 2))
    assert all(torch.equal(first[part], again[part]) for part in PARTS)
    assert not torch.equal(first["test"], other["test"])


def test_scaffolds_are_rings_and_what_links_them():
    assert murcko_scaffold("CCc1ccc(CC2CC2)cc1N") == "c1ccc(CC2CC2)cc1"
    assert murcko_scaffold("CCO") == ""


def test_molecules_are_those_of_the_set_without_hydrogens(data_folder):
    dataset, source = load_ames(limit=40), load_tu("Mutagenicity")
    assert not dataset.bad
    assert dataset.ids == tuple(f"ames/{k}" for k in range(40))
    assert torch.equal(dataset.labels, source.labels[:40])
    for k in range(40):
        parts = to_smiles(source.graphs([k])).split(".")
        assert to_smiles(dataset.graphs([k])) in {Chem.CanonSmiles(part) for part in parts}


def test_the_models_of_the_kit_were_trained_on_one_set():
    cards = [read_card(path.parent) for path in (PRETRAINED / "ames").glob("*/card.json")]
    assert len({card.data.fingerprint for card in cards if card.data}) == 1
    assert len(cards) == 9
