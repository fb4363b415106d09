"""Files of models and jobs: written whole or not at all, read without running anything."""

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor, nn

from ...errors import ConfigError, GraphflipError, ModelFileError
from ...schema import first_problem
from ...version import __version__


def weights_blob(model: nn.Module) -> bytes:
    """The weights of a model as the bytes of a safetensors file; equal weights give equal bytes."""
    from safetensors.torch import save

    # Contiguous copies, because safetensors refuses tensors that share memory.
    return save({name: tensor.contiguous().clone() for name, tensor in model.state_dict().items()})


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a file that is there whole or not at all."""
    from safetensors.torch import save

    # Contiguous copies, because safetensors refuses tensors that share memory.
    blob = save({name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}, dict(metadata))
    write_atomically(path, blob)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors and the metadata of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except FileNotFoundError as error:
        raise ModelFileError(f"{path}: no such file. Give the folder of a trained model, or train one.") from error
    except (SafetensorError, OSError) as error:
        raise ModelFileError(
            f"{path}: not a readable safetensors file ({error}). Copy or train the model again."
        ) from error


def misfits(tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> list[str]:
    """Names that only one side has, and names of tensors of other shape or kind of number."""

    # A model may be stored in double precision, but then all of it.
    floating = {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()}
    floats = torch.float64 if floating == {torch.float64} else torch.float32

    def differ(name: str) -> bool:
        found, wanted = tensors.get(name), expected.get(name)
        if found is None or wanted is None:
            return True
        kind = floats if wanted.is_floating_point() else wanted.dtype
        return found.shape != wanted.shape or found.dtype != kind

    return sorted(name for name in {*tensors, *expected} if differ(name))


def write_atomically(path: Path, blob: bytes) -> None:
    """Write a file that is there whole or not at all: a kill leaves the old file or the new one."""
    with whole_file(path) as file:
        file.write(blob)


@contextmanager
def whole_file(path: Path, mode: Literal["w", "wb"] = "wb") -> Iterator[IO[Any]]:
    """Open a file for bytes, or for text in UTF-8, that is there with all that was written to it, or not at all.

    It is written beside the target, flushed to disk, and renamed when the block ends. What a killed process left of the
    same target is removed first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in leftovers(path.parent, path.name):
        remove_leftover(leftover)
    handle, temporary = _beside(path)
    try:
        form: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
        with os.fdopen(handle, mode, **form) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


_OURS = re.compile(r"\.(?P<target>.+)\.[0-9a-f]{12}\.graphflip")
"""Names of files that are being written; nothing else is ever removed."""


def check_own_folder(folder: Path, mark: str) -> None:
    """Raise a ConfigError unless a folder is new, empty, or holds the file that an earlier run wrote there."""
    if folder.is_dir() and not (folder / mark).exists() and any(folder.iterdir()):
        raise ConfigError(
            f"{folder}: results must have a folder of their own; this one holds other files and no {mark}. "
            "Give a new or empty folder."
        )


def leftovers(folder: Path, target: str | None = None) -> list[Path]:
    """Files in a folder that `whole_file` is writing or was killed at, of one target or of all."""
    found = [(path, _OURS.fullmatch(path.name)) for path in folder.iterdir()] if folder.is_dir() else []
    return [path for path, ours in found if ours and target in (None, ours["target"])]


def remove_leftover(path: Path) -> None:
    """Remove a half-written file, unless a process is writing it now."""
    with suppress(OSError, ImportError):
        handle = os.open(path, os.O_RDWR | NO_LINKS)
        try:
            lock_file(handle)
            path.unlink()
        finally:
            os.close(handle)


NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Flag of `os.open` that refuses links."""


def lock_file(handle: int) -> None:
    """Lock an open file until it is closed; raises BlockingIOError if another process has locked it."""
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _beside(path: Path) -> tuple[int, Path]:
    """A new file beside another one, open for writing and locked, with the permissions that the user's umask gives."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.graphflip")
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o666)
        with suppress(OSError, ImportError):  # some file systems have no locks
            lock_file(handle)
        if os.fstat(handle).st_nlink:  # else somebody took it for a leftover before it was locked
            return handle, temporary
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that a new name in it outlives a power cut."""
    if os.name != "posix":
        return  # elsewhere folders cannot be opened
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Stored = TypeVar("Stored", bound=BaseModel)


def read_json_model(
    path: Path, kind: type[Stored], newest: int, failure: type[GraphflipError], missing: str, damaged: str
) -> Stored:
    """Read a JSON file that has a `format` number; `missing` and `damaged` say what to do where that fails.

    Raises `failure` if the file is not there, is no JSON, was written in a format newer than `newest`, or does not fit.
    """
    try:
        stored = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise failure(f"{path}: no such file. {missing}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise failure(f"{path}: not a readable JSON file ({error}). {damaged}") from error
    came = stored.get("format") if isinstance(stored, dict) else None
    if isinstance(came, int) and came > newest:
        writer = f" by graphflip {stored['version']}" if "version" in stored else ""
        raise failure(
            f"{path}: written in format {came}{writer}; this is {__version__}, which reads up to format {newest}. "
            "Install a newer graphflip."
        )
    try:
        return kind.model_validate(stored)
    except ValidationError as error:
        raise failure(f"{path}: {first_problem(error)}. {damaged}") from error
