# SPDX-License-Identifier: Apache-2.0
"""Solves, eigenpairs, regressions, factors and recurrences in batches."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import _core, _runtime
from ._arrays import (
    TYPES,
    ComplexError,
    Door,
    Torch,
    _doors,
    check_out,
    check_overlap,
    common_type,
    door_of,
    prepare,
    takes,
)
from ._autograd import module_for
from ._devices import device_number, dtype_name, placed, whole
from ._results import METHOD, RCOND, RESIDUAL, STATUS, WIDTHS, LinAlgError, Result
from ._runtime import Kind, new_plan, plan
from ._units import Units

_SMALLSYM = Kind(
    _core.smallsym, "n", "count", "nrhs", "type", "method", "variant", "triangle", "refine", "estimate", "tol", "cond",
    "gram", "waits", "replays",
)  # fmt: skip
_TRIDIAG = Kind(
    _core.tridiag, "n", "count", "nrhs", "type", "method", "variant", "periodic", "transposed", "tol", "cond",
    "waits", "replays",
)  # fmt: skip
_RECUR = Kind(_core.recur, "n", "count", "order", "reverse", "type", "method", "variant")
_SYMINDEF = Kind(_core.symindef, "n", "type", "method", "alpha", "tol", "growth")
_TRIANGLES = {"lower": 0, "upper": 1}
_BANDS = ("dl", "d", "du", "b")
_VERDICT = STATUS | RESIDUAL | METHOD


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _triangle(word: str) -> int:
    try:
        return _TRIANGLES[word]
    except (KeyError, TypeError):
        raise ValueError(f"triangle is {word!r}; it must be 'lower' or 'upper'") from None


def _autograd(*values: Any, device: Any = None, runs: bool = False) -> Any:
    """The module that differentiates or runs the function, if an argument is one of its arrays; else None."""
    for value in values:
        if type(value) is not np.ndarray:
            module = module_for(value, runs)
            if module is not None:
                if device is not None:
                    raise ValueError("device must be None for arrays of JAX and with gradients: it is where they are")
                return module
    return None


def _judged(
    module: str, call: str, work: Any, door: Door, device: int, batch: tuple[int, ...], fields: int, arguments: Any,
    waits: bool = True,
) -> Any:  # fmt: skip
    """Runs a function of the library on numbers and arrays, the last of which it writes. Returns the outcomes; raises if
    it `waits` and a system failed."""
    library = door.library
    block = library.empty(WIDTHS[fields] * _size(batch), "int32", device)
    pointers = (a if isinstance(a, int) else library.pointer(a) for a in arguments)
    getattr(_core, f"{module}_{call}")(work, library.stream(device), library.pointer(block), fields, *pointers)
    if waits and getattr(_core, f"{module}_failed")(work):
        Result(arguments[-1], module, door, block, fields, batch).raise_for_status()
    return block


class _Solver:
    """A module whose systems `name` and `name`_ex solve.

    prepare(values, options) returns (door, device, type, batch, arrays); work(shapes, type, device, stream, batch,
    options, waits) a plan. `words` are the names of the options, `names` those of the arrays, the last of which is b."""

    __slots__ = ("module", "name", "names", "words", "cores", "prepare", "work")

    def __init__(self, module: str, name: str, names: Any, words: Any, cores: Any, prepare: Any, work: Any) -> None:
        self.module, self.name, self.names, self.words = module, name, names, words
        self.cores, self.prepare, self.work = cores, prepare, work

    def call(self, values: Any, options: Any, fields: int, device: Any, files: Any, waits: bool) -> Any:
        """The result; if the call `waits`, x, or LinAlgError. files: None or (out, executor, checkpoint, units)."""
        found, kind = None, type(values[0])
        if files is None and (kind is np.ndarray or not (Torch.is_compiling() or kind not in _doors)):
            # a call like a recent one? code that reads _doors is compiled again when they change
            found = _runtime._local.calls.again(values, (*options, device, fields), waits)
        if found is None:
            if files is not None or _has_path(*values):
                return self._from_files(values, options, fields, device, files or (None, None, None, None), waits)
            module = _autograd(*values, device=device, runs=True)
            if module is not None:
                function = getattr(module, self.name if waits else f"{self.name}_ex")
                return function(*values, **dict(zip(self.words, options)))
            found = self.first(values, options, fields, device, waits)
        x, block, first, (door, batch), failed = found
        if not waits:
            return Result(x, self.module, door, block, fields, batch, first)
        if failed:
            Result(x, self.module, door, block, fields, batch, first).raise_for_status()
        return x

    def first(self, values: Any, options: Any, fields: int, device: Any, waits: bool) -> Any:
        """(x, outcomes, their place, (door, batch), failed systems) of a call unlike recent ones."""
        door, number, kind, batch, arrays = self.prepare(values, options)
        number, library, shape = placed(number, device), door.library, arrays[-1].shape
        if shape and shape[-1] == 0 and len(shape) > len(batch) + 1:  # nothing to answer, and no system to judge
            batch = (0, *batch[1:])
        at_once = int(waits and number >= 0)  # one plan does for both on the CPU
        work = self.work([a.shape for a in arrays], kind, number, library.stream(number), batch, options, at_once)
        x = library.empty(shape, kind, number)
        block = _judged(self.module, "solve", work, door, number, batch, fields, (*arrays, x), False)
        if all(a is value for a, value in zip(arrays, values)):  # they can be used as they are
            key, function, numbers = (*options, device, fields), f"{self.module}_solve", WIDTHS[fields] * _size(batch)
            _runtime._local.calls.keep(values, key, function, work, fields, numbers, (door, batch))
        failed = getattr(_core, f"{self.module}_failed")(work) if waits else 0
        return door.give(x), block, 0, (door, batch), failed

    def _from_files(self, values: Any, options: Any, fields: int, device: Any, files: Any, waits: bool) -> Any:
        from . import _files

        out, *how = files
        named = dict(zip(self.words, options))
        found = _files.solve(self.module, self.names, values, self.cores(options), named, fields, device, out, Units(*how))
        return found.raise_for_status().x if waits else found


def _has_path(*values: Any) -> bool:
    return any(isinstance(value, (str, os.PathLike)) for value in values)


# ---- symmetric systems ------------------------------------------------------------------------------


def check_square(A: Any, b: Any) -> None:
    """The shapes of A, at least 2 dimensions, and b."""
    if len(A) < 2 or A[-1] != A[-2]:
        raise ValueError(f"A has shape {tuple(A)}; its last two dimensions must be equal")
    if len(b) == 0:
        raise ValueError("b has no dimensions; it must be (n,) or (..., n, k)")
    n, rows = A[-1], b[-1 if len(b) == 1 else -2]
    if rows != n:
        hint = "" if len(b) < 2 or b[-1] != n else "; for one vector per system pass b[..., None]"
        raise ValueError(f"b has {rows} rows per system, A has {n}{hint}")


def _square(values: Any, _: Any = None) -> Any:
    """A (..., n, n) and b (n,) or (..., n, k), ready."""
    A, b = values
    ndim = getattr(b, "ndim", None)
    if ndim is None:
        b = door_of(b, "b").take(b, "b")
        ndim = b.ndim
    if ndim == 0:
        raise ValueError("b has no dimensions; it must be (n,) or (..., n, k)")
    door, device, kind, batch, arrays = prepare(("A", "b"), (A, b), (2, min(ndim, 2)))
    check_square(arrays[0].shape, arrays[1].shape[len(batch) :])
    return door, device, kind, batch, arrays


def _square_plan(shapes: Any, kind: str, device: int, stream: int, batch: Any, options: Any, waits: int) -> Any:
    method, variant, triangle, refine, estimate, tol, cond = options
    rows = shapes[1][len(shapes[0]) - 2 :]  # (n,) or (n, k)
    nrhs = rows[1] if len(rows) > 1 else 1
    return plan(_SMALLSYM, device, stream, rows[0], _size(batch), nrhs or 1, TYPES[kind], method, variant,
                _triangle(triangle), refine, int(estimate), tol, cond, 0, waits, 1)  # fmt: skip


SMALL = _Solver(
    "smallsym", "solve", ("A", "b"), ("method", "variant", "triangle", "refine", "estimate", "tol", "cond"),
    lambda options: (2, 2), _square, _square_plan,
)  # fmt: skip


def solve_ex(
    A: Any,
    b: Any,
    method: str = "auto",
    *,
    variant: str | None = None,
    triangle: str = "lower",
    refine: int = 0,
    estimate: bool = False,
    tol: float = 0.0,
    cond: float = 0.0,
    device: Any = None,
    out: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> Result:
    """Solves symmetric systems A x = b in batches, with a verdict for every system. Never raises because of a system.

    A is (..., n, n), of which one triangle is read. b is a vector (n,), or (..., n, k) with k right-hand sides per
    system: NumPy 2's rule. Leading dimensions broadcast. float32 and float64 are kept. Whole numbers and mixed types
    become float64. On a GPU the call does not wait.

    method: "auto" is safe for every symmetric matrix; `shoal.methods("smallsym")` lists the others. refine: steps of
    refinement. estimate: rcond is a 1-norm estimate, not the bound from the pivots. tol, cond: the limits of a warning.
    device: "cuda" sends host arrays of any size through the GPU in pieces; default: the device of the arrays.

    Batches larger than the memory: A and b may be paths of .npy files or maps of numpy (np.memmap). out: an array for x,
    or the path of a new .npy file. executor: workers of concurrent.futures; checkpoint: a folder that keeps finished
    units; units: how many. docs/python.md has examples.

    >>> import numpy as np, shoal
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> r = shoal.solve_ex(A, np.array([1.0, 2.0]))
    >>> r.x.round(4), bool(r.ok), bool(r.residual < 1e-15)
    (array([0.0909, 0.6364]), True, True)
    """
    files = None if out is executor is checkpoint is units is None else (out, executor, checkpoint, units)
    options = (method, variant, triangle, refine, estimate, tol, cond)
    result: Result = SMALL.call((A, b), options, _VERDICT | RCOND, device, files, False)
    return result


def solve(
    A: Any,
    b: Any,
    method: str = "auto",
    *,
    triangle: str = "lower",
    device: Any = None,
    out: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> Any:
    """Solves symmetric systems A x = b in batches. Raises LinAlgError, which names the first system without an answer.

    Shapes, types and methods are those of `solve_ex`. Answers with a warning are returned; `solve_ex` marks them.

    >>> import numpy as np, shoal
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> shoal.solve(np.stack([A, 2 * A]), np.array([1.0, 2.0])).round(4)
    array([[0.0909, 0.6364],
           [0.0455, 0.3182]])
    """
    files = None if out is executor is checkpoint is units is None else (out, executor, checkpoint, units)
    options = (method, None, triangle, 0, False, 0.0, 0.0)
    fields = STATUS if files is None else _VERDICT | RCOND
    return SMALL.call((A, b), options, fields, device, files, True)


# ---- tridiagonal systems ----------------------------------------------------------------------------


def check_rows(dl: Any, d: Any, du: Any, b: Any, matrix_rhs: bool) -> None:
    """The shapes of the bands and b."""
    n = d[-1]
    for name, shape, axis in zip(_BANDS, (dl, d, du, b), (-1, -1, -1, -2 if matrix_rhs else -1)):
        if shape[axis] != n:
            raise ValueError(
                f"{name} has {shape[axis]} rows per system, d has {n}; all bands have n rows, "
                "dl[..., 0] and du[..., -1] are not read"
            )


def _bands(values: Any, options: Any) -> Any:
    matrix_rhs = options[4]
    found = prepare(_BANDS, values, _band_cores(options))
    dl, d, du, b = (a.shape for a in found[4])
    check_rows(dl, d, du, b, matrix_rhs)
    return found


def _band_cores(options: Any) -> tuple[int, ...]:
    return 1, 1, 1, 2 if options[4] else 1


def _band_plan(shapes: Any, kind: str, device: int, stream: int, batch: Any, options: Any, waits: int) -> Any:
    periodic, method, variant, transposed, matrix_rhs, _, tol, cond = options
    nrhs = shapes[3][-1] if matrix_rhs else 1
    return plan(_TRIDIAG, device, stream, shapes[1][-1], _size(batch), nrhs or 1, TYPES[kind], method, variant,
                int(periodic), int(transposed), tol, cond, waits, 1)  # fmt: skip


BANDS = _Solver(
    "tridiag", "solve_tridiagonal", _BANDS,
    ("periodic", "method", "variant", "transposed", "matrix_rhs", "rcond", "tol", "cond"),
    _band_cores, _bands, _band_plan,
)  # fmt: skip


def _complex_bands(
    error: TypeError, values: Any, options: Any, fields: int, device: Any, files: Any, waits: bool
) -> Any:
    """The same for complex numbers, which fewer options take."""
    from . import _band

    periodic, method, variant, transposed, matrix_rhs, _, tol, cond = options
    if periodic or transposed or variant or method not in ("auto", "lupp") or files is not None:
        name = error.args[0].split(":")[0]
        raise ValueError(f"{name} is complex: only matrix_rhs, rcond, tol, cond and device are there")
    return _band.solve(values, matrix_rhs, tol, cond, device, fields, waits)


def solve_tridiagonal_ex(
    dl: Any,
    d: Any,
    du: Any,
    b: Any,
    periodic: bool = False,
    *,
    method: str = "auto",
    variant: str | None = None,
    transposed: bool = False,
    matrix_rhs: bool = False,
    rcond: bool = False,
    tol: float = 0.0,
    cond: float = 0.0,
    device: Any = None,
    out: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> Result:
    """Solves tridiagonal systems in batches, with a verdict for every system. Never raises because of a system.

    dl, d, du and b are (..., n): row i is dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i]. dl[0] and du[n-1] are not
    read, except with periodic=True: then they belong to x[n-1] and x[0]. With matrix_rhs=True b is (..., n, k).
    transposed=True solves with the transposed matrices. rcond=True estimates the condition, at the cost of 4 to 10
    solves. device, and out to units for arrays in files: as in `solve_ex`.

    The arrays may be complex: then method, periodic, transposed and files are not there, and rcond costs nothing.

    >>> import numpy as np, shoal
    >>> dl, d, du = np.full(4, -1.0), np.full(4, 2.0), np.full(4, -1.0)
    >>> r = shoal.solve_tridiagonal_ex(dl, d, du, np.array([1.0, 0.0, 0.0, 1.0]), rcond=True)
    >>> r.x, bool(r.ok), round(float(r.rcond), 3)
    (array([1., 1., 1., 1.]), True, 0.083)
    """
    files = None if out is executor is checkpoint is units is None else (out, executor, checkpoint, units)
    options = (periodic, method, variant, transposed, matrix_rhs, rcond, tol, cond)
    fields = _VERDICT | RCOND if rcond else _VERDICT
    try:
        result: Result = BANDS.call((dl, d, du, b), options, fields, device, files, False)
    except ComplexError as error:
        result = _complex_bands(error, (dl, d, du, b), options, fields, device, files, False)
    return result


def solve_tridiagonal(
    dl: Any,
    d: Any,
    du: Any,
    b: Any,
    periodic: bool = False,
    *,
    transposed: bool = False,
    matrix_rhs: bool = False,
    device: Any = None,
    out: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> Any:
    """Solves tridiagonal systems in batches. Raises LinAlgError, which names the first system without an answer.

    The arguments are those of `solve_tridiagonal_ex`.

    >>> import numpy as np, shoal
    >>> dl, d, du = np.full((2, 3), -1.0), np.full((2, 3), 4.0), np.full((2, 3), -1.0)
    >>> shoal.solve_tridiagonal(dl, d, du, np.array([3.0, 2.0, 3.0]))
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    files = None if out is executor is checkpoint is units is None else (out, executor, checkpoint, units)
    options = (periodic, "auto", None, transposed, matrix_rhs, False, 0.0, 0.0)
    fields = STATUS if files is None else _VERDICT
    try:
        return BANDS.call((dl, d, du, b), options, fields, device, files, True)
    except ComplexError as error:
        return _complex_bands(error, (dl, d, du, b), options, fields, device, files, True)


