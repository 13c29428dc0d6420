# SPDX-License-Identifier: Apache-2.0
"""The package with numpy alone: answers against numpy's, verdicts, shapes, types, and what is refused and how."""

import math
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import shoal

ROOT = pathlib.Path(__file__).parents[2]
rng = np.random.default_rng(0)


def symmetric(*shape, dtype=np.float64):
    A = rng.normal(size=shape)
    return (A + A.swapaxes(-1, -2) + 2 * shape[-1] * np.eye(shape[-1])).astype(dtype)


def bands(*shape, dtype=np.float64):
    dl, du = rng.normal(size=(2, *shape)).astype(dtype)
    return dl, (rng.normal(size=shape) + 5).astype(dtype), du


def dense(dl, d, du, periodic=False):
    n = d.shape[-1]
    A = np.zeros((*d.shape, n))
    for i in range(n):
        A[..., i, i] += d[..., i]
        if i > 0 or periodic:
            A[..., i, i - 1] += dl[..., i]
        if i < n - 1 or periodic:
            A[..., i, (i + 1) % n] += du[..., i]
    return A


# ---- answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_solve_agrees_with_numpy(n, dtype):
    A, b = symmetric(3, 4, n, n, dtype=dtype), rng.normal(size=(3, 4, n, 2)).astype(dtype)
    r = shoal.solve_ex(A, b)
    assert r.x.dtype == dtype and r.x.shape == b.shape
    assert r.status.shape == r.residual.shape == r.rcond.shape == r.method.shape == (3, 4)
    assert (r.ok.astype(int) + r.warned + r.failed == 1).all() and r.ok.all()
    assert (r.residual <= 10 * n * np.finfo(dtype).eps).all()
    np.testing.assert_allclose(r.x, np.linalg.solve(A, b), rtol=2e3 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(shoal.solve(A, b), r.x)


def test_right_hand_sides_follow_the_rule_of_numpy_2():
    A, b = symmetric(4, 3, 3), rng.normal(size=3)
    assert shoal.solve(A, b).shape == (4, 3)  # a vector, for every system
    assert shoal.solve(A[0], b[:, None]).shape == (3, 1)
    assert shoal.solve(A, rng.normal(size=(4, 3, 2))).shape == (4, 3, 2)
    assert shoal.solve(A[:, None], rng.normal(size=(5, 3, 2))).shape == (4, 5, 3, 2)
    with pytest.raises(ValueError, match=r"b\[..., None\]"):
        shoal.solve(A, rng.normal(size=(4, 3)))


def test_calls_of_the_same_shapes_agree():
    A, b = symmetric(4, 3, 3), rng.normal(size=(4, 3, 1))
    for a, y in ((A, b), (A[0], b), (A, b[0]), (A, b[0, :, 0]), (A[::-1], b), (A[0], b[0, :, 0])):
        expected = np.linalg.solve(a, y[..., None] if y.ndim == 1 else y)
        for _ in range(3):
            np.testing.assert_allclose(shoal.solve(a, y).reshape(expected.shape), expected, rtol=1e-12)


def test_outcomes_of_later_calls_are_their_own():
    A, b = np.stack([np.eye(3), np.eye(3)]), np.ones((2, 3, 1))
    results = []
    for k in range(3000):  # more than share an array
        A[0, 2, 2] = 0 if k % 2 else 1
        results.append(shoal.solve_ex(A, b, method="ldlt"))
    for k, r in enumerate(results):
        assert r.failed.tolist() == [k % 2 == 1, False] and r.method.max() == 0
        assert r.residual.shape == (2,) and r._block.nbytes == 4 * 2 * 4
    for k in range(3):
        A[0, 2, 2] = k % 2
        call = lambda: shoal.solve(A, b, method="ldlt")  # noqa: E731
        if k % 2:
            assert (call() == b).all()
        else:
            with pytest.raises(shoal.LinAlgError, match=r"system \[0\]"):
                call()


def test_calls_end_with_their_plans():
    A, b = np.eye(3), np.ones(3)
    for n in range(3, 80):  # more plans than a thread keeps
        shoal.solve(np.eye(n), np.ones(n))
    for threads in (1, 0):
        shoal.set_num_threads(threads)
        assert (shoal.solve(A, b) == b).all() and (shoal.solve(A, b) == b).all()
    shoal.clear_cache()
    assert (shoal.solve(A, b) == b).all()


def test_one_triangle_is_read():
    A = symmetric(3, 3)
    low, up = np.tril(A), np.triu(A)
    b = np.ones(3)
    np.testing.assert_array_equal(shoal.solve(low, b), shoal.solve(A, b))
    np.testing.assert_allclose(shoal.solve(up, b, triangle="upper"), shoal.solve(A, b), rtol=1e-13)


def test_every_method_answers_or_says_why_not():
    A, b = symmetric(6, 5, 5), rng.normal(size=(6, 5, 1))
    for method in shoal.methods("smallsym"):
        r = shoal.solve_ex(A, b, method=method)
        assert not r.failed.any(), method
        np.testing.assert_allclose(A @ r.x, b, atol=1e-11)
        assert set(r.method_names.ravel()) == {method}


def test_layouts_and_types_are_copied_once_by_rule():
    A, b = symmetric(4, 3, 3), rng.normal(size=(4, 3, 1))
    expected = shoal.solve(A, b)
    np.testing.assert_array_equal(shoal.solve(np.asfortranarray(A), b), expected)
    np.testing.assert_array_equal(shoal.solve(A[::-1], b[::-1])[::-1], expected)
    np.testing.assert_array_equal(shoal.solve(A.tolist(), b.tolist()), expected)
    with pytest.raises(TypeError, match="byte-swapped"):
        shoal.solve(A.astype(">f8"), b)
    assert shoal.solve(A.astype(np.float32), b).dtype == np.float64  # mixed: float64
    assert shoal.solve(np.eye(2, dtype=int), [1, 2]).dtype == np.float64
    raw = np.zeros(4 * 9 * 8 + 1, np.uint8)
    odd = raw[1:].view(np.float64).reshape(4, 3, 3)  # not aligned
    odd[:] = A
    np.testing.assert_array_equal(shoal.solve(odd, b), expected)
    A.setflags(write=False)
    np.testing.assert_array_equal(shoal.solve(A, b), expected)


def test_dlpack_comes_in():
    class Foreign:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **options):
            return self.a.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    A, b = symmetric(3, 3), rng.normal(size=3)
    np.testing.assert_array_equal(shoal.solve(Foreign(A), b), shoal.solve(A, b))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("periodic", [False, True])
def test_tridiagonal_agrees_with_numpy(dtype, periodic):
    n = 9
    dl, d, du = bands(4, n, dtype=dtype)
    b = rng.normal(size=(4, n)).astype(dtype)
    x = shoal.solve_tridiagonal(dl, d, du, b, periodic)
    assert x.dtype == dtype
    A = dense(dl, d, du, periodic)
    tol = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], rtol=tol, atol=tol)
    xt = shoal.solve_tridiagonal(dl, d, du, b[..., None], periodic, transposed=True, matrix_rhs=True)
    np.testing.assert_allclose(A.swapaxes(-1, -2) @ xt, b[..., None], atol=10 * tol)

def band_matrix(diagonals):
    """The dense matrix of one system; diagonals from the lowest."""
    width = len(diagonals) // 2
    n = len(diagonals[0])
    A = np.zeros((n, n), np.result_type(*diagonals))
    for e, diagonal in enumerate(diagonals):
        for i in range(n):
            if 0 <= i + e - width < n:
                A[i, i + e - width] = diagonal[i]
    return A


@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.complex128, np.complex64))
def test_pentadiagonal_agrees_with_numpy(dtype):
    rng = np.random.default_rng(1)
    imaginary = 1j if np.issubdtype(dtype, np.complexfloating) else 0
    draw = lambda *shape: (rng.normal(size=shape) + imaginary * rng.normal(size=shape)).astype(dtype)  # noqa: E731
    diagonals, b = [draw(7, 20) for _ in range(5)], draw(20, 3)
    r = shoal.solve_pentadiagonal_ex(*diagonals, b, matrix_rhs=True)
    assert r.x.dtype == dtype and r.x.shape == (7, 20, 3) and set(r.method_names) == {"lupp"}
    assert r.ok.all() and (r.rcond > 0).all() and (r.residual < 100 * np.finfo(dtype).eps).all()
    for k in range(7):
        exact = np.linalg.solve(band_matrix([a[k] for a in diagonals]), b)
        assert np.abs(r.x[k] - exact).max() < 20 * np.finfo(dtype).eps / r.rcond[k] * np.abs(exact).max()
    assert (shoal.solve_pentadiagonal(*diagonals, b, matrix_rhs=True) == r.x).all()


@pytest.mark.parametrize("dtype", (np.complex128, np.complex64))
def test_complex_tridiagonal_agrees_with_numpy(dtype):
    rng = np.random.default_rng(2)
    draw = lambda *shape: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)  # noqa: E731
    diagonals, b = [draw(5, 12) for _ in range(3)], draw(5, 12)
    r = shoal.solve_tridiagonal_ex(*diagonals, b, rcond=True)
    for k in range(5):
        exact = np.linalg.solve(band_matrix([a[k] for a in diagonals]), b[k])
        assert np.abs(r.x[k] - exact).max() < 20 * np.finfo(dtype).eps / r.rcond[k] * np.abs(exact).max()
    assert (shoal.solve_tridiagonal(*diagonals, b) == r.x).all()
    real = shoal.solve_tridiagonal(*(a.real for a in diagonals), b)  # a complex b alone
    assert real.dtype == dtype
    with pytest.raises(ValueError, match="dl is complex: only matrix_rhs"):
        shoal.solve_tridiagonal(*diagonals, b, periodic=True)
    diagonals[1][3] = diagonals[0][3] = diagonals[2][3] = 0
    with pytest.raises(shoal.LinAlgError, match=r"system \[3\] has no answer: singular"):
        shoal.solve_tridiagonal(*diagonals, b)


