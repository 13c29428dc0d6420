/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_credit.c - collateral with margin periods, and wrong-way risk, against closed forms and quadrature that has no
 * code of the library; their limits; the same bits for any threads and pieces.
 */
#include "cva_runs.h"

static double phi(double x) { return 0.3989422804014327 * exp(-0.5 * x * x); }

/* What a forward of one_case() is worth at t. */
static double forward_at(double s, double t) { return s - 100 * exp(-0.1 * (1 - t)); }
/* S at t + dt after the normal z, from s. */
static double moved(double s, double dt, double z) {
    return s * exp((0.1 - 0.5 * 0.04) * dt + 0.2 * sqrt(dt) * z);
}

typedef struct sides {
    double ours, theirs;
} sides;

/* E (S - K)+ over dt from s: Black's formula, for any K. */
static double above(double s, double k, double dt) {
    const double forward = s * exp(0.1 * dt);
    if (k <= 0) return forward - k;
    return dt > 0 ? shoal_black(forward, k, 0.2 * sqrt(dt), 0) : fmax(s - k, 0);
}

/* Collateral at a value of the set. */
static double called(const shoal_cva_csa *a, double v) {
    const double most = a->threshold + a->transfer;
    const double theirs = a->collateral && a->one_way != SHOAL_CVA_WE_POST ? fmax(v - most, 0) : 0;
    return theirs - (a->collateral && a->one_way != SHOAL_CVA_THEY_POST ? fmax(-v - most, 0) : 0);
}

/* Exposures of so many forwards at t. */
static sides exposures(const shoal_cva_csa *a, double t, double quantity) {
    enum { POINTS = 2000 };
    const double call = fmax(t - a->period, 0), held = fmax(a->independent, 0);
    const double posted = fmax(-a->independent, 0);
    sides sum = { 0, 0 };
    for (int i = 0; i <= POINTS; i++) {
        const double z = 8.0 * (2.0 * i / POINTS - 1), weight = phi(z) * 16 / POINTS;
        const double s = moved(100, call, call > 0 ? z : 0);
        const double c = called(a, quantity * forward_at(s, call)) / quantity;
        const double base = 100 * exp(-0.1 * (1 - t)) + c; /* S beyond it is not covered */
        const double up = above(s, base + held / quantity, t - call);
        const double k = base - posted / quantity;
        const double down = above(s, k, t - call) - (s * exp(0.1 * (t - call)) - k);
        sum.ours += weight * quantity * up, sum.theirs += weight * quantity * down;
    }
    return sum;
}

static void check_profile(const cva_outcome *o, int dates, const shoal_cva_csa *a) {
    double cva = 0;
    for (int k = 0; k < dates; k++) {
        const shoal_cva_date *d = &o->profile[k];
        const sides want = exposures(a, d->time, 1);
        CHECK_MSG(fabs(d->epe - want.ours) < 4 * d->epe_error + 1e-5,
                  "t %g: %.6f +- %.6f, not %.6f", d->time, d->epe, d->epe_error, want.ours);
        CHECK_MSG(fabs(d->ene - want.theirs) < 4 * d->ene_error + 1e-5,
                  "t %g: ene %.6f +- %.6f, not %.6f", d->time, d->ene, d->ene_error, want.theirs);
        cva += 0.6 * d->discount * d->default_probability * want.ours;
    }
    CHECK_MSG(fabs(o->value.cva - cva) < 3.5 * o->value.error + 1e-7, "%.6f +- %.6f, not %.6f",
              o->value.cva, o->value.error, cva);
}

/* The last but one call is today's: 0.3 years before 0.25. */
TEST(forward_with_margin_period) {
    static const shoal_cva_csa agreements[] = {
        { .collateral = 1, .period = 10.0 / 365 },
        { .collateral = 1, .period = 0.3, .threshold = 2, .transfer = 1 },
        { .collateral = 1, .period = 0.1, .threshold = 4, .one_way = SHOAL_CVA_THEY_POST },
        { .collateral = 1, .period = 0.1, .independent = 3, .one_way = SHOAL_CVA_WE_POST },
        { .collateral = 1, .period = 0.25, .threshold = 3, .independent = -2 },
        { .collateral = 1, .threshold = 6, .transfer = 2, .independent = 1 },
        { .independent = 5 },
    };
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 7; i++)
            for (int nested = 0; nested < 2; nested++) {
                cva_case c = one_case(SHOAL_CVA_FORWARD, 4, small ? 512 : nested ? 4096 : 16384);
                c.opts.csas = 1, c.opts.csa = &agreements[i];
                c.opts.nested = nested, c.opts.inner = inner, c.opts.inner_count = nested;
                const cva_outcome o = cva_of(targets[t].ctx, &c);
                CHECK(o.info.dates == 4);
                check_profile(&o, 4, &agreements[i]);
            }
}

