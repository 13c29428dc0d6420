/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_greeks.c - sensitivities of the CVA, of first and second order: by closed forms, by bumps on the same paths, and the
 * same bits for any pieces.
 */
#include "cva_exact.h"
#include "cva_runs.h"

enum { MAX_PARAMETERS = 64 };

typedef struct greeks {
    int64_t count, width, paths;
    shoal_cva_sensitivity of[MAX_PARAMETERS];
    double *rows;
} greeks;

/* Rows of a case in pieces, and its sensitivities. */
static greeks greeks_of(shoal_context *ctx, const cva_case *c,
                        const shoal_cva_counterparty *parties, int64_t piece) {
    greeks g = { .paths = c->opts.outer };
    shoal_cva *plan = NULL;
    shoal_status s =
        shoal_cva_create(ctx, &c->market, c->contract, c->count, parties, &c->opts, &plan);
    g.count = shoal_cva_parameters(plan), g.width = shoal_cva_width(plan);
    g.rows = new_array((size_t)(g.paths * g.width + 1), sizeof *g.rows);
    for (int64_t at = 0; at < g.paths && s == SHOAL_OK; at += piece)
        s = shoal_cva_run(plan, at, g.paths - at < piece ? g.paths - at : piece,
                          g.rows + at * g.width, NULL);
    CHECK(g.count <= MAX_PARAMETERS);
    if (s == SHOAL_OK && g.count) s = shoal_cva_sensitivities(plan, g.rows, g.paths, g.of);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    shoal_cva_free(plan);
    return g;
}

static const shoal_cva_sensitivity *find(const greeks *g, shoal_cva_parameter kind) {
    int64_t i = 0;
    while (i < g->count && g->of[i].parameter != kind) i++;
    CHECK(i < g->count);
    return &g->of[i < g->count ? i : 0];
}

/* ---- closed forms ------------------------------------------------------------------------------- */

/* S, sigma, q, r, hazard, R */
enum { FORMULA_INPUTS = 6, FORMULA_DATES = 10 };
static const shoal_cva_parameter formula_inputs[FORMULA_INPUTS] = {
    SHOAL_CVA_SPOT, SHOAL_CVA_VOLATILITY, SHOAL_CVA_DIVIDEND,
    SHOAL_CVA_RATE, SHOAL_CVA_HAZARD,     SHOAL_CVA_RECOVERY
};

static double option_cva(const double *x, int put) {
    const double forward = x[0] * exp(x[3] - x[2]);
    return (1 - x[5]) * -expm1(-x[4]) * exp(-x[3]) * shoal_black(forward, 100, x[1], put);
}

static double digital_cva(const double *x, int put) {
    const double forward = x[0] * exp(x[3] - x[2]), e = log(forward / 100) / x[1] - 0.5 * x[1];
    const double chance = 0.5 * erfc((put ? e : -e) / sqrt(2));
    return (1 - x[5]) * -expm1(-x[4]) * exp(-x[3]) * chance;
}

static double forward_cva(const double *x, int ignored) {
    double sum = 0;
    (void)ignored;
    for (int k = 1; k <= FORMULA_DATES; k++) {
        const double t = (double)k / FORMULA_DATES, before = (double)(k - 1) / FORMULA_DATES;
        const double chance = exp(-x[4] * before) - exp(-x[4] * t);
        /* S e^(-q (1 - t)) - K e^(-r (1 - t)) */
        const double mean = x[0] * exp((x[3] - x[2]) * t - x[2] * (1 - t));
        sum += chance * exp(-x[3] * t) *
               shoal_black(mean, 100 * exp(-x[3] * (1 - t)), x[1] * sqrt(t), 0);
    }
    return (1 - x[5]) * sum;
}

/* Payoffs and their formulas. */
enum { FORMULAS = 5 };
static const struct {
    shoal_cva_payoff payoff;
    double (*cva)(const double *, int);
    int put;
} formulas[FORMULAS] = { { SHOAL_CVA_PUT, option_cva, 1 },
                         { SHOAL_CVA_CALL, option_cva, 0 },
                         { SHOAL_CVA_FORWARD, forward_cva, 0 },
                         { SHOAL_CVA_DIGITAL_PUT, digital_cva, 1 },
                         { SHOAL_CVA_DIGITAL_CALL, digital_cva, 0 } };

