"""Answers of every explainer, kept as a file: a change that is not meant to change answers must not change these.

python tests/golden_answers.py check     compare all, numbers up to rounding (minutes of one core: less than one)
python tests/golden_answers.py exact     compare all, to the last bit: for the machine that wrote them
python tests/golden_answers.py write     keep today's answers, for a change that is meant to; needs the datasets
"""

import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

import graphflip as gf
from graphflip.describe.takeback import take_back
from graphflip.describe.wording import describe
from graphflip.explain import (
    EditSearch,
    LatentSearch,
    LatentTraversal,
    NearestNeighbor,
    NeighborMean,
    NoChange,
    RandomExample,
    ReconstructionOnly,
    Refine,
)
from graphflip.explain.latent.baselines import LatentIndex
from graphflip.explain.latent.saliency import SaliencyWalk
from graphflip.explain.records import to_record
from graphflip.jsongraph import graph_from_json, graph_to_json
from graphflip.models.adapters import BlackBox

FILE = Path(__file__).parent / "golden" / "answers.json"
KITS = ("mutagenicity", "nci1", "aids")
GRAPHS = 8  # of each kit; the first are what is explained, all are what baselines choose from

# A clock or a wording changes these. Claims have laws of their own (tests/explain/test_claims.py), and to check them
# takes classifier calls.
DROPPED = {
    *("seconds", "note"),
    *("one_minimal", "needed_for", "smaller", "lead_factual", "lead_counterfactual", "classifier_calls"),
}

