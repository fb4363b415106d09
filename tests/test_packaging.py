"""The wheel has what the package needs and installs; the pinned versions fit what pyproject.toml promises."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import graphflip
from graphflip.models.storage.store import PRETRAINED

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()]


def run(*command, **options) -> str:
    finished = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, **options)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_package(wheel):
    source = ROOT / "src" / "graphflip"
    ours = {f"graphflip/{file.relative_to(source).as_posix()}" for file in source.rglob("*") if file.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert "graphflip/py.typed" in ours
    assert ours - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        info = f"graphflip-{graphflip.__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        scripts = archive.read(f"{info}/entry_points.txt").decode()
    assert metadata["Version"] == graphflip.__version__
    assert "graphflip = graphflip.cli:main" in scripts
    assert {"mol", "pyg", "viewer", "dask", "dev", "all"} <= set(metadata.get_all("Provides-Extra", []))


def test_the_wheel_installs(wheel, tmp_path):
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path, wheel)
    code = "import graphflip; print(graphflip.__file__, graphflip.Schema(max_nodes=3).max_nodes)"
    file, max_nodes = run("-c", code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}).split()
    assert Path(file).is_relative_to(tmp_path)
    assert max_nodes == "3"


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == graphflip.__version__


def test_pins_are_exact_and_portable():
    """A local version such as 2.13.0+cpu, a path or an address would not install elsewhere."""
    for pin in PINS:
        assert re.fullmatch(r"==[\w.]+", str(pin.specifier)), f"constraints.txt: {pin}"
        assert pin.url is None
    assert "torch==2.13.0" in map(str, PINS)


def test_pins_install_with_the_oldest_python_that_is_promised():
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    installed = {canonicalize_name(one.metadata["Name"]): one.metadata for one in distributions()}
    names = [name for pin in PINS if (name := canonicalize_name(pin.name)) in installed]
    wanted = {name: installed[name].get("Requires-Python") or "" for name in names}
    assert len(wanted) > 0.9 * len(PINS)
    assert not {name: versions for name, versions in wanted.items() if oldest not in SpecifierSet(versions)}


def test_all_requirements_are_pinned_within_their_range():
    pinned = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in PINS}
    # Packages of peers are compared with, not built upon: any version that works will do.
    ours = [text for name, texts in EXTRAS.items() if name != "peers" for text in texts]
    wanted = [*PROJECT["dependencies"], *ours]
    for requirement in map(Requirement, wanted):
        if requirement.name != "graphflip":
            version = pinned.get(canonicalize_name(requirement.name))
            assert version is not None, f"constraints.txt lacks {requirement.name}"
            assert requirement.specifier.contains(version), f"{requirement} excludes the pinned {version}"


def test_the_lock_has_a_hash_for_every_pin():
    """Or is a comment that says why there is none."""
    lock = (ROOT / "constraints.lock").read_text()
    locked = re.findall(r"^([\w.-]+)==([\w.]+) --hash=sha256:[0-9a-f]{64}$", lock, re.MULTILINE)
    left_out = re.findall(r"^# Not a published file here.*: ([\w.-]+)==([\w.]+)", lock, re.MULTILINE)
    assert len(locked) + len(left_out) == lock.count("==")
    found = {canonicalize_name(name): version for name, version in [*locked, *left_out]}
    assert {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in PINS}.items() <= found.items()


def test_the_extra_all_has_every_extra_but_those_of_developers_and_peers():
    (everything,) = map(Requirement, EXTRAS["all"])
    assert everything.extras == set(EXTRAS) - {"all", "dev", "docs", "fuzz", "peers"}


def test_the_models_of_the_package_take_at_most_25_megabytes():
    size = sum(path.stat().st_size for path in PRETRAINED.rglob("*") if path.is_file())
    assert 20e6 < size <= 25e6
