# SPDX-License-Identifier: Apache-2.0
"""Progress of long calls: a bar of tqdm if that is installed, else lines of the logger "shoal"."""

from __future__ import annotations

from typing import Any

from ._runtime import log, watch


class progress:
    """Shows the progress of the long calls of this thread within a with-block: a bar of tqdm if that is installed, else
    lines of the logger "shoal". Calls shorter than 0.05 s show nothing.

    Long calls are simulations, exercise rules, CVA, factorizations, networks and batches on the CPU. With or without a
    bar, Ctrl-C ends them within 0.3 s. If a GPU has begun a piece of work, the call waits until it is done.

    >>> import numpy as np, shoal
    >>> with shoal.progress():
    ...     x = shoal.solve(np.eye(3), np.ones(3))
    """

    def __init__(self, label: str = "", wanted: bool = True) -> None:
        self._label, self._wanted = label, wanted
        self._stage, self._tenth = "", 0
        self._bar: Any = None

    def _update(self, stage: str, fraction: float) -> None:
        if stage != self._stage:
            self._close()
            self._stage, self._tenth = stage, 0
        title = f"{self._label}: {stage}" if self._label else stage
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if int(fraction * 10) > self._tenth:
                self._tenth = int(fraction * 10)
                log.info("%s: %d %%", title, 100 * fraction)
            return
        if self._bar is None:
            self._bar = tqdm(total=100, desc=title, bar_format="{l_bar}{bar}| [{elapsed}<{remaining}]")
        self._bar.update(100 * fraction - self._bar.n)
        if fraction == 1:
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._stage = None, ""

    def __enter__(self) -> progress:
        if self._wanted:
            self._before = watch(self._update)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._wanted:
            watch(self._before)
            self._close()
