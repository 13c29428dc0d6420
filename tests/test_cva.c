/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva.c - CVA of European books against values that are known, profiles against their formulas, the
 * levels of inner paths against exact exposures, and the same bits for any threads and pieces.
 */
#include "cva_runs.h"

#define CALL_CVA    0.38830185823
#define FORWARD_CVA 0.337427298

static double discounted_black(double spot, double strike, double rate, double sigma, double t,
                               int put) {
    return exp(-rate * t) * shoal_black(spot * exp(rate * t), strike, sigma * sqrt(t), put);
}

TEST(call_on_any_dates) {
    static const int64_t dates[] = { 1, 4, 10, 37 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            const cva_case c = one_case(SHOAL_CVA_CALL, dates[i], small ? 512 : 16384);
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            CHECK_MSG(fabs(o.value.cva - CALL_CVA) < 3 * o.value.error, "%lld dates: %.8f +- %.8f",
                      (long long)dates[i], o.value.cva, o.value.error);
            CHECK(o.value.error > 0 && o.value.error < 0.06 * CALL_CVA);
            CHECK(o.value.bias == 0 && o.counts.inner_paths == 0 && o.info.closed == 1);
        }
}

TEST(forward_and_its_profile) {
    for (int t = 0; t < target_count; t++) {
        const cva_case c = one_case(SHOAL_CVA_FORWARD, 10, small ? 512 : 16384);
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        double sum = 0;
        CHECK_MSG(fabs(o.value.cva - FORWARD_CVA) < 3 * o.value.error, "%.8f +- %.8f", o.value.cva,
                  o.value.error);
        for (int k = 1; k <= 10; k++) {
            const shoal_cva_date *d = &o.profile[k - 1];
            const double at = 0.1 * k, strike = 100 * exp(-0.1 * (1 - at)), s = 0.2 * sqrt(at);
            const double mean = 100 * exp(0.1 * at), up = shoal_black(mean, strike, s, 0);
            const double down = shoal_black(mean, strike, s, 1);
            CHECK(fabs(d->time - at) < 1e-15);
            CHECK_MSG(fabs(d->epe - up) < 4 * d->epe_error, "date %d: %g, not %g", k, d->epe, up);
            /* epe - ene is the mean of the value itself, whose deviation is that of S */
            CHECK(fabs(d->epe - d->ene - (up - down)) <
                  4 * mean * sqrt(expm1(s * s) / (double)c.opts.outer));
            sum += 0.6 * d->discount * d->default_probability * d->epe;
        }
        CHECK(fabs(sum - o.value.cva) < 1e-14);
    }
}

/* The value of a call grows with S: quantiles of one are those of the other. */
TEST(quantiles_of_a_call) {
    static const double q[] = { 0.95, 0.99 }, z[] = { 1.6448536269514722, 2.3263478740408408 };
    for (int t = 0; t < target_count; t++) {
        const cva_case c = one_case(SHOAL_CVA_CALL, 4, small ? 1024 : 16384);
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        for (int k = 1; k <= 4; k++)
            for (int i = 0; i < 2; i++) {
                const double at = 0.25 * k, s = 0.2 * sqrt(at), n = (double)c.opts.outer;
                /* the share of paths below has the deviation sqrt(q (1 - q) / n) */
                const double off = 4 * sqrt(q[i] * (1 - q[i]) / n) /
                                   (0.3989422804014327 * exp(-0.5 * z[i] * z[i]));
                double ends[2];
                for (int side = 0; side < 2; side++) {
                    const double x = z[i] + (side ? off : -off);
                    const double spot = 100 * exp((0.1 - 0.02) * at + s * x);
                    ends[side] = discounted_black(spot, 100, 0.1, 0.2, 1 - at, 0);
                }
                const double here = i ? o.profile[k - 1].pfe99 : o.profile[k - 1].pfe95;
                CHECK_MSG(here > ends[0] && here < ends[1], "date %d, %g: %g not in %g..%g", k,
                          q[i], here, ends[0], ends[1]);
            }
    }
}

/* Inner noise does not move the CVA of what is never negative. It makes the positive part of a forward larger, which
 * levels of inner paths take off again: on the same outer paths the exact CVA differs by their noise. */