TEST(closed_forms) {
    static const double dividend = 0.03;
    const double at[FORMULA_INPUTS] = { 100, 0.2, 0.03, 0.1, 0.05, 0.4 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < FORMULAS; i++) {
            double (*const formula)(const double *, int) = formulas[i].cva;
            const int put = formulas[i].put;
            cva_case c = one_case(formulas[i].payoff, FORMULA_DATES, small ? 4096 : 65536);
            c.market.dividend = &dividend, c.opts.greeks = 1;
            greeks g = greeks_of(targets[t].ctx, &c, &c.counterparty, c.opts.outer);
            CHECK(g.count == FORMULA_INPUTS);
            for (int e = 0; e < FORMULA_INPUTS; e++) {
                const shoal_cva_sensitivity *s = find(&g, formula_inputs[e]);
                double up[FORMULA_INPUTS], down[FORMULA_INPUTS];
                memcpy(up, at, sizeof at), memcpy(down, at, sizeof at);
                const double h = 1e-4 * at[e];
                up[e] += h, down[e] -= h;
                const double want = (formula(up, put) - formula(down, put)) / (2 * h);
                CHECK_MSG(fabs(s->value - want) < 3 * s->error, "%s: %.6f +- %.6f, not %.6f",
                          s->name, s->value, s->error, want);
                CHECK(s->at == at[e] && s->error > 0);
                if (e == 0) CHECK(s->move == 1 && s->error < 0.03 * fabs(want) + 0.001);
            }
            free(g.rows);
        }
}

/* A digital call on one asset, netted with forwards on another; the same for the exact value. */
enum { NET_SPOT, NET_OTHER_SPOT, NET_SIGMA, NET_OTHER_SIGMA, NET_CORRELATION, NET_INPUTS };
static const double net_at[NET_INPUTS] = { 100, 50, 0.2, 0.3, 0.8 };
enum { NET_PAYS = 20, NET_FORWARDS = 2, NET_STRIKE = 60 };

/* (1 - R) e^-r P(default) E max(20 1{S > 100} + 2 (S' - 60), 0): given the normal z of S, Black's formula of S'. */
static double netted_cva(const double *x) {
    enum { STEPS = 2000 };
    const double edge = (log(100 / x[NET_SPOT]) - 0.1) / x[NET_SIGMA] + 0.5 * x[NET_SIGMA];
    const double along = x[NET_CORRELATION] * x[NET_OTHER_SIGMA];
    const double across = sqrt(x[NET_OTHER_SIGMA] * x[NET_OTHER_SIGMA] - along * along);
    double mean = 0;
    for (int side = 0; side < 2; side++) {
        const double from = side ? edge : -9, to = side ? 9 : edge, step = (to - from) / STEPS;
        const double strike = NET_STRIKE - (side ? (double)NET_PAYS / NET_FORWARDS : 0);
        for (int i = 0; i <= STEPS; i++) {
            const double z = from + i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
            const double forward = x[NET_OTHER_SPOT] * exp(0.1 - 0.5 * along * along + along * z);
            mean += weight * step / 3 * exp(-0.5 * z * z) / sqrt(2 * acos(-1)) * NET_FORWARDS *
                    shoal_black(forward, strike, across, 0);
        }
    }
    return 0.6 * -expm1(-0.05) * exp(-0.1) * mean;
}

TEST(netted_jump) {
    static const double s0[] = { 100, 50 }, sigma[] = { 0.2, 0.3 }, rho[] = { 1, 0.8, 0.8, 1 };
    static const int64_t other = 1;
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_DIGITAL_CALL, 1, small ? 16384 : 1 << 18);
        c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma, c.market.correlation = rho;
        c.contract[1] = c.contract[0], c.contract[0].quantity = NET_PAYS, c.count = 2;
        c.contract[1].payoff = SHOAL_CVA_FORWARD, c.contract[1].quantity = NET_FORWARDS;
        c.contract[1].strike = NET_STRIKE, c.contract[1].asset = &other;
        c.opts.greeks = 1;
        const greeks g = greeks_of(targets[t].ctx, &c, &c.counterparty, c.opts.outer);
        int found = 0;
        for (int64_t i = 0; i < g.count; i++) {
            const shoal_cva_sensitivity *s = &g.of[i];
            const int at = s->parameter == SHOAL_CVA_SPOT          ? NET_SPOT + (int)s->index
                           : s->parameter == SHOAL_CVA_VOLATILITY  ? NET_SIGMA + (int)s->index
                           : s->parameter == SHOAL_CVA_CORRELATION ? NET_CORRELATION
                                                                   : -1;
            if (at < 0) continue;
            double up[NET_INPUTS], down[NET_INPUTS];
            memcpy(up, net_at, sizeof up), memcpy(down, net_at, sizeof down);
            const double h = 1e-4 * net_at[at];
            up[at] += h, down[at] -= h, found++;
            const double want = (netted_cva(up) - netted_cva(down)) / (2 * h);
            CHECK_MSG(fabs(s->value - want) < 3 * s->error, "%s %lld: %.6f +- %.6f, not %.6f",
                      s->name, (long long)s->index, s->value, s->error, want);
        }
        CHECK(found == NET_INPUTS);
        free(g.rows);
    }
}

