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
from ._devices import dtype_name, whole
from ._progress import progress as shown
from ._results import with_error
from ._runtime import context
from ._tables import columns_of, is_missing, number, with_usual_names, words
from ._units import Units, chosen, gather, job_of

_PAYOFFS = _core.cva_payoffs()
# columns, and other names for them, as in cli/cva/files.c and dividends.c
_OF_MARKET = {
    "asset": ("ticker",), "spot": (), "volatility": ("vol", "sigma"), "dividend": ("foreign_rate", "foreign rate"),
    "v0": (), "kappa": (), "theta": (), "xi": ("vol_of_vol", "volvol"), "rho": (),
}  # fmt: skip
_OF_HESTON = {"v0": "v0", "kappa": "kappa", "theta": "theta", "xi": "sigma", "rho": "rho"}  # columns, and the library's names
_OF_BOOK: dict[str, tuple[str, ...]] = {
    "payoff": (), "assets": ("asset", "ticker"), "strike": (), "maturity": (), "style": (), "exercise": (), "weights": (),
    "barrier": (), "fixings": ("fixing",), "quantity": ("notional",), "set": ("netting_set", "netting set", "nettingset"),
    "id": ("trade", "trade_id", "trade id", "tradeid"), "counterparty": ("party", "cpty", "counter_party"),
}  # fmt: skip
_OF_DIVIDENDS = {"asset": ("ticker",), "date": ("time", "tenor", "ex_date", "ex-date", "ex date", "exdate"),
                 "amount": ("dividend", "cash", "value")}  # fmt: skip
_ESTIMATORS = ("rule", "amc", "inner")
_YEARS = {"d": 1 / 365, "w": 7 / 365, "m": 1 / 12, "y": 1.0}
_ONE_WAY = ("no", "counterparty", "us")  # who alone posts collateral
_VALIDATION_FAILED = 70  # the program's exit code


