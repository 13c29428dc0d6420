/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_goal.c - simulations to a number of paths or to a standard error: the same bits as a run
 * in pieces, parts that make the whole, ends by the caller, what is refused; and prices in one call.
 */
#include "pricing_runs.h"
#include <shoal/american.h>

enum { UNIT = SHOAL_PRICE_UNIT };

static shoal_price *euler(shoal_context *ctx, double strike, int antithetic) {
    static double k;
    k = strike;
    const shoal_heston m = shoal_heston_example();
    shoal_price_opts o = one_contract("euler", NULL, 1, &k, &one);
    shoal_price *plan = NULL;
    o.antithetic = antithetic;
    CHECK_MSG(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    return plan;
}

static int same(const shoal_price_value *a, const shoal_price_value *b) {
    return a->price == b->price && a->error == b->error;
}

TEST(one_call_is_a_run_of_the_plan) {
    const shoal_heston heston = shoal_heston_example();
    const shoal_expou expou = shoal_expou_example();
    const shoal_bullet bullet = shoal_bullet_example();
    const double s0 = 36, sigma = 0.2;
    const shoal_american put = {
        .payoff = SHOAL_PUT, .strike = 40, .rate = 0.06, .maturity = 1, .s0 = &s0, .sigma = &sigma
    };
    const shoal_american_opts rule = { .assets = 1, .dates = 3, .seed = 5, .fit_paths = 1024 };
    const shoal_price_opts o = one_contract("conditional", NULL, 2, &one, &one);
    const shoal_price_opts mc = { .method = "mc", .seed = 3 };
    const shoal_price_goal goal = { .paths = 2 * UNIT + 100 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        for (int model = 0; model < 4; model++) {
            shoal_price_value by_call = { 0 }, by_plan = { .price = 1 };
            shoal_price *plan = NULL;
            shoal_status s = model == 0   ? shoal_price_heston(ctx, &heston, &o, &plan)
                             : model == 1 ? shoal_price_expou(ctx, &expou, &o, &plan)
                             : model == 2 ? shoal_price_bullet(ctx, &bullet, &mc, NULL, 1, &plan)
                                          : shoal_price_american(ctx, &put, 1, &rule, &plan);
            CHECK(s == SHOAL_OK);
            CHECK(run_in_pieces(ctx, plan, goal.paths, 1, &by_plan) == SHOAL_OK);
            s = model == 0   ? shoal_heston_value(ctx, &heston, &o, &goal, &by_call)
                : model == 1 ? shoal_expou_value(ctx, &expou, &o, &goal, &by_call)
                : model == 2 ? shoal_bullet_value(ctx, &bullet, &mc, NULL, 1, &goal, &by_call)
                             : shoal_american_value(ctx, &put, 1, &rule, &goal, &by_call);
            CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
            CHECK_MSG(same(&by_call, &by_plan), "model %d: %.17g, not %.17g", model, by_call.price,
                      by_plan.price);
        }
    }
}

/* What seen() saw. */
typedef struct seen {
    int64_t samples, units, looks, stop; /* stop: after so many samples, if above 0 */
    double *sums;
    int64_t width;
} seen;

static int look(const shoal_price_progress *now, void *with) {
    seen *s = with;
    CHECK(now->samples > s->samples && now->units > 0 && now->sums && now->seconds >= 0);
    if (s->sums)
        memcpy(s->sums + s->units * s->width, now->sums,
               (size_t)(now->units * s->width) * sizeof *s->sums);
    s->samples = now->samples, s->units += now->units, s->looks += now->values != NULL;
    return s->stop > 0 && s->samples >= s->stop;
}

TEST(a_target_is_reached_and_not_passed_by_much) {
    for (int t = 0; t < target_count; t++) {
        shoal_price_value value = { 0 };
        shoal_price_progress done = { 0 };
        shoal_price *plan = euler(targets[t].ctx, 1, 0);
        const shoal_price_goal first = { .paths = UNIT };
        CHECK(shoal_price_simulate(plan, &first, &value, &done) == SHOAL_OK);
        CHECK(done.samples == UNIT && value.error > 0);
        for (int times = 2; times <= 5; times++) { /* the error falls as the root of the paths */
            const shoal_price_goal goal = { .target = value.error / times };
            shoal_price_value far = { 0 };
            CHECK(shoal_price_simulate(plan, &goal, &far, &done) == SHOAL_OK);
            CHECK(far.error <= goal.target && done.samples % UNIT == 0);
            CHECK_MSG(done.samples <= (int64_t)(1.3 * times * times + 1) * UNIT, "%d: %lld units",
                      times, (long long)(done.samples / UNIT));
        }
        shoal_price_free(plan);
    }
}

TEST(values_that_no_path_pays_end_and_are_counted) {
    for (int t = 0; t < target_count && !small; t++) {
        shoal_price_value value = { 0 };
        shoal_price_progress done = { 0 };
        shoal_price *plan = euler(targets[t].ctx, 1000, 0);
        for (int far = 0; far < 2; far++) { /* as far as the bound, or to the end */
            const shoal_price_goal goal = { .target = far ? 1e-9 : 1e-3 };
            CHECK(shoal_price_simulate(plan, &goal, &value, &done) == SHOAL_OK);
            CHECK(done.unpaid == 1 && value.price == 0 && value.error == 0);
            CHECK_MSG(far ? done.samples == 1 << 22 && value.bound > goal.target
                          : done.samples > UNIT && value.bound <= goal.target,
                      "%lld samples, bound %g", (long long)done.samples, value.bound);
        }
        shoal_price_free(plan);
    }
}

TEST(parts_make_the_whole) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan = euler(ctx, 1, 1);
        const int64_t width = shoal_price_width(plan), paths = 9 * UNIT - 1; /* two paths each */
        const int64_t samples = (paths + 1) / 2, units = (samples + UNIT - 1) / UNIT;
        shoal_price_value whole = { 0 }, joined = { 0 }, one_part = { 0 };
        shoal_price_progress done = { 0 };
        double *total = new_array((size_t)(2 * width), sizeof *total);
        double *sums = new_array((size_t)(units * width), sizeof *sums);
        CHECK(shoal_price_simulate(plan, &(shoal_price_goal){ .paths = paths }, &whole, &done) ==
              SHOAL_OK);
        CHECK(done.samples == samples && done.expected == samples);
        int64_t at = 0;
        for (int part = 1; part <= 3; part++) {
            seen s = { .sums = sums, .width = width };
            const shoal_price_goal goal = {
                .paths = paths, .part = part, .parts = 3, .on_round = look, .user = &s
            };
            CHECK(shoal_price_simulate(plan, &goal, &one_part, &done) == SHOAL_OK);
            CHECK(done.first == at && done.samples == s.samples);
            CHECK(shoal_price_add(plan, sums, done.samples, total) == SHOAL_OK);
            at += done.samples;
        }
        CHECK(at == samples);
        CHECK(shoal_price_result(plan, total, samples, &joined) == SHOAL_OK);
        CHECK(same(&joined, &whole));
        const shoal_price_goal none = { .paths = 1, .part = 1, .parts = 2 };
        CHECK(shoal_price_simulate(plan, &none, &one_part, &done) == SHOAL_OK);
        CHECK(done.samples == 0 && isnan(one_part.price)); /* one unit: it is in the other part */
        free(sums);
        free(total);
        shoal_price_free(plan);
    }
}

