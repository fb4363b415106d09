"""Tensors in files: safetensors, written atomically, read without running anything."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from ...errors import ModelFileError


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
    """Write beside the target, flush to disk, then rename: a kill leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
