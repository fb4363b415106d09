"""Folders for results: new, empty, or ours; and half-written files, of which only ours are removed."""

import pytest

from graphflip.errors import ConfigError
from graphflip.models.storage.files import check_own_folder, leftovers, whole_file


def test_a_folder_of_other_files_is_refused(tmp_path):
    check_own_folder(tmp_path / "new", "mark")
    check_own_folder(tmp_path, "mark")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="no mark"):
        check_own_folder(tmp_path, "mark")
    (tmp_path / "mark").write_text("ours")
    check_own_folder(tmp_path, "mark")


def test_only_names_that_we_made_are_leftovers(tmp_path):
    ours = {".x.json.0123456789ab.graphflip", ".a.b.c.ffffffffffff.graphflip"}
    others = (".a.b.c", "x.json", ".x.json.0123456789ab", "x.0123456789ab.graphflip", ".x.ABCDEF123456.graphflip")
    for name in (*ours, *others):
        (tmp_path / name).write_text("")
    assert {path.name for path in leftovers(tmp_path)} == ours
    assert [path.name for path in leftovers(tmp_path, "a.b.c")] == [".a.b.c.ffffffffffff.graphflip"]
    assert leftovers(tmp_path / "nowhere") == []


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "x.txt"
    with pytest.raises(TypeError), whole_file(path, "w") as file:
        file.write(b"bytes are no text")
    assert list(path.parent.iterdir()) == []
    with whole_file(path, "w") as file:
        file.write("whole")
    assert [(one.name, one.read_text()) for one in path.parent.iterdir()] == [("x.txt", "whole")]
