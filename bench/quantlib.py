#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantlib.py SHOAL OUT.json [ROUNDS]: the current QuantLib of PyPI beside Shoal, one thread each, in turns.

    python3 -m venv venv && venv/bin/pip install QuantLib && venv/bin/python bench/quantlib.py build/shoal OUT.json

Heston's call by formula and by Euler's scheme, the example's parameters, and the Bermudan put of docs/cva.md. Every
round runs each program once; kept are the fastest and the median of the rounds, because other work disturbs both alike.
QuantLib's engines are made beforehand and calculate anew, so that next to no time of Python's is in them. Times of long
runs are processor time.
"""

import json
import platform
import resource
import statistics
import subprocess
import sys
import time

import QuantLib as ql

TODAY, LATER = ql.Date(1, 1, 2026), ql.Date(1, 1, 2027)  # 365 days of Actual/365: one year
DAYS = ql.Actual365Fixed()
STEPS, PATHS, DATES, FITTED = 100, 2**15, 50, 2**16
MORE = 32  # times the paths in our run: a second
PUT = f"american --s0 36 --strike 40 --rate 0.06 --dates {DATES} --fit-paths {FITTED} --paths {FITTED}"


def curve(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(TODAY, rate, DAYS))


def spot(price):
    return ql.QuoteHandle(ql.SimpleQuote(price))


def heston():
    """The parameters of shoal_heston_example()."""
    return ql.HestonProcess(curve(0), curve(0), spot(1), 0.1, 0.5, 0.1, 0.3, -0.7, ql.HestonProcess.FullTruncation)


def call(engine):
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, 1), ql.EuropeanExercise(LATER))
    option.setPricingEngine(engine)
    return option


def american():
    black = ql.BlackScholesMertonProcess(
        spot(36), curve(0), curve(0.06), ql.BlackVolTermStructureHandle(ql.BlackConstantVol(TODAY, ql.NullCalendar(), 0.2, DAYS)))
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, 40), ql.AmericanExercise(TODAY, LATER))
    option.setPricingEngine(ql.MCAmericanEngine(
        black, "PseudoRandom", timeSteps=DATES, requiredSamples=FITTED, seed=1, polynomOrder=3, nCalibrationSamples=FITTED))
    return option


def theirs(option, calls):
    def run():
        start = time.process_time()
        for _ in range(calls):
            option.recalculate()
        seconds = (time.process_time() - start) / calls
        try:
            error = option.errorEstimate()
        except RuntimeError:
            error = 0.0  # a formula has none
        return seconds, option.NPV(), error
    return run


def bench(shoal, problem):
    def run():
        text = subprocess.run([shoal, "bench", problem, "--threads", "1", "--repeat", "15", "--json"],
                              check=True, capture_output=True, text=True).stdout
        row = next(r for r in json.loads(text)["rows"] if r.get("who", "Shoal") == "Shoal")
        return row["fastest_s"], row.get("price"), row.get("stderr")
    return run


def used():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def program(shoal, words, share=1):
    """A share of the whole program's processor time, its start included."""
    def run():
        start = used()
        text = subprocess.run([shoal, "price", *words.split(), "--threads", "1", "--json"],
                              check=True, capture_output=True, text=True).stdout
        r = json.loads(text)
        return share * (used() - start), r["price"], r["stderr"]
    return run


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = [line.split(":")[1].strip() for line in f if line.startswith(("model name", "CPU part"))]
    return names[0] if names else platform.machine()


def main():
    shoal, out = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    ql.Settings.instance().evaluationDate = TODAY
    model = ql.HestonModel(heston())
    jobs = {
        "formula": {"shoal analytic": bench(shoal, "heston:analytic:cpu:f64:greeks=1"),
                    "AnalyticHestonEngine": theirs(call(ql.AnalyticHestonEngine(model)), 200),
                    "AnalyticHestonEngine, adaptive 1e-12": theirs(call(ql.AnalyticHestonEngine(model, 1e-12, 1000000)), 50),
                    "ExponentialFittingHestonEngine": theirs(call(ql.ExponentialFittingHestonEngine(model)), 200)},
        "euler": {"shoal euler": program(shoal, f"heston --method euler --steps {STEPS} --paths {MORE * PATHS}", 1 / MORE),
                  "MCEuropeanHestonEngine": theirs(call(ql.MCEuropeanHestonEngine(
                      heston(), "PseudoRandom", timeSteps=STEPS, requiredSamples=PATHS, seed=1)), 1)},
        "american put": {"shoal lsm": program(shoal, PUT), "MCAmericanEngine": theirs(american(), 1)},
    }
    results = []
    for job, ways in jobs.items():
        samples = {name: [] for name in ways}
        for _ in range(rounds):
            for name, run in ways.items():
                samples[name].append(run())
        ours = min(s[0] for s in next(iter(samples.values())))
        for name, got in samples.items():
            times = [s[0] for s in got]
            results.append({"job": job, "way": name, "fastest_s": min(times), "median_s": statistics.median(times),
                            "price": got[-1][1], "stderr": got[-1][2], "times_ours": min(times) / ours})
            print(f"{job:14} {name:40} {1e6 * min(times):12.2f} us  x {min(times) / ours:.2f}  {got[-1][1:]}")
    version = subprocess.run([shoal, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"device": machine(), "shoal": version, "quantlib": ql.__version__, "threads": 1, "rounds": rounds,
                   "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": results}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
