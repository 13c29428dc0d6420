# SPDX-License-Identifier: Apache-2.0
"""Executors of Dask and MPI: a worker that is killed, one that joins, a scheduler that is lost. Skipped without them."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import shoal

try:
    import distributed
except ImportError:
    distributed = None
dask = pytest.mark.skipif(distributed is None, reason="could not import 'distributed'")

JOB = dict(method="euler", steps=8, paths=1 << 23, units=64)


@pytest.fixture(scope="module")
def whole():
    return shoal.price.heston(**{**JOB, "units": None})


def cluster(workers):
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
                                    silence_logs=50)  # fmt: skip


def after_some(folder, action):
    """Runs `action` once three units are finished."""

    def wait():
        while len(list(folder.glob("unit-*"))) < 3:
            time.sleep(0.002)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@dask
def test_a_cluster_gives_the_same_bits(whole):
    with cluster(2) as c, distributed.Client(c) as client:
        r = shoal.price.heston(**JOB, executor=client.get_executor())
        assert r.price == whole.price and r.stderr == whole.stderr
        threads = client.run(lambda: os.environ["OMP_NUM_THREADS"])
        assert set(threads.values()) == {"1"}


@dask
def test_a_killed_worker_and_a_new_one(whole, tmp_path):
    with cluster(2) as c, distributed.Client(c) as client:
        pids = list(client.run(os.getpid).values())
        thread = after_some(tmp_path / "kept", lambda: (os.kill(pids[0], signal.SIGKILL), c.scale(3)))
        r = shoal.price.heston(**JOB, executor=client.get_executor(), checkpoint=tmp_path / "kept")
        thread.join()
        assert r.price == whole.price and r.stderr == whole.stderr
        client.wait_for_workers(3, timeout=30)
        assert pids[0] not in client.run(os.getpid).values()


@dask
def test_a_lost_scheduler(whole, tmp_path):
    """The scheduler is a process of its own, as on a cluster of machines, and is killed."""
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file",
         str(tmp_path / "scheduler")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as scheduler:  # fmt: skip
        workers = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(tmp_path / "scheduler"), "--nworkers",
             "2", "--nthreads", "1", "--no-dashboard", "--death-timeout", "10"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            client = distributed.Client(scheduler_file=str(tmp_path / "scheduler"), timeout=30)
            client.wait_for_workers(2, timeout=30)
            thread = after_some(tmp_path / "kept", scheduler.kill)
            with pytest.raises(RuntimeError, match="the executor failed after .* of 64 units: .*the same call continues"):
                shoal.price.heston(**JOB, executor=client.get_executor(), checkpoint=tmp_path / "kept")
            thread.join()
            client.close(timeout=1)
            kept = len(list((tmp_path / "kept").glob("unit-*")))
            assert 3 <= kept < 64
            with cluster(1) as c, distributed.Client(c) as other:
                r = shoal.price.heston(**JOB, executor=other.get_executor(), checkpoint=tmp_path / "kept")
            assert r.price == whole.price and r.stderr == whole.stderr
        finally:
            scheduler.kill()
            workers.kill()
            workers.wait()


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")
def test_ranks_of_mpi(whole, tmp_path):
    pytest.importorskip("mpi4py")
    script = tmp_path / "run.py"
    script.write_text(f"""
import shoal
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        r = shoal.price.heston(**{JOB}, executor=executor)
        print(repr(float(r.price)), repr(float(r.stderr)))
""")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
    done = subprocess.run(["mpirun", "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)], capture_output=True,
                          text=True, timeout=300, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [float(word) for word in done.stdout.split()] == [whole.price, whole.stderr]
