"""The program of the workers (`python -m graphflip.viewer.work.compute`): tasks in, results out, as lines of JSON.

It loads the models once and forks a worker for each socket that the server sends it.
"""

import gc
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import torch

from ...errors import GraphflipError
from ...explain.edits.beam import Round
from ...explain.explainer import Explainer, load
from ...explain.kit import kit_schema
from ...explain.query import Query
from ...nn.memory import keep_memory
from ...report.about import figures_of
from ..config import title_of
from .first import FirstAnswers
from .tasks import TASKS, describe_model, explain, show_input
from .written import Unusable

Json = dict[str, Any]
Reply = Callable[[Json], None]

_SHORT, _LOWER = 1.0, 12
"""Processor seconds after which a task lets others go first, and how far: not so far that a busy machine stops it."""
_PAUSE = 0.2
"""Seconds between two messages about the progress of a task, at least."""


class Cancelled(Exception):
    """The task that is running is no longer wanted."""


def main() -> None:
    """Load the models, then fork a worker for each socket that comes, until the server has gone."""
    os.dup2(2, 1)  # what models print is for the server's log
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the server ends its workers
    keep_memory()
    torch.set_num_threads(1)
    setting = json.loads(sys.argv[1])
    # A classifier of the user's may have threads or connections, which a fork would break: each worker loads its own.
    loaded = None if setting["classifier"] is not None else load_models(setting)
    gc.freeze()  # so that looking for garbage does not copy memory that workers share
    control, workers = socket.socket(fileno=setting["control"]), set()
    while True:
        nice, sockets, _, _ = socket.recv_fds(control, 1, 1)
        workers = {one for one in workers if os.waitpid(one, os.WNOHANG) == (0, 0)}
        if not nice:
            _end_with(workers)
        if (worker := os.fork()) == 0:
            control.close()
            work(socket.socket(fileno=sockets[0]), loaded or load_models(setting), nice[0])
        os.close(sockets[0])
        workers.add(worker)


def load_models(setting: Json) -> tuple[dict[str, Explainer], Json]:
    """Load the explainer of each kit, by title; gives them, and what to tell the server: descriptions or a refusal."""
    try:
        explainers = load_explainers(setting)
        models = [_described(title, one, setting) for title, one in explainers.items()]
        if setting["classifier"] is None:
            warm_up(explainers, models)
        return explainers, {"models": models}
    except GraphflipError as error:
        return {}, {"refused": str(error)}


def load_explainers(sources: Json) -> dict[str, Explainer]:
    """Load the explainer of each kit, by title; with the classifier of a factory if one is given."""
    if sources["classifier"] is None:
        return {title_of(model): load(model) for model in sources["models"]}
    from ...models.adapters.factory import load_factory

    return {
        title_of(model): load(model, classifier=load_factory(sources["classifier"], kit_schema(model)))
        for model in sources["models"]
    }


def warm_up(explainers: dict[str, Explainer], models: list[Json]) -> None:
    """Read and explain a small molecule with each kit, so that what is loaded at its first use is there for all.

    Without that the first question to each worker takes half a second longer.
    """
    for model in models:
        name, smiles = model["name"], [one["smiles"] for one in model["examples"]]
        if smiles:
            asked = {"asked": Query.of(target=model["suggestion"] or None).model_dump(mode="json"), "id": ""}
            task = {"input": {"smiles": min(smiles, key=len)}, "model": name, "source": name, "private": False, **asked}
            with suppress(GraphflipError):  # who asks the same is told
                show_input(explainers[name], task, lambda _: None)
                explain(explainers[name], task | {"behind": True}, lambda _: None)


def _described(title: str, explainer: Explainer, setting: Json) -> Json:
    """The description of a kit with the figures of its classifier."""
    source = next(model for model in setting["models"] if title_of(model) == title)
    figures, training = figures_of(source) if setting["classifier"] is None else ({}, "")
    return describe_model(title, explainer) | {"figures": figures, "training": training}


def work(channel: socket.socket, loaded: tuple[dict[str, Explainer], Json], nice: int) -> None:
    """The life of a worker: it says what it has loaded, and runs the tasks that come until the server has gone."""
    explainers, said = loaded
    reply = _reply_on(channel.makefile("w", encoding="utf-8"))
    os.nice(nice)  # the server, which answers requests, goes before searches
    tasks: queue.Queue[Json] = queue.Queue()
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=(channel.makefile(), tasks, cancelled), daemon=True).start()
    reply(said | {"pid": os.getpid()})
    if not explainers:
        _end()
    while True:
        task = tasks.get()
        watcher = Watcher(reply, cancelled, behind=bool(task.get("behind")))
        end = run_task(explainers, task, watcher)
        reply(end | ({"leaves": True} if watcher.is_lower else {}))
        if watcher.is_lower:
            _end()


class Watcher:
    """Watches a task: ends it when nobody wants it any more, sends news of it, and lowers its priority when it is long.

    A task is long when it has a first answer to show, or has computed for a second, or is `behind` others from the
    start. So reading, short questions and first answers do not wait for it. A process cannot raise its priority again,
    and another one takes the place of one that has lowered it.
    """

    def __init__(self, reply: Reply, cancelled: threading.Event, behind: bool = False):
        self.reply, self.cancelled, self.is_lower = reply, cancelled, False
        self._began, self._told = time.process_time(), 0.0
        if behind:
            self.lower()

    def __call__(self, news: Round | FirstAnswers | None) -> None:
        if self.cancelled.is_set():
            raise Cancelled
        if isinstance(news, FirstAnswers):
            self.reply({"news": {"answers": news.answers}})
            self.lower()
        elif news is not None and time.monotonic() - self._told > _PAUSE:
            self._told = time.monotonic()
            self.reply({"news": {"progress": vars(news)}})
        if time.process_time() - self._began > _SHORT:
            self.lower()

    def lower(self) -> None:
        """Let others go first from now on."""
        if not self.is_lower:
            os.nice(_LOWER)
            self.is_lower = True


def run_task(explainers: dict[str, Explainer], task: Json, watch: Watcher) -> Json:
    """Run a task; gives its result or what went wrong. No error of a task ends the process."""
    try:
        return {"result": TASKS[task["do"]](explainers[task["model"]], task, watch)}
    except Cancelled:
        return {"ended": "cancelled"}
    except GraphflipError as error:
        return {"refused": str(error), "actions": error.actions if isinstance(error, Unusable) else []}
    except Exception:
        traceback.print_exc()
        return {"ended": "crashed"}


def _reply_on(channel: TextIO) -> Reply:
    """A function that sends a message to the server."""

    def reply(message: Json) -> None:
        try:
            channel.write(json.dumps(message, allow_nan=False) + "\n")
            channel.flush()
        except (BrokenPipeError, ConnectionResetError):
            _end()

    return reply


def _listen(lines: TextIO, tasks: queue.Queue[Json], cancelled: threading.Event) -> None:
    """Put tasks from the server into the queue, note cancellations, and end the process when the server has gone."""
    try:
        for line in lines:
            message = json.loads(line)
            if "run" in message:
                cancelled.clear()
                tasks.put(message["run"])
            else:
                cancelled.set()
    finally:
        _end()


def _end_with(workers: set[int]) -> None:
    """End the workers, then this process."""
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    _end()


def _end() -> None:
    """End the process at once: nobody reads a result or an error any more."""
    os._exit(0)


if __name__ == "__main__":
    main()