TEST(inner_paths) {
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            cva_case c = one_case(SHOAL_CVA_CALL, 10, small ? 512 : 16384);
            c.opts.nested = 1, c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
            c.opts.inner = inner, c.opts.inner_count = 1;
            cva_outcome o = cva_of(targets[t].ctx, &c);
            CHECK_MSG(fabs(o.value.cva - CALL_CVA) < 3 * o.value.error, "call: %.8f +- %.8f",
                      o.value.cva, o.value.error);
            /* none on its last date */
            CHECK(o.info.nested == 1 && o.counts.inner_paths == c.opts.outer * 9 * 16);
            CHECK(o.value.bias == 0 && o.value.correction == 0);
            c.contract[0].payoff = SHOAL_CVA_FORWARD;
            o = cva_of(targets[t].ctx, &c);
            const cva_case exact = one_case(SHOAL_CVA_FORWARD, 10, c.opts.outer);
            const cva_outcome e = cva_of(targets[t].ctx, &exact); /* the same outer paths */
            const double off = o.value.cva - e.value.cva;
            const double noise =
                sqrt(o.value.error * o.value.error - e.value.error * e.value.error);
            CHECK_MSG(fabs(off) < 4 * noise, "%.6f +- %.6f", off, noise);
            CHECK(o.value.error < 1.3 * e.value.error);
            CHECK(o.counts.inner_paths > c.opts.outer * 9 * 16);
            if (small) continue; /* without levels the CVA is too large */
            CHECK_MSG(o.value.correction < -4 * o.value.correction_error, "%.6f +- %.6f",
                      o.value.correction, o.value.correction_error);
        }
}

/* Of two assets that are one, the larger is either; a basket of them is a call. */
TEST(several_assets) {
    const double s0[] = { 100, 100, 50 }, sigma[] = { 0.2, 0.2, 0.3 };
    const double correlation[] = { 1, 1, 0.5, 1, 1, 0.5, 0.5, 0.5, 1 }, weight[] = { 0.25, 0.75 };
    const int64_t asset[] = { 0, 1 }, inner[] = { 64 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_MAX_CALL, 5, small ? 256 : 8192);
        c.market = (shoal_cva_market){
            .assets = 3, .rate = 0.1, .s0 = s0, .sigma = sigma, .correlation = correlation
        };
        c.contract[0].assets = 2, c.contract[0].asset = asset;
        c.opts.inner = inner, c.opts.inner_count = 1;
        const cva_outcome largest = cva_of(targets[t].ctx, &c);
        c.contract[0].payoff = SHOAL_CVA_BASKET_CALL, c.contract[0].weight = weight;
        const cva_outcome basket = cva_of(targets[t].ctx, &c);
        CHECK(largest.info.nested == 1 && basket.info.nested == 1);
        CHECK_MSG(fabs(largest.value.cva - CALL_CVA) < 3 * largest.value.error, "%.8f +- %.8f",
                  largest.value.cva, largest.value.error);
        CHECK(fabs(largest.value.cva - basket.value.cva) < 1e-13);
    }
}

TEST(netting_and_collateral) {
    for (int t = 0; t < target_count; t++)
        for (int nested = 0; nested < 2; nested++) {
            cva_case c = one_case(SHOAL_CVA_FORWARD, 4, 512);
            c.opts.nested = nested;
            const cva_outcome bought = cva_of(targets[t].ctx, &c);
            c.contract[1] = c.contract[0];
            c.contract[1].quantity = -1, c.count = 2;
            const cva_outcome both = cva_of(targets[t].ctx, &c);
            CHECK(both.value.cva == 0 && both.value.error == 0 && both.profile[3].pfe99 == 0);
            c.contract[1].set = 1; /* not netted: what one loses does not help the other */
            const cva_outcome apart = cva_of(targets[t].ctx, &c);
            for (int k = 0; k < 4; k++) { /* nested, levels may be drawn at other nodes */
                const shoal_cva_date *d = &bought.profile[k];
                const double noise = nested ? 4 * (d->epe_error + d->ene_error) : 1e-12;
                CHECK(fabs(apart.profile[k].epe - d->epe - d->ene) < noise);
            }
            shoal_cva_csa csa = { .collateral = 1 };
            c.count = 1, c.opts.csas = 1, c.opts.csa = &csa;
            CHECK(cva_of(targets[t].ctx, &c).value.cva == 0);
            csa.threshold = 5;
            const cva_outcome covered = cva_of(targets[t].ctx, &c);
            CHECK(covered.value.cva > 0 && covered.value.cva < bought.value.cva);
            CHECK(covered.profile[3].pfe99 == 5 && bought.profile[3].pfe99 > 5);
            csa.threshold = 1e9;
            CHECK(cva_of(targets[t].ctx, &c).value.cva == bought.value.cva);
        }
}

