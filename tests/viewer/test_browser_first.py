"""Answers on the way in a browser: a first one while the search goes on, a frontier that nothing beats, no waiting."""

import copy
import json
import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Request, Route, expect

from .browsing import CHROMIUM, MUTAGEN, PATIENCE, enter, explain, molecule, opened
from .test_browser_faults import LARGE, headline, keep_busy
from .test_browser_page import serious

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")


def ask_for_long(page: Page) -> None:
    """Ask a question whose answer takes a while."""
    molecule(page, LARGE)
    page.get_by_label("Answers").select_option("frontier")
    page.get_by_role("radio", name="Believable").check()
    page.get_by_role("button", name="Explain", exact=True).click()


def test_a_first_answer_is_shown_while_the_search_goes_on(page):
    """There is nothing to do with it but to look; whoever stops the search keeps it, and may ask again."""
    ask_for_long(page)
    expect(page.locator("#stage[data-first]")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    expect(page.locator("#note")).to_contain_text("A first answer")
    expect(page.locator("#after-title")).to_have_text("First answer")
    expect(page.locator("#after svg")).to_be_visible()
    expect(page.locator("#changes input").first).to_be_disabled()
    expect(page.get_by_role("button", name="SVG", exact=True)).to_be_hidden()
    expect(page.locator("#path")).to_be_hidden()
    said = page.locator("#subline").inner_text()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("#problem")).to_contain_text("Stopped: this is the first answer")
    expect(page.locator("#subline")).to_have_text(said)
    expect(page.locator("#changes input").first).to_be_enabled()
    expect(page.get_by_role("button", name="SVG", exact=True)).to_be_visible()
    stopped = page.locator("#stage").get_attribute("data-job")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#stage[data-first]")).to_be_visible()
    assert page.locator("#stage").get_attribute("data-first") != stopped, (
        "what was stopped is no answer to the question"
    )
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("#problem")).to_contain_text("Stopped")


def with_beaten_answers(route: Route) -> None:
    """The answers to a question, and behind them one that each of them beats, and one that equals the first."""
    with suppress(Error):  # the page has gone
        add_beaten_answers(route)


def add_beaten_answers(route: Route) -> None:
    response = route.fetch()
    job = response.json()
    if isinstance(job, dict) and job.get("state") == "done" and job["answers"]:
        worse = copy.deepcopy(job["answers"][-1])
        worse["num_edits"] = 1 + max(one["num_edits"] for one in job["answers"])
        worse["record"]["evidence"]["judges"] = dict.fromkeys(worse["agreed"], 0.01)
        worse["chemistry"] = [{"topic": str(k), "words": "bad", "good": False} for k in range(9)]
        job["answers"] += [worse, copy.deepcopy(job["answers"][0])]
    route.fulfill(response=response, body=json.dumps(job))


def test_a_frontier_shows_no_answer_that_another_beats(page):
    page.route(re.compile(r"/api/jobs/[^/]+\?"), with_beaten_answers)
    molecule(page, MUTAGEN)
    page.get_by_label("Answers").select_option("frontier")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#stage[data-job]")).to_be_visible()
    tabs = page.locator("#tabs [role=radio]")
    expect(tabs.nth(1)).to_be_visible()
    seen = [json.loads(tab.get_attribute("data-measures") or "") for tab in tabs.all()]
    beats = lambda a, b: a[0] <= b[0] and a[1] >= b[1] and a[2] <= b[2]  # noqa: E731
    assert not any(beats(a, b) for a in seen for b in seen if a is not b), seen
    assert len(page.locator("#chart .dot").all()) == len(seen)
    expect(page.locator("#chart-words")).to_contain_text(re.compile(r"\d more answers? (is|are) not shown"))
    chosen = json.loads(page.locator("#tabs [aria-checked=true]").get_attribute("data-measures") or "")
    assert chosen[2] == min(one[2] for one in seen), "it begins with one that least speaks against"
    page.get_by_role("button", name="Compare all answers").click()
    expect(page.locator(".compared")).to_have_count(len(seen))


