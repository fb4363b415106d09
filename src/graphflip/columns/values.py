"""Values of attributes, and their text in messages."""

Value = str | float
"""The value of one attribute: the name of a category, or a number."""

AttributeDict = dict[str, Value]
"""The attributes of one node or one edge by column name: `{"type": "C", "charge": 0.1}`."""


def shortened(value: object) -> str:
    """Text of a value for an error message, cut to at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
