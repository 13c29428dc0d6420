# SPDX-License-Identifier: Apache-2.0
"""A verdict for every system: the result of a call, and the error that names the first failure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from ._arrays import Door

# The bits of a block of outcomes: name, type, numbers per system; the order is that of shoal_outcome in core.h.
_FIELDS = (
    ("status", "int32", 1),
    ("residual", "float32", 1),
    ("rcond", "float32", 1),
    ("rank", "int32", 1),
    ("inertia", "int32", 3),
    ("method", "int32", 1),
)
STATUS, RESIDUAL, RCOND, RANK, INERTIA, METHOD = (1 << i for i in range(6))
WIDTHS = [sum(w for i, (_, _, w) in enumerate(_FIELDS) if mask >> i & 1) for mask in range(64)]


def with_error(value: float, error: float) -> str:
    """The value with the digits that its error leaves: "0.1197 ± 0.0011"."""
    if not 0 < error < math.inf:
        return f"{value:.6g}"
    place = 1 - math.floor(math.log10(error))
    return " ± ".join(f"{round(x, place):.{max(place, 0)}f}" for x in (value, error))


class LinAlgError(np.linalg.LinAlgError):
    """A system without an answer. `index`: its place in the batch; `status`: the reason (`shoal.status_text`).

    >>> import shoal
    >>> try:
    ...     shoal.solve_tridiagonal([0.0], [0.0], [0.0], [1.0])
    ... except shoal.LinAlgError as error:
    ...     shoal.status_text(error.status)
    'singular'
    """

    def __init__(self, message: str, index: tuple[int, ...] = (), status: int = 0) -> None:
        super().__init__(message)
        self.index, self.status = index, status


class Result:
    """The result of a call: the answer `x` and a verdict for every system.

    Attributes are arrays of the library and device of the input, with the shape of the batch:

    - `x`: the answers; NaN for a system that failed
    - `status`: 0 answered; 1, 2, 3 answered with a warning; below 0 failed (`shoal.status_text`)
    - `residual`: the backward error of x in the maximum norm
    - `rcond`: the reciprocal condition number, or None if it was not computed
    - `rank`, `inertia`: where the method computes them, else None
    - `method`: the number of the method that answered, an index of `shoal.methods(r.module)`
    - `ok`, `warned`, `failed`: boolean masks, one of them true for every system

    >>> import numpy as np, shoal
    >>> r = shoal.solve_ex([[[2.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]], [3.0, 3.0], method="ldlt")
    >>> r.ok
    array([ True, False])
    >>> r.status
    array([ 0, -2], dtype=int32)
    """

    __slots__ = ("x", "module", "_door", "_room", "_fields", "_batch", "_first")

    def __init__(
        self, x: Any, module: str, door: Door, room: Any, fields: int, batch: tuple[int, ...], first: int = 0
    ) -> None:
        """room: an array of int32, or a _core.Room, with the outcomes from number `first` on."""
        self.x, self.module, self._door, self._room = x, module, door, room
        self._fields, self._batch, self._first = fields, batch, first

    def _numbers(self, first: int, count: int) -> Any:
        room = self._room  # another thread may replace it
        if type(room) is _core.Room:
            room = self._room = room.numbers()  # no other call may write there from now on
        return room[self._first + first : self._first + first + count]

    def __reduce__(self) -> Any:
        return Result, (self.x, self.module, self._door, self._block, self._fields, self._batch)

    @property
    def _block(self) -> Any:
        """The outcomes alone."""
        return self._numbers(0, WIDTHS[self._fields] * math.prod(self._batch))

    def _field(self, bit: int) -> Any:
        """In the library that worked on it."""
        name, dtype, width = _FIELDS[bit]
        if not self._fields >> bit & 1:
            return None
        count = math.prod(self._batch)
        row = self._numbers(WIDTHS[self._fields & ((1 << bit) - 1)] * count, width * count)
        if dtype != "int32":
            row = self._door.library.view(row, dtype)
        return row.reshape(self._batch + ((width,) if width > 1 else ()))

    def _given(self, bit: int) -> Any:
        row = self._field(bit)
        return None if row is None else self._door.give(row)

    status = property(lambda self: self._given(0), doc="0: answered; above 0: with a warning; below 0: failed.")
    residual = property(lambda self: self._given(1), doc="The backward error of x, in the maximum norm.")
    rcond = property(lambda self: self._given(2), doc="The reciprocal condition number, or None.")
    rank = property(lambda self: self._given(3), doc="The numerical rank, or None.")
    inertia = property(lambda self: self._given(4), doc="Positive, negative and zero eigenvalues, or None.")
    method = property(lambda self: self._given(5), doc="The number of the method that answered each system.")
    ok = property(lambda self: self._door.give(self._field(0) == 0), doc="Answered without a warning.")
    warned = property(lambda self: self._door.give(self._field(0) > 0), doc="Answered, with a warning.")
    failed = property(lambda self: self._door.give(self._field(0) < 0), doc="No answer.")

    @property
    def method_names(self) -> Any:
        """The name of the method that answered each system, as an array of numpy; "" for none."""
        names = np.array([*_core.methods(self.module), ""])
        return names[self._host(5)]

    def _host(self, bit: int) -> Any:
        return self._door.library.host(self._field(bit))

    def raise_for_status(self) -> Result:
        """Raises LinAlgError that names the first system that failed; returns self if none did.

        >>> import shoal
        >>> shoal.solve_ex([[2.0, 1.0], [1.0, 2.0]], [3.0, 3.0]).raise_for_status().x
        array([1., 1.])
        """
        status = self._host(0)
        failed = np.flatnonzero(status.reshape(-1) < 0)
        if failed.size:
            place = tuple(int(i) for i in np.unravel_index(failed[0], status.shape)) if status.ndim else ()
            code = int(status[place])
            where = f"system {list(place)}" if place else "the system"
            more = f"; {failed.size} of {status.size} systems failed" if status.size > 1 else ""
            raise LinAlgError(f"{where} has no answer: {_core.system_text(code)} (status {code}){more}", place, code)
        return self

    def _summary(self) -> list[tuple[str, str]]:
        status, rows = self._host(0).reshape(-1), []
        codes, counts = np.unique(status, return_counts=True)
        rows.append(("systems", f"{status.size}"))
        for code, count in zip(codes.tolist(), counts.tolist()):
            rows.append((f"status {code}", f"{count}  ({_core.system_text(code)})"))
        answered = status >= 0
        for name, bit, pick in (("largest residual", 1, np.max), ("smallest rcond", 2, np.min)):
            if self._fields >> bit & 1 and answered.any():
                rows.append((name, f"{pick(self._host(bit).reshape(-1)[answered]):.2g}"))
        if self._fields >> 5 & 1 and status.size:
            used, counts = np.unique(self.method_names.reshape(-1), return_counts=True)
            rows.append(("methods", ", ".join(f"{u} {c}" for u, c in zip(used.tolist(), counts.tolist()) if u)))
        return rows

    def __repr__(self) -> str:
        dtype = str(self.x.dtype).removeprefix("torch.")
        lines = [f"<shoal.Result of {self.module}: x {tuple(self.x.shape)} {dtype}"]
        lines += [f"  {name:<17} {text}" for name, text in self._summary()]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align:left'>{n}</th><td>{t}</td></tr>" for n, t in self._summary())
        return f"<table><caption>{self.module}: x {tuple(self.x.shape)}</caption>{rows}</table>"
