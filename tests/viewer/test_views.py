"""What the page shows is what the library says: records, words, drawings, and a script that finds the same again."""

import json
import re
import shutil
from xml.etree import ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphflip
from graphflip.bench.digests import model_digest
from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.planted.motif import planted
from graphflip.data.planted.relays import planted_relays
from graphflip.edits import apply_edits, heavy_edits
from graphflip.errors import ConfigError, DataError, GraphflipError
from graphflip.explain.constraints import Constraints
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.records import from_record, to_record
from graphflip.jsongraph import graph_to_json
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.nn.initialize import reset_parameters
from graphflip.viewer import tasks as views
from graphflip.viewer.api import ServerState
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.queue import JobQueue, QuickWorker
from graphflip.viewer.reproduce import reproduce
from graphflip.viewer.schemas import Answer, Model, QuestionView, Shown
from graphflip.viewer.uploads import read_rows

from .fakes import FakeWorker

MUTAGEN = "CN(C)N=O"
SERVED = {"model": "mutagenicity", "source": "mutagenicity", "classifier": None, "private": True}


def asked(**changes) -> dict:
    return QuestionView(**changes).model_dump(mode="json")


def task(given_input=None, do="explain", **changes) -> dict:
    given_input = given_input or {"smiles": MUTAGEN}
    return {"do": do, **SERVED, "input": given_input, "id": "", "asked": asked(**changes)}


@pytest.fixture(scope="module")
def answer(explainer):
    (found,) = views.explain(explainer, task(prefer="minimal", budget=2), lambda _: None)["answers"]
    return found


def test_an_input_is_shown_with_its_prediction(explainer):
    shown = views.show_input(explainer, task(do="read"), lambda _: None)
    assert shown["prediction"] == explainer.predict(MUTAGEN)
    assert shown["smiles"] == MUTAGEN
    Shown.model_validate(shown)


def test_an_answer_is_the_record_with_words_and_drawings(explainer, answer):
    Answer.model_validate(answer)
    record = answer["record"]
    found = from_record(record, explainer.kit.schema)
    assert record["flipped"]
    assert answer["predictions"]["counterfactual"] == explainer.predict(found.counterfactual)
    told = [k for one in answer["words"] for k in one["edits"]]
    assert sorted(told) == list(range(len(record["edits"]))), "each edit belongs to one sentence"
    assert answer["num_edits"] == len(heavy_edits(found.factual, found.edits))


def test_marks_name_what_is_drawn(answer):
    drawn = answer["drawings"]["factual"] + answer["drawings"]["counterfactual"]
    for one in answer["words"]:
        assert any(re.search(rf'class="{mark}[ "]', drawn) for mark in one["marks"])


def test_drawings_fit_the_policy_of_the_page(answer):
    """No style in attributes, no script, no address."""
    for side in ("factual", "counterfactual"):
        assert not re.search(r"style=|<style|<script|href|\bon\w+=", answer["drawings"][side])
    root = ElementTree.fromstring(answer["drawings"]["file"])
    assert len(root) == 2


class Spy(Explainer):
    """Stands in for an explainer, and remembers what it was asked: the page reads SMILES first, the script does not."""

    def read(self, what):
        object.__setattr__(self, "given", what)  # explainers do not change otherwise
        return super().read("C")

    def explain(self, what, target=None, ids=(), watch=None, **settings):
        usual = {"num": 1, "frontier": False, "confidence": None, "constraints": Constraints()}
        given = self.given if isinstance(what, list) else what
        object.__setattr__(self, "asked", (given, target, usual | settings))
        raise Asked


class Asked(GraphflipError):
    """An explainer was asked; no need to wait for the answer."""


def questions() -> st.SearchStrategy[QuestionView]:
    numbers = st.integers(0, 99)
    names = st.text(max_size=10)
    return st.builds(
        QuestionView,
        target=st.none() | names,
        num=st.integers(1, 8),
        confidence=st.none() | st.floats(0.01, 0.99),
        freeze_nodes=st.lists(numbers, max_size=4),
        freeze_edges=st.lists(st.lists(numbers, min_size=2, max_size=2, unique=True).map(tuple), max_size=4),
        freeze_rings=st.booleans(),
        forbid_node_types=st.lists(names, max_size=2),
        forbid_ops=st.lists(st.sampled_from(["add_node", "set_edge"]), max_size=2),
        budget=st.none() | st.integers(1, 9),
    )


