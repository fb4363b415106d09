"""Files of PyG graphs, as `torch.save` and PyG's datasets write them; nothing in a file is run."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ...errors import DataError, require
from ..budget import check_budget, check_zip


def read_pyg_file(path: Path | str) -> list[Any]:
    """Read the `Data` objects of a file: a list of them, a single one, or a dataset stored as one object with slices.

    Only tensors, plain containers and PyG's `Data` are read: a file that holds anything else is an error, and its code
    is not called.
    """
    Data, stored = _load(path)
    if isinstance(stored, tuple) and len(stored) in (2, 3) and isinstance(stored[1], dict):
        graphs = _separated(path, Data, *stored[:2])
        check_budget(path, sum(tensor.nbytes for tensor in _tensors(graphs)), _RATIO)
        return graphs
    graphs = list(stored) if isinstance(stored, list | tuple) else [stored]
    for k, graph in enumerate(graphs):
        _check_whole(path, k, graph, Data)
    return graphs


def read_pyg_pairs(path: Path | str) -> list[tuple[Any, Any]]:
    """Read pairs of `Data` objects from a file that holds two lists of equal length, as a tuple or list.

    The second list may have None where there is no counterpart.
    """
    Data, stored = _load(path)
    lists = isinstance(stored, list | tuple) and len(stored) == 2 and all(isinstance(one, list) for one in stored)
    if not lists or len(stored[0]) != len(stored[1]):
        raise DataError(
            f"{path}: must hold two lists of PyG graphs of equal length, factuals and counterfactuals; got "
            f"{type(stored).__name__}. Save `torch.save((factuals, counterfactuals), path)`."
        )
    for k, graph in enumerate([*stored[0], *(graph for graph in stored[1] if graph is not None)]):
        _check_whole(path, k, graph, Data)
    return list(zip(*stored, strict=True))


def _load(path: Path | str) -> tuple[Any, Any]:
    """PyG's class of graphs, and what a file holds; nothing but tensors, containers and graphs is accepted."""
    data = require("torch_geometric.data.data", "pyg", "Reading PyG files")
    storage = require("torch_geometric.data.storage", "pyg", "Reading PyG files")
    # PyG adds its own classes in the same way; the context manager of this name would remove them again.
    torch.serialization.add_safe_globals([data.Data, data.DataEdgeAttr, data.DataTensorAttr, storage.GlobalStorage])
    _check_archive(path)
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files have errors of all kinds
        raise DataError(
            f"{path}: must be a file that `torch.save` wrote, of PyG Data objects and tensors alone; it cannot be read "
            f"({type(error).__name__}). Save a list of Data objects (of a batch: `batch.to_data_list()`)."
        ) from error
    _check_tensors(path, stored)
    return data.Data, stored


_RATIO = 4
"""Most bytes of tensors for each byte of a file: tensors are stored as they are, and graphs may share some."""


def _check_archive(path: Path | str) -> None:
    """Raise DataError if a file is an archive that would unpack to more than it is; files of old forms are none."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_zip(path, archive, _RATIO)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return  # torch says what is wrong with it


def _check_tensors(path: Path | str, stored: Any) -> None:
    """Raise DataError if tensors show more numbers than the file holds, as expanded or overlapping views do."""
    tensors = list(_tensors(stored))
    for tensor in tensors:
        if tensor.layout == torch.strided and tensor.nbytes > tensor.untyped_storage().nbytes():
            raise DataError(
                f"{path}: each tensor must hold as many numbers as it shows; one of shape {tuple(tensor.shape)} shows "
                f"{tensor.numel()} of fewer. Save it after `.contiguous()`."
            )
    check_budget(path, sum(tensor.nbytes for tensor in tensors if tensor.layout == torch.strided), _RATIO)


def _tensors(stored: Any) -> Iterator[torch.Tensor]:
    """Tensors in containers and PyG objects, each place once; a container that holds itself has an end, too."""
    seen, waiting = set(), [stored]
    while waiting:
        one = waiting.pop()
        if isinstance(one, torch.Tensor):
            yield one
        elif id(one) not in seen:
            seen.add(id(one))
            inner = one.values() if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
            waiting += inner or vars(one).values() if hasattr(one, "__dict__") else inner


def _check_whole(path: Path | str, k: int, graph: Any, Data: Any) -> None:
    """Raise DataError if a `Data` object lacks inner parts, so that every access to it would fail."""
    try:
        if isinstance(graph, Data):
            graph.to_dict()
    except Exception as error:
        raise DataError(
            f"{path}: graph {k} must be a whole Data object, as PyG writes it now; it is not ({type(error).__name__}). "
            "Load it with the PyG that saved it, and save a list of new Data objects."
        ) from error


def _separated(path: Path | str, Data: Any, whole: Any, slices: dict[str, Any]) -> list[Any]:
    """Take the graphs out of a stored PyG dataset: one large graph, and slices that say where each graph begins."""
    separate = require("torch_geometric.data.separate", "pyg", "Reading PyG files").separate
    try:
        whole = Data.from_dict(whole) if isinstance(whole, dict) else whole
        count = len(next(iter(slices.values()))) - 1
        return [separate(Data, whole, k, slices, decrement=False) for k in range(count)]
    except Exception as error:  # the slices are whatever the file says
        raise DataError(
            f"{path}: slices must say where each graph of the dataset begins; they do not ({type(error).__name__}). "
            "Save a list of Data objects instead: `torch.save(list(dataset), path)`."
        ) from error
