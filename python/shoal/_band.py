# SPDX-License-Identifier: Apache-2.0
"""Pentadiagonal systems, and complex tridiagonal ones, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import WHOLE, bad_type, batch_of, takes
from ._devices import placed
from ._linalg import _VERDICT, _autograd, _judged, _size
from ._results import RCOND, STATUS, Result
from ._runtime import Kind, plan

_BAND = Kind(_core.band, "n", "count", "nrhs", "type", "width", "is_complex", "tol", "cond")
_NAMES = ("dl2", "dl", "d", "du", "du2", "b")
_SINGLE, _DOUBLE = ("float32", "complex64"), ("float64", "complex128")


def _type_of(library: Any, names: Any, arrays: Any) -> str:
    """The numbers of x: complex if one array is, single if all are."""
    kinds = [library.dtype(a) for a in arrays]
    for name, kind in zip(names, kinds):
        if kind not in _SINGLE and kind not in _DOUBLE and kind not in WHOLE:
            raise bad_type(name, kind)
    single = all(kind in _SINGLE for kind in kinds)
    return (_SINGLE if single else _DOUBLE)[any(kind.startswith("complex") for kind in kinds)]


def solve(values: Any, matrix_rhs: bool, tol: float, cond: float, device: Any, fields: int, waits: bool) -> Any:
    """The result for diagonals and b, six arrays or, tridiagonal, four; x if the call `waits`."""
    names = _NAMES if len(values) == len(_NAMES) else _NAMES[1:4] + _NAMES[5:]
    if _autograd(*values, device=device) is not None:
        raise TypeError("pentadiagonal and complex systems have no gradients: pass arrays without")
    door, number, arrays = takes(names, values)
    library, number = door.library, placed(number, device)
    cores = (1,) * (len(arrays) - 1) + (2 if matrix_rhs else 1,)
    shapes = [tuple(a.shape) for a in arrays]
    batch = batch_of(names, shapes, cores)
    n = shapes[0][-1]
    for name, shape, axis in zip(names, shapes, (-1,) * (len(arrays) - 1) + (-2 if matrix_rhs else -1,)):
        if shape[axis] != n:
            raise ValueError(
                f"{name} has {shape[axis]} rows per system, {names[0]} has {n}; all diagonals have n rows, "
                "entries outside the matrix are not read"
            )
    nrhs = shapes[-1][-1] if matrix_rhs else 1
    kind = _type_of(library, names, arrays)
    arrays = [library.convert(a, kind, batch + s[len(s) - c :]) for a, s, c in zip(arrays, shapes, cores)]
    if nrhs == 0:  # nothing to answer, and no system to judge
        batch = (0, *batch[1:])
    x = library.empty(arrays[-1].shape, kind, number)
    work = plan(_BAND, number, library.stream(number), n, _size(batch), nrhs or 1, int(kind in _SINGLE),
                len(arrays) // 2 - 1, int(kind.startswith("complex")), tol, cond)  # fmt: skip
    diagonals = arrays[:-1] if len(arrays) == len(_NAMES) else [0, *arrays[:-1], 0]
    block = _judged("band", "solve", work, door, number, batch, fields, (*diagonals, arrays[-1], x), waits)
    return door.give(x) if waits else Result(door.give(x), "band", door, block, fields, batch)


def solve_pentadiagonal_ex(
    dl2: Any,
    dl: Any,
    d: Any,
    du: Any,
    du2: Any,
    b: Any,
    *,
    matrix_rhs: bool = False,
    tol: float = 0.0,
    cond: float = 0.0,
    device: Any = None,
) -> Result:
    """Solves pentadiagonal systems in batches, with a verdict for every system. Never raises because of a system.

    The arrays are (..., n), real or complex: row i is dl2[i] x[i-2] + dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] +
    du2[i] x[i+2] = b[i]. Entries outside the matrix are not read. With matrix_rhs=True b is (..., n, k). Leading
    dimensions broadcast. `rcond` is the estimate that the status is decided by. device: as in `solve_ex`.

    >>> import numpy as np, shoal
    >>> one = np.ones(5)
    >>> r = shoal.solve_pentadiagonal_ex(one, -4 * one, 6 * one, -4 * one, one, one)
    >>> r.x.round(2), bool(r.ok)
    (array([2.5, 5. , 6. , 5. , 2.5]), True)
    """
    fields = _VERDICT | RCOND
    result: Result = solve((dl2, dl, d, du, du2, b), matrix_rhs, tol, cond, device, fields, False)
    return result


def solve_pentadiagonal(
    dl2: Any, dl: Any, d: Any, du: Any, du2: Any, b: Any, *, matrix_rhs: bool = False, device: Any = None
) -> Any:
    """Solves pentadiagonal systems in batches. Raises LinAlgError, which names the first system without an answer.

    The arguments are those of `solve_pentadiagonal_ex`.

    >>> import numpy as np, shoal
    >>> one, d = np.ones((2, 3)), np.full((2, 3), 4.0)
    >>> shoal.solve_pentadiagonal(one, one, d, one, one, np.array([6.0, 6.0, 6.0]))
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    return solve((dl2, dl, d, du, du2, b), matrix_rhs, 0.0, 0.0, device, STATUS, True)
