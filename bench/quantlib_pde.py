# SPDX-License-Identifier: Apache-2.0
"""Bermudan and American options by the finite differences of QuantLib, for tests/test_american_pde.c.

pip install QuantLib==1.44; python bench/quantlib_pde.py

Cash dividends are escrowed. The rows are those of the test; the last column is extrapolated from two grids, and the
difference between the two extrapolations of three grids follows in a comment.
"""

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


def main():
    ql.Settings.instance().evaluationDate = TODAY
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
