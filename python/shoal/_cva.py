# SPDX-License-Identifier: Apache-2.0
"""Credit valuation adjustment of a book."""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from . import _core
from ._arrays import TYPES
from ._devices import device_number, dtype_name, whole
from ._progress import progress as shown
from ._runtime import context
from ._tables import columns_of, is_missing, number, words
from ._units import Units, gather, job_of

_PAYOFFS = ("put", "call", "max-call", "basket-put", "basket-call", "forward")
_ESTIMATORS = ("rule", "amc", "inner")
_YEARS = {"d": 1 / 365, "w": 7 / 365, "m": 1 / 12, "y": 1.0}
_VALIDATION_FAILED = 70  # the program's exit code


class CvaValidation:
    """The martingale test of a run: for every contract and date, what the contract is worth and has paid must have
    today's price as its discounted mean. `z` is the difference in standard errors.

    - `passed`: whether no |z| exceeds `limit`, which a right program does in 1 of 1000 runs
    - `worst_z`, of `scores` ones; `contract`, the row of the book, and `time`, where it is
    - `table`: a dict of arrays [contract, date]: `price`, `price_error`, `upper`, `upper_error`, `mean`, `error`, `z`

    >>> import shoal
    >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
    >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
    >>> shoal.cva(book, market, dates=2, outer=64, validate=True).validation.passed
    True
    """

    def __init__(self, result: dict[str, Any], table: Any, times: Any) -> None:
        self.passed, self.worst_z, self.limit = bool(result["passed"]), result["z"], result["limit"]
        self.scores, self.contract, self._times = result["scores"], result["contract"], times
        self.time = times[result["date"]] if self.contract >= 0 else math.nan
        self.table = {name: table[:, :, i] for i, name in enumerate(_core.cva_check_columns)}

    def to_pandas(self) -> Any:
        """The table as a DataFrame, one row per contract and date.

        >>> import shoal
        >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
        >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
        >>> check = shoal.cva(book, market, dates=2, outer=64, validate=True).validation
        >>> check.to_pandas().shape  # doctest: +SKIP
        (2, 9)
        """
        import pandas

        contracts, dates = self.table["z"].shape
        where = {"contract": np.repeat(np.arange(contracts), dates), "time": np.tile(self._times, contracts)}
        return pandas.DataFrame(where | {name: values.ravel() for name, values in self.table.items()})

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        worst = f": book[{self.contract}] at {self.time:.4g} years" if self.contract >= 0 else ""
        scores = f"worst z {self.worst_z:.2f} of {self.scores}, limit {self.limit:.2f}"
        return f"<shoal.CvaValidation {verdict}: {scores}{worst}>"


