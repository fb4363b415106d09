"""Checkpoints: the whole state of a training run, in one safetensors file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ...errors import ConfigError, ModelFileError
from ..storage.files import misfits, read_tensors, write_tensors

CHECKPOINT = "checkpoint.safetensors"
_WEIGHTS = ("model", "average", "best")


@dataclass(frozen=True)
class Checkpoint:
    """State of a training run after an epoch.

    Args:
        settings: Settings of the run; it can be resumed with the same ones only.
        steps: Number of optimizer steps that were taken.
        history: The training curve, one dictionary for each epoch.
        weights: `model` (being trained), `average` (moving average) and `best` (by validation score).
        optimizer: State of the optimizer for each parameter, by its number.
        order: State of the generator that shuffles batches.
        noise: States of the generators of noise, one for each process.
    """

    settings: dict[str, Any]
    steps: int
    history: list[dict[str, Any]]
    weights: Mapping[str, Mapping[str, Tensor]]
    optimizer: Mapping[int, Mapping[str, Tensor]]
    order: Tensor
    noise: list[Tensor]

    def write(self, path: Path) -> None:
        """Write the checkpoint; the file is replaced as a whole or not at all."""
        tensors = {f"{part}.{name}": tensor for part in _WEIGHTS for name, tensor in self.weights[part].items()}
        for k, state in self.optimizer.items():
            tensors |= {f"optimizer.{k}.{name}": tensor for name, tensor in state.items()}
        tensors["order"] = self.order
        tensors |= {_noise_name(rank): state for rank, state in enumerate(self.noise)}
        about = {"config": self.settings, "steps": self.steps, "history": self.history}
        write_tensors(path, tensors, {"run": json.dumps(about)})

    @classmethod
    def read(cls, path: Path, model: nn.Module) -> "Checkpoint":
        """Read a checkpoint of a run that trains a model with weights of the same names and shapes."""
        tensors, metadata = read_tensors(path)
        try:
            about = json.loads(metadata["run"])
        except (KeyError, ValueError) as error:
            raise ModelFileError(
                f"{path}: not a checkpoint of a run. Remove it, or start in another folder."
            ) from error
        weights = {part: _below(tensors, part) for part in _WEIGHTS}
        wrong = misfits(weights["model"], model.state_dict())
        if wrong:
            raise ConfigError(
                f"{path}: a checkpoint must be of the model that is trained; this one has other "
                f"{', '.join(wrong[:3])}. Give the role and preset the run was started with, or start anew in another "
                "folder."
            )
        optimizer: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _below(tensors, "optimizer").items():
            k, key = name.split(".", 1)
            optimizer.setdefault(int(k), {})[key] = tensor
        noise = [tensors[_noise_name(rank)] for rank in range(about["config"]["processes"])]
        return cls(about["config"], about["steps"], about["history"], weights, optimizer, tensors["order"], noise)

    def require(self, asked: dict[str, Any], path: Path) -> None:
        """Raise a ConfigError that names the differences, if the run was started with other settings."""
        stored = self.settings
        different = [f"{key}: {stored[key]} -> {asked.get(key)}" for key in stored if stored[key] != asked.get(key)]
        if different:
            raise ConfigError(
                f"{path}: a resumed run must have the settings it was started with; these differ: "
                f"{', '.join(different)}. Give the old settings, or start anew in another folder."
            )


def _below(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}."): tensor for name, tensor in tensors.items() if name.startswith(f"{part}.")}


def _noise_name(rank: int) -> str:
    return f"noise.{rank}" if rank else "noise"