/* A payment between margin call and exposure is not made: the exposure is that of a period which ends with it. */
TEST(payments_in_the_margin_period) {
    const shoal_cva_csa csa = { .collateral = 1, .period = 0.04 },
                        rest = { .collateral = 1, .period = 0.02 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_FORWARD, 1, small ? 512 : 16384);
        const double time = 1.02;
        c.contract[1] = c.contract[0], c.count = 2;
        c.contract[1].maturity = time, c.contract[1].quantity = 0;
        c.opts.time = &time, c.opts.csas = 1, c.opts.csa = &csa;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        const double want = exp(0.1 * 0.02) * exposures(&rest, 1, 1).ours;
        const shoal_cva_date *d = &o.profile[1];
        CHECK(o.info.dates == 2);
        CHECK_MSG(fabs(d->epe - want) < 4 * d->epe_error, "%.6f +- %.6f, not %.6f", d->epe,
                  d->epe_error, want);
    }
}

/* Agreements belong to sets: their exposures add up. */
TEST(sets_have_agreements) {
    static const shoal_cva_csa csa[] = { { .collateral = 1, .period = 0.1 },
                                         { .collateral = 1, .threshold = 3 },
                                         { .collateral = 1, .threshold = 1, .period = 0.05 } };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_FORWARD, 4, small ? 512 : 8192);
        for (int i = 0; i < 4; i++) c.contract[i] = c.contract[0], c.contract[i].set = i;
        c.count = 4, c.opts.csas = 3, c.opts.csa = csa;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        for (int k = 0; k < 4; k++) {
            const shoal_cva_date *d = &o.profile[k];
            const shoal_cva_csa none = { 0 };
            double want = exposures(&none, d->time, 1).ours;
            for (int i = 0; i < 3; i++) want += exposures(&csa[i], d->time, 1).ours;
            CHECK_MSG(fabs(d->epe - want) < 4 * d->epe_error, "%.6f +- %.6f, not %.6f", d->epe,
                      d->epe_error, want);
        }
    }
}

/* ---- a Bermudan put on a grid of the Brownian motion -------------------------------------------- */

enum { GRID = 1200, STEPS = 4 }; /* points on each side; dates of exercise and exposure */
static const double spacing = 8.0 / GRID;

/* E f(B + sqrt(dt) Z) at every point. */
static void take_step(const double *f, double dt, double *to) {
    const double deviation = sqrt(dt);
    const int taps = (int)ceil(8 * deviation / spacing);
    double total = 0;
    for (int n = -taps; n <= taps; n++) total += phi(n * spacing / deviation);
    for (int i = -GRID; i <= GRID; i++) {
        to[i] = 0;
        for (int n = -taps; n <= taps; n++) {
            const int at = i + n < -GRID ? -GRID : i + n > GRID ? GRID : i + n;
            to[i] += phi(n * spacing / deviation) / total * f[at];
        }
    }
}

/* f at a place between points. */
static double between(const double *f, double place) {
    const double low = floor(fmin(fmax(place, -GRID), GRID - 1));
    const int i = (int)low;
    return f[i] + (place - low) * (f[i + 1] - f[i]);
}

/* S = 36, K = 40, r = 6 %, sigma = 40 %, T = 1. exposure[k] := that at date k + 1 of a long put, with a margin call
 * `period` before it, or without (0) after a jump of the price by the factor. */
