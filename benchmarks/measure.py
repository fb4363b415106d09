"""Command-line options of the benchmarks, timing of jobs in turns, memory, and the search to compare with."""

import argparse
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import torch

from graphflip.nn.memory import keep_memory


def arguments(about: str | None, parts: Sequence[str] = ()) -> argparse.Namespace:
    """Read `--quick`, `--graphs`, `--threads` and, if there are `parts` to choose from, `--only`.

    Also sets the number of threads and keeps freed memory, the same for both sides of every comparison.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under 50 s")
    parser.add_argument("--graphs", type=int, default=64, help="graphs at a time (default 64)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default 1)")
    if parts:
        parser.add_argument("--only", choices=parts, help="measure this part alone")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    return options


def alternate(jobs: Mapping[str, Callable[[], object]], repeats: int, budget: float) -> dict[str, float]:
    """Measure the median seconds of each job; the jobs run in turns, so that other load on the machine hits all alike.

    Each job should have run once before. There are at most `repeats` rounds, and no new one after `budget` seconds.
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
    """Processor time of this process if torch has one thread, as other processes do not add to it; else wall time."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def timed(job: Callable[[], object]) -> float:
    """Processor time that this process spends on a job."""
    began = time.process_time()
    job()
    return time.process_time() - began


def forget_peak() -> float:
    """Let the peak of memory begin anew, at what this process holds now: MiB of it. Only Linux can."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak_memory() -> float:
    """Largest number of MiB that this process has held since `forget_peak`."""
    return _status("VmHWM")


def _status(name: str) -> float:
    (kib,) = re.findall(rf"^{name}:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kib) / 2**10


def report(title: str, lines: Mapping[str, str], figures: Mapping[str, object]) -> None:
    """Print lines to read and, as the last line, the figures as one JSON object."""
    print(title)
    for name, text in lines.items():
        print(f"  {name:<34} {text}")
    print(json.dumps({name: round(x, 4) if isinstance(x, float) else x for name, x in figures.items()}))
