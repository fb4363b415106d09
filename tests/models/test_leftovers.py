"""Locks and leftovers: a lock is for one at a time, and a link is never taken for a half-written file of ours."""

import os

import pytest

from graphflip.models.storage.files import leftovers, lock_file, remove_leftover

NAME = ".report.html.0123456789ab.graphflip"


def test_a_link_with_the_name_of_a_leftover_stays(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    link = tmp_path / NAME
    link.symlink_to(precious)
    assert leftovers(tmp_path) == [link]
    remove_leftover(link)
    assert link.is_symlink()
    assert precious.read_text() == "precious"


def test_a_leftover_goes_unless_somebody_writes_it(tmp_path):
    half = tmp_path / NAME
    half.write_text("half")
    writer, other = (os.open(half, os.O_RDWR) for _ in range(2))
    try:
        lock_file(writer)
        with pytest.raises(BlockingIOError):
            lock_file(other)
        remove_leftover(half)
        assert half.exists()
    finally:
        os.close(writer)
        os.close(other)
    remove_leftover(half)
    assert not half.exists()
