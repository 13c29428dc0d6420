# SPDX-License-Identifier: Apache-2.0
"""Contexts and plans: one context per thread and device, and the plans of recent calls."""

from __future__ import annotations

import logging
import operator
import os
import threading
from typing import Any, Callable

import numpy as np

from . import _core

log = logging.getLogger("shoal")

_CPU = -1
_RECENT = 64  # plans that a thread keeps
_threads = 0  # set_num_threads(); 0: OMP_NUM_THREADS, else all cores
_forked = False
_opened_gpu = _had_gpu = False  # this process has opened a GPU; it is the fork of one that had
_warned = False


class _Local(threading.local):
    def __init__(self) -> None:
        self.contexts: dict[Any, Any] = {}
        self.plans: dict[Any, Any] = {}
        self.calls = _core.Calls()  # what calls like recent ones need; its plans are in `plans`
        self.job: Any = None  # of _units.py: the last one of an executor, and its plan
        self.scale: Any = None  # of _scale.py: records which worker does which unit when
        self.progress: Callable[[str, float], None] | None = None


_local = _Local()


def _after_fork() -> None:
    """OpenMP's threads do not exist in a forked child: it computes with one thread, in new contexts."""
    global _local, _forked, _had_gpu, _threads
    _had_gpu = _opened_gpu
    _lost.extend([_local.contexts, _local.plans, _local.calls, _local.job])  # freeing them could wait for locks of threads
    # that are gone
    _local, _forked, _threads = _Local(), True, 1
    _core.xla_forget()


_lost: list[Any] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def context(device: int = _CPU) -> Any:
    """The context of this thread on a device: -1 is the CPU, 0, 1, ... are CUDA devices, -2, -3, ... the same for arrays
    on the host, which the library takes through the GPU in pieces."""
    key = (device, _threads)
    found = _local.contexts.get(key)
    if found is None:
        found = _local.contexts[key] = new_context(device)
        found.progress = _local.progress
    return found


def new_context(device: int) -> Any:
    """A context that nobody else uses."""
    if _had_gpu and device != _CPU:
        raise RuntimeError(
            "this process was forked from one that had used the GPU, and CUDA does not survive a fork: "
            "start processes with multiprocessing.get_context('spawn') or 'forkserver'"
        )
    options: dict[str, Any] = {"threads": _threads, "backend": "cpu"}
    if device >= 0:
        options.update(backend="cuda", device=device, unchecked=1)  # the arrays told their device
    if device < _CPU:
        options.update(backend="cuda", device=-2 - device, staging=1)
    found = _core.Context(options)
    global _opened_gpu
    _opened_gpu = _opened_gpu or device != _CPU
    return found


def all_devices() -> list[int]:
    """The numbers of the GPUs of this machine; an error if there is none."""
    numbers, number = [0], 0
    new_context(0)
    while True:
        number += 1
        try:
            new_context(number)
        except (RuntimeError, MemoryError) as error:
            if "does not exist" in str(error):
                return numbers
            log.warning("GPU %d takes no units: %s", number, error)
        else:
            numbers.append(number)


def watch(call: Callable[[str, float], None] | None) -> Callable[[str, float], None] | None:
    """Long calls of this thread tell `call` their stage and fraction. Returns what they told before."""
    before, _local.progress = _local.progress, call
    for found in _local.contexts.values():
        found.progress = call
    return before


def tell(stage: str, fraction: float) -> None:
    """What watch() asked for, of work that is not in this thread."""
    if _local.progress is not None:
        _local.progress(stage, fraction)


class Kind:
    """A module of the library: the function that creates its plans, and its options in the order of a key."""

    __slots__ = ("create", "names")

    def __init__(self, create: Any, *names: str) -> None:
        self.create, self.names = create, names


def plan(kind: Kind, device: int, stream: int, *values: Any) -> Any:
    """A plan of this thread for these options, a recent one if there is one. Calls on two streams of a GPU may run at the
    same time: each stream has a plan of its own."""
    plans = _local.plans
    key = (kind, device, stream, _threads, values)
    try:
        found = plans.get(key)
    except TypeError:  # a list is no option
        raise TypeError("an option of the call has a wrong type: options are words and numbers") from None
    if found is None:
        if len(plans) >= _RECENT:
            plans.pop(next(iter(plans)))
            _local.calls.forget()
        found = plans[key] = new_plan(kind, device, *values)
    return found


def new_plan(kind: Kind, device: int, *values: Any) -> Any:
    """A plan that nobody else uses."""
    return kind.create(context(device), dict(zip(kind.names, values)))


def clear_cache() -> None:
    """Frees the plans that this thread keeps from its recent calls, with their memory; and all of compiled code of JAX.

    >>> import shoal
    >>> shoal.clear_cache()
    """
    _local.plans.clear()
    _local.calls.forget()
    _local.job = None
    _core.xla_clear()


def set_num_threads(threads: int) -> None:
    """Sets the number of CPU threads of all later calls. 0 is the default: OMP_NUM_THREADS, else all cores.

    A child process made by fork() has one thread, because the OpenMP runtime does not survive a fork.

    >>> import shoal
    >>> shoal.set_num_threads(1)
    >>> shoal.info()["threads"]
    1
    >>> shoal.set_num_threads(0)
    """
    global _threads
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or not 0 <= threads <= 1024:
        raise ValueError(f"threads is {threads!r}; it must be a whole number from 0 (all cores) to 1024")
    if _forked and threads != 1:
        raise RuntimeError(
            "this process was forked, and OpenMP's threads do not survive a fork: it can use one thread; "
            "start processes with multiprocessing.get_context('spawn') or 'forkserver' to use more"
        )
    _threads = int(threads)
    _core.forget_calls()  # of all threads
    clear_cache()


def threads_are_chosen() -> bool:
    """Whether this process was told how many threads to use."""
    return _threads != 0 or "OMP_NUM_THREADS" in os.environ


def info() -> dict[str, Any]:
    """What the library runs on: version, backend, CPU, threads, instruction levels, and the GPU or why there is none.

    >>> import shoal
    >>> sorted(shoal.info())[:4]
    ['backend', 'device', 'gpu', 'isa']
    """
    global _warned
    try:
        described = _core.Context({"backend": "auto", "threads": _threads}).describe()
    except RuntimeError as error:  # the GPU answers, and cannot be used
        described = context().describe()
        described["gpu"] = str(error)
        if not _warned:
            _warned = True
            log.warning("the GPU cannot be used: %s", error)
    described["version"] = _core.version()
    described["levels"] = _core.isa()
    return described


def methods(module: str) -> list[str]:
    """The methods of a module, in the order of the numbers that `Result.method` holds.

    >>> import shoal
    >>> shoal.methods("symindef")
    ['complete', 'partial', 'rook']
    """
    found: list[str] = _core.methods(module) if isinstance(module, str) else []
    if not found:
        raise ValueError(f"module is {module!r}; it must be one of {', '.join(_core.modules())}")
    return found


def status_text(status: int) -> str:
    """What a status of one system means.

    >>> import shoal
    >>> shoal.status_text(-3)
    'singular'
    """
    number = operator.index(status)  # a tensor of int32 cannot be compared with 2**31
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"status is {status}; it must be one of those that a Result holds")
    text: str = _core.system_text(number)
    return text
