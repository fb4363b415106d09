"""Workers for what is quick: reading, predicting, undoing, and pictures."""

import asyncio
from collections.abc import Sequence
from typing import Any

from .queue import Busy, fair_order
from .worker import AbstractWorker


class QuickWorkers:
    """Workers for tasks that take no longer than a request: people in turn, and only so many tasks wait."""

    def __init__(self, workers: Sequence[AbstractWorker], max_waiting: int, seconds: float):
        self.workers, self.max_waiting, self.seconds = workers, max_waiting, seconds
        self._free = list(workers)
        self._busy: dict[AbstractWorker, str] = {}
        self._turns: list[tuple[str, asyncio.Future[AbstractWorker]]] = []

    async def start(self) -> None:
        """Start the workers."""
        await asyncio.gather(*(worker.start() for worker in self.workers))

    async def stop(self) -> None:
        """Stop the workers."""
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    async def run(self, task: dict[str, Any], owner: str = "") -> dict[str, Any]:
        """Run a task and return its result. Raises Busy if too many others are waiting."""
        if len(self._turns) + len(self._busy) >= self.max_waiting:
            raise Busy("Many people are asking at this moment. Try again in a second.", retry_after=1)
        worker = await self._turn(owner)
        running = asyncio.create_task(worker.run(task, self.seconds))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:  # nobody waits for the result any more
            worker.interrupt("cancelled")
            await asyncio.wait({running})
            running.exception()  # retrieved, or asyncio would log it
            raise
        finally:
            self._release(worker)

    async def _turn(self, owner: str) -> AbstractWorker:
        """Wait until it is the owner's turn; gives the worker that is theirs then."""
        if self._free:
            self._busy[worker := self._free.pop()] = owner
            return worker
        turn = (owner, asyncio.get_running_loop().create_future())
        self._turns.append(turn)
        try:
            return await turn[1]
        except asyncio.CancelledError:
            if turn in self._turns:
                self._turns.remove(turn)
            elif turn[1].done() and not turn[1].cancelled():
                self._release(turn[1].result())
            raise

    def _release(self, worker: AbstractWorker) -> None:
        """Give a worker to the next one in fair order."""
        last = self._busy.pop(worker)
        self._turns = [turn for turn in self._turns if not turn[1].done()]  # some have just been given up
        if not self._turns:
            self._free.append(worker)
            return
        busy = [last, *self._busy.values()]
        turn = fair_order(self._turns, [owner for owner, _ in self._turns], busy)[0]
        self._turns.remove(turn)
        self._busy[worker] = turn[0]
        turn[1].set_result(worker)
