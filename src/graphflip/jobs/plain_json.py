"""JSON that every program can read and write: not nested too deeply, no halves of characters."""

import re
from typing import Any

_DEEPEST = 40
_HALVES = re.compile("[\ud800-\udfff]")


def check_depth(stored: Any) -> Any:
    """Raise ValueError if JSON is nested deeper than anything of ours is: not all of Python can read or write it."""
    level = [stored]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return stored
    raise ValueError(f"JSON must be nested at most {_DEEPEST} deep; this is deeper.")


def without_halves(stored: Any) -> Any:
    """Replace halves of characters, which JSON may hold but no response can."""
    if isinstance(stored, str):
        return _HALVES.sub("\ufffd", stored)
    if isinstance(stored, list):
        return [without_halves(one) for one in stored]
    if isinstance(stored, dict):
        return {without_halves(name): without_halves(one) for name, one in stored.items()}
    return stored
