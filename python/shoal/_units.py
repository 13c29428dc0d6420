# SPDX-License-Identifier: Apache-2.0
"""One job in units: on the workers of any executor of concurrent.futures, with a folder of finished units, or both.

A worker gets the description of the job, which pickles, and the number of a unit; it returns the unit as bytes. The
caller puts units together by their number, so neither their number nor their order changes a bit of the result.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from . import _core, _runtime
from ._devices import device_number, whole

_IN_FLIGHT = 1 << 30  # bytes of units that workers compute or that wait for the caller
_FEWEST = 16  # units in flight, even if they are larger
_SECONDS = 168  # where a unit says how long it took (src/units/units.c)


class Units(NamedTuple):
    """The arguments of a function that say how its job is distributed."""

    executor: Any
    checkpoint: Any
    units: Any
    devices: list[int] | None = None  # the numbers of `chosen`

    def wanted(self) -> bool:
        return any(given is not None for given in self)

    def on(self, device: Any) -> list[int]:
        """The devices that compute: one or more."""
        return self.devices or [device_number(device)]


def chosen(devices: Any, device: Any) -> list[int] | None:
    """The numbers of the argument `devices`: "all", or a list of numbers and words like "cuda:1"."""
    if devices is None:
        return None
    if device != "cpu":
        raise ValueError("device and devices exclude each other")
    if isinstance(devices, str) and devices == "all":
        return _runtime.all_devices()
    if isinstance(devices, str) or not hasattr(devices, "__iter__"):
        raise TypeError(f"devices is {devices!r}; it must be 'all' or a list, like [0, 1] or ['cuda:0', 'cuda:1']")
    numbers = [device_number(d) if isinstance(d, str) else whole("devices", d) for d in devices]
    if not numbers or min(numbers) < -1 or (-1 in numbers and max(numbers) > -1):
        raise ValueError(f"devices is {devices!r}; it must name GPUs, 0 or more, or only 'cpu'")
    return numbers


class Job(NamedTuple):
    """All that a worker needs."""

    inputs: bytes  # JSON, compressed: backend, function, arguments, size
    device: int
    others: list[int]  # more devices of the caller
    units: int  # 0: as many as the library chooses
    caller: str


_PROCESS = os.urandom(8).hex()  # which process this is, on any machine


def job_of(function: str, arguments: list[Any], size: int, devices: list[int], units: Any) -> Job:
    number = 0 if units is None else whole("units", units)
    if units is not None and not 1 <= number <= _core.units_most:
        raise ValueError(f"units is {units!r}; it must be 1 to {_core.units_most}")
    device, *others = devices
    backend = "cpu" if device == -1 else "cuda"  # their rows may differ in float32
    text = json.dumps([backend, function, arguments, size], sort_keys=True, default=np.generic.item)
    return Job(zlib.compress(text.encode()), device, others, number, _PROCESS)


def _of_plan(units: Any) -> Callable[..., Any]:
    def make(
        job: Job, function: str, arguments: list[Any], size: int, text: bytes, plan: Any = None, on: Any = None
    ) -> Any:
        on = on or _runtime.context(job.device)
        return units(on, plan or getattr(_core, function)(on, *arguments), size, job.units, text)

    return make


def _of_files(*arguments: Any) -> Any:
    from ._files import units_of_files

    return units_of_files(*arguments)


# What makes the units of a job, by the function of _core that makes its plan.
_KINDS: dict[str, Callable[..., Any]] = {
    "price": _of_plan(_core.units_price),
    "american": _of_plan(_core.units_price),
    "cva": _of_plan(_core.units_cva),
    "dataset": _of_plan(_core.units_dataset),
    "files": _of_files,
}


def _make(job: Job, *more: Any) -> Any:
    """`more`: what the caller has and a worker makes: the plan, or the array for the answers; a context of its own."""
    text = zlib.decompress(job.inputs)
    _, function, arguments, size = json.loads(text)
    return _KINDS[function](job, function, arguments, size, text, *more)


# ---- workers ----------------------------------------------------------------------------------------


def run_unit(job: Job, unit: int) -> bytes:
    """A unit as bytes. A thread keeps the plan of its last job: exercise rules are fitted once per worker."""
    if job.caller != _PROCESS and not _runtime.threads_are_chosen():
        _runtime.set_num_threads(1)  # executors have one worker per core
    kept = _runtime._local.job
    if kept is None or kept[0] != job:
        _runtime._local.job = None  # frees the memory of the other one first
        kept = _runtime._local.job = (job, _make(job))
    result: bytes = _core.units_run(kept[1], unit)
    return result


def run_named_unit(job: Job, unit: int) -> tuple[str, bytes]:
    """The same for a report, with the name of the worker."""
    result = run_unit(job, unit)
    process, thread = os.getpid(), threading.get_native_id()
    name = f"{socket.gethostname()}:{process}"
    return name if thread == process else f"{name}.{thread}", result


# ---- the caller -------------------------------------------------------------------------------------


def gather(job: Job, how: Units, *more: Any) -> Any:
    """The units of a job, once all of them are there."""
    executor, folder = how.executor, how.checkpoint
    if executor is not None and how.devices is not None:
        raise ValueError("executor and devices exclude each other: a worker of an executor has one device")
    if executor is not None and not isinstance(executor, Executor):
        hint = ": pass client.get_executor()" if hasattr(executor, "get_executor") else ""
        raise TypeError(f"executor is a {type(executor).__name__}; it must be an executor of concurrent.futures{hint}")
    if folder is not None and (not isinstance(folder, (str, bytes, os.PathLike)) or not os.fspath(folder)):
        raise TypeError(f"checkpoint is {folder!r}; it must be the path of a folder")
    units = _make(job, *more)
    try:
        if folder is not None:
            _core.units_keep(units, os.fsdecode(folder))
        numbers, workers = [job.device], [units]
        for n in job.others:
            on = _runtime.new_context(n)
            try:
                workers.append(_make(job._replace(device=n), None, on))
                numbers.append(n)
            except MemoryError as error:  # the others do its units
                _runtime.log.warning("GPU %d takes no units: %s", n, error)
        scale = _runtime._local.scale
        report = scale and scale._begin(_core.units_describe(units), "cpu" if job.device < 0 else "cuda", folder is not None)
        try:
            if executor is None:
                _work(workers, numbers, report)
            else:
                _hand_out(units, job, executor, folder, report)
        finally:
            if scale:
                scale._end()
    except BaseException:
        units.close()  # and the folder: a traceback may keep this frame
        raise
    return units


def _work(workers: list[Any], numbers: list[int], report: Any) -> None:
    """All missing units, on the devices of the workers. The first one has the folder."""
    lost = _core.units_work(workers)
    for _, reason in lost:
        _runtime.log.warning("a device takes no more units; the others do its units: %s", reason)
    if report is None:
        return
    report.names = ["CPU" if n < 0 else f"GPU {n}" for n in numbers]
    if len(set(report.names)) < len(report.names):  # two contexts on one GPU
        report.names = [f"{name} ({i})" for i, name in enumerate(report.names)]
    report.lost = [report.names[i] for i, _ in lost]
    for unit, (worker, begin, end) in enumerate(_core.units_traces(workers[0])):
        if worker >= 0:
            report.add(unit, report.names[worker], begin, end, False)


def _hand_out(units: Any, job: Job, executor: Executor, folder: Any, report: Any) -> None:
    about = _core.units_describe(units)
    count, done = about["units"], about["done"]
    job = job._replace(units=count)
    window = max(_FEWEST, _IN_FLIGHT // about["bytes"])
    ready: SimpleQueue[tuple[Future[Any], float]] = SimpleQueue()
    under_way: dict[Future[Any], int] = {}
    unit = _core.units_missing(units, 0)
    lost: Exception | None = None

    def add(unit: int, result: Any, at: float) -> None:
        name, unit_bytes = result if report is not None else ("", result)
        _core.units_add(units, unit_bytes)
        if report is not None:
            (seconds,) = struct.unpack_from("<d", unit_bytes, _SECONDS)
            report.add(unit, name, at - report.begun - seconds, at - report.begun, True)

    try:
        while done < count and lost is None:
            try:
                while unit < count and len(under_way) < window:
                    future = executor.submit(run_unit if report is None else run_named_unit, job, unit)
                    under_way[future] = unit
                    future.add_done_callback(lambda future: ready.put((future, time.perf_counter())))
                    unit = _core.units_missing(units, unit + 1)
                future, at = ready.get()
                result = future.result()
            except Exception as error:  # of a worker, or of the engine
                lost = error
                continue
            add(under_way.pop(future), result, at)
            done += 1
            _runtime.tell("units", done / count)
    finally:
        for future in under_way:
            future.cancel()
        for future, number in under_way.items():  # finished in the meantime
            if future.done() and not future.cancelled() and future.exception() is None:
                add(number, future.result(), time.perf_counter())
    if lost is not None:
        done = _core.units_describe(units)["done"]
        kept = f"{folder} contains them, and the same call continues" if folder is not None else "pass checkpoint=DIR to keep them"
        why = str(lost) or "the units were dropped; is the scheduler alive?"
        raise RuntimeError(
            f"the executor failed after {done} of {count} units: {type(lost).__name__}: {why}; {kept}"
        ) from lost