@given(question=questions(), smiles=st.text("!\"'\\()CNO=#{}[]", min_size=1, max_size=12))
def test_the_script_asks_what_was_asked(question, smiles, explainer):
    """Whatever a person enters is quoted: nothing of it can become code."""
    wanted = task({"smiles": smiles}) | {"asked": question.model_dump(mode="json")}
    by_page, by_script = Spy(explainer.kit), Spy(explainer.kit)
    with pytest.raises(Asked):
        views.explain(by_page, wanted, lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphflip, "load", lambda kit: by_script)
        with pytest.raises(Asked):
            exec(compile(reproduce(wanted), "reproduce.py", "exec"), {})
    assert by_page.asked == by_script.asked


def test_the_script_of_a_graph_and_of_what_was_undone(explainer, answer):
    graph = graph_to_json(explainer.read(MUTAGEN))
    wanted = task({"graph": graph}, do="undo", prefer="minimal", budget=2) | {
        "undo": [0],
        "record": answer["record"],
        "number": 0,
    }
    left = views.undo(explainer, wanted, lambda _: None)
    names: dict = {}
    exec(compile(left["python"], "reproduce.py", "exec"), names)
    assert same(to_record(names["found"]), left["record"])


def test_the_script_of_an_explanation_from_a_file(explainer, answer, tmp_path, monkeypatch):
    wanted = {"do": "undo", **SERVED, "record": answer["record"], "undo": [0]}
    (tmp_path / "counterfactuals.jsonl").write_text(json.dumps(answer["record"]) + "\n")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(reproduce(wanted), "reproduce.py", "exec"), names)
    assert not names["found"].flipped


def served(kit, **settings) -> dict:
    """What a worker is told about a kit by a server that has these settings."""
    chosen = ViewerConfig(models=(str(kit),), **settings)
    state = ServerState(chosen, JobQueue([], 1, 1.0), QuickWorker(FakeWorker(chosen), 1, 1.0))
    return state.task("explain", chosen.titles[0]) | {"input": {"smiles": MUTAGEN}, "asked": asked()}


def load_of(script: str) -> dict:
    """The names that a script has when it has loaded its models."""
    names: dict = {}
    exec(compile(script.partition("found = ")[0], "reproduce.py", "exec"), names)
    return names


@pytest.mark.parametrize("name", ["kit", "mutagenicity", "it's mine"])
def test_the_script_finds_a_kit_in_a_folder(flow, tmp_path, monkeypatch, name):
    """From anywhere, and also if the folder is called like a kit of the package."""
    shutil.copytree(flow, tmp_path / "kits" / name)
    monkeypatch.chdir(tmp_path)
    script = reproduce(served(f"kits/{name}"))
    monkeypatch.chdir("/")
    assert "write the path" not in script
    assert load_of(script)["explainer"].kit.schema == graphflip.load(flow).kit.schema
    assert load_of(reproduce(served("Mutagenicity")))["kit"] == "mutagenicity"


@pytest.mark.parametrize("settings", [{"host": "192.0.2.7"}, {"names": ("lab.example",)}])
def test_others_are_not_told_where_a_kit_is(flow, settings):
    script = reproduce(served(flow, **settings))
    assert str(flow.parent) not in script
    assert "kit = 'flow'  # write the path to this folder" in script
    assert str(flow) in reproduce(served(flow))


def test_the_script_of_a_kit_without_a_classifier(flow, tmp_path, monkeypatch):
    kit = graphflip.load(flow).kit
    shutil.copytree(flow, tmp_path / "kit")
    (tmp_path / "kit" / "classifier").rename(tmp_path / "kit" / "judge")
    (tmp_path / "own_model.py").write_text(
        f"import graphflip\n\ndef make():\n    return graphflip.load({str(flow)!r}).kit.classifier\n"
    )
    monkeypatch.chdir(tmp_path)
    found = load_of(reproduce(served("kit", classifier="own_model:make")))["explainer"].kit
    assert model_digest(found.classifier) == model_digest(kit.classifier)


def same(one: dict, other: dict) -> bool:
    leave = {"seconds", "id"}
    return {k: v for k, v in one.items() if k not in leave} == {k: v for k, v in other.items() if k not in leave}


def test_undoing_everything_leads_back(explainer, answer):
    numbers = list(range(len(answer["words"])))
    left = views.undo(explainer, task() | {"record": answer["record"], "undo": numbers, "number": 0}, lambda _: None)
    assert left["record"]["edits"] == []
    assert left["record"]["p_counterfactual"] == pytest.approx(answer["record"]["p_factual"], abs=1e-5)
    assert not left["record"]["flipped"]


