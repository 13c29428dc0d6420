# SPDX-License-Identifier: Apache-2.0
"""Bermudan and American options by the finite differences of QuantLib, for tests/test_american_pde.c.

pip install QuantLib==1.44 numpy; python bench/quantlib_pde.py [LIBSHOAL.SO OUT.json]

With a library: times Shoal and QuantLib instead, one thread, processor time per option, and errors beside a grid of
Shoal with 3201 nodes and 3200 steps. Cash dividends are escrowed. The rows are those of the test; the last column is extrapolated from two grids, and the
difference between the two extrapolations of three grids follows in a comment.
"""

import ctypes
import json
import sys
import time

import QuantLib as ql

TODAY = ql.Date(19, 11, 2026)
DAYS = ql.Actual365Fixed()
QUARTERS = (90, 182, 273, 365)
DIVIDENDS = ((91, 2.5), (274, 4.0))
RATES = ((182, 0.01), (365, 0.04), (730, 0.05))
SIGMAS = ((182, 0.35), (365, 0.3), (730, 0.25))
ROWS = [  # call, spot, strike, rate, dividend, sigma, days of maturity, exercise days (none: any time), cash, curves
    (0, 100, 100, 0.05, 0, 0.2, 365, QUARTERS, 0, 0), (0, 90, 100, 0.05, 0, 0.2, 365, QUARTERS, 0, 0),
    (1, 100, 100, 0.03, 0.07, 0.3, 365, QUARTERS, 0, 0), (0, 80, 100, 0.08, 0.02, 0.4, 730, (100, 200, 400, 730), 0, 0),
    (1, 120, 100, 0.02, 0.06, 0.25, 730, (365, 730), 0, 0), (0, 100, 100, 0.1, 0, 0.1, 365, tuple(range(5, 366, 5)), 0, 0),
    (0, 100, 102, 0.03, 0.01, 0.25, 365, (60, 90, 182, 273, 300, 365), 1, 0),
    (1, 100, 102, 0.03, 0.01, 0.25, 365, (60, 90, 182, 273, 300, 365), 1, 0),
    (0, 95, 100, 0.06, 0, 0.2, 365, QUARTERS, 1, 0), (1, 110, 100, 0.06, 0, 0.2, 365, (90, 273, 365), 1, 0),
    (0, 100, 100, 0, 0, 0, 730, (182, 365, 547, 730), 0, 1), (1, 100, 95, 0, 0.05, 0, 730, (182, 365, 547, 730), 0, 1),
    (0, 100, 105, 0, 0, 0, 365, QUARTERS, 1, 1),
    (0, 100, 100, 0.05, 0, 0.25, 365, (), 1, 0), (1, 100, 100, 0.02, 0, 0.25, 365, (), 1, 0),
]  # fmt: skip


def price(row, nodes, steps):
    call, spot, strike, rate, dividend, sigma, days, exercise, cash, curves = row
    flat = lambda x: ql.YieldTermStructureHandle(ql.FlatForward(TODAY, x, DAYS))  # noqa: E731
    none = ql.NullCalendar()
    rates, vols = flat(rate), ql.BlackConstantVol(TODAY, none, sigma, DAYS)
    if curves:
        discounts = [1.0] + [pow(2.718281828459045, -r * d / 365) for d, r in RATES]
        rates = ql.YieldTermStructureHandle(ql.DiscountCurve([TODAY] + [TODAY + d for d, _ in RATES], discounts, DAYS))
        vols = ql.BlackVarianceCurve(TODAY, [TODAY + d for d, _ in SIGMAS], [s for _, s in SIGMAS], DAYS)
    process = ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(spot)), flat(dividend), rates,
                                           ql.BlackVolTermStructureHandle(vols))  # fmt: skip
    paid = DIVIDENDS if cash else ()
    schedule = ql.DividendVector([TODAY + d for d, _ in paid], [x for _, x in paid])
    engine = ql.FdBlackScholesVanillaEngine(process, schedule, steps, nodes, 20, ql.FdmSchemeDesc.CrankNicolson(), False,
                                            -1e300, ql.FdBlackScholesVanillaEngine.Escrowed)  # fmt: skip
    when = ql.BermudanExercise([TODAY + d for d in exercise]) if exercise else ql.AmericanExercise(TODAY, TODAY + days)
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call if call else ql.Option.Put, strike), when)
    option.setPricingEngine(engine)
    return option.NPV()


class Curve(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), ("time", ctypes.c_void_p), ("value", ctypes.c_void_p)]


class Settings(ctypes.Structure):
    _fields_ = [("dates", ctypes.c_int64), ("exercises", ctypes.c_int64), ("exercise", ctypes.c_void_p), ("rates", Curve),
                ("dividends", Curve), ("sigmas", Curve), ("cash", Curve), ("nodes", ctypes.c_int64), ("steps", ctypes.c_int64)]  # fmt: skip


STRIKE, TIMED = 100, [(s0, rate, q, sigma, days) for s0 in (80, 90, 100, 110, 125) for rate, q in ((0.05, 0), (0.02, 0.06), (0.06, 0.03))
                      for sigma in (0.1, 0.2, 0.4) for days in (30, 365, 1095)]  # fmt: skip


