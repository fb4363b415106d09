"""The program of a worker (`python -m graphflip.viewer.work.compute`): tasks in, results out, as lines of JSON."""

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from ...errors import GraphflipError
from ...explain.edits.beam import Round
from ...explain.explainer import Explainer, load
from ...explain.kit import kit_schema
from ...nn.memory import keep_memory
from ...report.about import figures_of
from ..config import title_of
from .tasks import TASKS, describe_model
from .written import Unusable


class Cancelled(Exception):
    """The task that is running is no longer wanted."""


def main() -> None:
    """Load the models, send their descriptions, and run the tasks that come on standard input until it is closed."""
    reply = _reply_on(_take_stdout())
    keep_memory()
    setting = json.loads(sys.argv[1])
    if hasattr(os, "nice"):
        os.nice(setting["nice"])  # the server, which answers requests, goes before searches
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=(sys.stdin, tasks, cancelled), daemon=True).start()
    try:
        explainers = load_explainers(setting)
        reply({"models": [_described(title, explainer, setting) for title, explainer in explainers.items()]})
    except GraphflipError as error:
        reply({"refused": str(error)})
        return

    def watch(progress: Round | None) -> None:
        if cancelled.is_set():
            raise Cancelled
        if progress is not None:
            reply({"progress": vars(progress)})

    while True:
        run_task(explainers, tasks.get(), watch, reply)


def load_explainers(sources: dict[str, Any]) -> dict[str, Explainer]:
    """Load the explainer of each kit, by title; with the classifier of a factory if one is given."""
    if sources["classifier"] is None:
        return {title_of(model): load(model) for model in sources["models"]}
    from ...models.adapters.factory import load_factory

    return {
        title_of(model): load(model, classifier=load_factory(sources["classifier"], kit_schema(model)))
        for model in sources["models"]
    }


def _described(title: str, explainer: Explainer, setting: dict[str, Any]) -> dict[str, Any]:
    """The description of a kit with the figures of its classifier."""
    source = next(model for model in setting["models"] if title_of(model) == title)
    figures, training = figures_of(source) if setting["classifier"] is None else ({}, "")
    return describe_model(title, explainer) | {"figures": figures, "training": training}


def run_task(
    explainers: dict[str, Explainer],
    task: dict[str, Any],
    watch: Callable[[Round | None], None],
    reply: Callable[[dict[str, Any]], None],
) -> None:
    """Run a task and send its result or what went wrong; no error of a task ends the process."""
    try:
        reply({"result": TASKS[task["do"]](explainers[task["model"]], task, watch)})
    except Cancelled:
        reply({"ended": "cancelled"})
    except GraphflipError as error:
        reply({"refused": str(error), "actions": error.actions if isinstance(error, Unusable) else []})
    except Exception:
        traceback.print_exc()
        reply({"ended": "crashed"})


def _take_stdout() -> TextIO:
    """Keep standard output for messages to the server: everything else that is printed goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _reply_on(channel: TextIO) -> Callable[[dict[str, Any]], None]:
    """A function that sends a message to the server."""

    def reply(message: dict[str, Any]) -> None:
        try:
            channel.write(json.dumps(message, allow_nan=False) + "\n")
            channel.flush()
        except BrokenPipeError:
            _end()

    return reply


def _listen(lines: TextIO, tasks: queue.Queue[dict[str, Any]], cancelled: threading.Event) -> None:
    """Put tasks from the server into the queue, note cancellations, and end the process when the server has gone."""
    for line in lines:
        message = json.loads(line)
        if "run" in message:
            cancelled.clear()
            tasks.put(message["run"])
        else:
            cancelled.set()
    _end()


def _end() -> None:
    """End the process at once: the server has gone, so nobody reads a result or an error."""
    os._exit(0)


if __name__ == "__main__":
    main()
