# SPDX-License-Identifier: Apache-2.0
"""The C functions, by the tables of python/*.cpp. Arrays are addresses, 0 for none, or buffers; nothing is checked here."""

from typing import Any, Callable

class Context:
    def __init__(self, options: dict[str, Any], /) -> None: ...
    progress: Callable[[str, float], None] | None
    def describe(self) -> dict[str, Any]: ...
    def wait(self) -> None: ...

class Plan:
    def close(self) -> None: ...

price_columns: list[str]
heston_parameters: list[str]
cva_check_columns: list[str]
cva_dates: int

def __getattr__(name: str) -> Any: ...
