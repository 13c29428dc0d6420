# SPDX-License-Identifier: Apache-2.0
"""Gradients for torch: each function is a custom operator, so that torch.compile can keep it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

from . import _adjoints, _linalg, _sorting
from ._arrays import WHOLE, Door, Torch, _detached, _same, bad_type, batch_of
from ._results import METHOD, RCOND, RESIDUAL, STATUS, WIDTHS, Result

_SOLVE = STATUS | RESIDUAL | RCOND | METHOD
_BANDS = STATUS | RESIDUAL | METHOD
_size = _linalg._size  # numel() of a shape makes it a constant
_TYPES = {getattr(torch, name) for name in ("float32", "float64", *WHOLE) if hasattr(torch, name)}


Torch.bind(torch)  # here, because compiled code cannot
_DOOR = Door(Torch, _detached, _same)


def check_tensor(value: Any) -> None:
    if not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise TypeError(
            "vmap, jacrev and jvp of torch.func do not reach into Shoal: pass a batch as leading dimensions, and "
            "differentiate by torch.autograd"
        )


def _common(names: str, *values: Any) -> list[Tensor]:
    """Tensors of one type, on one device; a number becomes one."""
    like = next(v for v in values if isinstance(v, Tensor))
    tensors, dtype = [], torch.float32
    for name, v in zip(names.split(), values):
        t = like.new_tensor(v, dtype=dtype) if isinstance(v, (int, float)) else v
        if not isinstance(t, Tensor):
            raise TypeError(f"{name} is no tensor of torch, and other arguments are: convert one of them")
        if t.dtype not in _TYPES:
            raise bad_type(name, str(t.dtype)[6:])
        if t.device != like.device:
            raise ValueError(f"{name} is on {t.device}, other arguments are on {like.device}: move one of them")
        dtype = dtype if t.dtype == torch.float32 else torch.float64
        tensors.append(t)
    return [t.to(dtype) for t in tensors]


def _expand(names: str, tensors: Any, cores: Any) -> tuple[Any, ...]:
    """The batch, and the tensors with its leading dimensions, contiguous."""
    if torch.compiler.is_compiling():  # the sizes may be symbols
        batch = torch.broadcast_shapes(*(t.shape[: t.ndim - core] for t, core in zip(tensors, cores)))
    else:
        batch = batch_of(names.split(), [t.shape for t in tensors], cores)
    return batch, *(t.expand((*batch, *t.shape[t.ndim - core :])).contiguous() for t, core in zip(tensors, cores))


def _result(x: Tensor, module: str, block: Tensor, fields: int, batch: Any) -> Result:
    return Result(x, module, _DOOR, block, fields, tuple(batch))


def _eager(solver: Any, tensors: Any, options: Any, fields: int) -> tuple[Tensor, Tensor]:
    """x and outcomes, each in memory of its own, as an operator of torch must return them."""
    x, block, *_ = solver.first(tuple(t.detach() for t in tensors), options, fields, None, False)
    return x, block


def _raise(result: Result) -> Any:
    if not torch.compiler.is_compiling():
        result.raise_for_status()
    return result.x


# ---- symmetric systems ------------------------------------------------------------------------------


@custom_op("shoal::solve", mutates_args=())
def _solve_op(A: Tensor, b: Tensor, method: str, triangle: str) -> tuple[Tensor, Tensor]:
    return _eager(_linalg.SMALL, (A, b), (method, None, triangle, 0, False, 0.0, 0.0), _SOLVE)


@_solve_op.register_fake
def _(A: Tensor, b: Tensor, method: str, triangle: str) -> tuple[Tensor, Tensor]:
    return torch.empty_like(b), A.new_empty(WIDTHS[_SOLVE] * _size(A.shape[:-2]), dtype=torch.int32)


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
    A, b = _common("A b", A, b)
    _linalg.check_square(A.shape, b.shape)
    vector = b.ndim == 1
    batch, A, b = _expand("A b", (A, b[:, None] if vector else b), (2, 2))
    x, block = _solve_op(A, b, method, triangle)
    return _result(x[..., 0] if vector else x, "smallsym", block, _SOLVE, batch)


def solve(A: Any, b: Any, **options: Any) -> Any:
    return _raise(solve_ex(A, b, **options))


# ---- tridiagonal systems ----------------------------------------------------------------------------


@custom_op("shoal::tridiagonal", mutates_args=())
def _bands_op(
    dl: Tensor, d: Tensor, du: Tensor, b: Tensor, periodic: bool, transposed: bool, method: str
) -> tuple[Tensor, Tensor]:
    options = (periodic, method, None, transposed, True, False, 0.0, 0.0)
    return _eager(_linalg.BANDS, (dl, d, du, b), options, _BANDS)


@_bands_op.register_fake
def _(dl: Tensor, d: Tensor, du: Tensor, b: Tensor, periodic: bool, transposed: bool, method: str) -> Any:
    return torch.empty_like(b), d.new_empty(WIDTHS[_BANDS] * _size(d.shape[:-1]), dtype=torch.int32)


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
    tensors = _common("dl d du b", dl, d, du, b)
    batch, *bands, b = _expand("dl d du b", tensors, (1, 1, 1, 2 if matrix_rhs else 1))
    _linalg.check_rows(bands[0].shape, bands[1].shape, bands[2].shape, b.shape, matrix_rhs)
    x, block = _bands_op(*bands, b if matrix_rhs else b[..., None], periodic, transposed, method)
    return _result(x if matrix_rhs else x[..., 0], "tridiag", block, _BANDS, batch)


def solve_tridiagonal(*arguments: Any, **options: Any) -> Any:
    return _raise(solve_tridiagonal_ex(*arguments, **options))


# ---- recurrences ------------------------------------------------------------------------------------


@custom_op("shoal::recurrence", mutates_args=())
def _recurrence_op(s: Tensor, t: Tensor, w0: Tensor, reverse: bool, method: str) -> Tensor:
    w: Tensor = _linalg.recurrence(s.detach(), t.detach(), w0.detach(), reverse=reverse, method=method)
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
    _, s, t, w0 = _expand("s t w0", _common("s t w0", s, t, 0.0 if w0 is None else w0), (1, 1, 0))
    if s.shape[-1] != t.shape[-1]:
        raise ValueError(f"s has {s.shape[-1]} rows per segment, t has {t.shape[-1]}")
    return _recurrence_op(s, t, w0, reverse, method)


# ---- eigenpairs, sorting ----------------------------------------------------------------------------


@custom_op("shoal::eigh", mutates_args=())
def _eigh_op(A: Tensor, triangle: str) -> tuple[Tensor, Tensor]:
    w, V = _linalg.eigh(A.detach(), triangle=triangle)
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
    (A,) = _common("A", A)
    return _linalg.EighResult(*_eigh_op(A.contiguous(), triangle))


@custom_op("shoal::argsort", mutates_args=())
def _argsort_op(keys: Tensor, descending: bool) -> Tensor:
    index: Tensor = _sorting.sort(keys.detach(), True, descending=descending)[1]
    return index


@_argsort_op.register_fake
def _(keys: Tensor, descending: bool) -> Tensor:
    return torch.empty_like(keys, dtype=torch.int64)


def sort(keys: Any, return_index: bool = False, *, descending: bool = False) -> Any:
    index = _argsort_op(keys.detach(), descending)
    result = torch.gather(keys, -1, index)
    return (result, index) if return_index else result
