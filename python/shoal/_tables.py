# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, polars, Arrow, dicts or .csv files, as columns."""

from __future__ import annotations

import csv
import difflib
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any


def columns_of(table: Any, name: str) -> dict[str, list[Any]]:
    """{column: values}. `table`: a DataFrame, a dict of columns, a list of dicts, or the path of a .csv, .json or .parquet
    file (with pyarrow, pandas or polars)."""
    if isinstance(table, (str, os.PathLike)) and os.fspath(table).endswith(".parquet"):
        table = _parquet(os.fspath(table))
    elif isinstance(table, (str, os.PathLike)) and os.fspath(table).endswith(".json"):
        with open(table, encoding="utf-8") as file:
            table = json.load(file)
    elif isinstance(table, (str, os.PathLike)):
        with open(table, newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file, skipinitialspace=True))
    if isinstance(table, dict):
        columns = {str(key): _list(values, f"{name}[{key!r}]") for key, values in table.items()}
    elif isinstance(table, (list, tuple)) and all(isinstance(row, dict) for row in table):
        keys = list(dict.fromkeys(key for row in table for key in row))
        columns = {str(key): [row.get(key) for row in table] for key in keys}
    elif hasattr(table, "columns"):
        names = table.column_names if hasattr(table, "column_names") else list(table.columns)
        columns = {str(key): _list(table[key], f"{name}[{key!r}]") for key in names}
    else:
        raise TypeError(
            f"{name} is a {type(table).__name__}; it must be a DataFrame, a dict of columns, a list of dicts, "
            "or the path of a .csv, .json or .parquet file"
        )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"the columns of {name} have different lengths: {sorted(lengths)}")
    return columns


def with_usual_names(columns: dict[str, list[Any]], name: str, known: Mapping[str, Iterable[str]],
                     more: Iterable[str] = ()) -> dict[str, list[Any]]:  # fmt: skip
    """The columns under their usual names, and those of `more`. known: {usual name: other names}. Columns that nobody
    reads are left out, with one warning; one that looks like one that is missing is a mistake."""
    usual = {other: column for column, others in known.items() for other in others}
    result: dict[str, list[Any]] = {}
    ignored = []
    kept = [*known, *more]
    for given, values in columns.items():
        column = given if given in kept else usual.get(given, given)
        if column not in kept:
            ignored.append(given)
        elif column in result or (column != given and column in columns):
            raise ValueError(f"{name}: columns '{column}' and '{given}' are the same; keep one of them")
        else:
            result[column] = values
    missing = [column for column in kept if column not in result]
    for given in ignored:
        meant = [m for m in difflib.get_close_matches(given, missing, 1, 0.7) if m[:1] == given[:1]]
        if meant:
            raise ValueError(f"{name}: unknown column '{given}'; the columns are {', '.join(kept)}. Did you mean '{meant[0]}'?")
    if ignored:
        warnings.warn(f"{name}: ignored columns: {', '.join(ignored)}", stacklevel=4)
    return result


def _parquet(path: str) -> Any:
    try:
        from pyarrow import parquet

        return parquet.read_table(path)
    except ImportError:
        pass
    try:
        import pandas

        return pandas.read_parquet(path)
    except ImportError:
        pass
    try:
        import polars

        return polars.read_parquet(path)
    except ImportError:
        raise ImportError(f"{path}: reading Parquet needs pyarrow, pandas or polars: pip install pyarrow") from None


def _list(values: Any, name: str) -> list[Any]:
    for how in ("to_list", "tolist", "to_pylist"):
        if hasattr(values, how):
            return list(getattr(values, how)())
    if isinstance(values, (list, tuple)):
        return list(values)
    raise TypeError(f"{name} is a {type(values).__name__}; it must be a sequence, one value per row")


def is_missing(value: Any) -> bool:
    """None, NaN, or an empty string."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def number(value: Any, where: str, default: float | None = None) -> float:
    if is_missing(value):
        if default is not None:
            return default
        raise ValueError(f"{where} is missing")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where} is {value!r}; it must be a number") from None


def words(value: Any) -> list[Any]:
    """A list as it is, or the words of a string."""
    if is_missing(value):
        return []
    return value.split() if isinstance(value, str) else list(value) if hasattr(value, "__iter__") else [value]