static void put_exposures(const shoal_cva_csa *csa, const double *factor, double *exposure) {
    enum { ALL = 2 * GRID + 1 };
    static double value[STEPS + 1][ALL], hold[STEPS + 1][ALL], density[ALL], next[ALL], room[ALL];
    const double dt = 1.0 / STEPS, drift = 0.06 - 0.08;
#define S(i, t) (36 * exp(drift * (t) + 0.4 * spacing * (i)))
    for (int k = STEPS; k > 0; k--) {
        if (k < STEPS) take_step(value[k + 1] + GRID, dt, hold[k] + GRID);
        for (int i = -GRID; i <= GRID; i++) {
            hold[k][i + GRID] *= k < STEPS ? exp(-0.06 * dt) : 0;
            value[k][i + GRID] = fmax(hold[k][i + GRID], 40 - S(i, k * dt));
        }
    }
    for (int i = 0; i < ALL; i++) density[i] = i == GRID;
    for (int k = 1; k <= STEPS; k++) { /* density: of paths that hold it after date k - 1 */
        const double t = k * dt, call = csa->period > 0 ? csa->period : 0;
        take_step(density + GRID, dt, next + GRID);
        exposure[k - 1] = 0;
        if (factor) {
            const double shift = log(factor[k - 1]) / 0.4 / spacing;
            for (int i = -GRID; i <= GRID; i++)
                exposure[k - 1] += next[i + GRID] * between(value[k] + GRID, i + shift);
        } else {
            static double at_call[ALL], worth[ALL];
            const double left = t - call - (k - 1) * dt;
            take_step(density + GRID, left, at_call + GRID);
            take_step(value[k] + GRID, call, worth + GRID);
            const double deviation = sqrt(call);
            const int taps = (int)ceil(8 * deviation / spacing);
            for (int i = -GRID; i <= GRID; i++) {
                const double c = called(csa, exp(-0.06 * call) * worth[i + GRID]);
                double sum = 0, total = 0;
                for (int n = -taps; n <= taps && at_call[i + GRID] > 1e-12; n++) {
                    const int at = i + n < -GRID ? -GRID : i + n > GRID ? GRID : i + n;
                    const double weight = phi(n * spacing / deviation);
                    total += weight, sum += weight * fmax(value[k][at + GRID] - c, 0);
                }
                exposure[k - 1] += total > 0 ? at_call[i + GRID] * sum / total : 0;
            }
        }
        memcpy(room, next, sizeof room);
        for (int i = 0; i < ALL; i++)
            density[i] = value[k][i] > hold[k][i] && value[k][i] > 0 ? 0 : room[i];
    }
#undef S
}

static const double thirty_six = 36, two_fifths = 0.4;

static cva_case put_case(int64_t outer) {
    cva_case c = one_case(SHOAL_CVA_PUT, STEPS, outer);
    c.market.rate = 0.06, c.market.s0 = &thirty_six, c.market.sigma = &two_fifths;
    c.contract[0].strike = 40, c.contract[0].american = 1;
    return c;
}

/* The same on two assets that move as one, whose values are means over inner paths. */
static void make_two(cva_case *c) {
    static const double s0[] = { 36, 36 }, sigma[] = { 0.4, 0.4 }, ones[] = { 1, 1, 1, 1 };
    static const double weights[] = { 0.5, 0.5 };
    static const int64_t both[] = { 0, 1 };
    c->market.assets = 2, c->market.s0 = s0, c->market.sigma = sigma, c->market.correlation = ones;
    c->contract[0].payoff = SHOAL_CVA_BASKET_PUT, c->contract[0].weight = weights;
    c->contract[0].assets = 2, c->contract[0].asset = both;
}

/* The mean of many seeds has no bias, although values at both dates have noise; without levels it has. */
TEST(put_with_margin_period) {
    enum { SEEDS = 20 };
    const shoal_cva_csa csa = { .collateral = 1, .threshold = 2, .period = 0.1 };
    const int64_t inner[] = { 32 };
    const int seeds = small ? 2 : SEEDS;
    double exposure[STEPS];
    put_exposures(&csa, NULL, exposure);
    for (int t = 0; t < target_count; t++)
        for (int estimator = 0; estimator < 2; estimator++) {
            cva_case c = put_case(small ? 128 : 512);
            double mean = 0, variance = 0, want = 0, correction = 0, of_correction = 0;
            c.opts.estimator = estimator ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            c.opts.inner = inner, c.opts.inner_count = 1, c.opts.control = -1;
            c.opts.csas = 1, c.opts.csa = &csa;
            if (!estimator) make_two(&c);
            for (int seed = 0; seed < seeds; seed++) {
                c.opts.seed = (uint64_t)(100 + seed);
                const cva_outcome o = cva_of(targets[t].ctx, &c);
                mean += o.value.cva / seeds, variance += o.value.error * o.value.error / seeds;
                correction += o.value.correction / seeds, want = 0;
                of_correction += o.value.correction_error * o.value.correction_error / seeds;
                for (int k = 0; k < STEPS; k++)
                    want += 0.6 * o.profile[k].discount * o.profile[k].default_probability *
                            exposure[k];
            }
            const double error = sqrt(variance / seeds);
            CHECK_MSG(fabs(mean - want) < 3 * error, "%d: %.6f +- %.6f, not %.6f", estimator, mean,
                      error, want);
            CHECK_MSG(estimator || small || correction < -4 * sqrt(of_correction / seeds),
                      "%.6f +- %.6f", correction, sqrt(of_correction / seeds));
        }
}

