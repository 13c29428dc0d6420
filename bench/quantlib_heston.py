#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantlib_heston.py LIBSHOAL.SO OUT.json [ROUNDS]: surfaces of Heston calls and calibration, by QuantLib of PyPI and by
Shoal, one thread.

    python3 -m venv venv && venv/bin/pip install QuantLib numpy
    venv/bin/python bench/quantlib_heston.py build/libshoal.so OUT.json

400 calls: 20 strikes, up to two deviations from the forward, at 20 maturities. Prices: of the surface, and Shoal's with
derivatives in all parameters. Calibration: to volatilities with errors of 0.1 %, by least squares of prices, both from the
same start; the objective is the sum of squared price errors, by the same formula for all. Every round runs each way
once, in turns; kept are the fastest and the median times of the rounds, which are processor time. QuantLib's engines and
helpers are made beforehand. In QuantLib's surface an option costs a call from Python, in its calibration none.
"""

import ctypes
import json
import statistics
import sys
import time

import numpy as np
import QuantLib as ql

from quantlib import DAYS, TODAY, curve, machine, spot
from quantlib_american import Options

S0, RATE, DIVIDEND = 100.0, 0.02, 0.01
TRUTH = {"v0": 0.04, "kappa": 2.0, "theta": 0.06, "sigma": 0.5, "rho": -0.7}
START = {"v0": 0.06, "kappa": 1.0, "theta": 0.05, "sigma": 0.4, "rho": -0.4}
MATURITIES = [30 + 55 * i for i in range(20)]  # days
STRIKES, CALLS = 20, 50


class Model(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("s0", "rate", "dividend", "v0", "kappa", "theta", "sigma", "rho")]


class Quotes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("strike", "maturity", "rate", "dividend", "put")]


class FitOptions(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("low", ctypes.c_void_p), ("high", ctypes.c_void_p),
                ("starts", ctypes.c_int64), ("iterations", ctypes.c_int64), ("price_errors", ctypes.c_int),
                ("tol", ctypes.c_double), ("solver", ctypes.c_char_p)]  # fmt: skip


class Fit(ctypes.Structure):
    _fields_ = [("model", Model), ("error", Model),
                *((name, ctypes.c_double) for name in ("objective", "rms", "largest", "condition", "feller")),
                ("converged", ctypes.c_int32), ("at_bound", ctypes.c_int32),
                *((name, ctypes.c_int64) for name in ("iterations", "evaluations", "agree"))]  # fmt: skip


class Shoal:
    def __init__(self, path):
        self.library, self.context = ctypes.CDLL(path), ctypes.c_void_p()
        self.library.shoal_version.restype = ctypes.c_char_p
        self.library.shoal_black.restype = self.library.shoal_black_deviation.restype = ctypes.c_double
        if self.library.shoal_open(ctypes.byref(Options(b"cpu", None, 0, 1, 0)), ctypes.byref(self.context)):
            sys.exit("shoal_open fails")
        days = np.repeat(MATURITIES, STRIKES)
        self.maturity = np.ascontiguousarray(days / 365.0)
        steps = np.tile(np.linspace(-2, 2, STRIKES), len(MATURITIES))
        self.forward = S0 * np.exp((RATE - DIVIDEND) * self.maturity)
        self.strike = np.ascontiguousarray(self.forward * np.exp(steps * np.sqrt(0.05 * self.maturity)))
        self.count = self.strike.size
        self.quotes = Quotes(self.strike.ctypes.data, self.maturity.ctypes.data, None, None, None)

    def prices(self, model, gradient=False):
        price, slopes = np.empty(self.count), np.empty((self.count, 8)) if gradient else None
        if self.library.shoal_heston_prices(self.context, ctypes.byref(model), ctypes.byref(self.quotes),
                                            ctypes.c_int64(self.count), ctypes.c_void_p(price.ctypes.data),
                                            ctypes.c_void_p(slopes.ctypes.data if gradient else None)):
            sys.exit("shoal_heston_prices fails")
        return price

    def vols(self, price):
        d = np.exp(-RATE * self.maturity)
        deviation = [self.library.shoal_black_deviation(*map(ctypes.c_double, row), 0)
                     for row in zip(self.forward, self.strike, price / d)]
        return np.array(deviation) / np.sqrt(self.maturity)

    def black(self, vol):
        return np.exp(-RATE * self.maturity) * np.array(
            [self.library.shoal_black(*map(ctypes.c_double, row), 0)
             for row in zip(self.forward, self.strike, vol * np.sqrt(self.maturity))])

    def calibrate(self, price):
        start, market = model_of(START), Model(S0, RATE, DIVIDEND)
        options, fit = FitOptions(ctypes.addressof(start), None, None, 1, 0, 1, 0, None), Fit()
        if self.library.shoal_heston_calibrate(self.context, ctypes.byref(market), ctypes.byref(self.quotes),
                                               ctypes.c_int64(self.count), ctypes.c_void_p(price.ctypes.data), None,
                                               ctypes.byref(options), ctypes.byref(fit), None):
            sys.exit("shoal_heston_calibrate fails")
        return {name: getattr(fit.model, name) for name in TRUTH}, fit.iterations


def model_of(numbers):
    return Model(S0, RATE, DIVIDEND, **numbers)


def theirs(numbers):
    process = ql.HestonProcess(curve(RATE), curve(DIVIDEND), spot(S0), numbers["v0"], numbers["kappa"], numbers["theta"],
                               numbers["sigma"], numbers["rho"])
    return ql.HestonModel(process)


ENGINES = {"AnalyticHestonEngine": ql.AnalyticHestonEngine, "ExponentialFittingHestonEngine": ql.ExponentialFittingHestonEngine}


def timed(run):
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def main():
    shoal, out = Shoal(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    ql.Settings.instance().evaluationDate = TODAY
    truth, rng = model_of(TRUTH), np.random.default_rng(1)
    exact = shoal.prices(truth)
    vols = shoal.vols(exact) + 1e-3 * rng.standard_normal(shoal.count)
    quotes = np.ascontiguousarray(shoal.black(vols))

    def ours(gradient):
        def run():  # several calls: one takes less than a millisecond
            price = shoal.prices(truth, gradient)
            seconds, _ = timed(lambda: [shoal.prices(truth, gradient) for _ in range(CALLS)])
            return price, {"seconds": seconds / CALLS}
        return run
    ways = {"shoal prices": ours(False), "shoal prices and gradients": ours(True)}
    for name, engine in ENGINES.items():
        model = theirs(TRUTH)
        options = [ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, float(k)), ql.EuropeanExercise(TODAY + round(365 * t)))
                   for k, t in zip(shoal.strike, shoal.maturity)]
        shared = engine(model)
        for option in options:
            option.setPricingEngine(shared)

        def surface(options=options):
            for option in options:
                option.recalculate()
            return np.array([option.NPV() for option in options]), {}
        ways[f"QuantLib {name} prices"] = surface

    def fit():
        found, iterations = shoal.calibrate(quotes)
        return None, {"parameters": found, "iterations": iterations}
    ways["shoal calibration"] = fit
    for name, engine in ENGINES.items():
        def fit(engine=engine):
            model = theirs(START)
            shared = engine(model)
            helpers = []
            for k, t, vol in zip(shoal.strike, shoal.maturity, vols):
                helper = ql.HestonModelHelper(ql.Period(round(365 * t), ql.Days), ql.NullCalendar(), S0, float(k),
                                              ql.QuoteHandle(ql.SimpleQuote(float(vol))), curve(RATE), curve(DIVIDEND),
                                              ql.BlackCalibrationHelper.PriceError)
                helper.setPricingEngine(shared)
                helpers.append(helper)
            method = ql.LevenbergMarquardt(1e-10, 1e-10, 1e-10)
            seconds, _ = timed(lambda: model.calibrate(helpers, method, ql.EndCriteria(400, 50, 1e-10, 1e-10, 1e-10)))
            theta, kappa, sigma, rho, v0 = model.params()
            found = {"v0": v0, "kappa": kappa, "theta": theta, "sigma": sigma, "rho": rho}
            return None, {"parameters": found, "seconds": seconds}
        ways[f"QuantLib {name} calibration"] = fit
    samples, last = {name: [] for name in ways}, {}
    for _ in range(rounds):
        for name, run in ways.items():
            seconds, (price, more) = timed(run)
            samples[name].append(more.pop("seconds", seconds))  # without making helpers
            last[name] = (price, more)
    results = []
    for name, times in samples.items():
        price, more = last[name]
        row = {"way": name, "fastest_s": min(times), "median_s": statistics.median(times), **more}
        if price is not None:
            row["error_max"] = float(np.abs(price - exact).max() / S0)
            row["us_per_option"] = 1e6 * min(times) / shoal.count
        else:
            row["objective"] = float(((shoal.prices(model_of(more["parameters"])) - quotes) ** 2).sum())
        results.append(row)
        print({k: v for k, v in row.items() if k != "parameters"}, more.get("parameters", ""))
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"device": machine(), "shoal": shoal.library.shoal_version().decode(), "quantlib": ql.__version__,
                   "threads": 1, "rounds": rounds, "options": shoal.count,
                   "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": results}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
