# SPDX-License-Identifier: Apache-2.0
"""Gradients for torch: each function is a custom operator, so that torch.compile can keep it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

from . import _adjoints, _linalg, _sorting
from ._arrays import door_of
from ._results import METHOD, RCOND, RESIDUAL, STATUS, WIDTHS, Result

_SOLVE = STATUS | RESIDUAL | RCOND | METHOD
_BANDS = STATUS | RESIDUAL | METHOD


def _common(*tensors: Any) -> list[Tensor]:
    """Tensors of one type, on one device."""
    like = next(t for t in tensors if isinstance(t, Tensor))
    made = [t if isinstance(t, Tensor) else torch.as_tensor(t, device=like.device) for t in tensors]
    single = all(t.dtype == torch.float32 for t in made)
    return [t.to(torch.float32 if single else torch.float64) for t in made]


def _result(x: Tensor, module: str, block: Tensor, fields: int, batch: Any) -> Result:
    return Result(x, module, door_of(x, "x"), block, fields, tuple(batch))


def _raise(result: Result) -> Any:
    if not torch.compiler.is_compiling():
        result.raise_for_status()
    return result.x


# ---- symmetric systems ------------------------------------------------------------------------------


@custom_op("shoal::solve", mutates_args=())
def _solve_op(A: Tensor, b: Tensor, method: str, triangle: str) -> tuple[Tensor, Tensor]:
    x, _, block, _, _ = _linalg._solve(A, b, method, None, triangle, 0, False, 0.0, 0.0, _SOLVE)
    return x, block


@_solve_op.register_fake
def _(A: Tensor, b: Tensor, method: str, triangle: str) -> tuple[Tensor, Tensor]:
    return torch.empty_like(b), A.new_empty(WIDTHS[_SOLVE] * A.shape[:-2].numel(), dtype=torch.int32)


def _keep_solve(ctx: Any, inputs: Any, output: Any) -> None:
    A, _, ctx.method, ctx.triangle = inputs
    ctx.save_for_backward(A, output[0])


def _solve_back(ctx: Any, g: Tensor, _: Any) -> Any:
    A, x = ctx.saved_tensors
    back = lambda v: _solve_op(A, v.contiguous(), ctx.method, ctx.triangle)[0]  # noqa: E731
    return (*_adjoints.solve(back, x, g), None, None)


_solve_op.register_autograd(_solve_back, setup_context=_keep_solve)


def solve_ex(A: Any, b: Any, *, method: str = "auto", triangle: str = "lower", **options: Any) -> Result:
    if any(options.get(name) for name in ("variant", "refine", "estimate", "tol", "cond")):
        raise ValueError("with gradients, solve_ex takes method and triangle alone; call it under torch.no_grad()")
    A, b = _common(A, b)
    vector = b.ndim == 1
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A has shape {tuple(A.shape)}; its last two dimensions must be equal")
    if b.ndim == 0 or b.shape[-1 if vector else -2] != A.shape[-1]:
        raise ValueError(f"b has shape {tuple(b.shape)}; A has {A.shape[-1]} rows per system")
    b = b[:, None] if vector else b
    batch = torch.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    A, b = A.expand(*batch, *A.shape[-2:]).contiguous(), b.expand(*batch, *b.shape[-2:]).contiguous()
    x, block = _solve_op(A, b, method, triangle)
    return _result(x[..., 0] if vector else x, "smallsym", block, _SOLVE, batch)


def solve(A: Any, b: Any, *, method: str = "auto", triangle: str = "lower") -> Any:
    return _raise(solve_ex(A, b, method=method, triangle=triangle))


# ---- tridiagonal systems ----------------------------------------------------------------------------


@custom_op("shoal::tridiagonal", mutates_args=())
def _bands_op(
    dl: Tensor, d: Tensor, du: Tensor, b: Tensor, periodic: bool, transposed: bool, method: str
) -> tuple[Tensor, Tensor]:
    x, _, block, _, _ = _linalg._solve_bands(dl, d, du, b, periodic, method, None, transposed, True, 0.0, 0.0, _BANDS)
    return x, block


@_bands_op.register_fake
def _(dl: Tensor, d: Tensor, du: Tensor, b: Tensor, periodic: bool, transposed: bool, method: str) -> Any:
    return torch.empty_like(b), d.new_empty(WIDTHS[_BANDS] * d.shape[:-1].numel(), dtype=torch.int32)


def _keep_bands(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:3], output[0])
    ctx.periodic, ctx.transposed, ctx.method = inputs[4:]


def _bands_back(ctx: Any, g: Tensor, _: Any) -> Any:
    dl, d, du, x = ctx.saved_tensors
    back = lambda v: _bands_op(dl, d, du, v.contiguous(), ctx.periodic, not ctx.transposed, ctx.method)[0]  # noqa: E731
    ends = torch.ones(2, d.shape[-1], dtype=d.dtype, device=d.device)
    ends[0, :1] = 0
    ends[1, -1:] = 0
    roll = lambda v, by: torch.roll(v, by, -2)  # noqa: E731
    found = _adjoints.tridiagonal(back, roll, ends, x, g, ctx.periodic, ctx.transposed)
    return (*found, None, None, None)


_bands_op.register_autograd(_bands_back, setup_context=_keep_bands)


def solve_tridiagonal_ex(
    dl: Any, d: Any, du: Any, b: Any, periodic: bool = False, *, method: str = "auto", transposed: bool = False,
    matrix_rhs: bool = False, **options: Any,
) -> Result:  # fmt: skip
    if any(options.get(name) for name in ("variant", "rcond", "tol", "cond")):
        raise ValueError("with gradients, rcond, variant, tol and cond are not computed; call it under torch.no_grad()")
    dl, d, du, b = _common(dl, d, du, b)
    b = b if matrix_rhs else b[..., None]
    n = d.shape[-1]
    for name, rows in (("dl", dl.shape[-1]), ("du", du.shape[-1]), ("b", b.shape[-2])):
        if rows != n:
            raise ValueError(f"{name} has {rows} rows per system, d has {n}")
    batch = torch.broadcast_shapes(dl.shape[:-1], d.shape[:-1], du.shape[:-1], b.shape[:-2])
    bands = [v.expand(*batch, n).contiguous() for v in (dl, d, du)]
    x, block = _bands_op(*bands, b.expand(*batch, *b.shape[-2:]).contiguous(), periodic, transposed, method)
    return _result(x if matrix_rhs else x[..., 0], "tridiag", block, _BANDS, batch)


def solve_tridiagonal(*arguments: Any, **options: Any) -> Any:
    return _raise(solve_tridiagonal_ex(*arguments, **options))


# ---- recurrences ------------------------------------------------------------------------------------


@custom_op("shoal::recurrence", mutates_args=())
def _recurrence_op(s: Tensor, t: Tensor, w0: Tensor, reverse: bool, method: str) -> Tensor:
    w: Tensor = _linalg.recurrence(s, t, w0, reverse=reverse, method=method)
    return w


@_recurrence_op.register_fake
def _(s: Tensor, t: Tensor, w0: Tensor, reverse: bool, method: str) -> Tensor:
    return torch.empty_like(t)


def _keep_recurrence(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0], inputs[2], output)
    ctx.reverse, ctx.method = inputs[3:]


def _shift(v: Tensor, by: int, first: Any) -> Tensor:
    edge = torch.zeros_like(v[..., :1]) + (first[..., None] if isinstance(first, Tensor) else first)
    return torch.cat((edge, v[..., :-1]) if by > 0 else (v[..., 1:], edge), -1).contiguous()


def _recurrence_back(ctx: Any, g: Tensor) -> Any:
    s, w0, w = ctx.saved_tensors
    run = lambda c, v, reverse: _recurrence_op(c, v.contiguous(), torch.zeros_like(w0), reverse, ctx.method)  # noqa: E731
    return (*_adjoints.recurrence(run, _shift, s, w0, w, g, ctx.reverse), None, None)


_recurrence_op.register_autograd(_recurrence_back, setup_context=_keep_recurrence)


def recurrence(s: Any, t: Any, w0: Any = None, *, reverse: bool = False, order: int = 1, method: str = "auto") -> Any:
    if order != 1:
        raise ValueError(f"order is {order}; gradients are computed for order 1: call it under torch.no_grad()")
    s, t, w0 = _common(s, t, 0.0 if w0 is None else w0)
    if s.shape[-1] != t.shape[-1]:
        raise ValueError(f"s has {s.shape[-1]} rows per segment, t has {t.shape[-1]}")
    batch = torch.broadcast_shapes(s.shape[:-1], t.shape[:-1], w0.shape)
    s, t = (v.expand(*batch, v.shape[-1]).contiguous() for v in (s, t))
    return _recurrence_op(s, t, w0.expand(batch).contiguous(), reverse, method)


# ---- eigenpairs, sorting ----------------------------------------------------------------------------


@custom_op("shoal::eigh", mutates_args=())
def _eigh_op(A: Tensor, triangle: str) -> tuple[Tensor, Tensor]:
    w, V = _linalg.eigh(A, triangle=triangle)
    return w, V


@_eigh_op.register_fake
def _(A: Tensor, triangle: str) -> tuple[Tensor, Tensor]:
    return A.new_empty(A.shape[:-1]), torch.empty_like(A)


def _keep_eigh(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*output)


def _eigh_back(ctx: Any, gw: Tensor, gV: Tensor) -> Any:
    w, V = ctx.saved_tensors
    eye = torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
    return _adjoints.eigh(torch.diag_embed, eye, w, V, gw, gV), None


_eigh_op.register_autograd(_eigh_back, setup_context=_keep_eigh)


def eigh(A: Any, *, triangle: str = "lower") -> Any:
    (A,) = _common(A)
    return _linalg.EighResult(*_eigh_op(A.contiguous(), triangle))


@custom_op("shoal::argsort", mutates_args=())
def _argsort_op(keys: Tensor, descending: bool) -> Tensor:
    index: Tensor = _sorting.sort(keys, True, descending=descending)[1]
    return index


@_argsort_op.register_fake
def _(keys: Tensor, descending: bool) -> Tensor:
    return torch.empty_like(keys, dtype=torch.int64)


def sort(keys: Any, return_index: bool = False, *, descending: bool = False) -> Any:
    index = _argsort_op(keys.detach(), descending)
    result = torch.gather(keys, -1, index)
    return (result, index) if return_index else result
