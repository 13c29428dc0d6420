# SPDX-License-Identifier: Apache-2.0
"""JAX: the same library comes back, jit, grad, vmap. Skipped where JAX is not installed."""

import numpy as np
import pytest

import shoal

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
rng = np.random.default_rng(0)


def symmetric(*shape):
    A = rng.normal(size=shape)
    return jnp.asarray(A + A.swapaxes(-1, -2) + 2 * shape[-1] * np.eye(shape[-1]))


def check(f, *arguments):
    from jax.test_util import check_grads

    check_grads(f, arguments, order=1, modes=["rev"], atol=1e-6, rtol=1e-6)


def test_results_are_arrays_of_jax():
    A, b = symmetric(5, 4, 4), jnp.asarray(rng.normal(size=(5, 4, 1)))
    r = shoal.solve_ex(A, b)
    assert isinstance(r.x, jax.Array) and isinstance(r.status, jax.Array)
    assert jnp.allclose(A @ r.x, b)


def test_verdicts_of_arrays_of_jax():
    A, b = np.array(symmetric(5, 4, 4)), rng.normal(size=(5, 4, 1))
    A[3, 0, 0] = np.nan
    r, expected = shoal.solve_ex(jnp.asarray(A), jnp.asarray(b), refine=1), shoal.solve_ex(A, b, refine=1)
    for name in ("status", "method", "failed"):
        np.testing.assert_array_equal(getattr(r, name), getattr(expected, name))
    np.testing.assert_allclose(r.rcond, expected.rcond, rtol=1e-3)
    assert r.x.devices() == jnp.asarray(A).devices() and "systems" in repr(r)
    assert list(r.method_names) == list(expected.method_names)
    with pytest.raises(shoal.LinAlgError, match=r"system \[3\].*non-finite"):
        shoal.solve(jnp.asarray(A), jnp.asarray(b))
    dl, du, y = (jnp.asarray(rng.normal(size=(2, 5))) for _ in range(3))
    t = shoal.solve_tridiagonal_ex(dl, 6 + du, du, y, rcond=True)
    expected = shoal.solve_tridiagonal_ex(*map(np.asarray, (dl, 6 + du, du, y)), rcond=True)
    np.testing.assert_allclose(t.x, expected.x, rtol=1e-12)
    np.testing.assert_allclose(t.rcond, expected.rcond, rtol=1e-3)
    assert t.ok.all() and t.status.shape == (2,)
    with pytest.raises(shoal.LinAlgError, match=r"system \[1\]"):
        shoal.solve_tridiagonal(dl, (6 + du).at[1, 2].set(jnp.inf), du, y)


def test_shapes_and_types_are_checked():
    A, b = symmetric(2, 3, 3), jnp.ones((2, 3, 1))
    for traced in (False, True):
        call = jax.jit(shoal.solve) if traced else shoal.solve
        with pytest.raises(ValueError, match=r"A has shape \(2, 3, 2\)"):
            call(A[..., :2], b)
        with pytest.raises(ValueError, match="b has 2 rows per system, A has 3"):
            call(A, b[:, :2])
        with pytest.raises(TypeError, match="A: float16.*float32"):
            call(A.astype(jnp.float16), b)
        with pytest.raises(TypeError, match="b: bfloat16.*float32"):
            call(A, b.astype(jnp.bfloat16))
        with pytest.raises(TypeError, match="A: complex"):
            call(A + 1j, b)
        assert call(A.astype(jnp.float32), b.astype(jnp.float32)).dtype == jnp.float32
        assert call(A.astype(jnp.float32), b).dtype == jnp.float64
        with pytest.raises(ValueError, match=r"do not broadcast: A \(2, 3, 3\), b \(3, 3, 1\)"):
            call(A, b[jnp.array([0, 1, 0])])
        assert call(A[:0], b[:0]).shape == (0, 3, 1) and call(A, b[..., :0]).shape == (2, 3, 0)
        assert call(A, b[0, :, 0]).shape == (2, 3)
        with pytest.raises(ValueError, match="du has 2 rows"):
            bands = shoal.solve_tridiagonal
            (jax.jit(bands) if traced else bands)(b[:, :, 0], b[:, :, 0] + 3, b[:, :2, 0], b[:, :, 0])
    assert shoal.solve_ex(A, b[..., :0]).status.shape == (0,) and shoal.solve_ex(A[:, :0, :0], b[:, :0]).ok.all()
    with pytest.raises(ValueError, match="refine is -1"):  # not from within XLA
        shoal.solve_ex(A, b, refine=-1)
    with pytest.raises(ValueError, match="no method 'nosuch'"):
        jax.jit(lambda A, b: shoal.solve(A, b, method="nosuch"))(A, b)
    with pytest.raises(TypeError, match="A is None"):
        shoal.solve(None, b)
    with pytest.raises(ValueError, match="device must be None"):
        shoal.solve(A, b, device="cuda")