class CvaResult:
    """The CVA of a book: `cva`, `stderr`, `bias`, and `interval`, the 95 % interval from both; `rule_bias`, the change
    by a second exercise rule, and `inner_bias`; `profile`, a dict of arrays with one entry per date; `counts` of
    regressions and paths; `info` about the contracts; `validation`, a `CvaValidation`, or None.

    >>> import shoal
    >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
    >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
    >>> result = shoal.cva(book, market, dates=2, outer=64)
    >>> low, high = result.interval
    >>> bool(low < result.cva < high), result.profile["time"]
    (True, array([0.5, 1. ]))
    """

    def __init__(self, value: dict[str, float], profile: list[dict[str, Any]], counts: dict[str, Any],
                 info: dict[str, Any], again: dict[str, Any],
                 validation: CvaValidation | None = None) -> None:  # fmt: skip
        self.cva, self.stderr = value["cva"], value["error"]
        self.bias, self.interval = value["bias"], (value["low"], value["high"])
        self.rule_bias, self.rule_bias_stderr = value["rule_bias"], value["rule_bias_error"]
        self.inner_bias, self.inner_bias_stderr = value["inner_bias"], value["inner_bias_error"]
        self.profile = {name: np.array([date[name] for date in profile]) for name in profile[0]}
        self.counts, self.info, self._again, self.validation = counts, info, again, validation

    def to_pandas(self) -> Any:
        """The profile as a DataFrame, one row per date.

        >>> import shoal
        >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
        >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
        >>> shoal.cva(book, market, dates=2, outer=64).to_pandas().shape[0]  # doctest: +SKIP
        2
        """
        import pandas

        return pandas.DataFrame(self.profile)

    def report(self, path: Any) -> None:
        """Writes the program's page about this CVA: profile, convergence, conditions, solvers, times.

        The program simulates once more, with the same seed and the same numbers.

        >>> import os, tempfile
        >>> import shoal
        >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
        >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     shoal.cva(book, market, dates=2, outer=64).report(f"{folder}/cva.html")
        ...     os.listdir(folder)
        ['cva.html']
        """
        again = self._again
        with tempfile.TemporaryDirectory() as folder:
            for name in ("book", "market"):
                columns = again[name]
                with open(os.path.join(folder, f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file)
                    writer.writerow(columns)
                    for row in zip(*columns.values()):
                        writer.writerow(
                            ["" if is_missing(v) else v if isinstance(v, str) else
                             " ".join(map(str, v)) if hasattr(v, "__iter__") else str(v) for v in row]
                        )  # fmt: skip
            command = [sys.executable, "-m", "shoal", "cva", os.path.join(folder, "book.csv"), "--market",
                       os.path.join(folder, "market.csv"), "--quiet", "--report", os.fspath(path),
                       *again["options"]]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode not in (0, _VALIDATION_FAILED):
                raise RuntimeError(f"the report could not be written: {done.stderr.strip()}")

    def __repr__(self) -> str:
        return (
            f"<shoal.CvaResult: {self.cva:.6g} ± {self.stderr:.2g}, bias {self.bias:.2g}; "
            f"{len(self.profile['time'])} dates, peak EPE {self.profile['epe'].max():.4g}>"
        )


def _time(value: Any, where: str) -> float:
    """A number of years, or of days, weeks, months or years: 0.5, "1w", "3m", "2y"."""
    unit = _YEARS.get(value[-1:]) if isinstance(value, str) else None
    years = number(value[:-1] if unit else value, where) * (unit or 1.0)
    if not 0 < years < math.inf:
        raise ValueError(f"{where} is {value!r}; it must be above 0: years, or '1d', '1w', '1m', '1y'")
    return years


def _steps(step: str, end: float, where: str) -> list[float]:
    """The multiples of a step below `end`, and `end`."""
    if step[-1:] not in _YEARS:
        raise ValueError(f"{where} is {step!r}; a step is '1d', '1w', '1m' or '1y'")
    years = _time(step, where)
    if end / years > _core.cva_dates:
        raise ValueError(f"{where}: a step of {step!r} makes more than {_core.cva_dates} dates")
    count = max(1, math.ceil(end / years * (1 - 1e-9)))
    return [*(years * (i + 1) for i in range(count - 1)), end if end > 0 else years]


def _market(market: Any, rate: float) -> tuple[dict[str, Any], list[str], dict[str, list[Any]]]:
    columns = columns_of(market, "market")
    for needed in ("asset", "spot", "volatility"):
        if needed not in columns:
            raise ValueError(f"market has no column '{needed}'; it must have asset, spot and volatility")
    names = [str(name) for name in columns["asset"]]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"market: asset '{twice[0]}' is listed twice")
    unknown = [c for c in columns if c not in ("asset", "spot", "volatility", "dividend", *names)]
    if unknown:
        raise ValueError(f"market: unknown column '{unknown[0]}'; correlations stand under the names of the assets")

    def column(name: str, default: float | None = None) -> list[float]:
        return [number(v, f"market[{i}]: {name}", default) for i, v in enumerate(columns[name])]

    result: dict[str, Any] = {
        "assets": len(names), "rate": rate, "s0": column("spot"), "sigma": column("volatility")
    }  # fmt: skip
    if "dividend" in columns:
        result["dividend"] = column("dividend", 0.0)
    given = [name for name in names if name in columns]
    if given:
        if len(given) < len(names):
            missing = next(name for name in names if name not in columns)
            raise ValueError(f"market has no column '{missing}': give the correlations with all assets, or none")
        result["correlation"] = np.array([column(name) for name in names]).T.ravel().tolist()
    return result, names, columns