class CvaValidation:
    """The martingale test of a run: at every date, a contract's discounted value plus its earlier discounted cash flows
    must have its price today as mean. `z` is the difference in standard errors.

    - `passed`: True if no |z| exceeds `limit`; a correct program exceeds it in 1 of 1000 runs
    - `worst_z`, the largest of `scores` numbers, with its `contract` (row of the book) and `time`
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
    regressions and paths; `info` about the contracts; `validation`, a `CvaValidation`, or None; `dva`, `fva` and
    `adjustments`, a dict with these, EPE, ENE, effective EPE and quantiles. With breakdown `by_counterparty`, `by_set` and
    `by_trade`, dicts of columns: contributions of trades add up to their set. With greeks `sensitivities`, a dict of
    columns, one entry per parameter: `parameter` (spot, volatility, ...) `of` an asset or a counterparty, `with` another
    asset, `time`, `value`, `derivative`, its `stderr`, a usual `move`, the `change` of the CVA by it and `change_stderr`.

    >>> import shoal
    >>> market = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
    >>> book = [{"payoff": "call", "assets": "ALFA", "strike": 100.0, "maturity": 1.0}]
    >>> result = shoal.cva(book, market, dates=2, outer=64, breakdown=True)
    >>> bool(abs(result.by_trade["cva"].sum() - result.by_set["cva"][0]) < 1e-12)
    True
    >>> shoal.cva(book, market, dates=2, outer=64, greeks=True).sensitivities["parameter"]
    ['spot', 'volatility', 'dividend', 'rate', 'hazard', 'recovery']
    >>> low, high = result.interval
    >>> bool(low < result.cva < high), result.profile["time"]
    (True, array([0.5, 1. ]))
    """

    def __init__(self, value: dict[str, float], profile: list[dict[str, Any]], counts: dict[str, Any],
                 info: dict[str, Any], again: dict[str, Any],
                 validation: CvaValidation | None = None, adjustments: dict[str, float] | None = None,
                 tables: dict[str, Any] | None = None) -> None:  # fmt: skip
        self.adjustments, tables = adjustments or {}, tables or {}
        self.dva, self.fva = self.adjustments.get("dva", 0.0), self.adjustments.get("fva", 0.0)
        self.by_counterparty, self.by_set = tables.get("by_counterparty"), tables.get("by_set")
        self.by_trade, self.sensitivities = tables.get("by_trade"), tables.get("sensitivities")
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
            for name in ("book", "market", "sets", "counterparties"):
                columns = again[name]
                if not columns:
                    continue
                with open(os.path.join(folder, f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file)
                    writer.writerow(columns)
                    for row in zip(*columns.values()):
                        writer.writerow([_cell(v) for v in row])
            command = [sys.executable, "-m", "shoal", "cva", os.path.join(folder, "book.csv"), "--market",
                       os.path.join(folder, "market.csv"), "--quiet", "--report", os.fspath(path),
                       *again["options"], *(word for name in ("sets", "counterparties") if again[name]
                         for word in (f"--{name}", os.path.join(folder, f"{name}.csv")))]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode not in (0, _VALIDATION_FAILED):
                raise RuntimeError(f"the report could not be written: {done.stderr.strip()}")

    def __repr__(self) -> str:
        profile, peak = self.profile, self.profile["epe"].argmax()
        return (
            f"<shoal.CvaResult: {with_error(self.cva, self.stderr)}, bias {self.bias:.2g}; {len(profile['time'])} dates, "
            f"peak EPE {with_error(profile['epe'][peak], profile['epe_error'][peak])}>"
        )


def _cell(value: Any) -> str:
    """Of a .csv file: words of a list with blanks between them, points of a hazard rate as 0.5:0.04."""
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if not hasattr(value, "__iter__"):
        return str(value)
    return " ".join(str(v) if np.ndim(v) == 0 else ":".join(map(str, v)) for v in value)


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


def _list_of_times(value: Any, maturity: float, where: str) -> tuple[int, list[float]]:
    """A step up to maturity, or times: how many, and they."""
    given = words(value)
    step = isinstance(value, str) and len(given) == 1 and given[0][-1] in _YEARS
    times = _steps(given[0], maturity, where) if step else [_time(t, where) for t in given]
    return len(times), times


def _market(
    market: Any, rate: float
) -> tuple[dict[str, Any], list[dict[str, float]], list[str], dict[str, list[Any]]]:
    columns = columns_of(market, "market")
    assets = [str(name) for key in ("asset", "ticker") for name in columns.get(key, [])]
    columns = with_usual_names(columns, "market", _OF_MARKET, assets)
    for needed in ("asset", "spot", "v0" if "v0" in columns else "volatility"):
        if needed not in columns:
            raise ValueError(f"market has no column '{needed}'; it must have asset, spot and volatility")
    names = [str(name) for name in columns["asset"]]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"market: asset '{twice[0]}' is listed twice")

    def column(name: str, default: float | None = None) -> list[float]:
        return [number(v, f"market[{i}]: {name}", default) for i, v in enumerate(columns[name])]

    heston = _heston(columns, len(names))
    result: dict[str, Any] = {
        "assets": len(names), "rate": rate, "s0": column("spot"),
        "sigma": [0.0 if heston and heston[i]["sigma"] else number(v, f"market[{i}]: volatility", None) for i, v in
                  enumerate(columns.get("volatility", [None] * len(names)))],
    }  # fmt: skip
    if "dividend" in columns:
        result["dividend"] = column("dividend", 0.0)
    given = [name for name in names if name in columns]
    if given:
        if len(given) < len(names):
            missing = next(name for name in names if name not in columns)
            raise ValueError(f"market has no column '{missing}': give the correlations with all assets, or none")
        result["correlation"] = np.array([column(name) for name in names]).T.ravel().tolist()
    return result, heston, names, columns


