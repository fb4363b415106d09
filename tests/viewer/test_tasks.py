"""What the page shows is what the library says: records, words, drawings, and a script that finds the same again."""

import json
import re
from xml.etree import ElementTree

import pytest
import torch

from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.planted.motif import planted
from graphflip.data.planted.relays import planted_relays
from graphflip.edits import apply_edits, heavy_edits
from graphflip.errors import ConfigError, GraphflipError
from graphflip.explain.edits.beam import Round
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.records import from_record
from graphflip.jsongraph import graph_to_json
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.nn.initialize import reset_parameters
from graphflip.viewer.messages.views import Answer, Model, Shown
from graphflip.viewer.work import tasks
from graphflip.viewer.work.first import FirstAnswers

from .questions import MUTAGEN, SERVED, same, task


def test_an_input_is_shown_with_its_prediction(explainer):
    shown = tasks.show_input(explainer, task(do="read"), lambda _: None)
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


def test_a_first_answer_comes_before_all_rounds_of_the_search(explainer):
    """It flips the classifier's answer and keeps what is to stay; rows of tables have none; the last are the same."""
    asked, seen = task(prefer="balanced", freeze_nodes=[3], frontier=True), []
    found = tasks.explain(explainer, asked, seen.append)["answers"]
    (first,) = [news for news in seen if isinstance(news, FirstAnswers)]
    assert not any(isinstance(news, Round) for news in seen[: seen.index(first)])
    (shown,) = first.answers
    assert shown["record"]["flipped"]
    assert shown["record"]["p_counterfactual"] >= 0.5
    edits = from_record(shown["record"], explainer.kit.schema).edits
    assert (3,) not in {edit.at for edit in edits}
    assert shown["drawings"]["counterfactual"]
    quiet: list = []
    again = tasks.explain(explainer, asked | {"behind": True}, quiet.append)["answers"]
    assert not any(isinstance(news, FirstAnswers) for news in quiet)
    assert all(same(a["record"], b["record"]) for a, b in zip(found, again, strict=True))


def test_marks_name_what_is_drawn(answer):
    drawn = answer["drawings"]["factual"] + answer["drawings"]["counterfactual"]
    for one in answer["words"]:
        assert any(re.search(rf'class="{mark}[ "]', drawn) for mark in one["marks"])


def test_drawings_fit_the_policy_of_the_page(answer):
    """No style in attributes, no script, no address."""
    for side in ("factual", "counterfactual"):
        assert not re.search(r"style=|<style|<script|href|\bon\w+=", answer["drawings"][side])
        ElementTree.fromstring(answer["drawings"][side])


def test_undoing_everything_leads_back(explainer, answer):
    numbers = list(range(len(answer["words"])))
    left = tasks.undo(explainer, task() | {"record": answer["record"], "undo": numbers, "number": 0}, lambda _: None)
    assert left["record"]["edits"] == []
    assert left["record"]["p_counterfactual"] == pytest.approx(answer["record"]["p_factual"], abs=1e-5)
    assert not left["record"]["flipped"]


def test_an_explanation_from_a_file_is_judged_by_this_model(explainer, answer):
    foreign = {key: answer["record"][key] for key in ("id", "target", "factual", "counterfactual")}
    shown = tasks.show_record(explainer, {"do": "record", **SERVED, "record": foreign}, lambda _: None)
    record = shown["answers"][0]["record"]
    for key in ("p_factual", "p_counterfactual"):
        assert record[key] == pytest.approx(answer["record"][key], abs=1e-5)
    assert record["flipped"]
    evidence, expected = (dict(one["evidence"]) for one in (record, answer["record"]))
    assert evidence.pop("judges") == pytest.approx(expected.pop("judges"), abs=1e-5)
    for key in ("nearest_factual", "nearest_counterfactual"):
        assert json.loads(json.dumps(evidence.pop(key))) == json.loads(json.dumps(expected.pop(key)))
    chemistry, same = evidence.pop("chemistry"), expected.pop("chemistry")
    assert chemistry == same, "measures of a pair of molecules come from the graphs alone"
    assert evidence == pytest.approx(expected, abs=1e-4)
    nothing = foreign | {"counterfactual": None}
    shown = tasks.show_record(explainer, {"do": "record", **SERVED, "record": nothing}, lambda _: None)
    assert shown["answers"][0]["drawings"]["counterfactual"] is None