/* ---- wrong-way risk ------------------------------------------------------------------------------ */

/* Mean of the jump from `from` to `to`, at times of default: by Simpson's rule. */
static double jump_factor(double jump, double rate, double from, double to) {
    enum { PIECES = 200 };
    double sum = 0, total = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double u = from + (to - from) * i / PIECES;
        const double weight = (i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2) * exp(-rate * u);
        sum += weight * (1 + jump) * exp(-jump * rate * u), total += weight;
    }
    return sum / total;
}

/* A call is worth its price at the jumped spot: e^(-r t) E V(f S_t) = Black(f S_0). A forward with a margin period: the
 * collateral is that before the jump. */
TEST(jump_at_default) {
    static const double jumps[] = { -0.3, 0.15 };
    const shoal_cva_csa csa = { .collateral = 1, .period = 0.1, .threshold = 1 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 2; i++) {
            const double jump = jumps[i];
            cva_case c = one_case(SHOAL_CVA_CALL, 4, small ? 512 : 16384);
            const cva_outcome without = cva_of(targets[t].ctx, &c);
            c.counterparty.jump = &jump;
            cva_outcome o = cva_of(targets[t].ctx, &c);
            double want = 0, factor[4];
            for (int k = 0; k < 4; k++) {
                const shoal_cva_date *d = &o.profile[k];
                factor[k] = jump_factor(jump, 0.05, 0.25 * k, 0.25 * (k + 1));
                const double price =
                    exp(-0.1) * shoal_black(100 * factor[k] * exp(0.1), 100, 0.2, 0);
                CHECK(d->epe == without.profile[k].epe && d->ene == without.profile[k].ene);
                CHECK_MSG(fabs(d->discount * d->epe_default - price) < 4 * d->epe_default_error,
                          "%.6f +- %.6f, not %.6f", d->discount * d->epe_default,
                          d->epe_default_error, price);
                want += 0.6 * d->default_probability * price;
            }
            CHECK_MSG(fabs(o.value.cva - want) < 3.5 * o.value.error, "%.6f +- %.6f, not %.6f",
                      o.value.cva, o.value.error, want);
            c.contract[0].payoff = SHOAL_CVA_FORWARD;
            c.opts.csas = 1, c.opts.csa = &csa;
            o = cva_of(targets[t].ctx, &c);
            for (int k = 0; k < 4; k++) {
                const shoal_cva_date *d = &o.profile[k];
                double sum = 0;
                for (int n = 0; n <= 2000; n++) {
                    const double z = 8.0 * (n / 1000.0 - 1), s = moved(100, d->time - 0.1, z);
                    const double strike = 100 * exp(-0.1 * (1 - d->time)) +
                                          called(&csa, forward_at(s, d->time - 0.1));
                    sum += phi(z) * 0.008 * factor[k] * above(s, strike / factor[k], 0.1);
                }
                CHECK_MSG(fabs(d->epe_default - sum) < 4 * d->epe_default_error + 1e-5,
                          "forward: %.6f +- %.6f, not %.6f", d->epe_default, d->epe_default_error,
                          sum);
            }
        }
}

