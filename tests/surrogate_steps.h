/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate_steps.h - the training of a network step by step: rates, orders, weights of rows, and what it starts
 * from where a column has one value.
 */
#ifndef SHOAL_SURROGATE_STEPS_H
#define SHOAL_SURROGATE_STEPS_H

#include "surrogate/surrogate.h"
#include "surrogate_data.h"

static int stop_at_two(void *of, const shoal_surrogate_epoch *e) {
    ++*(int *)of;
    return e->epoch == 2;
}

TEST(training_ends_as_it_says) {
    shoal_surrogate_opts o = { .layers = 1, .width = 8, .type = SHOAL_F32, .epochs = 50 };
    const shoal_surrogate_data train = part(0, ROWS), held = part(ROWS, HELD);
    shoal_surrogate *net;
    shoal_surrogate_result r;
    int told = 0;
    CHECK(shoal_surrogate_train(ctx, &train, &held, &o, stop_at_two, &told, &net, &r) == SHOAL_OK);
    CHECK(r.end == SHOAL_SURROGATE_STOPPED && r.epochs == 2 && told == 2);
    shoal_surrogate_free(net);
    o.patience = 1, o.rate = 0.3; /* no pass is always better */
    CHECK(train_on(ctx, &o, &net, &r) == SHOAL_OK);
    CHECK_MSG(r.end == SHOAL_SURROGATE_EARLY && r.epochs == r.best_epoch + 1, "%d after %d", r.end,
              (int)r.epochs);
    shoal_surrogate_free(net);
    o.rate = 1e-300; /* no pass is better than the first, as this rate is 0 in f32 */
    for (int i = 0; i < (small && ctx->ops ? 0 : 3); i++) { /* the host's */
        o.patience = i, o.epochs = 11;                      /* 0: a quarter of the passes */
        CHECK(train_on(ctx, &o, &net, &r) == SHOAL_OK);
        CHECK_MSG(r.end == SHOAL_SURROGATE_EARLY && r.best_epoch == 1 &&
                      r.epochs == 1 + (i ? i : 3),
                  "patience %d: %d after %d", i, r.end, (int)r.epochs);
        shoal_surrogate_free(net);
    }
    o.rate = 10, o.epochs = 1; /* finite, and more than twice the error before */
    CHECK(train_on(ctx, &o, &net, &r) == SHOAL_OK);
    CHECK_MSG(r.end == SHOAL_SURROGATE_DIVERGED, "%d, %g", r.end, r.validation);
    shoal_surrogate_free(net);
    o.rate = 1e5, o.epochs = 50;
    for (int type = 0; type < 2; type++) {
        o.type = type ? SHOAL_F32 : SHOAL_F64;
        CHECK(train_on(ctx, &o, &net, &r) == SHOAL_OK);
        CHECK_MSG(r.end == SHOAL_SURROGATE_DIVERGED, "%d after %d", r.end, (int)r.epochs);
        shoal_surrogate_free(net);
    }
}

/* The weights of a network of one layer, as they are before the first step (rate 0), or after so many passes;
 * rows in as many batches. */
static shoal_surrogate *after(double rate, int64_t epochs, int64_t batches) {
    const shoal_surrogate_opts o = { .layers = 1,
                                     .width = 8,
                                     .type = SHOAL_F64,
                                     .epochs = epochs,
                                     .rate = rate > 0 ? rate : 1e-300,
                                     .batch = ROWS / batches };
    shoal_surrogate *net = NULL;
    CHECK(train_on(ctx, &o, &net, NULL) == SHOAL_OK);
    return net;
}

/* Adam's first step moves every weight by the rate, whatever its gradient. With two batches a pass the rate is at
 * half its height in the first step, and after the second of two steps at 0.01 + 0.99 (1 + cos(pi/2)) / 2, and no
 * step is longer than the rate by much. */
TEST(the_first_steps) {
    const double rate = 1e-4;
    shoal_surrogate *start = after(0, 1, 1), *one = after(rate, 1, 1), *two = after(rate, 1, 2);
    if (!start || !one || !two) return;
    double most = 0;
    for (int64_t i = 0; i < start->count; i++) {
        const double step = fabs(one->weights[i] - start->weights[i]);
        CHECK_MSG(fabs(step / rate - 1) < 1e-3, "weight %d: %g", (int)i, step);
        most = larger(most, two->weights[i] - start->weights[i]);
    }
    CHECK_MSG(most > 0.9 * rate && most < 1.1 * rate, "%g", most);
    shoal_surrogate_free(start);
    shoal_surrogate_free(one);
    shoal_surrogate_free(two);
}

