# SPDX-License-Identifier: Apache-2.0
"""Progress of long runs: a bar of tqdm if that is installed, else lines of the logger "shoal"."""

from __future__ import annotations

from typing import Any

from ._runtime import log


class Bar:
    """update(done, total) as often as there is news; used as a context manager."""

    def __init__(self, wanted: bool, label: str, unit: str) -> None:
        self._label, self._unit, self._bar, self._tenth = label, unit, None, 0
        self._wanted = wanted
        self._tqdm: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm

                self._tqdm = tqdm
            except ImportError:
                pass

    def update(self, done: int, total: int) -> None:
        if not self._wanted:
            return
        if self._tqdm is not None:
            if self._bar is None:
                self._bar = self._tqdm(total=total, desc=self._label, unit=self._unit, unit_scale=True)
            bar: Any = self._bar
            bar.total = total
            bar.update(done - bar.n)
        elif total and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            log.info("%s: %d of %d %s", self._label, done, total, self._unit)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            bar: Any = self._bar
            bar.close()
