# SPDX-License-Identifier: Apache-2.0
"""Networks that price."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import TYPES, bad_type
from ._devices import device_number, dtype_name
from ._runtime import context
from ._tables import columns_of


class Prediction(NamedTuple):
    """Prices, their derivatives, and which rows lie outside of the ranges that the network was trained on.

    >>> import shoal
    >>> shoal.Prediction([0.1], [-0.5], [0.05], [False]).price
    [0.1]
    """

    price: Any
    by_strike: Any
    by_maturity: Any
    outside: Any


class Surrogate:
    """A neural network in place of Monte Carlo: prices of calls on an asset that costs 1, and their derivatives.

    `names`: its inputs, in their order; `ranges`: {name: (least, most)} of the training set; `info`: the rest.

    >>> import shoal
    >>> shoal.Surrogate.load("examples/expou.net").ranges["strike"]  # doctest: +SKIP
    (0.5, 1.5)
    """

    def __init__(self, content: bytes, device: Any = "cpu") -> None:
        if not isinstance(content, bytes):
            raise TypeError(f"content is a {type(content).__name__}; it must be bytes: load(path) reads a file")
        self._made_by = content, device
        self._net = _core.surrogate(context(device_number(device)), content)
        self.info: dict[str, Any] = _core.surrogate_describe(self._net)
        inputs = self.info["inputs"]
        self.names: list[str] = self.info["names"][:inputs]
        self.ranges = dict(zip(self.names, zip(self.info["least"], self.info["most"])))

    @classmethod
    def load(cls, path: Any, *, device: Any = "cpu") -> Surrogate:
        """Reads a network that `shoal train` has written.

        >>> import shoal
        >>> net = shoal.Surrogate.load("examples/expou.net")  # doctest: +SKIP
        """
        with open(os.fspath(path), "rb") as file:
            content = file.read()
        try:
            return cls(content, device)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def predict(self, table: Any, *, derivatives: bool = True, dtype: Any = "float32") -> Prediction:
        """Prices of the rows of a table, by the columns' names: a DataFrame, a dict of columns, a list of dicts or a .csv
        file; or of an array (rows, inputs) in the order of `names`. dtype: of the network's arithmetic.

        `outside` marks rows with an input outside of its range: nothing bounds the error of their price.

        >>> import shoal
        >>> net = shoal.Surrogate.load("examples/expou.net")  # doctest: +SKIP
        >>> net.predict({name: [(low + high) / 2] for name, (low, high) in net.ranges.items()})  # doctest: +SKIP
        """
        if isinstance(table, np.ndarray):
            if table.dtype.kind not in "fiub":
                raise bad_type("table", table.dtype.name)
            x = np.ascontiguousarray(table, dtype=np.float64)
            if x.ndim != 2 or x.shape[1] != len(self.names):
                raise ValueError(f"table has shape {x.shape}; it must be (rows, {len(self.names)}): {self.names}")
        else:
            columns = columns_of(table, "table")
            missing = [name for name in self.names if name not in columns]
            if missing:
                raise ValueError(f"table has no column '{missing[0]}'; the network has the inputs {self.names}")
            try:
                x = np.ascontiguousarray(
                    np.array([np.asarray(columns[name], dtype=np.float64) for name in self.names]).T
                )
            except (TypeError, ValueError) as error:
                raise ValueError(f"table: a column is not made of numbers: {error}") from None
        rows = x.shape[0]
        price, outside = np.empty(rows), np.empty(rows, np.uint32)
        by = {
            name: np.empty(rows) if derivatives and name in self.names else None for name in ("strike", "maturity")
        }
        pointers = [0 if a is None else a for a in by.values()]
        if rows:
            _core.surrogate_predict(self._net, 0, 0, 0, rows, x, TYPES[dtype_name(dtype)], price, *pointers)
            _core.surrogate_outside(self._net, 0, 0, 0, rows, x, outside)
        return Prediction(price, by["strike"], by["maturity"], outside != 0)

    def __reduce__(self) -> Any:
        return Surrogate, self._made_by

    def __repr__(self) -> str:
        return f"<shoal.Surrogate: {', '.join(self.names)} to {self.info['target']}, {self.info['weights']} weights>"