/* Of two rows the second weighs nothing: how far a weight moves in two passes, of a row a step, says when the first
 * has come. Each pass has an order of its own, and each of the two is as likely. */
TEST(passes_are_shuffled) {
    enum { SEEDS = 64, ORDERS = 4 };
    if (small && ctx->ops) SKIP("a matter of the host");
    static const double errors[2] = { 0, 1e100 };
    double far[ORDERS] = { 0 };
    int seen[ORDERS] = { 0 }, orders = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        const double rate[2] = { 1e-300, 1e-6 };
        shoal_surrogate_data train = part(0, 2), held = part(0, 2);
        double twice[2][INPUTS], prices[2] = { price[0], price[0] }, weight[2] = { 0 };
        memcpy(twice[0], x[0], sizeof *twice);
        memcpy(twice[1], x[0], sizeof *twice);
        held.x = twice[0], held.price = prices, train.error = errors;
        for (int i = 0; i < 2; i++) {
            const shoal_surrogate_opts o = { .layers = 1,
                                             .width = 8,
                                             .type = SHOAL_F64,
                                             .epochs = 2,
                                             .batch = 1,
                                             .seed = (uint64_t)seed,
                                             .rate = rate[i] };
            shoal_surrogate *net = NULL;
            shoal_surrogate_result r;
            CHECK(shoal_surrogate_train(ctx, &train, &held, &o, NULL, NULL, &net, &r) == SHOAL_OK);
            if (!net) return;
            CHECK(i == 0 || r.best_epoch == 2);
            weight[i] = net->weights[net->count - 1];
            shoal_surrogate_free(net);
        }
        const double moved = fabs(weight[1] - weight[0]) / rate[1];
        int k = 0;
        while (k < orders && fabs(moved - far[k]) > 1e-3) k++;
        CHECK_MSG(k < ORDERS, "an order more: %g", moved);
        if (k == ORDERS) return;
        far[k] = moved, seen[k]++;
        if (k == orders) orders++;
    }
    CHECK_MSG(orders == ORDERS, "%d", orders);
    for (int k = 0; k < ORDERS; k++) /* 16 +- 3.5 */
        CHECK_MSG(seen[k] > 2 && seen[k] < 30, "%d times %g", seen[k], far[k]);
}

static int keep_rate(void *of, const shoal_surrogate_epoch *e) {
    ((double *)of)[e->epoch - 1] = e->rate;
    return 0;
}

/* The rate of a pass's last step: a cosine to a hundredth. */
TEST(rates_follow_a_cosine) {
    enum { EPOCHS = 8, EACH = 4 };
    if (small && ctx->ops) SKIP("a matter of the host");
    const shoal_surrogate_opts o = { .layers = 1,
                                     .width = 8,
                                     .type = SHOAL_F32,
                                     .epochs = EPOCHS,
                                     .batch = ROWS / EACH,
                                     .rate = 1e-3 };
    const shoal_surrogate_data train = part(0, ROWS), held = part(ROWS, HELD);
    shoal_surrogate *net;
    double rate[EPOCHS];
    CHECK(shoal_surrogate_train(ctx, &train, &held, &o, keep_rate, rate, &net, NULL) == SHOAL_OK);
    for (int e = 1; e <= EPOCHS; e++) {
        const double done = (EACH * e - 1) / (double)(EACH * EPOCHS);
        const double expected = 1e-3 * (0.01 + 0.99 * 0.5 * (1 + cos(acos(-1) * done)));
        CHECK_MSG(fabs(rate[e - 1] / expected - 1) < 1e-12, "%d: %g, not %g", e, rate[e - 1],
                  expected);
    }
    shoal_surrogate_free(net);
}

/* Rows that are known to be wrong weigh as little: half of them is off by their error, a thousand times that of the
 * others. */
TEST(rows_weigh_by_their_errors) {
    if (small && ctx->ops) SKIP("too long for the emulator");
    static double worse[ROWS], theirs[ROWS];
    const shoal_surrogate_data held = part(ROWS, HELD);
    shoal_surrogate_data train = part(0, ROWS);
    for (int i = 0; i < ROWS; i++) {
        worse[i] = i % 2 ? 5e-2 : 5e-5;
        theirs[i] = price[i] + (i % 2 ? 5e-2 : 0);
    }
    train.price = theirs, train.error = worse;
    const shoal_surrogate_opts o = {
        .layers = 2, .width = 16, .type = SHOAL_F32, .epochs = 10, .batch = 64
    };
    shoal_surrogate *net = NULL;
    shoal_surrogate_result r;
    CHECK(shoal_surrogate_train(ctx, &train, &held, &o, NULL, NULL, &net, &r) == SHOAL_OK);
    CHECK_MSG(r.validation < 5e-3, "%g", r.validation);
    shoal_surrogate_free(net);
}

