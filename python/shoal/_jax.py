# SPDX-License-Identifier: Apache-2.0
"""Arrays of JAX: jit, grad and vmap. XLA calls the library with its buffers and its stream: no Python, no copies."""

from __future__ import annotations

import atexit
import json
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _adjoints, _core, _linalg, _sorting
from ._arrays import NUMPY, TYPES, Door, Numpy, bad_type, batch_of
from ._results import METHOD, RCOND, RESIDUAL, STATUS, WIDTHS, Result
from ._runtime import Kind, new_context

if not hasattr(jax, "ffi"):
    raise ImportError(f"JAX {jax.__version__} has no jax.ffi: update JAX")

_size = _linalg._size


def _make(settings: str, count: int, device: int) -> Any:
    """A plan for XLA, which keeps it."""
    options = json.loads(settings)
    return getattr(_core, options.pop("plan"))(new_context(device), {**options, "count": count})


_core.xla_start(_make)
atexit.register(_core.xla_start, None)
for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target("shoal", _core.xla_handler(_platform == "CUDA"), _platform)


class Jax(Numpy):
    name = "jax"

    @staticmethod
    def view(a: Any, dtype: str) -> Any:
        return a.view(dtype)

    @staticmethod
    def host(a: Any) -> Any:
        return np.asarray(a)


_TRACER = jax.core.Tracer
_DOOR = Door(Jax, lambda a, name="": a, lambda a: a)


def _common(names: str, *arrays: Any) -> list[Any]:
    for name, a in zip(names.split(), arrays):
        if a is None:
            raise TypeError(f"{name} is None; it must be an array")
        dtype = np.dtype(a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype)
        if dtype.name not in TYPES and dtype.kind not in "iub":
            raise bad_type(name, dtype.name)
    dtype = jnp.result_type(*arrays)
    if dtype not in (jnp.float32, jnp.float64):
        dtype = jnp.zeros(()).dtype
    return [jnp.asarray(a, dtype) for a in arrays]


def _batch(names: str, arrays: Any, cores: Any) -> tuple[int, ...]:
    return batch_of(names.split(), [a.shape for a in arrays], cores)


def _int32(shape: Any) -> Any:
    return jax.ShapeDtypeStruct(shape, np.int32)


def _call(
    name: str, fields: int, core: int, settings: str, like: tuple[Any, ...], *arrays: Any, waits: int = 0
) -> tuple[Any, ...]:
    """A function of the library on buffers. `core`: the dimensions of one system in the first one; vmap adds others.
    waits: until the systems that failed are counted."""
    shapes = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in like)
    system = np.int64(_size(arrays[0].shape[arrays[0].ndim - core :]))
    call = jax.ffi.ffi_call("shoal", shapes, vmap_method="broadcast_all")
    return tuple(call(*arrays, call=name, settings=settings, system=system, fields=np.int64(fields), waits=np.int64(waits)))


def _settings(kind: Kind, *values: Any) -> str:
    """What _make() makes a plan of; the values are those of kind.names except the count."""
    names = [name for name in kind.names if name != "count"]
    settings = json.dumps({"plan": kind.create.__name__, **dict(zip(names, values, strict=True))}, default=np.generic.item)
    _make(settings, 0, -1)  # raises here if an option is wrong, not in compiled code
    return settings


def _kind(a: Any) -> int:
    return TYPES[np.dtype(a.dtype).name]


# ---- symmetric systems ------------------------------------------------------------------------------


@partial(jax.jit, static_argnums=(2, 3, 4))
def _raw_solve(A: Any, b: Any, options: Any, fields: int, waits: int) -> Any:
    """x and outcomes: of the batch's shape if they are statuses alone, as traced calls need them."""
    batch = A.shape[:-2]
    block = batch if fields == STATUS else (WIDTHS[fields] * _size(batch),)
    if 0 in b.shape:
        return b, jnp.zeros(block, jnp.int32)
    settings = _settings(_linalg._SMALLSYM, b.shape[-2], b.shape[-1], _kind(b), *options, 0, waits, 1)
    return _call("smallsym_solve", fields, 2, settings, (b, _int32(block)), A, b, waits=waits)


def _systems(A: Any, b: Any) -> tuple[Any, Any, bool]:
    """A and b in one type and batch; b is a matrix now, and was a vector."""
    A, b = _common("A b", A, b)
    vector = b.ndim == 1
    batch = _batch("A b", (A, b), (2, 1 if vector else 2))
    _linalg.check_square(A.shape, b.shape)
    b = b[:, None] if vector else b
    return jnp.broadcast_to(A, (*batch, *A.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:])), vector


@partial(jax.jit, static_argnums=(2, 3, 4))
def _eager_solve(A: Any, b: Any, options: Any, fields: int, waits: int = 0) -> Any:
    A, b, vector = _systems(A, b)
    x, block = _raw_solve(A, b, options, fields, waits)
    return x[..., 0] if vector else x, block


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _solve(A: Any, b: Any, options: Any) -> Any:
    return _raw_solve(A, b, options, STATUS, 0)[0]


