"""One list of options: what is added to it appears wherever a question can be asked."""

import json
import subprocess
import sys

import pytest
import typer
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from typer.testing import CliRunner

from graphflip.cli.options import with_options
from graphflip.errors import ConfigError
from graphflip.explain.constraints import Constraints
from graphflip.explain.query import Query, QueryOptions
from graphflip.jobs.settings import JobSettings
from graphflip.viewer.messages.requests import limited
from graphflip.viewer.work import reproduce


class Extended(Query):
    """A question with one more option."""

    patience: int = Field(default=7, ge=1, description="Days to wait for an answer.")


def test_a_new_option_is_on_the_command_line():
    asked = []
    app = typer.Typer()

    def explain(what: str, query: Query) -> None:
        asked.append((what, query))

    app.command()(with_options(Extended, after="what")(explain))
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert "--patience" in shown.output
    assert "Days to wait for an answer." in shown.output
    done = CliRunner().invoke(app, ["CCO", "--patience", "3", "--freeze", "3,1", "--freeze-edge", "2-5", "--as-is"])
    assert done.exit_code == 0, done.output
    assert asked == [("CCO", Extended(patience=3, freeze_nodes=(1, 3), freeze_edges=((2, 5),), parent=False))]


def test_a_new_option_is_on_the_page_of_the_api():
    app, question = FastAPI(), limited(Extended)

    @app.post("/ask")
    def ask(asked: question) -> None:  # pyright: ignore[reportInvalidTypeForm]
        """Ask."""

    described = app.openapi()["components"]["schemas"]["LimitedExtended"]["properties"]
    assert described["patience"]["description"] == "Days to wait for an answer."
    assert described["num"]["maximum"] == 8
    assert described.keys() == Extended.model_fields.keys()
    assert question.model_validate({"patience": 2, "num": 8}) == question.model_validate_json(
        '{"patience": 2, "num": 8}'
    )


def test_a_new_option_is_in_the_manifest_and_in_the_script(monkeypatch):
    settings = JobSettings.of("mutagenicity", query=Extended(patience=2))
    assert json.loads(settings.model_dump_json())["patience"] == 2
    monkeypatch.setattr(reproduce, "Query", Extended)
    task = {"model": "m", "source": "aids", "private": True, "input": {"smiles": "CO"}, "asked": {"patience": 2}}
    assert "    patience=2,\n" in reproduce.reproduce(task)


def test_keywords_for_editors_are_the_fields():
    assert {*QueryOptions.__annotations__, "target"} == {*Query.model_fields, "constraints"}


def test_every_option_is_described():
    assert all(field.description for field in Query.model_fields.values())


def test_settings_of_format_1_are_read_and_written_as_they_were():
    stored = {
        "model": "aids",
        "classifier": None,
        "target": None,
        "prefer": "minimal",
        "num": 1,
        "frontier": False,
        "parent": False,
        "confidence": None,
        "freeze_nodes": [1, 2],
        "freeze_edges": [[0, 1]],
        "freeze_rings": False,
        "forbid_node_types": [],
        "forbid_edge_types": [],
        "forbid_ops": [],
        "budget": 2,
    }
    settings = JobSettings.model_validate(stored)
    frozen = {"freeze_nodes": [2, 1], "freeze_edges": [(0, 1)]}
    assert settings == JobSettings.of("aids", prefer="minimal", parent=False, budget=2, **frozen)
    assert settings.model_dump_json() == json.dumps(stored, separators=(",", ":"))
    assert JobSettings.model_validate_json(JobSettings.of("aids", seed=3).model_dump_json()).query.seed == 3


queries = st.builds(
    Query.of,
    target=st.none() | st.text(max_size=5),
    prefer=st.sampled_from(["minimal", "balanced", "believable"]),
    confidence=st.none() | st.floats(0.01, 0.99),
    freeze_nodes=st.lists(st.integers(0, 9), max_size=3),
    forbid_ops=st.lists(st.sampled_from(["add_node", "set_edge"]), max_size=3),
    budget=st.none() | st.integers(1, 9),
)


@given(queries, queries)
def test_changes_make_the_query_again(query, other):
    assert Query.of(**query.changes()) == query
    assert Query.model_validate_json(query.model_dump_json()) == query
    assert Query.of(other, constraints=query.constraints).constraints == query.constraints
    assert hash(query) == hash(Query.of(query))


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ConfigError, match=r"`prefr` is no option of a question. Did you mean `prefer`\?"):
        Query.of(prefr="minimal")  # pyright: ignore[reportCallIssue]
    with pytest.raises(ConfigError, match=r"`agreement` must be a number between 0 and 1; got 2\. Write"):
        Query.of(agreement=2)
    with pytest.raises(ConfigError, match=r"`forbid_ops` must be kinds of edit.*'erase'"):
        Query.of(forbid_ops=["erase"])
    with pytest.raises(ConfigError, match="must be a text"):
        JobSettings.of("aids", target=1)
    with pytest.raises(ValidationError):
        limited(Query)(num=9)
    assert Query.of(Query.of(budget=3), constraints=Constraints()).budget is None


def test_a_query_does_not_wait_for_torch():
    code = "import sys, graphflip; graphflip.Query.of(num=2); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
