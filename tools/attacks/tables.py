"""Attacks with tables: rows that would hide other rows."""

from itertools import chain

from .place import Place, attack


@attack
def a_quote_that_is_never_closed(place: Place) -> None:
    """One line among many begins a quote: it is a bad row, and every other line is a row."""
    good = [f"m{k},CO" for k in range(40)]
    answers = place.job(place.table(["id,smiles", *good[:10], 'oops,"CCN', *good[10:]]))
    assert len(answers) == 41
    assert [answer["id"] for answer in answers if answer["outcome"] == "bad_input"] == ["molecules/12"]
    assert max(len(answer["input"]) for answer in answers) < 100


@attack
def a_cell_with_a_line_break(place: Place) -> None:
    """Both halves of the row are bad rows; the rows around it are read."""
    lines = ["id,note,smiles", "a,fine,CCO", 'b,"two', 'lines",CCN', "c,fine,CCC"]
    answers = place.job(place.table(lines))
    assert [(answer["id"], answer["outcome"] == "bad_input") for answer in answers] == [
        *[("a", False), ("molecules/3", True), ("molecules/4", True), ("c", False)]
    ]


@attack
def quotes_everywhere(place: Place) -> None:
    """Whatever lines hold, a job has as many rows as there are lines."""
    odd = ['"', '""', 'x,"', '"x,CC', 'x,""CC"', 'x","CC', "x,'CC", 'x,"CC"N', "x\x0bCC", "x,C\x1cC"]
    lines = list(chain.from_iterable(("m,CO", one) for one in odd))
    answers = place.job(place.table(["id,smiles", *lines]))
    blank = sum(not one.strip('"') for one in odd)
    assert len(answers) == len(lines) - blank
    assert sum(answer["input"] == "CO" for answer in answers) == len(odd)
