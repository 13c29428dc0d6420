/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_loops.c - loops as most programs write them on a CPU, by as many threads as our own have. Compiled with -O2, without
 * fast-math, contraction as the compiler likes it.
 *
 *     recur    one loop per segment of order 1, one segment after another
 *     normal   Box-Muller with the C library's log, sqrt, cos and sin, one pair at a time. The uniforms come from
 *              xorshift64 (Marsaglia 2003), which costs next to nothing: it is the transform that is compared
 *     heston   a call by Euler's scheme: a loop over paths, a loop over steps, xorshift64, Box-Muller
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "bench/peers.h"
#include "bench/pricing.h"
#include "bench/recur.h"

static void loop_single(const float *s, const float *t, float w0, float *w, int64_t n) {
    for (int64_t i = 0; i < n; i++) w[i] = w0 = s[i] * w0 + t[i];
}

static void loop_double(const double *s, const double *t, double w0, double *w, int64_t n) {
    for (int64_t i = 0; i < n; i++) w[i] = w0 = s[i] * w0 + t[i];
}

static int call_recur(void *self, int i) {
    const bench_arrays *d = self;
    const int set = i % d->sets;
    const int64_t n = d->problem.n;
    const void *s = bench_arrays_at(d, BENCH_RECUR_S, set),
               *t = bench_arrays_at(d, BENCH_RECUR_T, set);
    const void *w0 = bench_arrays_at(d, BENCH_RECUR_W0, set);
    void *w = bench_arrays_at(d, BENCH_RECUR_W, set);
#pragma omp parallel for num_threads(d->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < d->problem.count; k++)
        if (d->problem.type == SHOAL_F32)
            loop_single((const float *)s + k * n, (const float *)t + k * n, ((const float *)w0)[k],
                        (float *)w + k * n, n);
        else
            loop_double((const double *)s + k * n, (const double *)t + k * n,
                        ((const double *)w0)[k], (double *)w + k * n, n);
    return 0;
}

int bench_peer_loop(bench_session *s, bench_arrays *d) {
    const bench_problem *p = &d->problem;
    if (p->order != 1 || p->constant || p->direction || p->layout != SHOAL_SYSTEM_MAJOR)
        return BENCH_OK;
    const int threads = d->place->machine.threads;
    char note[64];
    snprintf(note, sizeof note, "one loop per segment, %d thread%s over the segments", threads,
             threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C",
                                .function = "loop",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .call = call_recur, .self = d, .calls = d->sets } };
    return bench_add_peer(s, d, &peer, bench_recur_check_peer);
}

/* ---- normal numbers -------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* One 64-bit word makes a pair: 32 bits each for radius and angle. */
static void fill_single(float *out, int64_t count, uint64_t state) {
    for (int64_t i = 0; i < count; i += 2) {
        const uint64_t word = next(&state);
        const float u = ((float)(uint32_t)(word >> 32) + 0.5f) * 0x1p-32f;
        const float angle = (float)(uint32_t)word * 0x1.921fb6p-30f; /* 2 pi / 2^32 */
        const float r = sqrtf(-2.0f * logf(u));
        out[i] = r * cosf(angle);
        if (i + 1 < count) out[i + 1] = r * sinf(angle);
    }
}

static void fill_double(double *out, int64_t count, uint64_t state) {
    for (int64_t i = 0; i < count; i += 2) {
        const double u = ((double)(next(&state) >> 12) + 0.5) * 0x1p-52;
        const double angle = (double)(next(&state) >> 11) * 0x1.921fb54442d18p-51; /* 2 pi / 2^53 */
        const double r = sqrt(-2.0 * log(u));
        out[i] = r * cos(angle);
        if (i + 1 < count) out[i + 1] = r * sin(angle);
    }
}

