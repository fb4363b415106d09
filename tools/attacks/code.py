"""Attacks that would run code: texts that name a module, and other users of the machine."""

import json
import subprocess
import sys

from .place import Place, attack, refused

_TRACE = "from pathlib import Path\n\nPath(__file__).with_name('ran').touch()\n\n\ndef C():\n    return []\n"


@attack
def a_smiles_that_names_a_module(place: Place) -> None:
    """`C:C` is a SMILES with an aromatic bond; C.py of the current folder is not imported, nor is `os:abort` called."""
    (place.folder / "C.py").write_text(_TRACE)
    for text in ("C:C", "os:abort", "C:make"):
        run = place.explain(text)
        assert run.returncode in (0, 2, 3), (text, run.returncode)
        assert "Traceback" not in run.stderr
    assert "--function" in run.stderr
    assert place.command("fit", "C:C", "--out", "kit").returncode == 2
    assert not (place.folder / "ran").exists()


@attack
def code_that_is_asked_for(place: Place) -> None:
    """With --function it runs, so that the attack above would be seen."""
    (place.folder / "C.py").write_text(_TRACE)
    assert place.explain("C:C", "--function").returncode == 2  # there are no graphs
    assert (place.folder / "ran").exists()


_INTRUDER = """
import sys
from distributed import Client
try:
    with Client(sys.argv[1].replace("tls://", sys.argv[2]), timeout=3) as client:
        print(client.submit(lambda: "ran").result(timeout=5))
except Exception as error:
    print(type(error).__name__)
"""


@attack
def another_user_of_a_local_dask_cluster(place: Place) -> None:
    """Whoever does not have the key of a cluster that we started cannot run anything on it."""
    from graphflip.jobs.cluster import Dask

    with Dask(workers=1)._cluster() as given:
        address = given["address"]
        assert address.startswith("tls://")
        for protocol in ("tls://", "tcp://"):
            command = [sys.executable, "-c", _INTRUDER, address, protocol]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=place.folder)
            assert run.stdout.strip() not in ("ran", ""), run
        with Dask()._client(given) as client:
            assert client.submit(sum, [1, 2], pure=False).result(timeout=30) == 3


@attack
def a_scheduler_without_encryption(place: Place) -> None:
    """It is refused, by its address and by its file, unless allowed in words."""
    file = place.folder / "scheduler.json"
    file.write_text(json.dumps({"address": "tcp://127.0.0.1:1"}))
    for scheduler in ("tcp://127.0.0.1:1", "127.0.0.1:1", file):
        run = place.explain("CCO", "--out", "job", "--engine", "dask", "--scheduler", scheduler)
        assert run.returncode == 2
        assert "must be encrypted" in run.stderr


@attack
def workers_with_other_versions(place: Place) -> None:
    """A worker with another torch, RDKit, kit or classifier says so and computes nothing."""
    from graphflip.errors import JobError
    from graphflip.jobs.answers import Order, explain_rows, kit_digest, package_versions

    settings = place.settings()
    good = Order(settings, kit_digest(settings.model), package_versions())
    assert explain_rows(good, ())
    for name in package_versions():
        other = good._replace(versions={**good.versions, name: "0.0"})
        refused(lambda other=other: explain_rows(other, ()), JobError, f"{name} ")
