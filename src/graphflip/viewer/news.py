"""News: wakes everybody who waits for a change."""

import asyncio
from collections.abc import Callable
from contextlib import suppress


class News:
    """The version of a thing, which grows with every change, and those who wait for the next one.

    `num_waiting` requests wait for news, and `was_asked` says that one did since it was last set to False.
    """

    def __init__(self) -> None:
        self.version, self.num_waiting, self.was_asked = 0, 0, True
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Note a change, and wake everybody who waits for one."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, seen: int, seconds: float, ended: Callable[[], bool] = lambda: False) -> None:
        """Return as soon as there is another version than `seen`, or nothing is to come, or after this many seconds."""
        self.num_waiting += 1
        try:
            if self.version == seen and not ended():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), seconds)
        finally:
            self.num_waiting -= 1
            self.was_asked = True
