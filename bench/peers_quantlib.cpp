/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_quantlib.cpp - Heston's call by QuantLib: its Monte Carlo engine with the full truncation of Euler's
 * scheme and its own pseudo-random numbers, and its analytic engine with adaptive integration and by default, with
 * Gauss and Laguerre's rule. A call makes the option and its engine anew, for QuantLib keeps what it has
 * computed. One thread.
 */
#include "bench/peers_foreign.h"

#include <exception>
#include <ql/quantlib.hpp>

using namespace QuantLib;

namespace {

/* 365 days of Actual/365 are the one year. */
const Date today(1, January, 2026), maturity(1, January, 2027);

ext::shared_ptr<HestonProcess> process_of(const shoal_heston *m) {
    Settings::instance().evaluationDate() = today;
    const Actual365Fixed days;
    const Handle<YieldTermStructure> rate(ext::make_shared<FlatForward>(today, m->rate, days));
    const Handle<YieldTermStructure> dividend(
        ext::make_shared<FlatForward>(today, m->dividend, days));
    const Handle<Quote> spot(ext::make_shared<SimpleQuote>(m->s0));
    return ext::make_shared<HestonProcess>(rate, dividend, spot, m->v0, m->kappa, m->theta,
                                           m->sigma, m->rho, HestonProcess::FullTruncation);
}

ext::shared_ptr<VanillaOption> call_option() {
    return ext::make_shared<VanillaOption>(ext::make_shared<PlainVanillaPayoff>(Option::Call, 1.0),
                                           ext::make_shared<EuropeanExercise>(maturity));
}

} // namespace

extern "C" int bench_quantlib_euler(const shoal_heston *model, int64_t steps, int64_t paths,
                                    uint64_t seed, double *price, double *error) {
    try {
        const auto option = call_option();
        const ext::shared_ptr<PricingEngine> engine =
            MakeMCEuropeanHestonEngine<PseudoRandom>(process_of(model))
                .withSteps(static_cast<Size>(steps))
                .withSamples(static_cast<Size>(paths))
                .withSeed(static_cast<BigNatural>(seed));
        option->setPricingEngine(engine);
        *price = option->NPV();
        *error = option->errorEstimate();
        return 0;
    } catch (const std::exception &) { return -1; }
}

extern "C" int bench_quantlib_analytic(const shoal_heston *model, int adaptive, double *price) {
    try {
        const auto heston = ext::make_shared<HestonModel>(process_of(model));
        const auto option = call_option();
        option->setPricingEngine(
            adaptive ? ext::make_shared<AnalyticHestonEngine>(heston, 1e-12, 1000000)
                     : ext::make_shared<AnalyticHestonEngine>(heston));
        *price = option->NPV();
        return 0;
    } catch (const std::exception &) { return -1; }
}

extern "C" const char *bench_quantlib_version(void) { return "QuantLib " QL_VERSION; }
