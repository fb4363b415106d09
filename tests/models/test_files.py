"""Tensor files: whole or not at all, read without running anything."""

import json
import os
import pickle
import stat

import pytest
import torch
from pydantic import BaseModel

from graphflip.errors import ModelFileError
from graphflip.models.storage.files import misfits, read_json_model, read_tensors, write_atomically, write_tensors


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


class _Stored(BaseModel):
    format: int
    name: str


def test_the_newest_format_is_read_and_the_next_one_is_not(tmp_path):
    file = tmp_path / "card.json"
    for came, newest in ((1, 2), (2, 2)):
        file.write_text(json.dumps({"format": came, "name": "a"}))
        assert read_json_model(file, _Stored, newest, ModelFileError, "", "").name == "a"
    file.write_text(json.dumps({"format": 3, "name": "a", "version": "9.1"}))
    with pytest.raises(ModelFileError, match=r"format 3 by graphflip 9.1.*up to format 2"):
        read_json_model(file, _Stored, 2, ModelFileError, "", "")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders cannot be opened")
def test_a_new_name_is_flushed_with_its_folder(tmp_path, monkeypatch):
    flushed = []
    flush = os.fsync

    def remember(handle):
        flushed.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        flush(handle)

    monkeypatch.setattr(os, "fsync", remember)
    write_atomically(tmp_path / "a.txt", b"a")
    assert flushed == [False, True], "the file, then the folder"
