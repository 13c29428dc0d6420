/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_long.c [--backend=cuda] - the slow set: every known price within four standard errors
 * that are below 1e-4 of it (on a CPU as far as 2^23 samples go), exact with its steps doubled until
 * the price stays, and the means of the exact steps at 1e7 paths.
 */
#include "pricing_moments.h"

static int64_t most_samples(void) {
    return on_cpu(&targets[target_count - 1]) ? 1 << 23 : 1LL << 33;
}

/* Samples until the error is below 1e-4 of the price. */
static shoal_price_value to_error(shoal_context *ctx, const known_price *k, shoal_price_opts *o) {
    shoal_price *plan = NULL;
    shoal_price_value v = { .price = NAN, .error = INFINITY };
    CHECK_MSG(shoal_price_heston(ctx, &k->m, o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    const int64_t piece = 16 * SHOAL_PRICE_UNIT, numbers = shoal_price_sums(plan, piece);
    double *total = new_array((size_t)(2 * shoal_price_width(plan)), sizeof *total);
    double *host = new_array((size_t)numbers, sizeof *host);
    void *sums = NULL;
    CHECK(shoal_alloc(ctx, (size_t)numbers * sizeof(double), &sums) == SHOAL_OK);
    for (int64_t at = 0; at < most_samples() && !(v.error < 1e-4 * k->price); at += piece) {
        CHECK(shoal_price_run(plan, at, piece, sums) == SHOAL_OK);
        CHECK(shoal_copy(ctx, host, sums, (size_t)numbers * sizeof(double)) == SHOAL_OK);
        CHECK(shoal_price_add(plan, host, piece, total) == SHOAL_OK);
        CHECK(shoal_price_result(plan, total, at + piece, &v) == SHOAL_OK);
    }
    shoal_free(ctx, sums);
    shoal_price_free(plan);
    free(host);
    free(total);
    return v;
}

static void check_known(const char *method, const known_price *k, const shoal_price_value *v) {
    printf("      %s, %s: %.8f +- %.1e, off by %.2f\n", k->name, method, v->price, v->error,
           (v->price - k->price) / v->error);
    CHECK_MSG(fabs(v->price - k->price) < 4 * v->error, "%s, %s: %.9f +- %.2g", k->name, method,
              v->price, v->error);
    CHECK(on_cpu(&targets[target_count - 1]) || v->error < 1e-4 * k->price);
}

TEST(conditional_prices) {
    for (int i = 0; i < KNOWN; i++) {
        shoal_price_opts o = one_contract("conditional", NULL, 8 * known[i].steps, &known[i].strike,
                                          &known[i].maturity);
        const shoal_price_value v = to_error(targets[target_count - 1].ctx, &known[i], &o);
        check_known("conditional", &known[i], &v);
    }
}

/* The steps are doubled until the price moves by less than one standard error. */
TEST(exact_prices) {
    for (int i = 0; i < KNOWN; i++) {
        shoal_price_opts o =
            one_contract("exact", NULL, known[i].steps, &known[i].strike, &known[i].maturity);
        shoal_price_value v = { 0 }, before;
        o.control = 1, o.antithetic = 1;
        for (int doubled = 0; doubled < 6; doubled++, o.steps *= 2) {
            before = v;
            v = to_error(targets[target_count - 1].ctx, &known[i], &o);
            if (doubled > 0 && fabs(v.price - before.price) < v.error) break;
        }
        check_known("exact", &known[i], &v);
    }
}

TEST(euler_prices) {
    for (int i = 0; i < 3; i++) {
        shoal_price_opts o =
            one_contract("euler", NULL, 1000, &known[i].strike, &known[i].maturity);
        o.control = 1, o.antithetic = 1, o.type = SHOAL_F32;
        const shoal_price_value v = to_error(targets[target_count - 1].ctx, &known[i], &o);
        check_known("euler", &known[i], &v);
    }
}

TEST(means_of_the_exact_steps) {
    check_moments(&known[1].m, 1, 16, VARIANCE_POISSON, 10000000);
    check_moments(&known[1].m, 1, 16, VARIANCE_NORMAL, 10000000);
    check_moments(&known[3].m, 1, 16, VARIANCE_POISSON, 10000000);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(conditional_prices);
    RUN(exact_prices);
    RUN(euler_prices);
    RUN(means_of_the_exact_steps);
    close_targets();
    return TEST_END();
}