/* ---- bumps --------------------------------------------------------------------------------------- */

/* A market with curves, two counterparties, netting, collateral; its numbers may be changed. */
typedef struct bumped {
    cva_case c;
    double s0[4], sigma[4], dividend[4], correlation[16], rates[3], yields[2], volatilities[3];
    double hazards[3], other_hazard;
    shoal_cva_curve dividends[4], sigmas[4];
    shoal_cva_counterparty parties[2];
    shoal_cva_csa csa[3];
} bumped;

static const double when[] = { 0.3, 1, 2.5 }, until[] = { 0.5, 1.2, 3 };
static const double weights[] = { 0.7, -0.2, 0.4 };
static const int64_t basket[] = { 0, 2, 3 }, second[] = { 2 }, third[] = { 3 };
static const int64_t party_of[] = { 0, 1, 0 };

/* Asset 1 is that of no contract. */
static void make_bumped(bumped *b, int curves, int64_t outer) {
    const bumped fresh = { .s0 = { 100, 80, 50, 120 },
                           .sigma = { 0.2, 0.3, 0.35, 0.25 },
                           .dividend = { 0.01, 0.02, 0, 0.03 },
                           .correlation = { 1, 0.3, 0.5, -0.2, 0.3, 1, 0.1, 0.2, 0.5, 0.1, 1, 0.25,
                                            -0.2, 0.2, 0.25, 1 },
                           .rates = { 0.01, 0.03, 0.04 },
                           .yields = { 0.005, 0.02 },
                           .volatilities = { 0.3, 0.25, 0.28 },
                           .hazards = { 0.03, 0.06, 0.05 },
                           .other_hazard = 0.02,
                           .csa = { { .collateral = 1, .threshold = 4, .independent = 0.5 },
                                    { .collateral = 0 } } };
    *b = fresh;
    b->c = one_case(SHOAL_CVA_CALL, 6, outer);
    if (curves) b->dividends[2] = (shoal_cva_curve){ 2, when, b->yields };
    if (curves) b->sigmas[3] = (shoal_cva_curve){ 3, when, b->volatilities };
    b->c.market = (shoal_cva_market){ .assets = 4,
                                      .rate = 0.03,
                                      .s0 = b->s0,
                                      .sigma = b->sigma,
                                      .dividend = b->dividend,
                                      .correlation = b->correlation,
                                      .dividends = b->dividends,
                                      .sigmas = b->sigmas };
    if (curves) b->c.market.rates = (shoal_cva_curve){ 3, when, b->rates };
    b->c.contract[1] = b->c.contract[2] = b->c.contract[3] = b->c.contract[0];
    b->c.contract[0].maturity = 1.7;
    b->c.contract[1] = (shoal_cva_contract){ .payoff = SHOAL_CVA_FORWARD,
                                             .strike = 80,
                                             .maturity = 2,
                                             .quantity = 0.5,
                                             .assets = 3,
                                             .asset = basket,
                                             .weight = weights,
                                             .set = 0 };
    b->c.contract[2].payoff = SHOAL_CVA_PUT, b->c.contract[2].strike = 55;
    b->c.contract[2].asset = second, b->c.contract[2].set = 1, b->c.contract[2].quantity = 2;
    b->c.contract[3].payoff = SHOAL_CVA_CALL, b->c.contract[3].strike = 110;
    b->c.contract[3].asset = third, b->c.contract[3].set = 1, b->c.contract[3].quantity = -1;
    b->c.contract[3].maturity = 2.2;
    b->c.count = 4;
    b->parties[0] = (shoal_cva_counterparty){
        .pieces = 3, .hazard = b->hazards, .until = until, .recovery = 0.4
    };
    b->parties[1] =
        (shoal_cva_counterparty){ .pieces = 1, .hazard = &b->other_hazard, .recovery = 0.25 };
    b->c.opts.horizon = 2, b->c.opts.csas = 2, b->c.opts.csa = b->csa;
    b->c.opts.parties = 2, b->c.opts.party = party_of;
}

