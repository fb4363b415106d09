"""Measure how different several answers to one question are, and write the figures to results/quality/diversity.json.

Usage: python tools/diversity.py mutagenicity [--part test] [--every 8] [--num 3] [--prefer balanced]

Two answers are of different kinds if their changes in words differ in more than the numbers of atoms ("replace nitro
group by carboxy group" and "add sulfo group"); they are at different places if the same atoms of the factual are not
touched by both. Needs GRAPHFLIP_DATA.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import cast

import torch

import graphflip as gf
from graphflip.data.source import load_dataset
from graphflip.describe import sentences
from graphflip.explain import Counterfactual, Explainer
from graphflip.explain.query import Prefer
from graphflip.models.storage.files import write_atomically

DIVERSITY = Path(__file__).parents[1] / "results" / "quality" / "diversity.json"

_NUMBER = re.compile(r"(?<=[A-Za-z])\d+\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kit")
    parser.add_argument("--part", choices=("validation", "test"), default="test")
    parser.add_argument("--every", type=int, default=8, help="take every so many graphs of the part")
    parser.add_argument("--num", type=int, default=3)
    parser.add_argument("--prefer", choices=("minimal", "balanced", "believable"), default="balanced")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    explainer, part = gf.load(asked.kit), load_dataset(asked.kit).part(asked.part)
    graphs = part.graphs(range(0, len(part), asked.every))
    figures = measured(explainer, graphs, asked.num, cast(Prefer, asked.prefer))
    print(json.dumps(figures, indent=1))
    command = f"python tools/diversity.py {asked.kit} --part {asked.part} --every {asked.every} --num {asked.num}"
    row = {"command": f"{command} --prefer {asked.prefer}", "graphs": len(graphs), **figures}
    kept = json.loads(DIVERSITY.read_text()) if DIVERSITY.exists() else {}
    kept.setdefault(asked.kit, {}).setdefault(asked.part, {})[asked.prefer] = row
    write_atomically(DIVERSITY, (json.dumps(kept, indent=1) + "\n").encode())


def measured(explainer: Explainer, graphs: gf.Graph, num: int, prefer: Prefer) -> dict[str, object]:
    """Figures of the answers to all graphs; pairs are those of answers to one graph."""
    asked = [explainer.explain(graph, num=num, prefer=prefer) for graph in graphs]
    answers = [[answer for answer in some if answer.flipped] for some in asked]
    pairs = [pair for some in answers for pair in combinations(some, 2)]
    kinds, places = ([differ(of(one), of(other)) for one, other in pairs] for of in (kind, place))
    first: Counter[tuple[str, str]] = Counter(
        (some[0].goal.name(explainer.kit.classes), text) for some in answers if some for text in kind(some[0])
    )
    return {
        "answers": round(mean(map(len, answers)), 3),
        "different_kind": round(mean(kinds), 3),
        "different_place": round(mean(places), 3),
        "different": round(mean(map(max, zip(kinds, places, strict=True))), 3),
        "all_of_different_kinds": round(mean(len({*map(kind, some)}) == len(some) for some in answers), 3),
        "most_frequent": [[toward, text, count] for (toward, text), count in first.most_common(10)],
    }


def kind(answer: Counterfactual) -> tuple[str, ...]:
    """The changes of an answer in words, without the numbers of atoms."""
    assert answer.counterfactual is not None
    said = sentences(answer.factual, answer.counterfactual)
    return tuple(sorted(_NUMBER.sub("", sentence.text) for sentence in said))


def place(answer: Counterfactual) -> frozenset[int]:
    """Atoms of the factual that an answer touches."""
    there = {i for i, node in enumerate(answer.factual.nodes()) if node is not None}
    return frozenset(there.intersection(i for edit in answer.edits for i in edit.at))


def differ(one: Sequence[str] | frozenset[int], other: Sequence[str] | frozenset[int]) -> float:
    """1 if two kinds are not the same, or two places have no atom in common."""
    if isinstance(one, frozenset):
        return float(one.isdisjoint(other))
    return float(one != other)


if __name__ == "__main__":
    main()
