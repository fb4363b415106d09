"""A classifier that has learned shuffled labels: its summary must say that there is little to say."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ...explain.explainer import load
from ...models.storage.store import load_model
from ...models.training.train import train_model
from .subject import DESIRED, SummarySubject

EPOCHS = 12
SUMMARIZED = 120
"""Test graphs that the summary is about."""


def shuffled_figures(subject: SummarySubject) -> dict[str, Any]:
    """Train the kit's classifier anew on labels that were drawn from a hat, and summarize it."""
    dataset, rng = subject.dataset, torch.Generator().manual_seed(subject.options.seed)
    mixed = replace(dataset, labels=dataset.labels[torch.randperm(len(dataset), generator=rng)])
    with tempfile.TemporaryDirectory() as folder:
        card = train_model("classifier", mixed, Path(folder), changes={"epochs": EPOCHS, "seed": subject.options.seed})
        classifier = load_model(Path(folder))
    explainer = load(subject.name, classifier=classifier)
    tests = dataset.part("test").subset(range(SUMMARIZED))
    options = {"sample": 20, "answers": 0, "num_graphs": 0, "seed": subject.options.seed}
    (part,) = explainer.summarize(tests, DESIRED[subject.name], **options).directions
    return {
        "shuffled": {
            "auroc": card.figures.get("auroc"),
            "epochs": EPOCHS,
            "graphs": len(tests),
            "says_little": bool(part.reasons),
            "reasons": list(part.reasons),
        }
    }
