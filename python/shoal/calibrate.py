# SPDX-License-Identifier: Apache-2.0
"""Parameters of models that fit quotes of options: heston."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arrays import batch_of
from ._devices import device_number, whole
from ._runtime import context
from .price import _array, _vanilla

__all__ = ["HestonFit", "heston"]

_PARAMETERS = ("v0", "kappa", "theta", "sigma", "rho")


@dataclass(frozen=True)
class HestonFit:
    """A fit of Heston's model.

    - `parameters`, `stderr`: dicts of v0, kappa, theta, sigma, rho; standard errors are NaN for parameters that are fixed
      or at a bound
    - `rms`, `largest`: of the errors, of implied volatilities or of prices
    - `objective`: the sum of (weight times error)^2
    - `condition`: of the normal equations with unit diagonal; far above 1e6, parameters compensate each other
    - `feller`: 2 kappa theta / sigma^2; below 1 the variance can reach 0
    - `at_bound`: names of parameters at a bound
    - `converged`, `iterations`, `evaluations`, `agree`: of the search; `agree` starts end at this model
    - `price`: the prices of the fit

    >>> import shoal
    >>> shoal.calibrate.HestonFit.__name__
    'HestonFit'
    """

    parameters: dict[str, float]
    stderr: dict[str, float]
    rms: float
    largest: float
    objective: float
    condition: float
    feller: float
    at_bound: tuple[str, ...]
    converged: bool
    iterations: int
    evaluations: int
    agree: int
    price: Any


def _model(name: str, given: dict[str, Any]) -> dict[str, float]:
    for key in given:
        if key not in _PARAMETERS:
            raise ValueError(f"{name} has {key!r}; there are {', '.join(_PARAMETERS)}")
    return {key: float(given.get(key, np.nan)) for key in _PARAMETERS}


def _black(strike: Any, maturity: Any, vol: Any, rate: Any, dividend: Any, s0: float, put: Any) -> Any:
    numbers = {"s0": s0, "strike": strike, "rate": rate, "sigma": vol, "maturity": maturity, "dividend": dividend}
    puts, calls = (_vanilla(None, payoff, numbers, 0, True)[0][0] for payoff in ("put", "call"))
    return np.where(put, puts, calls)


def heston(
    strike: Any,
    maturity: Any,
    *,
    price: Any = None,
    implied_vol: Any = None,
    put: Any = False,
    weight: Any = 1.0,
    s0: float = 1.0,
    rate: Any = 0.0,
    dividend: Any = 0.0,
    errors: str = "vol",
    start: dict[str, float] | None = None,
    bounds: dict[str, tuple[float, float]] | None = None,
    starts: int = 1,
    iterations: int = 100,
    tol: float = 0.0,
    solver: str | None = None,
) -> HestonFit:
    """Fits v0, kappa, theta, sigma and rho of Heston's model to prices or implied volatilities of European options, by
    the Levenberg-Marquardt method. Arguments of quotes broadcast as in numpy; rates and dividends may differ by quote.

    errors: "vol", of implied volatilities, or "price". start: parameters to begin with, the others from the quotes.
    bounds: (low, high) of parameters; equal ones fix a parameter. starts: searches from several starts.

    >>> import numpy as np, shoal
    >>> strike, maturity = np.meshgrid([0.8, 0.9, 1.0, 1.1, 1.2], [0.25, 0.5, 1.0, 2.0])
    >>> quotes = shoal.price.heston(strike[0], maturity[:, 0], kappa=2.0, sigma=0.5, method="analytic")
    >>> fit = shoal.calibrate.heston(strike, maturity, price=quotes.price)
    >>> {name: round(x, 6) for name, x in fit.parameters.items()}
    {'v0': 0.1, 'kappa': 2.0, 'theta': 0.1, 'sigma': 0.5, 'rho': -0.7}
    """
    if (price is None) == (implied_vol is None):
        raise ValueError("price or implied_vol must be given, and not both")
    if errors not in ("vol", "price"):
        raise ValueError(f"errors is {errors!r}; it must be vol or price")
    given = {"strike": strike, "maturity": maturity, "rate": rate, "dividend": dividend, "weight": weight,
             "price": price if implied_vol is None else implied_vol, "put": put}  # fmt: skip
    arrays = {name: _array(name, value) for name, value in given.items()}
    batch_of(list(arrays), [a.shape for a in arrays.values()], [0] * len(arrays))
    arrays = dict(zip(arrays, np.broadcast_arrays(*arrays.values())))
    shape = arrays["strike"].shape
    flat = {name: np.ascontiguousarray(a).reshape(-1) for name, a in arrays.items()}
    puts = np.ascontiguousarray(flat["put"] != 0, np.int32)
    if implied_vol is not None:
        flat["price"] = np.ascontiguousarray(
            _black(flat["strike"], flat["maturity"], flat["price"], flat["rate"], flat["dividend"], s0, puts)
        )
    fitted = np.empty(puts.size)
    bounds = bounds or {}
    limits = [_model("start", start or {})]
    limits += [_model("bounds", {name: pair[side] for name, pair in bounds.items()}) for side in (0, 1)]
    settings = {"starts": whole("starts", starts), "iterations": whole("iterations", iterations),
                "price_errors": int(errors == "price"), "tol": float(tol), "solver": solver}  # fmt: skip
    pointers = [flat[name].ctypes.data for name in ("strike", "maturity", "rate", "dividend")]
    pointers += [a.ctypes.data for a in (puts, flat["price"], flat["weight"])]
    model, error, rest = _core.heston_calibrate(
        context(device_number("cpu")), {"s0": s0}, puts.size, *pointers, settings, limits, fitted.ctypes.data
    )
    at_bound = tuple(name for i, name in enumerate(_PARAMETERS) if rest["at_bound"] >> i & 1)
    rest.update(at_bound=at_bound, converged=bool(rest["converged"]), price=fitted.reshape(shape)[()])
    parameters, stderr = ({name: values[name] for name in _PARAMETERS} for values in (model, error))
    return HestonFit(parameters=parameters, stderr=stderr, **rest)
