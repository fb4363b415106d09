"""A run: one method with one seed on one dataset, in shards, so that a run that was killed continues."""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from ...explain.method import AbstractExplainer
from ...explain.records import from_record, to_record
from ...models.storage.files import write_atomically
from ...version import __version__
from ..digests import described
from ..measure import Measures
from ..realism import REALISM, RealismScorer
from ..score import SCORES, Scorer
from ..storage import RunFiles, measures_from_json, measures_to_json
from ..workers import Map
from .material import Material, Source
from .rows import MethodRow

_SHARD = 16


@dataclass(frozen=True)
class Shard:
    """Graphs `start` to `stop` of a run, the run's file of counterfactuals, and the file `path` for the result."""

    source: Source
    dataset: str
    row: MethodRow
    seed: int
    start: int
    stop: int
    records: Path
    ged_seconds: float
    path: Path


@dataclass(frozen=True)
class QualityRun:
    """A method with a seed on a dataset, and the folder for its files."""

    source: Source
    dataset: str
    row: MethodRow
    seed: int
    folder: Path
    ged_seconds: float = 0.1

    @property
    def material(self) -> Material:
        """The dataset with its kit."""
        return material_of(self.source, self.dataset)

    @property
    def files(self) -> RunFiles:
        """The two files of the run."""
        return RunFiles(self.folder, self.row.name, self.seed)

    @property
    def is_done(self) -> bool:
        """True if the folder holds this run, with the same settings, data and models."""
        if not self.files.records.exists():
            return False
        stored = self.files.stored()
        return stored.get("explained") == self._explained() and stored.get("scored") == self._scored()

    def complete(self, run: Map, tick: Callable[[int], None] = lambda _: None) -> Measures:
        """Explain and score, as far as this was not done before with the same settings, data and models.

        Scores are computed from the file of counterfactuals, as `graphflip score` does. `tick` is called with the
        number of graphs that were explained, and again with the number of graphs that were scored.
        """
        stored, explained, scored = self.files.stored(), self._explained(), self._scored()
        if stored.get("explained") != explained:
            blobs = self._in_shards(run, explain_shard, explained, tick)
            write_atomically(self.files.records, b"".join(blobs))
            stored = {"explained": explained}
            self.files.write(stored)
        else:
            tick(len(self.material.graphs))
        if stored.get("scored") != scored:
            blobs = self._in_shards(run, score_shard, {**scored, "of": stored["sha256"]}, tick)
            stored |= {"scored": scored, "measures": measures_to_json(_joined(blobs, SCORES))}
            self.files.write(stored)
        else:
            tick(len(self.material.graphs))
        shutil.rmtree(self._workplace, ignore_errors=True)
        return measures_from_json(stored["measures"])

    def realism(self, run: Map, tick: Callable[[int], None] = lambda _: None) -> Measures | None:
        """Measure the chemistry of the counterfactuals that the folder holds, as far as this was not done before.

        Nothing is explained, so answers of earlier settings or models are measured as well.

        Returns:
            `REALISM` and `flip_ratio`; None if the folder has no scored counterfactuals of the same graphs.
        """
        stored, present = self.files.stored(), self._graphs()
        if "measures" not in stored or {key: stored["explained"].get(key) for key in present} != present:
            return None
        about = realism_scorer(self.source, self.dataset).settings()
        if stored.get("realism", {}).get("about") == about:
            tick(len(self.material.graphs))
        else:
            blobs = self._in_shards(run, realism_shard, {**about, "of": stored["sha256"]}, tick)
            whole = _joined(blobs, REALISM)
            if stored["scored"]["classifier"] != about["classifier"]:  # these are answers about another model
                whole["class_minimal"] = torch.full_like(whole["class_minimal"], torch.nan)
            stored["realism"] = {"about": about, "measures": measures_to_json(whole)}
            self.files.write(stored)
        shutil.rmtree(self._workplace, ignore_errors=True)
        measured = {"flip_ratio": stored["measures"]["flip_ratio"], **stored["realism"]["measures"]}
        return measures_from_json(measured)

    def _in_shards(
        self, run: Map, work: Callable[[Shard], int], about: Any, tick: Callable[[int], None]
    ) -> list[bytes]:
        """Do the work for all shards and return their results in order; shards that are complete are kept.

        The name of the folder has a hash of everything that the work depends on, so the shards in it fit.
        """
        text = json.dumps([self.seed, about], sort_keys=True)
        folder = self._workplace / f"{work.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        shards = list(self._shards(folder))
        todo = [shard for shard in shards if not shard.path.exists()]
        tick(sum(shard.stop - shard.start for shard in shards if shard not in todo))
        for count in run(work, todo):
            tick(count)
        return [shard.path.read_bytes() for shard in shards]

    def _shards(self, folder: Path) -> Iterator[Shard]:
        total = len(self.material.graphs)
        for start in range(0, total, _SHARD):
            yield Shard(
                self.source,
                self.dataset,
                self.row,
                self.seed,
                start,
                min(start + _SHARD, total),
                self.files.records,
                self.ged_seconds,
                folder / f"{start:06}",
            )

    @property
    def _workplace(self) -> Path:
        return self.folder / ".shards" / f"{self.row.name}-seed{self.seed}"

    def _explained(self) -> dict[str, Any]:
        """Everything that the counterfactuals depend on."""
        return {
            "version": __version__,
            "row": self.row.name,
            "settings": self.row.settings(self.material),
            "seed": self.seed,
            **self._graphs(),
        }

    def _graphs(self) -> dict[str, Any]:
        """The graphs to explain."""
        material = self.material
        fingerprint = material.dataset.fingerprint()[:16]
        return {"part": material.part, "graphs": len(material.graphs), "data": fingerprint}

    def _scored(self) -> dict[str, Any]:
        """Everything that the scores depend on besides the counterfactuals."""
        kit = self.material.kit
        models = {"classifier": kit.classifier, "vae": kit.vae, **kit.judges}
        models |= {f"surrogate {k}": model for k, model in enumerate(kit.surrogates)}
        described_models = {name: described(model) for name, model in models.items()}
        return {"scores": list(SCORES), "ged_seconds": self.ged_seconds, **described_models}


