# SPDX-License-Identifier: Apache-2.0
"""Hazard rates from spreads of credit default swaps by QuantLib's ISDA engine, for tests/test_cva_market.c.

Each rate makes the fair spread of its swap the quoted one. pip install QuantLib==1.44; python bench/quantlib_cds.py
"""

import math

import QuantLib as ql

RATES = [(91, 0.01), (365, 0.03), (730, 0.045), (3650, 0.05)]  # days, zero rate
SPREADS = [(1, 0.008), (3, 0.012), (5, 0.016), (7, 0.018), (10, 0.020)]  # years
RECOVERY = 0.4

today = ql.Date(19, 11, 2026)
ql.Settings.instance().evaluationDate = today
act365, calendar = ql.Actual365Fixed(), ql.WeekendsOnly()
factors = [1.0, *(math.exp(-rate * days / 365) for days, rate in RATES)]
discount = ql.DiscountCurve([today, *(today + days for days, _ in RATES)], factors, act365, ql.NullCalendar())
discount.enableExtrapolation()


def swap(maturity, spread):
    schedule = ql.Schedule(today, maturity, ql.Period(ql.Quarterly), calendar, ql.Following, ql.Unadjusted,
                           ql.DateGeneration.CDS2015, False)  # fmt: skip
    return ql.CreditDefaultSwap(ql.Protection.Buyer, 1.0, spread, schedule, ql.Following, ql.Actual360(), True, True,
                                today + 1, ql.FaceValueClaim(), ql.Actual360(True), True, today)  # fmt: skip


dates, hazards = [today], []
for years, spread in SPREADS:
    maturity = ql.cdsMaturity(today, ql.Period(years, ql.Years), ql.DateGeneration.CDS2015)
    contract = swap(maturity, spread)
    low, high = 0.0, 1.0
    while high - low > 1e-15:
        middle = 0.5 * (low + high)
        curve = ql.HazardRateCurve([*dates, maturity], [(hazards or [middle])[0], *hazards, middle], act365)
        curve.enableExtrapolation()
        contract.setPricingEngine(
            ql.IsdaCdsEngine(ql.DefaultProbabilityTermStructureHandle(curve), RECOVERY,
                             ql.YieldTermStructureHandle(discount), False)
        )  # fmt: skip
        low, high = (low, middle) if contract.fairSpread() > spread else (middle, high)
    dates.append(maturity)
    hazards.append(low)
    print(maturity.ISO(), maturity - today, f"{low:.14f}")