/* A network of the first rows, whose column 0 is called `name` and has one value, and whose prices are those of a
 * volatility, or, below 0, what exercise pays. */
static shoal_surrogate_info described(const char *name, double value, double volatility) {
    enum { SOME = 100 };
    static double xs[SOME][INPUTS], prices[SOME];
    const char *const called[INPUTS] = { name, "strike", "maturity" };
    for (int i = 0; i < SOME; i++) {
        memcpy(xs[i], x[i], sizeof *xs);
        xs[i][0] = value;
        prices[i] = shoal_black(1, x[i][1], volatility > 0 ? volatility * sqrt(x[i][2]) : 0, 0);
    }
    const shoal_surrogate_data d = {
        .rows = SOME, .inputs = INPUTS, .names = called, .x = xs[0], .price = prices
    };
    const shoal_surrogate_opts o = { .layers = 1, .width = 8, .epochs = 1, .rate = 1e-9 };
    static shoal_surrogate *net;
    shoal_surrogate_info info = { 0 };
    shoal_surrogate_free(net);
    CHECK_MSG(shoal_surrogate_train(ctx, &d, &d, &o, NULL, NULL, &net, NULL) == SHOAL_OK, "%s",
              shoal_message(ctx));
    if (net) CHECK(shoal_surrogate_describe(net, &info) == SHOAL_OK);
    return info;
}

/* What has no spread is scaled by 1, not by the rounding of its mean. */
TEST(columns_of_one_value) {
    shoal_surrogate_info info = described("level", 0.1, 0.3);
    CHECK_MSG(info.scale[0] == 1 && info.scale[1] < 1, "%g", info.scale[0]);
    CHECK_MSG(info.out_scale == 1 && fabs(info.out_shift - log(0.3)) < 1e-9, "%g, %g",
              info.out_scale, info.out_shift);
    CHECK(described("level", 40.1, 0.3).scale[0] > 40);
    info = described("level", 0.1, -1); /* no price says what the volatility is */
    CHECK_MSG(info.out_scale == 1 && fabs(info.out_shift - log(0.2)) < 1e-15, "%g", info.out_shift);
    CHECK(strcmp(described("alpha", 0.1, 0.3).map[0], "log x") == 0);
    CHECK(strcmp(described("alpha", 0, 0.3).map[0], "x") == 0);
}

/* A model file may map strikes and maturities in any way: slopes are those of central differences. */
TEST(slopes_by_every_map) {
    enum { POINTS = 2 };
    const double h = 1e-4;
    for (int way = 0; way < SURROGATE_MAPS * SURROGATE_MAPS; way++) {
        const surrogate_net n = { .inputs = INPUTS,
                                  .layers = 2,
                                  .width = 16,
                                  .target = SURROGATE_VOLATILITY,
                                  .strike = 1,
                                  .maturity = 2,
                                  .map = { SURROGATE_PLAIN, way % SURROGATE_MAPS,
                                           way / SURROGATE_MAPS },
                                  .shift = { 0.3, 0.1, 1 },
                                  .scale = { 0.1, 0.3, 0.4 },
                                  .out_shift = -1.5,
                                  .out_scale = 0.2 };
        shoal_surrogate *net = NULL;
        double rows[5 * POINTS][INPUTS], p[5 * POINTS], slope[2][5 * POINTS];
        CHECK(shoal_surrogate_make(ctx, &n, &net) == SHOAL_OK);
        for (int64_t i = 0; i < net->count; i++)
            net->weights[i] = 0.3 * sin((double)(i * i % 1009));
        for (int i = 0; i < 5 * POINTS; i++) { /* a point, then its neighbours in both inputs */
            const int k = i % 5;
            rows[i][0] = 0.3, rows[i][1] = 0.9 + 0.2 * (i / 5), rows[i][2] = 1.2 - 0.5 * (i / 5);
            if (k) rows[i][1 + (k - 1) / 2] += k % 2 ? h : -h;
        }
        CHECK(shoal_surrogate_predict(net, 5 * POINTS, rows[0], SHOAL_F64, p, slope[0], slope[1]) ==
              SHOAL_OK);
        for (int i = 0; i < 5 * POINTS; i += 5)
            for (int k = 0; k < 2; k++) {
                const double want = (p[i + 2 * k + 1] - p[i + 2 * k + 2]) / (2 * h);
                CHECK_MSG(fabs(slope[k][i] - want) < 1e-6, "way %d: %g, not %g", way, slope[k][i],
                          want);
            }
        shoal_surrogate_free(net);
    }
}

#endif
