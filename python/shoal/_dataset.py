# SPDX-License-Identifier: Apache-2.0
"""Training data for networks."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _core
from ._devices import whole
from ._progress import progress as shown
from ._runtime import context
from ._units import Units, chosen, gather, job_of

_VALUES = ("price", "stderr", "paths")


def dataset(
    samples: int,
    *,
    ranges: Any = None,
    design: str = "sobol",
    parametrisation: str = "beta",
    target: float = 0.0,
    most_paths: int = 0,
    refine: int = 0,
    seed: int = 1,
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> dict[str, Any]:
    """Rows to train or test a network on: parameters of the exponential Ornstein-Uhlenbeck model, and prices of calls.

    Returns a dict of columns: alpha, m, beta (or nu2), y0, rho, maturity, strike, price, stderr and paths, as
    `shoal dataset expou` writes them. ranges: {column: (low, high)} or (low, high, "log"); other columns keep their
    default ranges. design: "sobol" or "latin". target: simulate each row until its standard error is at most this
    (default 5e-5), with up to most_paths paths (default 2^21). seed selects rows and paths: use another one for
    validation, and another for test. devices, executor, checkpoint, units: as in `cva`. docs/surrogate.md describes the method.

    >>> import shoal
    >>> rows = shoal.dataset(4, ranges={"strike": (0.9, 1.1)}, target=1e-2)
    >>> list(rows)[-4:], bool((rows["stderr"] <= 1e-2).all())
    (['strike', 'price', 'stderr', 'paths'], True)
    """
    forms = ("beta", "nu2", "printed")
    if parametrisation not in forms:
        raise ValueError(f"parametrisation is {parametrisation!r}; it must be beta, nu2 or printed")
    samples, nu2 = whole("samples", samples), forms.index(parametrisation)
    names = _core.dataset_columns(nu2)
    if ranges is not None and not isinstance(ranges, dict):
        raise TypeError(f"ranges is a {type(ranges).__name__}; it must be a dict {{column: (low, high)}}")
    given: dict[str, Any] = ranges or {}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"ranges: unknown column {unknown[0]!r}; the columns are {', '.join(names)}")
    options = {"samples": samples, "design": design, "nu2": nu2, "target": target, "most_paths": most_paths,
               "refine": refine, "seed": seed}  # fmt: skip
    arguments = [options, [_range(name, given.get(name)) for name in names]]
    how = Units(executor, checkpoint, units, chosen(devices, device))
    numbers = how.on(device)
    design_rows = np.empty((max(samples, 0), len(names)))
    with shown("dataset", progress):
        plan = _core.dataset(context(numbers[0]), *arguments)
        _core.dataset_design(plan, samples, design_rows)
        done = gather(job_of("dataset", arguments, samples, numbers, units), how, plan)
    values = np.empty((samples, len(_VALUES)))
    if samples:
        ctypes.memmove(values.ctypes.data, _core.units_rows(done), values.nbytes)
    columns = dict(zip(names, design_rows.T)) | dict(zip(_VALUES, values.T))
    return {name: np.ascontiguousarray(column) for name, column in columns.items()}


def _range(name: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    try:
        low, high, *scale = given
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        scale = ["?"]
    if scale not in ([], ["log"], ["linear"]):
        raise ValueError(f"ranges[{name!r}] is {given!r}; it must be (low, high), or (low, high, 'log')")
    return {"low": low, "high": high, "log": int(scale == ["log"])}
