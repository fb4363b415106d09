"""Scripts: the Python lines under an answer find that answer again."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphflip
from graphflip.bench.digests import model_digest
from graphflip.data.inputs import InputRow
from graphflip.errors import GraphflipError
from graphflip.explain.explainer import Explainer
from graphflip.explain.query import Query
from graphflip.explain.records import to_record
from graphflip.jsongraph import graph_to_json
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.messages.requests import QuestionView
from graphflip.viewer.queue import JobQueue
from graphflip.viewer.quick import QuickWorkers
from graphflip.viewer.state import ServerState
from graphflip.viewer.work import tasks
from graphflip.viewer.work.reproduce import reproduce

from .fakes import FakeWorker
from .questions import MUTAGEN, SERVED, asked, same, task


class Spy(Explainer):
    """Stands in for an explainer, and remembers what it was asked."""

    def explain_each(self, inputs, target=None, *, query=None, ids=(), watch=None, **options):
        (given,) = list(inputs)  # pyright: ignore
        text = given.text if isinstance(given, InputRow) else given
        object.__setattr__(self, "asked", (text, Query.of(query, target, **options)))  # explainers do not change
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
        parent=st.booleans(),
        confidence=st.none() | st.floats(0.01, 0.99),
        agreement=st.none() | st.floats(0.01, 0.99),
        thorough=st.booleans(),
        seed=st.integers(0, 9),
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
    wanted = task({"smiles": smiles}) | {"asked": question.model_dump(mode="json"), "behind": True}  # no first answer
    by_page, by_script = Spy(explainer.kit), Spy(explainer.kit)
    with pytest.raises(Asked):
        tasks.explain(by_page, wanted, lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphflip, "load", lambda kit: by_script)
        with pytest.raises(Asked):
            exec(compile(reproduce(wanted), "reproduce.py", "exec"), {})
    assert by_page.asked == by_script.asked


def test_the_script_of_a_graph_and_of_what_was_undone(explainer, answer):
    graph = graph_to_json(explainer.read(MUTAGEN))
    wanted = task({"graph": graph}, do="undo", prefer="minimal", budget=2) | {
        "undo": [0],
        "record": answer["record"] | {"source": ""},  # a graph has no text that it was read from
        "number": 0,
    }
    left = tasks.undo(explainer, wanted, lambda _: None)
    names: dict = {}
    exec(compile(left["python"], "reproduce.py", "exec"), names)
    assert same(to_record(names["counterfactual"]), left["record"])


def test_the_script_of_an_explanation_from_a_file(explainer, answer, tmp_path, monkeypatch):
    wanted = {"do": "undo", **SERVED, "record": answer["record"], "undo": [0]}
    (tmp_path / "counterfactuals.jsonl").write_text(json.dumps(answer["record"]) + "\n")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(reproduce(wanted), "reproduce.py", "exec"), names)
    assert not names["counterfactual"].flipped


def served(kit, **settings) -> dict:
    """What a worker is told about a kit by a server that has these settings."""
    chosen = ViewerConfig(models=(str(kit),), **settings)
    workers = [QuickWorkers([FakeWorker(chosen)], 1, 1.0) for _ in range(2)]
    state = ServerState(chosen, JobQueue([], 1, 1.0), *workers)
    return state.task("explain", chosen.titles[0]) | {"input": {"smiles": MUTAGEN}, "asked": asked()}


def load_of(script: str) -> dict:
    """The names that a script has when it has loaded its models."""
    names: dict = {}
    exec(compile(script.partition("counterfactual = ")[0], "reproduce.py", "exec"), names)
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