TEST(bits_are_the_same) {
    const int64_t inner[] = { 10, 70, 130 };
    const double s0[] = { 100, 90 }, sigma[] = { 0.2, 0.4 }, correlation[] = { 1, 0.3, 0.3, 1 };
    const int64_t asset[] = { 0, 1 };
    cva_case c = one_case(SHOAL_CVA_CALL, 3, small ? 100 : 1000);
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.1, .s0 = s0, .sigma = sigma, .correlation = correlation
    };
    c.contract[1] = (shoal_cva_contract){ .payoff = SHOAL_CVA_MAX_CALL,
                                          .strike = 100,
                                          .maturity = 0.8,
                                          .quantity = -0.5,
                                          .assets = 2,
                                          .asset = asset };
    c.contract[2] = c.contract[1];
    c.contract[2].payoff = SHOAL_CVA_FORWARD, c.contract[2].quantity = 1;
    c.contract[2].set = 2, c.count = 3;
    c.opts.inner = inner, c.opts.inner_count = 3;
    shoal_context *single;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    for (int type = 0; type < 2; type++) {
        c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
        cva_outcome plain = cva_of(single, &c);
        memset(&plain.counts, 0, sizeof plain.counts);
        CHECK(plain.value.cva > 0 && plain.value.correction != 0);
        for (int t = 0; t < target_count; t++) {
            cva_outcome pieces;
            CHECK(cva_in_pieces(targets[t].ctx, &c, 37, &pieces) == SHOAL_OK);
            memset(&pieces.counts, 0, sizeof pieces.counts);
            CHECK(memcmp(&pieces, &plain, sizeof plain) == 0);
        }
    }
    shoal_close(single);
}

/* From a GPU many rows come in pieces. */
TEST(many_rows) {
    cva_case c = one_case(SHOAL_CVA_FORWARD, 60, 2000); /* 5.8 MB */
    for (int t = 0; t < target_count; t++) {
        shoal_context *cpu;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &cpu) == SHOAL_OK);
        const cva_outcome one = cva_of(targets[t].ctx, &c), two = cva_of(cpu, &c);
        CHECK(memcmp(&one.value, &two.value, sizeof one.value) == 0);
        CHECK(memcmp(one.profile, two.profile, sizeof one.profile) == 0);
        CHECK(one.value.cva > 0);
        shoal_close(cpu);
    }
}

TEST(hazard_in_pieces) {
    const double rates[] = { 0.02, 0.08, 0.01 }, until[] = { 0.25, 0.6, 0.7 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 7, 64);
        c.counterparty.pieces = 3, c.counterparty.hazard = rates, c.counterparty.until = until;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        double sum = 0;
        for (int k = 0; k < 7; k++) sum += o.profile[k].default_probability;
        CHECK(fabs(sum + expm1(-0.02 * 0.25 - 0.08 * 0.35 - 0.01 * 0.4)) < 1e-15);
    }
}

TEST(nothing_to_be_exposed_to) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 3, 20);
        c.count = 0;
        cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva == 0 && o.value.error == 0 && o.info.horizon == 0);
        c.count = 1, c.contract[0].maturity = 0; /* expired */
        o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva == 0 && o.info.expired == 1 && o.profile[0].pfe99 == 0);
        c = one_case(SHOAL_CVA_CALL, 3, 20), c.counterparty.recovery = 1;
        CHECK(cva_of(targets[t].ctx, &c).value.cva == 0);
        c = one_case(SHOAL_CVA_CALL, 2, 20), c.opts.horizon = 2; /* at 2 it is no longer there */
        o = cva_of(targets[t].ctx, &c);
        CHECK(o.profile[0].epe > 0 && o.profile[1].epe == 0);
        c = one_case(SHOAL_CVA_CALL, 3, 1); /* one path has no standard error */
        o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva > 0 && isnan(o.value.error) && o.profile[0].pfe95 == o.profile[0].epe);
    }
}

/* Without volatility every path is the forward. */
TEST(no_volatility) {
    const double none = 0;
    for (int t = 0; t < target_count; t++)
        for (int nested = 0; nested < 2; nested++) {
            cva_case c = one_case(SHOAL_CVA_FORWARD, 5, 20);
            c.market.sigma = &none, c.opts.nested = nested;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            /* e^(-r t) (S - K e^(-r (T - t))) = 100 - 100 e^(-r T) at every date */
            const double want = 0.6 * -expm1(-0.05) * 100 * -expm1(-0.1);
            CHECK_MSG(fabs(o.value.cva - want) < 1e-13 * want, "%.17g, not %.17g", o.value.cva,
                      want);
            CHECK(o.value.error < 1e-14 && fabs(o.value.bias) < 1e-14);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(call_on_any_dates);
    RUN(forward_and_its_profile);
    RUN(quantiles_of_a_call);
    RUN(inner_paths);
    RUN(several_assets);
    RUN(netting_and_collateral);
    RUN(bits_are_the_same);
    RUN(many_rows);
    RUN(hazard_in_pieces);
    RUN(nothing_to_be_exposed_to);
    RUN(no_volatility);
    close_targets();
    return TEST_END();
}
