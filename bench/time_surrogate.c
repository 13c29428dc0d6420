/* SPDX-License-Identifier: Apache-2.0
 *
 * time_surrogate.c - seconds of networks of prices: a pass of training, by every way to make products, and
 * prices with and without derivatives, of arrays of the host and of the device. Not part of the build:
 *
 *     gcc -std=c11 -O2 -Iinclude -Isrc -c bench/time_surrogate.c
 *     nvcc -o time_surrogate time_surrogate.o build/libshoal.a -Xcompiler -fopenmp -lm
 *     ./time_surrogate BACKEND f32|f64 LAYERS WIDTH BATCH ROWS PASSES
 *
 * Rows are of the exponential Ornstein-Uhlenbeck model's seven inputs; their prices, of a made-up smile,
 * do not matter. The first pass, which loads kernels, is not counted.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUTS = 7, ROUNDS = 20 };
static const char *const names[INPUTS] = {
    "alpha", "m", "beta", "y0", "rho", "maturity", "strike"
};
static const double from[INPUTS] = { 0.1, -3, 0.05, -3, -0.95, 0.05, 0.5 };
static const double to[INPUTS] = { 5, 0.2, 1, 0, 0, 2, 1.5 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct clock_of_passes {
    double first, last, validation;
} clock_of_passes;

static int say(void *of, const shoal_surrogate_epoch *e) {
    clock_of_passes *c = of;
    c->last = now(), c->validation = e->validation;
    if (e->epoch == 1) c->first = c->last;
    return 0;
}

/* By every way there is here. *net is the last that was made; the status, if there is none, of the last try. */
static shoal_status time_training(shoal_context *ctx, const shoal_surrogate_data *all,
                                  shoal_surrogate_opts o, shoal_surrogate **net) {
    static const char *const gemms[] = { NULL, "fused", "own", "cublas" };
    const int64_t held = all->rows / 10;
    shoal_status last = SHOAL_OK;
    shoal_surrogate_data train = *all, validation = *all;
    train.rows -= held, validation.rows = held;
    validation.x += train.rows * INPUTS, validation.price += train.rows;
    for (int i = 0; i < 4; i++) {
        clock_of_passes c = { 0, 0, 0 };
        shoal_surrogate *made;
        o.gemm = gemms[i];
        const shoal_status s =
            shoal_surrogate_train(ctx, &train, &validation, &o, say, &c, &made, NULL);
        if (s != SHOAL_OK) {
            last = s;
            printf("train %-8s %s\n", gemms[i] ? gemms[i] : "default", shoal_message(ctx));
            continue;
        }
        const double each = (c.last - c.first) / (double)(o.epochs - 1);
        printf("train %-8s %.4g s a pass, %.4g million rows a second, validation %.4g\n",
               gemms[i] ? gemms[i] : "default", each, 1e-6 * (double)train.rows / each,
               c.validation);
        shoal_surrogate_free(*net);
        *net = made;
    }
    return *net ? SHOAL_OK : last;
}

static void time_prices(shoal_context *ctx, const shoal_surrogate *net, shoal_type type,
                        int64_t rows, const double *x, double *out, const char *where) {
    for (int derivatives = 0; derivatives < 2; derivatives++) {
        double best = INFINITY;
        for (int i = 0; i < ROUNDS; i++) {
            const double start = now();
            if (shoal_surrogate_predict(net, rows, x, type, out, derivatives ? out + rows : NULL,
                                        derivatives ? out + 2 * rows : NULL)) {
                printf("%s\n", shoal_message(ctx));
                return;
            }
            best = fmin(best, now() - start);
        }
        printf("%s, arrays of the %s: %.4g s, %.4g million rows a second\n",
               derivatives ? "prices and derivatives" : "prices", where, best,
               1e-6 * (double)rows / best);
    }
}

/* Rows within the ranges, and prices of them. */
static void make_rows(int64_t rows, double *x, double *price) {
    for (int64_t i = 0; i < rows; i++) {
        double *at = x + i * INPUTS;
        for (int k = 0; k < INPUTS; k++)
            at[k] = from[k] + (to[k] - from[k]) * fmod((double)(i + 1) * sqrt(2. + k), 1);
        const double volatility = exp(0.5 * (at[1] + at[3])) * (1 - 0.3 * at[4] * (1 - at[6]));
        price[i] = shoal_black(1, at[6], volatility * sqrt(at[5]), 0);
    }
}

/* Everything, with x and out for 3 numbers a row in the host's memory; out begins with the prices. */
static shoal_status measure(shoal_context *ctx, const shoal_surrogate_opts *o, int64_t rows,
                            double *x, double *out) {
    const shoal_surrogate_data all = {
        .rows = rows, .inputs = INPUTS, .names = names, .x = x, .price = out
    };
    const size_t bytes = (size_t)rows * sizeof(double);
    shoal_surrogate *net = NULL;
    void *device[2] = { NULL, NULL };
    shoal_status s = time_training(ctx, &all, *o, &net);
    if (s != SHOAL_OK) return s;
    time_prices(ctx, net, o->type, rows, x, out, "host");
    s = shoal_alloc(ctx, bytes * INPUTS, &device[0]);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, 3 * bytes, &device[1]);
    if (s == SHOAL_OK) s = shoal_copy(ctx, device[0], x, bytes * INPUTS);
    if (s == SHOAL_OK) time_prices(ctx, net, o->type, rows, device[0], device[1], "device");
    for (int i = 0; i < 2; i++) shoal_free(ctx, device[i]);
    shoal_surrogate_free(net);
    return s;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: %s BACKEND f32|f64 LAYERS WIDTH BATCH ROWS PASSES\n", argv[0]);
        return 2;
    }
    const int64_t rows = atoll(argv[6]);
    const shoal_surrogate_opts o = { .layers = atoi(argv[3]),
                                     .width = atoi(argv[4]),
                                     .batch = atoll(argv[5]),
                                     .type = strcmp(argv[2], "f32") ? SHOAL_F64 : SHOAL_F32,
                                     .epochs = atoll(argv[7]) + 1 };
    if (rows < 10) {
        fprintf(stderr, "ROWS must be at least 10, of which a tenth is held back\n");
        return 2;
    }
    shoal_context *ctx = NULL;
    shoal_status s = shoal_open(&(shoal_options){ .backend = argv[1] }, &ctx);
    double *x = calloc((size_t)rows, INPUTS * sizeof *x),
           *out = calloc((size_t)rows, 3 * sizeof *out);
    if (s == SHOAL_OK && (!x || !out)) s = SHOAL_E_NOMEM;
    if (s == SHOAL_OK) {
        make_rows(rows, x, out);
        s = measure(ctx, &o, rows, x, out);
    }
    if (s != SHOAL_OK) fprintf(stderr, "%s: %s\n", shoal_status_text(s), shoal_message(ctx));
    free(x);
    free(out);
    shoal_close(ctx);
    return s == SHOAL_OK ? 0 : 1;
}
