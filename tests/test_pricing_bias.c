/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_bias.c - errors that a standard error does not show, over random models: the bias of the
 * steps, which shoal_price_value.bias bounds, and values for which no path paid, which .bound bounds.
 *
 * Of exact steps of Heston's model the bias is known: the oracle goes through the steps one by one, in
 * long double, and integrates by Simpson's rule. Other biases are those of simulations.
 */
#include "pricing_pieces.h"
#include <complex.h>
#include <math.h>
#include <shoal/american.h>

typedef long double real_l;
typedef long double complex complex_l;

static uint64_t state;

static double uniform(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double between(double low, double high) { return low + (high - low) * uniform(); }
static double log_between(double low, double high) { return low * pow(high / low, uniform()); }

/* kappa T up to 250, with Feller's condition or far from it, any correlation. */
static shoal_heston random_heston(double maturity) {
    shoal_heston m = { .s0 = log_between(0.1, 1000), .rate = between(-0.05, 0.1) };
    m.dividend = between(0, 0.05);
    m.v0 = log_between(0.001, 0.5), m.theta = log_between(0.001, 0.5);
    m.kappa = log_between(0.01, 50), m.sigma = log_between(0.01, 3);
    m.rho = uniform() < 0.2 ? uniform() < 0.5 ? -1 : 1 : between(-1, 1);
    if (m.kappa * maturity > 250) m.kappa = 250 / maturity;
    return m;
}

/* The value of a total in which no path has paid: nothing is simulated. */
static shoal_price_value without_paths(shoal_price *plan) {
    double *total = new_array((size_t)(2 * shoal_price_width(plan)), sizeof *total);
    shoal_price_info info = { 0 };
    CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
    shoal_price_value *all = new_array((size_t)info.contracts, sizeof *all);
    CHECK(shoal_price_result(plan, total, 2, all) == SHOAL_OK);
    const shoal_price_value last = all[info.contracts - 1];
    free(total);
    free(all);
    return last;
}

/* ---- Heston, exact steps: the oracle ------------------------------------------------------------- */

typedef struct walk { /* steps to one or two maturities */
    const shoal_heston *m;
    int64_t steps[2];
    double maturity[2]; /* the second is the one that is priced */
} walk;

/* E[(S_T / F)^w] step by step. */
static complex_l law_of_steps(const walk *k, complex_l w) {
    const shoal_heston *m = k->m;
    const real_l kappa = m->kappa, sigma = m->sigma, rho = m->rho, theta = m->theta;
    const complex_l each = w * (rho * kappa / sigma - 0.5L) + 0.5L * w * w * (1 - rho * rho);
    complex_l psi = w * rho / sigma;
    complex_l sum = -psi * (m->v0 + kappa * theta * k->maturity[1]);
    for (int leg = 1; leg >= 0; leg--) {
        const real_l length = k->maturity[leg] - (leg ? k->maturity[0] : 0);
        const real_l dt = k->steps[leg] ? length / k->steps[leg] : 0;
        const real_l factor = sigma * sigma * -expm1l(-kappa * dt) / (2 * kappa);
        const real_l weight = tanhl(kappa * dt / 2) / kappa;
        for (int64_t i = 0; i < k->steps[leg]; i++) {
            const complex_l z = psi + each * weight, rest = 1 - z * factor;
            sum += each * theta * (dt - 2 * weight);
            sum -= 2 * kappa * theta / (sigma * sigma) * clogl(rest);
            psi = each * weight + expl(-kappa * dt) * z / rest;
        }
    }
    return cexpl(sum + psi * m->v0);
}

static complex_l law(const walk *k, complex_l w) {
    const shoal_heston *m = k->m;
    const real_l square = (real_l)m->sigma * m->sigma;
    const complex_l beta = m->kappa - (real_l)m->rho * m->sigma * w;
    const complex_l d = csqrtl(beta * beta - square * (w * w - w));
    const complex_l e = cexpl(-d * k->maturity[1]), g = (beta - d) / (beta + d);
    const complex_l slope = (beta - d) / square * (1 - e) / (1 - g * e);
    const complex_l level = (beta - d) * k->maturity[1] - 2 * clogl((1 - g * e) / (1 - g));
    return cexpl(m->kappa * (real_l)m->theta / square * level + m->v0 * slope);
}

/* Price of the steps less price, over sqrt(F K) and the discount, by Simpson's rule. *rest: what is not
 * integrated, and the difference from half as many nodes. */
static double bias_by_steps(const walk *k, double log_moneyness, double *rest) {
    enum { PANELS = 64, HALVES = 48 };
    const real_l pi = 3.14159265358979323846L;
    real_l sum = 0, coarse = 0, a = 0, left = 1;
    for (int panel = 0; panel < PANELS && left > 1e-8L; panel++) {
        const real_l b = a < 1 ? a + 0.125L : a * 1.125L, h = (b - a) / HALVES;
        for (int i = 0; i <= HALVES; i++) {
            const real_l u = a + i * h;
            const complex_l w = 0.5L + u * I, turn = cexpl(u * log_moneyness * I);
            const complex_l ours = law_of_steps(k, w), theirs = law(k, w);
            const real_l value = h / 3 * creall(turn * (ours - theirs)) / (u * u + 0.25L);
            const int end = i == 0 || i == HALVES;
            sum += (end ? 1 : i % 2 ? 4 : 2) * value;
            coarse += i % 2 ? 0 : 2 * (end ? 1 : i % 4 ? 4 : 2) * value;
            left = (cabsl(ours) + cabsl(theirs)) / b;
        }
        a = b;
    }
    *rest = (double)((left + fabsl(sum - coarse)) / pi);
    return (double)(-sum / pi);
}

TEST(bias_of_exact_steps) {
    const int members = small ? 40 : 400;
    int compared = 0;
    shoal_context *ctx = targets[0].ctx;
    state = 1;
    for (int i = 0; i < members; i++) {
        walk k = { .maturity = { 0, log_between(0.05, 20) } };
        const shoal_heston m = random_heston(k.maturity[1]);
        const double forward = m.s0 * exp((m.rate - m.dividend) * k.maturity[1]);
        const double strike = forward * exp(between(-1, 1) * sqrt(m.theta * k.maturity[1]));
        const int64_t steps = (int64_t)log_between(1, 200);
        k.m = &m, k.steps[1] = steps;
        const int two = i % 2 && steps > 1; /* an earlier maturity with steps of its own length */
        if (two) {
            k.steps[0] = steps / 3 + 1, k.steps[1] = steps - k.steps[0];
            k.maturity[0] = k.maturity[1] * (double)k.steps[0] / (double)steps;
        }
        const shoal_price_opts o = { .method = i % 3 ? "conditional" : "exact",
                                     .steps = steps,
                                     .control = -1,
                                     .put = 1,
                                     .strikes = 1,
                                     .strike = &strike,
                                     .maturities = 1 + two,
                                     .maturity = k.maturity + 1 - two };
        shoal_price *plan = NULL;
        CHECK_MSG(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
        const double told = without_paths(plan).bias;
        shoal_price_free(plan);
        double rest;
        const double bias = fabs(bias_by_steps(&k, log(forward / strike), &rest));
        const double unit = exp(-m.rate * k.maturity[1]) * sqrt(forward * strike);
        if (rest > 1e-4) continue; /* the oracle would take too long */
        compared++;
        CHECK_MSG(told >= unit * (bias - rest - 1e-9) &&
                      told <= unit * (1.25 * (bias + rest) + 1e-5),
                  "member %d: %.3g, not %.3g (+- %.1g): kappa %g theta %g sigma %g rho %g v0 %g, T "
                  "%g, %lld steps",
                  i, told / unit, bias, rest, m.kappa, m.theta, m.sigma, m.rho, m.v0, k.maturity[1],
                  (long long)steps);
    }
    CHECK_MSG(compared > members / 2, "%d of %d", compared, members);
}

/* ---- simulations are within their bias ------------------------------------------------------------ */

typedef struct tally {
    int members, seen, loose; /* seen: off by more than its standard error explains */
} tally;

static void within(tally *t, const char *what, int member, const shoal_price_value *v, double truth,
                   double error) {
    const double off = fabs(v->price - truth);
    t->members++, t->seen += off > 4.5 * error, t->loose += v->bias > 10 * (off + 2 * error);
    CHECK_MSG(off <= v->bias + 4.5 * error + 1e-8 * fabs(truth), /* the formula's own error */
              "%s, member %d: %g +- %g, bias %g, not %g", what, member, v->price, v->error, v->bias,
              truth);
}

TEST(heston_is_within_its_bias) {
    static const char *const ways[][2] = { { "euler", "full" },
                                           { "euler", "plus" },
                                           { "euler", "abs" },
                                           { "exact", NULL },
                                           { "conditional", NULL } };
    const int members = small ? 10 : 300;
    const int64_t samples = small ? 1024 : 1 << 14;
    tally t[2] = { { 0 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    state = 2;
    for (int i = 0; i < members; i++) {
        const double maturity = log_between(0.1, 20);
        const shoal_heston m = random_heston(maturity);
        const double forward = m.s0 * exp((m.rate - m.dividend) * maturity);
        const double strike = forward * exp(between(-1, 1) * sqrt(m.theta * maturity));
        const char *const *way = ways[i % 5];
        const int euler = i % 5 < 3;
        const int64_t least = euler ? (int64_t)(m.kappa * maturity) + 1 : 1;
        const shoal_price_opts o = { .method = way[0],
                                     .variant = way[1],
                                     .seed = (uint64_t)i,
                                     .steps = least + (int64_t)log_between(1, small ? 8 : 64),
                                     .put = 1,
                                     .strikes = 1,
                                     .strike = &strike,
                                     .maturities = 1,
                                     .maturity = &maturity };
        shoal_price_opts exact = o;
        shoal_price_value truth = { 0 }, v = { 0 };
        shoal_price *plan = NULL;
        exact.method = "analytic", exact.variant = NULL;
        CHECK(shoal_price_heston(ctx, &m, &exact, &plan) == SHOAL_OK);
        const shoal_status s = shoal_price_result(plan, NULL, 0, &truth);
        shoal_price_free(plan);
        if (s != SHOAL_OK) continue;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, samples, 1, &v) == SHOAL_OK);
        if (v.bound > 0) continue; /* as far as its standard error goes */
        char what[160];
        snprintf(what, sizeof what,
                 "%s: v0 %g kappa %g theta %g sigma %g rho %g, T %g, log(F/K) %g, %lld steps",
                 way[1] ? way[1] : way[0], m.v0, m.kappa, m.theta, m.sigma, m.rho, maturity,
                 log(forward / strike), (long long)o.steps);
        within(&t[!euler], what, i, &v, truth.price, v.error);
    }
    printf("      euler: %d members, %d biased, %d bounds above 10 times the bias\n", t[0].members,
           t[0].seen, t[0].loose);
    printf("      exact: %d members, %d biased\n", t[1].members, t[1].seen);
    CHECK(small || (t[0].seen > 0 && t[1].seen > 0));
}

/* The truth is `conditional` with many steps. */
TEST(qe_is_within_its_bias) {
    const shoal_price_goal goal = { .paths = small ? 1024 : 1 << 14 };
    tally t = { 0 };
    state = 6;
    for (int i = 0; i < (small ? 10 : 200); i++) {
        const double maturity = log_between(0.1, 20);
        const shoal_heston m = random_heston(maturity);
        const double strike = m.s0 * exp((m.rate - m.dividend) * maturity +
                                         between(-1, 1) * sqrt(m.theta * maturity));
        shoal_price_opts o = { .method = "analytic",
                               .seed = (uint64_t)i,
                               .steps = (int64_t)log_between(1, small ? 8 : 64),
                               .put = 1,
                               .strikes = 1,
                               .strike = &strike,
                               .maturities = 1,
                               .maturity = &maturity };
        shoal_context *ctx = targets[target_count - 1].ctx;
        shoal_price_value truth = { 0 }, v = { 0 };
        if (shoal_heston_value(ctx, &m, &o, &goal, &truth) != SHOAL_OK) continue;
        o.method = "qe";
        CHECK(shoal_heston_value(ctx, &m, &o, &goal, &v) == SHOAL_OK);
        if (v.bound > 0) continue;
        char what[160];
        snprintf(what, sizeof what, "qe: v0 %g kappa %g theta %g sigma %g rho %g, T %g, %lld steps",
                 m.v0, m.kappa, m.theta, m.sigma, m.rho, maturity, (long long)o.steps);
        within(&t, what, i, &v, truth.price, v.error);
    }
    printf("      qe: %d members, %d biased, %d bounds above 10 times the bias\n", t.members,
           t.seen, t.loose);
    CHECK(small || t.seen > 0);
}

TEST(expou_is_within_its_bias) {
    const int members = small ? 6 : 120;
    const int64_t samples = small ? 1024 : 1 << 14;
    tally t[2] = { { 0 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    state = 3;
    for (int i = 0; i < members; i++) {
        const double maturity = log_between(0.1, 5), strike = exp(between(-0.3, 0.3));
        shoal_expou m = { .s0 = 1, .rate = between(0, 0.05), .rho = between(-1, 1) };
        m.alpha = log_between(0.05, 30), m.m = log(between(0.05, 0.5));
        m.y0 = log(between(0.05, 0.5));
        m.beta = sqrt(2 * m.alpha) * between(0, 0.7); /* the stationary deviation of Y */
        if (i % 3 == 0) m.rho = 0;
        if (i % 7 == 0) m.alpha = 0;
        const int euler = i % 2;
        const int64_t least = euler ? (int64_t)(m.alpha * maturity) + 1 : 1;
        shoal_price_opts o = { .method = euler ? "euler" : "conditional",
                               .seed = (uint64_t)i,
                               .steps = least + (int64_t)log_between(1, 64),
                               .put = 1,
                               .strikes = 1,
                               .strike = &strike,
                               .maturities = 1,
                               .maturity = &maturity };
        shoal_price_value v = { 0 }, truth = { 0 };
        shoal_price *plan = NULL;
        CHECK(shoal_price_expou(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, samples, 1, &v) == SHOAL_OK);
        o.method = "conditional", o.steps = small ? 256 : 2048, o.seed = 1000 + (uint64_t)i;
        CHECK(shoal_price_expou(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, samples, 1, &truth) == SHOAL_OK);
        if (v.bound > 0 || truth.bound > 0) continue;
        within(&t[euler], euler ? "euler" : "conditional", i, &v, truth.price,
               hypot(v.error, truth.error));
    }
    for (int euler = 0; euler < 2; euler++)
        printf("      %s: %d members, %d biased, %d bounds above 10 times the bias\n",
               euler ? "euler" : "conditional", t[euler].members, t[euler].seen, t[euler].loose);
    CHECK(small || (t[0].seen > 0 && t[1].seen > 0));
}

/* ---- default steps -------------------------------------------------------------------------------- */

TEST(default_steps_follow_the_reversion) {
    static const struct {
        shoal_heston m;
        double strike, maturity;
        int64_t steps;
    } known[] = {
        { { 1, 0, 0, .1, .5, .1, .3, -.7 }, 1, 1, 64 },
        { { 100, .0319, 0, .010201, 6.21, .019, .61, -.7 }, 100, 1, 64 },
        { { 100, .0319, 0, .010201, 6.21, .019, .61, -.7 }, 100, 10, 512 },
        { { 100, .0319, 0, .010201, 9.66, .019, .61, -.7 }, 100, 20, 2048 },
        { { 100, 0, 0, .04, .5, .04, 1, -.9 }, 100, 10, 64 },
    };
    shoal_context *ctx = targets[0].ctx;
    shoal_price *plan = NULL;
    shoal_price_info info = { 0 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        shoal_price_opts o = { .strikes = 1,
                               .strike = &known[i].strike,
                               .maturities = 1,
                               .maturity = &known[i].maturity };
        CHECK(shoal_price_heston(ctx, &known[i].m, &o, &plan) == SHOAL_OK);
        CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
        CHECK_MSG(info.steps == known[i].steps, "%zu: %lld", i, (long long)info.steps);
        shoal_price_free(plan);
        o.method = "euler";
        CHECK(shoal_price_heston(ctx, &known[i].m, &o, &plan) == SHOAL_OK);
        CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
        CHECK(info.steps == (i == 3 ? 1932 : 1000));
        shoal_price_free(plan);
    }
    state = 4;
    for (int i = 0; i < (small ? 20 : 200); i++) {
        const double maturity = log_between(0.05, 20);
        const shoal_heston m = random_heston(maturity);
        const double forward = m.s0 * exp((m.rate - m.dividend) * maturity);
        const shoal_price_opts o = { .method = "exact", /* without a control variate */
                                     .strikes = 1,
                                     .strike = &forward,
                                     .maturities = 1,
                                     .maturity = &maturity };
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
        const double small_bias = 5.1e-5 * m.s0 * exp(-m.dividend * maturity);
        CHECK_MSG(info.parity || info.steps == 1 << 14 || without_paths(plan).bias <= small_bias,
                  "member %d: %lld steps", i, (long long)info.steps);
        shoal_price_free(plan);
    }
}

/* Andersen's first case, and the base set, by QE over 100 seeds: prices and the forward (strike 0) are as far off as their
 * standard errors say, and their mean by no more than its own and the bias. */
TEST(qe_over_100_seeds) {
    enum { SEEDS = 100, STRIKES = 4 };
    static const struct {
        shoal_heston m;
        double strike[STRIKES], maturity;
        int64_t steps;
    } cases[] = { { { 100, 0, 0, .04, .5, .04, 1, -.9 }, { 0, 60, 100, 140 }, 10, 80 },
                  { { 1, 0, 0, .1, .5, .1, .3, -.7 }, { 0, .8, 1, 1.25 }, 1, 16 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    const int64_t samples = small ? 256 : 4096;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double sum[STRIKES] = { 0 }, variance[STRIKES] = { 0 }, square[STRIKES] = { 0 };
        double bias[STRIKES] = { 0 };
        shoal_price_value truth[STRIKES], v[STRIKES];
        shoal_price_opts o = { .method = "analytic",
                               .steps = cases[c].steps,
                               .strikes = STRIKES,
                               .strike = cases[c].strike,
                               .maturities = 1,
                               .maturity = &cases[c].maturity };
        shoal_price_goal goal = { .paths = samples };
        CHECK(shoal_heston_value(ctx, &cases[c].m, &o, &goal, truth) == SHOAL_OK);
        o.method = "qe", o.antithetic = 1;
        for (int seed = 0; seed < SEEDS; seed++) {
            o.seed = 1000 + (uint64_t)seed;
            CHECK(shoal_heston_value(ctx, &cases[c].m, &o, &goal, v) == SHOAL_OK);
            for (int k = 0; k < STRIKES; k++) {
                const double off = v[k].price - truth[k].price;
                sum[k] += off, variance[k] += v[k].error * v[k].error;
                square[k] += off * off / (v[k].error * v[k].error), bias[k] = v[k].bias;
            }
        }
        for (int k = 0; k < STRIKES; k++) {
            const double off = sum[k] / SEEDS, error = sqrt(variance[k]) / SEEDS;
            CHECK_MSG(fabs(off) < bias[k] + 4 * error && (k > 0 || fabs(off) < 4 * error),
                      "case %zu, strike %g: off by %g +- %g, bias %g", c, cases[c].strike[k], off,
                      error, bias[k]);
            CHECK_MSG(small || (square[k] / SEEDS > 0.5 && square[k] / SEEDS < 1.8),
                      "case %zu, strike %g: mean square %g", c, cases[c].strike[k],
                      square[k] / SEEDS);
        }
    }
}

/* A large sigma, rho > 0 and long steps: E[S] has no correction, and the bias says that nothing is known. */
TEST(qe_without_correction) {
    const shoal_heston m = { 1, 0, 0, .1, .2, .1, .2, .9 };
    const double strike = 1, maturity = 20;
    shoal_price_opts o = { .method = "qe",
                           .steps = 1,
                           .put = 1,
                           .strikes = 1,
                           .strike = &strike,
                           .maturities = 1,
                           .maturity = &maturity };
    shoal_price *plan = NULL;
    shoal_price_info info = { 0 };
    CHECK(shoal_price_heston(targets[0].ctx, &m, &o, &plan) == SHOAL_OK);
    CHECK(without_paths(plan).bias == 1);
    shoal_price_free(plan);
    o.steps = 0;
    CHECK(shoal_price_heston(targets[0].ctx, &m, &o, &plan) == SHOAL_OK);
    CHECK(shoal_price_describe(plan, &info) == SHOAL_OK && info.steps >= 64);
    CHECK(without_paths(plan).bias <= 5.1e-5 || info.steps == 1 << 14);
    shoal_price_free(plan);
}

/* Broadie and Kaya's parameters at 10 years, by default: 64 steps were off by 24 standard errors. */
TEST(default_runs_meet_the_formula) {
    const shoal_heston m = { 100, .0319, 0, .010201, 6.21, .019, .61, -.7 };
    const double strike = 100, maturity = 10, formula = 32.5679356;
    shoal_price_opts o = {
        .seed = 1, .strikes = 1, .strike = &strike, .maturities = 1, .maturity = &maturity
    };
    shoal_price_value v = { 0 };
    shoal_price *plan = NULL;
    shoal_context *ctx = targets[target_count - 1].ctx;
    if (small) SKIP("takes many paths");
    CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
    CHECK(run_in_pieces(ctx, plan, 1 << 16, 1, &v) == SHOAL_OK);
    CHECK_MSG(fabs(v.price - formula) < 4 * v.error && v.bias < v.error, "%g +- %g, bias %g",
              v.price, v.error, v.bias);
    o.steps = 64;
    CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
    CHECK(run_in_pieces(ctx, plan, 1 << 16, 1, &v) == SHOAL_OK);
    CHECK_MSG(fabs(v.price - formula) > 4 * v.error && v.bias > v.error, "%g +- %g, bias %g",
              v.price, v.error, v.bias);
}

/* ---- no path paid --------------------------------------------------------------------------------- */

/* A value of `samples` samples, and whether it broke its promise: bounds fail in 5 % of all cases. */
typedef struct promise {
    int members, unpaid, broken;
} promise;

static void check_bound(promise *p, const char *what, const shoal_price_value *v, double truth) {
    p->members++;
    const int unpaid = v->price == 0 && v->error == 0; /* without a bound: known to be 0 */
    CHECK_MSG(v->bound > 0 ? unpaid : !unpaid || truth == 0, "%s: %g +- %g, bound %g, truth %g",
              what, v->price, v->error, v->bound, truth);
    if (!(v->bound > 0)) return;
    p->unpaid++, p->broken += truth > v->bound;
}

static void check_promise(const promise *p, const char *what) {
    const double limit = 0.05 * p->members + 3 * sqrt(0.05 * p->members);
    printf("      %s: %d members, %d unpaid, %d above the bound\n", what, p->members, p->unpaid,
           p->broken);
    CHECK_MSG(p->unpaid > 0 && p->unpaid < p->members && p->broken <= limit, "%s", what);
}

TEST(unpaid_bullets_have_a_bound) {
    const int members = small ? 24 : 400;
    promise p[2] = { { 0 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    state = 5;
    for (int i = 0; i < members; i++) {
        shoal_bullet m = shoal_bullet_example();
        m.dates = 1 + (int64_t)(6 * uniform()), m.p1 = m.dates, m.p2 = m.dates;
        m.count = (char)('A' + i % 6), m.sigma = log_between(0.05, 0.5);
        const double deviation = m.sigma * sqrt(m.maturity);
        m.barrier = m.s0 * exp(0.1 - between(1.5, 4) * deviation);
        m.strike = m.barrier * exp(-between(0.2, 2) * deviation);
        if (m.count == 'B' || m.count == 'D' || m.count == 'F') m.p1 = m.dates / 2;
        const int64_t samples = small ? 100 : 1000;
        shoal_price_opts o = { .method = "mc", .seed = (uint64_t)i, .probability = i / 6 % 2 };
        o.antithetic = i / 12 % 2;
        shoal_price_opts exact = o;
        shoal_price_value v = { 0 }, truth = { 0 };
        shoal_price *plan = NULL;
        exact.method = "quad";
        CHECK(shoal_price_bullet(ctx, &m, &exact, NULL, 1, &plan) == SHOAL_OK);
        CHECK(shoal_price_result(plan, NULL, 0, &truth) == SHOAL_OK);
        shoal_price_free(plan);
        CHECK(shoal_price_bullet(ctx, &m, &o, NULL, 1, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, samples, 1, &v) == SHOAL_OK);
        check_bound(&p[o.probability], "bullet", &v, truth.price);
    }
    check_promise(&p[0], "bullet prices"), check_promise(&p[1], "bullet probabilities");
}

TEST(unpaid_calls_and_puts_have_a_bound) {
    const int members = small ? 24 : 300;
    promise p[2] = { { 0 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    state = 6;
    for (int i = 0; i < members; i++) {
        shoal_heston m = shoal_heston_example();
        m.sigma = log_between(0.05, 1), m.rho = between(-1, 1), m.v0 = log_between(0.01, 0.2);
        const double maturity = log_between(0.1, 2), side = i % 2 ? -1 : 1;
        const double strike = exp(side * between(1.5, 4.5) * sqrt(m.v0 * maturity));
        shoal_price_opts o = { .method = i % 4 < 2 ? "exact" : "euler",
                               .seed = (uint64_t)i,
                               .steps = 16,
                               .put = i % 2,
                               .antithetic = i / 4 % 2,
                               .strikes = 1,
                               .strike = &strike,
                               .maturities = 1,
                               .maturity = &maturity };
        shoal_price_value v = { 0 }, truth = { 0 };
        shoal_price *plan = NULL;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, small ? 100 : 1000, 1, &v) == SHOAL_OK);
        o.method = "analytic";
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(shoal_price_result(plan, NULL, 0, &truth) == SHOAL_OK);
        shoal_price_free(plan);
        check_bound(&p[i % 2], i % 2 ? "put" : "call", &v, truth.price);
    }
    check_promise(&p[0], "calls"), check_promise(&p[1], "puts");
}

/* One date of exercise: the option is European. */
TEST(unpaid_american_options_have_a_bound) {
    static const shoal_payoff payoffs[] = { SHOAL_PUT, SHOAL_CALL };
    const int members = small ? 12 : 100;
    promise p[2] = { { 0 } };
    shoal_context *ctx = targets[target_count - 1].ctx;
    state = 7;
    for (int i = 0; i < members; i++) {
        const double s0 = 100, sigma = log_between(0.1, 0.5), maturity = log_between(0.1, 2);
        const double deviation = sigma * sqrt(maturity), rate = between(0, 0.1);
        const int put = i % 2 == 0;
        const shoal_american m = { .payoff = payoffs[i % 2],
                                   .strike = s0 * exp((put ? -1 : 1) * between(1.5, 4) * deviation),
                                   .rate = rate,
                                   .maturity = maturity,
                                   .s0 = &s0,
                                   .sigma = &sigma };
        const shoal_american_opts o = {
            .assets = 1, .dates = 1, .seed = (uint64_t)i, .fit_paths = 256
        };
        const double truth = exp(-rate * maturity) *
                             shoal_black(s0 * exp(rate * maturity), m.strike, deviation, put);
        shoal_price_value v = { 0 };
        shoal_price *plan = NULL;
        CHECK(shoal_price_american(ctx, &m, 1, &o, &plan) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, plan, small ? 256 : 1000, 1, &v) == SHOAL_OK);
        check_bound(&p[i % 2], put ? "american put" : "american call", &v, truth);
    }
    check_promise(&p[0], "american puts"), check_promise(&p[1], "american calls");
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(bias_of_exact_steps);
    RUN(heston_is_within_its_bias);
    RUN(expou_is_within_its_bias);
    RUN(default_steps_follow_the_reversion);
    RUN(qe_is_within_its_bias);
    RUN(qe_over_100_seeds);
    RUN(qe_without_correction);
    RUN(default_runs_meet_the_formula);
    RUN(unpaid_bullets_have_a_bound);
    RUN(unpaid_calls_and_puts_have_a_bound);
    RUN(unpaid_american_options_have_a_bound);
    close_targets();
    return TEST_END();
}