def explain_shard(shard: Shard) -> int:
    """Write the counterfactuals of a shard, with their evidence; return their number."""
    material = material_of(shard.source, shard.dataset)
    graphs = material.graphs.graphs(slice(shard.start, shard.stop))
    ids = material.graphs.ids[shard.start : shard.stop]
    answers = _explainer(shard.source, shard.dataset, shard.row).explain_all([graphs], ids=ids, seed=shard.seed)
    classes = material.kit.classes
    assessed = (material.explainer.assess(dataclasses.replace(answer, classes=classes)) for answer in answers)
    lines = [json.dumps(to_record(answer), ensure_ascii=False, allow_nan=False) + "\n" for answer in assessed]
    write_atomically(shard.path, "".join(lines).encode())
    return len(lines)


def score_shard(shard: Shard) -> int:
    """Write the measures of the counterfactuals of a shard; return their number."""
    return _measure(shard, _scorer(shard.source, shard.dataset, shard.ged_seconds))


def realism_shard(shard: Shard) -> int:
    """Write the outside measures of the counterfactuals of a shard; return their number."""
    return _measure(shard, realism_scorer(shard.source, shard.dataset))


def _measure(shard: Shard, scorer: Scorer | RealismScorer) -> int:
    lines = shard.records.read_text(encoding="utf-8").split("\n")[shard.start : shard.stop]
    measures = scorer.score([from_record(json.loads(line), scorer.kit.schema) for line in lines])
    write_atomically(shard.path, json.dumps(measures_to_json(measures), allow_nan=False).encode())
    return len(lines)


def _joined(blobs: Sequence[bytes], names: Sequence[str]) -> Measures:
    """Measures of a run from those of its shards."""
    parts = [measures_from_json(json.loads(blob)) for blob in blobs]
    return {name: torch.cat([part[name] for part in parts]) for name in names}


@lru_cache(maxsize=4)
def material_of(source: Source, dataset: str) -> Material:
    """Load a dataset with its kit, once in each process."""
    return source(dataset)


@lru_cache(maxsize=4)
def _explainer(source: Source, dataset: str, row: MethodRow) -> AbstractExplainer:
    return row.build(material_of(source, dataset))


@lru_cache(maxsize=4)
def _scorer(source: Source, dataset: str, ged_seconds: float) -> Scorer:
    material = material_of(source, dataset)
    return Scorer(material.kit, material.real, ged_seconds, material.own_demands)


@lru_cache(maxsize=4)
def realism_scorer(source: Source, dataset: str) -> RealismScorer:
    """Make the scorer of outside measures of a dataset, once in each process."""
    return RealismScorer(material_of(source, dataset).kit)
