"""Notes of the page: what an answer misses, in plain words, whatever a search has written down."""

from graphflip.viewer.work import tasks
from graphflip.viewer.work.notes import plain_note

from .questions import task


def test_only_what_is_missed_is_said():
    note = "The closest of 9 graphs has probability 0.525 of the target (1 edit); 0.65 was asked."
    more = " 5 surrogates give it 0.888 on average; 0.76 was asked. No believable change was found."
    left_out = (
        " Changes that were not tried: 20 with surroundings that the data do not have, 3 at nodes that are to stay."
    )
    said = plain_note(note + more + left_out, flipped=True)
    assert "the classifier gives this one 0.53, not 0.65." in said
    assert "other models" not in said
    assert "No believable change was found. Not tried: changes with surroundings" in said
    assert said.endswith("or at nodes that are to stay.")
    assert "Of 9 graphs" in said
    assert "other models give this one 0.10, not 0.76" in plain_note(
        note.replace("0.525", "0.700") + more.replace("0.888", "0.100"), flipped=True
    )
    assert plain_note("Written by somebody else.", flipped=False) == "Written by somebody else."


def test_the_note_of_a_real_search_is_of_that_form(explainer):
    """What a search writes today is understood; a new form would be shown as it is, and be noticed here."""
    (shown,) = tasks.explain(explainer, task(confidence=0.99999, budget=1), lambda _: None)["answers"]
    assert shown["record"]["note"].startswith("The closest of")
    assert shown["note"].startswith("Of ")
    assert "was asked" in shown["note"]