TEST(put_after_a_jump) {
    const double jump = -0.2;
    double exposure[STEPS], factor[STEPS];
    const int64_t inner[] = { 32 };
    const shoal_cva_csa none = { 0 };
    for (int k = 0; k < STEPS; k++)
        factor[k] = jump_factor(jump, 0.05, (double)k / STEPS, (k + 1.0) / STEPS);
    put_exposures(&none, factor, exposure);
    for (int t = 0; t < target_count; t++)
        for (int estimator = 0; estimator < 2; estimator++) {
            cva_case c = put_case(small ? 512 : 8192);
            double want = 0;
            c.opts.estimator = estimator ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            c.counterparty.jump = &jump, c.opts.inner = inner, c.opts.inner_count = 1;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            for (int k = 0; k < STEPS; k++)
                want +=
                    0.6 * o.profile[k].discount * o.profile[k].default_probability * exposure[k];
            CHECK_MSG(fabs(o.value.cva - want) < 3.5 * o.value.error, "%d: %.6f +- %.6f, not %.6f",
                      estimator, o.value.cva, o.value.error, want);
        }
}

/* Far below the grid of its rule a put is exercised at once, or at the next date that allows it; on the grid, with
 * dividends above the rate, never. The price hardly moves but for the jump. */
TEST(put_far_below_its_grid) {
    const double jump = -0.9, little = 0.02, dividend = 0.1, half[] = { 0.5 };
    double factor[STEPS];
    for (int k = 0; k < STEPS; k++)
        factor[k] = jump_factor(jump, 0.05, (double)k / STEPS, (k + 1.0) / STEPS);
    for (int t = 0; t < target_count; t++)
        for (int once = 0; once < 2; once++) {
            cva_case c = put_case(256);
            double want = 0;
            c.market.sigma = &little, c.market.dividend = &dividend, c.counterparty.jump = &jump;
            if (once) c.contract[0].exercise = half, c.contract[0].exercises = 1;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            for (int k = 0; k < STEPS; k++) {
                const double now = (k + 1.0) / STEPS;
                const double left = !once ? 0 : now <= 0.5 ? 0.5 - now : 1 - now;
                const double price = 36 * exp((0.06 - dividend) * now) * factor[k];
                want += 0.6 * o.profile[k].discount * o.profile[k].default_probability *
                        (40 * exp(-0.06 * left) - price * exp(-dividend * left));
            }
            CHECK_MSG(fabs(o.value.cva - want) < 3 * o.value.error + 1e-5 * want,
                      "%d: %.6f +- %.6f, not %.6f", once, o.value.cva, o.value.error, want);
        }
}

/* The law of (B, y) and of survival on a grid of both; shift by bisection on y alone. */
enum { SIDE = 30, CELLS = 2 * SIDE + 1 };
typedef struct hazard_case {
    double volatility, reversion, correlation, rate;
    int dates;
} hazard_case;

static double survived(const double *before, const double *law, double half, const double *y,
                       double *to) {
    double all = 0;
    for (int i = 0; i < CELLS; i++) {
        to[i] = 0;
        for (int j = 0; j < CELLS; j++)
            to[i] += law[i * CELLS + j] * before[j] * exp(-half * exp(y[j]));
        to[i] *= exp(-half * exp(y[i])), all += to[i];
    }
    return all;
}