def test_pentadiagonal_arguments():
    one = np.ones(4)
    with pytest.raises(ValueError, match="du2 has 3 rows per system, dl2 has 4"):
        shoal.solve_pentadiagonal(one, one, one, one, one[:3], one)
    with pytest.raises(TypeError, match="b: float16"):
        shoal.solve_pentadiagonal(one, one, one, one, one, one.astype(np.float16))
    assert shoal.solve_pentadiagonal(*[[0, 0, 0]] * 2, [1, 2, 4], *[[0, 0, 0]] * 2, [1, 2, 4]).tolist() == [1, 1, 1]
    assert shoal.solve_pentadiagonal(*np.ones((6, 3, 0))).shape == (3, 0)
    assert shoal.solve_pentadiagonal(*np.ones((5, 5, 4)), np.ones((5, 4, 0)), matrix_rhs=True).shape == (5, 4, 0)


def test_ends_of_the_bands_are_not_read():
    dl, d, du = bands(5)
    b = rng.normal(size=5)
    expected = shoal.solve_tridiagonal(dl, d, du, b)
    dl[0] = du[-1] = np.nan
    np.testing.assert_array_equal(shoal.solve_tridiagonal(dl, d, du, b), expected)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence_agrees_with_a_loop(order, reverse):
    n = 20
    s = rng.normal(size=(3, n, order)) / order
    t, w0 = rng.normal(size=(3, n)), rng.normal(size=(3, order))
    before = [w0[:, j] for j in range(order)]
    expected = np.empty((3, n))
    for i in range(n)[:: -1 if reverse else 1]:
        expected[:, i] = sum(s[:, i, j] * before[j] for j in range(order)) + t[:, i]
        before = [expected[:, i], *before[:-1]]
    given = (s[..., 0], t, w0[:, 0]) if order == 1 else (s, t, w0)
    np.testing.assert_allclose(shoal.recurrence(*given, reverse=reverse, order=order), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8", "f4", "f8"])
def test_sort_and_merge_agree_with_numpy(dtype):
    keys = (rng.normal(size=(3, 50)) * 100).astype(dtype) if dtype[0] != "u" else rng.integers(0, 99, (3, 50)).astype(dtype)
    result, index = shoal.sort(keys, return_index=True)
    np.testing.assert_array_equal(result, np.sort(keys))
    np.testing.assert_array_equal(index, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(shoal.sort(keys, descending=True), -np.sort(-keys) if dtype[0] != "u" else np.sort(keys)[:, ::-1])
    np.testing.assert_array_equal(shoal.merge(result[:2], result[1]), np.sort(np.concatenate([result[:2], np.stack([result[1]] * 2)], -1)))


def test_eigh_lstsq_and_factor():
    A = symmetric(4, 6, 6)
    w, V = shoal.eigh(A)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(A), rtol=1e-12)
    np.testing.assert_allclose(A @ V, V * w[:, None, :], atol=1e-11)
    psi, beta = rng.normal(size=(4, 40, 3)), rng.normal(size=(4, 3, 2))
    np.testing.assert_allclose(shoal.lstsq(psi, psi @ beta), beta, rtol=1e-9)
    f = shoal.factor(A).raise_for_status()
    for b in (rng.normal(size=6), rng.normal(size=(4, 6, 3)), rng.normal(size=(6, 1))):
        np.testing.assert_allclose(f.solve(b), shoal.solve(A, b), rtol=1e-9, atol=1e-12)
    assert shoal.factor(np.stack([A[0], 0 * A[0]])).status.tolist()[1] < 0


@pytest.mark.parametrize("pivot", ["complete", "partial", "rook"])
def test_symmetric_indefinite(pivot):
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    eigenvalues = np.array([3.0, 2, 1, -1, -2, -3, -4, 5])
    A = Q * eigenvalues @ Q.T
    A = (A + A.T) / 2
    kept = A.copy()
    P = shoal.symmetric_indefinite(A, pivot=pivot)
    np.testing.assert_array_equal(A, kept)
    assert P.inertia == (4, 4, 0) and P.rank == 8 and P.sign_det == 1
    np.testing.assert_allclose(P.log_abs_det, np.log(np.abs(eigenvalues)).sum())
    b = rng.normal(size=(8, 2))
    np.testing.assert_allclose(A @ P.solve(b), b, atol=1e-12)
    np.testing.assert_allclose(P.inverse() @ A, np.eye(8), atol=1e-12)
    M, D, p = P.ldl()
    np.testing.assert_allclose(M @ D @ M.T, A[p][:, p], atol=1e-12)
    assert 0.01 < P.rcond <= 1
    w, V = P.eigh()
    np.testing.assert_allclose(w, np.sort(eigenvalues), atol=1e-12)
    np.testing.assert_allclose(A @ V, V * w, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(8), atol=1e-13)
    np.testing.assert_array_equal(P.eigh(vectors=False), w)
    zero = shoal.symmetric_indefinite(np.zeros((2, 2)))
    assert zero.rank == 0 and zero.inertia == (0, 0, 2)
    with pytest.raises(shoal.LinAlgError, match="rank is 0 of 2"):
        zero.solve(np.ones(2))


def test_random_numbers_have_addresses():
    g = shoal.Generator(7)
    z = g.normal((2, 500))
    np.testing.assert_array_equal(shoal.Generator(7).at(path=300).normal(200), z.ravel()[300:500])
    assert g.path == 1000 and not np.array_equal(g.normal(500), z[0])
    assert not np.array_equal(shoal.Generator(7).at(0, step=1).normal(500), z[0])
    assert abs(z.mean()) < 4 / np.sqrt(1000) and abs(z.std() - 1) < 0.1
    assert shoal.Generator(7).uniform(10, dtype="float32").dtype == np.float32
    assert shoal.Generator(7).sobol(16, 2).shape == (16, 2)
    with pytest.raises(ValueError, match="seed is -1"):
        shoal.Generator(-1)
    with pytest.raises(TypeError, match="float32"):
        g.normal(3, dtype="float16")


# ---- verdicts ---------------------------------------------------------------------------------------


def test_one_bad_system_is_named_and_disturbs_nobody():
    A, b = symmetric(2, 3, 4, 4), rng.normal(size=(2, 3, 4, 1))
    good = shoal.solve(A, b)
    A[1, 2, 0, 0] = np.nan
    r = shoal.solve_ex(A, b)
    assert r.status[1, 2] == -1 and r.failed.sum() == 1
    np.testing.assert_array_equal(r.x[r.ok], good[r.ok])
    assert np.isnan(r.x[1, 2]).all()
    with pytest.raises(shoal.LinAlgError, match=r"system \[1, 2\].*non-finite.*1 of 6") as caught:
        shoal.solve(A, b)
    assert caught.value.index == (1, 2) and caught.value.status == -1
    assert isinstance(caught.value, np.linalg.LinAlgError)
    with pytest.raises(shoal.LinAlgError, match=r"\[1, 2\]"):
        r.raise_for_status()


def test_a_result_fits_one_screen():
    A = np.stack([np.eye(3)] * 5)
    A[2] = 0
    r = shoal.solve_ex(A, np.ones(3), method="ldlt")
    text = repr(r)
    assert len(text.splitlines()) < 12 and "status -2" in text and "ldlt" in text and "systems" in text
    assert r._repr_html_().startswith("<table>") and "status -2" in r._repr_html_()


# ---- plans, threads, processes ----------------------------------------------------------------------


def test_a_plan_solves_in_place():
    dl, d, du = bands(10, 6)
    b = rng.normal(size=(10, 6))
    expected = shoal.solve_tridiagonal(dl, d, du, b)
    plan = shoal.TridiagonalPlan(6, 10)
    out = np.empty_like(b)
    assert plan.solve(dl, d, du, b, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert plan.solve(dl, d, du, b, out=b) is b  # in place
    np.testing.assert_array_equal(b, expected)
    with pytest.raises(ValueError, match=r"d has shape \(9, 6\).*\(10, 6\)"):
        plan.solve(dl, d[1:], du, b)
    with pytest.raises(TypeError, match="float32.*float64"):
        plan.solve(dl, d, du, b.astype(np.float32))
    with pytest.raises(ValueError, match="contiguous"):
        plan.solve(dl, d, du, np.asfortranarray(b))
    plan.close()
    with pytest.raises(ValueError, match="closed"):
        plan.solve(dl, d, du, b)


def test_out_is_checked():
    dl, d, du = bands(3, 4)
    b = rng.normal(size=(3, 4))
    plan = shoal.TridiagonalPlan(4, 3)
    locked = np.empty_like(b)
    locked.setflags(write=False)
    room = np.empty((5, 4))
    for out, error, words in (
        (locked, ValueError, "read-only"),
        (d, ValueError, "out overlaps d:"),
        (np.empty((3, 5)), ValueError, r"shape \(3, 5\)"),
        (np.empty((3, 4), np.float32), TypeError, "float32"),
        (np.empty((3, 8))[:, ::2], ValueError, "contiguous"),
        ([0.0], TypeError, "out"),
    ):
        with pytest.raises((error, AttributeError), match=words if error is not TypeError else None):
            plan.solve(dl, d, du, b, out=out)
    room[1:4] = b
    with pytest.raises(ValueError, match="out overlaps b"):
        plan.solve(dl, d, du, room[1:4], out=room[0:3])


def test_threads_share_the_module():
    A, b = symmetric(200, 5, 5), rng.normal(size=(200, 5, 1))
    expected, found = shoal.solve(A, b), []
    work = lambda: found.extend(np.array_equal(shoal.solve(A, b), expected) for _ in range(20))
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert len(found) == 80 and all(found)


def test_a_plan_is_closed_while_other_threads_use_it():
    bands, holder, found = (np.ones((200, 32)), np.full((200, 32), 4.0), np.ones((200, 32)), np.ones((200, 32))), [], []
    holder.append(shoal.TridiagonalPlan(32, 200))

    def work():
        while len(found) < 100:
            try:
                holder[0].solve(*bands)
            except ValueError as error:
                found.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    [t.start() for t in threads]
    end = time.monotonic() + 2
    while len(found) < 100 and time.monotonic() < end:
        holder[0].close()
        time.sleep(0.001)
        holder[0] = shoal.TridiagonalPlan(32, 200)
    found.extend([""] * 100)
    [t.join() for t in threads]
    assert set(found) <= {"", "the plan was closed: make a new one"} and found[0]


def test_a_daemon_thread_does_not_stop_the_exit():
    code = """
import threading, time, numpy as np, shoal
def work():
    while True:
        shoal.price.heston(method="euler", steps=2, paths=100_000)
        shoal.solve(np.eye(3), np.ones(3))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_after_use():
    code = """
import os, sys, numpy as np, shoal
A, b = np.eye(3) * np.ones((5000, 1, 1)), np.ones((5000, 3, 1))
shoal.set_num_threads(2)
x = shoal.solve(A, b)
child = os.fork()
if child == 0:
    good = np.array_equal(shoal.solve(A, b), x) and shoal.info()["threads"] == 1
    try:
        shoal.set_num_threads(4)
        good = False
    except RuntimeError as error:
        good = good and "spawn" in str(error)
    os._exit(0 if good else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60).returncode == 0


def test_the_program():
    run = lambda *words: subprocess.run([sys.executable, "-m", "shoal", *words], capture_output=True, text=True)
    assert shoal.__version__ in run("--version").stdout
    assert "tridiag" in run("info").stdout
    assert run("nonsense").returncode != 0


def test_a_number_of_threads_is_that_of_all_threads():
    from shoal import _runtime

    A, b = symmetric(4, 3, 3), rng.normal(size=(4, 3, 1))
    used, go, done = [], threading.Event(), threading.Event()

    def work():
        for _ in range(2):
            shoal.solve(A, b)
        done.set()
        go.wait()
        shoal.solve(A, b)
        used.extend(key[3] for key in _runtime._local.plans)

    thread = threading.Thread(target=work)
    thread.start()
    done.wait()
    shoal.set_num_threads(1)
    go.set()
    thread.join()
    shoal.set_num_threads(0)
    assert used == [0, 1]  # a plan for one thread was made


def test_info_and_threads():
    found = shoal.info()
    assert found["version"] == shoal.__version__ and found["gpu"] and found["levels"]
    for bad in (-1, 2000, 1.5, True):
        with pytest.raises(ValueError, match="threads"):
            shoal.set_num_threads(bad)


def test_a_gpu_that_cannot_be_used_is_told_once(monkeypatch, caplog):
    from shoal import _core, _runtime

    real = _core.Context

    def broken(options):
        if options["backend"] == "auto":
            raise RuntimeError("the driver is too old")
        return real(options)

    monkeypatch.setattr(_core, "Context", broken)
    monkeypatch.setattr(_runtime, "_warned", False)
    assert [shoal.info()["gpu"] for _ in range(2)] == ["the driver is too old"] * 2
    assert [r.getMessage() for r in caplog.records] == ["the GPU cannot be used: the driver is too old"]


# ---- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [lambda A, b: shoal.solve(A, b), lambda A, b: shoal.solve_ex(A, b).x])
def test_sizes_of_zero(call):
    assert call(np.empty((0, 3, 3)), np.empty((0, 3, 1))).shape == (0, 3, 1)
    assert call(np.empty((2, 0, 0)), np.empty((2, 0, 1))).shape == (2, 0, 1)
    assert call(np.eye(3), np.empty((3, 0))).shape == (3, 0)
    assert call(np.empty((0, 0)), np.empty(0)).shape == (0,)


def test_sizes_of_zero_elsewhere():
    e = np.empty
    assert shoal.solve_tridiagonal(e((0, 3)), e((0, 3)), e((0, 3)), e((0, 3))).shape == (0, 3)
    assert shoal.solve_tridiagonal(e(0), e(0), e(0), e(0)).shape == (0,)
    assert shoal.recurrence(e((0, 3)), e((0, 3))).shape == (0, 3)
    assert shoal.sort(e((0, 3))).shape == (0, 3) and shoal.sort(e((3, 0))).shape == (3, 0)
    assert shoal.merge(e(0), e(0)).shape == (0,) and shoal.merge(np.ones(2), e(0)).tolist() == [1, 1]
    assert shoal.eigh(e((0, 2, 2)))[1].shape == (0, 2, 2)
    assert shoal.Generator(1).normal(0).shape == (0,)


@pytest.mark.parametrize(
    "A, b, error, words",
    [
        (np.float64(1), np.ones(1), ValueError, "A has 0 dimensions"),
        (np.eye(2), np.float64(1), ValueError, "b has no dimensions"),
        (np.ones((2, 3)), np.ones(2), ValueError, r"A has shape \(2, 3\)"),
        (np.eye(2), np.ones(3), ValueError, "b has 3 rows per system, A has 2"),
        (np.ones((2, 3, 3)), np.ones((4, 3, 1)), ValueError, "do not broadcast: A .2, 3, 3., b .4, 3, 1."),
        (np.eye(2).astype(complex), np.ones(2), TypeError, "A: complex128.*real"),
        (np.eye(2).astype(object), np.ones(2), TypeError, "A: object.*dtype=float"),
        (np.eye(2).astype(np.float16), np.ones(2), TypeError, "A: float16.*float32"),
        (np.eye(2), np.ones(2).astype("U3"), TypeError, "b: str"),
        (None, np.ones(2), TypeError, "A is None"),
        ([[1.0], [2.0, 3.0]], np.ones(2), TypeError, "A: not an array"),
    ],
)
def test_arguments_are_named(A, b, error, words):
    with pytest.raises(error, match=words):
        shoal.solve(A, b)


def test_arrays_on_two_devices_are_refused(monkeypatch):
    from shoal import _arrays

    A, b = np.eye(2), np.ones(2, np.float32)
    monkeypatch.setattr(_arrays.Numpy, "device", staticmethod(lambda a: 1 if a is b else -1))
    with pytest.raises(ValueError, match="A is on the CPU, b on CUDA device 1: move one of them"):
        shoal.solve(A, b)
    monkeypatch.setattr(_arrays.Numpy, "device", staticmethod(lambda a: 1))
    with pytest.raises(ValueError, match="arrays are on CUDA device 1, but device is 'cuda:0'"):
        shoal.solve_ex(A, b, device="cuda:0")


def test_no_argument_is_cast_silently():
    A, b = np.eye(2), np.ones(2)
    f, P = shoal.factor(A), shoal.symmetric_indefinite(A)
    for call in (f.solve, P.solve, lambda b: shoal.lstsq(A, b), lambda b: shoal.recurrence(b, A[0])):
        for wrong, words in ((b + 1j, "complex128.*real"), (b.astype(np.float16), "float16.*float32"),
                             (b.astype(object), "object.*dtype=float")):  # fmt: skip
            with pytest.raises(TypeError, match=words):
                call(wrong)
    with pytest.raises(TypeError, match="A is a masked array"):
        shoal.solve(np.ma.masked_array(A, mask=[[1, 0], [0, 0]]), b)
    assert shoal.solve(np.ma.masked_array(A), b).tolist() == [1, 1]
    for bad in (3.5, "3", None):
        with pytest.raises(TypeError, match="n is .*; it must be a whole number"):
            shoal.TridiagonalPlan(bad, 2)
    with pytest.raises(TypeError, match="paths is 1.5"):
        shoal.price.heston(paths=1.5)
    with pytest.raises(TypeError, match="strike must be a number or an array of numbers"):
        shoal.price.heston(np.array([1 + 1j]))
    for bad in (0, 5, -1, 1.5, True, "1"):
        with pytest.raises(ValueError, match=f"order is {bad!r}; it must be 1 to 4"):
            shoal.recurrence(np.ones((3, 1)), np.ones(3), order=bad)
    with pytest.raises(ValueError, match=r"y\[..., None\]"):
        shoal.lstsq(np.ones((3, 5, 2)), np.ones((3, 5)))


def test_copies_and_pickles():
    import copy
    import pickle

    A, b = symmetric(3, 2, 2), rng.normal(size=(3, 2, 1))
    for again in (copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        r = shoal.solve_ex(A, b)
        assert repr(again(r)) == repr(r) and again(r).x.tolist() == r.x.tolist()
        np.testing.assert_array_equal(again(shoal.factor(A)).solve(b), shoal.factor(A).solve(b))
        assert repr(again(shoal.Generator(3).at(5, step=2))) == repr(shoal.Generator(3).at(5, step=2))
        plan = again(shoal.TridiagonalPlan(4, 2, "float32", periodic=True))
        dl, d, du = bands(2, 4, dtype=np.float32)
        np.testing.assert_array_equal(plan.solve(dl, d, du, d), shoal.solve_tridiagonal(dl, d, du, d, True))
        error = again(shoal.LinAlgError("words", (1, 2), -3))
        assert (str(error), error.index, error.status) == ("words", (1, 2), -3)
        with pytest.raises(TypeError, match="factor it again"):
            again(shoal.symmetric_indefinite(A[0]))
        price = shoal.price.heston([0.9, 1.0], method="analytic")
        assert again(price).price.tolist() == price.price.tolist()
        if (ROOT / "examples" / "expou.net").exists():
            net = shoal.Surrogate.load(ROOT / "examples" / "expou.net")
            x = np.array([[(low + high) / 2 for low, high in net.ranges.values()]])
            assert again(net).predict(x).price == net.predict(x).price


def test_every_public_name_has_an_example():
    import inspect

    def without(owner, prefix):
        for name in getattr(owner, "__all__", None) or dir(owner):
            value = inspect.getattr_static(owner, name)
            value = getattr(value, "__func__", value)
            if name.startswith("_") or not (inspect.ismodule(value) or inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if ">>>" not in (value.__doc__ or "") and not inspect.ismodule(value):
                yield prefix + name
            if not inspect.isfunction(value):
                yield from without(value, f"{prefix}{name}.")

    assert list(without(shoal, "")) == []


def test_types_are_strict():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_another_interpreter_is_refused():
    pytest.importorskip("_xxsubinterpreters")
    code = """
import _xxsubinterpreters as interpreters
inside = "try:\\n import shoal\\nexcept ImportError:\\n pass\\nelse:\\n raise SystemExit"
assert interpreters.run_string(interpreters.create(), inside) is None
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_words_are_checked():
    A, b = np.eye(2), np.ones(2)
    with pytest.raises(ValueError, match="nosuch"):
        shoal.solve(A, b, method="nosuch")
    with pytest.raises(TypeError, match="options are words and numbers"):
        shoal.solve_ex(A, b, method=["auto"])
    with pytest.raises(TypeError, match="refine is 4294967297; it must be a whole number from -2147483648"):  # not 1
        shoal.solve_ex(A, b, refine=2**32 + 1)
    with pytest.raises(TypeError, match="shape is 2.5; it must be a whole number"):
        shoal.Generator(1).normal(2.5)
    with pytest.raises(ValueError, match=r"shape is \(2, -1\)"):
        shoal.Generator(1).normal((2, -1))
    with pytest.raises(ValueError, match="triangle is 'left'"):
        shoal.solve(A, b, triangle="left")
    with pytest.raises(ValueError, match="module is 'nosuch'"):
        shoal.methods("nosuch")
    with pytest.raises(ValueError, match="device is 'tpu'"):
        shoal.Generator(1).normal(3, device="tpu")
    with pytest.raises(TypeError, match="float16"):
        shoal.TridiagonalPlan(3, 3, dtype="float16")
    with pytest.raises(ValueError, match="dl has 2 rows"):
        shoal.solve_tridiagonal(np.ones(2), np.ones(3), np.ones(3), np.ones(3))
    with pytest.raises(TypeError, match="int16"):
        shoal.sort(np.ones(3, np.int16))
    with pytest.raises(TypeError, match="b is None; it must be an array"):
        shoal.solve(A, None)
    with pytest.raises(TypeError, match="y is None; it must be an array"):
        shoal.lstsq(A, None)
    with pytest.raises(TypeError, match="out is a str; it must be an array of numpy"):
        shoal.TridiagonalPlan(2, 1).solve(*[np.ones((1, 2))] * 4, out="x")
    with pytest.raises(ValueError, match="module is None"):
        shoal.methods(None)
    with pytest.raises(ValueError, match="status is 1099511627776"):
        shoal.status_text(1 << 40)
    with pytest.raises(TypeError, match=r"content is a str; it must be bytes: load\(path\)"):
        shoal.Surrogate("net")
    with pytest.raises(TypeError, match="ranges is a list"):
        shoal.dataset(4, ranges=[1])
    with pytest.raises(ValueError, match="paths is 0; it must be at least 1"):
        shoal.price.heston(method="euler", paths=0, units=2)
    with pytest.raises(TypeError, match="a has int64 keys, b has float64"):
        shoal.merge(np.arange(3), np.ones(3))


# ---- prices, CVA, networks --------------------------------------------------------------------------


def test_prices_over_strikes_and_maturities():
    strikes, years = [0.8, 1.0, 1.2], [1.0, 0.25]  # not ascending
    exact = shoal.price.heston(strikes, years, method="analytic")
    assert exact.price.shape == (2, 3) and (exact.price[0] > exact.price[1]).all()
    r = shoal.price.heston(strikes, years, method="conditional", paths=32768, greeks=True)
    assert (abs(r.price - exact.price) < 4 * r.stderr + r.bias + 2e-4).all()
    assert {"delta", "gamma", "vega", "delta_stderr"} <= set(r.greeks)
    put = shoal.price.heston(strikes, years, method="analytic", put=True)
    np.testing.assert_allclose(exact.price - put.price, np.broadcast_to(1 - np.array(strikes), (2, 3)), atol=1e-9)
    assert np.ndim(shoal.price.heston(1.0, 1.0, method="analytic").price) == 0
    with pytest.raises(TypeError, match="strike"):
        shoal.price.heston("one")
    with pytest.raises(ValueError, match="kappa"):
        shoal.price.heston(kappa=-1.0)
    with pytest.raises(ValueError, match="target is 0.0; it must be above 0"):
        shoal.price.heston(target=0.0)
    with pytest.raises(TypeError, match="seed is -1; it must be a whole number from 0"):
        shoal.price.heston(seed=-1)
    for call in (shoal.price.heston, shoal.price.expou, shoal.price.bullet, shoal.price.american):
        assert call([], [0.5, 1.0]).price.shape == (2, 0) and call(1.0, []).price.shape == (0,)
    assert shoal.price.american([], method="exact").price.shape == (0,)


def test_heston_gradients():
    strikes, years = [0.8, 1.0, 1.2], [1.0, 0.25]
    r = shoal.price.heston(strikes, years, method="analytic", greeks=True, put=True, rate=0.02)
    assert list(r.gradient)[3:] == ["v0", "kappa", "theta", "sigma", "rho"] and r.gradient["rho"].shape == (2, 3)
    np.testing.assert_allclose(r.gradient["s0"], r.greeks["delta"], atol=1e-14)
    np.testing.assert_allclose(r.gradient["v0"] * 2 * np.sqrt(0.1), r.greeks["vega"], atol=1e-14)
    for name, own in (("kappa", 0.5), ("sigma", 0.3), ("rho", -0.7), ("rate", 0.02)):
        up, down = ({"rate": 0.02, name: own + h} for h in (1e-4, -1e-4))
        change = [shoal.price.heston(strikes, years, method="analytic", put=True, **p).price for p in (up, down)]
        np.testing.assert_allclose(r.gradient[name], (change[0] - change[1]) / 2e-4, atol=1e-7)
    assert shoal.price.heston(method="analytic").gradient == {}
    assert np.ndim(shoal.price.heston(method="analytic", greeks=True).gradient["v0"]) == 0


def test_heston_calibration():
    strike, maturity = np.meshgrid(np.linspace(0.7, 1.3, 7), [0.25, 0.5, 1.0, 2.0])
    truth = {"v0": 0.05, "kappa": 1.5, "theta": 0.08, "sigma": 0.6, "rho": -0.6}
    quotes = shoal.price.heston(strike[0], maturity[:, 0], rate=0.02, method="analytic", **truth)
    fit = shoal.calibrate.heston(strike, maturity, price=quotes.price, rate=0.02, starts=3)
    np.testing.assert_allclose([fit.parameters[name] for name in truth], list(truth.values()), rtol=1e-6)
    np.testing.assert_allclose(fit.price, quotes.price, atol=1e-9)
    assert fit.converged and fit.agree == 3 and fit.at_bound == () and fit.feller < 1
    put = strike < 1
    vols = shoal.calibrate.heston(strike, maturity, implied_vol=quotes.implied_vol, put=put, rate=0.02)
    np.testing.assert_allclose([vols.parameters[name] for name in truth], list(truth.values()), rtol=1e-5)
    rough = quotes.price * (1 + 1e-3 * np.cos(np.arange(28.0).reshape(4, 7)))
    fixed = shoal.calibrate.heston(
        strike, maturity, price=rough, rate=0.02, errors="price", bounds={"kappa": (2.0, 2.0), "sigma": (0.1, 0.5)}
    )
    assert fixed.parameters["kappa"] == 2 and fixed.at_bound == ("sigma",) and np.isnan(fixed.stderr["kappa"])
    assert 0 < fixed.stderr["v0"] < 0.01 and fixed.rms < fixed.largest < 0.01
    with pytest.raises(ValueError, match="price or implied_vol"):
        shoal.calibrate.heston(1.0, 1.0)
    with pytest.raises(ValueError, match="errors is 'volatility'"):
        shoal.calibrate.heston(1.0, 1.0, price=0.1, errors="volatility")
    with pytest.raises(ValueError, match="bounds has 'kapa'"):
        shoal.calibrate.heston(1.0, 1.0, price=0.1, bounds={"kapa": (0, 1)})
    with pytest.raises(ValueError, match=r"price\[0\]"):
        shoal.calibrate.heston(1.0, 1.0, price=2.0)


def test_bullet_and_american_prices():
    quad = shoal.price.bullet([90.0, 100.0], [0.5, 1.0], method="quad", dates=10, p1=2, p2=8)
    mc = shoal.price.bullet([90.0, 100.0], [0.5, 1.0], method="mc", dates=10, p1=2, p2=8, paths=16384)
    assert (abs(quad.price - mc.price) < 4.5 * mc.stderr).all()
    put = shoal.price.american([36.0, 40.0], [0.5, 1.0], s0=36.0, rate=0.06, dates=10, paths=8192, fit_paths=4096)
    assert put.price.shape == (2, 2) and (np.diff(put.price, axis=1) > 0).all() and len(put.info["fits"]) == 4
    with pytest.raises(ValueError, match="payoff is 'forward'"):
        shoal.price.american(payoff="forward")


def test_american_prices_by_finite_differences():
    strikes, years = np.array([36.0, 40.0]), [0.5, 1.0]
    exact = shoal.price.american(strikes, years, s0=36.0, rate=0.06, method="exact")
    pde = shoal.price.american(strikes, years, s0=36.0, rate=0.06, method="pde", greeks=True)
    assert pde.method == "pde" and pde.price.shape == (2, 2) and (pde.info["status"] == "ok").all()
    assert (abs(pde.price - exact.price) < pde.info["error"] + 1e-8).all() and (pde.info["error"] < 1e-3).all()
    for name in ("delta", "gamma", "vega", "theta", "rho"):
        assert np.allclose(pde.greeks[name], exact.greeks[name], rtol=2e-3, atol=1e-3), name
    assert "vega" not in shoal.price.american(method="pde").greeks
    dated = shoal.price.american(40.0, 1.0, s0=36.0, rate=0.06, dates=4)
    times = shoal.price.american(40.0, 1.0, s0=36.0, rate=0.06, exercise=[0.75, 0.25, 0.5])
    assert dated.method == times.method == "pde" and abs(dated.price - times.price) < 1e-9 < exact.price[1, 1] - dated.price
    cash = shoal.price.american(102.0, 1.0, rate=0.03, dividend=0.01, sigma=0.25, cash=[(91 / 365, 2.5), (274 / 365, 4.0)],
                                exercise=np.array([60, 90, 182, 273, 300]) / 365)  # fmt: skip
    assert abs(cash.price - 13.1715936) < 1e-5 and np.isnan(cash.implied_vol)  # QuantLib 1.44
    flat = shoal.price.american(rates={1: 0.05, 2: 0.05}, dividends={1: 0.0}, sigmas={0.5: 0.2}, rate=0.0, sigma=0.1)
    assert abs(flat.price - shoal.price.american(method="pde").price) < 1e-9
    for wrong, how in (({"cash": {1: 1.0}, "method": "lsm"}, "cash needs method 'pde'"),
                       ({"dates": 3, "method": "exact"}, "dates needs method"),
                       ({"cash": [1.0, 2.0]}, "cash must have times")):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=how):
            shoal.price.american(**wrong)
    with pytest.raises(ValueError, match="dates and exercises exclude"):
        shoal.price.american(dates=3, exercise=[0.5])


def test_exact_american_prices_and_implied_volatilities():
    strikes, years = np.array([36.0, 40.0, 42.0]), [0.5, 1.0]
    exact = shoal.price.american(strikes, years, s0=36.0, rate=0.06, method="exact")
    auto = shoal.price.american(strikes, years, s0=36.0, rate=0.06)
    assert auto.method == "exact" and (auto.price == exact.price).all()
    assert shoal.price.american(dates=2, paths=256, fit_paths=256).method == "lsm"
    assert shoal.price.american(payoff="max-call", s0=[90.0, 100.0], dates=2, paths=256, fit_paths=256).method == "lsm"
    assert exact.price.shape == (2, 3) and exact.method == "exact" and (exact.stderr == 0).all()
    lsm = shoal.price.american(40.0, 1.0, s0=36.0, rate=0.06, paths=65536, fit_paths=16384)
    assert -0.03 < lsm.price - exact.price[1, 1] < 3 * lsm.stderr
    up = shoal.price.american(40.0, 1.0, s0=36.0, rate=0.0601, method="exact")
    down = shoal.price.american(40.0, 1.0, s0=36.0, rate=0.0599, method="exact")
    assert abs((up.price - down.price) / 2e-4 - exact.greeks["rho"][1, 1]) < 1e-3
    assert set(exact.greeks) >= {"delta", "gamma", "vega", "theta", "rho"} and (exact.info["boundary"] < 36).all()
    back = shoal.price.implied_vol(exact.price, strikes, np.array(years)[:, None], s0=36.0, rate=0.06)
    assert (back.status == "ok").all() and abs(back.sigma - 0.2).max() < 1e-11
    back = shoal.price.implied_vol([3.0, 41.0, np.nan], 40.0, 1.0, s0=36.0, rate=0.06)
    assert back.status.tolist() == ["too low", "too high", "invalid"] and np.isnan(back.sigma).all()
    both = shoal.price.american(rate=-0.02, dividend=-0.04, method="exact")
    assert both.info["status"] == "two boundaries" and np.isnan(both.price)
    call = shoal.price.american(payoff="call", method="exact", rate=0.05)
    assert abs(call.implied_vol - 0.2) < 1e-12  # never exercised early: European
    with pytest.raises(ValueError, match="method is 'tree'"):
        shoal.price.american(method="tree")
    with pytest.raises(ValueError, match="one asset"):
        shoal.price.american(payoff="max-call", method="exact")
    with pytest.raises(ValueError, match="sigma has 2 numbers"):
        shoal.price.american(sigma=[0.2, 0.3], method="exact")
    with pytest.raises(ValueError, match="nodes"):
        shoal.price.american(method="exact", nodes=3)


# ---- progress and Ctrl-C -----------------------------------------------------------------------------


def test_an_exception_of_the_progress_function_ends_a_call():
    from shoal._runtime import context, watch

    seen = []

    def stop(stage, fraction):
        seen.append((stage, fraction))
        raise ZeroDivisionError

    before = watch(stop)
    try:
        with pytest.raises(ZeroDivisionError):
            shoal.price.heston(method="euler", steps=64, paths=1 << 34)
    finally:
        watch(before)
    assert len(seen) == 1 and seen[0][0] == "paths" and 0 <= seen[0][1] < 1
    assert context().progress is None and shoal.price.heston(method="analytic").price > 0


CALLS = {
    "price": "shoal.price.expou(method='euler', steps=64, paths=1 << 34)",
    "american": "shoal.price.american(fit_paths=1 << 22)",
    "cva": "shoal.cva([{'payoff': 'basket-put', 'style': 'american', 'assets': ['A', 'B'], 'strike': 100, 'maturity': 1}], "
    "{'asset': ['A', 'B'], 'spot': [100, 100], 'volatility': [0.2, 0.3]}, rule_paths=1 << 20, outer=1 << 18)",
    "batch": "shoal.eigh(np.broadcast_to(small, (4000, 64, 64)))",
    "one matrix": "shoal.symmetric_indefinite(large, pivot='complete')",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_long_calls(call):
    """A child gets SIGINT in the midst of a call, and measures how long the call then still works, in CPU time."""
    code = f"""
import os, signal, threading, time, numpy as np, shoal
shoal.set_num_threads(1)
small, large = (np.random.default_rng(0).normal(size=(n, n)) for n in (64, 3000))
sent = []
def press():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(0.5, press)
timer.start()
try:
    {CALLS[call]}
    print("finished")
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.3, done.stdout


def test_progress_shows_a_bar_or_logs(caplog, capsys):
    import logging

    with caplog.at_level(logging.INFO, "shoal"):
        shoal.price.heston(method="euler", steps=64, paths=1 << 21, progress=True)
    shown = caplog.text + capsys.readouterr().err
    assert "heston: paths" in shown and "100" in shown
    with shoal.progress("nothing"):
        shoal.solve(np.eye(3), np.ones(3))
    assert "nothing" not in caplog.text + capsys.readouterr().err


MARKET = {"asset": ["ALFA", "BRAVO"], "spot": [100.0, 90.0], "volatility": [0.2, 0.25], "ALFA": [1, 0.5],
          "BRAVO": [0.5, 1]}  # fmt: skip
BOOK = [{"payoff": "call", "assets": "ALFA", "strike": 100, "maturity": 1},
        {"payoff": "forward", "assets": ["ALFA", "BRAVO"], "strike": 95, "maturity": 1, "quantity": -1}]  # fmt: skip
AMERICAN = {"payoff": "put", "style": "american", "assets": "ALFA", "strike": 100, "maturity": 1}


def test_cva_is_that_of_the_program(tmp_path):
    files = [str(ROOT / "examples" / f"{name}.csv") for name in ("book", "market")]
    if not os.path.exists(files[0]):
        pytest.skip("no examples beside the tests")
    options = {"rate": 0.03, "dates": 4, "outer": 64, "inner": 32, "rule_paths": 4096}
    r = shoal.cva(*files, **options)
    words = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", files[0], "--market", files[1], "--json", *words],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    import json

    assert json.loads(done.stdout)["cva"] == r.cva
    assert len(r.profile["epe"]) == 4 and r.counts["inner_paths"] > 0
    digits = 1 - math.floor(math.log10(r.stderr))
    assert f"CvaResult: {r.cva:.{digits}f} ± {r.stderr:.{digits}f}, bias" in repr(r)
    r.report(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text()[:200].lower()


def test_payoffs_of_a_cva():
    market = {"asset": ["EUR"], "spot": [1.1], "volatility": [0.1], "dividend": [0.01]}
    of = {"rate": 0.03, "dates": 4, "outer": 64, "recovery": 0.4, "hazard": 0.05}
    row = {"assets": "EUR", "strike": 1.08, "maturity": 1, "quantity": 1000}
    barrier = lambda p: {"barrier": 1.05 if p.startswith("down") else 1.2} if p.count("-") == 2 else {}  # noqa: E731
    cva = {p: shoal.cva([{**row, **barrier(p), "payoff": p}], market, **of).cva for p in shoal._core.cva_payoffs()}
    for name in ("put", "call"):
        for side in ("down", "up"):
            assert abs(cva[f"{side}-in-{name}"] + cva[f"{side}-out-{name}"] - cva[name]) < 1e-12 * cva[name]
    with pytest.raises(ValueError, match="barrier is 0"):
        shoal.cva([{**row, "payoff": "up-in-put"}], market, **of)
    for name in ("forward", "put", "call"):
        assert cva[f"fx-{name}"] == cva[name] != 0
    once = shoal.cva([{**row, "payoff": "asian-call", "fixings": [1.0]}], market, **of).cva
    twice = [shoal.cva([{**row, "payoff": "asian-call", "fixings": given}], market, **of).cva for given in ("6m", [0.5, "1y"])]
    assert abs(once - cva["call"]) < 1e-12 * once and twice[0] == twice[1] < once
    with pytest.raises(ValueError, match=r"book\[0\]: fixings is 1"):
        shoal.cva([{**row, "payoff": "put", "fixings": [1.0]}], market, **of)
    both = 1000 * 0.6 * -math.expm1(-0.05) * math.exp(-0.03)  # digital options pay 1 together
    assert abs(cva["digital-put"] + cva["digital-call"] - both) < 1e-12 * both


def test_hestons_model_of_a_cva_is_that_of_the_program(tmp_path):
    import json

    (tmp_path / "book.csv").write_text("payoff,style,assets,strike,maturity\nput,american,A,95,1\ncall,,A,95,1\nput,,B,90,1\n")
    (tmp_path / "market.csv").write_text("asset,spot,volatility,v0,kappa,theta,xi,rho\nA,100,,0.04,1.5,0.06,0.5,-0.7\n"
                                         "B,90,0.25,,,,,\n")  # fmt: skip
    market = [{"asset": "A", "spot": 100, "v0": 0.04, "kappa": 1.5, "theta": 0.06, "volvol": 0.5, "rho": -0.7},
              {"asset": "B", "spot": 90, "volatility": 0.25}]  # fmt: skip
    of = {"rate": 0.03, "dates": 4, "outer": 64, "inner": 32, "rule_paths": 2048}
    r = shoal.cva(tmp_path / "book.csv", market, validate=True, **of)
    words = ["--rate=0.03", "--dates=4", "--outer=64", "--inner=32", "--rule-paths=2048", "--json"]
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", "book.csv", "--market", "market.csv", *words],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cva"] == r.cva and r.validation.passed
    for words, wrong in (("market\\[0\\]: kappa is missing", {"kappa": None}), ("market\\[0\\]: xi is 0", {"volvol": 0}),
                         ("market: v0\\[0\\] is -1", {"v0": -1}), ("market\\[0\\]: volatility is given", {"volatility": 0.2})):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            shoal.cva(tmp_path / "book.csv", [{**market[0], **wrong}, market[1]], **of)


def test_cash_dividends_are_those_of_the_program(tmp_path):
    import json

    (tmp_path / "book.csv").write_text("payoff,style,assets,strike,maturity,exercise\nput,american,BRAVO,95,1,3m\n"
                                       "forward,,ALFA BRAVO,95,1,\n")  # fmt: skip
    (tmp_path / "market.csv").write_text("asset,spot,volatility,ALFA,BRAVO\nALFA,100,0.2,1,0.5\nBRAVO,90,0.25,0.5,1\n")
    (tmp_path / "paid.csv").write_text("amount,asset,date\n2,BRAVO,9m\n1.5,BRAVO,0.1\n1,ALFA,2\n")
    paid = [{"asset": "BRAVO", "date": "9m", "amount": 2}, {"asset": "BRAVO", "date": 0.1, "amount": 1.5},
            {"asset": "ALFA", "date": 2, "amount": 1}]  # fmt: skip
    of = {"rate": 0.03, "dates": 4, "outer": 64}
    r = shoal.cva(tmp_path / "book.csv", MARKET, dividends=paid, validate=True, **of)
    words = ["--rate=0.03", "--dates=4", "--outer=64", "--dividends=paid.csv", "--json"]
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", "book.csv", "--market", "market.csv", *words],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cva"] == r.cva and r.validation.passed
    assert shoal.cva(tmp_path / "book.csv", MARKET, **of).cva != r.cva
    r.report(tmp_path / "r.html")
    assert "Cash dividends of BRAVO, by years: 0.1: 1.5, 0.75: 2" in (tmp_path / "r.html").read_text()
    for words, wrong in (("unknown asset 'C'", {"asset": "C"}), ("dividends\\[0\\]: amount is missing", {"amount": None}),
                         ("dividends\\[0\\]: date is 0", {"date": 0}),
                         ("market: asset\\[1\\]: the dividends are worth", {"amount": 99}),
                         ("asset BRAVO has two dividends at 0.1 years", {"date": 0.1})):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            shoal.cva(tmp_path / "book.csv", MARKET, dividends=[{**paid[0], **wrong}, *paid[1:]], **of)
    with pytest.raises(ValueError, match="dividends has no column 'date'"):
        shoal.cva(tmp_path / "book.csv", MARKET, dividends={"asset": ["ALFA"], "amount": [1]}, **of)
    with pytest.raises(ValueError, match="dividends are given; there are no cash dividends with sensitivities"):
        shoal.cva(BOOK, MARKET, dividends=paid, greeks=True, **of)


def test_dates_exercise_and_validation_of_a_cva_are_those_of_the_program(tmp_path):
    import csv
    import json

    book = [{**AMERICAN, "exercise": "3m"}, {**AMERICAN, "exercise": [0.1, "6m", np.float64(0.9)]}, AMERICAN, *BOOK]
    names = ["payoff", "style", "assets", "strike", "maturity", "exercise", "quantity"]
    cell = lambda v: " ".join(map(str, v)) if isinstance(v, list) else v  # noqa: E731
    for name, columns in (("book", names), ("market", list(MARKET))):
        rows = book if name == "book" else [dict(zip(MARKET, row)) for row in zip(*MARKET.values())]
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="")
            writer.writeheader()
            writer.writerows({key: cell(value) for key, value in row.items()} for row in rows)
    options = {"rate": np.float64(0.03), "outer": 256, "inner": 16, "rule_paths": 4096, "validate": True}
    words = ["--rate=0.03", "--outer=256", "--inner=16", "--rule-paths=4096", "--validate", "--json"]
    for dates, more, word in (([0.25, "6m", 1], {}, "0.25,6m,1"), ("5m", {"horizon": 0.5}, "5m")):
        r = shoal.cva(book, MARKET, dates=dates, **options, **more)
        given = [f"--dates={word}", *(f"--{k}={v}" for k, v in more.items()), *words]
        done = subprocess.run([sys.executable, "-m", "shoal", "cva", "book.csv", "--market", "market.csv", *given],
                              capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert said["cva"] == r.cva and said["time"] == r.profile["time"].tolist()
        v = r.validation
        assert v.passed and v.worst_z == said["validation"]["worst_z"] and v.time == said["validation"]["time"]
        assert v.table["z"].tolist() == said["validation"]["z"] and v.scores == said["validation"]["scores"]
        assert v.table["price"][:, 0].tolist() == said["validation"]["price"] and 0 <= v.contract < 5
    twice = shoal.cva([{**AMERICAN, "exercise": [0.1, 0.5, 0.9]}], MARKET, dates=2, outer=64, rule_paths=4096)
    once = shoal.cva([{**AMERICAN, "exercise": 1.0}], MARKET, dates=2, outer=64, rule_paths=4096)
    assert twice.cva != once.cva and twice.validation is None
    r.report(tmp_path / "r.html")
    assert "passed" in (tmp_path / "r.html").read_text()


def test_collateral_and_wrong_way_risk_are_those_of_the_program(tmp_path):
    import json

    book = [{**BOOK[0], "set": "one"}, {**BOOK[1], "set": "two"}]
    (tmp_path / "book.csv").write_text("payoff,assets,strike,maturity,quantity,set\ncall,ALFA,100,1,1,one\n"
                                       "forward,ALFA BRAVO,95,1,-1,two\n")  # fmt: skip
    (tmp_path / "market.csv").write_text("asset,spot,volatility,ALFA,BRAVO\nALFA,100,0.2,1,0.5\nBRAVO,90,0.25,0.5,1\n")
    (tmp_path / "sets.csv").write_text("set,mpor,one-way,independent\ntwo,2w,counterparty,1\n")
    sets = [{"set": "two", "mpor": "2w", "one-way": "counterparty", "independent": 1}]
    r = shoal.cva(book, MARKET, dates=3, outer=64, threshold=1, mta=0.5, sets=sets, hazard_vol=0.8, hazard_reversion=0.2,
                  hazard_correlation={"ALFA": 0.4}, default_jump=-0.1)  # fmt: skip
    words = ["--threshold=1", "--mta=0.5", "--sets=sets.csv", "--hazard-vol=0.8", "--hazard-reversion=0.2",
             "--hazard-correlation=ALFA:0.4", "--default-jump=-0.1", "--dates=3", "--outer=64", "--json"]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", "book.csv", "--market", "market.csv", *words],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["cva"] == r.cva and said["epe_default"] == r.profile["epe_default"].tolist()
    r.report(tmp_path / "r.html")
    assert "jump at default" in (tmp_path / "r.html").read_text()
    for words, options in (("mta, mpor and one-way need a threshold", {"mpor": "2w"}),
                           ("unknown set 'three'; the book has one, two", {"sets": [{"set": "three"}]}),
                           ("one-way is 'them'", {"threshold": 1, "one_way": "them"}),
                           ("sets: unknown column 'colour'", {"sets": [{"set": "one", "colour": 1}]}),
                           ("default_jump: unknown asset 'C'", {"default_jump": {"C": 1}}),
                           ("jump\\[0\\] is -2", {"default_jump": -2})):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            shoal.cva(book, MARKET, dates=2, outer=16, **options)


def test_results_by_counterparty_set_and_trade_are_those_of_the_program(tmp_path):
    import json

    book = [{"id": "T1", "counterparty": "Aarhus", "set": "one", "payoff": "call", "assets": "ALFA", "strike": 100.0,
             "maturity": 1.0},
            {"id": "T2", "counterparty": "Aarhus", "set": "one", "payoff": "put", "assets": "BRAVO", "strike": 95.0,
             "maturity": 1.0, "quantity": -1},
            {"id": "T3", "counterparty": "Bergen", "payoff": "forward", "assets": "ALFA", "strike": 101.0,
             "maturity": 1.0}]  # fmt: skip
    parties = [{"counterparty": "Aarhus", "hazard": 0.02}, {"counterparty": "Bergen", "recovery": 0.3}]
    (tmp_path / "book.json").write_text(json.dumps(book))
    (tmp_path / "market.csv").write_text("asset,spot,volatility,ALFA,BRAVO\nALFA,100,0.2,1,0.5\nBRAVO,90,0.25,0.5,1\n")
    (tmp_path / "parties.csv").write_text("counterparty,hazard,recovery\nAarhus,0.02,\nBergen,,0.3\n")
    r = shoal.cva(tmp_path / "book.json", MARKET, dates=3, outer=64, counterparties=parties, own_hazard=0.01,
                  borrowing=[(1, 0.01), (2, 0.02)], lending=0.005, breakdown=True)  # fmt: skip
    words = ["--counterparties=parties.csv", "--own-hazard=0.01", "--borrowing=1:0.01,2:0.02", "--lending=0.005",
             "--breakdown", "--dates=3", "--outer=64", "--json"]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", "book.json", "--market", "market.csv", *words],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["cva"] == r.cva and said["dva"] == r.dva and said["fva"] == r.fva
    for table, names in (("by_counterparty", ["counterparty"]), ("by_set", ["counterparty"]), ("by_trade", [])):
        mine = getattr(r, table)
        for name in [*names, "pv", "cva", "dva", "fca", "fba", "fva", "epe", "ene", "eepe"]:
            assert [row[name] for row in said[table]] == list(mine[name]), (table, name)
    assert r.by_trade["id"] == ["T1", "T2", "T3"]
    assert abs(r.by_trade["cva"][:2].sum() - r.by_set["cva"][0]) < 1e-12
    r.report(tmp_path / "r.html")
    assert "<h2>Counterparties</h2>" in (tmp_path / "r.html").read_text()
    assert shoal.cva(book, MARKET, dates=3, outer=64).by_trade is None
    with pytest.raises(ValueError, match="unknown counterparty 'Bergen'; there are Aarhus"):
        shoal.cva(book, MARKET, counterparties=parties[:1])
    with pytest.raises(ValueError, match="counterparties: unknown column 'colour'"):
        shoal.cva(book, MARKET, counterparties=[{"counterparty": "Aarhus", "colour": 1}])


def test_a_validation_tells_what_fails():
    options = {"rate": 0.06, "dates": 10, "estimator": "inner", "control": False, "inner": 4, "validate": True}
    v = shoal.cva([AMERICAN], MARKET, outer=4096, **options).validation
    assert not v.passed and abs(v.worst_z) > v.limit > 2 and "FAILED" in repr(v) and "book[0]" in repr(v)
    assert np.nanmax(abs(v.table["z"])) == abs(v.worst_z) == abs(v.table["z"][0, int(v.time * 10 + 0.5) - 1])


def test_sensitivities_of_a_cva_are_bumps_and_those_of_the_program(tmp_path):
    import json

    book = [{**row, "counterparty": name} for row, name in zip(BOOK, ("Aalen", "Bergen"))]
    parties = {"counterparty": ["Aalen", "Bergen"], "hazard": [0.03, [(0.5, 0.04), (1.0, 0.06)]]}
    of = {"dates": 4, "outer": 4096, "greeks": True, "seed": 7}

    def run(spot=0.0, volatility=0.0, rate=0.0, correlation=0.0, later=0.0, recovery=0.0):
        market = {**MARKET, "spot": [100 + spot, 90], "volatility": [0.2 + volatility, 0.25],
                  "ALFA": [1, 0.5 + correlation], "BRAVO": [0.5 + correlation, 1]}  # fmt: skip
        hazard = [0.03, [(0.5, 0.04), (1.0, 0.06 + later)]]
        return shoal.cva(book, market, rate=0.03 + rate, counterparties={**parties, "hazard": hazard},
                         recovery=0.4 + recovery, **of)  # fmt: skip

    r = run()
    table = r.sensitivities
    places = list(zip(table["parameter"], table["of"], table["with"], table["time"]))
    assert len(places) == 2 * 3 + 1 + 1 + 2 + 3 == len(set(places)) and len({len(v) for v in table.values()}) == 1
    assert table["of"][-5:] == ["Aalen", "Aalen", "Bergen", "Bergen", "Bergen"]
    assert table["time"][-3] == 0.5 and np.isnan(table["time"][-2])
    assert (table["change"] == table["move"] * table["derivative"]).all() and (table["stderr"] > 0).all()

    def difference(name, h):
        return (run(**{name: h}).cva - run(**{name: -h}).cva) / (2 * h)

    for name, h, row in (("spot", 1e-4, 0), ("volatility", 1e-6, 1), ("rate", 1e-6, 6), ("later", 1e-6, 11)):
        off = abs(difference(name, h) - table["derivative"][row])
        assert off < 0.05 * table["stderr"][row], (name, places[row], off)  # the same paths
    off = abs(difference("correlation", 1e-3) - table["derivative"][7])  # the same mean
    assert places[7][:3] == ("correlation", "ALFA", "BRAVO") and off < 3 * table["stderr"][7]
    both = table["derivative"][9] + table["derivative"][12]
    assert abs(difference("recovery", 0.01) / both - 1) < 1e-9 and abs(both * -0.6 / r.cva - 1) < 1e-9

    (tmp_path / "b.csv").write_text("payoff,assets,strike,maturity,quantity,counterparty\ncall,ALFA,100,1,1,Aalen\n"
                                    "forward,ALFA BRAVO,95,1,-1,Bergen\n")  # fmt: skip
    (tmp_path / "m.csv").write_text("asset,spot,volatility,ALFA,BRAVO\nALFA,100,0.2,1,0.5\nBRAVO,90,0.25,0.5,1\n")
    (tmp_path / "p.csv").write_text('counterparty,hazard\nAalen,0.03\nBergen,0.5:0.04 1:0.06\n')
    words = ["b.csv", "--market=m.csv", "--counterparties=p.csv", "--rate=0.03", "--dates=4", "--outer=4096", "--seed=7"]
    done = subprocess.run([sys.executable, "-m", "shoal", "cva", *words, "--greeks", "--json"],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["sensitivities"]
    assert [list(row) for row in said] == [list(table)] * len(places)
    for name, values in table.items():
        for row, value in zip(said, values):
            assert row[name] == value or (row[name] is None and (value == "" or value != value)), name
    r.report(tmp_path / "r.html")
    assert "<h2>Sensitivities</h2>" in (tmp_path / "r.html").read_text()
    parts = shoal.cva(book, MARKET, rate=0.03, counterparties=parties, units=3, **of).sensitivities
    assert parts["derivative"].tolist() == table["derivative"].tolist()

    more = shoal.cva(book, MARKET, rate=0.03, counterparties=parties, gammas=True, **of).sensitivities
    assert more["parameter"][13:] == ["gamma", "cross-gamma", "gamma"] and more["with"][13:] == ["", "BRAVO", ""]
    assert more["derivative"][:13].tolist() == table["derivative"].tolist() and more["move"][14] == 0.9

    alone = shoal.cva(BOOK, MARKET, dates=2, outer=64, greeks=True).sensitivities
    assert alone["of"][-1] == "counterparty" and shoal.cva(BOOK, MARKET, dates=2, outer=64).sensitivities is None
    early = shoal.cva([AMERICAN], MARKET, dates=4, outer=4096, greeks=True).sensitivities
    assert early["derivative"][0] < 0 < early["derivative"][1]  # of a put by spot and volatility
    with pytest.raises(ValueError, match=r"book\[0\]: there are no sensitivities of a contract with early"):
        shoal.cva([AMERICAN], MARKET, estimator="inner", greeks=True)
    with pytest.raises(ValueError, match="there are no sensitivities with wrong-way risk"):
        shoal.cva(BOOK, MARKET, hazard_vol=0.5, greeks=True)
    with pytest.raises(ValueError, match="0 with greeks"):
        shoal.cva(BOOK, MARKET, quantile_error=0.01, greeks=True)


def test_tables_of_a_cva_name_what_is_wrong():
    assert shoal.cva(BOOK, MARKET, dates=2, outer=64).cva > 0
    for book, market, words in (
        ([{**BOOK[0], "assets": "ALPHA"}], MARKET, r"book\[0\]: unknown asset 'ALPHA'; the market has ALFA, BRAVO"),
        ([{**BOOK[0], "strike": "x"}], MARKET, r"book\[0\]: strike is 'x'"),
        ([{**BOOK[0], "quantiy": 1}], MARKET, "book: unknown column 'quantiy'; .* Did you mean 'quantity'"),
        (BOOK, {**MARKET, "divident": [0, 0]}, "market: unknown column 'divident'; .* Did you mean 'dividend'"),
        ([{**BOOK[0], "notional": 1, "quantity": 2}], MARKET, "book: columns 'quantity' and 'notional' are the same"),
        ([{**BOOK[0], "exercise": "1m"}], MARKET, r"book\[0\]: exercise is '1m', but style is not american"),
        ([{**AMERICAN, "exercise": "0m"}], MARKET, r"book\[0\]: exercise is '0m'; it must be above 0"),
        ([{**AMERICAN, "exercise": "1e-9d"}], MARKET, r"a step of '1e-9d' makes more than 100000"),
        ([BOOK[0], {**AMERICAN, "exercise": [0.5, 0.2]}], MARKET, r"book\[1\]: exercise\[1\] is 0.2; it must be above 0.5"),
        (BOOK, {**MARKET, "spot": [1.0]}, "different lengths"),
        (BOOK, {k: v for k, v in MARKET.items() if k != "BRAVO"}, "no column 'BRAVO'"),
    ):
        with pytest.raises(ValueError, match=words):
            shoal.cva(book, market)
    for dates, words in (([0.5, 0.25], r"time\[1\] is 0.25"), ("12", "dates is '12'"), (["1m", "1q"], "dates is '1q'"),
                         ([np.nan], "dates is missing"), (0, "dates is 0")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            shoal.cva(BOOK, MARKET, dates=dates)
    for words, options in (("hazard is 'a'", {"hazard": "a"}), ("hazard is .0.1, 0.2.", {"hazard": [0.1, 0.2]}),
                           ("outer is 1.5", {"outer": 1.5}), ("inner is 'x'", {"inner": ["x"]})):  # fmt: skip
        with pytest.raises(TypeError, match=words):
            shoal.cva(BOOK, MARKET, **options)
    with pytest.raises(ValueError, match="the length of inner is 3; it must be 0, 1 or dates, 2"):
        shoal.cva(BOOK, MARKET, dates=2, inner=[3, 4, 5])
    with pytest.raises(ValueError, match=r"market: volatility\[0\] is -0.2"):
        shoal.cva(BOOK, {**MARKET, "volatility": [-0.2, 0.2]})
    with pytest.raises(ValueError, match="validate is 1"):
        shoal.cva(BOOK, MARKET, kept=True, validate=True)
    assert shoal.cva([{**AMERICAN, "maturity": 0, "exercise": "1m"}], MARKET, dates="1m", outer=16).cva == 0
    with pytest.raises(TypeError, match="book is a int"):
        shoal.cva(3, MARKET)


def test_surrogate():
    path = ROOT / "examples" / "expou.net"
    if not path.exists():
        pytest.skip("no examples beside the tests")
    net = shoal.Surrogate.load(path)
    middle = {name: [(low + high) / 2] * 3 for name, (low, high) in net.ranges.items()}
    middle["strike"] = [0.9, 1.0, 99.0]
    p = net.predict(middle)
    assert p.price[0] > p.price[1] > 0 and (p.by_strike[:2] < 0).all() and p.outside.tolist() == [False, False, True]
    x = np.array([middle[name] for name in net.names]).T
    np.testing.assert_array_equal(net.predict(x).price, p.price)
    with pytest.raises(ValueError, match="no column"):
        net.predict({"strike": [1.0]})
    with pytest.raises(TypeError, match="table: complex128.*real"):
        net.predict(x.astype(complex))


def test_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    book = pandas.DataFrame([*BOOK, {**AMERICAN, "exercise": ["1m", 0.5]}, {**AMERICAN, "exercise": "1w"}])
    times = pandas.Series([0.5, 1.0])
    r = shoal.cva(book, pandas.DataFrame(MARKET), dates=times, outer=64, rule_paths=4096, validate=True)
    frame, z = r.to_pandas(), r.validation.to_pandas()
    assert len(frame) == 2 and "epe" in frame
    assert z["contract"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and z["time"].tolist() == [0.5, 1.0] * 4
    assert z["z"].tolist() == r.validation.table["z"].ravel().tolist()
    assert list(shoal.price.heston([0.9, 1.0], [0.5, 1.0], method="analytic").to_pandas().columns[:3]) == ["maturity", "strike", "price"]


def test_tables_of_polars():
    polars = pytest.importorskip("polars")
    words = lambda assets: assets if isinstance(assets, str) else " ".join(assets)  # noqa: E731
    book = polars.DataFrame([{**row, "assets": words(row["assets"])} for row in BOOK], strict=False)
    market = polars.DataFrame(MARKET, strict=False)
    assert shoal.cva(book, market, dates=2, outer=64).cva == shoal.cva(BOOK, MARKET, dates=2, outer=64).cva


def plain(rows):
    """Rows with the same keys and one type per column, as files of columns have them."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    word = lambda v: " ".join(v) if isinstance(v, list) else float(v) if isinstance(v, int) else v  # noqa: E731
    return [{key: word(row.get(key)) for key in keys} for row in rows]


def test_other_names_of_columns():
    other = {"payoff": "payoff", "assets": "ticker", "strike": "strike", "maturity": "maturity", "quantity": "notional"}
    book = [{"desk": "x", **{other[key]: value for key, value in row.items()}} for row in BOOK]
    market = {{"asset": "ticker", "volatility": "vol"}.get(key, key): value for key, value in MARKET.items()}
    known = shoal.cva(BOOK, MARKET, dates=2, outer=64).cva
    with pytest.warns(UserWarning, match="^book: ignored columns: desk$") as record:
        assert shoal.cva(book, market, dates=2, outer=64).cva == known
    assert len(record) == 1 and record[0].filename == __file__


def test_books_of_json_files(tmp_path):
    import json

    book = [*BOOK, {**AMERICAN, "exercise": "3m"}]
    (tmp_path / "book.json").write_text(json.dumps(book))
    (tmp_path / "market.json").write_text(json.dumps(MARKET))
    (tmp_path / "columns.json").write_text(json.dumps({k: [row[k] for row in plain(book)] for k in plain(book)[0]}))
    options = {"dates": 2, "outer": 64, "rule_paths": 4096}
    known = shoal.cva(book, MARKET, **options).cva
    for name in ("book", "columns"):
        assert shoal.cva(tmp_path / f"{name}.json", str(tmp_path / "market.json"), **options).cva == known
    (tmp_path / "book.json").write_text('{"payoff": "call"}')
    with pytest.raises(TypeError, match=r"book\['payoff'\] is a str; it must be a sequence"):
        shoal.cva(tmp_path / "book.json", MARKET)


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_books_of_parquet_files(tmp_path, monkeypatch, library):
    reader = pytest.importorskip(library)
    book, market = plain([*BOOK, {**AMERICAN, "exercise": "3m"}]), plain([dict(zip(MARKET, row)) for row in zip(*MARKET.values())])
    for name, rows in (("book", book), ("market", market)):
        path = tmp_path / f"{name}.parquet"
        if library == "pyarrow":
            from pyarrow import parquet

            parquet.write_table(reader.Table.from_pylist(rows), path)
        elif library == "polars":
            reader.DataFrame(rows).write_parquet(path)
        else:
            pytest.importorskip("pyarrow")  # pandas writes by it
            reader.DataFrame(rows).to_parquet(path)
    if library == "polars":  # reads them alone, too
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pandas", None)
    options = {"dates": 2, "outer": 64, "rule_paths": 4096}
    known = shoal.cva([*BOOK, {**AMERICAN, "exercise": "3m"}], MARKET, **options).cva
    assert shoal.cva(tmp_path / "book.parquet", str(tmp_path / "market.parquet"), **options).cva == known


def test_parquet_without_a_reader(tmp_path, monkeypatch):
    for name in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="needs pyarrow, pandas or polars: pip install pyarrow"):
        shoal.cva(tmp_path / "book.parquet", MARKET)


@pytest.mark.skipif(shoal.info()["backend"] == "cuda", reason="a GPU answers")
def test_no_gpu_says_why():
    with pytest.raises(RuntimeError, match="(?i)cuda|gpu"):
        shoal.solve(np.eye(3), np.ones(3), device="cuda")
    with pytest.raises(RuntimeError, match="(?i)cuda|gpu"):
        shoal.TridiagonalPlan(3, 3, device="cuda")


def test_the_examples_of_the_documentation():
    import doctest

    page = ROOT / "docs" / "python.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        assert doctest.testfile(str(page), module_relative=False).failed == 0
    finally:
        os.chdir(before)


def test_statuses_of_earlier_calls_stay():
    A, bad, b = np.eye(3), np.full((3, 3), np.nan), np.ones(3)
    kept = []
    for i in range(60):
        result = shoal.solve_ex(bad if i % 7 == 0 else A, b)
        kept.append((result if i % 3 == 0 else result.status if i % 3 == 1 else None, i % 7 == 0))
        del result
    for found, fails in kept:
        if found is not None:
            status = found.status if isinstance(found, shoal.Result) else found
            assert (status < 0) == fails


def test_eigenvalues_below_the_default_tolerance():
    P = shoal.symmetric_indefinite(np.array([[1e20, 1.0], [1.0, -1e-20]]))
    assert P.rank == 1 and np.allclose(P.eigh(vectors=False), [-2e-20, 1e20], rtol=1e-15, atol=0)
    assert shoal.symmetric_indefinite(np.diag([1.0, 1e-3]), tol=1e-2).eigh(vectors=False).tolist() == [0.0, 1.0]