def _heston(columns: dict[str, list[Any]], assets: int) -> list[dict[str, float]]:
    """Numbers of Heston's model per asset, 0 for one with a volatility. Empty if there are none."""
    found = []
    for i in range(assets):
        cells = {name: columns[name][i] for name in _OF_HESTON if name in columns and not is_missing(columns[name][i])}
        for name in _OF_HESTON if cells else ():
            if name not in cells:
                raise ValueError(f"market[{i}]: {name} is missing; Heston's model needs {', '.join(_OF_HESTON)}")
        if cells and not is_missing(columns.get("volatility", [None] * assets)[i]):
            raise ValueError(f"market[{i}]: volatility is given; with v0 to rho it must be missing")
        found.append({key: number(cells[name], f"market[{i}]: {name}") if cells else 0.0 for name, key in _OF_HESTON.items()})
        if cells and not found[-1]["sigma"] > 0:
            raise ValueError(f"market[{i}]: xi is {cells['xi']!r}; it must be above 0")
    return found if any(row["sigma"] for row in found) else []


def _cash(dividends: Any, names: list[str]) -> tuple[list[dict[str, Any]], list[tuple[str, float, float]]]:
    """A curve of times and amounts per asset; all dividends, sorted. None if there are none."""
    columns = {} if dividends is None else with_usual_names(columns_of(dividends, "dividends"), "dividends", _OF_DIVIDENDS)
    for needed in ("asset", "date", "amount"):
        if columns and needed not in columns:
            raise ValueError(f"dividends has no column '{needed}'; it must have asset, date and amount")
    rows = []
    for i, name in enumerate(columns.get("asset", [])):
        if name not in names:
            raise ValueError(f"dividends[{i}]: unknown asset {name!r}; the market has {', '.join(names)}")
        amount = number(columns["amount"][i], f"dividends[{i}]: amount")
        rows.append((name, _time(columns["date"][i], f"dividends[{i}]: date"), amount))
    rows.sort(key=lambda row: (names.index(row[0]), row[1]))
    for one, other in zip(rows, rows[1:]):
        if one[:2] == other[:2]:
            raise ValueError(f"dividends: asset {one[0]} has two dividends at {one[1]:g} years; add them up")
    curves = []
    for name in names if rows else []:
        mine = [row for row in rows if row[0] == name]
        curves.append({"count": len(mine), "time": [t for _, t, _ in mine], "value": [x for _, _, x in mine]})
    return curves, rows


def _book(
    book: Any, names: list[str], netting: bool
) -> tuple[list[dict[str, Any]], dict[str, list[Any]], list[Any]]:
    columns = with_usual_names(columns_of(book, "book"), "book", _OF_BOOK)
    for needed in ("payoff", "assets", "strike", "maturity"):
        if needed not in columns:
            raise ValueError(f"book has no column '{needed}'; it must have payoff, assets, strike and maturity")
    sets: dict[Any, int] = {}  # of (counterparty, set)
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
            "set": sets.setdefault((row.get("counterparty"), row.get("set"), 0 if netting else i), len(sets)),
        }
        if not is_missing(row.get("barrier")):
            contract["barrier"] = number(row["barrier"], f"{where}: barrier")
        weights = [number(w, f"{where}: weights") for w in words(row.get("weights"))]
        if weights:
            if len(weights) != len(assets):
                raise ValueError(f"{where}: {len(weights)} weights for {len(assets)} assets")
            contract["weight"] = weights
        fixings = words(row.get("fixings"))
        if fixings and contract["maturity"] > 0:
            contract["fixings"], contract["fixing"] = _list_of_times(row["fixings"], contract["maturity"], f"{where}: fixings")
        exercise = words(row.get("exercise"))
        if exercise and not contract["american"]:
            raise ValueError(f"{where}: exercise is {row['exercise']!r}, but style is not american")
        if exercise and contract["maturity"] > 0:
            contract["exercises"], contract["exercise"] = _list_of_times(row["exercise"], contract["maturity"],
                                                                         f"{where}: exercise")  # fmt: skip
        contracts.append(contract)
    return contracts, columns, [key[:2] for key in sets]


