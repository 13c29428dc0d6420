/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_similar.c - A = Q diag(lambda) Qt with a random orthogonal Q, in n^2 log n operations.
 *
 * Q = F1 P1 F0 P0: P are random orders, F sweeps of plane rotations of i and i + 1, of i and i + 2,
 * i + 4, ..., which after log2 n levels have mixed every row with every other (a row without a
 * partner waits). Angles lie between pi/8 and 3 pi/8 of a random quadrant, so that every level mixes
 * well: after the second sweep the entries of Q look normal, and A is as dense as Householder
 * reflectors would make it. (A few of them would not do: A would be diagonal but for a matrix of low
 * rank, and its off-diagonal entries n^-1/2 of what they should be.) The spectrum of A is lambda up
 * to rounding, about log2 n roundoffs of its largest entry.
 *
 * Row r of A is Q (lambda * (Qt e_r)): rows need nothing of each other, and LANES of them go side by
 * side through the cache of one thread. 24 n^2 log2 n operations; 12 n log2 n bytes of tables.
 */
#include "symindef/generate_kinds.h"
#include <stdlib.h>

enum { SWEEPS = 2, LANES = 4 };

typedef struct rotations {
    int64_t n;
    int levels;      /* 2^levels >= n                                              */
    int64_t *order;  /* P of each sweep, n entries: place i is taken from order[i] */
    double *cosines; /* of each sweep, level and pair: n / 2 entries a level       */
    double *sines;
} rotations;

void shoal_symindef_shuffle(const symindef_member *m, int which, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) {
        const shoal_words w = symindef_words(m, SYMINDEF_ORDER, which, i);
        const int64_t from = (int64_t)(shoal_half(&w, 0) % (uint64_t)(i + 1));
        order[i] = order[from];
        order[from] = i;
    }
}

static int64_t table_of(const rotations *q, int sweep, int level) {
    return (int64_t)(sweep * q->levels + level) * (q->n / 2);
}

static int make_rotations(const symindef_member *m, int64_t n, rotations *q) {
    *q = (rotations){ .n = n };
    while ((int64_t)1 << q->levels < n) q->levels++;
    const size_t entries = (size_t)table_of(q, SWEEPS, 0) + 1;
    q->order = malloc((size_t)(SWEEPS * n) * sizeof *q->order);
    q->cosines = malloc(entries * sizeof *q->cosines);
    q->sines = malloc(entries * sizeof *q->sines);
    if (!q->order || !q->cosines || !q->sines) return 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        shoal_symindef_shuffle(m, sweep, n, q->order + sweep * n);
        for (int level = 0; level < q->levels; level++) {
            const int64_t at = table_of(q, sweep, level);
            for (int64_t k = 0; k < n / 2; k++) {
                const shoal_words w = symindef_words(m, SYMINDEF_ANGLES, sweep * 64 + level, k);
                const double quadrant = 0.5 * (double)(w.word[2] >> 30);
                shoal_sincospi(quadrant + 0.125 + 0.25 * shoal_uniform(&w, 0), &q->sines[at + k],
                               &q->cosines[at + k]);
            }
        }
    }
    return 1;
}

static void free_rotations(rotations *q) {
    free(q->order);
    free(q->cosines);
    free(q->sines);
}

/* x of all lanes: its rows i and i + 2^level are turned, by the opposite angle if `back`. */
static void turn_pairs(const rotations *q, int sweep, int level, int back, double *x) {
    const int64_t n = q->n, apart = (int64_t)1 << level;
    int64_t k = table_of(q, sweep, level);
    for (int64_t block = 0; block + apart < n; block += 2 * apart)
        for (int64_t i = block; i < block + apart && i + apart < n; i++, k++) {
            const double c = q->cosines[k], s = back ? -q->sines[k] : q->sines[k];
            double *restrict u = x + i * LANES, *restrict v = x + (i + apart) * LANES;
            for (int l = 0; l < LANES; l++) {
                const double upper = u[l], lower = v[l];
                u[l] = c * upper - s * lower;
                v[l] = s * upper + c * lower;
            }
        }
}

/* x := Q x; y is scratch. An even number of sweeps ends where it began. */
static void apply(const rotations *q, double *x, double *y) {
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const int64_t *order = q->order + sweep * q->n;
        for (int64_t i = 0; i < q->n; i++)
            for (int l = 0; l < LANES; l++) y[i * LANES + l] = x[order[i] * LANES + l];
        for (int level = 0; level < q->levels; level++) turn_pairs(q, sweep, level, 0, y);
        double *other = x;
        x = y, y = other;
    }
}

/* x := Qt x */
static void apply_transposed(const rotations *q, double *x, double *y) {
    for (int sweep = SWEEPS - 1; sweep >= 0; sweep--) {
        const int64_t *order = q->order + sweep * q->n;
        for (int level = q->levels - 1; level >= 0; level--) turn_pairs(q, sweep, level, 1, x);
        for (int64_t i = 0; i < q->n; i++)
            for (int l = 0; l < LANES; l++) y[order[i] * LANES + l] = x[i * LANES + l];
        double *other = x;
        x = y, y = other;
    }
}

/* Rows r to r + LANES - 1, as far as they exist. */
static void make_rows(const rotations *q, const double *lambda, int64_t r, double *x, double *y,
                      double *a, int64_t ld) {
    const int64_t n = q->n, lanes = n - r < LANES ? n - r : LANES;
    for (int64_t i = 0; i < n * LANES; i++) x[i] = 0;
    for (int64_t l = 0; l < lanes; l++) x[(r + l) * LANES + l] = 1; /* e_r */
    apply_transposed(q, x, y);                                      /* Qt e_r */
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) x[i * LANES + l] *= lambda[i];
    apply(q, x, y); /* A e_r */
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t j = 0; j <= r + l; j++) a[(r + l) * ld + j] = x[j * LANES + l];
}

void shoal_symindef_similar(symindef_member *m, int64_t n, const double *lambda) {
    rotations q;
    int complete = make_rotations(m, n, &q);
    if (complete) {
#pragma omp parallel num_threads(m->threads) reduction(&& : complete)
        {
            double *x = malloc((size_t)(2 * n * LANES) * sizeof *x);
            complete = x != NULL;
#pragma omp for schedule(static, 4)
            for (int64_t r = 0; r < n; r += LANES)
                if (complete) make_rows(&q, lambda, r, x, x + n * LANES, m->a, m->n);
            free(x);
        }
    }
    free_rotations(&q);
    if (!complete) m->short_of_memory = 1;
}
