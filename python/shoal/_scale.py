# SPDX-License-Identifier: Apache-2.0
"""Which worker computed which unit when: the report of `shoal --scale`, for calls of Python."""

from __future__ import annotations

import html
import json
import os
import time
from typing import Any

from . import _runtime
from ._core import version

_LINE, _LEFT, _WIDTH, _TOP = 18, 170, 560, 58  # of the picture


class _Job:
    """The units of one call, while they are computed."""

    def __init__(self, about: dict[str, Any], plan: float, backend: str, is_kept: bool) -> None:
        self.about, self.plan, self.backend, self.is_kept = about, plan, backend, is_kept
        self.begun = time.perf_counter()
        self.trace: list[tuple[int, str, float, float]] = []  # unit, worker, begin, end
        self.sent = 0
        self.lost: list[str] = []
        self.names: list[str] = []  # workers that may have no unit

    def bytes_of(self, unit: int) -> int:
        rows, units = self.about["rows"], self.about["units"]
        first, end = (rows // units * i + rows % units * i // units for i in (unit, unit + 1))
        return int((end - first) * self.about["row_bytes"] + 8 * self.about["counts"])

    def add(self, unit: int, worker: str, begin: float, end: float, is_remote: bool) -> None:
        self.trace.append((unit, worker, max(begin, 0.0), end))
        self.sent += self.bytes_of(unit) if is_remote else 0


class scale:
    """Records which worker computed which unit when, for the calls within a with-block that have `executor`, `devices`,
    `checkpoint` or `units`. Writes the report at the end of the block: `path` is a .json file, `plot` an .svg picture.

    `report` is the same as a dict. idle_share is the part of the workers' time, from the first unit to the last, in which
    they computed nothing. critical_path_seconds is the time before the first unit plus that of the longest unit: no
    number of workers is faster. bytes are those of the results, bytes_sent those that came from other processes, and
    bytes_written those that a checkpoint keeps. Workers of an executor are listed if they computed a unit.

    >>> import shoal
    >>> with shoal.scale() as load:
    ...     r = shoal.price.heston(method="euler", steps=4, paths=200_000, units=3)
    >>> load.report["units"], load.report["workers"][0]["units"]
    (3, 3)
    """

    def __init__(self, path: Any = None, *, plot: Any = None) -> None:
        for name, value, end in (("path", path, ".json"), ("plot", plot, ".svg")):
            if value is not None and not os.fsdecode(value).endswith(end):
                raise ValueError(f"{name} is {os.fsdecode(value)!r}; it must end in {end}")
        self._path, self._plot = path, plot
        self._jobs: list[_Job] = []
        self.report: dict[str, Any] = {}

    def _begin(self, about: dict[str, Any], backend: str, is_kept: bool) -> _Job:
        """The units of a call are about to be computed."""
        self._jobs.append(_Job(about, time.perf_counter() - self._since, backend, is_kept))
        return self._jobs[-1]

    def _end(self) -> None:
        self._since = time.perf_counter()

    def __enter__(self) -> scale:
        self._before, _runtime._local.scale = _runtime._local.scale, self
        self._since = time.perf_counter()
        return self

    def __exit__(self, failed: Any, *_: Any) -> None:
        _runtime._local.scale = self._before
        if failed is not None:
            return
        if not self._jobs:
            raise RuntimeError("no call within the block computed units: pass executor, devices, checkpoint or units")
        self.report = _summed(self._jobs)
        if self._path is not None:
            with open(self._path, "w", encoding="utf-8") as file:
                file.write(_text(self.report))
        if self._plot is not None:
            with open(self._plot, "w", encoding="utf-8") as file:
                file.write(_picture(self.report))


def _summed(jobs: list[_Job]) -> dict[str, Any]:
    """The calls one after the other."""
    names: dict[str, int] = {}
    trace: list[list[Any]] = []
    wall, path, unit = 0.0, 0.0, 0
    for job in jobs:
        for name in [*job.names, *(worker for _, worker, _, _ in job.trace)]:
            names.setdefault(name, len(names))
        for i, worker, begin, end in sorted(job.trace):
            trace.append([unit + i, names[worker], wall + begin, wall + end])
        longest = max((end - begin for _, _, begin, end in job.trace), default=0.0)
        wall += max((end for _, _, _, end in job.trace), default=0.0)
        path += job.plan + longest
        unit += job.about["units"]
    spans = sorted(end - begin for _, _, begin, end in trace)
    lost = {name for job in jobs for name in job.lost}
    own = [[end - begin for _, w, begin, end in trace if w == number] for number in names.values()]
    numbers = {job: [job.bytes_of(i) for i, _, _, _ in job.trace] for job in jobs}
    return {
        "command": jobs[0].about["kind"],
        "version": version(),
        "backend": jobs[0].backend,
        "units": unit,
        "units_before": sum(job.about["done"] for job in jobs),
        "rows": sum(job.about["rows"] for job in jobs),
        "bytes": sum(sum(each) for each in numbers.values()),
        "bytes_sent": sum(job.sent for job in jobs),
        "bytes_written": sum(sum(each) for job, each in numbers.items() if job.is_kept),
        "plan_seconds": sum(job.plan for job in jobs),
        "seconds": wall,
        "busy_seconds": sum(spans),
        "idle_share": 1 - sum(spans) / (wall * len(names)) if wall else 0.0,
        "critical_path_seconds": path,
        "unit_seconds": {
            "mean": sum(spans) / len(spans), "median": spans[len(spans) // 2], "p95": spans[(len(spans) - 1) * 95 // 100],
            "longest": spans[-1],
        } if spans else {"mean": 0.0, "median": 0.0, "p95": 0.0, "longest": 0.0},
        "workers": [
            {"name": name, "units": len(own[k]), "busy_seconds": sum(own[k]),
             "idle_share": 1 - sum(own[k]) / wall if wall else 0.0, "lost": name in lost}
            for name, k in names.items()
        ],
        "trace": trace,
    }  # fmt: skip


def _text(report: dict[str, Any]) -> str:
    """JSON with a line per member, worker and unit."""

    def lines(items: list[Any]) -> str:
        return "[\n" + ",\n".join("    " + json.dumps(item) for item in items) + "\n  ]" if items else "[]"

    members = ((k, lines(v) if k in ("workers", "trace") else json.dumps(v)) for k, v in report.items())
    return "{\n" + ",\n".join(f'  "{k}": {v}' for k, v in members) + "\n}\n"


def _picture(report: dict[str, Any]) -> str:
    """A row per worker, a bar per unit; neighbours have two colours."""
    workers, wall = report["workers"], report["seconds"] or 1.0
    bottom = _TOP + _LINE * len(workers)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{bottom + 50}" viewBox="0 0 760 {bottom + 50}" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#2a3138">',
        f'<rect width="760" height="{bottom + 50}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="16" font-weight="600">{len(workers)} worker{"s" * (len(workers) != 1)}, '
        f'{len(report["trace"])} units, idle {100 * report["idle_share"]:.0f} %</text>',
        '<text x="12" y="44">a bar is a unit, a gap is idle time</text>',
    ]
    for k, worker in enumerate(workers):
        out.append(f'<text x="{_LEFT - 8}" y="{_TOP + _LINE * k + 13}" text-anchor="end">{html.escape(worker["name"][:24])}</text>')
    for i, (_, k, begin, end) in enumerate(report["trace"]):
        x, width = _LEFT + _WIDTH * begin / wall, _WIDTH * (end - begin) / wall
        out.append(f'<rect x="{x:.2f}" y="{_TOP + _LINE * k + 3}" width="{max(width, 0.1):.2f}" height="{_LINE - 6}" '
                   f'fill="{("#0b62d6", "#d2570a")[i % 2]}"/>')  # fmt: skip
    for tick in range(5):
        x = _LEFT + _WIDTH * tick / 4
        out.append(f'<text x="{x:.0f}" y="{bottom + 18}" text-anchor="middle">{wall * tick / 4:.3g}</text>')
    out.append(f'<text x="{_LEFT + _WIDTH / 2:.0f}" y="{bottom + 38}" text-anchor="middle">seconds</text></svg>\n')
    return "\n".join(out)
