"""The explainer that the package carries, a kit of another kind, and a server that serves both to a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

import graphflip
from graphflip.data.planted.relays import planted_relays
from graphflip.explain.kit import find_kit
from graphflip.explain.knowledge import KNOWLEDGE, Knowledge
from graphflip.jsongraph import graph_to_json
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.models.storage.store import save_model
from graphflip.nn.initialize import reset_parameters
from graphflip.viewer.work import tasks

from .browsing import CHROMIUM, MUTAGEN, PATIENCE, explain, molecule, opened
from .questions import task
from .serving import serving


@pytest.fixture(scope="session")
def explainer():
    return graphflip.load("mutagenicity")


@pytest.fixture(scope="session")
def answer(explainer) -> dict:
    """The answer to a minimal question, as the page gets it."""
    (shown,) = tasks.explain(explainer, task(prefer="minimal", budget=2), lambda _: None)["answers"]
    return shown


@pytest.fixture(scope="session")
def flow(tmp_path_factory) -> Path:
    """A kit whose model predicts a value of directed graphs, by weights that nobody trained, and graphs.jsonl."""
    folder, dataset = tmp_path_factory.mktemp("kits") / "flow", planted_relays(num_graphs=20)
    model = InvariantClassifier(dataset.schema, ClassifierConfig(width=8, hidden=16, num_classes=1)).eval()
    reset_parameters(model, torch.Generator().manual_seed(0))
    torch.nn.init.normal_(model.out.weight, generator=torch.Generator().manual_seed(1))
    save_model(model, folder / "classifier")
    Knowledge.mine(dataset).save(folder / KNOWLEDGE)
    graphs = [{"id": f"graph {k}", "graph": graph_to_json(dataset.graphs([k]).trim())} for k in range(3)]
    (folder / "graphs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in graphs))
    return folder


@pytest.fixture(scope="session")
def server(flow) -> Iterator[str]:
    """Address of a viewer with real workers."""
    again = flow.parent / "again"  # a second kit of molecules, to compare with
    again.symlink_to(find_kit("mutagenicity"))
    limits = {"max_waiting": 500, "max_smiles": 200, "seconds": 300.0, "quick_seconds": 120.0}
    with serving(models=("mutagenicity", str(flow), str(again)), **limits) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield launched
        launched.close()


@pytest.fixture
def context(browser, server) -> Iterator[BrowserContext]:
    """A browser session in which no page may complain or ask another server for anything."""
    made = browser.new_context(base_url=server, viewport={"width": 1200, "height": 900})
    made.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    made.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    made.on("weberror", lambda error: complaints.append(str(error.error)))
    made.on("request", lambda one: None if one.url.startswith((server, "blob:")) else complaints.append(one.url))
    yield made
    made.close()
    expected = ("status of 422", "status of 404")  # what the browser itself says of a refused request
    assert [text for text in complaints if not any(known in text for known in expected)] == []


@pytest.fixture
def page(context) -> Page:
    return opened(context)


@pytest.fixture(scope="module")
def answered(browser, server, known={}) -> tuple[dict, str, str]:  # noqa: B006
    """The state of a browser that has an answer, the address of that, and the id of its job; asked once for all."""
    if not known:
        context = browser.new_context(base_url=server)
        context.set_default_timeout(PATIENCE)
        page = opened(context)
        molecule(page, MUTAGEN)
        explain(page)
        known |= {"state": context.storage_state(), "address": page.url}
        known["job"] = page.locator("#stage").get_attribute("data-job") or ""
        context.close()
    return known["state"], known["address"], known["job"]