/* The CVA of a call or forward of one_case(). */
static double wrong_way_cva(const hazard_case *h, int forward) {
    static double now[CELLS][CELLS], next[CELLS][CELLS], lost[CELLS][CELLS]; /* [y][B] */
    static double law[CELLS * CELLS];
    double y[CELLS], b[CELLS], margin[CELLS] = { 0 }, after[CELLS], cva = 0;
    const double dt = 1.0 / h->dates, root = sqrt(dt), a = h->reversion;
    const double decay = exp(-a * dt),
                 spread = h->volatility * sqrt(a > 0 ? -expm1(-2 * a * dt) / (2 * a) : dt);
    const double with = h->correlation * (a > 0 ? -expm1(-a * dt) / a : dt) /
                        sqrt(dt * (a > 0 ? -expm1(-2 * a * dt) / (2 * a) : dt));
    const double reach = h->volatility * sqrt(a > 0 ? -expm1(-2 * a) / (2 * a) : 1);
    const double hy = 6.5 * reach / SIDE, hb = 6.5 / SIDE, rest = sqrt(1 - with * with);
    memset(now, 0, sizeof now);
    now[SIDE][SIDE] = 1, margin[SIDE] = 1;
    for (int i = 0; i < CELLS; i++) y[i] = hy * (i - SIDE), b[i] = hb * (i - SIDE);
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++)
            law[i * CELLS + j] = phi((y[i] - decay * y[j]) / spread) * hy / spread;
    for (int k = 1; k <= h->dates; k++) {
        double low = 0, high = 10 * h->rate * dt;
        for (int round = 0; round < 60; round++) {
            const double half = 0.5 * (low + high);
            *(survived(margin, law, half, y, after) > exp(-h->rate * k * dt) ? &low : &high) = half;
        }
        const double half = 0.5 * (low + high);
        memset(lost, 0, sizeof lost), memset(next, 0, sizeof next);
        for (int i = 0; i < CELLS; i++)
            for (int m = 0; m < CELLS; m++) {
                if (now[i][m] < 1e-13) continue;
                for (int n = 0; n < CELLS; n++) {
                    const double zb = (b[n] - b[m]) / root;
                    if (fabs(zb) > 7) continue;
                    for (int j = 0; j < CELLS; j++) {
                        const double zy = ((y[j] - decay * y[i]) / spread - with * zb) / rest;
                        if (fabs(zy) > 7) continue;
                        const double mass =
                            now[i][m] * phi(zb) * phi(zy) * hb * hy / root / spread / rest;
                        const double stays = exp(-half * (exp(y[i]) + exp(y[j])));
                        next[j][n] += mass * stays, lost[j][n] += mass * (1 - stays);
                    }
                }
            }
        for (int n = 0; n < CELLS; n++) {
            const double t = k * dt, s = 100 * exp(0.08 * t + 0.2 * b[n]), left = 1 - t;
            const double value =
                forward ? fmax(forward_at(s, t), 0)
                : k == h->dates
                    ? fmax(s - 100, 0)
                    : exp(-0.1 * left) * shoal_black(s * exp(0.1 * left), 100, 0.2 * sqrt(left), 0);
            for (int j = 0; j < CELLS; j++) cva += 0.6 * exp(-0.1 * t) * value * lost[j][n];
        }
        survived(margin, law, half, y, after);
        memcpy(margin, after, sizeof margin), memcpy(now, next, sizeof now);
    }
    return cva;
}

TEST(hazard_rate_with_the_asset) {
    static const hazard_case cases[] = { { 1.0, 0, 0.6, 0.05, 3 }, { 1.5, 0.8, -0.5, 0.2, 3 } };
    for (int i = 0; i < 2; i++)
        for (int forward = 0; forward < 2; forward++) {
            const hazard_case *h = &cases[i];
            const double want = wrong_way_cva(h, forward);
            for (int t = 0; t < target_count; t++) {
                cva_case c = one_case(forward ? SHOAL_CVA_FORWARD : SHOAL_CVA_CALL, h->dates,
                                      small ? 512 : 32768);
                c.counterparty.hazard = &h->rate;
                const cva_outcome plain = cva_of(targets[t].ctx, &c);
                c.counterparty.volatility = h->volatility, c.counterparty.reversion = h->reversion;
                c.counterparty.correlation = &h->correlation;
                const cva_outcome o = cva_of(targets[t].ctx, &c);
                CHECK_MSG(fabs(o.value.cva - want) < 3.5 * o.value.error,
                          "%d: %.6f +- %.6f, not %.6f", i, o.value.cva, o.value.error, want);
                CHECK(small || fabs(want - plain.value.cva) > 8 * o.value.error); /* it matters */
                for (int k = 0; k < h->dates; k++) CHECK(o.profile[k].epe == plain.profile[k].epe);
            }
        }
}

/* Without correlation the CVA is what it was; so it is with a small volatility; a jump of 0 changes no bit. What is worth
 * the same on all paths shows that the default probabilities are kept. */
