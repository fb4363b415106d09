"""Lookups: what a function says of its arguments, worked out once."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

# Values that are kept: most places of a graph are like others, and graphs are like each other.
_MOST = 2**12


class Lookups(dict[Any, Value], Generic[Value]):
    """Values of a function by its arguments, `lookups[a, b]`, computed when they are first asked for.

    All are forgotten when there are too many.

    Args:
        compute: Function of two or more arguments that can be keys. One that does not depend on anything else.
    """

    def __init__(self, compute: Callable[..., Value]):
        super().__init__()
        self.compute = compute

    def __missing__(self, arguments: tuple[Any, ...]) -> Value:
        if len(self) >= _MOST:
            self.clear()
        value = self[arguments] = self.compute(*arguments)
        return value
