"""`graphflip fit` reads a table of molecules, a TU folder, and PyG graphs of one's own."""

import pytest
import torch

import graphflip as gf
from graphflip.errors import ConfigError
from graphflip.schema import Continuous

from .own_models import PLANTED, QUICK


def test_the_command_reads_a_table_of_molecules(tmp_path, few_models, capsys):
    from graphflip.cli.fit import fit as command

    smiles = [f"{'C' * (1 + k % 5)}{'ON'[k % 2]}{'C' * (k % 3)}" for k in range(40)]
    table = tmp_path / "mine.csv"
    table.write_text("smiles,label\n" + "".join(f"{text},{'ON'[k % 2]}\n" for k, text in enumerate(smiles)))
    command(str(table), tmp_path / "kit", max_nodes=9, minutes=QUICK)
    printed = capsys.readouterr().out
    assert "what the kit can do" in printed
    assert f"--model {tmp_path / 'kit'}" in printed
    explainer = gf.load(tmp_path / "kit")
    assert explainer.kit.classes == ("N", "O")
    assert explainer.kit.schema.max_nodes == 9
    assert set(explainer.predict("CCO")) == {"N", "O"}


def test_the_command_reads_a_tu_folder(tmp_path, few_models, capsys):
    """Nodes with a continuous attribute, edges with none: six triangles and paths."""
    from graphflip.cli.fit import fit as command

    folder = tmp_path / "toy"
    folder.mkdir()
    edges, owner, labels, values = [], [], [], []
    for k in range(30):
        first = 3 * k + 1
        pairs = [(first, first + 1), (first + 1, first + 2), *([(first, first + 2)] if k % 2 else [])]
        edges += [f"{i}, {j}\n{j}, {i}\n" for i, j in pairs]
        owner += [f"{k + 1}\n"] * 3
        labels.append(f"{k % 2}\n")
        values += [f"{k / 10 + i}\n" for i in range(3)]
    parts = {"A": edges, "graph_indicator": owner, "graph_labels": labels, "node_attributes": values}
    for name, lines in parts.items():
        (folder / f"toy_{name}.txt").write_text("".join(lines))
    command(str(folder), tmp_path / "kit", minutes=QUICK)
    assert "what the kit can do" in capsys.readouterr().out
    schema = gf.load(tmp_path / "kit").kit.schema
    assert isinstance(schema.nodes[0], Continuous)
    assert schema.edges == ()


def test_the_command_reads_pyg_graphs_of_ones_own(tmp_path, few_models, monkeypatch):
    from graphflip.cli.fit import fit as command
    from graphflip.data.pyg.objects import from_pyg, to_pyg

    graphs = to_pyg(PLANTED)
    torch.save([graph.to_dict() for graph in graphs], tmp_path / "graphs.pt")
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "from torch_geometric.data import Data\n"
        "def graphs():\n"
        f"    return [Data(**one) for one in torch.load({str(tmp_path / 'graphs.pt')!r})]\n"
        "def nothing():\n"
        "    return 3\n"
    )
    monkeypatch.chdir(tmp_path)
    command("mine:graphs", tmp_path / "kit", minutes=QUICK, function=True)
    explainer = gf.load(tmp_path / "kit")
    assert explainer.kit.schema == from_pyg(graphs).schema
    assert sum(explainer.predict(graphs[0]).values()) == pytest.approx(1)
    with pytest.raises(ConfigError, match=r"mine:nothing: must return .* it returned a int"):
        command("mine:nothing", tmp_path / "other", function=True)
    with pytest.raises(ConfigError, match="`absent` must be a function of mine, which has"):
        command("mine:absent", tmp_path / "other", function=True)


def test_check_ends_with_a_command_that_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    from graphflip.cli.check import check

    (tmp_path / "mine_to_check.py").write_text(
        "import torch\n"
        "from graphflip.data.planted.motif import planted\n"
        "def graphs():\n"
        "    return planted(num_graphs=20)\n"
        "def model():\n"
        "    return lambda A: torch.stack([A.sum((1, 2)), 9 - A.sum((1, 2))], 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    check("mine_to_check:model", "mine_to_check:graphs", function=True)
    printed = capsys.readouterr().out
    assert "graphflip fit mine_to_check:graphs --function --classifier mine_to_check:model --out kit" in printed


@pytest.mark.parametrize(("error", "says"), [(0.01, "can be used"), (8.4, "latent paths are rough")])
def test_numbers_that_are_far_off_are_no_use(error, says):
    from graphflip.fit.expectations import about_autoencoder

    assert says in about_autoencoder({"atoms": 1.0, "edges": 1.0, "graphs": 1.0, "node_error": error})
