"""Tables with several label columns: one is chosen, or a kit is made of each with one autoencoder."""

import pytest

import graphflip as gf
from graphflip.data.tables import label_columns
from graphflip.errors import ConfigError, DataError
from graphflip.fit.columns import fit_columns
from graphflip.fit.graphs import load_graphs
from graphflip.fit.remarks import remarks

from .own_models import QUICK

HEADER = "Compound ID,SMILES,NR-AR,SR-p53,measured log P,remark"


def table(path, columns=HEADER, rows=48):
    smiles = [f"{'C' * (1 + k % 5)}{'ON'[k % 2]}{'C' * (k % 4)}" for k in range(rows)]
    lines = [
        f"mol{k},{text},{'' if k % 3 == 0 else k % 2},{int(k % 16 == 0)},{k / 10 - 1:.2f},note {k}"
        for k, text in enumerate(smiles)
    ]
    path.write_text("\n".join([columns, *lines]) + "\n")
    return str(path)


def test_columns_that_can_be_labels_are_found(tmp_path):
    columns = {column.name: column for column in label_columns(table(tmp_path / "t.csv"))}
    assert list(columns) == ["NR-AR", "SR-p53", "measured log P"]
    assert columns["NR-AR"].values == {"1": 16, "0": 16}
    assert (columns["NR-AR"].filled, columns["NR-AR"].blank) == (32, 16)
    assert columns["measured log P"].values == {}
    assert "16 blank" in str(columns["NR-AR"])


def test_a_column_must_be_chosen_where_there_are_several(tmp_path):
    path = table(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"--target COLUMN"):
        load_graphs(path)
    some = load_graphs(path, target="NR-AR")
    assert (len(some), some.classes, some.ids[0]) == (32, ("0", "1"), "mol1")
    assert "16 rows without a value of `NR-AR` are left out." in remarks(some, path, "NR-AR")
    assert not any("without a value" in said for said in remarks(some, path))
    values = load_graphs(path, target="measured log P")
    assert values.classes == ()
    assert "numbers" in remarks(values, path)[0]
    rare = " ".join(remarks(load_graphs(path, target="SR-p53"), path))
    assert "Rare: 1 (6.2%)" in rare
    with pytest.raises(ConfigError, match="column of a table"):
        load_graphs("planted", target="x")


def test_the_only_column_is_taken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("smiles,name,pIC50\n" + "".join(f"{'C' * (k + 1)},m{k},{k + 0.5}\n" for k in range(12)))
    assert load_graphs(str(path)).labels.tolist()[:2] == [0.5, 1.5]


def test_whole_numbers_of_many_values_are_regressed_on(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("smiles,label\n" + "".join(f"{'C' * (k % 9 + 1)},{k}\n" for k in range(30)))
    assert load_graphs(str(path)).classes == ()


def test_all_columns_share_an_autoencoder(tmp_path, few_models):
    path = table(tmp_path / "t.csv", rows=60)
    said = []
    made = list(fit_columns(path, tmp_path / "kits", minutes=QUICK, announce=said.append))
    assert [column.name for column, *_ in made] == ["NR-AR", "SR-p53", "measured log P"]
    kits = [gf.load(folder).kit for _, folder, readiness in made if readiness is not None]
    assert len(kits) == 3
    weights = [(folder / "vae" / "weights.safetensors").read_bytes() for _, folder, _ in made]
    assert len({*weights}) == 1
    assert any("60 molecules" in line for line in said)