def _book(book: Any, names: list[str], netting: bool) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
    columns = columns_of(book, "book")
    known = ("payoff", "assets", "strike", "maturity", "style", "exercise", "weights", "quantity", "set")
    for needed in known[:4]:
        if needed not in columns:
            raise ValueError(f"book has no column '{needed}'; it must have payoff, assets, strike and maturity")
    for name in columns:
        if name not in known:
            raise ValueError(f"book: unknown column '{name}'; the columns are {', '.join(known)}")
    sets: dict[Any, int] = {}
    contracts = []
    for i in range(len(columns["payoff"])):
        row = {name: values[i] for name, values in columns.items()}
        where = f"book[{i}]"
        if row["payoff"] not in _PAYOFFS:
            raise ValueError(f"{where}: unknown payoff {row['payoff']!r}; it must be one of {', '.join(_PAYOFFS)}")
        style = row.get("style")
        if not is_missing(style) and style not in ("european", "american"):
            raise ValueError(f"{where}: style is {style!r}; it must be european or american")
        assets = words(row["assets"])
        for asset in assets:
            if asset not in names:
                raise ValueError(f"{where}: unknown asset {asset!r}; the market has {', '.join(names)}")
        contract: dict[str, Any] = {
            "payoff": _PAYOFFS.index(row["payoff"]),
            "american": int(style == "american"),
            "strike": number(row["strike"], f"{where}: strike"),
            "maturity": number(row["maturity"], f"{where}: maturity"),
            "quantity": number(row.get("quantity"), f"{where}: quantity", 1.0),
            "assets": len(assets),
            "asset": [names.index(asset) for asset in assets],
            "set": sets.setdefault(row.get("set"), len(sets)) if netting else i,
        }
        weights = [number(w, f"{where}: weights") for w in words(row.get("weights"))]
        if weights:
            if len(weights) != len(assets):
                raise ValueError(f"{where}: {len(weights)} weights for {len(assets)} assets")
            contract["weight"] = weights
        exercise = words(row.get("exercise"))
        if exercise and not contract["american"]:
            raise ValueError(f"{where}: exercise is {row['exercise']!r}, but style is not american")
        if exercise and contract["maturity"] > 0:
            where = f"{where}: exercise"
            step = isinstance(row["exercise"], str) and len(exercise) == 1 and exercise[0][-1] in _YEARS
            times = _steps(exercise[0], contract["maturity"], where) if step else [_time(t, where) for t in exercise]
            contract["exercises"], contract["exercise"] = len(times), times
        contracts.append(contract)
    return contracts, columns


def _hazard(hazard: Any) -> list[tuple[float, float]]:
    """Pieces (until, rate) of a number or a list of such pairs."""
    try:
        if np.ndim(hazard) == 0:
            return [(math.inf, float(hazard))]
        return [(float(until), float(rate)) for until, rate in hazard]
    except (TypeError, ValueError):
        raise TypeError(f"hazard is {hazard!r}; it must be a rate, or a list of pairs (until, rate)") from None


_WORDS = {"contracts[": "book[", "s0[": "market: spot[", "sigma[": "market: volatility[", "dividend[": "market: dividend[",
          "inner_count is": "the length of inner is"}  # fmt: skip


def _in_words_of_tables(message: str) -> str:
    """The message of an error, with the names that tables have in place of the library's."""
    word = next((word for word in _WORDS if message.startswith(word)), "")
    return _WORDS.get(word, "") + message[len(word) :]


