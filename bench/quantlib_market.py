# SPDX-License-Identifier: Apache-2.0
"""Prices by QuantLib in a market with term structures, for tests/test_cva_market.c.

pip install QuantLib==1.44 numpy; python bench/quantlib_market.py
"""

import math

import numpy as np
import QuantLib as ql

RATES = [(91, 0.01), (365, 0.03), (730, 0.045)]  # days, zero rate
YIELDS = [(182, 0.0), (730, 0.02)]
VOLATILITIES = [(91, 0.35), (365, 0.25), (730, 0.22)]
EXERCISE = [91, 182, 273, 365, 547, 730]
SPOT, STRIKE = 100.0, 105.0

today = ql.Date(19, 11, 2026)
ql.Settings.instance().evaluationDate = today
day_count, calendar = ql.Actual365Fixed(), ql.NullCalendar()


def curve(points):
    """Linear in the exponent."""
    factors = [1.0, *(math.exp(-rate * days / 365) for days, rate in points)]
    made = ql.DiscountCurve([today, *(today + days for days, _ in points)], factors, day_count, calendar)
    made.enableExtrapolation()
    return ql.YieldTermStructureHandle(made)


def process():
    days, values = zip(*VOLATILITIES)
    surface = ql.BlackVarianceCurve(today, [today + d for d in days], list(values), day_count, True)
    surface.enableExtrapolation()
    return ql.BlackScholesMertonProcess(
        ql.QuoteHandle(ql.SimpleQuote(SPOT)), curve(YIELDS), curve(RATES), ql.BlackVolTermStructureHandle(surface)
    )


def integral(points, days, power=1):
    """Of a rate, or of a variance with power 2, to a day."""
    return np.interp(days, [0, *(d for d, _ in points)], [0, *(v**power * d / 365 for d, v in points)])


def by_quadrature(points):
    """The Bermudan put back from date to date by the trapezoidal rule."""
    variance = [integral(VOLATILITIES, d, 2) for d in [0, *EXERCISE]]
    x = np.linspace(-8 * math.sqrt(variance[-1]), 8 * math.sqrt(variance[-1]), points)
    step = x[1] - x[0]

    def gain(i):
        growth = integral(RATES, EXERCISE[i]) - integral(YIELDS, EXERCISE[i]) - 0.5 * variance[i + 1]
        return np.maximum(STRIKE - SPOT * np.exp(growth + x), 0)

    value = gain(len(EXERCISE) - 1)
    for i in range(len(EXERCISE) - 1, -1, -1):
        before = EXERCISE[i - 1] if i else 0
        moved = variance[i + 1] - variance[i]
        taps = int(9 * math.sqrt(moved) / step)
        weight = np.exp(-0.5 * (np.arange(-taps, taps + 1) * step) ** 2 / moved)
        wide = np.concatenate([np.full(taps, value[0]), value, np.full(taps, value[-1])])
        discount = math.exp(integral(RATES, before) - integral(RATES, EXERCISE[i]))
        value = discount * np.convolve(wide, weight / weight.sum(), "valid")
        if i:
            value = np.maximum(value, gain(i - 1))
    return value[points // 2]


print("QuantLib", ql.__version__)
for name, kind in (("put", ql.Option.Put), ("call", ql.Option.Call)):
    payoff = ql.PlainVanillaPayoff(kind, STRIKE)
    for days in (730, 500):
        option = ql.VanillaOption(payoff, ql.EuropeanExercise(today + days))
        option.setPricingEngine(ql.AnalyticEuropeanEngine(process()))
        print(f"european {name} {days} days {option.NPV():.10f}")
    option = ql.VanillaOption(payoff, ql.BermudanExercise([today + days for days in EXERCISE]))
    option.setPricingEngine(ql.FdBlackScholesVanillaEngine(process(), 8000, 4000, 0))
    print(f"bermudan {name} {option.NPV():.6f}")
print(f"bermudan put by quadrature {by_quadrature(8001):.6f}")
