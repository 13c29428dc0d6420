# SPDX-License-Identifier: Apache-2.0
"""Which arrays a library tracks or runs itself, and the module that serves it."""

from __future__ import annotations

import sys
from typing import Any


def module_for(value: Any, runs: bool) -> Any:
    """shoal._torch for a tensor of torch whose gradient is wanted, or that is being compiled; shoal._jax for an array of
    JAX that is traced, or for any array of JAX if JAX can run the function (`runs`)."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if torch.compiler.is_compiling() or (value.requires_grad and torch.is_grad_enabled()):
            from . import _torch

            _torch.check_tensor(value)
            return _torch
        return None
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array if runs else jax.core.Tracer):
        from . import _jax

        return _jax
    return None
