# SPDX-License-Identifier: Apache-2.0
"""Which arrays are tracked by a library that differentiates, and the module that serves it."""

from __future__ import annotations

import sys
from typing import Any


def module_for(value: Any) -> Any:
    """shoal._torch for a tensor of torch whose gradient is wanted, or that is being compiled; shoal._jax for JAX."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if torch.compiler.is_compiling() or (value.requires_grad and torch.is_grad_enabled()):
            from . import _torch

            return _torch
        return None
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        from . import _jax

        return _jax
    return None