class TridiagonalPlan:
    """A plan for tridiagonal systems of one shape: plan once, solve often. A solve allocates nothing and can be captured
    in a CUDA graph.

    n unknowns per system, count systems; nrhs right-hand sides if b is (count, n, nrhs). device: "cpu", "cuda" or
    "cuda:1". `close` frees its memory, as the end of a with-block does.

    >>> import numpy as np, shoal
    >>> with shoal.TridiagonalPlan(3, 2) as plan:
    ...     dl, d, du = (np.full((2, 3), v) for v in (-1.0, 4.0, -1.0))
    ...     x = np.empty((2, 3))
    ...     plan.solve(dl, d, du, np.array([[3.0, 2.0, 3.0]] * 2), out=x)
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    def __init__(
        self,
        n: int,
        count: int,
        dtype: Any = "float64",
        device: str = "cpu",
        *,
        nrhs: int | None = None,
        method: str = "auto",
        periodic: bool = False,
        transposed: bool = False,
    ) -> None:
        self._kind, self._device = dtype_name(dtype), device_number(device)
        self._bands = (whole("count", count), whole("n", n))
        self._shape = self._bands if nrhs is None else (*self._bands, whole("nrhs", nrhs))
        words: dict[str, Any] = {"nrhs": nrhs, "method": method, "periodic": periodic, "transposed": transposed}
        self._made_by = partial(TridiagonalPlan, **words), (n, count, dtype, device)
        self._shapes = (self._bands, self._bands, self._bands, self._shape)
        self._plan = new_plan(_TRIDIAG, self._device, self._bands[1], self._bands[0], 1 if nrhs is None else nrhs,
                              TYPES[self._kind], method, None, int(periodic), int(transposed), 0.0, 0.0, 0)  # fmt: skip

    def solve(self, dl: Any, d: Any, du: Any, b: Any, *, out: Any = None) -> Any:
        """Solves; `out` receives x and is returned. Arrays are used in place: they must have the plan's shape, type and
        device, and be contiguous. out may be b.

        >>> import numpy as np, shoal
        >>> zero, b = np.zeros((1, 1)), np.array([[2.0]])
        >>> shoal.TridiagonalPlan(1, 1).solve(zero, np.array([[4.0]]), zero, b, out=b)
        array([[0.5]])
        """
        values = (dl, d, du, b)
        found = _core.tridiag_in_place(self._plan, self._device, self._bands, self._shape, values, out)
        if found is not None:
            return found
        door, arrays = self._takes(values)
        library = door.library
        if out is None:
            x = library.empty(self._shape, self._kind, self._device)
        else:
            check_out(door, self._device, out, self._shape, self._kind)
            x = door_of(out, "out").take(out, "out")
            check_overlap(library, x, arrays, _BANDS, 3)
        p = library.pointer
        _core.tridiag_solve(self._plan, library.stream(self._device), 0, 0, *map(p, arrays), p(x))
        return out if out is not None else door.give(x)

    def _takes(self, values: Any) -> tuple[Door, Any]:
        """The arrays, which must be the plan's in shape, type and device."""
        door, device, arrays = takes(_BANDS, values)
        library = door.library
        if device != self._device:
            raise ValueError("the arrays are on another device than the plan: move them, or make another plan")
        for name, a, shape in zip(_BANDS, arrays, self._shapes):
            if tuple(a.shape) != shape:
                raise ValueError(f"{name} has shape {tuple(a.shape)}; the plan was made for {shape}")
            if library.dtype(a) != self._kind:
                raise TypeError(f"{name} has {library.dtype(a)} numbers; the plan was made for {self._kind}")
            if not library.is_ready(a):
                raise ValueError(f"{name} is not C-contiguous: a plan uses arrays in place; copy it first")
        return door, arrays

    def info(self) -> dict[str, Any]:
        """Waits for the last solve and sums it up: how many systems failed, and by which method.

        >>> import shoal
        >>> shoal.TridiagonalPlan(3, 2).info()["failed"]
        0
        """
        result: dict[str, Any] = _core.tridiag_last(self._plan)
        return result

    def close(self) -> None:
        """Frees the plan's memory; later solves raise ValueError.

        >>> import shoal
        >>> shoal.TridiagonalPlan(3, 2).close()
        """
        self._plan.close()

    def __reduce__(self) -> Any:
        """A copy, in this process or another one, is a new plan for the same systems."""
        return self._made_by

    def __enter__(self) -> TridiagonalPlan:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<shoal.TridiagonalPlan: {self._bands[0]} systems of {self._bands[1]} unknowns, {self._kind}>"