def _parties(counterparties: Any, set_keys: list[Any], usual: dict[str, Any]) -> tuple[
    list[dict[str, Any]], list[Any], list[int], dict[str, list[Any]]
]:  # fmt: skip
    """Counterparties, their names, that of each netting set; the columns of the table."""
    columns = {} if counterparties is None else columns_of(counterparties, "counterparties")
    known = ("counterparty", "hazard", "recovery")
    for name in columns:
        if name not in known:
            raise ValueError(f"counterparties: unknown column '{name}'; the columns are {', '.join(known)}")
    if counterparties is not None and "counterparty" not in columns:
        raise ValueError("counterparties has no column 'counterparty'")
    names = columns.get("counterparty", list(dict.fromkeys(party for party, _ in set_keys)))
    for party, _ in set_keys:
        if party not in names:
            raise ValueError(f"book: unknown counterparty {party!r}; there are {', '.join(map(str, names))}")
    parties = [dict(usual) for _ in names or [None]]
    for i, party in enumerate(parties):
        for name in columns:
            if name == "hazard" and not is_missing(columns[name][i]):
                party.update(_pieces(_hazard(columns[name][i])))
            elif name == "recovery":
                party[name] = number(columns[name][i], f"counterparties[{i}]: {name}", usual[name])
    return parties, names, [names.index(party) for party, _ in set_keys], columns


def _pieces(hazard: list[tuple[float, float]]) -> dict[str, Any]:
    one = len(hazard) == 1
    return {"pieces": len(hazard), "hazard": [h for _, h in hazard], "until": None if one else [t for t, _ in hazard]}


def _spread(spread: Any) -> dict[str, Any]:
    """A curve of a number or a list of (until, spread); None: no points."""
    if spread is None:
        return {"count": 0}
    points = [(1.0 if t == math.inf else t, s) for t, s in _hazard(spread)]
    return {"count": len(points), "time": [t for t, _ in points], "value": [s for _, s in points]}