/* Where a parameter lies. */
static double *place_of(bumped *b, const shoal_cva_sensitivity *s) {
    const int64_t point = s->point < 0 ? 0 : s->point, a = s->index;
    switch (s->parameter) {
    case SHOAL_CVA_SPOT: return &b->s0[a];
    case SHOAL_CVA_VOLATILITY: return s->point < 0 ? &b->sigma[a] : &b->volatilities[point];
    case SHOAL_CVA_DIVIDEND: return s->point < 0 ? &b->dividend[a] : &b->yields[point];
    case SHOAL_CVA_RATE: return s->point < 0 ? &b->c.market.rate : &b->rates[point];
    case SHOAL_CVA_CORRELATION: return &b->correlation[4 * a + s->other];
    case SHOAL_CVA_HAZARD: return a ? &b->other_hazard : &b->hazards[point];
    default: return &b->parties[a].recovery;
    }
}

/* The rows with a parameter moved by h. */
static greeks moved(shoal_context *ctx, bumped *b, const shoal_cva_sensitivity *s, double h) {
    double *x = place_of(b, s), before = *x;
    CHECK_MSG(before == s->at, "%s is %g, not %g", s->name, s->at, before);
    *x += h;
    if (s->parameter == SHOAL_CVA_CORRELATION) b->correlation[4 * s->other + s->index] = *x;
    b->c.opts.greeks = 0;
    const greeks g = greeks_of(ctx, &b->c, b->parties, b->c.opts.outer);
    b->c.opts.greeks = 1, *x = before;
    if (s->parameter == SHOAL_CVA_CORRELATION) b->correlation[4 * s->other + s->index] = before;
    return g;
}

/* Path by path the derivative is the difference of two runs with the same random numbers, up to their square and to paths at a kink;
 * by correlations only its mean is. */
static void compare(shoal_context *ctx, bumped *b, const greeks *g, int64_t i) {
    const shoal_cva_sensitivity *s = &g->of[i];
    const double h = s->parameter == SHOAL_CVA_SPOT ? 1e-4 * s->at : 1e-4;
    const greeks up = moved(ctx, b, s, h), down = moved(ctx, b, s, -h);
    double sum = 0, squares = 0, error = 0;
    for (int64_t k = 0; k < g->paths; k++) {
        const double bump = (up.rows[k * up.width] - down.rows[k * up.width]) / (2 * h);
        const double off = bump - g->rows[(k + 1) * g->width - g->count + i];
        sum += off, squares += off * off;
    }
    sum /= (double)g->paths;
    error = sqrt((squares / (double)g->paths - sum * sum) / (double)(g->paths - 1));
    const double rounding = 1e-6 * fabs(s->value) + 1e-12 / h;
    CHECK_MSG(fabs(sum) <= 3 * error + rounding,
              "%s %lld, %lld, %lld: %.8f +- %.8f, bump off %.3g +- %.3g", s->name,
              (long long)s->index, (long long)s->other, (long long)s->point, s->value, s->error,
              sum, error);
    if (s->parameter != SHOAL_CVA_CORRELATION) /* far below the standard error of either */
        CHECK_MSG(error <= 0.05 * s->error + rounding, "%s: %g, %g", s->name, error, s->error);
    free(up.rows), free(down.rows);
}

TEST(bumps) {
    for (int t = 0; t < target_count; t++)
        for (int curves = 0; curves < 2; curves++) {
            bumped b;
            make_bumped(&b, curves, small ? 4096 : 1 << 18);
            b.c.opts.greeks = 1;
            greeks g = greeks_of(targets[t].ctx, &b.c, b.parties, b.c.opts.outer);
            /* spots, volatilities, dividends of 3 assets; rate, 3 correlations, hazards and recoveries */
            CHECK(g.count == (curves ? 3 + 5 + 4 + 3 : 3 + 3 + 3 + 1) + 3 + 4 + 2);
            for (int64_t i = 0; i < g.count; i++) compare(targets[t].ctx, &b, &g, i);
            free(g.rows);
        }
}

/* Rows with a parameter moved both ways: the mean derivative is that of the pass. Where few paths pass a jump, their number
 * is no error estimate: bumps of volatilities and dividends that are `wide` have more. */
