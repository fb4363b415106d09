"""Train the models that the package carries, two at a time, and put them where it looks for them.

Usage: python tools/make_models.py [DATASET/NAME ...]   (all by default; a run that was interrupted goes on)
"""

import shutil
import sys
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import torch

from graphflip.data.source import load_dataset
from graphflip.explain.assess import plausible_limit
from graphflip.explain.edits.experience.practice import learn_experience
from graphflip.explain.edits.experience.table import EXPERIENCE
from graphflip.explain.explainer import load
from graphflip.explain.knowledge import KNOWLEDGE, Knowledge
from graphflip.explain.neighbors import save_training_molecules
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.models.storage.store import PRETRAINED, load_model
from graphflip.models.training.schedule import TrainingProgress
from graphflip.models.training.train import train_model

ROOT = Path(__file__).parent.parent
RUNS, RESULTS = ROOT / "runs", ROOT / "results" / "training"

ROLES = {
    "classifier": ("classifier", "default"),
    "judge": ("judge", "gnn"),
    "trees": ("judge", "trees"),
    "surrogate-gin": ("surrogate", "gin"),
    "surrogate-gin-deep": ("surrogate", "gin-deep"),
    "surrogate-average": ("surrogate", "average"),
    "surrogate-counts": ("surrogate", "counts"),
    "surrogate-linear": ("surrogate", "linear"),
    "surrogate-types": ("surrogate", "types"),
    "vae": ("vae", "modern"),
    "vae-paper": ("vae", "paper"),
    "classifier-paper": ("classifier", "paper"),
}
MADE_LAST = ("knowledge", "neighbors", "experience")
PROCESSES = 2
# Training graphs on which moves are tried, to learn what they do.
PRACTICE = 1500
# Epochs that fit two cores and an afternoon; the paper trains its autoencoders for 2000.
EPOCHS = {
    "ames/vae": 160,
    "logp/vae": 60,
    "mutagenicity/vae": 220,
    "nci1/vae": 100,
    "aids/classifier": 100,  # few graphs, so few steps in an epoch
    "aids/judge": 100,
    "aids/surrogate-gin": 100,
    "aids/surrogate-gin-deep": 100,
    "aids/surrogate-average": 100,
    "aids/vae": 150,
    "aids/vae-paper": 400,
}
# The recipe is the paper's text. On NCI1 a rate that falls and a little weight decay were better on the validation part
# (AUROC .758 against .749), so these settings are the ones that are shipped.
CHANGES = {"nci1/classifier-paper": {"decay": "cosine", "warm_up": 0.05, "weight_decay": 1e-4, "clip": 1.0}}
DATASETS = ("ames", "logp", "mutagenicity", "aids", "nci1")
# AIDS is decided by the size of a molecule, about which environments say little; the others are not.
LEFT_OUT = {"aids/surrogate-counts", "aids/surrogate-linear", "mutagenicity/surrogate-types", "nci1/surrogate-types"}
# The paper's designs are for the paper's sets; a kit of values has no trees, which are for two classes.
LEFT_OUT |= {
    f"{name}/{model}" for name in ("ames", "logp") for model in ("vae-paper", "classifier-paper", "surrogate-types")
}
# The kits are small enough to be part of the package, together at most 25 MB: this one has what an answer needs.
LEFT_OUT |= {
    f"logp/{name}"
    for name in (
        "experience",
        "judge",
        "trees",
        *(f"surrogate-{kind}" for kind in ("linear", "counts", "gin-deep", "average")),
    )
}


def main(names: list[str]) -> None:
    everything = [f"{dataset}/{role}" for role in (*ROLES, *MADE_LAST) for dataset in DATASETS]
    todo = names or [name for name in everything if name not in LEFT_OUT]
    made_last = [name for name in todo if name.split("/")[1] in MADE_LAST]
    # The longest first, so that both processes end at about the same time.
    trained = sorted(set(todo) - set(made_last), key=lambda name: ("vae" not in name, todo.index(name)))
    with get_context("spawn").Pool(PROCESSES, maxtasksperchild=1) as pool:
        for line in pool.imap_unordered(train, trained):
            print(line, flush=True)
    for name in made_last:
        finish(*name.split("/"))


def train(name: str) -> str:
    """Train one model, put it into the package, and return the line for the log."""
    torch.set_num_threads(1)
    dataset_name, model_name = name.split("/")
    folder, started, (role, preset) = RUNS / name, time.monotonic(), ROLES[model_name]
    changes = CHANGES.get(name, {}) | ({"epochs": EPOCHS[name]} if name in EPOCHS else {})
    dataset = load_dataset(dataset_name)
    card = train_model(role, dataset, folder, preset, changes, resume=True, watch=partial(report, name))
    for file in ("card.json", "weights.safetensors"):
        (PRETRAINED / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / file, PRETRAINED / name / file)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("curves.*"):
        shutil.copy(file, RESULTS / f"{dataset_name}-{model_name}{file.suffix}")
    figures = ", ".join(f"{key} {value:.4f}" for key, value in card.figures.items())
    line = f"{name}: {time.monotonic() - started:.0f} s; test: {figures}"
    with (RESULTS / "log.txt").open("a") as log:
        log.write(line + "\n")
    return line


def finish(dataset_name: str, part: str) -> None:
    """Make what a kit has besides models: knowledge of its graphs, its training molecules, and experience."""
    dataset, kit = load_dataset(dataset_name), PRETRAINED / dataset_name
    if part == "experience":
        train = dataset.part("train")
        chosen = torch.randperm(len(train), generator=torch.Generator().manual_seed(0))[:PRACTICE].tolist()
        search = load(kit).search(prefer="balanced")
        learn_experience(search, (train.graphs([k]) for k in chosen)).save(kit / EXPERIENCE)
        return
    if part == "neighbors":
        save_training_molecules(dataset, kit)
        return
    limit = plausible_limit(load_model(kit / "vae", expect=PEGVAE), dataset.part("validation"))
    Knowledge.mine(dataset.part("train"), limit).save(kit / KNOWLEDGE)


def report(name: str, progress: TrainingProgress) -> None:
    line = progress.last
    if line.figures:
        figures = " ".join(f"{key} {value:.4f}" for key, value in line.figures.items())
        print(
            f"{name} {progress.epoch}/{progress.epochs} {progress.seconds:.0f}s loss {line.loss:.4f} {figures}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