def ours(library, context, dates, cash, nodes, steps):
    import numpy as np

    columns = np.array([[s0, STRIKE, rate, sigma, days / 365, q] for s0, rate, q, sigma, days in TIMED]).T
    inputs = [np.ascontiguousarray(c) for c in columns]
    price, error, status = np.empty(len(TIMED)), np.empty(len(TIMED)), np.empty(len(TIMED), np.int32)
    settings = Settings(dates=dates, nodes=nodes, steps=steps)
    when, paid = np.array([d / 365 for d, _ in DIVIDENDS]), np.array([x for _, x in DIVIDENDS])
    if cash:
        settings.cash = Curve(len(paid), when.ctypes.data, paid.ctypes.data)

    def pointers(arrays, count):
        return (ctypes.c_void_p * count)(*(a.ctypes.data for a in arrays))

    def run(keep=(when, paid)):
        start = time.process_time()
        failed = library.shoal_vanilla_pde(context, pointers(inputs, 7), ctypes.c_int64(len(TIMED)), ctypes.byref(settings),
                                           pointers([price], 7), ctypes.c_void_p(error.ctypes.data),
                                           ctypes.c_void_p(status.ctypes.data))  # fmt: skip
        if failed or status.any():
            sys.exit(f"shoal_vanilla_pde: {failed}, {np.count_nonzero(status)} options without a price")
        return (time.process_time() - start) / len(TIMED), price.copy(), error.copy()

    return run


def theirs(dates, cash, nodes, steps):
    def run():
        prices, seconds = [], 0.0
        for s0, rate, q, sigma, days in TIMED:
            when = tuple(round(days * (i + 1) / dates) for i in range(dates))
            start = time.process_time()
            prices.append(price((0, s0, STRIKE, rate, q, sigma, days, when, cash, 0), nodes, steps))
            seconds += time.process_time() - start
        return seconds / len(TIMED), prices, None

    return run


def measure(path, out):
    import numpy as np

    from quantlib import machine

    library, context, results = ctypes.CDLL(path), ctypes.c_void_p(), []
    library.shoal_version.restype = ctypes.c_char_p

    class Options(ctypes.Structure):
        _fields_ = [("backend", ctypes.c_char_p), ("isa", ctypes.c_char_p), ("device", ctypes.c_int),
                    ("threads", ctypes.c_int), ("unchecked", ctypes.c_int)]  # fmt: skip

    if library.shoal_open(ctypes.byref(Options(b"cpu", None, 0, 1, 0)), ctypes.byref(context)):
        sys.exit("shoal_open fails")
    for name, dates, cash in (("any time", 0, 0), ("any time, dividends", 0, 1), ("5 dates", 5, 0), ("30 dates", 30, 0)):
        truth = ours(library, context, dates, cash, 3201, 3200)()[1]
        ways = {"shoal, 801 nodes": ours(library, context, dates, cash, 801, 400),
                "shoal, 401 nodes": ours(library, context, dates, cash, 401, 200)}  # fmt: skip
        if dates == 5:  # whole days; without dates QuantLib's error is of first order in time
            ways["QuantLib, 801 nodes, 400 steps"] = theirs(dates, cash, 801, 400)
        for way, run in ways.items():
            seconds, prices, stated = min((run() for _ in range(3)), key=lambda r: r[0])
            off = np.abs(np.array(prices) - truth) / STRIKE
            row = {"exercise": name, "way": way, "seconds": seconds, "error_max": off.max(),
                   "error_rms": float(np.sqrt((off**2).mean()))}  # fmt: skip
            if stated is not None:
                row["stated_mean"] = float(stated.mean() / STRIKE)
                row["worse_than_stated"] = int(np.count_nonzero(off * STRIKE > stated + 1e-8))
            results.append(row)
            print(f"{name:20} {way:32} {1e6 * seconds:9.1f} us  max {row['error_max']:.1e}  rms {row['error_rms']:.1e}"
                  f"  {row.get('stated_mean', 0):.1e} {row.get('worse_than_stated', 0)}", flush=True)  # fmt: skip
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"device": machine(), "shoal": library.shoal_version().decode(), "quantlib": ql.__version__, "threads": 1,
                   "options": len(TIMED), "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                   "results": results}, f, indent=1)  # fmt: skip
        f.write("\n")


def main():
    ql.Settings.instance().evaluationDate = TODAY
    if len(sys.argv) > 2:
        return measure(*sys.argv[1:3])
    print("/* QuantLib", ql.__version__, "*/")
    for row in ROWS:
        # without dates its payoff is applied at every step: an error of first order in time
        x = [price(row, 501 << i, (1000 << i) if row[7] else (1000 << 2 * i)) for i in range(3)]
        first, last = ((4 * x[i + 1] - x[i]) / 3 for i in range(2))
        dates = ", ".join(map(str, row[7])) if len(row[7]) < 9 else "-5"
        print(f"    {{ {', '.join(f'{v:g}' for v in row[:7])}, {{ {dates or 0} }}, {row[8]}, {row[9]}, {last:.9f} }},"
              f" /* {abs(last - first):.0e} */", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
