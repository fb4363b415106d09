"""The same answers from a Dask cluster, whatever happens to workers, scheduler and connection."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from graphflip.errors import JobError
from graphflip.jobs import open_source, run_job

from .conftest import answers_of

pytest.importorskip("distributed", reason="needs the extra: pip install 'graphflip[dask]'")
from distributed import Client

from graphflip.jobs import cluster as cluster_module
from graphflip.jobs.cluster import Dask, _blob

# Dask does not close the socket of an attempt to connect that came to nothing.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(autouse=True)
def no_sockets_left():
    yield
    gc.collect()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A scheduler and workers, in processes of their own, on loopback."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.processes = []

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self):
        options = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        return self._start("distributed.cli.dask_scheduler", *options)

    def start_worker(self):
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        return self._start("distributed.cli.dask_worker", self.address, *options)

    def _start(self, module, *options):
        with (self.folder / f"log{len(self.processes)}.txt").open("w") as log:
            command = [sys.executable, "-m", module, *options]
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)
        self.processes.append(process)
        return process

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    running.start_scheduler()
    yield running
    running.stop()


class Proxy:
    """A wire to the scheduler that can be cut."""

    def __init__(self, port):
        self.target, self.wires = port, []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        while self.wires:
            with suppress(OSError):
                self.wires.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self):
        while True:
            near, _ = self.server.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # nobody listens there yet, or any more
                near.close()
                continue
            self.wires += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one, other):
        with suppress(OSError), one, other:
            while content := one.recv(1 << 16):
                other.sendall(content)


def when(events):
    """A watcher that lets each thing happen when so many rows are done."""
    left = sorted(events.items())

    def watch(progress):
        while left and progress.done >= left[0][0]:
            left.pop(0)[1]()

    return watch


def test_a_killed_worker_and_a_slow_one(cluster, table, settings, undisturbed, tmp_path):
    killed, slow = cluster.start_worker(), cluster.start_worker()

    def freeze():
        slow.send_signal(signal.SIGSTOP)
        threading.Timer(2, slow.send_signal, [signal.SIGCONT]).start()

    watch = when({1: killed.kill, 3: freeze})
    job = (open_source(str(table)), settings, tmp_path / "job", Dask(cluster.address, unencrypted=True))
    assert run_job(*job, shard_size=1, watch=watch).finished
    assert answers_of(tmp_path / "job") == answers_of(undisturbed)
    assert killed.wait() == -signal.SIGKILL


def test_a_cut_connection_and_another_scheduler(cluster, table, settings, undisturbed, tmp_path):
    scheduler, proxy = cluster.processes[0], Proxy(cluster.port)
    if all(process.poll() is not None for process in cluster.processes[1:]):
        cluster.start_worker()

    def restart():
        scheduler.kill()
        scheduler.wait()
        cluster.start_scheduler()
        cluster.start_worker()

    watch = when({2: proxy.cut, 5: restart})
    job = (open_source(str(table)), settings, tmp_path / "job", Dask(f"tcp://127.0.0.1:{proxy.port}", unencrypted=True))
    assert run_job(*job, shard_size=1, watch=watch).finished
    assert answers_of(tmp_path / "job") == answers_of(undisturbed)


def test_what_a_worker_cannot_do_is_no_lost_connection(cluster):
    with Client(cluster.address) as client, pytest.raises(JobError, match="one says FileNotFoundError"):
        _blob(client.submit(os.listdir, "no such folder"))


def test_workers_without_the_package_are_told_of(cluster, table, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "_NEEDED", "no_such_package")
    with pytest.raises(JobError, match=r"No module named 'no_such_package'\. Install the same graphflip"):
        run_job(open_source(str(table)), settings, tmp_path, Dask(cluster.address, unencrypted=True))


def test_a_scheduler_that_is_not_there_is_said(table, settings, tmp_path):
    with pytest.raises(JobError, match="scheduler must answer"):
        run_job(
            open_source(str(table)),
            settings,
            tmp_path,
            Dask(f"tcp://127.0.0.1:{free_port()}", patience=0.5, unencrypted=True),
        )
