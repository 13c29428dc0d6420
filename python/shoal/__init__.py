# SPDX-License-Identifier: Apache-2.0
"""Shoal: many small numerical problems at once, with a verdict for every system.

>>> import numpy as np, shoal
>>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
>>> shoal.solve(A, np.array([1.0, 2.0])).round(4)
array([0.0909, 0.6364])

Arrays of numpy, torch, CuPy and JAX, and all with DLPack or __cuda_array_interface__, are used in place, and results are
arrays of the same library on the same device. `python -m shoal` is the program. docs/python.md has a section per
function.
"""

from . import calibrate, price
from ._core import version as _version
from ._band import solve_pentadiagonal, solve_pentadiagonal_ex
from ._cva import CvaResult, CvaValidation, cva
from ._dataset import dataset
from ._linalg import (
    EighResult,
    Factor,
    SymmetricIndefinite,
    TridiagonalPlan,
    eigh,
    factor,
    lstsq,
    recurrence,
    solve,
    solve_ex,
    solve_tridiagonal,
    solve_tridiagonal_ex,
    symmetric_indefinite,
)
from ._progress import progress
from ._random import Generator
from ._results import LinAlgError, Result
from ._runtime import clear_cache, info, methods, set_num_threads, status_text
from ._scale import scale
from ._sorting import merge, sort
from ._surrogate import Prediction, Surrogate

__version__ = _version()
__all__ = [
    "CvaResult",
    "CvaValidation",
    "EighResult",
    "Factor",
    "Generator",
    "LinAlgError",
    "Prediction",
    "Result",
    "Surrogate",
    "SymmetricIndefinite",
    "TridiagonalPlan",
    "calibrate",
    "clear_cache",
    "cva",
    "dataset",
    "eigh",
    "factor",
    "info",
    "lstsq",
    "merge",
    "methods",
    "price",
    "progress",
    "recurrence",
    "scale",
    "set_num_threads",
    "solve",
    "solve_ex",
    "solve_pentadiagonal",
    "solve_pentadiagonal_ex",
    "solve_tridiagonal",
    "solve_tridiagonal_ex",
    "sort",
    "status_text",
    "symmetric_indefinite",
]
