/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_american.c - CVA of contracts with early exercise: the Bermudan put of Longstaff and Schwartz, whose CVA
 * is known stopped at exercise and not, contracts that are never exercised early, exact netting, and books at
 * the edge.
 */
#include "cva_runs.h"

#define STOPPED     0.04253520 /* 10 dates; docs/cva.md */
#define NOT_STOPPED 0.12288856

static const double thirty_six = 36;

/* S = 36, K = 40, r = 6 %, sigma = 20 %, T = 1. */
static cva_case put_case(int64_t dates, int64_t outer, const int64_t *inner) {
    cva_case c = one_case(SHOAL_CVA_PUT, dates, outer);
    c.market.s0 = &thirty_six, c.market.rate = 0.06;
    c.contract[0].strike = 40, c.contract[0].american = 1;
    c.opts.inner = inner, c.opts.inner_count = 1;
    return c;
}

/* Extrapolated, within 1 % and three standard errors; the bias that is taken off is there, and is not small. */
TEST(bermudan_put) {
    const int64_t inner[] = { small ? 256 : 512 }, outer = small ? 64 : 768;
    for (int t = 0; t < target_count; t++)
        for (int kept = 0; kept < 2; kept++) {
            cva_case c = put_case(10, outer, inner);
            c.opts.kept = kept;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            const double want = kept ? NOT_STOPPED : STOPPED, here = o.value.cva - o.value.bias;
            const double error =
                sqrt(o.value.error * o.value.error + o.value.bias_error * o.value.bias_error);
            CHECK_MSG(fabs(here - want) < 0.01 * want + 3 * error,
                      "%s: %.6f - %.6f, +- %.6f, not %.6f", kept ? "not stopped" : "stopped",
                      o.value.cva, o.value.bias, error, want);
            CHECK(error < (small ? 0.2 : 0.05) * want);
            if (!kept && !small) CHECK(o.value.bias > 2 * o.value.bias_error);
            int64_t systems = 0, by_method = 0;
            for (int i = 0; i < SHOAL_CVA_DECADES; i++) systems += o.counts.decade[i];
            for (int i = 0; i < SHOAL_CVA_METHODS; i++) by_method += o.counts.method[i];
            CHECK(o.counts.systems > 0 && o.counts.failed == 0 && o.info.american == 1);
            CHECK(systems == o.counts.systems - o.counts.empty && by_method == systems);
            /* centred and scaled: by their pivots, conditions are below 1000 but for a few where few are in the money */
            int64_t small_ones = 0;
            for (int i = 0; i < 3; i++) small_ones += o.counts.decade[i];
            CHECK((double)small_ones > 0.9 * (double)systems);
        }
}

/* Without dividends nobody exercises a call early. */
TEST(call_is_kept_to_the_end) {
    const int64_t inner[] = { small ? 128 : 512 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 4, small ? 64 : 1024);
        c.opts.inner = inner, c.opts.inner_count = 1;
        c.contract[0].american = 1;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        const double error =
            sqrt(o.value.error * o.value.error + o.value.bias_error * o.value.bias_error);
        CHECK_MSG(fabs(o.value.cva - o.value.bias - 0.38830185823) <
                      0.01 * 0.38830185823 + 3 * error,
                  "%.6f - %.6f, +- %.6f", o.value.cva, o.value.bias, error);
    }
}

TEST(bought_and_sold_is_nothing) {
    const int64_t inner[] = { 32 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, 64, inner);
        c.contract[1] = c.contract[0];
        c.contract[1].quantity = -1, c.count = 2;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva == 0 && o.value.bias == 0 && o.profile[1].ene == 0);
    }
}

