"""The folder of a job: a manifest of what was asked, shards of answers with their hashes, each there whole or not."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..data.inputs import InputRow
from ..errors import JobError
from ..models.storage.files import leftovers, read_json_model, remove_leftover, write_atomically
from ..models.storage.lock import LOCK
from .settings import JobSettings
from .tables import read_answers

FORMAT = 1
MANIFEST = "manifest.json"
_PER_FOLDER = 1000
_INCIDENTAL = {"input", "outcomes", "fingerprint", "records_sha256"}


class Manifest(BaseModel):
    """Identity of a job: two jobs with equal manifests give equal answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = FORMAT
    settings: JobSettings
    input: str = Field(description="name of the source")
    input_sha256: str = Field(description="of the rows as they were read")
    rows: int = Field(ge=0)
    kit_sha256: str
    fingerprint: tuple[str, ...] = Field(default=(), description="of a classifier of the user's: weights, answers")
    seed: int = 0
    shard_size: int = Field(ge=1)
    versions: dict[str, str]
    outcomes: dict[str, int] | None = Field(default=None, description="of all rows, when all are done")
    records_sha256: str | None = Field(default=None, description="of the file of explanations, when it is written")

    def check_finished(self, folder: Path) -> None:
        """Raise a JobError if the job has not written all of its answers yet."""
        if self.outcomes is None:
            raise JobError(
                f"{folder}: the job must be finished; it was stopped, or still runs. Give its command again "
                "(`graphflip explain … --out` this folder): it goes on where it was."
            )

    def digest(self) -> str:
        """sha256 of what the answers depend on: what a shard says it belongs to."""
        return hashlib.sha256(self.model_dump_json(exclude=_INCIDENTAL).encode()).hexdigest()

    @property
    def num_shards(self) -> int:
        return -(-self.rows // self.shard_size)

    def differences(self, asked: "Manifest") -> list[str]:
        """List the differences as lines `key: stored -> asked`."""
        stored, wanted = (_flat(one.model_dump(mode="json", exclude=_INCIDENTAL)) for one in (self, asked))
        keys = [key for key in {**stored, **wanted} if stored.get(key) != wanted.get(key)]
        # Of a classifier that hangs or dies, only the first answers are known, and none of jobs of earlier versions.
        another = any(ours != theirs for ours, theirs in zip(self.fingerprint, asked.fingerprint, strict=False))
        changed = ["settings.classifier: its weights or its answers are not those of the beginning"] if another else []
        return [f"{key}: {stored.get(key)} -> {wanted.get(key)}" for key in keys] + changed


class ShardCard(BaseModel):
    """Card of a shard, written beside it and after it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    job: str
    index: int
    rows: int
    rows_sha256: str
    answers: int
    outcomes: dict[str, int] = Field(description="of first answers: one for each row")
    sha256: str
    seal: str = Field(default="", description="sha256 of this card without its seal")

    def sealed(self) -> "ShardCard":
        """The card with the seal that fits it."""
        bare = self.model_copy(update={"seal": ""})
        return bare.model_copy(update={"seal": hashlib.sha256(bare.model_dump_json().encode()).hexdigest()})


@dataclass(frozen=True)
class JobFolder:
    """Folder that a job writes to. A process that writes holds the folder's lock."""

    path: Path
    manifest: Manifest

    @classmethod
    def start(cls, path: Path, asked: Manifest) -> "JobFolder":
        """The folder of this very job, begun or not; a folder of another job is refused with what differs."""
        file = path / MANIFEST
        if not file.exists():
            cls(path, asked)._write_manifest(asked)
            return cls(path, asked)
        stored = read_manifest(path)
        if different := stored.differences(asked):
            raise JobError(
                f"{path}: a job must go on with what it was started with; these differ:\n  "
                + "\n  ".join(different)
                + "\nGive what it was started with, or another folder."
            )
        return cls(path, stored)

    def shard(self, index: int) -> Path:
        """The Parquet file of a shard."""
        return self.path / "shards" / f"{index // _PER_FOLDER:04d}" / f"{index:07d}.parquet"

    def write(self, index: int, rows: Sequence[InputRow], blob: bytes) -> ShardCard:
        """Write a shard, then its card: without a card, a shard is not there. What was there of it is removed."""
        card = self._write(self.shard(index), index, rows, blob)
        for suffix in (".json", ".parquet"):
            self._beginning(index).with_suffix(suffix).unlink(missing_ok=True)
        return card

    def write_beginning(self, index: int, rows: Sequence[InputRow], blob: bytes) -> None:
        """Write the answers to the first rows of a shard, which a job that is killed goes on from."""
        self._write(self._beginning(index), index, rows, blob)

    def beginning(self, index: int, rows: Sequence[InputRow]) -> tuple[int, bytes] | None:
        """The number of first rows of a shard that are answered, and their answers; None if there are none."""
        try:
            card, blob = self._read(self._beginning(index), index)
        except JobError:
            return None
        fits = card.rows < len(rows) and card.rows_sha256 == digest_of(rows[: card.rows])[0]
        return (card.rows, blob) if fits else None

    def _beginning(self, index: int) -> Path:
        return self.shard(index).with_suffix(".begun.parquet")

    def _write(self, path: Path, index: int, rows: Sequence[InputRow], blob: bytes) -> ShardCard:
        answers = list(read_answers(blob, ("row", "answer", "outcome")))
        outcomes: dict[str, int] = {}
        for answer in answers:
            if answer["answer"] == 0:
                outcomes[answer["outcome"]] = outcomes.get(answer["outcome"], 0) + 1
        card = ShardCard(
            job=self.manifest.digest(),
            index=index,
            rows=len(rows),
            rows_sha256=digest_of(rows)[0],
            answers=len(answers),
            outcomes=outcomes,
            sha256=hashlib.sha256(blob).hexdigest(),
        ).sealed()
        with disk_errors(self.path):
            write_atomically(path, blob)
            write_atomically(path.with_suffix(".json"), card.model_dump_json().encode())
        return card

    def finished(self, index: int, rows: Sequence[InputRow]) -> ShardCard | None:
        """The card of a shard that is there, whole, of this job and of these rows."""
        try:
            card, _ = self._read(self.shard(index), index)
        except JobError:
            return None
        return card if (card.rows, card.rows_sha256) == (len(rows), digest_of(rows)[0]) else None

    def answers(self) -> Iterator[dict[str, Any]]:
        """Every answer of a finished job, in the order of the input."""
        for index in range(self.manifest.num_shards):
            yield from read_answers(self._read(self.shard(index), index)[1])

    def close(self, outcomes: dict[str, int], records: Path) -> None:
        """Note in the manifest that all is done, and what the file of explanations is."""
        noted = {"outcomes": outcomes, "records_sha256": file_digest(records)}
        self._write_manifest(self.manifest.model_copy(update=noted))

    def clean(self) -> None:
        """Remove what a killed job may have left half written."""
        for folder in (self.path, *(self.path / "shards").glob("*")):
            for path in leftovers(folder):
                remove_leftover(path)

    def _write_manifest(self, manifest: Manifest) -> None:
        with disk_errors(self.path):
            write_atomically(self.path / MANIFEST, (manifest.model_dump_json(indent=1) + "\n").encode())

    def _read(self, path: Path, index: int) -> tuple[ShardCard, bytes]:
        try:
            card = ShardCard.model_validate_json(path.with_suffix(".json").read_bytes())
            blob = path.read_bytes()
        except (OSError, ValidationError) as error:
            raise JobError(f"{path}: missing or damaged. Run the job again: it computes what is missing.") from error
        ours = (card.job, card.index) == (self.manifest.digest(), index) and card == card.sealed()
        if not ours or hashlib.sha256(blob).hexdigest() != card.sha256:
            raise JobError(f"{path}: not as it was written. Run the job again: it computes what is damaged.")
        return card, blob


def check_folder(path: Path) -> None:
    """Raise a JobError unless a folder is new, empty, or one that a job was begun in."""
    if not path.is_dir() or (path / MANIFEST).exists():
        return
    ours = {path / LOCK, *leftovers(path)}
    others = sorted(other.name for other in path.iterdir() if other not in ours)
    if others:
        raise JobError(
            f"{path}: a job must have a folder of its own; this one holds other files ({', '.join(others[:3])}). "
            "Give a new or empty folder, or the one of a job."
        )


def read_manifest(path: Path) -> Manifest:
    """The manifest in the folder of a job."""
    missing, damaged = "Give the folder that `graphflip explain --out` wrote.", "Start the job anew in another folder."
    return read_json_model(path / MANIFEST, Manifest, FORMAT, JobError, missing=missing, damaged=damaged)


def check_records(folder: Path, records: Path) -> None:
    """Raise a JobError if the explanations of a job are not as it wrote them, or if its manifest cannot be read.

    A folder without a manifest is not one of a job; there is nothing to compare with.
    """
    if not (folder / MANIFEST).exists():
        return
    noted = read_manifest(folder).records_sha256
    if noted is not None and file_digest(records) != noted:
        raise JobError(
            f"{records}: the explanations must be as the job wrote them; the file is cut or changed. Run the job "
            "again: it writes the file anew. Or report the file alone, without its folder."
        )


def file_digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(rows: Iterable[InputRow]) -> tuple[str, int]:
    """The sha256 of rows, and how many there are."""
    digest, count = hashlib.sha256(), 0
    for row in rows:
        digest.update(json.dumps(row).encode("utf-8", errors="surrogatepass"))
        count += 1
    return digest.hexdigest(), count


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Errors of the file system as errors that say what to do; what was written before them stays whole."""
    try:
        yield
    except OSError as error:
        raise JobError(
            f"{path}: the folder must be writable and have room; {error.strerror}. What is written is whole: "
            "make room, or allow writing, and run the same command again to go on."
        ) from error


def _flat(stored: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(stored, dict):
        return {prefix: stored}
    return {
        key: value
        for name, inner in stored.items()
        for key, value in _flat(inner, f"{prefix}.{name}" if prefix else name).items()
    }
