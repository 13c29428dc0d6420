# SPDX-License-Identifier: Apache-2.0
"""Words for devices and types."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ._arrays import TYPES, Numpy, Torch, _on_gpu, bad_type


def device_number(device: Any) -> int:
    """-1 for "cpu", the number of a CUDA device for "cuda" or "cuda:1"."""
    kind, _, number = str(device).partition(":")
    if kind == "cpu" and not number:
        return -1
    if kind == "cuda" and (not number or number.isdecimal()):
        return int(number or 0)
    raise ValueError(f"device is {device!r}; it must be 'cpu', 'cuda' or 'cuda:N'")


def placed(device: int, wanted: Any) -> int:
    """The device that computes: that of the arrays, or `wanted` for arrays on the host: -2 - its number then."""
    if wanted is None:
        return device
    number = device_number(wanted)
    if number == device:
        return device
    if device < 0:
        return -2 - number
    raise ValueError(f"the arrays are on CUDA device {device}, but device is {wanted!r}: move them, or omit device")


def whole(name: str, value: Any) -> int:
    """An argument that is a whole number; 1e6 is one, too."""
    try:
        return int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None


def real(name: str, value: Any) -> float:
    """An argument that is a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; it must be a number") from None


def dtype_name(dtype: Any, allowed: Any = TYPES) -> str:
    """The name of a type of numpy or torch."""
    name = str(dtype)[6:] if str(dtype).startswith("torch.") else ""
    if not name:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            raise TypeError(f"dtype is {dtype!r}; it must be one of {', '.join(allowed)}") from None
    if name not in allowed:
        raise bad_type("dtype", name)
    return name


def library_for(dtype: Any, device: int) -> Any:
    """The library of new arrays: torch if the type is torch's, else numpy on the CPU, torch or CuPy on a GPU."""
    if str(dtype).startswith("torch."):
        return Torch
    return Numpy if device < 0 else _on_gpu()