/* A batch holds what has not been exercised: what is in it beside a path does not matter. */
TEST(bits_are_the_same) {
    const int64_t inner[] = { 20, 70, 300 }, asset[] = { 1, 0 };
    const double s0[] = { 36, 40 }, sigma[] = { 0.2, 0.3 }, correlation[] = { 1, 0.3, 0.3, 1 };
    cva_case c = put_case(3, small ? 20 : 200, inner);
    c.opts.inner_count = 3;
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.06, .s0 = s0, .sigma = sigma, .correlation = correlation
    };
    c.contract[1] = (shoal_cva_contract){ .payoff = SHOAL_CVA_MAX_CALL,
                                          .american = 1,
                                          .strike = 40,
                                          .maturity = 2.0 / 3,
                                          .quantity = -1,
                                          .assets = 2,
                                          .asset = asset };
    c.contract[2] = c.contract[1];
    c.contract[2].american = 0, c.contract[2].quantity = 1, c.count = 3;
    shoal_context *single;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    for (int type = 0; type < 2; type++) {
        c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
        cva_outcome plain = cva_of(single, &c);
        CHECK(plain.value.cva > 0 && plain.counts.systems > 0);
        memset(plain.counts.seconds, 0, sizeof plain.counts.seconds);
        for (int t = 0; t < target_count; t++) {
            cva_outcome pieces;
            CHECK(cva_in_pieces(targets[t].ctx, &c, 37, &pieces) == SHOAL_OK);
            memset(pieces.counts.seconds, 0, sizeof pieces.counts.seconds);
            CHECK(memcmp(&pieces.value, &plain.value, sizeof plain.value) == 0);
            CHECK(memcmp(pieces.profile, plain.profile, sizeof plain.profile) == 0);
            if (on_cpu(&targets[t]))
                CHECK(memcmp(&pieces.counts, &plain.counts, sizeof plain.counts) == 0);
        }
    }
    shoal_close(single);
}

/* What is valued with half of the inner paths is what a run with so many has: `bias` is half less all. Nobody
 * exercises, so that both are simulated together. */
TEST(half_of_the_inner_paths) {
    const int64_t inner[] = { 328, 164 };
    for (int t = 0; t < target_count; t++)
        for (int degree = 2; degree < 8; degree += 5) {
            cva_outcome o[2];
            for (int i = 0; i < 2; i++) {
                cva_case c = put_case(4, 16, &inner[i]);
                c.opts.kept = 1, c.opts.degree = degree;
                o[i] = cva_of(targets[t].ctx, &c);
            }
            const double half = o[0].value.cva + o[0].value.bias;
            CHECK_MSG(fabs(half / o[1].value.cva - 1) < 1e-13 && o[0].value.bias != 0,
                      "%.17g, not %.17g", half, o[1].value.cva);
        }
}

/* Without volatility it pays to exercise at the first date, and there is no more exposure then. */
TEST(no_volatility) {
    const double none = 0;
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(5, 8, inner);
        c.market.sigma = &none;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        const double want = 0.6 * -expm1(-0.01) * (40 * exp(-0.012) - 36);
        CHECK_MSG(fabs(o.value.cva - want) < 1e-13, "%.17g, not %.17g", o.value.cva, want);
        CHECK(o.profile[1].epe == 0 && o.profile[4].pfe99 == 0);
    }
}

/* Fewer paths than functions: the systems are singular and are truncated, and the answer is a number. */
TEST(fewer_paths_than_functions) {
    const int64_t inner[] = { 2 };
    for (int t = 0; t < target_count; t++) {
        const cva_case c = put_case(5, 32, inner);
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(isfinite(o.value.cva) && o.value.cva > 0 && o.counts.truncated > 0);
        CHECK(o.counts.failed == 0);
    }
}

TEST(what_is_refused) {
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++) {
        cva_outcome o;
        shoal_context *ctx = targets[t].ctx;
        cva_case c = put_case(10, 8, inner);
        c.contract[0].maturity = 0.95, c.opts.horizon = 1;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK_MSG(strstr(shoal_message(ctx), "contracts[0]: maturity is 0.95"), "%s",
                  shoal_message(ctx));
        c = put_case(10, 8, inner), c.contract[0].payoff = SHOAL_CVA_FORWARD;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: american is 1"));
        c = put_case(10, 8, inner), c.contract[0].strike = 0;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: strike is 0"));
        c = put_case(10, 8, inner), c.opts.degree = 64;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: assets is 1: with degree 64"));
        c = put_case(10, 8, inner), c.opts.solver = "magic";
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_METHOD);
        CHECK(strstr(shoal_message(ctx), "solver is 'magic'"));
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(bermudan_put);
    RUN(call_is_kept_to_the_end);
    RUN(bought_and_sold_is_nothing);
    RUN(bits_are_the_same);
    RUN(half_of_the_inner_paths);
    RUN(no_volatility);
    RUN(fewer_paths_than_functions);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
