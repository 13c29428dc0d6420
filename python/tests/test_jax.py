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
    check(lambda k: shoal.sort(k), y)


def test_jit_and_vmap():
    A, b = symmetric(6, 3, 3), jnp.asarray(rng.normal(size=(6, 3)))
    x = jax.jit(jax.vmap(shoal.solve))(A, b)
    assert jnp.allclose(jnp.einsum("kij,kj->ki", A, x), b)


def test_verdicts_under_jit_are_refused():
    with pytest.raises(TypeError, match="solve_ex"):
        jax.jit(lambda A: shoal.solve_ex(A, jnp.ones(3)).x)(symmetric(3, 3))
