# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy on a GPU: device="cuda". Skipped where no GPU answers; CTest runs it over the emulator, too."""

import os

import numpy as np
import pytest

import shoal

pytestmark = pytest.mark.skipif(shoal.info()["backend"] != "cuda", reason=f"GPU: {shoal.info()['gpu']}")
rng = np.random.default_rng(0)


def symmetric(*shape, dtype=np.float64):
    A = rng.normal(size=shape)
    return (A + A.swapaxes(-1, -2) + 2 * shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_symmetric_systems(dtype):
    A, b = symmetric(40, 5, 5, dtype=dtype), rng.normal(size=(40, 5, 2)).astype(dtype)
    A[7, 0, 0] = np.nan
    here, there = shoal.solve_ex(A, b), shoal.solve_ex(A, b, device="cuda")
    assert isinstance(there.x, np.ndarray) and there.x.dtype == dtype
    np.testing.assert_array_equal(there.status, here.status)
    np.testing.assert_allclose(there.x, here.x, rtol=1e4 * np.finfo(dtype).eps)
    again = shoal.solve_ex(A, b, device="cuda")
    np.testing.assert_array_equal(again.x, there.x)
    with pytest.raises(shoal.LinAlgError, match=r"system \[7\]"):
        shoal.solve(A, b, device="cuda:0")


def test_the_other_functions():
    A = symmetric(30, 4, 4)
    for here, there in zip(shoal.eigh(A), shoal.eigh(A, device="cuda")):
        np.testing.assert_allclose(np.abs(there), np.abs(here), atol=1e-12)
    dl, du, b = rng.normal(size=(3, 20, 9))
    d = 6 + rng.normal(size=(20, 9))
    for periodic in (False, True):
        np.testing.assert_allclose(
            shoal.solve_tridiagonal(dl, d, du, b, periodic, device="cuda"),
            shoal.solve_tridiagonal(dl, d, du, b, periodic), atol=1e-12,
        )  # fmt: skip
    r = shoal.solve_tridiagonal_ex(dl, d, du, b, rcond=True, device="cuda")
    assert r.ok.all() and (r.rcond > 0).all()
    np.testing.assert_allclose(shoal.recurrence(dl / 9, b, device="cuda"), shoal.recurrence(dl / 9, b), atol=1e-12)
    psi, y = rng.normal(size=(6, 30, 3)), rng.normal(size=(6, 30, 1))
    np.testing.assert_allclose(shoal.lstsq(psi, y, device="cuda"), shoal.lstsq(psi, y), atol=1e-10)
    for here, there in zip(shoal.sort(b, return_index=True), shoal.sort(b, return_index=True, device="cuda")):
        np.testing.assert_array_equal(there, here)
    f, y = shoal.factor(A, device="cuda").raise_for_status(), rng.normal(size=(30, 4, 2))
    np.testing.assert_allclose(f.solve(y), shoal.solve(A, y), atol=1e-11)
    np.testing.assert_allclose(f.solve(y[0, :, 0]), shoal.solve(A, y[0, :, 0]), atol=1e-11)
    rows = np.sort(b)
    np.testing.assert_array_equal(shoal.merge(rows, rows[:1], device="cuda"), shoal.merge(rows, rows[:1]))


@pytest.mark.parametrize("imaginary", [0, 1j])
def test_band_systems(imaginary):
    diagonals = [rng.normal(size=(20, 9)) + imaginary * rng.normal(size=(20, 9)) for _ in range(5)]
    diagonals[2] += 9
    b = rng.normal(size=(20, 9, 2))
    here = shoal.solve_pentadiagonal_ex(*diagonals, b, matrix_rhs=True)
    there = shoal.solve_pentadiagonal_ex(*diagonals, b, matrix_rhs=True, device="cuda")
    assert isinstance(there.x, np.ndarray) and there.x.dtype == here.x.dtype and there.ok.all()
    np.testing.assert_allclose(there.x, here.x, atol=1e-14)
    np.testing.assert_allclose(there.rcond, here.rcond, rtol=1e-5)
    if imaginary:
        narrow = (*diagonals[1:4], b[..., 0])
        there, here = shoal.solve_tridiagonal(*narrow, device="cuda"), shoal.solve_tridiagonal(*narrow)
        np.testing.assert_allclose(there, here, atol=1e-14)


def test_a_gpu_without_memory_says_what_to_do():
    with pytest.raises(MemoryError, match="bytes of device memory.*smaller"):
        shoal.TridiagonalPlan(1 << 12, 1 << 28, device="cuda", method="twocarry")


def test_a_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match="device 17 does not exist"):
        shoal.solve(np.eye(2), np.ones(2), device="cuda:17")


def test_a_price_is_simulated_on_the_gpu():
    here, there = (shoal.price.heston(method="conditional", paths=2000, steps=4, device=d) for d in ("cpu", "cuda"))
    assert here.price == there.price  # the same bits


def test_units_on_the_gpu(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    A, b = symmetric(40, 5, 5), rng.normal(size=(40, 5, 2))
    np.save(tmp_path / "A.npy", A), np.save(tmp_path / "b.npy", b)
    with ThreadPoolExecutor(2) as executor:
        here = shoal.price.heston(method="conditional", paths=66_000, steps=1)
        there = shoal.price.heston(method="conditional", paths=66_000, steps=1, device="cuda", executor=executor)
        assert here.price == there.price and here.stderr == there.stderr  # the same bits
        r = shoal.solve_ex(tmp_path / "A.npy", tmp_path / "b.npy", device="cuda", executor=executor, units=3)
    np.testing.assert_array_equal(r.x, shoal.solve_ex(A, b, device="cuda").x)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_says_that_it_has_no_gpu():
    A, b = symmetric(3, 4, 4), np.ones(4)
    x = shoal.solve(A, b, device="cuda")
    child = os.fork()
    if child == 0:
        good = False
        try:
            shoal.solve(A, b, device="cuda")
        except RuntimeError as error:
            good = "spawn" in str(error) and np.allclose(shoal.solve(A, b), x)
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
