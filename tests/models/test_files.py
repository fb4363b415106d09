"""Tensor files: whole or not at all, read without running anything."""

import os
import pickle

import pytest
import torch

from graphflip.errors import ModelFileError
from graphflip.models.storage.files import misfits, read_tensors, write_atomically, write_tensors


def test_tensors_and_metadata_come_back(tmp_path):
    shared = torch.arange(6.0).view(2, 3)
    tensors = {"a": shared, "b": shared.T, "c": torch.tensor([1, 2]), "empty": torch.zeros(0, 4)}
    write_tensors(tmp_path / "new" / "x.safetensors", tensors, {"about": "é"})
    found, metadata = read_tensors(tmp_path / "new" / "x.safetensors")
    assert metadata == {"about": "é"}
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) and found[name].dtype == tensors[name].dtype for name in found)


def test_unreadable_files_are_explained(tmp_path):
    with pytest.raises(ModelFileError, match="no such file"):
        read_tensors(tmp_path / "missing.safetensors")
    for blob in (b"", b"half a file", pickle.dumps({"a": 1})):
        (tmp_path / "bad").write_bytes(blob)
        with pytest.raises(ModelFileError, match="bad: not a readable safetensors file"):
            read_tensors(tmp_path / "bad")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_misfits_are_named():
    one, two = torch.zeros(1), torch.zeros(2)
    assert misfits({"a": one, "b": two}, {"a": one, "b": two}) == []
    assert misfits({"a": one, "c": one, "k": one.long()}, {"a": two, "b": one, "k": one}) == ["a", "b", "c", "k"]