TEST(limits) {
    const double none = 0, rate[] = { 0.3, 0.02, 0.5 }, until[] = { 0.2, 0.7, 0.8 }, one = 1;
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 5, small ? 512 : 16384);
        c.counterparty.pieces = 3, c.counterparty.hazard = rate, c.counterparty.until = until;
        const cva_outcome plain = cva_of(targets[t].ctx, &c);
        c.counterparty.jump = &none;
        const cva_outcome still = cva_of(targets[t].ctx, &c);
        CHECK(still.value.cva == plain.value.cva && still.value.error == plain.value.error);
        c.counterparty.jump = NULL;
        c.counterparty.volatility = 1e-7, c.counterparty.correlation = &one;
        CHECK(fabs(cva_of(targets[t].ctx, &c).value.cva / plain.value.cva - 1) < 1e-6);
        c.counterparty.volatility = 1.2, c.counterparty.correlation = &none;
        const cva_outcome apart = cva_of(targets[t].ctx, &c);
        CHECK_MSG(fabs(apart.value.cva - plain.value.cva) < 3.5 * apart.value.error,
                  "%.6f +- %.6f, not %.6f", apart.value.cva, apart.value.error, plain.value.cva);
        c.market.sigma = &none, c.contract[0].payoff = SHOAL_CVA_FORWARD;
        const cva_outcome sure = cva_of(targets[t].ctx, &c);
        const double chance = -expm1(-0.3 * 0.2 - 0.02 * 0.5 - 0.5 * 0.3);
        CHECK_MSG(fabs(sure.value.cva - 0.6 * chance * 100 * -expm1(-0.1)) < 3.5 * sure.value.error,
                  "%.6f +- %.6f", sure.value.cva, sure.value.error);
    }
}

TEST(bits) {
    const int64_t inner[] = { 8 }, both[] = { 0, 1 };
    const double s0[] = { 100, 90 }, sigma[] = { 0.2, 0.4 }, correlation[] = { 1, 0.3, 0.3, 1 };
    const double with[] = { 0.5, -0.4 }, jump[] = { -0.1, 0.2 }, dividend[] = { 0.1, 0.15 };
    const shoal_cva_csa csa[] = { { .collateral = 1, .threshold = 2, .period = 0.6 },
                                  { .collateral = 1, .period = 0.05, .independent = 1 } };
    cva_case c = one_case(SHOAL_CVA_CALL, 3, small ? 40 : 500);
    c.market = (shoal_cva_market){ .assets = 2,
                                   .rate = 0.1,
                                   .s0 = s0,
                                   .sigma = sigma,
                                   .dividend = dividend,
                                   .correlation = correlation };
    for (int i = 1; i < 4; i++) c.contract[i] = c.contract[0];
    c.contract[1].payoff = SHOAL_CVA_MAX_CALL, c.contract[1].american = 1;
    c.contract[1].assets = 2, c.contract[1].asset = both, c.contract[1].quantity = -1;
    c.contract[2].payoff = SHOAL_CVA_PUT, c.contract[2].american = 1, c.contract[2].set = 1;
    c.contract[2].maturity = 0.7;
    c.contract[3].payoff = SHOAL_CVA_MAX_CALL, c.contract[3].set = 1, c.contract[3].quantity = -1;
    c.contract[3].assets = 2, c.contract[3].asset = both;
    c.count = 4, c.opts.csas = 2, c.opts.csa = csa;
    c.counterparty.volatility = 0.8, c.counterparty.correlation = with, c.counterparty.jump = jump;
    c.opts.inner = inner, c.opts.inner_count = 1, c.opts.rule_paths = small ? 1024 : 2048;
    for (int t = 0; t < target_count; t++) {
        shoal_context *single; /* a level that rounds twice fits other rules */
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu",
                                           .isa = rounds_once(&targets[t]) ? NULL : targets[t].isa,
                                           .threads = 1 },
                         &single) == SHOAL_OK);
        for (int estimator = 0; estimator < 2; estimator++) {
            c.opts.estimator = estimator ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            cva_outcome plain = cva_of(single, &c), pieces;
            memset(&plain.counts, 0, sizeof plain.counts);
            CHECK(plain.value.cva > 0 && plain.value.rule_bias != 0);
            CHECK(estimator || plain.value.correction != 0);
            CHECK(cva_in_pieces(targets[t].ctx, &c, 37, &pieces) == SHOAL_OK);
            memset(&pieces.counts, 0, sizeof pieces.counts);
            CHECK_MSG(memcmp(&pieces, &plain, sizeof plain) == 0, "%d: %.17g, not %.17g", estimator,
                      pieces.value.cva, plain.value.cva);
        }
        shoal_close(single);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(forward_with_margin_period);
    RUN(payments_in_the_margin_period);
    RUN(sets_have_agreements);
    RUN(put_with_margin_period);
    RUN(jump_at_default);
    RUN(put_after_a_jump);
    RUN(put_far_below_its_grid);
    RUN(hazard_rate_with_the_asset);
    RUN(limits);
    RUN(bits);
    close_targets();
    return TEST_END();
}