def test_an_explanation_from_a_file_is_judged_by_this_model(explainer, answer):
    foreign = {key: answer["record"][key] for key in ("id", "target", "factual", "counterfactual")}
    shown = views.show_record(explainer, {"do": "record", **SERVED, "record": foreign}, lambda _: None)
    record = shown["answers"][0]["record"]
    for key in ("p_factual", "p_counterfactual"):
        assert record[key] == pytest.approx(answer["record"][key], abs=1e-5)
    assert record["flipped"]
    evidence, expected = (dict(one["evidence"]) for one in (record, answer["record"]))
    assert evidence.pop("judges") == pytest.approx(expected.pop("judges"), abs=1e-5)
    assert evidence == pytest.approx(expected, abs=1e-4)
    nothing = foreign | {"counterfactual": None}
    shown = views.show_record(explainer, {"do": "record", **SERVED, "record": nothing}, lambda _: None)
    assert shown["answers"][0]["drawings"]["counterfactual"] is None


@pytest.mark.parametrize("text", ["", " ", "C C", "C\x00", "é", "(", "C" * 60, "[Xe]", "\ud800"])
def test_what_is_no_molecule_is_refused_with_a_sentence(explainer, text):
    with pytest.raises(GraphflipError, match=r"must .*\."):
        views.read_input(explainer, {"smiles": text})


def test_files_of_every_kind(explainer, answer):
    schema = explainer.kit.schema
    rows = read_rows("my.smi", "CO methanol\nCN\n", schema, 10)
    assert [(row.id, row.input) for row in rows.rows] == [("methanol", {"smiles": "CO"}), ("row 2", {"smiles": "CN"})]
    assert read_rows("C:\\x\\my.CSV", "name,smiles\na,CO\n", schema, 10).rows[0].id == "a"
    lines = f"{json.dumps(answer['record'])}\n[1]\n\nnot json\n{json.dumps({'id': 'g', 'graph': {'nodes': []}})}\n"
    records = read_rows("counterfactuals.jsonl", lines, schema, 10).rows
    assert [row.record is not None for row in records] == [True, False, False, False]
    assert [row.problem is not None for row in records] == [False, True, True, False]
    shown = views.show_file(explainer, {"name": "x.smi", "text": "CO\n((\n", "max_rows": 5}, lambda _: None)
    assert shown["rows"][0]["prediction"] == explainer.predict("CO")
    assert shown["rows"][1]["problem"]


def test_molecules_of_sd_files(explainer):
    from rdkit import Chem

    block = Chem.MolToMolBlock(Chem.MolFromSmiles("OCc1ccccc1"))
    text = f"{block}$$$$\nbroken\n$$$$\n"
    rows = read_rows("my.sdf", text, explainer.kit.schema, 10).rows
    assert explainer.read(rows[0].input["smiles"]) == explainer.read("OCc1ccccc1")
    assert rows[1].problem


def test_files_are_bounded(explainer):
    rows = read_rows("my.smi", "C\n" * 7, explainer.kit.schema, 5)
    assert (len(rows.rows), rows.left_out) == (5, True)
    assert not read_rows("my.smi", "C\n" * 5, explainer.kit.schema, 5).left_out


def test_a_file_says_nothing_of_where_the_server_put_it(explainer):
    assert [row.id for row in read_rows("my.smi", "CO\nCN amine\n", explainer.kit.schema, 5).rows] == ["row 1", "amine"]
    with pytest.raises(DataError, match=r"^The file: the header must name a column of SMILES"):
        read_rows("my.csv", "a,b\n1,2\n", explainer.kit.schema, 5)


@pytest.mark.parametrize("name", ["x", "x.exe", "../../x.pt", "x.smi/y", ""])
def test_other_files_are_refused(explainer, name):
    with pytest.raises(DataError, match="must end in"):
        read_rows(name, "CO", explainer.kit.schema, 5)


@settings(max_examples=60)
@given(suffix=st.sampled_from([".smi", ".csv", ".tsv", ".sdf", ".jsonl"]), text=st.text(max_size=200))
def test_no_file_breaks_the_reader(explainer, suffix, text):
    try:
        rows = read_rows(f"x{suffix}", text.encode("utf-8", "replace").decode(), explainer.kit.schema, 5).rows
    except GraphflipError:
        return
    for row in rows:
        views._row(explainer, row)


