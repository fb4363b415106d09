"""Counterfactuals of other tools: three formats, one meaning."""

import dataclasses

import pytest
import torch

from graphflip.bench.foreign import answer_files, nearest_alignment, read_answers
from graphflip.data.molecules.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.pyg.objects import to_pyg
from graphflip.edits import edits_between
from graphflip.errors import DataError
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.method import ask
from graphflip.explain.records import write_records
from graphflip.models.networks.classifier import AbstractClassifier

SCHEMA = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
PAIRS = [("Nc1ccccc1", "Oc1ccccc1"), ("CCO", "CCN"), ("CCN", "CCCN")]


class HasNitrogen(AbstractClassifier):
    """Class 1 if there is a nitrogen."""

    schema = SCHEMA

    def embed(self, graph):
        return graph.V[..., 1].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([0.5 - embedding, embedding - 0.5], 1)


@pytest.fixture(scope="module")
def kit():
    from graphflip.data.dataset import GraphDataset

    graphs = [from_smiles(text, SCHEMA) for pair in PAIRS for text in pair]
    data = GraphDataset.from_graphs("toy", graphs, torch.tensor([1, 0, 0, 1, 1, 1]), ("no", "yes"))
    return Kit("toy", HasNitrogen().eval(), Knowledge.mine(data), ("no", "yes"))


def seen(answers):
    return [
        (a.target, a.outcome, None if a.counterfactual is None else to_smiles(a.counterfactual), len(a.edits))
        for a in answers
    ]


def test_three_formats_say_the_same(kit, tmp_path):
    table = tmp_path / "tool.csv"
    table.write_text("id,factual,counterfactual\n" + "".join(f"m{k},{a},{b}\n" for k, (a, b) in enumerate(PAIRS)))
    from_table = list(read_answers(table, kit))
    assert [a.id for a in from_table] == ["m0", "m1", "m2"]
    assert {a.method for a in from_table} == {"tool"}
    assert [a.outcome for a in from_table] == [Outcome.FLIPPED, Outcome.FLIPPED, Outcome.NOT_FLIPPED]
    assert [len(a.edits) for a in from_table] == [1, 1, 2], "aligned by edit distance, whatever the order of atoms"
    lists = [[to_pyg(from_smiles(text, SCHEMA))[0] for text in side] for side in zip(*PAIRS, strict=True)]
    torch.save(tuple(lists), tmp_path / "tool.pt")
    assert seen(read_answers(tmp_path / "tool.pt", kit)) == seen(from_table)
    write_records(tmp_path / "tool.jsonl", from_table)
    assert seen(read_answers(tmp_path / "tool.jsonl", kit)) == seen(from_table)
    assert [file.suffix for file in answer_files(tmp_path)] == [".csv", ".jsonl", ".pt"]


def test_failures_of_the_tool_are_answers_without_a_graph(kit, tmp_path):
    table = tmp_path / "tool.tsv"
    table.write_text("SMILES\tCF\ttarget\nCCO\tnot a molecule\t1\nCCO\t\t1\nCCO\tCCN\t1\n")
    broken, nothing, fine = read_answers(table, kit)
    assert broken.counterfactual is None
    assert broken.note.startswith("cannot be read")
    assert nothing.counterfactual is None
    assert nothing.note == "no counterfactual"
    assert fine.flipped
    first = to_pyg(from_smiles("CCO", SCHEMA))[0]
    torch.save(([first], [None]), tmp_path / "none.pt")
    assert seen(read_answers(tmp_path / "none.pt", kit)) == [(1, Outcome.NOTHING_TO_OFFER, None, 0)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "before,after\nC,N\n", "must name a column factual"),
        ("a.csv", "factual,counterfactual\nXx,C\n", "the factual cannot be read"),
        ("a.csv", "factual,counterfactual,target\nC,N,high\n", "the number of a class"),
        ("a.csv", "factual,counterfactual,target\nC,N,7\n", "a class of 0..1"),
        ("a.txt", "", "must end in"),
        ("a.pt", "no torch file", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_named(kit, tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=words):
        list(read_answers(tmp_path / name, kit))


def test_lists_must_be_two_of_equal_length(kit, tmp_path):
    first = to_pyg(from_smiles("CCO", SCHEMA))[0]
    torch.save(([first, first], [first]), tmp_path / "a.pt")
    with pytest.raises(DataError, match="two lists of PyG graphs of equal length"):
        list(read_answers(tmp_path / "a.pt", kit))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="must hold files that end in"):
        answer_files(tmp_path / "empty")


def test_an_alignment_is_never_worse_than_the_one_given(kit):
    graph = from_smiles("Nc1ccccc1", SCHEMA).pad(12)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    assert edits_between(graph, nearest_alignment(graph, graph.permute(order), 0.5)) == []
    question = ask(kit.classifier, graph, None, ["x"], 0)
    assert dataclasses.replace(question, seed=1).goals == question.goals
