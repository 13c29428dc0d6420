#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantlib_cva.py SHOAL OUT.json [ROUNDS]: exposures and CVA of a book by QuantLib of PyPI and by `shoal cva`, one thread.

    python3 -m venv venv && venv/bin/pip install QuantLib numpy
    venv/bin/python bench/quantlib_cva.py build/shoal OUT.json

The book is bench/results/quantlib/cva-book.csv: European and Bermudan options on two assets in one netting set, 12 dates of
exposure, which are those of exercise. What QuantLib does, as one writes it in Python:

- paths of both assets with numpy, exact from date to date;
- European options: AnalyticEuropeanEngine at every path and date, with the spot in a quote;
- Bermudan options: one finite-difference solve per option and date over the dates of exercise that are left
  (Fdm1DimSolver, 400 prices, 200 steps per year); its spline gives what holding is worth at the price of every path. A
  path that exercises holds the option no longer;
- netting, the positive part, default probabilities of FlatHazardRate.

Random numbers differ, so results agree within their errors. Every round runs each way once, in turns; kept are the
fastest and the median processor times of the rounds. QuantLib's times are those of its prices (European, Bermudan) and of
all; Shoal's are those of the whole program, its start included.
"""

import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import QuantLib as ql

from quantlib import DAYS, TODAY, machine, used

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "quantlib")
BOOK, MARKET = os.path.join(KEPT, "cva-book.csv"), os.path.join(KEPT, "cva-market.csv")
DATES = [30, 61, 91, 122, 152, 183, 213, 243, 274, 304, 335, 365]  # days
RATE, HAZARD, RECOVERY, PATHS = 0.03, 0.02, 0.4, 16384
PRICES, STEPS, WIDTH = 400, 200, 7.5  # of a grid; per year; deviations on each side
NO_CALENDAR = ql.NullCalendar()


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def flat(rate):
    """A curve that moves with the evaluation date."""
    return ql.YieldTermStructureHandle(ql.FlatForward(0, NO_CALENDAR, rate, DAYS))


class Asset:
    def __init__(self, row):
        self.price, self.sigma, self.dividend = (float(row[key]) for key in ("spot", "volatility", "dividend"))
        self.quote = ql.SimpleQuote(self.price)
        volatility = ql.BlackConstantVol(0, NO_CALENDAR, self.sigma, DAYS)
        self.process = ql.BlackScholesMertonProcess(
            ql.QuoteHandle(self.quote), flat(self.dividend), flat(RATE), ql.BlackVolTermStructureHandle(volatility))


class Contract:
    def __init__(self, row, assets):
        self.asset, self.strike, self.quantity = assets[row["assets"]], float(row["strike"]), float(row["quantity"])
        self.sign = 1 if row["payoff"] == "call" else -1
        self.bermudan = row["style"] == "american"
        self.payoff = ql.PlainVanillaPayoff(ql.Option.Call if self.sign > 0 else ql.Option.Put, self.strike)
        self.option = ql.VanillaOption(self.payoff, ql.EuropeanExercise(TODAY + DATES[-1]))
        self.option.setPricingEngine(ql.AnalyticEuropeanEngine(self.asset.process))

    def pays(self, spot):
        return np.maximum(self.sign * (spot - self.strike), 0)

    def european(self, spot):
        value, quote, option = np.empty(len(spot)), self.asset.quote, self.option
        for i, s in enumerate(spot.tolist()):
            quote.setValue(s)
            value[i] = option.NPV()
        return value

    def holding(self, spot, k):
        """What the Bermudan option is worth at the evaluation date, DATES[k], if it is not exercised there."""
        left, middle = (DATES[-1] - DATES[k]) / 365, math.log(self.asset.price)
        side = WIDTH * self.asset.sigma
        mesher = ql.FdmMesherComposite(ql.Concentrating1dMesher(
            middle - side, middle + side, PRICES, (math.log(self.strike), 0.1), True))
        inner = ql.FdmLogInnerValue(self.payoff, mesher, 0)
        exercise = ql.BermudanExercise([TODAY + days for days in DATES[k + 1:]])
        here = ql.Settings.instance().evaluationDate
        stops = ql.FdmStepConditionComposite.vanillaComposite([], exercise, mesher, inner, here, DAYS)
        problem = ql.FdmSolverDesc(mesher, ql.FdmBoundaryConditionSet(), stops, inner, left,
                                   max(10, math.ceil(STEPS * left)), 0)
        self.asset.quote.setValue(self.asset.price)
        solver = ql.Fdm1DimSolver(problem, ql.FdmSchemeDesc.Douglas(),
                                  ql.FdmBlackScholesOp(mesher, self.asset.process, self.strike))
        at = solver.interpolateAt
        return np.array([at(x) for x in np.log(spot).tolist()])


def theirs(seed):
    """The profile, the CVA with its error, and processor times."""
    begun = time.process_time()
    spent = {"european": 0.0, "bermudan": 0.0}
    market = rows(MARKET)
    assets = {row["asset"]: Asset(row) for row in market}
    book = [Contract(row, assets) for row in rows(BOOK)]
    load = np.linalg.cholesky([[float(row[name]) for name in assets] for row in market])
    random = np.random.default_rng(seed)
    log = np.log([[a.price for a in assets.values()]]) + np.zeros((PATHS, 1))
    held = [np.ones(PATHS, bool) for _ in book]
    survival = ql.FlatHazardRate(TODAY, ql.QuoteHandle(ql.SimpleQuote(HAZARD)), DAYS)
    profile, loss = {"time": [], "epe": [], "epe_stderr": [], "ene": [], "ene_stderr": []}, np.zeros(PATHS)
    for k, days in enumerate(DATES):
        before = DATES[k - 1] if k else 0
        ql.Settings.instance().evaluationDate = TODAY + days
        step = (days - before) / 365
        moved = random.standard_normal(log.shape) @ load.T * math.sqrt(step)
        for i, a in enumerate(assets.values()):
            log[:, i] += (RATE - a.dividend - 0.5 * a.sigma**2) * step + a.sigma * moved[:, i]
        prices = dict(zip(assets.values(), np.exp(log).T))
        value = np.zeros(PATHS)
        for c, holds in zip(book, held):
            spot, start = prices[c.asset], time.process_time()
            last = days == DATES[-1]
            if last:
                worth = c.pays(spot) * holds
            elif c.bermudan:
                worth = np.zeros(PATHS)
                going_on, now = c.holding(spot[holds], k), c.pays(spot[holds])
                worth[holds] = np.where((now > 0) & (now >= going_on), now, going_on)
                holds[holds] = (now <= 0) | (now < going_on)
            else:
                worth = c.european(spot)
            value += c.quantity * worth
            spent["bermudan" if c.bermudan else "european"] += time.process_time() - start
        exposure, theirs_ = np.maximum(value, 0), np.maximum(-value, 0)
        chance = survival.survivalProbability(TODAY + before) - survival.survivalProbability(TODAY + days)
        loss += (1 - RECOVERY) * math.exp(-RATE * days / 365) * chance * exposure
        for name, x in (("epe", exposure), ("ene", theirs_)):
            profile[name].append(x.mean())
            profile[name + "_stderr"].append(x.std(ddof=1) / math.sqrt(PATHS))
        profile["time"].append(days / 365)
    spent["all"] = time.process_time() - begun
    return profile | {"cva": loss.mean(), "stderr": loss.std(ddof=1) / math.sqrt(PATHS)}, spent


def ours(shoal, estimator, seed):
    words = [shoal, "--threads", "1", "--seed", str(seed), "cva", BOOK, "--market", MARKET, f"--rate={RATE}",
             f"--hazard={HAZARD}", f"--recovery={RECOVERY}", "--dates=" + ",".join(repr(d / 365) for d in DATES),
             f"--outer={PATHS}", f"--estimator={estimator}", "--json", "--backend", "cpu"]
    start = used()
    said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    names = ("time", "epe", "epe_stderr", "ene", "ene_stderr", "cva", "stderr")
    return {name: said[name] for name in names}, {"all": used() - start}


def rounded(value):
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.8g}")


def main():
    shoal, out = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    ways = {"shoal amc": lambda seed: ours(shoal, "amc", seed), "shoal rule": lambda seed: ours(shoal, "rule", seed),
            "QuantLib": theirs}
    samples = {name: [] for name in ways}
    for seed in range(1, rounds + 1):
        for name, run in ways.items():
            samples[name].append(run(seed))
    results = []
    for name, got in samples.items():
        spent = {part: [s[part] for _, s in got] for part in got[0][1]}
        row = {"way": name, **{key: rounded(value) for key, value in got[0][0].items()}}  # of the first seed
        row |= {f"{part}_{how}_s": rounded(f(times)) for part, times in spent.items()
                for how, f in (("fastest", min), ("median", statistics.median))}
        results.append(row)
        print(f"{name:12} CVA {row['cva']:.5f} +- {row['stderr']:.2g}  {row['all_fastest_s']:8.3f} s")
    version = subprocess.run([shoal, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"device": machine(), "shoal": version, "quantlib": ql.__version__, "threads": 1, "rounds": rounds,
                   "paths": PATHS, "rate": RATE, "hazard": HAZARD, "recovery": RECOVERY, "days": DATES,
                   "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": results}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
