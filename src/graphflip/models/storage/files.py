"""Files of models and jobs: written whole or not at all, read without running anything."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError
from torch import Tensor, nn

from ...errors import GraphflipError, ModelFileError
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

    def differ(name: str) -> bool:
        found, wanted = tensors.get(name), expected.get(name)
        if found is None or wanted is None:
            return True
        return found.shape != wanted.shape or found.is_floating_point() != wanted.is_floating_point()

    return sorted(name for name in {*tensors, *expected} if differ(name))


def write_atomically(path: Path, blob: bytes) -> None:
    """Write a file that is there whole or not at all: a kill leaves the old file or the new one."""
    with whole_file(path) as file:
        file.write(blob)


@contextmanager
def whole_file(path: Path, mode: Literal["w", "wb"] = "wb") -> Iterator[IO[Any]]:
    """Open a file for bytes, or for text in UTF-8, that is there with all that was written to it, or not at all.

    It is written beside the target, flushed to disk, and renamed when the block ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        form: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
        with os.fdopen(handle, mode, **form) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
