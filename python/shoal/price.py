# SPDX-License-Identifier: Apache-2.0
"""Prices of options, with their standard errors: heston, expou, bullet, american.

Strikes and maturities are numbers or arrays; a result has the shape (maturities, strikes), without the axis of a number.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import TYPES, batch_of
from ._devices import device_number, dtype_name, real, whole
from ._progress import progress as shown
from ._results import with_error
from ._runtime import context
from ._units import Units, chosen, gather, job_of

__all__ = ["ImpliedVol", "PriceResult", "american", "bullet", "expou", "heston", "implied_vol"]

_COLUMNS: list[str] = _core.price_columns
_GREEKS = ("delta", "gamma", "vega")
_VANILLA = ("price", "delta", "gamma", "vega", "theta", "rho", "boundary")
_STATUS = np.array(["ok", "invalid", "two boundaries", "unsettled", "too low", "too high"])  # shoal_vanilla_status
_PAYOFFS = ("put", "call", "max-call", "basket-put", "basket-call")


class PriceResult:
    """Prices and what belongs to them, each an array of the shape (maturities, strikes).

    - `price`, `stderr`: the price and its standard error, 0 by a method without paths
    - `implied_vol`: of Black and Scholes, NaN if no volatility has that price
    - `greeks`: a dict of delta, gamma, vega and their standard errors if they were computed, else empty
    - `bias`: a bound of the discretisation error; `bound`: above 0 if no path paid
    - `strike`, `maturity`, `method`, `paths`: the arguments and the method that was used

    >>> import shoal
    >>> r = shoal.price.heston([0.9, 1.0, 1.1], [0.5, 1.0], method="analytic")
    >>> r.price.shape, r.method
    ((2, 3), 'analytic')
    """

    def __init__(self, values: Any, shape: Any, strike: Any, maturity: Any, info: dict[str, Any], paths: int) -> None:
        self._columns = {name: values[:, i].reshape(shape) for i, name in enumerate(_COLUMNS)}
        self.strike, self.maturity, self.info, self.paths = strike, maturity, info, paths
        self.method: str = info["method"]

    @property
    def price(self) -> Any:
        """The prices."""
        return self._columns["price"][()]

    @property
    def stderr(self) -> Any:
        """The standard errors of the prices."""
        return self._columns["error"][()]

    @property
    def implied_vol(self) -> Any:
        """The implied volatilities of Black and Scholes."""
        return self._columns["implied_vol"][()]

    @property
    def bias(self) -> Any:
        """A bound of the discretisation error; 0 if the steps have none."""
        return self._columns["bias"][()]

    @property
    def bound(self) -> Any:
        """Above 0: no path paid, and the price is below this with a confidence of 95 %."""
        return self._columns["bound"][()]

    @property
    def greeks(self) -> dict[str, Any]:
        """delta, gamma and vega with their standard errors (`delta_stderr`), if the method computes them."""
        found = {}
        for name in _GREEKS:
            if not np.isnan(self._columns[name]).all():
                found[name] = self._columns[name][()]
                found[f"{name}_stderr"] = self._columns[f"{name}_error"][()]
        found.update(self.info.get("greeks", {}))
        return found

    @property
    def gradient(self) -> dict[str, Any]:
        """Derivatives in the parameters of the model: of `heston` with method "analytic" and greeks=True, else empty.

        >>> import shoal
        >>> r = shoal.price.heston([0.9, 1.0], 1.0, method="analytic", greeks=True)
        >>> list(r.gradient)
        ['s0', 'rate', 'dividend', 'v0', 'kappa', 'theta', 'sigma', 'rho']
        """
        found: dict[str, Any] = self.info.get("gradient", {})
        return found

    def to_pandas(self) -> Any:
        """A DataFrame with one row per strike and maturity.

        >>> import shoal
        >>> shoal.price.heston(1.0, 1.0, method="analytic").to_pandas().shape[0]  # doctest: +SKIP
        1
        """
        import pandas

        maturity, strike = np.meshgrid(np.atleast_1d(self.maturity), np.atleast_1d(self.strike), indexing="ij")
        table = {"maturity": maturity.ravel(), "strike": strike.ravel(), "price": np.ravel(self.price)}
        table["stderr"] = np.ravel(self.stderr)
        table["implied_vol"] = np.ravel(self.implied_vol)
        table.update({name: np.ravel(value) for name, value in self.greeks.items()})
        return pandas.DataFrame(table)

    def __repr__(self) -> str:
        if np.ndim(self.price) == 0:
            return f"<shoal.PriceResult: {with_error(self.price, self.stderr)} by {self.method}>"
        return f"<shoal.PriceResult: {np.shape(self.price)} prices by {self.method}>"


def _array(name: str, value: Any) -> Any:
    try:
        if np.iscomplexobj(value):
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or an array of numbers, not {value!r}") from None


def _numbers(name: str, value: Any) -> Any:
    result = _array(name, value)
    if result.ndim > 1:
        raise ValueError(f"{name} has {result.ndim} dimensions; it must be a number or have one")
    return result


def _grid(strike: Any, maturity: Any) -> tuple[Any, Any, Any]:
    strike, maturity = _numbers("strike", strike), _numbers("maturity", maturity)
    return strike, maturity, maturity.shape + strike.shape


def _none(shape: Any, strike: Any, maturity: Any, method: str) -> PriceResult:
    """The prices of no options."""
    info = {"method": method, "fits": []}
    return PriceResult(np.empty((0, len(_COLUMNS))), shape, strike[()], maturity[()], info, 0)


def _simulate(
    create: str, arguments: list[Any], contracts: int, paths: int, target: float | None, progress: bool, label: str,
    device: Any, how: Units,
) -> tuple[Any, Any, int]:  # fmt: skip
    """The plan, its values, and how many samples were simulated."""
    values = np.full((contracts, len(_COLUMNS)), np.nan)
    goal: dict[str, Any] = {"paths": whole("paths", paths)}
    if target is not None:
        if not real("target", target) > 0:
            raise ValueError(f"target is {target!r}; it must be above 0: a standard error")
        goal = {"target": float(target)}
    numbers = how.on(device)
    with shown(label, progress):
        plan = getattr(_core, create)(context(numbers[0]), *arguments)
        if not how.wanted():
            return plan, values, _core.price_simulate(plan, goal, values)["samples"]
        info = _core.price_describe(plan)
        if target is not None or info["deterministic"]:
            why = "target is given" if target is not None else f"method {info['method']!r} simulates no paths"
            raise ValueError(f"{why}: omit devices, executor, checkpoint and units")
        if goal["paths"] < 1:
            raise ValueError(f"paths is {goal['paths']}; it must be at least 1")
        samples = -(-goal["paths"] // info["paths_each"])
        done = gather(job_of(create, arguments, goal["paths"], numbers, how.units), how, plan)
    _core.price_values(plan, _core.units_rows(done), samples, values)
    return plan, values, samples


def _options(
    method: str, variant: Any, seed: int, antithetic: bool, control: bool | None, greeks: bool, dtype: Any
) -> dict[str, Any]:
    return {
        "method": method, "variant": variant, "seed": seed, "antithetic": int(antithetic),
        "control": 0 if control is None else 1 if control else -1, "greeks": int(greeks),
        "type": TYPES[dtype_name(dtype)],
    }  # fmt: skip


def _by_maturity(
    model: str, parameters: dict[str, Any], options: dict[str, Any], strike: Any, maturity: Any, device: Any,
    paths: int, target: float | None, progress: bool, how: Units,
) -> PriceResult:  # fmt: skip
    strike, maturity, shape = _grid(strike, maturity)
    if 0 in shape:
        return _none(shape, strike, maturity, options["method"])
    order = np.argsort(maturity.reshape(-1), kind="stable")
    strikes, maturities = strike.reshape(-1), maturity.reshape(-1)[order]
    options.update(
        strikes=len(strikes), strike=strikes.tolist(), maturities=len(maturities), maturity=maturities.tolist()
    )
    plan, values, samples = _simulate("price", [model, parameters, options, []], strikes.size * maturities.size, paths,
                                      target, progress, model, device, how)  # fmt: skip
    back = np.empty_like(values).reshape(len(maturities), len(strikes), -1)
    back[order] = values.reshape(back.shape)
    info = _core.price_describe(plan)
    return PriceResult(back.reshape(values.shape), shape, strike[()], maturity[()], info, samples)


def heston(
    strike: Any = 1.0,
    maturity: Any = 1.0,
    *,
    s0: float = 1.0,
    rate: float = 0.0,
    dividend: float = 0.0,
    v0: float = 0.1,
    kappa: float = 0.5,
    theta: float = 0.1,
    sigma: float = 0.3,
    rho: float = -0.7,
    put: bool = False,
    method: str = "auto",
    variant: str | None = None,
    paths: int = _core.price_paths,
    target: float | None = None,
    seed: int = 1,
    steps: int = 0,
    antithetic: bool = False,
    control: bool | None = None,
    greeks: bool = False,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> PriceResult:
    """Calls or puts in Heston's model: dS = (rate - dividend) S dt + sqrt(v) S dZ, dv = kappa (theta - v) dt + sigma
    sqrt(v) dW.

    method: "euler", "qe", "exact", "conditional", or "analytic" (no paths). target: simulate until no standard error is above
    it, instead of `paths`. The same seed gives the same prices on every device. With method "analytic" and greeks the
    result also has `gradient`, the derivatives in all parameters.

    >>> import shoal
    >>> exact = shoal.price.heston([0.9, 1.0], 1.0, method="analytic")
    >>> paths = shoal.price.heston([0.9, 1.0], 1.0, method="conditional", paths=65536)
    >>> bool((abs(paths.price - exact.price) < 4 * paths.stderr + paths.bias + 1e-3).all())
    True
    """
    parameters = {"s0": s0, "rate": rate, "dividend": dividend, "v0": v0, "kappa": kappa, "theta": theta,
                  "sigma": sigma, "rho": rho}  # fmt: skip
    options = _options(method, variant, seed, antithetic, control, greeks, dtype)
    options.update(steps=steps, put=int(put))
    how = Units(executor, checkpoint, units, chosen(devices, device))
    result = _by_maturity("heston", parameters, options, strike, maturity, device, paths, target, progress, how)
    if method == "analytic" and greeks:
        result.info["gradient"] = _gradient(parameters, *_grid(strike, maturity), put, device)
    return result


def _gradient(model: dict[str, Any], strike: Any, maturity: Any, shape: Any, put: bool, device: Any) -> dict[str, Any]:
    names: list[str] = _core.heston_parameters
    strikes, maturities = np.tile(strike.reshape(-1), maturity.size), np.repeat(maturity.reshape(-1), strike.size)
    price, puts = np.empty(strikes.size), np.full(strikes.size, put, np.int32)
    gradient = np.empty((strikes.size, len(names)))
    pointers = [a.ctypes.data for a in (strikes, maturities, puts, price, gradient)]
    _core.heston_prices(context(device_number(device)), model, strikes.size, *pointers)
    return {name: gradient[:, i].reshape(shape)[()] for i, name in enumerate(names)}


def expou(
    strike: Any = 1.0,
    maturity: Any = 1.0,
    *,
    s0: float = 1.0,
    rate: float = 0.0,
    alpha: float = 1.0,
    m: float = 0.1,
    beta: float = 0.1,
    y0: float = -2.302585092994046,
    rho: float = 0.0,
    put: bool = False,
    method: str = "auto",
    paths: int = _core.price_paths,
    target: float | None = None,
    seed: int = 1,
    steps: int = 0,
    antithetic: bool = False,
    control: bool | None = None,
    greeks: bool = False,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> PriceResult:
    """Calls or puts where the logarithm of the volatility is an Ornstein-Uhlenbeck process: dS = rate S dt + e^Y S dW,
    dY = alpha (m - Y) dt + beta dV. method: "euler" or "conditional".

    >>> import shoal
    >>> r = shoal.price.expou([0.9, 1.0, 1.1], 0.5, paths=65536)
    >>> bool((r.price[:-1] > r.price[1:]).all())
    True
    """
    parameters = {"s0": s0, "rate": rate, "alpha": alpha, "m": m, "beta": beta, "y0": y0, "rho": rho}
    options = _options(method, None, seed, antithetic, control, greeks, dtype)
    options.update(steps=steps, put=int(put))
    how = Units(executor, checkpoint, units, chosen(devices, device))
    return _by_maturity("expou", parameters, options, strike, maturity, device, paths, target, progress, how)


def _folder(checkpoint: Any, contract: int | None) -> Any:
    """The folder of units of one of several contracts."""
    if checkpoint is None or contract is None:
        return checkpoint
    os.makedirs(checkpoint, exist_ok=True)
    return os.path.join(os.fsdecode(checkpoint), f"contract-{contract:06}")


def bullet(
    strike: Any = 100.0,
    maturity: Any = 1.0,
    *,
    s0: float = 100.0,
    rate: float = 0.1,
    sigma: float = 0.2,
    barrier: float = 120.0,
    dates: int = 100,
    p1: int = 10,
    p2: int = 50,
    count: str = "A",
    method: str = "auto",
    variant: str | None = None,
    paths: int = _core.price_paths,
    target: float | None = None,
    seed: int = 1,
    antithetic: bool = False,
    control: bool | None = None,
    greeks: bool = False,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> PriceResult:
    """Bullet options: (S_T - strike)+ if the number of dates at which S was below the barrier is from p1 to p2.

    method: "mc", "quad" (quadrature, no error) or "pde". Every strike and maturity is an option of its own.

    >>> import shoal
    >>> r = shoal.price.bullet([95.0, 100.0], method="quad")
    >>> bool(r.price[0] > r.price[1])
    True
    """
    if not isinstance(count, str) or count not in tuple("ABCDEF"):
        raise ValueError(f"count is {count!r}; it must be one letter, 'A' to 'F'")
    strike, maturity, shape = _grid(strike, maturity)
    options = _options(method, variant, seed, antithetic, control, greeks, dtype)
    if 0 in shape:
        return _none(shape, strike, maturity, method)
    rows: list[Any] = []
    info, samples, on = {"method": method}, 0, chosen(devices, device)
    for years in maturity.reshape(-1).tolist():
        for one in strike.reshape(-1).tolist():
            parameters = {"s0": s0, "strike": one, "rate": rate, "maturity": years, "sigma": sigma,
                          "barrier": barrier, "dates": dates, "p1": p1, "p2": p2, "count": count}  # fmt: skip
            folder = _folder(checkpoint, len(rows) if strike.size * maturity.size > 1 else None)
            how = Units(executor, folder, units, on)
            plan, values, samples = _simulate("price", ["bullet", parameters, options, []], 1, paths, target, progress,
                                              "bullet", device, how)  # fmt: skip
            info = _core.price_describe(plan)
            rows.append(values)
    return PriceResult(np.concatenate(rows), shape, strike[()], maturity[()], info, samples)


def _one_shape(payoff: str, numbers: dict[str, Any], prices: Any = None) -> tuple[Any, list[Any], Any, Any]:
    """The shape of all arrays, the arrays (with prices, if any), room for the kind and the status of every option."""
    if payoff not in ("put", "call"):
        raise ValueError(f"payoff is {payoff!r}; one asset has a put or a call")
    names = ("s0", "strike", "rate", "sigma", "maturity", "dividend")
    given = {name: _array(name, numbers[name]) for name in names}
    if prices is not None:
        given["price"] = _array("price", prices)
    batch_of(list(given), [a.shape for a in given.values()], [0] * len(given))
    arrays = np.broadcast_arrays(*given.values())
    flat = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    size = flat[0].size
    return arrays[0].shape, flat, np.full(size, payoff == "call", np.int32), np.empty(size, np.int32)


def _vanilla(
    prices: Any, payoff: str, numbers: dict[str, Any], nodes: int, european: bool, device: Any = "cpu"
) -> tuple[Any, Any]:
    """The columns _VANILLA, or the volatilities that give the prices, and the statuses; all arrays have one shape."""
    shape, (s0, strike, rate, sigma, maturity, dividend, *known), call, status = _one_shape(payoff, numbers, prices)
    found = [np.empty(s0.size) for _ in (_VANILLA if prices is None else ("sigma",))]
    pointers = [0 if a is None else a.ctypes.data
                for a in (s0, strike, rate, sigma, maturity, dividend, call, known[0] if known else None)]  # fmt: skip
    settings = {"nodes": nodes, "european": int(european)}
    _core.vanilla(context(device_number(device)), settings, s0.size, *pointers, [a.ctypes.data for a in found], status.ctypes.data)
    return [a.reshape(shape) for a in found], _STATUS[status].reshape(shape)


def _points(name: str, value: Any) -> dict[str, Any]:
    """A curve: a mapping of times to numbers, or pairs of both."""
    if value is None:
        return {"count": 0}
    pairs = sorted(value.items() if hasattr(value, "items") else value)
    table = _array(name, pairs)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"{name} must have times and numbers: {{0.25: 0.8, 0.75: 0.8}}")
    return {"count": len(pairs), "time": table[:, 0].tolist(), "value": table[:, 1].tolist()}


def _pde(
    payoff: str, numbers: dict[str, Any], settings: dict[str, Any], curves: dict[str, Any], greeks: bool, device: Any
) -> tuple[dict[str, Any], Any]:
    """The columns _VANILLA and `error` (vega and rho with greeks), and the statuses; all arrays have one shape."""
    shape, arrays, call, status = _one_shape(payoff, numbers)
    size = arrays[0].size
    names = [*_VANILLA, "error"]
    found = {name: np.full(size, np.nan) for name in names}
    skipped = () if greeks else ("vega", "rho")
    pointers = [0 if name in skipped else found[name].ctypes.data for name in names]
    _core.vanilla_pde(context(device_number(device)), settings, curves, size, *(a.ctypes.data for a in arrays),
                      call.ctypes.data, pointers, status.ctypes.data)  # fmt: skip
    return {name: a.reshape(shape) for name, a in found.items()}, _STATUS[status].reshape(shape)


class ImpliedVol(NamedTuple):
    """Volatilities, NaN where `status` is not "ok": "too low", "too high", "invalid", "two boundaries", "unsettled".

    >>> import shoal
    >>> str(shoal.price.implied_vol(200.0, 100.0, 1.0).status)
    'too high'
    """

    sigma: Any
    status: Any


def implied_vol(
    price: Any,
    strike: Any = 100.0,
    maturity: Any = 1.0,
    *,
    payoff: str = "put",
    s0: Any = 100.0,
    rate: Any = 0.05,
    dividend: Any = 0.0,
    european: bool = False,
    nodes: int = 0,
) -> ImpliedVol:
    """The Black-Scholes volatilities that give American (or European) prices. Arguments broadcast as in numpy.

    >>> import shoal
    >>> put = shoal.price.american(40.0, 1.0, s0=36.0, sigma=0.2, rate=0.06, method="exact")
    >>> round(float(shoal.price.implied_vol(put.price, 40.0, 1.0, s0=36.0, rate=0.06).sigma), 9)
    0.2
    """
    numbers = {"s0": s0, "strike": strike, "rate": rate, "sigma": 0.0, "maturity": maturity, "dividend": dividend}
    (sigma,), status = _vanilla(price, payoff, numbers, nodes, european)
    return ImpliedVol(sigma[()], status[()])


def _exact(
    strike: Any, maturity: Any, shape: Any, payoff: str, numbers: dict[str, Any], nodes: int, device: Any,
    grid: Any = None, greeks: bool = False,
) -> PriceResult:  # fmt: skip
    """By method exact, or pde with a grid: settings and curves."""
    method = "pde" if grid else "exact"
    for name, value in numbers.items():
        if np.ndim(value) and np.size(value) != 1:
            raise ValueError(f"{name} has {np.size(value)} numbers; method {method!r} has one asset")
        numbers[name] = np.reshape(value, ())
    years = maturity.reshape(-1, 1)
    options = {**numbers, "strike": strike.reshape(-1), "maturity": years}
    info: dict[str, Any] = {"method": method, "variant": "", "deterministic": 1}
    if grid:
        settings, curves = grid
        table, status = _pde(payoff, options, settings, curves, greeks, device)
        info["error"] = table.pop("error").reshape(shape)[()]
    else:
        found, status = _vanilla(None, payoff, options, nodes, False, device)
        table = dict(zip(_VANILLA, found))
        info["boundary"] = table["boundary"].reshape(shape)[()]
    black = {**numbers, "strike": strike.reshape(-1), "maturity": years, "sigma": 0.0}
    table["implied_vol"] = _vanilla(table["price"], payoff, black, 0, True)[0][0]
    if grid and any(grid[1][name]["count"] for name in ("rates", "dividends", "cash")):
        table["implied_vol"] = np.full(status.shape, np.nan)
    none = np.zeros(status.shape)
    values = np.stack([table.get(name, none) for name in _COLUMNS], axis=-1).reshape(-1, len(_COLUMNS))
    more = [name for name in ("theta", "rho") if not np.isnan(table[name]).all()]
    info["greeks"] = {name: table[name].reshape(shape)[()] for name in more}
    info["status"] = status.reshape(shape)[()]
    return PriceResult(values, shape, strike[()], maturity[()], info, 0)


def american(
    strike: Any = 100.0,
    maturity: Any = 1.0,
    *,
    method: str = "auto",
    nodes: int = 0,
    payoff: str = "put",
    s0: Any = 100.0,
    sigma: Any = 0.2,
    rate: float = 0.05,
    dividend: Any = None,
    weights: Any = None,
    correlation: Any = None,
    dates: int | None = None,
    exercise: Any = None,
    cash: Any = None,
    rates: Any = None,
    dividends: Any = None,
    sigmas: Any = None,
    greeks: bool = False,
    paths: int | None = None,
    target: float | None = None,
    seed: int = 1,
    fit_paths: int = 0,
    degree: int = 0,
    raw: bool = False,
    solver: str | None = None,
    cond: float = 0.0,
    control: bool | None = None,
    inner: int = 0,
    dtype: Any = "float64",
    device: Any = "cpu",
    progress: bool = False,
    devices: Any = None,
    executor: Any = None,
    checkpoint: Any = None,
    units: int | None = None,
) -> PriceResult:
    """American and Bermudan options: puts and calls on one asset without sampling error, others by the regressions of
    Longstaff and Schwartz.

    method: "auto" is "exact" for a put or call on one asset, "pde" with dates, exercise, cash or a curve, and "lsm" with
    several assets or an argument of simulations: paths, target, weights, correlation and fit_paths to inner.

    payoff: "put", "call" of one asset; "max-call", "basket-put", "basket-call" of several. s0, sigma and dividend have
    one number per asset, or one for all. correlation is a matrix. dates: exercise at i maturity / dates (lsm: default
    50). All strikes and maturities are fitted as one batch. The price of lsm is a lower bound, up to its standard error;
    inner > 0 computes the upper bound of Andersen and Broadie. `info["fits"]` has the statuses of the regressions.

    "exact" is an integral equation for exercise at any time; `nodes` sets its accuracy (default 12). "pde" is finite
    differences; `nodes` is the size of the grid (default 801). exercise: times of exercise before maturity; later ones have
    no effect. cash: cash dividends, also those after maturity, which are part of the spot price (escrowed model); rates,
    dividends, sigmas: curves; each a mapping of times to numbers. `info["error"]` has the errors of the prices. Both: `greeks` also has theta and rho ("pde": vega and rho with greeks=True), `info` a status per option;
    options with a status other than "ok" are NaN.

    >>> import shoal
    >>> r = shoal.price.american([95.0, 100.0], 1.0, cash={0.25: 0.8, 0.75: 0.8})
    >>> r.method, bool((r.info["error"] < 1e-3).all())
    ('pde', True)
    >>> r = shoal.price.american([36.0, 40.0], 1.0, s0=36.0, rate=0.06, paths=16384, fit_paths=8192)
    >>> bool(4.3 < r.price[1] < 4.6)
    True
    """
    if payoff not in _PAYOFFS:
        raise ValueError(f"payoff is {payoff!r}; it must be one of {', '.join(_PAYOFFS)}")
    if method not in ("auto", "lsm", "exact", "pde"):
        raise ValueError(f"method is {method!r}; it must be auto, exact, pde or lsm")
    given_points = {"cash": cash, "rates": rates, "dividends": dividends, "sigmas": sigmas}
    dated = [name for name, value in {"exercise": exercise, **given_points}.items() if value is not None]
    if method == "auto":
        simulated = (paths, target, weights, correlation, solver, control) != (None,) * 6
        simulated = simulated or any((fit_paths, degree, raw, cond, inner))
        many = any(np.size(v) > 1 for v in (s0, sigma, dividend))
        is_dated = bool(dated) or dates is not None
        method = _core.american_method(_PAYOFFS.index(payoff), 2 if many else 1, simulated, is_dated)
    if dated and method != "pde":
        raise ValueError(f"{dated[0]} needs method 'pde': a put or a call on one asset, and no argument of simulations")
    idle = {"paths": paths, "target": target, "weights": weights, "correlation": correlation, "solver": solver,
            "control": control, "fit_paths": fit_paths or None, "degree": degree or None, "raw": raw or None,
            "cond": cond or None, "inner": inner or None}  # fmt: skip
    for name, value in idle.items():
        if method in ("exact", "pde") and value is not None:
            raise ValueError(f"{name} needs method 'lsm': method {method!r} simulates no paths")
    if method in ("exact", "pde") and dtype_name(dtype) != "float64":
        raise ValueError(f"method {method!r} computes in float64; dtype needs method 'lsm'")
    if dates is not None and method == "exact":
        raise ValueError("dates needs method 'pde' or 'lsm': exercise is possible at any time with method 'exact'")
    grid = None
    if method == "pde":
        when = [] if exercise is None else np.sort(_numbers("exercise", exercise).reshape(-1)).tolist()
        settings_of = {"dates": dates or 0, "exercises": len(when), "exercise": when, "nodes": nodes}
        grid = (settings_of, {name: _points(name, value) for name, value in given_points.items()})
    dates, paths = _core.american_dates if dates is None else dates, _core.price_paths if paths is None else paths
    strike, maturity, shape = _grid(strike, maturity)
    if 0 in shape:
        return _none(shape, strike, maturity, method)
    if method in ("exact", "pde"):
        if Units(executor, checkpoint, units, devices).wanted():
            raise ValueError(
                f"method {method!r} simulates no paths: omit devices, executor, checkpoint and units, or pass method='lsm'"
            )
        numbers = {"s0": s0, "sigma": sigma, "rate": rate, "dividend": 0.0 if dividend is None else dividend}
        return _exact(strike, maturity, shape, payoff, numbers, nodes, device, grid, greeks)
    given = {"s0": _numbers("s0", s0), "sigma": _numbers("sigma", sigma)}
    if dividend is not None:
        given["dividend"] = _numbers("dividend", dividend)
    assets = max(v.size for v in given.values())
    if correlation is not None:
        correlation = np.asarray(correlation, dtype=np.float64)
        assets = max(assets, correlation.shape[0] if correlation.ndim else 1)
        if correlation.shape != (assets, assets):
            raise ValueError(f"correlation has shape {correlation.shape}; it must be ({assets}, {assets})")
    for name, v in given.items():
        if v.size not in (1, assets):
            raise ValueError(f"{name} has {v.size} numbers; it must have one, or {assets}, one per asset")
    option: dict[str, Any] = {name: np.broadcast_to(v.reshape(-1), assets).tolist() for name, v in given.items()}
    option.update(payoff=_PAYOFFS.index(payoff), rate=rate)
    if weights is not None:
        option["weight"] = _numbers("weights", weights).reshape(-1).tolist()
        if len(option["weight"]) != assets:
            raise ValueError(f"weights has {len(option['weight'])} numbers; it must have {assets}, one per asset")
    if correlation is not None:
        option["correlation"] = correlation.ravel().tolist()
    options = [
        {**option, "maturity": years, "strike": one}
        for years in maturity.reshape(-1).tolist()
        for one in strike.reshape(-1).tolist()
    ]
    settings = {"assets": assets, "dates": dates, "degree": degree, "raw": int(raw), "fit_paths": fit_paths,
                "solver": solver, "cond": cond, "type": TYPES[dtype_name(dtype)], "seed": seed,
                "control": 0 if control is None else 1 if control else -1, "inner": inner}  # fmt: skip
    plan, values, samples = _simulate("american", [options, settings], len(options), paths, target, progress, "american",
                                      device, Units(executor, checkpoint, units, chosen(devices, device)))  # fmt: skip
    info = _core.price_describe(plan)
    info["fits"] = _core.american_fits(plan, len(options))
    return PriceResult(values, shape, strike[()], maturity[()], info, samples)