def test_compiled_code_calls_the_library_without_python():
    A, b, d = symmetric(2, 3, 3), jnp.ones((2, 3, 1)), jnp.full((2, 5), 4.0)
    for call, given in (
        (shoal.solve, (A, b)), (shoal.solve_tridiagonal, (d / 4, d, d / 4, d)), (shoal.recurrence, (d / 9, d)),
        (shoal.eigh, (A,)), (shoal.sort, (d,)),
    ):  # fmt: skip
        text = jax.jit(call).lower(*given).as_text()
        assert "custom_call @shoal(" in text and "python" not in text and "callback" not in text


def test_compiled_code_takes_a_new_number_of_threads():
    A, b = symmetric(2, 3, 3), jnp.ones((2, 3, 1))
    f = jax.jit(shoal.solve)
    expected = f(A, b)
    for threads in (1, 2, 0):
        shoal.set_num_threads(threads)
        assert jnp.array_equal(f(A, b), expected)
    shoal.clear_cache()
    assert jnp.array_equal(f(A, b), expected)


def test_threads_of_compiled_code():
    from concurrent.futures import ThreadPoolExecutor

    f, A = jax.jit(shoal.solve), symmetric(64, 5, 5)
    b = [jnp.asarray(rng.normal(size=(64, 5, 1))) for _ in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for x, y in zip(pool.map(lambda y: f(A, y), b), b):
                np.testing.assert_allclose(A @ x, y, atol=1e-12)
            shoal.clear_cache()


def test_an_error_of_compiled_code_is_raised():
    import json

    from shoal import _jax, _linalg

    A, b = symmetric(2, 3, 3), jnp.ones((2, 3, 1))
    settings = _jax._settings(_linalg._SMALLSYM, 3, 1, 0, "auto", None, 0, 0, 0, 0.0, 0.0, 0, 0, 0)
    wrong = json.dumps({**json.loads(settings), "refine": -1})
    for name, given, words in (("smallsym_solve", wrong, "refine is -1"), ("nosuch", settings, "unknown"),
                               ("tridiag_solve", settings, "not allowed")):  # fmt: skip
        call = jax.jit(lambda A, b: _jax._call(name, 1, 2, given, (b, _jax._int32((2,))), A, b)[0])  # noqa: B023
        with pytest.raises(Exception, match=words):
            call(A, b).block_until_ready()


def test_gradients():
    sym = lambda A: (A + A.mT) / 2
    A, b = symmetric(2, 3, 3), jnp.asarray(rng.normal(size=(2, 3, 2)))
    check(lambda A, b: shoal.solve(sym(A), b), A, b)
    dl, du, y = (jnp.asarray(rng.normal(size=(2, 5))) for _ in range(3))
    for periodic in (False, True):
        check(lambda *a: shoal.solve_tridiagonal(*a, periodic), dl, 6 + du, du, y)  # noqa: B023
    for reverse in (False, True):
        check(lambda s, t, w: shoal.recurrence(s, t, w, reverse=reverse), dl, y, jnp.ones(2))  # noqa: B023
    check(lambda A: shoal.eigh(sym(A))[0], A)
    check(lambda A: abs(shoal.eigh(sym(A))[1]), A)
    check(lambda A: shoal.solve(sym(A), b[0, :, 0]), A)
    for periodic in (False, True):
        check(lambda *a: shoal.solve_tridiagonal(*a, periodic, transposed=True), dl, 6 + du, du, y)  # noqa: B023
    check(lambda k: shoal.sort(k), y)


def test_jit_and_vmap():
    A, b = symmetric(6, 3, 3), jnp.asarray(rng.normal(size=(6, 3)))
    x = jax.jit(jax.vmap(shoal.solve))(A, b)
    assert jnp.allclose(jnp.einsum("kij,kj->ki", A, x), b)


def test_the_other_functions_under_jit_and_vmap():
    A, s, t = symmetric(4, 3, 3), jnp.asarray(rng.normal(size=(4, 9))) / 3, jnp.asarray(rng.normal(size=(4, 9)))
    w, V = jax.jit(jax.vmap(shoal.eigh))(A)
    assert jnp.allclose(A @ V, V * w[:, None])
    expected = shoal.recurrence(np.asarray(s), np.asarray(t))
    np.testing.assert_allclose(jax.jit(jax.vmap(shoal.recurrence))(s, t), expected)
    keys, index = jax.jit(lambda k: shoal.sort(k, True))(t)
    np.testing.assert_array_equal(keys, np.sort(t))
    np.testing.assert_array_equal(index, np.argsort(t))
    x = jax.jit(jax.vmap(shoal.solve_tridiagonal, in_axes=(0, None, 0, 0)))(s, s[0] + 6, s, t)
    given = (s, jnp.broadcast_to(s[0] + 6, s.shape), s, t)
    np.testing.assert_allclose(x, shoal.solve_tridiagonal(*map(np.asarray, given)))


def test_verdicts_under_jit_are_refused():
    with pytest.raises(TypeError, match="solve_ex"):
        jax.jit(lambda A: shoal.solve_ex(A, jnp.ones(3)).x)(symmetric(3, 3))
