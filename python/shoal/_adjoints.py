# SPDX-License-Identifier: Apache-2.0
"""The adjoints, in operations that arrays of torch and of JAX have in common."""

from __future__ import annotations

from typing import Any, Callable


def solve(back: Callable[[Any], Any], x: Any, g: Any) -> tuple[Any, Any]:
    """A x = b, A symmetric: b' = A^-1 x', A' = -(b' x^T), made symmetric. back(g) solves."""
    b_bar = back(g)
    outer = b_bar @ x.mT
    return -0.5 * (outer + outer.mT), b_bar


def tridiagonal(
    back: Callable[[Any], Any], roll: Callable[[Any, int], Any], ends: Any, x: Any, g: Any, periodic: bool,
    transposed: bool,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """x, g (..., n, k). back(g) solves with the transposed matrix; roll(v, s) shifts along n; ends: two masks (n,) that
    are 0 where dl and du are not read."""
    b_bar = back(g)
    u, v = (x, b_bar) if transposed else (b_bar, x)
    d, dl, du = (-(u * w).sum(-1) for w in (v, roll(v, 1), roll(v, -1)))
    if not periodic:
        dl, du = dl * ends[0], du * ends[1]
    return dl, d, du, b_bar


def recurrence(
    run: Callable[..., Any], shift: Callable[..., Any], s: Any, w0: Any, w: Any, g: Any, reverse: bool
) -> tuple[Any, Any, Any]:
    """w[i] = s[i] w[i-1] + t[i]: t' runs the other way, t'[i] = s[i+1] t'[i+1] + g[i]. run(s, t, reverse);
    shift(v, by, first): v moved along its last axis, `first` where nothing is left."""
    step = -1 if reverse else 1
    t_bar = run(shift(s, -step, 0.0), g, not reverse)
    s_bar = t_bar * shift(w, step, w0)
    edge = -1 if reverse else 0
    return s_bar, t_bar, s[..., edge] * t_bar[..., edge]


def eigh(diagonal: Callable[[Any], Any], eye: Any, w: Any, V: Any, gw: Any, gV: Any) -> Any:
    """A' = V (diag(w') + F o (V^T V')) V^T, F[i,j] = 1 / (w[j] - w[i]), made symmetric. For distinct eigenvalues."""
    gaps = w[..., None, :] - w[..., :, None]
    F = (1 - eye) / (gaps + eye)
    A_bar = V @ (diagonal(gw) + F * (V.mT @ gV)) @ V.mT
    return 0.5 * (A_bar + A_bar.mT)