# ---- recurrences ------------------------------------------------------------------------------------


def recurrence(
    s: Any, t: Any, w0: Any = None, *, reverse: bool = False, order: int = 1, method: str = "auto", device: Any = None
) -> Any:
    """Linear recurrences w[i] = s[i] w[i-1] + t[i] along the last axis, in batches. Returns w, of the shape of t.

    s and t are (..., n) and w0, the value before the first row, is (...); without it, it is 0. Of a higher order
    (up to 4) s is (..., n, order), the coefficient of w[i-1] first, and w0 is (..., order), w[-1] first. reverse=True
    runs from the last row to the first. device: as in `solve_ex`. Raises LinAlgError if a segment overflows or has a
    number that is not finite.

    >>> import numpy as np, shoal
    >>> shoal.recurrence(np.full(4, 0.5), np.ones(4), 0.0)
    array([1.   , 1.5  , 1.75 , 1.875])
    """
    module = _autograd(s, t, w0, device=device)
    if module is not None:
        return module.recurrence(s, t, w0, reverse=reverse, order=order, method=method)
    if isinstance(order, bool) or order not in (1, 2, 3, 4):
        raise ValueError(f"order is {order!r}; it must be 1 to 4")
    order = int(order)
    names, values, cores = ["s", "t"], [s, t], [1 if order == 1 else 2, 1]
    if w0 is not None:
        names, values, cores = [*names, "w0"], [*values, w0], [*cores, 0 if order == 1 else 1]
    door, number, kind, batch, arrays = prepare(names, values, cores)
    device = placed(number, device)
    n = arrays[1].shape[-1]
    rows = (n,) if order == 1 else (n, order)
    if tuple(arrays[0].shape[len(batch) :]) != rows:
        raise ValueError(f"s has shape {tuple(arrays[0].shape)}; its last dimensions must be {rows}, as t has n = {n}")
    if w0 is not None and order > 1 and arrays[2].shape[-1] != order:
        raise ValueError(f"w0 has {arrays[2].shape[-1]} numbers per segment; it must have {order}, the order")
    library = door.library
    work = plan(_RECUR, device, library.stream(device), n, _size(batch), order, int(reverse), TYPES[kind], method, None)
    w = library.empty(arrays[1].shape, kind, device)
    first = 0 if w0 is None else arrays[2]
    _judged("recur", "solve", work, door, device, batch, STATUS, (arrays[0], arrays[1], first, w))
    return door.give(w)