CONSTRAINTS: dict[str, dict[str, Any]] = {
    "rings": {"freeze_rings": True},
    "types": {"forbid_node_types": ["Br", "Cl", "F"], "forbid_edge_types": ["triple"]},
    "frozen": {"freeze_nodes": [0, 1], "freeze_edges": [(2, 3)], "budget": 6},
    "ops": {"forbid_ops": ["remove_node", "remove_edge"]},
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A question to one explainer about one of a kit's graphs."""

    kit: str
    graph: int
    explainer: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        more = ",".join(f"{key}={value}" for key, value in self.options)
        return f"{self.kit}/{self.graph}/{self.explainer}" + (f"/{more}" if more else "")


def cases() -> Iterator[Case]:
    for kit in KITS:
        for number in range(2):
            for prefer in ("minimal", "balanced", "believable"):
                yield Case(kit, number, "search", (("prefer", prefer),))
        yield Case(kit, 2, "search", (("num", 3),))
        yield Case(kit, 2, "search", (("frontier", True),))
        yield Case(kit, 3, "search", (("confidence", 0.9),))
        for explainer in ("cgcf", "anchored", "refined", "latent-search", "nearest", "mean"):
            yield Case(kit, 4, explainer)
    for name in CONSTRAINTS:
        for number in (2, 4):
            yield Case("mutagenicity", number, "search", (("constraints", name),))
    yield Case("aids", 4, "search", (("constraints", "types"),))
    for explainer in ("random", "no-change", "reconstruction", "samples", "descent", "walk", "black-box", "undone"):
        yield Case("mutagenicity", 5, explainer)


CASES = {case.name: case for case in cases()}


@cache
def explainer_of(kit: str) -> gf.Explainer:
    return gf.load(kit)


@cache
def stored() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def answers(case: Case) -> list[dict[str, Any]]:
    """The answers to a case, as records without what is not compared, with their words."""
    explainer = explainer_of(case.kit)
    graph = graph_from_json(stored()["graphs"][case.kit][case.graph], explainer.kit.schema)
    found = _found(case, explainer, graph)
    records: list[dict[str, Any]] = [to_record(one) | {"words": describe(one)} for one in found]
    for one in records:
        if one.get("importance"):  # estimates follow from the graph and the classifier; they have tests of their own
            one["importance"].pop("estimated", None)
    for one in records:  # what is nearest in the training data depends on RDKit's fingerprints
        one["evidence"] = {k: v for k, v in (one["evidence"] or {}).items() if not k.startswith("nearest_")} or None
    return json.loads(json.dumps([_compared(one) for one in records]))


def kept_answers(name: str) -> list[dict[str, Any]]:
    """The answers to a case that were kept, without what is not compared."""
    return [_compared(one) for one in stored()["answers"][name]]


def _compared(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in DROPPED}


def _found(case: Case, explainer: gf.Explainer, graph: gf.Graph) -> list[gf.Counterfactual]:
    name = case.explainer
    if name == "search":
        options = dict(case.options)
        if "constraints" in options:
            options["constraints"] = gf.Constraints(**CONSTRAINTS[options["constraints"]])
        found = explainer.explain(graph, **options)
        return found if isinstance(found, list) else [found]
    if name == "undone":
        return [take_back(explainer, explainer.explain(graph), [0])]
    return _method(name, explainer, _dataset(case.kit)).explain(graph, ids=["golden"], seed=3)


def _method(name: str, explainer: gf.Explainer, dataset: gf.GraphDataset) -> Any:
    kit = explainer.kit
    vae, classifier, moves = kit.vae, kit.classifier, explainer.search().moves
    anchored = {"anchor": "factual", "regularization": 0.1, "infer": "most_likely", "steps": 40}
    if name == "black-box":
        asked = BlackBox(_asked(classifier), kit.schema, budget=400)
        return dataclasses.replace(explainer.search(), classifier=asked)
    if name == "walk":
        return EditSearch(classifier, moves, walk=SaliencyWalk(vae, (classifier, *kit.surrogates[:1])), proposals=24)
    return {
        "cgcf": lambda: LatentTraversal(vae, classifier, steps=30),
        "samples": lambda: LatentTraversal(vae, classifier, steps=12, infer="samples", samples=3),
        "descent": lambda: LatentTraversal(vae, classifier, steps=12, optimizer="descent", keep_path=True),
        "anchored": lambda: LatentTraversal(vae, classifier, **anchored),
        "refined": lambda: Refine(LatentTraversal(vae, classifier, **anchored)),
        "latent-search": lambda: LatentSearch(vae, classifier, moves, rounds=12),
        "nearest": lambda: NearestNeighbor(vae, classifier, LatentIndex.build(vae, dataset)),
        "mean": lambda: NeighborMean(vae, classifier, LatentIndex.build(vae, dataset), k=3),
        "random": lambda: RandomExample(vae, classifier),
        "no-change": lambda: NoChange(classifier),
        "reconstruction": lambda: ReconstructionOnly(vae, classifier),
    }[name]()


def _asked(classifier: Any) -> Any:
    """A classifier as a function of a list of graphs that gives probabilities."""

    @torch.no_grad()
    def predict(graphs: list[gf.Graph]) -> Any:
        padded = [graph.pad(graph.schema.max_nodes) for graph in graphs]
        return classifier(gf.Graph.cat(padded)).softmax(-1).numpy()

    return predict


@cache
def _dataset(kit: str) -> gf.GraphDataset:
    """The kept graphs, labeled as the classifier predicts."""
    explainer = explainer_of(kit)
    graphs = [graph_from_json(one, explainer.kit.schema) for one in stored()["graphs"][kit]]
    with torch.no_grad():
        labels = [int(explainer.kit.classifier(one.pad(one.schema.max_nodes)).argmax()) for one in graphs]
    return gf.GraphDataset.from_graphs(kit, graphs, torch.tensor(labels), explainer.kit.classes)


def differences(found: Any, kept: Any, at: str = "", exact: bool = False) -> Iterator[str]:
    """Where two JSON values differ; numbers up to rounding, unless `exact`."""
    if isinstance(kept, float) and isinstance(found, float) and not exact:
        if not math.isclose(found, kept, rel_tol=1e-3, abs_tol=1e-4):
            yield f"{at}: {found} instead of {kept}"
    elif isinstance(kept, dict) and isinstance(found, dict):
        for key in kept.keys() | found.keys():
            yield from differences(found.get(key), kept.get(key), f"{at}.{key}", exact)
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for k, (one, other) in enumerate(zip(found, kept, strict=True)):
            yield from differences(one, other, f"{at}[{k}]", exact)
    elif found != kept:
        yield f"{at}: {found} instead of {kept}"


def write() -> None:
    """Choose graphs (from validation splits), explain them, and keep the answers."""
    torch.set_num_threads(1)
    kept: dict[str, Any] = {"graphs": {}, "answers": {}}
    for kit in KITS:
        part = gf.load_dataset(kit).part("validation")
        spread = [k * len(part) // GRAPHS for k in range(GRAPHS)]
        kept["graphs"][kit] = [graph_to_json(part.graphs([k])) for k in spread]
    FILE.write_text(json.dumps(kept), encoding="utf-8")
    for name, case in CASES.items():
        kept["answers"][name] = answers(case)
        print(name, [one["outcome"] for one in kept["answers"][name]], flush=True)
    FILE.write_text(json.dumps(kept), encoding="utf-8")


def check(exact: bool) -> bool:
    """Compare every answer with the one that was kept, and print where they differ."""
    torch.set_num_threads(1)
    found = {name: list(differences(answers(case), kept_answers(name), exact=exact)) for name, case in CASES.items()}
    for name, lines in found.items():
        print(f"{name}: {'; '.join(lines)[:600]}" if lines else f"{name}: the same")
    wrong = sum(map(bool, found.values()))
    print(f"{len(found) - wrong} of {len(found)} are the same")
    return not wrong


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    if wanted == "write":
        write()
    elif wanted in ("check", "exact"):
        sys.exit(not check(wanted == "exact"))
    else:
        sys.exit(__doc__)
