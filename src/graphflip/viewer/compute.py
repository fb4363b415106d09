"""What a worker of the viewer runs (`python -m graphflip.viewer.compute`): lines of JSON in, lines of JSON out."""

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from ..errors import GraphflipError
from ..explain.edits.beam import Round
from ..explain.explainer import Explainer, load
from ..explain.kit import kit_schema
from ..models.training.memory import keep_memory
from . import tasks as views
from .config import title_of


class Cancelled(Exception):
    """Somebody does not want the answer any more."""


def main() -> None:
    """Load the models, say so, and do what the lines on standard input ask for until it is closed."""
    replies = _take_stdout()

    def reply(message: dict[str, Any]) -> None:
        try:
            replies.write(json.dumps(message, allow_nan=False) + "\n")
            replies.flush()
        except BrokenPipeError:
            _end()

    keep_memory()
    if hasattr(os, "nice"):
        os.nice(5)  # pages go before searches
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=(sys.stdin, tasks, cancelled), daemon=True).start()
    try:
        explainers = load_explainers(json.loads(sys.argv[1]))
        reply({"models": [views.describe_model(title, one) for title, one in explainers.items()]})
    except GraphflipError as error:
        reply({"refused": str(error)})
        return

    def watch(round_: Round) -> None:
        if cancelled.is_set():
            raise Cancelled
        reply({"progress": vars(round_)})

    while True:
        answer(explainers, tasks.get(), watch, reply)


def load_explainers(sources: dict[str, Any]) -> dict[str, Explainer]:
    """The explainers of the kits that are named, by title."""
    if sources["classifier"] is None:
        return {title_of(model): load(model) for model in sources["models"]}
    from ..models.adapters.factory import load_factory

    return {
        title_of(model): load(model, classifier=load_factory(sources["classifier"], kit_schema(model)))
        for model in sources["models"]
    }


def answer(
    explainers: dict[str, Explainer],
    task: dict[str, Any],
    watch: Callable[[Round], None],
    reply: Callable[[dict[str, Any]], None],
) -> None:
    """Do one task and say what came of it; nothing that a task does ends the process."""
    try:
        reply({"result": views.TASKS[task["do"]](explainers[task["model"]], task, watch)})
    except Cancelled:
        reply({"ended": "cancelled"})
    except GraphflipError as error:
        reply({"refused": str(error)})
    except Exception:
        traceback.print_exc()
        reply({"ended": "crashed"})


def _take_stdout() -> TextIO:
    """Standard output for our lines alone: whatever else is printed goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _listen(lines: TextIO, tasks: queue.Queue[dict[str, Any]], cancelled: threading.Event) -> None:
    for line in lines:
        message = json.loads(line)
        if "run" in message:
            cancelled.clear()
            tasks.put(message["run"])
        else:
            cancelled.set()
    _end()


def _end() -> None:
    """The server has gone: nobody wants an answer, not even that something went wrong."""
    os._exit(0)


if __name__ == "__main__":
    main()