def test_a_path_needs_something_to_lead_to(explainer, answer):
    nothing = answer["record"] | {"counterfactual": None, "edits": []}
    with pytest.raises(ConfigError, match="A latent path needs"):
        views.show_path(explainer, {"record": nothing, "steps": 4}, lambda _: None)


def test_every_example_can_be_read(explainer):
    described = views.describe_model("mutagenicity", explainer)
    assert [one["name"] for one in described["examples"]] == [one.name for one in famous_molecules()]


def test_edits_of_the_record_lead_from_one_graph_to_the_other(explainer, answer):
    found = from_record(answer["record"], explainer.kit.schema)
    assert apply_edits(found.factual, found.edits) == found.counterfactual


def kit_of(dataset, **outputs) -> Kit:
    """A kit with a classifier that has learned nothing."""
    classifier = InvariantClassifier(dataset.schema, ClassifierConfig(width=8, hidden=16, **outputs)).eval()
    reset_parameters(classifier, torch.Generator().manual_seed(0))
    with torch.no_grad():
        classifier.out.weight.normal_(generator=torch.Generator().manual_seed(1))
        classifier.out.bias -= classifier(dataset.graphs()).median(0).values
    classes = () if outputs else dataset.classes
    return Kit(dataset.name, classifier.requires_grad_(False), Knowledge.mine(dataset), classes)


@pytest.fixture(scope="module")
def other_kind():
    """An explainer of graphs that are no molecules."""
    dataset = planted(num_graphs=20, seed=3, min_nodes=5, max_nodes=6)
    return Explainer(kit_of(dataset)), graph_to_json(dataset.graphs([0]).trim())


def test_graphs_that_are_no_molecules(other_kind):
    """They are given as JSON; there are no SMILES, and without an autoencoder there is no path."""
    explainer, graph = other_kind
    described = views.describe_model("planted", explainer)
    assert (described["molecules"], described["has_path"], described["examples"]) == (False, False, [])
    shown = Shown.model_validate(views.show_input(explainer, {"input": {"graph": graph}}, lambda _: None))
    assert shown.smiles is None
    assert "atom-0" in shown.drawing
    wanted = task({"graph": graph}, prefer="minimal", budget=1, forbid_ops=["add_node", "add_edge"])
    found = Answer.model_validate(views.explain(explainer, wanted, lambda _: None)["answers"][0])
    assert "smiles" not in found.record
    changes = list(range(len(found.words)))
    left = views.undo(explainer, wanted | {"record": found.record, "undo": changes, "number": 0}, lambda _: None)
    assert left["record"]["edits"] == []
    with pytest.raises(ConfigError, match="autoencoder"):
        views.show_path(explainer, {"record": found.record, "steps": 4}, lambda _: None)
    with pytest.raises(GraphflipError, match="must"):
        views.read_input(explainer, {"smiles": "CO"})


def test_values_of_directed_graphs():
    """A model that predicts a value has no classes; its target is text, and numbers are shown as what they are."""
    dataset = planted_relays(num_graphs=20, min_nodes=4, max_nodes=4)
    explainer, graph = Explainer(kit_of(dataset, num_classes=1)), graph_to_json(dataset.graphs([0]).trim())
    described = Model.model_validate(views.describe_model("relays", explainer))
    assert (described.classes, described.unit, described.suggestion) == ([], "value", "raise by 1")
    assert described.directed
    value = views.show_input(explainer, {"input": {"graph": graph}}, lambda _: None)["prediction"]["value"]
    by = 0.002
    only = ["add_node", "remove_node", "add_edge"]
    wanted = task({"graph": graph}, prefer="minimal", target=f"raise by {by}", forbid_ops=only)
    found = Answer.model_validate(views.explain(explainer, wanted, lambda _: None)["answers"][0])
    assert found.goal.unit == "value"
    assert found.goal.words == f"at least {value + by:.4g}"
    assert found.record["p_factual"] == pytest.approx(value, abs=1e-4)
    assert found.predictions.counterfactual["value"] == pytest.approx(found.record["p_counterfactual"], abs=1e-4)
    assert found.record["p_counterfactual"] >= value + by - 1e-4
    assert "target='raise by 0.002'" in found.python


def test_the_models_outputs_count_not_the_kits_names():
    """A classifier that takes the place of a kit's may predict a value where that had classes."""
    dataset = planted(num_graphs=8, seed=3)
    described = views.describe_model(
        "x", Explainer(kit_of(dataset).with_classifier(kit_of(dataset, num_classes=1).classifier))
    )
    assert (described["classes"], described["unit"]) == ([], "value")
