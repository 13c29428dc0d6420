/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_libm.c - normal numbers as most programs make them on a CPU: Box-Muller with the C
 * library's log, sqrt, cos and sin, one pair at a time, as many threads as our own has.
 *
 * The uniforms come from xorshift64 (Marsaglia 2003), which costs next to nothing: it is the
 * transform that is compared. Compiled with -O2, without fast-math.
 */
#define _GNU_SOURCE
#include "bench/peers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

typedef struct job {
    const bench_numbers *numbers;
    int threads;
} job;

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

static int call(void *self, int set) {
    const job *j = self;
    const bench_problem *p = &j->numbers->problem;
    void *out = bench_numbers_at(j->numbers, set % j->numbers->sets);
#pragma omp parallel for num_threads(j->threads) schedule(static, 1)
    for (int t = 0; t < j->threads; t++) {
        const int64_t begin = p->count * t / j->threads, end = p->count * (t + 1) / j->threads;
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
    job j = { .numbers = d, .threads = d->place->machine.threads };
    char version[64], note[96];
#ifdef __GLIBC__
    snprintf(version, sizeof version, "libm of glibc %s", gnu_get_libc_version());
#else
    snprintf(version, sizeof version, "libm");
#endif
    snprintf(note, sizeof note, "log, sqrt, cos and sin, xorshift64, %d thread%s", j.threads,
             j.threads == 1 ? "" : "s");
    const bench_solver g = { .who = "libm",
                             .function = "Box-Muller",
                             .version = version,
                             .note = note,
                             .task = { .call = call, .self = &j, .calls = d->sets } };
    return bench_peer_generator(s, d, g, SHOAL_SYSTEM_MAJOR);
}
