# SPDX-License-Identifier: Apache-2.0
"""One job in units: executors, folders of finished units, systems in files. The bits are those of a plain call."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import shoal

rng = np.random.default_rng(0)
MARKET = {"asset": ["ALFA", "BRAVO"], "spot": [100.0, 90.0], "volatility": [0.2, 0.25], "ALFA": [1, 0.5],
          "BRAVO": [0.5, 1]}  # fmt: skip
BOOK = [{"payoff": "call", "assets": "ALFA", "strike": 100, "maturity": 1},
        {"payoff": "put", "style": "american", "assets": "BRAVO", "strike": 95, "maturity": 1}]  # fmt: skip
TERMS = {"rate": np.float64(0.03), "dates": 3, "outer": 300, "inner": 8, "rule_paths": 1024, "hazard": [(0.5, 0.02), (2, 0.03)],
         "own_hazard": 0.01, "borrowing": 0.01}  # fmt: skip
AMERICAN = {"payoff": "max-call", "s0": [90.0, 100.0], "dates": 4, "fit_paths": 512}


class Now(Executor):
    """Computes when it is asked, in this process; keeps what it was given; fails from a unit on."""

    def __init__(self, most=1 << 30):
        self.most, self.units = most, []

    def submit(self, fn, /, *arguments):
        future = Future()
        if len(self.units) == self.most:
            future.set_exception(ConnectionError("the scheduler is gone"))
        else:
            self.units.append(arguments[1])
            future.set_result(fn(*arguments))
        return future


class Backwards(Executor):
    """Computes all, then hands back the last unit first."""

    def __init__(self, count):
        self.count, self.waiting = count, []

    def submit(self, fn, /, *arguments):
        future = Future()
        self.waiting.append((future, fn, arguments))
        if len(self.waiting) == self.count:
            for f, call, given in reversed(self.waiting):
                f.set_result(call(*given))
        return future


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


def same(a, b):
    if isinstance(a, dict):
        assert set(a) == set(b)
        for key in a:
            if key not in ("seconds", "bytes"):
                same(a[key], b[key])
    else:
        np.testing.assert_array_equal(a, b)


def of_cva(**how):
    r = shoal.cva(BOOK, MARKET, validate=True, breakdown=True, **TERMS, **how)
    return {"cva": r.cva, "stderr": r.stderr, "bias": r.bias, "profile": r.profile, "counts": r.counts,
            "z": r.validation.table["z"], "set": r.by_set, "trade": r.by_trade}  # fmt: skip


def of_price(**how):
    r = shoal.price.heston([0.9, 1.1], [1.0, 0.5], method="euler", steps=2, paths=200_000, antithetic=True, **how)
    return {"price": r.price, "stderr": r.stderr, "paths": r.paths, "vol": r.implied_vol}


def of_american(**how):
    r = shoal.price.american([95.0, 100.0], 1.0, paths=140_000, **AMERICAN, **how)
    return {"price": r.price, "stderr": r.stderr, "paths": r.paths}


def of_bullet(**how):
    r = shoal.price.bullet([95.0, 100.0], method="mc", dates=4, p1=1, p2=3, paths=140_000, **how)
    return {"price": r.price, "stderr": r.stderr}


def of_dataset(**how):
    return shoal.dataset(40, ranges={"maturity": (0.05, 0.1)}, target=5e-3, most_paths=2048, seed=3, **how)


JOBS = {"cva": of_cva, "price": of_price, "american": of_american, "bullet": of_bullet, "dataset": of_dataset}


@pytest.mark.parametrize("job", JOBS)
def test_the_bits_are_those_of_a_plain_call(job, tmp_path, processes):
    call = JOBS[job]
    whole = call()
    same(call(executor=processes), whole)
    for units in (1, 3):
        same(call(executor=Now(), units=units), whole)
    if job != "bullet":  # one job per strike
        same(call(executor=Backwards(3), units=3), whole)
    same(call(checkpoint=tmp_path / "kept"), whole)
    again = Now()
    same(call(checkpoint=tmp_path / "kept", executor=again), whole)
    assert again.units == []  # all of them were there


def test_a_thread_has_its_own_plan():
    with ThreadPoolExecutor(3) as executor:
        same(of_cva(executor=executor, units=9), of_cva())


def test_a_lost_engine_keeps_what_is_finished(tmp_path):
    whole = of_price()
    with pytest.raises(RuntimeError, match="failed after 2 of 4 units: ConnectionError: the scheduler is gone; pass checkpoint=DIR"):
        of_price(executor=Now(2), units=4)
    with pytest.raises(RuntimeError, match=f"2 of 4 units.*{tmp_path}.kept contains them, and the same call continues"):
        of_price(executor=Now(2), units=4, checkpoint=tmp_path / "kept")
    rest = Now()
    same(of_price(executor=rest, units=4, checkpoint=tmp_path / "kept"), whole)
    assert rest.units == [2, 3]
    with pytest.raises(OSError, match="of a job of .* in 4; choose another folder|in 4 units.*choose another folder"):
        of_price(executor=Now(), units=3, checkpoint=tmp_path / "kept")
    with pytest.raises(OSError, match="other inputs; choose another folder"):
        shoal.price.heston(method="euler", steps=2, paths=200_000, antithetic=True, units=4, checkpoint=tmp_path / "kept")


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    class Interrupted(Now):
        def submit(self, fn, /, *arguments):
            if len(self.units) == 2:
                raise KeyboardInterrupt
            return super().submit(fn, *arguments)

    with pytest.raises(KeyboardInterrupt):
        of_price(executor=Interrupted(), units=4, checkpoint=tmp_path / "kept")
    assert sorted(p.name for p in (tmp_path / "kept").glob("unit-*")) == ["unit-000000-of-000004", "unit-000001-of-000004"]
    rest = Now()
    of_price(executor=rest, units=4, checkpoint=tmp_path / "kept")
    assert rest.units == [2, 3]


def test_a_killed_worker(tmp_path):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        worker = executor.submit(os.getpid).result()

        def kill():
            while len(list(tmp_path.glob("kept/unit-*"))) < 2:
                time.sleep(0.001)
            os.kill(worker, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(RuntimeError, match="units: BrokenProcessPool.*the same call continues"):
            shoal.price.heston(method="euler", steps=8, paths=1 << 24, units=64, executor=executor, checkpoint=tmp_path / "kept")
        killer.join()
    assert 2 <= len(list(tmp_path.glob("kept/unit-*"))) < 64


def test_what_executors_are_told():
    class Client:
        def get_executor(self): ...

    with pytest.raises(TypeError, match=r"executor is a Client; .*concurrent.futures: pass client.get_executor\(\)"):
        of_price(executor=Client())
    for folder in ("", 3):
        with pytest.raises(TypeError, match=f"checkpoint is {folder!r}; it must be the path of a folder"):
            of_price(checkpoint=folder)
    with pytest.raises(TypeError, match="executor is a int"):
        of_price(executor=3)
    for units in (0, -1, 10**9):
        with pytest.raises(ValueError, match=f"units is {units}; it must be 1 to 1000000"):
            of_price(units=units)
    with pytest.raises(TypeError, match="units is 1.5; it must be a whole number"):
        of_price(units=1.5)
    for call, words in (
        (lambda: shoal.price.heston(executor=Now(), target=1e-3), "target is given: omit devices, executor"),
        (lambda: shoal.price.heston(executor=Now(), method="analytic"), "method 'analytic' simulates no paths"),
        (lambda: shoal.price.american(units=3), "method 'exact' simulates no paths.*method='lsm'"),
        (lambda: shoal.dataset(4, ranges={"spot": (1, 2)}), "unknown column 'spot'; the columns are alpha, m, beta"),
        (lambda: shoal.dataset(4, ranges={"strike": 1}), r"ranges\['strike'\] is 1; it must be \(low, high\)"),
        (lambda: shoal.dataset(4, ranges={"strike": (2, 1)}), "strike"),
        (lambda: shoal.dataset(-1), "samples is -1"),
        (lambda: shoal.dataset(4, parametrisation="x"), "parametrisation is 'x'"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert shoal.dataset(0)["price"].shape == (0,)


def test_a_worker_with_an_error_says_which():
    class Broken(Now):
        def submit(self, fn, /, *arguments):
            future = Future()
            future.set_exception(MemoryError("a worker has no memory"))
            return future

    with pytest.raises(RuntimeError, match="after 0 of 2 units: MemoryError: a worker has no memory") as caught:
        of_price(executor=Broken(), units=2)
    assert isinstance(caught.value.__cause__, MemoryError)


def test_a_unit_that_is_another_one_is_refused():
    class Wrong(Now):
        def submit(self, fn, /, job, unit):
            future = Future()
            future.set_result(fn(job, unit)[:-8])
            return future

    with pytest.raises(ValueError, match="cut off"):
        of_price(executor=Wrong(), units=2)


# ---- systems in files ---------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    A, b = rng.normal(size=(40, 5, 5)), rng.normal(size=(40, 5, 2))
    A += A.swapaxes(1, 2) + 20 * np.eye(5)
    A[17] = np.nan
    for name, a in (("A", A), ("b", b)):
        np.save(tmp_path / f"{name}.npy", a)
    return tmp_path, A, b


def test_systems_in_files(files, processes):
    folder, A, b = files
    whole = shoal.solve_ex(A, b)
    paths = folder / "A.npy", str(folder / "b.npy")
    for more in ({}, {"units": 7}, {"executor": processes, "units": 3}, {"executor": Backwards(4), "units": 4},
                 {"out": folder / "x.npy"}, {"out": np.empty_like(b)}, {"checkpoint": folder / "kept", "units": 5},
                 {"checkpoint": folder / "kept", "units": 5, "executor": Now(0)}):  # fmt: skip
        r = shoal.solve_ex(*paths, **more)
        for name in ("x", "status", "residual", "rcond", "method"):
            np.testing.assert_array_equal(getattr(r, name), getattr(whole, name))
    np.testing.assert_array_equal(np.load(folder / "x.npy"), whole.x)
    with pytest.raises(shoal.LinAlgError, match=r"system \[17\].*non-finite.*1 of 40"):
        shoal.solve(*paths, out=folder / "y.npy")
    np.testing.assert_array_equal(np.load(folder / "y.npy"), whole.x)


def test_maps_and_their_views(files):
    folder, A, b = files
    A, b = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Ab")
    for part in (slice(None), slice(3, 11), slice(20, 2, -3), slice(1, None, 2)):
        here = shoal.solve_ex(A[part], b[part], units=2)
        np.testing.assert_array_equal(here.x, shoal.solve_ex(np.array(A[part]), np.array(b[part])).x)
    np.testing.assert_array_equal(shoal.solve_ex(A.reshape(8, 5, 5, 5), np.ones(5), units=3).x,
                                  shoal.solve_ex(np.array(A).reshape(8, 5, 5, 5), np.ones(5)).x)  # fmt: skip
    grid = A.reshape(4, 2, 5, 5, 5)
    np.testing.assert_array_equal(shoal.solve(grid[2:], np.ones(5), units=2), shoal.solve(np.array(grid[2:]), np.ones(5)))
    for view in (grid[:, :, 1:], grid.swapaxes(0, 1)):
        with pytest.raises(ValueError, match="A is a view whose leading dimensions are not contiguous"):
            shoal.solve(view, np.ones(5), units=2)
    np.testing.assert_array_equal(shoal.solve(A[:1], b[0, :, 1:], units=1), shoal.solve(np.array(A[:1]), np.array(b[0, :, 1:])))
    raw = np.memmap(folder / "raw", np.float32, "w+", offset=12, shape=(6, 4))
    raw[:] = rng.normal(size=(6, 4))
    bands = raw, raw + 9, raw, raw[::-1]  # d: results of arithmetic are in memory
    with pytest.raises(ValueError, match="d is in memory; executor, checkpoint and out are for arrays in files"):
        shoal.solve_tridiagonal(*bands, units=2)
    d = np.full(4, 9, np.float32)
    x = shoal.solve_tridiagonal(raw, d, raw, raw[::-1], units=3)
    assert x.dtype == np.float32
    np.testing.assert_array_equal(x, shoal.solve_tridiagonal(np.array(raw), d, np.array(raw), np.array(raw[::-1])))
    r = shoal.solve_tridiagonal_ex(raw, d, raw, np.ones((4, 2)), matrix_rhs=True, rcond=True, units=2)
    s = shoal.solve_tridiagonal_ex(np.array(raw), d, np.array(raw), np.ones((4, 2)), matrix_rhs=True, rcond=True)
    np.testing.assert_array_equal(r.x, s.x), np.testing.assert_array_equal(r.rcond, s.rcond)


def test_what_files_are_told(files):
    folder, A, b = files
    path, short = folder / "A.npy", np.memmap(folder / "short", float, "w+", shape=(39, 5, 2))
    (folder / "text.npy").write_text("text")
    np.save(folder / "words.npy", np.array([None]), allow_pickle=True)
    np.savez(folder / "two.npz", A=A)
    np.save(folder / "complex.npy", A.astype(complex))
    private = np.load(path, mmap_mode="c")
    for a, y, more, error, words in (
        (A, b, {"out": folder / "x.npy"}, ValueError, "A is in memory"),
        (private, b, {"units": 2}, ValueError, "A is in memory"),
        (path, b, {}, ValueError, "b is in memory"),
        (path, short, {}, ValueError, r"same leading dimensions: A \(40,\), b \(39,\)"),
        (path, np.ones(4), {}, ValueError, "b has 4 rows per system, A has 5"),
        (path, np.ones((5, 0)), {}, ValueError, "no right-hand sides"),
        (folder / "none.npy", b, {}, FileNotFoundError, "none.npy"),
        (folder / "text.npy", b, {}, ValueError, "A: .*text.npy is no .npy file of numbers"),
        (folder / "words.npy", b, {}, ValueError, "A: .*words.npy is no .npy file of numbers"),
        (folder / "two.npz", b, {}, ValueError, "A must be a .npy file"),
        (folder / "complex.npy", np.ones(5), {}, TypeError, "A: complex128.*real"),
        (path, folder / "b.npy", {"out": folder / "b.npy"}, ValueError, "out is the file of an input"),
        (path, folder / "b.npy", {"out": np.load(folder / "b.npy", mmap_mode="r+")}, ValueError, "out is the file of an"),
        (path, folder / "b.npy", {"out": np.empty((40, 5))}, ValueError, r"out has shape \(40, 5\)"),
        (path, folder / "b.npy", {"out": np.load(path, mmap_mode="r")[:, :, :2]}, ValueError, "out is"),
        (path, folder / "b.npy", {"method": "nosuch"}, ValueError, "nosuch"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            shoal.solve_ex(a, y, **more)
    np.testing.assert_array_equal(np.load(folder / "b.npy"), b)

    class Changes(Now):
        def submit(self, fn, /, *arguments):
            os.utime(path, ns=(1, 1))
            return super().submit(fn, *arguments)

    with pytest.raises(RuntimeError, match="ValueError: .*A.npy is not the file that the caller described"):
        shoal.solve_ex(path, folder / "b.npy", executor=Changes())


def test_progress_of_units(caplog):
    import logging

    seen = []
    from shoal._runtime import watch

    before = watch(lambda stage, fraction: seen.append((stage, fraction)))
    try:
        of_price(executor=Now(), units=4)
    finally:
        watch(before)
    assert [f for s, f in seen if s == "units"] == [0.25, 0.5, 0.75, 1.0]
    with caplog.at_level(logging.INFO, "shoal"):
        of_price(executor=Now(), units=4, progress=True)


# ---- the report ---------------------------------------------------------------------------------------


def job_of_scale(trace, plan, lost=()):
    """A call of 4 units of 2 rows of 24 bytes, of which one was there before."""
    from shoal._scale import _Job

    job = _Job({"kind": "price", "units": 4, "done": 1, "rows": 8, "row_bytes": 24, "counts": 1}, plan, "cpu", True)
    for unit, worker, begin, end in trace:
        job.add(unit, worker, begin, end, worker != "a")
    job.lost = list(lost)
    return job


def test_figures_of_a_report():
    from shoal._scale import _summed

    one = job_of_scale([(3, "b", 0.0, 4.0), (1, "a", 0.0, 1.0), (2, "a", 2.0, 3.0)], 0.5)
    two = job_of_scale([(1, "c", 0.0, 1.0)], 0.25, ["b"])
    r = _summed([one, two])
    assert (r["units"], r["units_before"], r["rows"]) == (8, 2, 16)
    assert (r["bytes"], r["bytes_sent"], r["bytes_written"]) == (4 * 56, 2 * 56, 4 * 56)
    assert (r["seconds"], r["busy_seconds"], r["plan_seconds"]) == (5.0, 7.0, 0.75)
    assert r["idle_share"] == 1 - 7 / 15 and r["critical_path_seconds"] == 0.75 + 4 + 1
    assert r["unit_seconds"] == {"mean": 7 / 4, "median": 1.0, "p95": 1.0, "longest": 4.0}
    assert [(w["name"], w["units"], w["lost"]) for w in r["workers"]] == [("b", 1, True), ("a", 2, False), ("c", 1, False)]
    assert r["trace"] == [[1, 1, 0.0, 1.0], [2, 1, 2.0, 3.0], [3, 0, 0.0, 4.0], [5, 2, 4.0, 5.0]]


def test_a_report(tmp_path, processes):
    import json
    from xml.dom import minidom

    path, plot = tmp_path / "scale.json", tmp_path / "scale.svg"
    with shoal.scale(path, plot=plot) as load:
        same(of_cva(executor=processes, units=9, checkpoint=tmp_path / "kept"), of_cva())
    r = load.report
    assert json.loads(path.read_text()) == r and (r["command"], r["backend"], r["rows"]) == ("cva", "cpu", 300)
    assert [row[0] for row in r["trace"]] == list(range(9)) and 0 <= r["idle_share"] < 1
    assert r["bytes"] == r["bytes_sent"] == r["bytes_written"] > 300 * 8
    assert 0 < r["unit_seconds"]["longest"] <= r["critical_path_seconds"] <= r["plan_seconds"] + r["seconds"]
    assert sum(w["units"] for w in r["workers"]) == 9 and sum(w["busy_seconds"] for w in r["workers"]) == pytest.approx(r["busy_seconds"])
    bars = minidom.parse(str(plot)).getElementsByTagName("rect")
    assert len(bars) == 1 + 9 and float(bars[-1].getAttribute("width")) > 0
    with shoal.scale() as load:
        of_cva(units=9, checkpoint=tmp_path / "kept")
    assert load.report["units_before"] == 9 and load.report["trace"] == [] and load.report["bytes"] == 0
    with shoal.scale() as load:
        of_price(devices=["cpu", "cpu"], units=4)
        with pytest.raises(RuntimeError, match="executor failed after 1 of 2"):
            of_price(executor=Now(1), units=2)
    assert load.report["bytes_sent"] == 128 and load.report["units"] == 6 and len(load.report["trace"]) == 5
    assert {w["name"] for w in load.report["workers"]} >= {"CPU (0)", "CPU (1)"}


def test_what_a_report_is_told(tmp_path):
    with pytest.raises(ValueError, match="path is 'r.txt'; it must end in .json"):
        shoal.scale("r.txt")
    with pytest.raises(ValueError, match="plot is 'r.png'; it must end in .svg"):
        shoal.scale(plot="r.png")
    with pytest.raises(RuntimeError, match="no call within the block computed units"), shoal.scale():
        of_price()
    with pytest.raises(KeyError), shoal.scale(tmp_path / "r.json"):
        raise KeyError
    assert not (tmp_path / "r.json").exists()
