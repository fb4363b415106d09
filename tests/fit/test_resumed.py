"""A fit that was stopped and resumed leaves the same files as one that was not; tools/attacks has one of our own."""

import pytest

from graphflip.fit.kit import fit_kit

from .own_models import PLANTED, QUICK, EdgeCounter


class Stopped(Exception):
    """The fit was stopped from outside."""


def files(folder):
    """Contents of all files but the plan, whose estimated seconds are those of the moment."""
    every = (path for path in folder.rglob("*") if path.is_file() and path.name != "fit.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


def test_a_fit_that_was_stopped_leaves_the_files_of_one_that_was_not(tmp_path, few_models):
    classifier = EdgeCounter(PLANTED.schema)
    fit_kit(PLANTED, tmp_path / "whole", classifier, minutes=QUICK)

    def stop(what, done, total):
        if what.startswith("measuring"):
            raise Stopped

    with pytest.raises(Stopped):
        fit_kit(PLANTED, tmp_path / "kit", classifier, minutes=QUICK, watch=stop)
    assert not (tmp_path / "kit" / "readiness.json").exists()
    fit_kit(PLANTED, tmp_path / "kit", classifier, minutes=QUICK, resume=True)
    expected, found = files(tmp_path / "whole"), files(tmp_path / "kit")
    assert found["readiness.json"].decode() == expected["readiness.json"].decode()
    assert found == expected
