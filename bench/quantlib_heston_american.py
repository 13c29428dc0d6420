# SPDX-License-Identifier: Apache-2.0
"""Prices by QuantLib of Bermudan puts and calls in Heston's model, for tests/test_cva_heston.c.

pip install QuantLib==1.44; python bench/quantlib_heston_american.py

The finite differences are of the second order: the last number extrapolates two grids.
"""

import QuantLib as ql

SPOT, RATE, YIELD = 100.0, 0.05, 0.02
MODELS = [(0.04, 1.5, 0.06, 0.5, -0.7), (0.09, 3.0, 0.04, 0.4, 0.3)]  # v0, kappa, theta, sigma, rho
DAYS = [73, 146, 219, 292, 365]
today = ql.Date(19, 11, 2026)
ql.Settings.instance().evaluationDate = today
days_over_365 = ql.Actual365Fixed()


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days_over_365))


print("QuantLib", ql.__version__, "model, put, strike: European, Bermudan with two grids, extrapolated")
for number, (v0, kappa, theta, sigma, rho) in enumerate(MODELS):
    process = ql.HestonProcess(flat(RATE), flat(YIELD), ql.QuoteHandle(ql.SimpleQuote(SPOT)), v0, kappa, theta, sigma, rho)
    model = ql.HestonModel(process)
    for put, strike in ((1, 90.0), (1, 100.0), (1, 115.0), (0, 100.0)):
        payoff = ql.PlainVanillaPayoff(ql.Option.Put if put else ql.Option.Call, strike)
        european = ql.VanillaOption(payoff, ql.EuropeanExercise(today + DAYS[-1]))
        european.setPricingEngine(ql.AnalyticHestonEngine(model, 1e-12, 10**6))
        bermudan = ql.VanillaOption(payoff, ql.BermudanExercise([today + d for d in DAYS]))
        values = []
        for steps, prices, variances in ((100, 200, 50), (200, 400, 100)):
            bermudan.setPricingEngine(ql.FdHestonVanillaEngine(model, steps, prices, variances))
            values.append(bermudan.NPV())
        values.append(values[1] + (values[1] - values[0]) / 3)
        print(f"{number} {put} {strike:g} {european.NPV():.6f}", *(f"{v:.5f}" for v in values), flush=True)
