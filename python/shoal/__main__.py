# SPDX-License-Identifier: Apache-2.0
"""python -m shoal: the program."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the program has its own way to stop
    status: int = _core.program(["shoal", *sys.argv[1:]])
    return status


if __name__ == "__main__":
    sys.exit(main())
