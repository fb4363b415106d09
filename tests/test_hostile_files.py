"""No file runs code, and none ends in anything but an error of ours: what fuzzing found is fed again."""

import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphflip.errors import GraphflipError
from graphflip.explain.kit import load_kit

ROOT = Path(__file__).parents[1]
CORPUS = Path(__file__).parent / "corpus"


with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(ROOT / "tools"))
    import parsers  # pyright: ignore[reportMissingImports]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return parsers.make(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("name", parsers.PARSERS)
def test_parsers_take_their_examples(name, made, tmp_path):
    for content in parsers.examples(name, made):
        assert parsers.parse(name, content, tmp_path / "place", made)


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*-*")), ids=lambda path: f"{path.parent.name}/{path.name[:14]}")
def test_findings_of_the_fuzzer_are_complaints(path, made, tmp_path):
    parsers.parse(path.parent.name, path.read_bytes(), tmp_path / "place", made)


@pytest.mark.parametrize("name", parsers.PARSERS)
@given(data=st.data())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_changed_files_are_complaints(name, data, made, tmp_path):
    content = bytearray(data.draw(st.sampled_from(parsers.examples(name, made))))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from(_PIECES)))
        content[at : at + data.draw(st.integers(0, 8))] = piece
    parsers.parse(name, bytes(content), tmp_path / "place", made)


_PIECES = [
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 30,
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\xff\xfe",
    b"\0",
    b"[" * 2000,
    b"\n",
    b",",
]


class Bomb:
    """Something whose unpickling leaves a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@pytest.fixture(params=["pickle", "torch", "zip"])
def bomb(request, tmp_path):
    """A file that would run code, and the trace that it would leave; it does when unpickled."""
    trace, path = tmp_path / "exploded", tmp_path / "bomb"
    if request.param == "pickle":
        path.write_bytes(pickle.dumps(Bomb(trace)))
    elif request.param == "torch":
        torch.save({"weights": Bomb(trace)}, path)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("fuzz/fuzz_A.txt", pickle.dumps(Bomb(trace)))
    return path.read_bytes(), trace


def test_the_bomb_would_go_off(tmp_path):
    pickle.loads(pickle.dumps(Bomb(tmp_path / "exploded")))
    assert (tmp_path / "exploded").is_dir()


@pytest.mark.parametrize("name", parsers.PARSERS)
def test_no_parser_runs_code(name, bomb, made, tmp_path):
    content, trace = bomb
    parsers.parse(name, content, tmp_path / "place", made)
    assert not trace.exists()


def test_no_kit_runs_code(bomb, made, tmp_path):
    content, trace = bomb
    for path in sorted(file for file in (made / "kit").rglob("*") if file.is_file()):
        kit = tmp_path / path.name
        shutil.copytree(made / "kit", kit)
        (kit / path.relative_to(made / "kit")).write_bytes(content)
        with pytest.raises(GraphflipError):
            load_kit(kit)
    assert not trace.exists()


def test_loading_needs_no_pickle(made):
    """With unpickling switched off altogether, kits load and jobs are read."""
    code = (
        "import pickle, sys, pathlib\n"
        "import pandas, pyarrow.parquet\n"  # they subclass what is switched off
        "import graphflip.jobs, graphflip.explain.kit\n"
        "def refuse(*_, **__): raise SystemExit('unpickled')\n"
        "pickle.load = pickle.loads = pickle.Unpickler = pickle._Unpickler = refuse\n"
        "from graphflip.jobs.folder import JobFolder, read_manifest\n"
        "kit, job = map(pathlib.Path, sys.argv[1:])\n"
        "graphflip.explain.kit.load_kit(kit)\n"
        "print(len(list(JobFolder(job, read_manifest(job)).answers())))\n"
    )
    command = [sys.executable, "-c", code, str(made / "kit"), str(made / "job")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout.strip() == "6", run.stderr
