"""Peak memory of the walk over few and over many graphs: it must not grow with their number.

Usage: python benchmarks/memory.py [--quick]     (needs GRAPHFLIP_DATA; one JSON object on the last line)
"""

import argparse
import json
import resource
import subprocess
import sys

FEW, MANY = 64, 384


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half as many graphs")
    parser.add_argument("--explain", type=int, help="explain so many graphs and print the peak in MB")
    arguments = parser.parse_args()
    if arguments.explain:
        print(explain(arguments.explain))
        return
    counts = [FEW, MANY // 2 if arguments.quick else MANY]
    peaks = [measure(count) for count in counts]
    for count, peak in zip(counts, peaks, strict=True):
        print(f"{count} graphs: {peak:.0f} MB at most")
    print(json.dumps({"graphs": counts, "peak_mb": peaks, "growth": peaks[1] / peaks[0]}))


def measure(count: int) -> float:
    """The peak of a process of its own."""
    command = [sys.executable, __file__, "--explain", str(count)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def explain(count: int) -> float:
    import torch

    from graphflip.data.source import load_dataset
    from graphflip.explain import LatentTraversal
    from graphflip.models.store import load_model

    torch.set_num_threads(1)
    test = load_dataset("mutagenicity").part("test")
    walk = LatentTraversal(load_model("mutagenicity/vae-paper"), load_model("mutagenicity/classifier-paper"), steps=50)
    batches = (test.graphs(range(at, min(at + 64, count))) for at in range(0, count, 64))
    flipped = sum(one.flipped for one in walk.explain_all(batches))
    if not flipped:
        raise SystemExit("nothing was flipped: this measures nothing")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