# ---- eigenpairs, regressions, factors ---------------------------------------------------------------


class EighResult(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors, one per column.

    >>> import shoal
    >>> shoal.eigh([[2.0]]).eigenvalues
    array([2.])
    """

    eigenvalues: Any
    eigenvectors: Any


def _symmetric(A: Any) -> tuple[Door, int, str, tuple[int, ...], Any, int]:
    door, device, kind, batch, (A,) = prepare(("A",), (A,), (2,))
    if A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A has shape {tuple(A.shape)}; its last two dimensions must be equal")
    return door, device, kind, batch, A, A.shape[-1]


def eigh(A: Any, *, triangle: str = "lower", device: Any = None) -> EighResult:
    """Eigenvalues (..., n), ascending, and eigenvectors (..., n, n), in columns, of symmetric matrices in batches.

    device: as in `solve_ex`. Raises LinAlgError, which names the first matrix without an answer.

    >>> import numpy as np, shoal
    >>> w, V = shoal.eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> w.round(12)
    array([1., 3.])
    """
    module = _autograd(A, device=device)
    if module is not None:
        found: EighResult = module.eigh(A, triangle=triangle)
        return found
    door, number, kind, batch, A, n = _symmetric(A)
    device = placed(number, device)
    library = door.library
    work = plan(_SMALLSYM, device, library.stream(device), n, _size(batch), 1, TYPES[kind], "eigdc", None,
                _triangle(triangle), 0, 0, 0.0, 0.0, 0, 0)  # fmt: skip
    w, V = library.empty((*batch, n), kind, device), library.empty((*batch, n, n), kind, device)
    _judged("smallsym", "eig", work, door, device, batch, STATUS, (A, w, V))
    return EighResult(door.give(w), door.give(V))


def lstsq(psi: Any, y: Any, method: str = "auto", *, device: Any = None) -> Any:
    """Least squares in batches: the beta (..., n) that minimises |psi beta - y| for psi (..., M, n) and y (M,) or
    (..., M, k).

    The normal equations are formed on the way and never stored; columns that depend on each other, or fewer samples than
    unknowns, give the solution of least norm. device: as in `solve_ex`. Raises LinAlgError, which names the first
    regression without an answer.

    >>> import numpy as np, shoal
    >>> psi = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> shoal.lstsq(psi, np.array([1.0, 3.0, 5.0])).round(12)
    array([1., 2.])
    """
    if not hasattr(y, "ndim"):
        y = door_of(y, "y").take(y, "y")
    vector = y.ndim == 1
    if y.ndim == 0:
        raise ValueError("y has no dimensions; it must be (M,) or (..., M, k)")
    door, number, kind, batch, (psi, y) = prepare(("psi", "y"), (psi, y), (2, 1 if vector else 2))
    device = placed(number, device)
    samples, n = psi.shape[-2:]
    if y.shape[-1 if vector else -2] != samples:
        hint = "" if vector or y.shape[-1] != samples else "; for one vector per regression pass y[..., None]"
        raise ValueError(f"y has {y.shape[-1 if vector else -2]} samples, psi has {samples}{hint}")
    if samples == 0:
        raise ValueError("psi has no samples: its dimension M is 0; it must be at least 1")
    nrhs = 1 if vector else y.shape[-1]
    library = door.library
    x = library.empty((*batch, n) if vector else (*batch, n, nrhs), kind, device)
    if nrhs:
        work = plan(_SMALLSYM, device, library.stream(device), n, _size(batch), nrhs, TYPES[kind], method, None, 0, 0, 0,
                    0.0, 0.0, 1, 1)  # fmt: skip
        _judged("smallsym", "gram", work, door, device, batch, STATUS, (samples, psi, y, x))
    return door.give(x)


class Factor:
    """The factors L D L^T of symmetric matrices, kept for solves. Made by `factor`.

    >>> import shoal
    >>> shoal.factor([[4.0]])
    <shoal.Factor: 1 matrix of order 1, float64>
    """

    def __init__(self, A: Any, where: Any = None) -> None:
        door, number, kind, batch, A, n = _symmetric(A)
        device = placed(number, where)
        self._door, self._device, self._kind, self._batch, self._n = door, device, kind, batch, n
        self._number = number  # the device of the arrays
        self._L, fields = door.library.empty(A.shape, kind, device), STATUS | RCOND
        block = _judged("smallsym", "factor", self._plan(1), door, device, batch, fields, (A, self._L), False)
        self._verdict = Result(self._L, "smallsym", door, block, fields, batch)

    def _plan(self, nrhs: int) -> Any:
        stream = self._door.library.stream(self._device)
        return plan(_SMALLSYM, self._device, stream, self._n, _size(self._batch), nrhs, TYPES[self._kind], "ldlt", None,
                    0, 0, 0, 0.0, 0.0, 0, 0)  # fmt: skip

    @property
    def status(self) -> Any:
        """The verdict of each factorization, as in `Result`."""
        return self._verdict.status

    @property
    def rcond(self) -> Any:
        """A bound of the reciprocal condition number, from the pivots."""
        return self._verdict.rcond

    def raise_for_status(self) -> Factor:
        """Raises LinAlgError that names the first matrix without factors; returns self if there is none.

        >>> import shoal
        >>> shoal.factor([[4.0]]).raise_for_status().solve([2.0])
        array([0.5])
        """
        self._verdict.raise_for_status()
        return self

    def solve(self, b: Any) -> Any:
        """x for right-hand sides b, (n,) or (..., n, k) with the batch of A. NaN where the factorization failed.

        >>> import numpy as np, shoal
        >>> shoal.factor(np.array([[4.0, 2.0], [2.0, 3.0]])).solve(np.array([[8.0, 4.0], [8.0, 2.0]]))
        array([[1., 1.],
               [2., 0.]])
        """
        door, library = door_of(b, "b"), self._door.library
        if door.library is not library:
            raise TypeError(f"b is an array of {door.library.name}, A of {library.name}: convert one of them")
        b = door.take(b, "b")
        if b.ndim == 0:
            raise ValueError("b has no dimensions; it must be (n,) or (..., n, k)")
        if library.device(b) != self._number:
            raise ValueError("b is on another device than A: move it there")
        common_type(library, ("b",), (b,))
        core = 1 if b.ndim == 1 else 2
        if b.shape[-core] != self._n:
            raise ValueError(f"b has {b.shape[-core]} rows per system, A has {self._n}")
        shape = self._batch + tuple(b.shape[b.ndim - core :])
        try:
            b = library.convert(b, self._kind, shape)
        except (ValueError, RuntimeError):
            raise ValueError(f"b has shape {tuple(b.shape)}, which does not broadcast to {shape}") from None
        x = library.empty(shape, self._kind, self._device)
        nrhs = 1 if core == 1 else shape[-1]
        if nrhs:
            pointer = library.pointer
            _core.smallsym_resolve(
                self._plan(nrhs), library.stream(self._device), 0, 0, pointer(self._L), pointer(b), pointer(x)
            )
        return door.give(x)

    def __repr__(self) -> str:
        count = _size(self._batch)
        return f"<shoal.Factor: {count} {'matrix' if count == 1 else 'matrices'} of order {self._n}, {self._kind}>"


def factor(A: Any, *, device: Any = None) -> Factor:
    """Factors symmetric matrices A (..., n, n) as L D L^T without pivoting, for many solves with the same matrices.

    For positive definite matrices. `Factor.status` is below 0 for a matrix without factors.
    `symmetric_indefinite` pivots. device: as in `solve_ex`; the factors are in the memory of A, and `Factor.solve`
    sends them through the GPU again.

    >>> import numpy as np, shoal
    >>> f = shoal.factor(np.array([[4.0, 2.0], [2.0, 3.0]]))
    >>> f.solve(np.array([8.0, 8.0]))
    array([1., 2.])
    """
    return Factor(A, device)


# ---- one dense symmetric matrix ---------------------------------------------------------------------


class SymmetricIndefinite:
    """P A P^T = M D M^T of one symmetric matrix, D with blocks of order 1 and 2. Made by `symmetric_indefinite`.

    Attributes: `rank`; `inertia`, the numbers of positive, negative and zero eigenvalues; `permutation`: row i of M is
    row permutation[i] of A; `log_abs_det`, `sign_det`; `info`, all results of the library.

    >>> import shoal
    >>> shoal.symmetric_indefinite([[0.0, 1.0], [1.0, 0.0]])
    <shoal.SymmetricIndefinite: order 2, rank 2, inertia (1, 1, 0)>
    """

    def __init__(self, A: Any, pivot: str, tol: float, alpha: float, growth: bool) -> None:
        door, device, kind, batch, A, n = _symmetric(A)
        if batch:
            raise ValueError(f"A has shape {tuple(A.shape)}; it must be one matrix (n, n): solve_ex takes batches")
        self._door, self._device, self._n, self._kind = door, device, n, kind
        self._plan, self._A, self.info = self._factored(A, pivot, alpha, tol, growth)
        status = self.info["status"]
        if status < 0:
            raise LinAlgError(f"A has no factors: {_core.system_text(status)} (status {status})", (), status)
        self.rank: int = self.info["rank"]
        self._whole = self._copied(A) if self.rank < n and not tol > 0 else None  # for eigh()
        self.inertia: tuple[int, int, int] = tuple(self.info["inertia"])
        self.log_abs_det: float = self.info["log_abs_det"]
        self.sign_det: int = self.info["sign_det"]
        order = np.empty((2, n), np.int32)
        _core.symindef_order(self._plan, 0, 0, 0, order[0], order[1], 0)
        self.permutation = order[1].copy()
        self._interchanges = order[0]

    def _copied(self, A: Any) -> Any:
        library = self._door.library
        found = library.convert(A, self._kind)
        if found is A or library.address(found) == library.address(A):
            found = A.clone() if library.name == "torch" else A.copy()
        return found

    def _factored(self, A: Any, pivot: str, alpha: float, tol: float, growth: bool) -> tuple[Any, Any, dict[str, Any]]:
        """A plan, its factors of a copy of A, and what it reports."""
        library, device = self._door.library, self._device
        made = new_plan(_SYMINDEF, device, self._n, TYPES[self._kind], pivot, alpha, tol, int(growth))
        factors = self._copied(A)
        _core.symindef_factor(made, library.stream(device), 0, 0, library.pointer(factors))
        return made, factors, _core.symindef_last(made)

    def _call(self, function: Any, *arguments: Any) -> None:
        function(self._plan, self._door.library.stream(self._device), 0, 0, *arguments)

    def solve(self, b: Any) -> Any:
        """x for b (n,) or (n, k). Raises LinAlgError if A is singular.

        >>> import numpy as np, shoal
        >>> shoal.symmetric_indefinite(np.array([[0.0, 1.0], [1.0, 0.0]])).solve(np.array([2.0, 3.0]))
        array([3., 2.])
        """
        if self.rank < self._n:
            raise LinAlgError(f"A is singular: its rank is {self.rank} of {self._n}", (), -3)
        door, device, _, _, (b,) = prepare(("b",), (b,), (1,))
        if door.library is not self._door.library or device != self._device:
            raise TypeError("b must be an array of the same library and device as A")
        if b.ndim > 2 or b.shape[0] != self._n:
            raise ValueError(f"b has shape {tuple(b.shape)}; it must be ({self._n},) or ({self._n}, k)")
        library = door.library
        b = library.convert(b, self._kind)
        x = library.empty(b.shape, self._kind, device)
        nrhs = 1 if b.ndim == 1 else b.shape[1]
        if nrhs:
            pointer = library.pointer
            self._call(_core.symindef_solve, pointer(self._A), nrhs, pointer(b), pointer(x))
        return door.give(x)

    def inverse(self) -> Any:
        """The inverse of A. Raises LinAlgError if A is singular.

        >>> import numpy as np, shoal
        >>> shoal.symmetric_indefinite(np.array([[2.0]])).inverse()
        array([[0.5]])
        """
        if self.rank < self._n:
            raise LinAlgError(f"A is singular: its rank is {self.rank} of {self._n}", (), -3)
        library = self._door.library
        result = library.empty((self._n, self._n), self._kind, self._device)
        self._call(_core.symindef_inverse, library.pointer(self._A), library.pointer(result))
        return self._door.give(result)

    @property
    def rcond(self) -> float:
        """An estimate of the reciprocal condition number in the 1-norm."""
        result = np.zeros(1)
        self._call(_core.symindef_rcond, self._door.library.pointer(self._A), result)
        return float(result[0])

    def eigh(self, vectors: bool = True) -> Any:
        """(w, V), or w without `vectors`: all eigenvalues, ascending, and eigenvectors, V[:, k] of w[k], by J-orthogonal
        Jacobi on the factors. Pivots that a given `tol` has dropped are eigenvalues 0. Those that the default has dropped
        are found from factors without a tolerance: with pivot "complete" small eigenvalues of a graded matrix keep
        their relative accuracy.

        >>> import numpy as np, shoal
        >>> shoal.symmetric_indefinite(np.array([[1e20, 1.0], [1.0, -1e-20]])).eigh(vectors=False)
        array([-2.e-20,  1.e+20])
        """
        library = self._door.library
        w = library.empty((self._n,), self._kind, self._device)
        V = library.empty((self._n, self._n), self._kind, self._device) if vectors else None
        found = np.zeros(4, np.int64)  # shoal_symindef_eig_info: its first member is the status
        pointer, made, factors = library.pointer, self._plan, self._A
        if self._whole is not None:
            tiny = float(np.finfo(self._kind).tiny)
            made, factors, _ = self._factored(self._whole, self.info["method"], self.info["alpha"], tiny, False)
        _core.symindef_eig(
            made, library.stream(self._device), 0, 0, pointer(factors), pointer(w), pointer(V) if vectors else 0, found
        )
        status = int(found.view(np.int32)[0])
        if status < 0:
            raise LinAlgError(f"A has no eigenpairs: {_core.system_text(status)} (status {status})", (), status)
        return (self._door.give(w), self._door.give(V)) if vectors else self._door.give(w)

    def __reduce__(self) -> Any:
        raise TypeError("a SymmetricIndefinite cannot be copied or pickled: keep A and factor it again")

    def ldl(self) -> tuple[Any, Any, Any]:
        """(M, D, permutation) as arrays of numpy: A[permutation][:, permutation] = M D M^T.

        >>> import numpy as np, shoal
        >>> A = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> M, D, p = shoal.symmetric_indefinite(A).ldl()
        >>> bool(np.allclose(M @ D @ M.T, A[p][:, p]))
        True
        """
        kept = np.tril(self._door.library.host(self._A))
        M, D = np.tril(kept, -1) + np.eye(self._n, dtype=kept.dtype), np.diag(np.diag(kept))
        for k in np.flatnonzero(self._interchanges < 0):  # the second row of a block of order 2
            D[k, k - 1] = D[k - 1, k] = kept[k, k - 1]
            M[k, k - 1] = 0
        return M, D, self.permutation

    def __repr__(self) -> str:
        return f"<shoal.SymmetricIndefinite: order {self._n}, rank {self.rank}, inertia {self.inertia}>"


def symmetric_indefinite(
    A: Any,
    pivot: str = "complete",
    *,
    tol: float = 0.0,
    alpha: float = 0.0,
    growth: bool = False,
    progress: bool = False,
) -> SymmetricIndefinite:
    """Factors one dense symmetric matrix, indefinite or of any rank, with pivoting: rank, inertia, solves, the factors.

    pivot: "complete", "partial" or "rook". The lower triangle is read. tol: entries up to this size are no pivots, 0 for
    the default, epsilon times the largest entry.

    >>> import numpy as np, shoal
    >>> P = shoal.symmetric_indefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> P.inertia, P.rank, P.solve(np.array([3.0, 3.0]))
    ((1, 1, 0), 2, array([1., 1.]))
    """
    from ._progress import progress as shown

    if pivot not in (words := _core.methods("symindef")):
        raise ValueError(f"pivot is {pivot!r}; it must be one of {', '.join(words)}")
    with shown("symmetric_indefinite", progress):
        return SymmetricIndefinite(A, pivot, tol, alpha, growth)
