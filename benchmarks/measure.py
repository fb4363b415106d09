"""Timing two things against each other on a machine that may be busy."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import torch

from graphflip.models.training.memory import keep_memory


def arguments(about: str | None, parts: Sequence[str] = ()) -> argparse.Namespace:
    """`--quick`, `--threads`, and `--only` where there are parts to choose from.

    Also sets threads and memory, the same for both sides of every comparison.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under 50 s")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default 1)")
    if parts:
        parser.add_argument("--only", choices=parts, help="measure this part alone")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    return options


def alternate(jobs: Mapping[str, Callable[[], object]], repeats: int, budget: float) -> dict[str, float]:
    """Median seconds of each job. They run in turns, so that what disturbs one disturbs all.

    They should have run before. No further round starts after `budget` seconds of wall time, but there is always one.
    """
    started, times = time.perf_counter(), {name: [] for name in jobs}
    for turn in range(repeats):
        if turn and time.perf_counter() - started > budget:
            break
        for name, job in jobs.items():
            began = clock()
            job()
            times[name].append(clock() - began)
    return {name: median(values) for name, values in times.items()}


def clock() -> float:
    """With one thread the processor time of this process, which other processes do not add to; else wall time."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def report(title: str, lines: Mapping[str, str], figures: Mapping[str, object]) -> None:
    """Lines to read, then one JSON object as the last line."""
    print(title)
    for name, text in lines.items():
        print(f"  {name:<34} {text}")
    print(json.dumps({name: round(x, 4) if isinstance(x, float) else x for name, x in figures.items()}))