static void compare_mean(shoal_context *ctx, bumped *b, const greeks *g, int64_t i, double wide) {
    const shoal_cva_sensitivity *s = &g->of[i];
    const int credit = s->parameter == SHOAL_CVA_HAZARD || s->parameter == SHOAL_CVA_RECOVERY;
    const int steep = s->parameter == SHOAL_CVA_SPOT || s->parameter == SHOAL_CVA_RATE;
    const double h = (s->parameter == SHOAL_CVA_SPOT ? 0.01 * s->at
                      : credit                       ? 1e-4
                                                     : 0.005) *
                     (steep || credit ? 1 : wide);
    const greeks up = moved(ctx, b, s, h), down = moved(ctx, b, s, -h);
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < g->paths; k++) {
        const double off = (up.rows[k * up.width] - down.rows[k * up.width]) / (2 * h) -
                           g->rows[(k + 1) * g->width - g->count + i];
        sum += off, squares += off * off;
    }
    sum /= (double)g->paths;
    const double error = sqrt((squares / (double)g->paths - sum * sum) / (double)(g->paths - 1));
    CHECK_MSG(fabs(sum) <= 3 * error + 1e-5 * fabs(s->value),
              "%s %lld, %lld: %.6g +- %.2g, off %.2g +- %.2g", s->name, (long long)s->index,
              (long long)s->other, s->value, s->error, sum, error);
    free(up.rows), free(down.rows);
}

/* The same with margin calls before the exposures, one of them today: collateral of both sides, thresholds, payments since
 * the call. */
TEST(margin_periods) {
    for (int t = 0; t < target_count; t++)
        for (int curves = 0; curves < 2; curves++) {
            bumped b;
            make_bumped(&b, curves, small ? 1024 : 1 << 14);
            b.csa[0] = (shoal_cva_csa){
                .collateral = 1, .threshold = 2, .independent = 0.5, .period = 0.4
            };
            b.csa[1] = (shoal_cva_csa){ .collateral = 1, .period = 0.1 };
            b.c.opts.csas = 3, b.c.opts.greeks = 1;
            greeks g = greeks_of(targets[t].ctx, &b.c, b.parties, b.c.opts.outer);
            for (int64_t i = curves; i < g.count; i += small ? 2 : 1)
                compare(targets[t].ctx, &b, &g, i);
            free(g.rows);
        }
}

/* Digital options netted with a forward, with others at the same strike, and with an asset that moves with theirs; with
 * collateral. Their bumps jump where a path passes a strike, so that only means agree. */
TEST(jumps) {
    for (int t = 0; t < target_count; t++)
        for (int curves = 0; curves < 2; curves++) {
            bumped b;
            make_bumped(&b, curves, small ? 8192 : 1 << 18);
            b.c.contract[0].payoff = SHOAL_CVA_DIGITAL_CALL, b.c.contract[0].quantity = 20;
            b.c.contract[2].payoff = SHOAL_CVA_DIGITAL_PUT, b.c.contract[2].quantity = 30;
            b.c.contract[3] = b.c.contract[2], b.c.contract[3].payoff = SHOAL_CVA_DIGITAL_CALL;
            b.c.contract[3].quantity = -20;
            b.c.contract[1].asset = basket, b.c.opts.greeks = 1;
            const greeks g = greeks_of(targets[t].ctx, &b.c, b.parties, b.c.opts.outer);
            for (int64_t i = 0; i < g.count; i++) compare_mean(targets[t].ctx, &b, &g, i, 1);
            free(g.rows);
        }
}

/* ---- second order -------------------------------------------------------------------------------- */

TEST(gammas) {
    static const double dividend = 0.03;
    const double at[FORMULA_INPUTS] = { 100, 0.2, 0.03, 0.1, 0.05, 0.4 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < FORMULAS; i++) {
            double (*const formula)(const double *, int) = formulas[i].cva;
            const int put = formulas[i].put;
            cva_case c = one_case(formulas[i].payoff, FORMULA_DATES, small ? 4096 : 65536);
            c.market.dividend = &dividend, c.opts.gammas = 1;
            const greeks g = greeks_of(targets[t].ctx, &c, &c.counterparty, c.opts.outer);
            CHECK(g.count == FORMULA_INPUTS + 1);
            const shoal_cva_sensitivity *s = find(&g, SHOAL_CVA_GAMMA);
            double up[FORMULA_INPUTS], down[FORMULA_INPUTS];
            memcpy(up, at, sizeof at), memcpy(down, at, sizeof at);
            const double h = 0.01;
            up[0] += h, down[0] -= h;
            const double want =
                (formula(up, put) - 2 * formula(at, put) + formula(down, put)) / (h * h);
            CHECK_MSG(fabs(s->value - want) < 3 * s->error, "gamma: %.8f +- %.8f, not %.8f",
                      s->value, s->error, want);
            CHECK(s->at == 100 && s->move == 0.5 && s->other < 0);
            CHECK_MSG(s->error < 0.2 * fabs(want), "%g of %g", s->error, want);
            free(g.rows);
        }
}

