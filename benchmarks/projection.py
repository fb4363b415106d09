"""What a billion molecules would take, from results/scale.json, as the last section of docs/concepts/scale.md.

Usage: python benchmarks/projection.py     (after python benchmarks/scale.py)
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS, DOCS = ROOT / "results" / "scale.json", ROOT / "docs" / "concepts" / "scale.md"
MOLECULES, CORES = 10**9, 1000
TITLE = "## A billion molecules"
_DAY = 86400  # seconds


def main() -> None:
    before = DOCS.read_text().partition(TITLE)[0].rstrip()
    DOCS.write_text(f"{before}\n\n{section(json.loads(RESULTS.read_text()))}")


def section(found: dict[str, Any]) -> str:
    """The section, in which every number is one of the results or computed from them."""
    rows, memory, speedup = found["rows"], found["memory"], found["speed"]["dask"]["speedup"]
    few, many = min(memory, key=int), max(memory, key=int)
    each = {prefer: found["molecules"][prefer] for prefer in ("minimal", "balanced")}
    writing = rows["overhead_seconds_per_100000_rows"] / 1e5  # seconds of the command for each row
    checking = rows["seconds_to_check_100000_finished_rows"] / 1e5
    piece = 10**7
    table = [
        ("", *(f"`--prefer {prefer}`" for prefer in each)),
        ("---",) * (1 + len(each)),
        ("a molecule: processor seconds", *(f"{one['seconds']:.2f}" for one in each.values())),
        ("a molecule: bytes of its shard", *(f"{one['bytes']:,}" for one in each.values())),
        (f"all: days on {CORES:,} cores", *(f"{_days(one['seconds'] / CORES):,.0f}" for one in each.values())),
        ("all: terabytes of shards", *(f"{one['bytes'] * MOLECULES / 1e12:.1f}" for one in each.values())),
        ("cores that one command can keep busy", *(f"{one['seconds'] / writing:,.0f}" for one in each.values())),
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in table]
    return f"""{TITLE}

Projected from what `benchmarks/scale.py` measured on {found["machine"]["cores"]} cores, the kit `mutagenicity` on
{found["molecules"]["molecules"]} molecules of RDKit's (`results/scale.json`). Two workers on Dask were
{speedup:.2f} times as fast as one: the days are a lower bound.

{chr(10).join(lines)}

What breaks first is the one command that reads and writes, not the workers:

- it spends {writing * 1e5:.1f} s on 100,000 rows, {_days(writing):.1f} days on all, and {_days(checking):.1f} days to
  check what is there when it is started again. So cut the library into files of {piece:,} rows, with a job and a
  folder each: a restart checks one of them in {checking * piece / 60:.0f} minutes, and jobs can share a cluster;
- `counterfactuals.jsonl`, written at the end, holds every record once more, uncompressed. Parquet readers take the
  shards as they are, at most 1,000 rows each;
- not memory: a job of {int(many):,} rows took {memory[many]["megabytes"]:,} MB, one of {int(few):,} rows
  {memory[few]["megabytes"]:,} MB;
- the lock of a folder is `flock`: on a file system that does not have it, see to it yourself that one command runs.
"""


def _days(seconds_each: float) -> float:
    return seconds_each * MOLECULES / _DAY


if __name__ == "__main__":
    main()