TEST(the_caller_ends_it) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan = euler(ctx, 1, 0);
        seen s = { .stop = 2 * UNIT };
        const shoal_price_goal goal = { .paths = 64 * UNIT, .on_round = look, .user = &s };
        shoal_price_value value = { 0 }, before = { 0 };
        shoal_price_progress done = { 0 };
        CHECK(shoal_price_simulate(plan, &goal, &value, &done) == SHOAL_OK);
        CHECK(done.samples == s.samples && s.samples < 64 * UNIT && s.looks > 0);
        CHECK(run_in_pieces(ctx, plan, done.samples, 1, &before) == SHOAL_OK); /* frees the plan */
        CHECK(same(&value, &before));
    }
}

TEST(formulas_need_no_paths) {
    const shoal_heston m = shoal_heston_example();
    const shoal_price_opts o = one_contract("analytic", NULL, 1, &one, &one);
    for (int t = 0; t < target_count; t++) {
        shoal_price_value value = { 0 };
        CHECK(shoal_heston_value(targets[t].ctx, &m, &o, &(shoal_price_goal){ 0 }, &value) ==
              SHOAL_OK);
        CHECK(fabs(value.price - 0.119732509397) < 1e-10);
    }
}

TEST(goals_are_checked) {
    static const struct {
        shoal_price_goal goal;
        const char *word;
    } cases[] = {
        { { .paths = 0 }, "paths is 0" },
        { { .paths = -1 }, "paths is -1" },
        { { .paths = SHOAL_PRICE_MOST + 1 }, "paths is" },
        { { .target = -1 }, "target is -1" },
        { { .target = NAN }, "target is nan" },
        { { .target = INFINITY }, "target is inf" },
        { { .paths = 1, .part = 0, .parts = 2 }, "part is 0; it must be 1 to 2" },
        { { .paths = 1, .part = 3, .parts = 2 }, "part is 3; it must be 1 to 2" },
        { { .paths = 1, .part = 1, .parts = -1 }, "parts is -1" },
        { { .target = 1, .part = 1, .parts = 2 }, "parts is 2; with a target it must be 0" },
    };
    shoal_price_value value = { 0 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan = euler(ctx, 1, 0);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK(shoal_price_simulate(plan, &cases[i].goal, &value, NULL) == SHOAL_E_ARG);
            CHECK_MSG(strstr(shoal_message(ctx), cases[i].word), "'%s' lacks '%s'",
                      shoal_message(ctx), cases[i].word);
        }
        CHECK(shoal_price_simulate(plan, NULL, &value, NULL) == SHOAL_E_ARG);
        CHECK(shoal_price_simulate(plan, &cases[0].goal, NULL, NULL) == SHOAL_E_ARG);
        CHECK(shoal_price_simulate(NULL, &cases[0].goal, &value, NULL) == SHOAL_E_ARG);
        shoal_price_free(plan);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(one_call_is_a_run_of_the_plan);
    RUN(a_target_is_reached_and_not_passed_by_much);
    RUN(values_that_no_path_pays_end_and_are_counted);
    RUN(parts_make_the_whole);
    RUN(the_caller_ends_it);
    RUN(formulas_need_no_paths);
    RUN(goals_are_checked);
    close_targets();
    return TEST_END();
}