/* A digital option jumps by the price one date before: after a first step that is as good as none, the gamma of all
 * paths is nearly the same. */
TEST(gammas_of_a_short_step_and_a_long_one) {
    static const double dividend = 0.03, times[] = { 0.001, 1 };
    const double at[FORMULA_INPUTS] = { 100, 0.2, 0.03, 0.1, 0.05, 0.4 }, h = 0.01;
    double up[FORMULA_INPUTS], down[FORMULA_INPUTS];
    memcpy(up, at, sizeof at), memcpy(down, at, sizeof at);
    up[0] += h, down[0] -= h;
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++) {
            cva_case c = one_case(put ? SHOAL_CVA_DIGITAL_PUT : SHOAL_CVA_DIGITAL_CALL, 2, 256);
            c.market.dividend = &dividend, c.opts.gammas = 1, c.opts.time = times;
            const greeks g = greeks_of(targets[t].ctx, &c, &c.counterparty, c.opts.outer);
            const shoal_cva_sensitivity *s = find(&g, SHOAL_CVA_GAMMA);
            const double want =
                (digital_cva(up, put) - 2 * digital_cva(at, put) + digital_cva(down, put)) /
                (h * h);
            CHECK_MSG(fabs(s->value - want) < 3 * s->error + 0.002 * fabs(want) &&
                          s->error < 0.05 * fabs(want),
                      "gamma: %.8f +- %.8f, not %.8f", s->value, s->error, want);
            free(g.rows);
        }
}

/* The CVA per path with two spots moved; of one asset twice. */
static greeks spots_moved(shoal_context *ctx, bumped *b, const shoal_cva_sensitivity *s, double one,
                          double other) {
    double before[4];
    memcpy(before, b->s0, sizeof before);
    b->s0[s->index] *= 1 + one;
    if (s->other >= 0) b->s0[s->other] *= 1 + other;
    b->c.opts.gammas = 0;
    const greeks g = greeks_of(ctx, &b->c, b->parties, b->c.opts.outer);
    memcpy(b->s0, before, sizeof before), b->c.opts.gammas = 1;
    return g;
}

/* Second differences of the CVA of the same paths, over h of the spots; their errors are at most so many. Both are means of
 * the same second derivative over other widths. */
static void check_second_differences(shoal_context *ctx, bumped *b, double h, double most) {
    enum { CORNERS = 4 };
    static const double signs[CORNERS][2] = { { 1, 1 }, { -1, -1 }, { 1, -1 }, { -1, 1 } };
    b->c.opts.gammas = 1;
    const greeks g = greeks_of(ctx, &b->c, b->parties, b->c.opts.outer);
    int64_t found = 0;
    for (int64_t i = 0; i < g.count; i++) {
        const shoal_cva_sensitivity *s = &g.of[i];
        const int own = s->parameter == SHOAL_CVA_GAMMA;
        if (!own && s->parameter != SHOAL_CVA_CROSS_GAMMA) continue;
        found++;
        greeks at[CORNERS]; /* of one asset: up, down, and twice the middle */
        for (int n = 0; n < CORNERS; n++)
            at[n] = spots_moved(ctx, b, s, own && n > 1 ? 0 : h * signs[n][0], h * signs[n][1]);
        const double width =
            h * h * b->s0[s->index] * (own ? b->s0[s->index] : 4 * b->s0[s->other]);
        double sum = 0, squares = 0;
        for (int64_t k = 0; k < g.paths; k++) {
            double bump = 0;
            for (int n = 0; n < CORNERS; n++)
                bump += (n < 2 ? 1 : -1) * at[n].rows[k * at[n].width] / width;
            const double off = bump - g.rows[(k + 1) * g.width - g.count + i];
            sum += off, squares += off * off;
        }
        sum /= (double)g.paths;
        const double error = sqrt((squares / (double)g.paths - sum * sum) / (double)(g.paths - 1));
        CHECK_MSG(fabs(sum) <= 3 * error, "%s %lld, %lld: %.3g +- %.3g, off %.3g +- %.3g", s->name,
                  (long long)s->index, (long long)s->other, s->value, s->error, sum, error);
        CHECK(s->error > 0 && error < most * s->error);
        for (int n = 0; n < CORNERS; n++) free(at[n].rows);
    }
    CHECK(found == 6); /* pairs of assets 0, 2, 3 */
    free(g.rows);
}

