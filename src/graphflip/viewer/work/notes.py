"""Notes of answers in the words of the page: what an answer misses, without the bookkeeping of the search."""

import re

_CLOSEST = re.compile(
    r"^The closest of (?P<tried>\d+) graphs has \w+ (?P<reached>-?[\d.]+)(?P<of> of the target)? "
    r"\((?P<edits>\d+) edits?\); (?P<asked>.+?) was asked\."
)
_OTHERS = re.compile(r" \d+ surrogates give it (?P<reached>-?[\d.]+) on average; (?P<asked>.+?) was asked\.")
_LEFT_OUT = re.compile(r" Changes that were not tried: (?P<reasons>.+)\.$")


def plain_note(note: str, flipped: bool) -> str:
    """A note as the page shows it; one of another form than a search's is left as it is.

    >>> plain_note("The closest of 9 graphs has probability 0.525 of the target (3 edits); 0.65 was asked.", True)
    'Of 9 graphs none meets all that was asked: the classifier gives this one 0.53, not 0.65.'
    """
    closest = _CLOSEST.match(note)
    if closest is None:
        return note
    misses = [_missed("the classifier gives", closest)]
    if (others := _OTHERS.search(note)) is not None:
        misses.append(_missed("other models give", others))
    said = [words for words in misses if words]
    which = "this one" if flipped else "the closest one"
    first = f"Of {closest['tried']} graphs none meets all that was asked"
    parts = [f"{first}: {', and '.join(said).replace('it', which, 1)}." if said else f"{first}."]
    parts = ["No change could be tried."] if closest["tried"] == "0" else parts
    rest = _LEFT_OUT.sub("", _OTHERS.sub("", note[closest.end() :])).strip()
    parts += [rest] if rest else []
    if (left_out := _LEFT_OUT.search(note)) is not None:
        parts.append(f"Not tried: changes {_without_counts(left_out['reasons'])}.")
    return " ".join(parts)


def _missed(who: str, found: re.Match[str]) -> str:
    """Words for a number that is not what was asked; empty if it is."""
    reached, asked = float(found["reached"]), found["asked"]
    is_number = re.fullmatch(r"-?[\d.]+", asked) is not None
    if is_number and reached >= float(asked):
        return ""
    return f"{who} it {reached:.2f}, not {asked}" if is_number else f"{who} it {reached:.4g}, not {asked}"


def _without_counts(reasons: str) -> str:
    """Reasons why changes were not tried, without how many there were: "57 with …, 3 at …" becomes "with … or at …"."""
    return " or ".join(re.sub(r"^\d+ ", "", reason) for reason in re.split(r", (?=\d)", reasons))
