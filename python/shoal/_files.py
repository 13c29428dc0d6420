# SPDX-License-Identifier: Apache-2.0
"""Systems in files: batches larger than the memory, piece by piece, here or on the workers of an executor.

A unit is the answers and verdicts of some systems. A worker maps the files and reads the systems of its unit; only the
caller writes answers.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np

from . import _core, _linalg, _runtime
from ._arrays import NUMPY, Numpy, check_out, common_type
from ._devices import device_number
from ._results import WIDTHS, Result
from ._units import Job, Units, gather, job_of

_PIECE = 1 << 26  # bytes of the files that a unit reads


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


# ---- arrays in files --------------------------------------------------------------------------------


def _mapped(name: str, value: Any) -> Any:
    """The map of a file; an array in memory stays as it is."""
    if is_path(value):
        try:
            value = np.load(value, mmap_mode="r")
        except ValueError as error:
            raise ValueError(f"{name}: {os.fsdecode(value)} is no .npy file of numbers: {error}") from None
        if not isinstance(value, np.memmap):
            raise ValueError(f"{name} must be a .npy file: save it by numpy.save()")
    return value if isinstance(value, np.memmap) else np.asarray(value)


def _is_mapped(a: Any) -> bool:
    """Whether the numbers are those of a file: not so for results of arithmetic with maps, and for private ones."""
    return isinstance(a, np.memmap) and getattr(a, "_mmap", None) is not None and a.filename is not None and a.mode != "c"


def _described(name: str, a: Any, cores: int, is_batch: bool) -> dict[str, Any]:
    """Where the numbers are, one system per row; those of an array for all systems themselves."""
    if not is_batch:
        return {"numbers": a.ravel().tolist(), "dtype": a.dtype.str, "shape": a.shape}
    if a.flags.writeable:
        a.flush()
    lead = a.ndim - cores
    steps = [(n, step) for n, step in zip(a.shape[:lead], a.strides) if n != 1]
    if a.size and any(step != n * inner for (_, step), (n, inner) in zip(steps, steps[1:])):
        raise ValueError(f"{name} is a view whose leading dimensions are not contiguous: reshape the file's array")
    begin = np.frombuffer(a._mmap, np.uint8).__array_interface__["data"][0] if a.size else 0
    place = a.__array_interface__["data"][0] - begin if a.size else 0  # a view does not know it
    path = os.path.abspath(a.filename)
    about = os.stat(path)
    return {
        "file": path, "bytes": about.st_size, "time": about.st_mtime_ns, "dtype": a.dtype.str,
        "shape": (_linalg._size(a.shape[:lead]), *a.shape[lead:]),
        "strides": (steps[-1][1] if steps else 0, *a.strides[lead:]),
        "offset": a.offset - a.offset % mmap.ALLOCATIONGRANULARITY + place,
    }  # fmt: skip


def _opened(d: dict[str, Any]) -> Any:
    """The array in this process."""
    if "file" not in d:
        return np.array(d["numbers"], d["dtype"]).reshape(d["shape"])
    about = os.stat(d["file"])
    if (about.st_size, about.st_mtime_ns) != (d["bytes"], d["time"]):
        raise ValueError(f"{d['file']} is not the file that the caller described: its size or time is another one")
    return np.ndarray(d["shape"], d["dtype"], np.memmap(d["file"], np.uint8, "r"), d["offset"], d["strides"])


# ---- units ------------------------------------------------------------------------------------------


def _row_type(kind: str, shape: Any, fields: int) -> Any:
    return np.dtype([("x", kind, tuple(shape)), ("verdict", np.int32, (WIDTHS[fields],))])


def _rows_at(address: int, rows: int, row: Any) -> Any:
    return np.frombuffer((ctypes.c_char * (rows * row.itemsize)).from_address(address), row)


def units_of_files(job: Job, _: str, arguments: list[Any], size: int, text: bytes, take: Any = None) -> Any:
    module, described, options, row_of = arguments
    row = _row_type(*row_of)
    function: Any = {"smallsym": _linalg.solve_ex, "tridiag": _linalg.solve_tridiagonal_ex}[module]
    device = None if job.device < 0 else f"cuda:{job.device}"
    arrays: list[Any] = []

    def run(first: int, rows: int, address: int) -> None:
        if not arrays:
            arrays.extend((_opened(d), "file" in d) for d in described)
        here = [np.array(a[first : first + rows]) if is_file else a for a, is_file in arrays]
        before = _runtime.watch(None)  # units are what the caller sees
        try:
            r = function(*here, **options, device=device)
        finally:
            _runtime.watch(before)
        to = _rows_at(address, rows, row)
        to["x"], to["verdict"] = r.x, r._block.reshape(-1, rows).T

    on = _runtime.new_context(-1)
    on.progress = _runtime._local.progress
    return _core.units_of_python(on, "systems", size, row.itemsize, job.units, text, run, take)


def solve(
    module: str, names: tuple[str, ...], values: tuple[Any, ...], cores: tuple[int, ...], options: dict[str, Any],
    fields: int, device: Any, out: Any, how: Units,
) -> Result:  # fmt: skip
    """The arrays are maps of files or paths, or small: (n,) or (n, k) for all systems. The last one is b."""
    arrays = [_mapped(name, value) for name, value in zip(names, values)]
    common_type(Numpy, names, arrays)
    cores = tuple(min(core, a.ndim) if name == "b" else core for name, a, core in zip(names, arrays, cores))
    mapped = [a for a in arrays if _is_mapped(a)]
    batches = {}
    for name, a, core in zip(names, arrays, cores):
        if a.ndim < core:
            raise ValueError(f"{name} has {a.ndim} dimensions; it must have at least {core}")
        if not mapped or (a.ndim > core and not _is_mapped(a)):
            raise ValueError(
                f"{name} is in memory; executor, checkpoint and out are for arrays in files: pass a numpy.memmap or the "
                "path of a .npy file"
            )
        if a.ndim > core:
            batches[name] = a.shape[: a.ndim - core]
    if len(set(batches.values())) > 1:
        seen = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise ValueError(f"arrays in files must have the same leading dimensions: {seen}")
    batch = next(iter(batches.values()), ())
    count, shape = _linalg._size(batch), arrays[-1].shape[arrays[-1].ndim - cores[-1] :]
    if module == "smallsym":
        _linalg.check_square(arrays[0].shape, shape)
    else:
        dl, d, du, b = (a.shape for a in arrays)
        _linalg.check_rows(dl, d, du, b, options["matrix_rhs"])
    if 0 in shape:
        raise ValueError(f"b has shape {arrays[-1].shape}: the systems have no unknowns or no right-hand sides")
    kind = common_type(Numpy, names, arrays)
    row_of = [kind, shape, fields]
    described = [_described(name, a, core, name in batches) for name, a, core in zip(names, arrays, cores)]
    number = device_number("cpu" if device is None else device)
    units = how.units
    if units is None:
        read = sum(a.nbytes for name, a in zip(names, arrays) if name in batches)
        units = max(1, min(-(-read // _PIECE), count, _core.units_most))
    x = _room(out, mapped, (*batch, *shape), kind)
    flat = x.reshape(count, *shape)
    block = np.empty((WIDTHS[fields], count), np.int32)

    def take(first: int, rows: int, address: int) -> None:
        found = _rows_at(address, rows, _row_type(*row_of))
        flat[first : first + rows], block[:, first : first + rows] = found["x"], found["verdict"].T

    gather(job_of("files", [module, described, options, row_of], count, [number], units), how, take)
    if isinstance(x, np.memmap):
        x.flush()
    return Result(x, module, NUMPY, block.reshape(-1), fields, batch)


def _room(out: Any, inputs: list[Any], shape: tuple[int, ...], kind: str) -> Any:
    """The array for the answers: a new one, that of the caller, or that of a new file."""
    if out is None:
        return np.empty(shape, kind)
    path = out if is_path(out) else out.filename if _is_mapped(out) else None
    for a in inputs:
        if path is not None and os.path.exists(path) and os.path.samefile(path, a.filename):
            raise ValueError(f"out is the file of an input, {os.fsdecode(path)}: choose another one")
    if is_path(out):
        return np.lib.format.open_memmap(os.fsdecode(out), "w+", kind, shape)
    check_out(NUMPY, -1, out, shape, kind)
    if not out.flags.writeable:
        raise ValueError("out is read-only: pass an array that can be written to")
    return out