@pytest.mark.parametrize("text", ["", " ", "C C", "C\x00", "é", "(", "C" * 60, "[Xe]", "\ud800"])
def test_what_is_no_molecule_is_refused_with_a_sentence(explainer, text):
    with pytest.raises(GraphflipError, match=r"^[A-Z].*\.$"):
        tasks.read_input(explainer, {"smiles": text})


def test_a_path_needs_something_to_lead_to(explainer, answer):
    nothing = answer["record"] | {"counterfactual": None, "edits": []}
    with pytest.raises(ConfigError, match="A latent path needs"):
        tasks.show_path(explainer, {"record": nothing, "steps": 4}, lambda _: None)


def test_every_example_can_be_read(explainer):
    described = tasks.describe_model("mutagenicity", explainer)
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
    described = tasks.describe_model("planted", explainer)
    assert (described["molecules"], described["has_path"], described["examples"]) == (False, False, [])
    shown = Shown.model_validate(tasks.show_input(explainer, {"input": {"graph": graph}}, lambda _: None))
    assert shown.smiles is None
    assert "atom-0" in shown.drawing
    wanted = task({"graph": graph}, prefer="minimal", budget=1, forbid_ops=["add_node", "add_edge"])
    found = Answer.model_validate(tasks.explain(explainer, wanted, lambda _: None)["answers"][0])
    assert "smiles" not in found.record
    changes = list(range(len(found.words)))
    left = tasks.undo(explainer, wanted | {"record": found.record, "undo": changes, "number": 0}, lambda _: None)
    assert left["record"]["edits"] == []
    with pytest.raises(ConfigError, match="autoencoder"):
        tasks.show_path(explainer, {"record": found.record, "steps": 4}, lambda _: None)
    with pytest.raises(GraphflipError, match="must"):
        tasks.read_input(explainer, {"smiles": "CO"})


def test_values_of_directed_graphs():
    """A model that predicts a value has no classes; its target is text, and numbers are shown as what they are."""
    dataset = planted_relays(num_graphs=20, min_nodes=4, max_nodes=4)
    explainer, graph = Explainer(kit_of(dataset, num_classes=1)), graph_to_json(dataset.graphs([0]).trim())
    described = Model.model_validate(tasks.describe_model("relays", explainer))
    assert (described.classes, described.unit, described.suggestion) == ([], "value", "raise by 1")
    assert described.directed
    value = tasks.show_input(explainer, {"input": {"graph": graph}}, lambda _: None)["prediction"]["value"]
    by = 0.002
    only = ["add_node", "remove_node", "add_edge"]
    wanted = task({"graph": graph}, prefer="minimal", target=f"raise by {by}", forbid_ops=only)
    found = Answer.model_validate(tasks.explain(explainer, wanted, lambda _: None)["answers"][0])
    assert found.goal.unit == "value"
    assert found.goal.words == f"at least {value + by:.4g}"
    assert found.record["p_factual"] == pytest.approx(value, abs=1e-4)
    assert found.predictions.counterfactual["value"] == pytest.approx(found.record["p_counterfactual"], abs=1e-4)
    assert found.record["p_counterfactual"] >= value + by - 1e-4
    assert "target='raise by 0.002'" in found.python


def test_the_models_outputs_count_not_the_kits_names():
    """A classifier that takes the place of a kit's may predict a value where that had classes."""
    dataset = planted(num_graphs=8, seed=3)
    described = tasks.describe_model(
        "x", Explainer(kit_of(dataset).with_classifier(kit_of(dataset, num_classes=1).classifier))
    )
    assert (described["classes"], described["unit"]) == ([], "value")
