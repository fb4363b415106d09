"""Schedule of a training run: its settings, its training curve, its learning rate and its end."""

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainConfig(BaseModel):
    """Settings of a training run (optimizer: AdamW).

    Args:
        epochs: Largest number of passes over the train part.
        batch_size: Graphs in a batch.
        pairs: Most pairs of nodes, padding included, that are worked on at once: a step on more of them adds up the
            gradients of parts of its batch, so that one large graph does not pad all others to its size. None: no
            limit.
        rate: Peak learning rate.
        weight_decay: Weight decay of AdamW.
        clip: Largest norm of the gradient; longer gradients are scaled down to it.
        decay: `"cosine"` lowers the rate to zero over the run; `"plateau"` halves it after `plateau` epochs without a
            better validation score; `"constant"` leaves it.
        warm_up: Share of the run, from 0 to 1, in which the rate rises linearly from 1 % to its peak.
        plateau: Epochs without a better validation score after which `decay="plateau"` halves the rate.
        average: Decay of the exponential moving average of the weights, which is what is validated and kept; 0 turns
            averaging off.
        patience: Epochs without a better validation score after which the run stops early; 0 means never.
        validate_every: Epochs between two measurements on the validation part.
        pool: Number of batches whose graphs are sorted by size together. A larger pool pads less and is faster, but
            batches then hold graphs of one size, and batch normalization hides the size of graphs from the model.
        keep: `"best"` returns the weights with the best validation score, `"last"` those of the last epoch.
        calibrate: Divide the logits of a trained classifier by the temperature with the lowest cross-entropy on the
            validation part.
        seed: Seed of initial weights, order of batches, noise and dropout.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    epochs: int = Field(default=30, gt=0)
    batch_size: int = Field(default=64, gt=1)
    pairs: int | None = Field(default=None, gt=0)
    rate: float = Field(default=2e-3, gt=0)
    weight_decay: float = Field(default=1e-2, ge=0)
    clip: float = Field(default=1.0, gt=0)
    decay: Literal["cosine", "plateau", "constant"] = "cosine"
    warm_up: float = Field(default=0.05, ge=0, le=1)
    plateau: int = Field(default=150, gt=0)
    average: float = Field(default=0.995, ge=0, lt=1)
    patience: int = Field(default=0, ge=0)
    validate_every: int = Field(default=1, gt=0)
    pool: int = Field(default=8, gt=0)
    keep: Literal["best", "last"] = "best"
    calibrate: bool = False
    seed: int = 0


class Epoch(BaseModel):
    """One epoch of the training curve; `figures` are of the validation part, `best` is True if they were the best."""

    epoch: int
    loss: float
    rate: float
    figures: dict[str, float] = {}
    best: bool = False


class TrainingProgress(BaseModel):
    """Progress of a run after an epoch: `epoch` of `epochs` done in `seconds`, with the figures of the `last` one."""

    epoch: int
    epochs: int
    last: Epoch
    seconds: float


def learning_rate(config: TrainConfig, progress: float, history: list[Epoch]) -> float:
    """Learning rate after a share `progress` (0 to 1) of the run: warm-up, then decay."""
    warm = min(1.0, progress / config.warm_up) if config.warm_up else 1.0
    if config.decay == "cosine":
        return config.rate * (0.01 + 0.99 * warm) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    halvings = _plateaus(history, config.plateau) if config.decay == "plateau" else 0
    return config.rate * (0.01 + 0.99 * warm) * 0.5**halvings


def _plateaus(history: list[Epoch], length: int) -> int:
    """Number of times that `length` epochs in a row brought no better validation score."""
    halvings = waiting = 0
    for line in history:
        waiting = 0 if line.best else waiting + 1
        if waiting >= length:
            halvings, waiting = halvings + 1, 0
    return halvings


def out_of_patience(history: list[Epoch], patience: int) -> bool:
    """True if the validation score has not improved for `patience` epochs; never with a patience of 0."""
    if not patience or not history or not history[-1].figures:  # stop on a measured epoch only
        return False
    return len(history) - max(line.epoch for line in history if line.best) >= patience