def cva(
    book: Any,
    market: Any,
    *,
    rate: float = 0.0,
    hazard: Any = 0.05,
    recovery: float = 0.4,
    threshold: float | None = None,
    netting: bool = True,
    dates: Any = 10,
    horizon: float = 0.0,
    outer: int = 4096,
    inner: Any = None,
    nested: bool = False,
    kept: bool = False,
    estimator: str = "rule",
    rule_paths: int = 0,
    degree: int = 0,
    raw: bool = False,
    solver: str | None = None,
    cond: float = 0.0,
    control: bool = True,
    validate: bool = False,
    seed: int = 1,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> CvaResult:
    """Credit valuation adjustment of a book of contracts with one counterparty, by nested Monte Carlo.

    book: a DataFrame of pandas or polars, a dict of columns, a list of dicts or a .csv file, one contract per row:
    payoff (put, call, max-call, basket-put, basket-call, forward), assets (a list of names, or names with blanks),
    strike, maturity, and maybe style (european, american), exercise (of an american contract: a step, "3m", or a list
    of times), weights, quantity, set. market: the same, one asset per row: asset, spot, volatility, and maybe dividend
    and a column of correlations per asset. hazard: the hazard rate of the counterparty, or a list of (until, rate).
    threshold: of collateral. dates: of exposure: how many, a step, or a list of times. A time is a number of years, or
    "1d", "1w", "1m", "1y". inner: inner paths, a number or one per date. estimator: rule, amc or inner, how contracts
    with early exercise are valued. validate: the martingale test, a `CvaValidation` as `.validation` of the result.
    Ctrl-C stops the run. executor: workers of concurrent.futures, with the same result; checkpoint: a folder that keeps
    finished units; units: how many. docs/cva.md describes what is computed.

    >>> import shoal
    >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
    >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
    >>> result = shoal.cva(book, market, rate=0.03, dates=4, outer=1024)
    >>> bool(0.25 < result.cva < 0.35)
    True
    >>> book[0] |= {"payoff": "put", "style": "american", "exercise": "1m"}
    >>> result = shoal.cva(book, market, rate=0.03, dates=[0.25, 0.5, "1y"], outer=1024, validate=True)
    >>> result.validation.passed, result.validation.table["z"].shape
    (True, (1, 3))
    """
    assets, names, market_columns = _market(market, rate)
    contracts, book_columns = _book(book, names, netting)
    pieces = _hazard(hazard)
    outer = whole("outer", outer)
    party = {"pieces": len(pieces), "hazard": [h for _, h in pieces], "until": [t for t, _ in pieces],
             "recovery": recovery, "collateral": int(threshold is not None),
             "threshold": 0.0 if threshold is None else threshold}  # fmt: skip
    if len(pieces) == 1:
        party["until"] = None
    if estimator not in _ESTIMATORS:
        raise ValueError(f"estimator is {estimator!r}; it must be one of {', '.join(_ESTIMATORS)}")
    counts = [] if inner is None else [whole("inner", m) for m in ([inner] if np.ndim(inner) == 0 else inner)]
    times = None
    if isinstance(dates, str):
        times = _steps(dates, horizon or max([c["maturity"] for c in contracts], default=0.0), "dates")
    elif np.ndim(dates):
        times = [_time(t, "dates") for t in dates]
    options: dict[str, Any] = {
        "dates": dates if times is None else len(times), "time": times, "horizon": horizon, "outer": outer,
        "inner_count": len(counts), "inner": counts,
        "nested": int(nested), "kept": int(kept), "estimator": _ESTIMATORS.index(estimator), "rule_paths": rule_paths,
        "degree": degree, "raw": int(raw), "solver": solver, "cond": cond, "type": TYPES[dtype_name(dtype)],
        "seed": seed, "control": 1 if control else -1, "validate": int(validate),
    }  # fmt: skip
    if not counts:
        options["inner"] = None
    with shown("cva", progress):
        try:
            plan = _core.cva(context(device_number(device)), assets, contracts, party, options)
        except ValueError as error:
            raise ValueError(_in_words_of_tables(str(error))) from None
        how = Units(executor, checkpoint, units)
        if how.wanted():
            job = job_of("cva", [assets, contracts, party, options], outer, device_number(device), units)
            done = gather(job, how, plan)
            total, samples = _core.units_cva_counts(done), _core.units_rows(done)
        else:
            samples = np.empty((outer, _core.cva_width(plan)))
            total = _core.cva_run(plan, 0, outer, samples)
    info = _core.cva_describe(plan)
    value, profile = _core.cva_result(plan, samples, outer, info["dates"])
    validation = None
    if validate:
        table = np.empty((len(contracts), info["dates"], len(_core.cva_check_columns)))
        checked = _core.cva_validate(plan, samples, outer, table)
        validation = CvaValidation(checked, table, np.array([date["time"] for date in profile]))
    days = dates if times is None else "".join(f"{t!r}," for t in times)
    words_of = [f"--rate={rate}", f"--recovery={recovery}", f"--dates={days}", f"--outer={outer}",
                f"--seed={seed}", f"--estimator={estimator}", "--type=" + ("f32" if options["type"] else "f64"),
                "--hazard=" + (repr(pieces[0][1]) if len(pieces) == 1 else ",".join(f"{t!r}:{h!r}" for t, h in pieces)),
                *([f"--inner={','.join(map(str, counts))}"] if counts else []),
                *(f"--{name}={given}" for name, given in (("threshold", threshold), ("horizon", horizon),
                  ("rule-paths", rule_paths), ("degree", degree), ("solver", solver), ("cond", cond)) if given),
                *(word for word, given in (("--exposure=nested", nested), ("--not-stopped", kept),
                  ("--raw-basis", raw), ("--no-control", not control), ("--no-netting", not netting),
                  ("--validate", validate)) if given),
                ]  # fmt: skip
    again = {"book": book_columns, "market": market_columns, "options": words_of}
    return CvaResult(value, profile, total, info, again, validation)
