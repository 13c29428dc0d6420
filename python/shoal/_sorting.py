# SPDX-License-Identifier: Apache-2.0
"""Sorting rows and merging sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import takes
from ._devices import placed
from ._linalg import _autograd, _size
from ._runtime import Kind, plan

_KEYS = {"uint32": 0, "int32": 1, "uint64": 2, "int64": 3, "float32": 4, "float64": 5}
_SORT = Kind(_core.sort, "n", "count", "key", "value_bytes", "index", "descending")
_MERGE = Kind(_core.merge, "na", "nb", "count", "key", "descending")


def _rows(names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, int, str, list[Any]]:
    door, device, arrays = takes(names, values)
    library = door.library
    for name, a in zip(names, arrays):
        if a.ndim == 0:
            raise ValueError(f"{name} has no dimensions; it must have rows along its last axis")
        if library.dtype(a) not in _KEYS:
            raise TypeError(
                f"{name}: {library.dtype(a)} keys are not supported; convert them to one of {', '.join(_KEYS)}"
            )
    return door, device, library.dtype(arrays[0]), arrays


def sort(keys: Any, return_index: bool = False, *, descending: bool = False, device: Any = None) -> Any:
    """Sorts every row (the last axis) of keys: 32 or 64 bits, whole or floating point. Stable.

    With return_index=True returns (sorted, index), index of int64: the old places of the keys in their rows. Floating
    point numbers have IEEE's total order, with NaN last. device: as in `solve_ex`.

    >>> import numpy as np, shoal
    >>> shoal.sort(np.array([[3, 1, 2], [6, 5, 4]]))
    array([[1, 2, 3],
           [4, 5, 6]])
    >>> shoal.sort(np.array([0.3, 0.1, 0.2]), return_index=True)[1]
    array([1, 2, 0])
    """
    module = _autograd(keys, device=device)
    if module is not None:
        return module.sort(keys, return_index, descending=descending)
    door, number, kind, (a,) = _rows(("keys",), (keys,))
    device = placed(number, device)
    library = door.library
    if not library.is_ready(a):
        a = library.convert(a, kind)
    n, count = a.shape[-1], _size(tuple(a.shape[:-1]))
    if n == 0:  # rows without keys
        count = 0
    stream = library.stream(device)
    work = plan(_SORT, device, stream, n, count, _KEYS[kind], 8 if return_index else 0, int(return_index),
                int(descending))  # fmt: skip
    result = library.empty(tuple(a.shape), kind, device)
    index = library.empty(tuple(a.shape), "int64", device) if return_index else None
    pointer = library.pointer
    _core.sort_run(
        work, stream, 0, 0, pointer(a), 0, pointer(result),
        pointer(index) if return_index else 0,
    )  # fmt: skip
    return (door.give(result), door.give(index)) if return_index else door.give(result)


def merge(a: Any, b: Any, *, descending: bool = False, device: Any = None) -> Any:
    """Merges sorted rows a (..., na) and b (..., nb) into sorted rows (..., na + nb). Equal keys of a come first.

    The leading dimensions broadcast. device: as in `solve_ex`. If a row is not sorted, its result is undefined.

    >>> import numpy as np, shoal
    >>> shoal.merge(np.array([1, 3, 5]), np.array([2, 4]))
    array([1, 2, 3, 4, 5])
    """
    door, number, kind, arrays = _rows(("a", "b"), (a, b))
    device = placed(number, device)
    library = door.library
    if library.dtype(arrays[1]) != kind:
        raise TypeError(f"a has {kind} keys, b has {library.dtype(arrays[1])}: convert one of them")
    batches = [tuple(v.shape[:-1]) for v in arrays]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"the leading dimensions do not broadcast: a {batches[0]}, b {batches[1]}") from None
    a, b = (library.convert(v, kind, batch + tuple(v.shape[-1:])) for v in arrays)
    na, nb, count = a.shape[-1], b.shape[-1], _size(batch)
    result = library.empty((*batch, na + nb), kind, device)
    if na + nb and count:
        stream = library.stream(device)
        work = plan(_MERGE, device, stream, na, nb, count, _KEYS[kind], int(descending))
        pointer = library.pointer
        _core.merge_run(
            work, stream, 0, 0, pointer(a), pointer(b), pointer(result), 0, 0, 0
        )
    return door.give(result)