TEST(second_differences) {
    for (int t = 0; t < target_count; t++)
        for (int curves = 0; curves < 2; curves++) {
            bumped b;
            make_bumped(&b, curves, small ? 4096 : 1 << 17);
            check_second_differences(targets[t].ctx, &b, 0.01, 3);
        }
}

/* ---- early exercise ------------------------------------------------------------------------------ */

/* Inner paths have a mean that the reverse pass does not need. */
static const int64_t two_inner[] = { 2 };

/* The sum over parameters of squared differences from bumps of the quadrature, in standard errors. */
static double beside_quadrature(shoal_context *ctx, int put, int dates, int kept, uint64_t seed) {
    double dividend = put ? 0.02 : 0.07, off = 0;
    cva_case c = one_case(put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL, dates, small ? 1 << 14 : 1 << 16);
    c.contract[0].american = 1, c.market.dividend = &dividend, c.opts.seed = seed;
    c.opts.inner = two_inner, c.opts.inner_count = 1, c.opts.greeks = 1, c.opts.kept = kept;
    const greeks g = greeks_of(ctx, &c, &c.counterparty, c.opts.outer);
    CHECK(g.count == FORMULA_INPUTS);
    for (int e = 0; e < FORMULA_INPUTS; e++) {
        const shoal_cva_sensitivity *s = find(&g, formula_inputs[e]);
        exact_case up = { 100, 100, 0.1, dividend, 0.2, 1, 0.05, 0.4, put, dates, kept }, down = up;
        double *const of_up[] = { &up.spot, &up.sigma,  &up.dividend,
                                  &up.rate, &up.hazard, &up.recovery };
        double *const of_down[] = { &down.spot, &down.sigma,  &down.dividend,
                                    &down.rate, &down.hazard, &down.recovery };
        const double h = 0.01 * *of_up[e];
        *of_up[e] += h, *of_down[e] -= h;
        const double want = (exact_cva(&up, 60) - exact_cva(&down, 60)) / (2 * h);
        const double z = (s->value - want) / s->error;
        CHECK_MSG(fabs(z) < (small ? 3 : 4.5), "%s, %d dates: %.6f +- %.6f, not %.6f", s->name,
                  dates, s->value, s->error, want);
        off += z * z;
    }
    free(g.rows);
    return off;
}

TEST(bermudan_quadrature) {
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++)
            for (int kept = 0; kept < 2; kept++) beside_quadrature(targets[t].ctx, put, 4, kept, 3);
}

/* Errors are honest: over seeds, squares of differences in standard errors have the mean 1. Those of a run are not
 * independent: the limit is that of 3 deviations if they all were the same number. */
TEST(bermudan_seeds) {
    const int seeds = small ? 1 : 24;
    for (int t = 0; t < target_count; t++)
        for (int dates = 2; dates <= 10; dates += 8) {
            double sum = 0;
            for (int seed = 1; seed <= seeds; seed++)
                sum += beside_quadrature(targets[t].ctx, 1, dates, 0, (uint64_t)seed);
            const double mean = sum / (FORMULA_INPUTS * seeds);
            CHECK_MSG(mean < 1 + 3 * sqrt(2.0 / seeds), "mean square %g over %d seeds", mean,
                      seeds);
        }
}

/* Puts and calls with early exercise in netting sets: bought and sold, twice the same, with boundaries of others in
 * between, on two assets that move together, with collateral; beside a forward on a basket and a digital option. */
static void make_early(bumped *b, int curves, int64_t outer) {
    make_bumped(b, curves, outer);
    b->c.opts.estimator = SHOAL_CVA_BY_AMC, b->c.opts.dates = 5;
    b->c.contract[0].payoff = SHOAL_CVA_PUT, b->c.contract[0].american = 1;
    b->c.contract[0].strike = 105, b->c.contract[0].maturity = 2.4;
    b->c.contract[2] = b->c.contract[0], b->c.contract[2].strike = 115;
    b->c.contract[2].quantity = -0.5;
    b->c.contract[3] = b->c.contract[0], b->c.contract[3].asset = third;
    b->c.contract[3].payoff = SHOAL_CVA_CALL, b->c.contract[3].strike = 110;
    b->dividend[3] = 0.06;
}

