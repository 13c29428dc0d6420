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

static void time_training(shoal_context *ctx, const shoal_surrogate_data *all,
                          shoal_surrogate_opts o, shoal_surrogate **net) {
    static const char *const gemms[] = { NULL, "fused", "own", "cublas" };
    const int64_t held = all->rows / 10;
    shoal_surrogate_data train = *all, validation = *all;
    train.rows -= held, validation.rows = held;
    validation.x += train.rows * INPUTS, validation.price += train.rows;
    for (int i = 0; i < 4; i++) {
        clock_of_passes c = { 0, 0, 0 };
        shoal_surrogate *made;
        o.gemm = gemms[i];
        if (shoal_surrogate_train(ctx, &train, &validation, &o, say, &c, &made, NULL)) {
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

int main(int argc, char **argv) {
    if (argc < 8) return 2;
    const shoal_type type = strcmp(argv[2], "f32") == 0 ? SHOAL_F32 : SHOAL_F64;
    const int64_t rows = atoll(argv[6]);
    const shoal_surrogate_opts o = { .layers = atoi(argv[3]),
                                     .width = atoi(argv[4]),
                                     .batch = atoll(argv[5]),
                                     .type = type,
                                     .epochs = atoll(argv[7]) + 1 };
    shoal_context *ctx;
    shoal_surrogate *net = NULL;
    if (shoal_open(&(shoal_options){ .backend = argv[1] }, &ctx))
        return printf("%s\n", shoal_message(ctx)), 3;
    double *x = malloc((size_t)(rows * INPUTS) * sizeof *x);
    double *out = malloc((size_t)(3 * rows) * sizeof *out);
    if (!x || !out) return 4;
    for (int64_t i = 0; i < rows; i++) {
        double *at = x + i * INPUTS;
        for (int k = 0; k < INPUTS; k++)
            at[k] = from[k] + (to[k] - from[k]) * fmod((double)(i + 1) * sqrt(2. + k), 1);
        const double volatility = exp(0.5 * (at[1] + at[3])) * (1 - 0.3 * at[4] * (1 - at[6]));
        out[i] = shoal_black(1, at[6], volatility * sqrt(at[5]), 0);
    }
    const shoal_surrogate_data all = {
        .rows = rows, .inputs = INPUTS, .names = names, .x = x, .price = out
    };
    time_training(ctx, &all, o, &net);
    if (!net) return 5;
    time_prices(ctx, net, type, rows, x, out, "host");
    void *device[2];
    const size_t bytes = (size_t)rows * sizeof(double);
    if (shoal_alloc(ctx, bytes * INPUTS, &device[0]) || shoal_alloc(ctx, 3 * bytes, &device[1]) ||
        shoal_copy(ctx, device[0], x, bytes * INPUTS))
        return printf("%s\n", shoal_message(ctx)), 6;
    time_prices(ctx, net, type, rows, device[0], device[1], "device");
    shoal_surrogate_free(net);
    shoal_close(ctx);
    return 0;
}
