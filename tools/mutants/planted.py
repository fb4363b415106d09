"""A plugin of pytest that plants faults in the scripts of the page as the browser fetches them; see pages.py.

Each test runs once as it is, and then once for each of its faults, beside one and the same server. The faults are read
from the file that PLANTED_FAULTS names; a line of JSON for each run is written to PLANTED_OUTCOMES.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, BrowserContext, Route

_now: list[dict[str, Any]] = []
"""The fault that is planted now, if any."""
_plain_context = Browser.new_context


def _new_context(self: Browser, **options: Any) -> BrowserContext:
    context = _plain_context(self, **options)
    for fault in _now:
        name = fault["file"].rpartition("/")[2]
        where = r"/(\?.*|#.*)?$" if name == "index.html" else rf"/assets/[0-9a-f]+/{re.escape(name)}$"
        context.route(re.compile(where), _planting(fault))
    return context


Browser.new_context = _new_context


def _planting(fault: dict[str, Any]) -> Callable[[Route], None]:
    """A function that answers a request with the file as it is with the fault."""

    def plant(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text().replace(fault["old"], fault["new"]))

    return plant


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test without and with each of its faults."""
    faults = json.loads(Path(os.environ["PLANTED_FAULTS"]).read_text())
    own = [None, *(fault for fault in faults if fault["test"].partition("::")[2] == item.name)]
    # What follows is said to be a neighbor: then the test's own fixtures end, and the server does not.
    assert item.parent is not None
    neighbor = pytest.Function.from_parent(item.parent, name="neighbor", callobj=lambda: None)
    for fault, follows in zip(own, [*[neighbor] * (len(own) - 1), nextitem], strict=True):
        _now[:] = [] if fault is None else [fault]
        item._initrequest()  # pyright: ignore[reportAttributeAccessIssue]
        reports = runtestprotocol(item, log=False, nextitem=follows)
        said = next(_complaints(reports), "")
        with Path(os.environ["PLANTED_OUTCOMES"]).open("a") as file:
            file.write(json.dumps({"test": item.nodeid, "fault": fault, "passes": not said, "said": said}) + "\n")
        if fault is None and said:
            break  # what it says with a fault would mean nothing
    return True


def _complaints(reports: list[pytest.TestReport]) -> Iterator[str]:
    """The first line of what a test says, for each part of it that fails."""
    for report in reports:
        if report.failed:
            lines = [line[1:].strip() for line in str(report.longrepr).splitlines() if re.match(r"E\s+\S", line)]
            yield (lines or ["failed"])[0][:160]
