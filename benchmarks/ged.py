"""How many edit distances are proved: Mutagenicity test graphs against what the search over valid edits makes of them.

Usage: python benchmarks/ged.py [--limit N] [--quick]     (needs GRAPHFLIP_DATA; one JSON object on the last line)
"""

import argparse
import json
import statistics
import time

import torch

from graphflip.data.source import load_dataset
from graphflip.explain import EditSearch, Knowledge, Moves
from graphflip.ged.distance import graph_edit_distance
from graphflip.models.storage.store import load_model
from graphflip.nn.memory import keep_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=394, help="number of test graphs")
    parser.add_argument("--quick", action="store_true", help="a dozen graphs")
    parser.add_argument("--seconds", type=float, default=1.0, help="time limit of one distance")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    classifier = load_model("mutagenicity/classifier")
    knowledge = Knowledge.packaged("mutagenicity", classifier.schema)
    search = EditSearch(classifier, Moves(classifier.schema, knowledge.vocabulary), knowledge.environments, beam=1)
    test = load_dataset("mutagenicity").part("test")
    rng = torch.Generator().manual_seed(0)
    kept, shuffled, copies, flipped, seconds = [], [], [], 0, []
    for k in range(min(len(test), 12 if arguments.quick else arguments.limit)):
        (found,) = search.explain(test.graphs([k]))
        if found.counterfactual is None:
            continue
        flipped += found.flipped
        factual, other = found.factual.trim(), found.counterfactual.trim()
        mixed = other.permute(torch.randperm(other.num_slots, generator=rng))
        started = time.perf_counter()
        alignment = torch.arange(found.factual.num_slots)
        near = graph_edit_distance(
            found.factual, found.counterfactual, alignment=alignment, time_limit=arguments.seconds
        )
        seconds.append(time.perf_counter() - started)
        kept.append(near.exact)
        shuffled.append(graph_edit_distance(factual, mixed, time_limit=arguments.seconds).exact)
        order = torch.randperm(factual.num_slots, generator=rng)
        copies.append(graph_edit_distance(factual, factual.permute(order)).upper == 0)
    result = {
        "pairs": len(kept),
        "flip_ratio": flipped / len(kept),
        "exact_share": statistics.mean(kept),
        "exact_share_shuffled": statistics.mean(shuffled),
        "copies_recognized": statistics.mean(copies),
        "mean_seconds": statistics.mean(seconds),
        "max_seconds": max(seconds),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
