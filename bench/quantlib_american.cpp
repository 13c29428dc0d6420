/* SPDX-License-Identifier: Apache-2.0
 *
 * quantlib_american.cpp - how long QuantLib's MCAmericanEngine takes for the first put of docs/cva.md, one thread:
 * seconds of calibration and of pricing, a path and date, as a difference of two runs each.
 *
 *     c++ -O2 bench/quantlib_american.cpp -o quantlib_american -lQuantLib && ./quantlib_american
 *
 * Not part of the build. Ours beside it: shoal price american --s0 36 --strike 40 --rate 0.06 --dates 50
 * --fit-paths 65536 --paths 65536 --threads 1.
 */
#include <cstdio>
#include <ctime>
#include <ql/quantlib.hpp>

using namespace QuantLib;

enum { STEPS = 50 };

struct run {
    double price, error, seconds;
};

static run price(VanillaOption &put, const ext::shared_ptr<GeneralizedBlackScholesProcess> &process,
                 Size calibration, Size samples) {
    put.setPricingEngine(MakeMCAmericanEngine<PseudoRandom>(process)
                             .withSteps(STEPS)
                             .withSamples(samples)
                             .withCalibrationSamples(calibration)
                             .withSeed(42)
                             .withPolynomialOrder(3)
                             .withBasisSystem(LsmBasisSystem::Monomial));
    const clock_t start = clock();
    run r;
    r.price = put.NPV(), r.error = put.errorEstimate();
    r.seconds = double(clock() - start) / CLOCKS_PER_SEC;
    return r;
}

int main() {
    const Date today(15, November, 2026), last = today + 365;
    Settings::instance().evaluationDate() = today;
    const DayCounter days = Actual365Fixed();
    const Handle<Quote> spot(ext::make_shared<SimpleQuote>(36.0));
    const Handle<YieldTermStructure> rate(ext::make_shared<FlatForward>(today, 0.06, days));
    const Handle<YieldTermStructure> none(ext::make_shared<FlatForward>(today, 0.0, days));
    const Handle<BlackVolTermStructure> vol(
        ext::make_shared<BlackConstantVol>(today, NullCalendar(), 0.2, days));
    const auto process = ext::make_shared<BlackScholesMertonProcess>(spot, none, rate, vol);
    VanillaOption put(ext::make_shared<PlainVanillaPayoff>(Option::Put, 40.0),
                      ext::make_shared<AmericanExercise>(today, last));
    const run small = price(put, process, 4096, 4096), fit = price(put, process, 69632, 4096);
    const run priced = price(put, process, 4096, 69632);
    const double steps = 65536.0 * STEPS;
    printf(
        "{\"who\": \"QuantLib\", \"version\": \"%s\", \"method\": \"MCAmericanEngine\", \"dates\": %d, "
        "\"price\": %.6f, \"stderr\": %.6f, \"fit_ns\": %.1f, \"price_ns\": %.1f}\n",
        QL_VERSION, STEPS, priced.price, priced.error, 1e9 * (fit.seconds - small.seconds) / steps,
        1e9 * (priced.seconds - small.seconds) / steps);
    return 0;
}
