#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantlib_american.py LIBSHOAL.SO OUT.json [ROUNDS]: exact American puts by QuantLib of PyPI and by Shoal, one thread.

    python3 -m venv venv && venv/bin/pip install QuantLib numpy
    venv/bin/python bench/quantlib_american.py build/libshoal.so OUT.json

1000 puts with strike 100. Every round runs each program once, in turns; kept are the fastest and the median times of
the rounds, which are processor time. QuantLib's engines are made beforehand and calculate anew. Errors are distances
from Shoal with 32 nodes, in parts of the strike. In QuantLib's call an option costs a call from Python.
"""

import ctypes
import itertools
import json
import statistics
import sys
import time

import numpy as np
import QuantLib as ql

from quantlib import DAYS, TODAY, curve, machine, spot

CARRY = ((0.05, 0), (0.05, 0.02), (0.02, 0.08), (0.05, 0.05), (0.1, 0), (0, -0.03), (0.01, 0.15), (0.08, -0.02))
GRID = list(itertools.product((60, 80, 100, 125, 200), CARRY, (0.05, 0.1, 0.2, 0.4, 1), (7, 90, 365, 1095, 7300)))
STRIKE = 100
SCHEMES = ("fastScheme", "accurateScheme")  # of QuantLib
NODES = (5, 6, 7, 8, 12, 16, 24)  # of Shoal


class Options(ctypes.Structure):
    _fields_ = [("backend", ctypes.c_char_p), ("isa", ctypes.c_char_p), ("device", ctypes.c_int), ("threads", ctypes.c_int),
                ("unchecked", ctypes.c_int)]


class Settings(ctypes.Structure):
    _fields_ = [("nodes", ctypes.c_int64), ("european", ctypes.c_int)]


def pointers(arrays, count):
    return (ctypes.c_void_p * count)(*(a.ctypes.data for a in arrays))


def ours(library, context, inputs, nodes):
    price, status = np.empty(len(GRID)), np.empty(len(GRID), np.int32)

    def run():
        start = time.process_time()
        failed = library.shoal_vanilla_value(context, pointers(inputs, 7), ctypes.c_int64(len(GRID)),
                                             ctypes.byref(Settings(nodes, 0)), pointers([price], 7),
                                             ctypes.c_void_p(status.ctypes.data))
        seconds = time.process_time() - start
        if failed or status.any():
            sys.exit(f"shoal_vanilla_value: {failed}, {np.count_nonzero(status)} options without a price")
        return seconds / len(GRID), price
    return run


def theirs(scheme):
    options = []
    for s0, (rate, dividend), sigma, days in GRID:
        black = ql.BlackScholesMertonProcess(
            spot(s0), curve(dividend), curve(rate),
            ql.BlackVolTermStructureHandle(ql.BlackConstantVol(TODAY, ql.NullCalendar(), sigma, DAYS)))
        option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, STRIKE), ql.AmericanExercise(TODAY, TODAY + days))
        option.setPricingEngine(ql.QdFpAmericanEngine(black, getattr(ql.QdFpAmericanEngine, scheme)()))
        options.append(option)

    def run():
        start = time.process_time()
        for option in options:
            option.recalculate()
        return (time.process_time() - start) / len(GRID), np.array([option.NPV() for option in options])
    return run


def main():
    path, out = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    ql.Settings.instance().evaluationDate = TODAY
    library, context = ctypes.CDLL(path), ctypes.c_void_p()
    library.shoal_version.restype = ctypes.c_char_p
    if library.shoal_open(ctypes.byref(Options(b"cpu", None, 0, 1, 0)), ctypes.byref(context)):
        sys.exit("shoal_open fails")
    columns = [[s0, STRIKE, rate, sigma, days / 365, dividend] for s0, (rate, dividend), sigma, days in GRID]
    inputs = [np.ascontiguousarray(c) for c in np.array(columns, dtype=np.float64).T]
    truth = ours(library, context, inputs, 32)()[1].copy()
    ways = {f"QuantLib {scheme}": theirs(scheme) for scheme in SCHEMES}
    ways.update({f"shoal {n} nodes": ours(library, context, inputs, n) for n in NODES})
    samples = {name: [] for name in ways}
    errors = {}
    for _ in range(rounds):
        for name, run in ways.items():
            seconds, price = run()
            samples[name].append(seconds)
            errors[name] = np.abs(price - truth) / STRIKE
    fast = f"QuantLib {SCHEMES[0]}"
    results = []
    for name, times in samples.items():
        e = errors[name]
        row = {"way": name, "fastest_s": min(times), "median_s": statistics.median(times), "error_max": e.max(),
               "error_rms": float(np.sqrt((e**2).mean())), "error_99": float(np.quantile(e, 0.99)),
               "error_median": float(np.median(e)), "times_fastScheme": min(samples[fast]) / min(times),
               "times_fastScheme_by_medians": statistics.median(samples[fast]) / statistics.median(times)}
        results.append(row)
        print(f"{name:26} {1e6 * row['fastest_s']:9.2f} us  median {1e6 * row['median_s']:9.2f}  max {row['error_max']:.1e}"
              f"  rms {row['error_rms']:.1e}  99% {row['error_99']:.1e}  x {row['times_fastScheme']:.1f}")
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"device": machine(), "shoal": library.shoal_version().decode(), "quantlib": ql.__version__, "threads": 1,
                   "rounds": rounds, "options": len(GRID),
                   "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": results}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