def _solve_forward(A: Any, b: Any, options: Any) -> Any:
    x = _solve(A, b, options)
    return x, (A, x)


def _solve_back(options: Any, kept: Any, g: Any) -> Any:
    A, x = kept
    return _adjoints.solve(lambda v: _solve(A, v, options), x, g)


_solve.defvjp(_solve_forward, _solve_back)


def _is_traced(*values: Any) -> bool:
    return any(isinstance(value, _TRACER) for value in values)


def _answered(module: str, call: Any, *arguments: Any) -> Any:
    """x of a call that waits; raises if a system failed. A status takes long to come from a GPU: it is looked at if a
    system failed, or if XLA has run the call in another thread."""
    _core.xla_failed()
    x, status = call(*arguments, 1)
    if _core.xla_failed() != 0:
        status = np.asarray(status)
        Result(x, module, NUMPY, status.reshape(-1), STATUS, status.shape).raise_for_status()
    return x


def solve(A: Any, b: Any, *, method: str = "auto", triangle: str = "lower", **_: Any) -> Any:
    options = (method, None, _linalg._triangle(triangle), 0, 0, 0.0, 0.0)
    if not _is_traced(A, b):
        return _answered("smallsym", _eager_solve, A, b, options, STATUS)
    A, b, vector = _systems(A, b)
    x = _solve(A, b, options)
    return x[..., 0] if vector else x


def _result(x: Any, module: str, block: Any, fields: int, batch: tuple[int, ...], has_columns: bool) -> Result:
    if has_columns and x.shape[-1] == 0:  # no right-hand side, and no system to judge
        batch = (0, *batch[1:])
    return Result(x, module, _DOOR, block, fields, batch)


def _no_verdict() -> None:
    raise TypeError("a traced array of JAX has no verdict yet: call solve_ex outside of jit and grad, or solve inside")


def solve_ex(
    A: Any, b: Any, *, method: str, variant: str | None, triangle: str, refine: int, estimate: bool, tol: float,
    cond: float,
) -> Result:  # fmt: skip
    if _is_traced(A, b):
        _no_verdict()
    options = (method, variant, _linalg._triangle(triangle), refine, int(estimate), tol, cond)
    fields = STATUS | RESIDUAL | RCOND | METHOD
    x, block = _eager_solve(A, b, options, fields)
    has_columns = np.ndim(b) > 1
    return _result(x, "smallsym", block, fields, x.shape[: -2 if has_columns else -1], has_columns)


# ---- tridiagonal systems ----------------------------------------------------------------------------


@partial(jax.jit, static_argnums=(4, 5, 6))
def _raw_bands(dl: Any, d: Any, du: Any, b: Any, options: Any, fields: int, waits: int) -> Any:
    batch = d.shape[:-1]
    block = batch if fields == STATUS else (WIDTHS[fields] * _size(batch),)
    if 0 in b.shape:
        return b, jnp.zeros(block, jnp.int32)
    settings = _settings(_linalg._TRIDIAG, b.shape[-2], b.shape[-1], _kind(b), *options, waits, 1)
    return _call("tridiag_solve", fields, 1, settings, (b, _int32(block)), dl, d, du, b, waits=waits)


def _same_rows(dl: Any, d: Any, du: Any, b: Any, matrix_rhs: bool) -> Any:
    dl, d, du, b = _common("dl d du b", dl, d, du, b)
    cores = (1, 1, 1, 2 if matrix_rhs else 1)
    batch = _batch("dl d du b", (dl, d, du, b), cores)
    _linalg.check_rows(dl.shape, d.shape, du.shape, b.shape, matrix_rhs)
    b = b if matrix_rhs else b[..., None]
    dl, d, du = (jnp.broadcast_to(v, (*batch, v.shape[-1])) for v in (dl, d, du))
    return dl, d, du, jnp.broadcast_to(b, (*batch, *b.shape[-2:]))


@partial(jax.jit, static_argnums=(4, 5, 6, 7))
def _eager_bands(
    dl: Any, d: Any, du: Any, b: Any, options: Any, fields: int, matrix_rhs: bool, waits: int = 0
) -> Any:
    x, block = _raw_bands(*_same_rows(dl, d, du, b, matrix_rhs), options, fields, waits)
    return x if matrix_rhs else x[..., 0], block


@partial(jax.custom_vjp, nondiff_argnums=(4, 5))
def _bands(dl: Any, d: Any, du: Any, b: Any, periodic: bool, transposed: bool) -> Any:
    return _raw_bands(dl, d, du, b, ("auto", None, int(periodic), int(transposed), 0.0, 0.0), STATUS, 0)[0]


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
    dl: Any, d: Any, du: Any, b: Any, periodic: bool = False, *, transposed: bool = False, matrix_rhs: bool = False,
    **_: Any,
) -> Any:  # fmt: skip
    if not _is_traced(dl, d, du, b):
        options = ("auto", None, int(periodic), int(transposed), 0.0, 0.0)
        return _answered("tridiag", _eager_bands, dl, d, du, b, options, STATUS, matrix_rhs)
    x = _bands(*_same_rows(dl, d, du, b, matrix_rhs), periodic, transposed)
    return x if matrix_rhs else x[..., 0]


