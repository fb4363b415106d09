"""The two files of a run: its counterfactuals, and a manifest with settings, hashes and every measure."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..models.storage.files import write_atomically
from .measure import Measures


@dataclass(frozen=True)
class RunFiles:
    """Where a method with a seed keeps what it found."""

    folder: Path
    name: str
    seed: int

    @property
    def records(self) -> Path:
        return self.folder / f"{self.name}-seed{self.seed}.jsonl"

    @property
    def manifest(self) -> Path:
        return self.records.with_suffix(".json")

    def stored(self) -> dict[str, Any]:
        """The manifest, if it belongs to the file of counterfactuals beside it; else nothing."""
        try:
            stored = json.loads(self.manifest.read_text(encoding="utf-8"))
            return stored if stored["sha256"] == self.digest() else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def write(self, content: dict[str, Any]) -> None:
        """Write the manifest of the counterfactuals as they are now."""
        content["sha256"] = self.digest()
        write_atomically(self.manifest, (json.dumps(content, allow_nan=False) + "\n").encode())

    def digest(self) -> str:
        return hashlib.sha256(self.records.read_bytes()).hexdigest()


def measures_to_json(measures: Measures) -> dict[str, list[float | None]]:
    """Columns as JSON can hold them."""
    return {name: [_plain(value) for value in column.tolist()] for name, column in measures.items()}


def measures_from_json(stored: dict[str, list[float | None]]) -> Measures:
    """Read what `measures_to_json` gives."""
    return {
        name: torch.tensor([float("nan") if value is None else float(value) for value in column])
        for name, column in stored.items()
    }


def _plain(value: float) -> float | None:
    return round(value, 6) if value == value else None
