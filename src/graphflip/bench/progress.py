"""Progress of a benchmark, counted over all of its runs."""

from collections.abc import Callable

Watch = Callable[[str, int, int], None]
"""Called with the name of the current run, the number of steps done, and the total number of steps."""


def counter(watch: Watch, total: int) -> Callable[[str, int], None]:
    """Make a function that adds to the number of steps done and reports it to `watch`."""
    done = 0

    def tick(what: str, count: int) -> None:
        nonlocal done
        done += count
        watch(what, done, total)

    return tick
