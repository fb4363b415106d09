"""Files of a run: its counterfactuals as JSON lines, and a manifest with settings, hashes and measures."""

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
    """The two files of a method with a seed."""

    folder: Path
    name: str
    seed: int

    @property
    def records(self) -> Path:
        """File of the counterfactuals."""
        return self.folder / f"{self.name}-seed{self.seed}.jsonl"

    @property
    def manifest(self) -> Path:
        """File with settings, hashes and measures."""
        return self.records.with_suffix(".json")

    def stored(self) -> dict[str, Any]:
        """Read the manifest; empty if it does not belong to the counterfactuals beside it."""
        try:
            stored = json.loads(self.manifest.read_text(encoding="utf-8"))
            return stored if stored["sha256"] == self.digest() else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def write(self, content: dict[str, Any]) -> None:
        """Write the manifest, with the hash of the counterfactuals as they are now."""
        content["sha256"] = self.digest()
        write_atomically(self.manifest, (json.dumps(content, allow_nan=False) + "\n").encode())

    def digest(self) -> str:
        """SHA-256 of the file of counterfactuals."""
        return hashlib.sha256(self.records.read_bytes()).hexdigest()


def measures_to_json(measures: Measures) -> dict[str, list[float | None]]:
    """Convert columns to lists; NaN becomes None, as JSON has no NaN."""
    return {name: [_plain(value) for value in column.tolist()] for name, column in measures.items()}


def measures_from_json(stored: dict[str, list[float | None]]) -> Measures:
    """Convert the lists of `measures_to_json` back to columns."""
    return {
        name: torch.tensor([float("nan") if value is None else float(value) for value in column])
        for name, column in stored.items()
    }


def _plain(value: float) -> float | None:
    return round(value, 6) if value == value else None
