"""Measure the models that the package carries on the test splits and write results/base.json.

Usage: python tools/base_results.py     (needs GRAPHFLIP_DATA)
"""

import json
from pathlib import Path

import torch

import graphflip
from graphflip.data.source import load_dataset
from graphflip.models.storage.files import write_atomically
from graphflip.models.storage.store import find_model, load_model, read_card
from graphflip.models.training.evaluate import measure_classifier, measure_vae

DATASETS = ("aids", "mutagenicity", "nci1")
CLASSIFIERS = {"auroc": "classifier", "auroc_paper": "classifier-paper", "auroc_judge": "judge", "auroc_trees": "trees"}


def main() -> None:
    torch.set_num_threads(1)
    results: dict = {name: {} for name in (*CLASSIFIERS, "paper_neg_elbo", "paper", "modern")}
    for name in DATASETS:
        test = load_dataset(name).part("test")
        for key, model in CLASSIFIERS.items():
            results[key][name] = round(measure_classifier(load_model(f"{name}/{model}"), test)["auroc"], 4)
        for key, model in (("paper", "vae-paper"), ("modern", "vae")):
            figures = measure_vae(load_model(f"{name}/{model}"), test)
            results[key][name] = {figure: round(value, 4) for figure, value in figures.items()}
        results["paper_neg_elbo"][name] = results["paper"][name]["neg_elbo"]
        print(name, {key: results[key][name] for key in results}, flush=True)
    models = [f"{name}/{model}" for name in DATASETS for model in (*CLASSIFIERS.values(), "vae", "vae-paper")]
    results["about"] = {
        "command": "python tools/base_results.py",
        "part": "test",
        "measure_seed": 1,
        "training_seeds": {name: read_card(find_model(name)).training.get("seed") for name in models},
        "versions": {"graphflip": graphflip.__version__, "torch": torch.__version__.split("+")[0]},
        "definitions": "neg_elbo, kl and parts in nats per graph with beta 1, each undirected edge once; atoms, edges, "
        "graphs: shares rebuilt exactly (edges: right ones of those there or rebuilt), from the code that "
        "`PEGVAE.locate` finds; graphs_at_once: from the posterior mean alone",
    }
    target = Path(__file__).parent.parent / "results" / "base.json"
    write_atomically(target, (json.dumps(results, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