TEST(bermudan_bumps) {
    static const double between[] = { 0.9, 1.5 };
    for (int t = 0; t < target_count; t++)
        for (int variant = small; variant < 3; variant++) {
            bumped b;
            make_early(&b, variant == 1, small ? 12288 : 1 << 16);
            if (variant == 1) /* exercise between the exposures alone */
                b.c.contract[2].exercises = 2, b.c.contract[2].exercise = between;
            if (variant == 2) { /* twins, and a digital option at a date of exercise */
                b.c.contract[2].strike = 105, b.c.contract[2].quantity = -0.7;
                b.c.contract[1].payoff = SHOAL_CVA_DIGITAL_CALL, b.c.contract[1].assets = 1;
                b.c.contract[1].asset = basket, b.c.contract[1].weight = NULL;
                b.c.contract[1].maturity = 1.2, b.c.contract[1].strike = 100;
                b.c.contract[1].quantity = 15;
            }
            b.c.opts.greeks = 1;
            const greeks g = greeks_of(targets[t].ctx, &b.c, b.parties, b.c.opts.outer);
            for (int64_t i = 0; i < g.count; i += small && variant == 1 ? 3 : 1)
                compare_mean(targets[t].ctx, &b, &g, i, 2);
            free(g.rows);
        }
}

/* Paths that pass a boundary make second differences noisy, and those over a width h of boundaries are off in first
 * order of h. */
TEST(bermudan_gammas) {
    for (int t = 0; t < target_count; t++) {
        bumped b;
        make_early(&b, 0, small ? 2048 : 1 << 17);
        check_second_differences(targets[t].ctx, &b, 0.02, 12);
    }
}

/* ---- the rest ------------------------------------------------------------------------------------- */

/* Rows do not depend on the pieces, and have the same other numbers as without sensitivities. */
TEST(bits) {
    for (int t = 0; t < target_count; t++) {
        bumped b;
        make_bumped(&b, 1, 77);
        b.c.contract[3].payoff = SHOAL_CVA_DIGITAL_CALL, b.c.contract[3].maturity = 1.5;
        b.c.contract[2].american = 1, b.c.opts.estimator = SHOAL_CVA_BY_AMC;
        const greeks plain = greeks_of(targets[t].ctx, &b.c, b.parties, 77);
        b.c.opts.gammas = 1;
        const greeks whole = greeks_of(targets[t].ctx, &b.c, b.parties, 77);
        const greeks pieces = greeks_of(targets[t].ctx, &b.c, b.parties, 33);
        CHECK(!memcmp(whole.rows, pieces.rows, (size_t)(77 * whole.width) * sizeof *whole.rows));
        CHECK(plain.count == 0 && plain.width + whole.count == whole.width);
        for (int64_t i = 0; i < 77; i++)
            CHECK(!memcmp(plain.rows + i * plain.width, whole.rows + i * whole.width,
                          (size_t)plain.width * sizeof *plain.rows));
        free(plain.rows), free(whole.rows), free(pieces.rows);
    }
}

/* Correlations of assets that are the same have no derivative; all other parameters do. */
TEST(singular_correlations) {
    for (int t = 0; t < target_count; t++) {
        bumped b;
        make_bumped(&b, 0, 512);
        for (int i = 0; i < 16; i++) b.correlation[i] = 1;
        b.c.opts.greeks = 1;
        const greeks g = greeks_of(targets[t].ctx, &b.c, b.parties, 512);
        for (int64_t i = 0; i < g.count; i++)
            CHECK(isnan(g.of[i].value) == (g.of[i].parameter == SHOAL_CVA_CORRELATION));
        free(g.rows);
    }
}

/* Without contracts there are the rate and the counterparty, and no derivative. */
TEST(nothing) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 2, 20);
        c.count = 0, c.opts.greeks = 1;
        const greeks g = greeks_of(targets[t].ctx, &c, &c.counterparty, 20);
        CHECK(g.count == 3);
        for (int64_t i = 0; i < g.count; i++) CHECK(g.of[i].value == 0 && g.of[i].error == 0);
        free(g.rows);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(closed_forms);
    RUN(netted_jump);
    RUN(bumps);
    RUN(margin_periods);
    RUN(jumps);
    RUN(gammas);
    RUN(gammas_of_a_short_step_and_a_long_one);
    RUN(second_differences);
    RUN(bermudan_quadrature);
    RUN(bermudan_seeds);
    RUN(bermudan_bumps);
    RUN(bermudan_gammas);
    RUN(bits);
    RUN(singular_correlations);
    RUN(nothing);
    close_targets();
    return TEST_END();
}