def solve_tridiagonal_ex(
    dl: Any, d: Any, du: Any, b: Any, periodic: bool, *, method: str, variant: str | None, transposed: bool,
    matrix_rhs: bool, rcond: bool, tol: float, cond: float,
) -> Result:  # fmt: skip
    if _is_traced(dl, d, du, b):
        _no_verdict()
    fields = STATUS | RESIDUAL | METHOD | (RCOND if rcond else 0)
    options = (method, variant, int(periodic), int(transposed), tol, cond)
    x, block = _eager_bands(dl, d, du, b, options, fields, matrix_rhs)
    return _result(x, "tridiag", block, fields, x.shape[: -2 if matrix_rhs else -1], matrix_rhs)


# ---- recurrences ------------------------------------------------------------------------------------


@partial(jax.jit, static_argnums=(3,))
def _raw_recurrence(s: Any, t: Any, w0: Any, reverse: bool) -> Any:
    if 0 in t.shape:
        return t, jnp.zeros(w0.shape, jnp.int32)
    settings = _settings(_linalg._RECUR, t.shape[-1], 1, int(reverse), _kind(t), "auto", None)
    return _call("recur_solve", STATUS, 1, settings, (t, _int32(w0.shape)), s, t, w0)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _recurrence(s: Any, t: Any, w0: Any, reverse: bool) -> Any:
    return _raw_recurrence(s, t, w0, reverse)[0]


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
    s, t, w0 = _common("s t w0", s, t, 0.0 if w0 is None else w0)
    batch = _batch("s t w0", (s, t, w0), (1, 1, 0))
    if s.shape[-1] != t.shape[-1]:
        raise ValueError(f"s has {s.shape[-1]} rows per segment, t has {t.shape[-1]}")
    s, t = (jnp.broadcast_to(v, (*batch, v.shape[-1])) for v in (s, t))
    return _recurrence(s, t, jnp.broadcast_to(w0, batch), reverse)


# ---- eigenpairs, sorting ----------------------------------------------------------------------------


@partial(jax.jit, static_argnums=(1,))
def _raw_eigh(A: Any, triangle: int) -> Any:
    w, status = jax.ShapeDtypeStruct(A.shape[:-1], A.dtype), _int32(A.shape[:-2])
    if 0 in A.shape:
        return jnp.zeros(w.shape, w.dtype), A, jnp.zeros(status.shape, status.dtype)
    settings = _settings(_linalg._SMALLSYM, A.shape[-1], 1, _kind(A), "eigdc", None, triangle, 0, 0, 0.0, 0.0, 0, 0, 0)
    return _call("smallsym_eig", STATUS, 2, settings, (w, A, status), A)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _eigh(A: Any, triangle: int) -> Any:
    return _raw_eigh(A, triangle)[:2]


def _eigh_forward(A: Any, triangle: int) -> Any:
    found = _eigh(A, triangle)
    return found, found


def _eigh_back(triangle: int, kept: Any, g: Any) -> Any:
    w, V = kept
    eye = jnp.eye(w.shape[-1], dtype=w.dtype)
    return (_adjoints.eigh(lambda v: v[..., None] * eye, eye, w, V, *g),)


_eigh.defvjp(_eigh_forward, _eigh_back)


def eigh(A: Any, *, triangle: str = "lower") -> Any:
    (A,) = _common("A", A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A has shape {A.shape}; its last two dimensions must be equal")
    return _linalg.EighResult(*_eigh(A, _linalg._triangle(triangle)))


@partial(jax.jit, static_argnums=(1,))
def _raw_sort(keys: Any, descending: bool) -> Any:
    index = _int32(keys.shape)
    if 0 in keys.shape:
        return keys, jnp.zeros(index.shape, index.dtype)
    key = _sorting._KEYS[np.dtype(keys.dtype).name]
    settings = _settings(_sorting._SORT, keys.shape[-1], key, 4, 1, int(descending))
    return _call("sort_index", 0, 1, settings, (keys, index), keys)


def sort(keys: Any, return_index: bool = False, *, descending: bool = False) -> Any:
    if np.dtype(keys.dtype).name not in _sorting._KEYS:
        kinds = ", ".join(_sorting._KEYS)
        raise TypeError(f"keys: {keys.dtype} keys are not supported; convert them to one of {kinds}")
    index = _raw_sort(jax.lax.stop_gradient(keys), descending)[1]
    result = jnp.take_along_axis(keys, index, -1)
    return (result, index) if return_index else result
