# SPDX-License-Identifier: Apache-2.0
"""Prices by QuantLib of options on an asset with cash dividends, escrowed, for tests/test_cva_dividends.c.

pip install QuantLib==1.44; python bench/quantlib_dividends.py
"""

import QuantLib as ql

RATE, YIELD, SIGMA, SPOT, STRIKE = 0.03, 0.01, 0.25, 100.0, 102.0
DIVIDENDS = [(91, 2.5), (274, 4.0)]  # days, amount
EXERCISE = [60, 90, 182, 273, 300, 365]
today = ql.Date(19, 11, 2026)
ql.Settings.instance().evaluationDate = today
days_over_365, no_calendar = ql.Actual365Fixed(), ql.NullCalendar()


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days_over_365))


process = ql.BlackScholesMertonProcess(
    ql.QuoteHandle(ql.SimpleQuote(SPOT)), flat(YIELD), flat(RATE),
    ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, no_calendar, SIGMA, days_over_365)))
schedule = ql.DividendVector([today + days for days, _ in DIVIDENDS], [amount for _, amount in DIVIDENDS])
print("QuantLib", ql.__version__)
for name, kind in (("put", ql.Option.Put), ("call", ql.Option.Call)):
    payoff = ql.PlainVanillaPayoff(kind, STRIKE)
    option = ql.VanillaOption(payoff, ql.EuropeanExercise(today + EXERCISE[-1]))
    option.setPricingEngine(ql.AnalyticDividendEuropeanEngine(process, schedule))
    print(f"european {name} {option.NPV():.10f}")
    for prices, steps in ((2000, 2000), (4000, 8000)):
        engine = ql.FdBlackScholesVanillaEngine(process, schedule, steps, prices, 0, ql.FdmSchemeDesc.Douglas(), False,
                                                -1e300, ql.FdBlackScholesVanillaEngine.Escrowed)
        option = ql.VanillaOption(payoff, ql.BermudanExercise([today + days for days in EXERCISE]))
        option.setPricingEngine(engine)
        print(f"bermudan {name} {option.NPV():.6f}")
