# SPDX-License-Identifier: Apache-2.0
"""Prices by QuantLib of options on the arithmetic mean of 12 monthly prices, for tests/test_cva_asian.c.

pip install QuantLib==1.44; python bench/quantlib_asian.py
"""

import QuantLib as ql

DAYS = [30, 61, 91, 122, 152, 183, 213, 243, 274, 304, 335, 365]
RATE, YIELD, SPOT = 0.03, 0.01, 100.0
today = ql.Date(19, 11, 2026)
ql.Settings.instance().evaluationDate = today
days_over_365, no_calendar = ql.Actual365Fixed(), ql.NullCalendar()


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days_over_365))


print("QuantLib", ql.__version__, "call: strike, volatility, ChoiAsianEngine with two precisions, TurnbullWakeman")
for sigma in (0.1, 0.25, 0.5):
    process = ql.BlackScholesMertonProcess(
        ql.QuoteHandle(ql.SimpleQuote(SPOT)), flat(YIELD), flat(RATE),
        ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, no_calendar, sigma, days_over_365)))
    for strike in (85.0, 100.0, 120.0):
        option = ql.DiscreteAveragingAsianOption(
            ql.Average.Arithmetic, 0, 0, [today + d for d in DAYS], ql.PlainVanillaPayoff(ql.Option.Call, strike),
            ql.EuropeanExercise(today + DAYS[-1]))
        values = []
        for engine in (ql.ChoiAsianEngine(process, 15.0), ql.ChoiAsianEngine(process, 20.0),
                       ql.TurnbullWakemanAsianEngine(process)):
            option.setPricingEngine(engine)
            values.append(option.NPV())
        print(strike, sigma, *(f"{v:.8f}" for v in values))
