"""The page on security names the test of each claim, and these tests are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "concepts" / "security.md"
NAME = re.compile(r"`((?:test_|an?_|[a-z]+_)[a-z_]+)`")


def known():
    """Names of all tests, and of all attacks."""
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    attacks = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tools" / "attacks").glob("*.py"))
    return {
        *re.findall(r"^def (test_\w+)", tests, re.MULTILINE),
        *re.findall(r"^@attack\ndef (\w+)", attacks, re.MULTILINE),
    }


def claims():
    """Rows of the table on what is trusted: what it is about, and the cell that names tests."""
    rows = [
        line.strip("| \n").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "
    ]
    return [(row[0], row[3]) for row in rows if len(row) == 4 and row[0] != "what"]


def test_every_claim_names_tests_that_are_there():
    names, rows = known(), claims()
    assert len(rows) >= 9
    for about, shown_by in rows:
        named = NAME.findall(shown_by)
        assert named, f"{about}: no test is named"
        assert set(named) <= names, f"{about}: {set(named) - names}"


def test_no_name_of_a_test_on_the_page_is_made_up():
    words = {word for word in NAME.findall(PAGE.read_text(encoding="utf-8")) if word.startswith("test_")}
    assert words
    assert words <= known()