def _table(names: dict[str, list[Any]], rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {**names, **{key: np.array([row[key] for row in rows]) for key in (rows[0] if rows else ())}}


def _hazard(hazard: Any) -> list[tuple[float, float]]:
    """Pieces (until, rate) of a number or a list of such pairs."""
    try:
        if np.ndim(hazard) == 0:
            return [(math.inf, float(hazard))]
        return [(float(until), float(rate)) for until, rate in hazard]
    except (TypeError, ValueError):
        raise TypeError(f"hazard is {hazard!r}; it must be a rate, or a list of pairs (until, rate)") from None


def _period(value: Any, where: str) -> float:
    return 0.0 if value == 0 or is_missing(value) else _time(value, where)


def _agreements(
    sets: Any, names: list[Any], usual: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
    """The collateral of each netting set of the book, in its order; the columns of `sets`."""
    columns = {} if sets is None else columns_of(sets, "sets")
    known = ("set", "threshold", "mta", "independent", "mpor", "one-way")
    for name in columns:
        if name not in known:
            raise ValueError(f"sets: unknown column '{name}'; the columns are {', '.join(known)}")
    if sets is not None and "set" not in columns:
        raise ValueError("sets has no column 'set'")
    rows = {}
    for i, name in enumerate(columns.get("set", [])):
        if name not in names:
            raise ValueError(f"sets[{i}]: unknown set {name!r}; the book has {', '.join(map(str, names))}")
        given = {column: columns[column][i] for column in columns if not is_missing(columns[column][i])}
        rows[name] = ({**usual, **given}, f"sets[{i}]")
    agreements = []
    for name in names:
        row, where = rows.get(name, (usual, "collateral"))
        threshold = row["threshold"]
        if row["one-way"] not in _ONE_WAY:
            raise ValueError(f"{where}: one-way is {row['one-way']!r}; it must be one of {', '.join(_ONE_WAY)}")
        agreement = {
            "collateral": int(not is_missing(threshold)), "threshold": number(threshold, f"{where}: threshold", 0.0),
            "transfer": number(row["mta"], f"{where}: mta"), "period": _period(row["mpor"], f"{where}: mpor"),
            "independent": number(row["independent"], f"{where}: independent"), "one_way": _ONE_WAY.index(row["one-way"]),
        }  # fmt: skip
        if not agreement["collateral"] and (agreement["transfer"] or agreement["period"] or agreement["one_way"]):
            raise ValueError(f"{where}: mta, mpor and one-way need a threshold; 0: collateral covers the whole value")
        agreements.append(agreement)
    return agreements, columns


def _by_asset(value: Any, names: list[str], where: str) -> list[float] | None:
    """A number per asset: of a number, of all; of a dict, of some."""
    if value is None:
        return None
    if not hasattr(value, "keys"):
        return [number(value, where)] * len(names)
    for name in value:
        if name not in names:
            raise ValueError(f"{where}: unknown asset {name!r}; the market has {', '.join(names)}")
    return [number(value.get(name), f"{where}[{name!r}]", 0.0) for name in names]


_WORDS = {"contracts[": "book[", "s0[": "market: spot[", "sigma[": "market: volatility[", "dividend[": "market: dividend[",
          "cash[": "market: asset[", "cash is": "dividends are", "heston[": "market: asset[",
          "heston.sigma[": "market: xi[", "heston.": "market: ", "heston is given; ": "market: ",
          "inner_count is": "the length of inner is", "by_trade is 1": "breakdown is True"}  # fmt: skip


def _in_words_of_tables(message: str) -> str:
    """The message of an error, with the names that tables have in place of the library's."""
    word = next((word for word in _WORDS if message.startswith(word)), "")
    return _WORDS.get(word, "") + message[len(word) :]


def _sensitivities(rows: list[dict[str, Any]], assets: list[str], parties: list[Any]) -> dict[str, Any]:
    """The columns of sensitivities.csv."""

    def named(row: dict[str, Any]) -> Any:
        names = parties if row["parameter"] in _core.cva_credit else assets
        return "" if row["index"] < 0 else names[row["index"]]

    numbers = {name: np.array([row[key] for row in rows]) for name, key in
               (("time", "time"), ("value", "at"), ("derivative", "value"), ("stderr", "error"), ("move", "move"))}  # fmt: skip
    return {
        "parameter": [row["name"] for row in rows],
        "of": [named(row) for row in rows],
        "with": ["" if row["other"] < 0 else assets[row["other"]] for row in rows],
        **numbers,
        "change": numbers["move"] * numbers["derivative"],
        "change_stderr": numbers["move"] * numbers["stderr"],
    }


def cva(
    book: Any,
    market: Any,
    *,
    rate: float = 0.0,
    dividends: Any = None,
    hazard: Any = _core.cva_usual_hazard,
    recovery: float = _core.cva_usual_recovery,
    threshold: float | None = None,
    mta: float = 0.0,
    independent: float = 0.0,
    mpor: Any = 0.0,
    one_way: str = "no",
    sets: Any = None,
    hazard_vol: float = 0.0,
    hazard_reversion: float = 0.0,
    hazard_correlation: Any = None,
    default_jump: Any = None,
    counterparties: Any = None,
    own_hazard: Any = None,
    own_recovery: float = _core.cva_usual_recovery,
    borrowing: Any = None,
    lending: Any = None,
    breakdown: bool = False,
    greeks: bool = False,
    gammas: bool = False,
    netting: bool = True,
    dates: Any = _core.cva_usual_dates,
    horizon: float = 0.0,
    outer: int = _core.cva_usual_outer,
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
    quantile_error: float = 0.0,
    seed: int = 1,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> CvaResult:
    """Credit valuation adjustment of a book of contracts with one counterparty, by nested Monte Carlo.

    book: a DataFrame of pandas or polars, a dict of columns, a list of dicts or a .csv file, one contract per row:
    payoff (put, call, max-call, basket-put, basket-call, forward, digital-put, digital-call, fx-forward, fx-put,
    fx-call; down-out-put, down-in-call, up-out-put and so on; asian-put, asian-call), assets (a list of names, or names with blanks),
    strike, maturity, and maybe barrier, style (european, american), exercise (of an american contract: a step, "3m", or a list
    of times), fixings (of an asian one, the same), weights, quantity, set. market: the same, one asset per row: asset, spot, volatility (or v0, kappa, theta, xi
    and rho of Heston's model), and maybe dividend and a column of correlations per asset. dividends: cash dividends, a table with columns asset, date and amount.
    hazard: the hazard rate of the counterparty, or a list of (until, rate).
    threshold, mta (minimum transfer amount), independent (amount), mpor (margin period of risk: years or "2w") and one_way
    ("counterparty" or "us" alone posts) are the collateral of all netting sets; sets: a table with columns set, and maybe
    these, of some. hazard_vol, hazard_reversion, hazard_correlation (a number, or a dict by asset) let the hazard rate move
    with the assets; default_jump: of the assets' prices at default. With a column counterparty of the book, counterparties
    is a table with that column and maybe hazard and recovery. own_hazard and own_recovery: for the DVA; borrowing and
    lending: spreads, a number or a list of (until, spread), for the FVA. breakdown: results `by_counterparty`, `by_set`
    and `by_trade`. greeks: all first-order sensitivities of the CVA, `sensitivities`; contracts need a closed form, or
    early exercise on one asset. gammas: the same, and second-order sensitivities by spots.
    dates: of exposure: how many, a step, or a list of times. A time is a number of years, or
    "1d", "1w", "1m", "1y". inner: inner paths, a number or one per date. estimator: rule, amc or inner, how contracts
    with early exercise are valued. validate: the martingale test, a `CvaValidation` as `.validation` of the result.
    quantile_error: keep sums over outer paths in place of their rows, so that memory does not grow with `outer`; PFE and
    expected shortfall then have this relative error. Ctrl-C stops the run. devices: "all" GPUs, or a list like [0, 1];
    executor: workers of concurrent.futures; both with the same result. checkpoint: a folder that keeps finished units;
    units: how many. docs/cva.md describes what is computed.

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
    assets, heston, names, market_columns = _market(market, rate)
    contracts, book_columns, set_keys = _book(book, names, netting)
    set_names = [name for _, name in set_keys]
    usual = {"threshold": threshold, "mta": mta, "independent": independent, "mpor": mpor, "one-way": one_way}
    agreements, set_columns = _agreements(sets, set_names, usual)
    correlation = _by_asset(hazard_correlation, names, "hazard_correlation")
    jump = _by_asset(default_jump, names, "default_jump")
    pieces = _hazard(hazard)
    outer = whole("outer", outer)
    usual_party = {**_pieces(pieces), "recovery": recovery, "volatility": hazard_vol, "reversion": hazard_reversion,
                   "correlation": correlation, "jump": jump}  # fmt: skip
    parties, party_names, party_of, party_columns = _parties(counterparties, set_keys, usual_party)
    cash, cash_rows = _cash(dividends, names)
    funding = {"cash": cash, "heston": heston, "own": [] if own_hazard is None else [{**_pieces(_hazard(own_hazard)), "recovery": own_recovery}],
               "borrowing": _spread(borrowing), "lending": _spread(lending)}  # fmt: skip
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
        "seed": seed, "control": 1 if control else -1, "validate": int(validate), "by_trade": int(breakdown),
        "greeks": int(greeks), "gammas": int(gammas), "quantile_error": quantile_error,
        "party": party_of,
    }  # fmt: skip
    if not counts:
        options["inner"] = None
    how = Units(executor, checkpoint, units, chosen(devices, device))
    numbers, summed = how.on(device), quantile_error != 0
    with shown("cva", progress):
        try:
            plan = _core.cva(context(numbers[0]), assets, contracts, parties, agreements, funding, options)
        except ValueError as error:
            raise ValueError(_in_words_of_tables(str(error))) from None
        if how.wanted() or summed:
            job = job_of("cva", [assets, contracts, parties, agreements, funding, options], outer, numbers, units)
            done = gather(job, how, plan)
            total, samples, totals = _core.units_cva_counts(done), _core.units_rows(done), _core.units_cva_totals(done)
            if summed:
                samples = totals + 8 * _core.cva_totals(plan)  # the sums
        else:
            samples = np.empty((outer, _core.cva_width(plan)))
            totals = np.zeros(_core.cva_totals(plan), np.int64) if breakdown else 0
            total = _core.cva_run(plan, 0, outer, samples, totals)
    info = _core.cva_describe(plan)
    all_of, tables = _core.cva_adjust(plan, samples, summed, outer, 0, 0), {}
    if breakdown:
        ids = book_columns.get("id", list(range(len(contracts))))
        of_party = [_core.cva_adjust(plan, samples, summed, outer, 1, i) for i in range(info["parties"])]
        of_set = [_core.cva_adjust(plan, samples, summed, outer, 2, i) for i in range(info["sets"])]
        of_trade = _core.cva_trades(plan, totals, outer, len(contracts))
        tables = {
            "by_counterparty": _table({"counterparty": party_names}, of_party),
            "by_set": _table({"counterparty": [party for party, _ in set_keys], "set": set_names}, of_set),
            "by_trade": _table({"id": ids, "set": [c["set"] for c in contracts]}, of_trade),
        }
    if greeks or gammas:
        found = _core.cva_sensitivities(plan, samples, outer)
        named = counterparties is not None or "counterparty" in book_columns
        tables["sensitivities"] = _sensitivities(found, names, party_names if named else ["counterparty"])
    value, profile = _core.cva_result(plan, samples, summed, outer, info["dates"])
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
                *([] if threshold is None else [f"--threshold={threshold}"]),
                *(f"--{name}={','.join(f'{a}:{x!r}' for a, x in zip(names, list_of))}" for name, list_of in
                  (("hazard-correlation", correlation), ("default-jump", jump)) if list_of),
                *([f"--dividends={','.join(f'{a}:{t!r}:{x!r}' for a, t, x in cash_rows)}"] if cash_rows else []),
                *(f"--{name}=" + (repr(float(given)) if np.ndim(given) == 0 else
                  ",".join(f"{t!r}:{x!r}" for t, x in _hazard(given))) for name, given in
                  (("own-hazard", own_hazard), ("borrowing", borrowing), ("lending", lending)) if given is not None),
                f"--own-recovery={own_recovery}",
                *([f"--one-way={one_way}"] if one_way != "no" else []),
                *(f"--{name}={given}" for name, given in (("mta", mta), ("independent", independent), ("mpor", mpor),
                  ("hazard-vol", hazard_vol), ("hazard-reversion", hazard_reversion), ("horizon", horizon),
                  ("rule-paths", rule_paths), ("degree", degree), ("solver", solver), ("cond", cond),
                  ("quantile-error", quantile_error)) if given),
                *(word for word, given in (("--exposure=nested", nested), ("--not-stopped", kept),
                  ("--raw-basis", raw), ("--no-control", not control), ("--no-netting", not netting),
                  ("--validate", validate), ("--greeks", greeks), ("--gammas", gammas)) if given),
                ]  # fmt: skip
    again = {"book": book_columns, "market": market_columns, "sets": set_columns, "counterparties": party_columns,
             "options": words_of}  # fmt: skip
    return CvaResult(value, profile, total, info, again, validation, all_of, tables)
