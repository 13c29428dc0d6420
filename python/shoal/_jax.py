# SPDX-License-Identifier: Apache-2.0
"""Traced arrays of JAX: jit, grad and vmap, by a callback to the CPU."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _adjoints, _linalg, _sorting
from ._results import STATUS


def _common(*arrays: Any) -> list[Any]:
    dtype = jnp.result_type(*arrays)
    if dtype not in (jnp.float32, jnp.float64):
        dtype = jnp.zeros(()).dtype
    return [jnp.asarray(a, dtype) for a in arrays]


def _call(function: Any, like: Any, *arrays: Any) -> Any:
    """function on arrays of numpy; vmap adds leading dimensions."""
    shapes = jax.tree_util.tree_map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), like)
    return jax.pure_callback(
        lambda *given: jax.tree_util.tree_map(np.asarray, function(*map(np.asarray, given))),
        shapes, *arrays, vmap_method="broadcast_all",
    )  # fmt: skip


def _nan_solve(method: str, triangle: str, A: Any, b: Any) -> Any:
    return _linalg._solve(A, b, method, None, triangle, 0, False, 0.0, 0.0, STATUS)[0].x


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _solve(A: Any, b: Any, method: str, triangle: str) -> Any:
    return _call(partial(_nan_solve, method, triangle), b, A, b)


def _solve_forward(A: Any, b: Any, method: str, triangle: str) -> Any:
    x = _solve(A, b, method, triangle)
    return x, (A, x)


def _solve_back(method: str, triangle: str, kept: Any, g: Any) -> Any:
    A, x = kept
    return _adjoints.solve(lambda v: _solve(A, v, method, triangle), x, g)


_solve.defvjp(_solve_forward, _solve_back)


def solve(A: Any, b: Any, *, method: str = "auto", triangle: str = "lower") -> Any:
    A, b = _common(A, b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    batch = jnp.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    A, b = jnp.broadcast_to(A, (*batch, *A.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    x = _solve(A, b, method, triangle)
    return x[..., 0] if vector else x


def _traced_ex(*_: Any, **__: Any) -> Any:
    raise TypeError("a traced array of JAX has no verdict yet: call solve_ex outside of jit and grad, or solve inside")


solve_ex = solve_tridiagonal_ex = _traced_ex


def _nan_bands(periodic: bool, transposed: bool, *arrays: Any) -> Any:
    return _linalg._solve_bands(*arrays, periodic, "auto", None, transposed, True, 0.0, 0.0, STATUS)[0].x


@partial(jax.custom_vjp, nondiff_argnums=(4, 5))
def _bands(dl: Any, d: Any, du: Any, b: Any, periodic: bool, transposed: bool) -> Any:
    return _call(partial(_nan_bands, periodic, transposed), b, dl, d, du, b)


def _bands_forward(dl: Any, d: Any, du: Any, b: Any, periodic: bool, transposed: bool) -> Any:
    x = _bands(dl, d, du, b, periodic, transposed)
    return x, (dl, d, du, x)


def _bands_back(periodic: bool, transposed: bool, kept: Any, g: Any) -> Any:
    dl, d, du, x = kept
    n = d.shape[-1]
    ends = jnp.stack([jnp.arange(n) > 0, jnp.arange(n) < n - 1]).astype(d.dtype)
    roll = partial(jnp.roll, axis=-2)
    return _adjoints.tridiagonal(
        lambda v: _bands(dl, d, du, v, periodic, not transposed), roll, ends, x, g, periodic, transposed
    )


_bands.defvjp(_bands_forward, _bands_back)


def solve_tridiagonal(
    dl: Any, d: Any, du: Any, b: Any, periodic: bool = False, *, transposed: bool = False, matrix_rhs: bool = False
) -> Any:
    dl, d, du, b = _common(dl, d, du, b)
    b = b if matrix_rhs else b[..., None]
    batch = jnp.broadcast_shapes(dl.shape[:-1], d.shape[:-1], du.shape[:-1], b.shape[:-2])
    bands = (jnp.broadcast_to(v, (*batch, v.shape[-1])) for v in (dl, d, du))
    x = _bands(*bands, jnp.broadcast_to(b, (*batch, *b.shape[-2:])), periodic, transposed)
    return x if matrix_rhs else x[..., 0]


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _recurrence(s: Any, t: Any, w0: Any, reverse: bool) -> Any:
    return _call(partial(_linalg.recurrence, reverse=reverse), t, s, t, w0)


def _recurrence_forward(s: Any, t: Any, w0: Any, reverse: bool) -> Any:
    w = _recurrence(s, t, w0, reverse)
    return w, (s, w0, w)


def _shift(v: Any, by: int, first: Any) -> Any:
    edge = jnp.zeros_like(v[..., :1]) + (first[..., None] if jnp.ndim(first) or hasattr(first, "dtype") else first)
    return jnp.concatenate((edge, v[..., :-1]) if by > 0 else (v[..., 1:], edge), -1)


def _recurrence_back(reverse: bool, kept: Any, g: Any) -> Any:
    s, w0, w = kept
    run = lambda c, v, back: _recurrence(c, v, jnp.zeros_like(w0), back)  # noqa: E731
    return _adjoints.recurrence(run, _shift, s, w0, w, g, reverse)


_recurrence.defvjp(_recurrence_forward, _recurrence_back)


def recurrence(s: Any, t: Any, w0: Any = None, *, reverse: bool = False, order: int = 1, method: str = "auto") -> Any:
    if order != 1 or method != "auto":
        raise ValueError("a traced array of JAX: order must be 1 and method 'auto'")
    s, t, w0 = _common(s, t, 0.0 if w0 is None else w0)
    batch = jnp.broadcast_shapes(s.shape[:-1], t.shape[:-1], w0.shape)
    s, t = (jnp.broadcast_to(v, (*batch, v.shape[-1])) for v in (s, t))
    return _recurrence(s, t, jnp.broadcast_to(w0, batch), reverse)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _eigh(A: Any, triangle: str) -> Any:
    return _call(lambda a: tuple(_linalg.eigh(a, triangle=triangle)), (A[..., 0], A), A)


def _eigh_forward(A: Any, triangle: str) -> Any:
    found = _eigh(A, triangle)
    return found, found


def _eigh_back(triangle: str, kept: Any, g: Any) -> Any:
    w, V = kept
    eye = jnp.eye(w.shape[-1], dtype=w.dtype)
    return (_adjoints.eigh(lambda v: v[..., None] * eye, eye, w, V, *g),)


_eigh.defvjp(_eigh_forward, _eigh_back)


def eigh(A: Any, *, triangle: str = "lower") -> Any:
    (A,) = _common(A)
    return _linalg.EighResult(*_eigh(A, triangle))


def sort(keys: Any, return_index: bool = False, *, descending: bool = False) -> Any:
    index = _call(
        lambda k: _sorting.sort(k, True, descending=descending)[1].astype(np.int32),
        jax.ShapeDtypeStruct(keys.shape, np.int32), jax.lax.stop_gradient(keys),
    )  # fmt: skip
    result = jnp.take_along_axis(keys, index, -1)
    return (result, index) if return_index else result