def test_a_tab_keeps_no_connections_from_others(page):
    """A browser has six connections to a server: while many things are computed a tab waits on one, hidden on none."""
    open_requests: set[Request] = set()
    page.on("request", lambda one: open_requests.add(one) if "/api/jobs" in one.url else None)
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda one: open_requests.discard(one))
    molecule(page, MUTAGEN)
    explain(page)  # with that the browser has a session
    keep_busy(page)
    ask_for_long(page)
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    page.wait_for_timeout(4000)  # the list of questions has been looked at again by then
    assert len([one for one in open_requests if "wait=15" in one.url]) <= 1
    assert len(open_requests) <= 2
    page.evaluate("() => Object.defineProperty(document, 'hidden', { value: true })")
    with page.expect_request(re.compile(r"/api/jobs/[^/]+\?.*wait=0")):
        pass
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("button", name="Explain", exact=True)).to_be_visible()
    page.evaluate(
        """() => fetch("/api/jobs").then((answer) => answer.json()).then((jobs) => Promise.all(
            jobs.map(({ id }) => fetch(`/api/jobs/${id}`, { method: "DELETE" }))))"""
    )


def test_back_leads_to_the_start_and_not_out_of_the_site(page, tmp_path):
    started = headline(page).inner_text()
    (tmp_path / "mine.txt").write_text(f"{MUTAGEN} first\nCO second\n")
    page.locator("#file").set_input_files(tmp_path / "mine.txt")
    page.get_by_role("radio", name="Minimal").check()
    page.get_by_role("button", name="Explain all 2").click()
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")
    page.go_back()
    expect(headline(page)).to_have_text(started)
    expect(page.locator("#before svg")).to_be_visible()
    page.go_forward()
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")


def test_what_was_not_tried_is_said_in_plain_words(page):
    molecule(page, "CO")
    page.get_by_label("Keep as it is").fill("0, 1")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#stage[data-job]")).to_be_visible()
    said = headline(page).inner_text() + page.locator("#note").inner_text()
    assert "to stay" in said, said
    assert not re.search(r"`|freeze_|[a-z]_[a-z]|beam|moves", said), said
    assert "More options" in said, "it names what there is at the page"


def test_names_and_mobile_hydrogens(page):
    """A name that is known is offered; the InChI of an amide is an amide and no imidic acid."""
    enter(page, "aspirin")
    expect(page.locator("#problem")).to_contain_text("names are not looked up")
    page.get_by_role("button", name="Use aspirin").click()
    expect(page.locator("#subline")).to_have_text("CC(=O)Oc1ccccc1C(=O)O")
    enter(page, "InChI=1S/C8H9NO2/c1-6(10)9-7-2-4-8(11)5-3-7/h2-5,11H,1H3,(H,9,10)")
    expect(page.locator("#subline")).to_have_text("CC(=O)Nc1ccc(O)cc1")
    enter(page, "[CH3]")
    expect(page.locator("#problem")).to_contain_text("Draw the neutral form, with all valences filled")


def test_a_first_answer_is_accessible(browser, server):
    """In both themes, and on a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    context = browser.new_context(base_url=server, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    page = opened(context)
    held: list[Route] = []
    page.route(re.compile(r"/api/jobs/[^/]+\?"), lambda route: hold_after_the_first(route, held))
    ask_for_long(page)
    expect(page.locator("#stage[data-first]")).to_be_visible()
    for theme, width in (("light", 1200), ("dark", 360)):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        assert serious(axe, page) == [], f"{theme}, {width} wide"
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    context.close()


def hold_after_the_first(route: Route, held: list[Route]) -> None:
    """Answer requests about a job until it has a first answer; then it seems to go on for ever."""
    if held:
        held.append(route)
        return
    response = route.fetch()
    if response.json().get("answers"):
        held.append(route)
    route.fulfill(response=response)