static int call_normal(void *self, int set) {
    const bench_numbers *d = self;
    const bench_problem *p = &d->problem;
    const int threads = d->place->machine.threads;
    void *out = bench_numbers_at(d, set % d->sets);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const int64_t begin = p->count * t / threads, end = p->count * (t + 1) / threads;
        uint64_t state = (p->seed + (uint64_t)t) * 0x9E3779B97F4A7C15u | 1; /* far apart, not 0 */
        for (int i = 0; i < 16; i++) next(&state);
        if (p->type == SHOAL_F32)
            fill_single((float *)out + begin, end - begin, state);
        else
            fill_double((double *)out + begin, end - begin, state);
    }
    return 0;
}

int bench_peer_libm(bench_session *s, const bench_numbers *d) {
    if (strcmp(d->problem.method, "normal") != 0) return BENCH_OK;
    const int threads = d->place->machine.threads;
    char version[64], note[96];
#ifdef __GLIBC__
    snprintf(version, sizeof version, "libm of glibc %s", gnu_get_libc_version());
#else
    snprintf(version, sizeof version, "libm");
#endif
    snprintf(note, sizeof note, "log, sqrt, cos and sin, xorshift64, %d thread%s", threads,
             threads == 1 ? "" : "s");
    const bench_solver g = { .who = "libm",
                             .function = "Box-Muller",
                             .version = version,
                             .note = note,
                             .task = { .call = call_normal, .self = (void *)d, .calls = d->sets } };
    return bench_peer_generator(s, d, g, SHOAL_SYSTEM_MAJOR);
}

/* ---- Heston's model -------------------------------------------------------------------------- */

typedef struct heston_job {
    int64_t paths, steps;
    int threads;
    double price, error;
} heston_job;

static double uniform(uint64_t *state) { return ((double)(next(state) >> 11) + 0.5) * 0x1p-53; }

static double payoff_of(const shoal_heston *m, int64_t steps, uint64_t *state) {
    const double dt = 1.0 / (double)steps, root = sqrt(dt), rest = sqrt(1 - m->rho * m->rho);
    double v = m->v0, x = 0;
    for (int64_t k = 0; k < steps; k++) {
        const double r = sqrt(-2 * log(uniform(state))), t = 6.283185307179586 * uniform(state);
        const double g1 = r * cos(t), g2 = r * sin(t), positive = v > 0 ? v : 0;
        const double vol = sqrt(positive) * root;
        x += vol * (m->rho * g1 + rest * g2) - 0.5 * positive * dt;
        v += m->kappa * (m->theta - positive) * dt + m->sigma * vol * g1;
    }
    const double s = m->s0 * exp(x) - 1;
    return s > 0 ? s : 0;
}

static int call_heston(void *self, int i) {
    heston_job *j = self;
    const shoal_heston m = shoal_heston_example();
    double sum = 0, squares = 0;
    (void)i;
#pragma omp parallel for num_threads(j->threads) schedule(static) reduction(+ : sum, squares)
    for (int64_t path = 0; path < j->paths; path++) {
        uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(path + 1); /* one stream per path */
        for (int k = 0; k < 4; k++) (void)uniform(&state);
        const double pay = payoff_of(&m, j->steps, &state);
        sum += pay, squares += pay * pay;
    }
    const double n = (double)j->paths;
    j->price = sum / n;
    j->error = sqrt((squares / n - j->price * j->price) / n);
    return 0;
}

int bench_peer_plain_heston(bench_session *s, bench_prices *d) {
    const bench_problem *p = &d->problem;
    if (p->type != SHOAL_F64 || !bench_can(p, SHOAL_CAN_EULER)) return BENCH_OK;
    heston_job j = { .paths = p->count, .steps = p->n, .threads = d->place->machine.threads };
    char note[64];
    snprintf(note, sizeof note, "xorshift, libm, %d thread%s over the paths", j.threads,
             j.threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C",
                                .function = "euler loop",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .call = call_heston, .self = &j, .calls = 1 } };
    return bench_price_peer_row(s, d, peer, &j.price, &j.error);
}
