/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_many.h - a million different small systems for little, and their judge: what
 * test_smallsym_many.c and its kernels, smallsym_many.cu, share. One code for both compilers, so
 * that a run on the CPU tests the arithmetic that judges the GPU.
 *
 * System k of a family is  D P A Pt D x = b:  A is system k mod MANY_BASE of the library's generator,
 * P a permutation and D a diagonal of signs drawn from a hash of (seed, n, k). The spectrum is A's,
 * the pivots and all roundings are others. b is drawn anew from the same hash, at the size of the
 * generator's b; where that has to be in the range of A, it is A z with such a z.
 *
 * The certificate is the normwise backward error |b - A x| / (|A| |x| + |b|) in the maximum norm. The
 * residual is summed in double-double (Ogita, Rump, Oishi 2005, Dot2): products and sums with their
 * errors, so that it is known to 2^-53 of itself and n^2 2^-106 of |A| |x|, far below what is asked.
 *
 * Work on a system is shared by `lanes` threads, of which this one is `lane`: the lanes of a warp on
 * a GPU, 1 on the CPU. What one phase writes all lanes may read in the next: between them is a barrier.
 */
#ifndef SHOAL_SMALLSYM_MANY_H
#define SHOAL_SMALLSYM_MANY_H

#include "core/hd.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MANY_BASE = 1024, MANY_MAX = 64 }; /* systems of the generator; the largest n */

/* What is wrong with a system, and what may be said of it. */
enum { MANY_SOUND, MANY_SINGULAR, MANY_NONFINITE, MANY_FAULTS };
enum { RULE_ANY, RULE_OK, RULE_TRUNCATED, RULE_ANSWERED, RULE_NONFINITE };

typedef struct many_family { /* systems of one kind, n and type; arrays in the context's memory */
    const void *base;        /* A of the generator, full, the lower triangle counts              */
    const double *scale;     /* max|b| of each                                                   */
    const unsigned char *fault;
    uint64_t seed;
    int n, single, in_range; /* single: float; in_range: b is A z                                */
} many_family;

typedef struct many_batch { /* systems first .. first + count - 1, in the context's memory */
    int64_t first, count;
    void *a, *b, *x;
} many_batch;

typedef struct many_outcome {
    int32_t *status, *inertia;
    float *residual, *rcond;
} many_outcome;

SHOAL_HD static inline double many_get(const void *array, int single, int64_t at) {
    return single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

SHOAL_HD static inline void many_put(void *array, int single, int64_t at, double value) {
    if (single)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* ---- making a system -------------------------------------------------------------------------- */

/* The finaliser of MurmurHash3 in Stafford's variant 13: every bit of z moves every bit. */
SHOAL_HD static inline uint64_t many_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

SHOAL_HD static inline uint64_t many_hash(const many_family *f, int64_t k, int place) {
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    const uint64_t family = many_mix(f->seed + golden * (uint64_t)(f->n + 1));
    return many_mix(many_mix(family + golden * (uint64_t)(k + 1)) + golden * (uint64_t)(place + 1));
}

/* Number i of the right-hand side, uniform in (-1, 1). */
SHOAL_HD static inline double many_uniform(const many_family *f, int64_t k, int i) {
    return ((double)(many_hash(f, k, f->n + i) >> 11) + 0.5) * 0x1p-52 - 1;
}

typedef struct many_turn { /* P and D: row i is row place[i] of the generator, by sign[i] */
    uint64_t key[MANY_MAX];
    int place[MANY_MAX];
    double sign[MANY_MAX];
} many_turn;

/* First phase. */
SHOAL_HD static inline void many_draw(const many_family *f, int64_t k, many_turn *t, int lane,
                                      int lanes) {
    for (int i = lane; i < f->n; i += lanes) t->key[i] = many_hash(f, k, i);
}

/* Second: rows in the order of their keys; the lowest bit hardly takes part in it and is the sign. */
SHOAL_HD static inline void many_order(const many_family *f, many_turn *t, int lane, int lanes) {
    for (int i = lane; i < f->n; i += lanes) {
        int rank = 0;
        for (int j = 0; j < f->n; j++)
            rank += t->key[j] < t->key[i] || (t->key[j] == t->key[i] && j < i);
        t->place[rank] = i;
        t->sign[rank] = (t->key[i] & 1) != 0 ? -1 : 1;
    }
}

SHOAL_HD static inline double many_entry(const many_family *f, int64_t k, const many_turn *t, int i,
                                         int j) {
    const int p = t->place[i], q = t->place[j], row = p > q ? p : q, column = p > q ? q : p;
    const int64_t system = k % MANY_BASE * f->n * f->n;
    return t->sign[i] * t->sign[j] * many_get(f->base, f->single, system + row * f->n + column);
}

/* Third: system k as number `at` of a batch. The triangle that no solver may read is NaN. */
SHOAL_HD static inline void many_write(const many_family *f, int64_t k, const many_turn *t,
                                       const many_batch *to, int64_t at, int lane, int lanes) {
    const int n = f->n;
    for (int e = lane; e < n * n; e += lanes) {
        const int i = e / n, j = e % n;
        many_put(to->a, f->single, at * n * n + e,
                 j <= i ? many_entry(f, k, t, i, j) : (double)NAN);
    }
    for (int i = lane; i < n; i += lanes) {
        double b = many_uniform(f, k, i) * f->scale[k % MANY_BASE];
        if (f->in_range) {
            b = 0;
            for (int j = 0; j < n; j++) b += many_entry(f, k, t, i, j) * many_uniform(f, k, j);
        }
        many_put(to->b, f->single, at * n + i, b);
    }
}

/* ---- the certificate -------------------------------------------------------------------------- */

/* Rows in which the copy of A lies, as doubles, both triangles; odd, so that a column of it does not
 * fall on one bank of shared memory. */
SHOAL_HD static inline int many_ld(int n) { return n | 1; }
SHOAL_HD static inline int many_copy_size(int n) { return n * many_ld(n) + n; } /* and x */

SHOAL_HD static inline void many_copy(const many_family *f, const many_batch *from, int64_t at,
                                      double *copy, int lane, int lanes) {
    const int n = f->n, ld = many_ld(n);
    for (int e = lane; e < n * n; e += lanes) {
        const int i = e / n, j = e % n;
        if (j > i) continue;
        const double a = many_get(from->a, f->single, at * n * n + e);
        copy[i * ld + j] = copy[j * ld + i] = a;
    }
    for (int i = lane; i < n; i += lanes)
        copy[n * ld + i] = many_get(from->x, f->single, at * n + i);
}

typedef struct many_sizes { /* maxima over rows: |b - A x|, sum of |A|, |x|, |b| */
    double residual, row, x, b;
} many_sizes;

/* NaN, which fmax would pass over, becomes the largest. */
SHOAL_HD static inline double many_max(double v, double w) {
    return isnan(w) ? (double)INFINITY : w > v ? w : v;
}

SHOAL_HD static inline many_sizes many_larger(many_sizes v, many_sizes w) {
    many_sizes m = { many_max(v.residual, w.residual), many_max(v.row, w.row), many_max(v.x, w.x),
                     many_max(v.b, w.b) };
    return m;
}

/* b - sum a(j) x(j). A product of two floats has no error in double. */
SHOAL_HD static inline double many_residual(int n, int single, const double *a, const double *x,
                                            double b) {
    double high = b, low = 0;
    for (int j = 0; j < n; j++) {
        const double product = a[j] * x[j], error = single ? 0 : fma(a[j], x[j], -product);
        const double sum = high - product, back = sum - high;
        low += (high - (sum - back)) - (product + back) - error;
        high = sum;
    }
    return high + low;
}

/* This lane's rows of a system. */
SHOAL_HD static inline many_sizes many_rows(const many_family *f, const many_batch *from,
                                            int64_t at, const double *copy, int lane, int lanes) {
    const int n = f->n, ld = many_ld(n);
    const double *x = copy + n * ld;
    many_sizes most = { 0, 0, 0, 0 };
    for (int i = lane; i < n; i += lanes) {
        const double b = many_get(from->b, f->single, at * n + i);
        const double *row = copy + i * ld;
        many_sizes mine = { fabs(many_residual(n, f->single, row, x, b)), 0, fabs(x[i]), fabs(b) };
        for (int j = 0; j < n; j++) mine.row += fabs(row[j]);
        most = many_larger(most, mine);
    }
    return most;
}

/* In units of n eps; infinite if the answer is. */
SHOAL_HD static inline float many_units(const many_family *f, many_sizes s) {
    const double eps = f->single ? FLT_EPSILON : DBL_EPSILON;
    if (!(s.x <= DBL_MAX)) return (float)INFINITY;
    if (s.residual == 0) return 0;
    return (float)many_max(0, s.residual / (s.row * s.x + s.b) / (f->n * eps));
}

/* ---- the verdict ------------------------------------------------------------------------------ */

/* What is summed up over systems: counts first, then maxima. TALLY_BREACH and TALLY_UNEQUAL name the
 * first system there is, as ~k, TALLY_WORST the worst: its error's bits, then the lower half of ~k. */
enum {
    TALLY_OK,
    TALLY_ILL,
    TALLY_TRUNCATED,
    TALLY_OTHER, /* other warnings */
    TALLY_FAILED,
    TALLY_BREACHES, /* a status that the rules do not allow        */
    TALLY_WRONG,    /* called ok, and the error is above 10 n eps  */
    TALLY_COMPARED, /* inertias that could be, and differed        */
    TALLY_DIFFERENT,
    TALLY_SUMS,
    TALLY_BREACH = TALLY_SUMS,
    TALLY_UNEQUAL,
    TALLY_WORST,
    TALLY
};

typedef struct many_verdict {
    int kind;             /* TALLY_OK .. TALLY_FAILED, or -1: nothing but inertia was looked at */
    int breach, compared; /* compared: 1 equal, 2 not                                           */
    float units;          /* of what is called ok                                               */
} many_verdict;

SHOAL_HD static inline int many_allowed(int rule, int32_t status) {
    switch (rule) {
    case RULE_OK: return status == 0;
    case RULE_TRUNCATED: return status == 0 || status == 2;
    case RULE_ANSWERED: return status >= 0;
    case RULE_NONFINITE: return status == -1;
    default: return 1;
    }
}

SHOAL_HD static inline many_verdict many_judge(const many_family *f, int64_t k, const int *rules,
                                               int32_t status, many_sizes sizes) {
    many_verdict v = { TALLY_FAILED, 0, 0, 0 };
    if (status >= 0) v.kind = status <= 2 ? TALLY_OK + status : TALLY_OTHER;
    v.breach = !many_allowed(rules[f->fault[k % MANY_BASE]], status);
    if (v.kind == TALLY_OK) v.units = many_units(f, sizes);
    return v;
}

/* The inertia of a factorisation, L D Lt = A + E, against the signs of the eigenvalues. |E| is some
 * n eps |A|: where an eigenvalue is not larger than that, its sign is not known. */
SHOAL_HD static inline many_verdict many_compare(const many_family *f, int64_t at,
                                                 const many_outcome *factored,
                                                 const many_outcome *eigen) {
    const double eps = f->single ? FLT_EPSILON : DBL_EPSILON;
    const int32_t *p = factored->inertia + 3 * at, *q = eigen->inertia + 3 * at;
    many_verdict v = { -1, 0, 0, 0 };
    if (factored->status[at] < 0 || eigen->status[at] != 0) return v;
    if (!(eigen->rcond[at] >= 100 * f->n * eps)) return v;
    v.compared = p[0] == q[0] && p[1] == q[1] && p[2] == q[2] ? 1 : 2;
    return v;
}

/* What system k adds to an entry of the tally; 0 is nothing for sums and maxima. */
SHOAL_HD static inline unsigned long long many_item(const many_verdict *v, int64_t k, int item) {
    const unsigned long long last = ~(unsigned long long)k;
    uint32_t bits = 0;
    switch (item) {
    case TALLY_BREACHES: return v->breach != 0;
    case TALLY_WRONG: return v->kind == TALLY_OK && !(v->units <= 10);
    case TALLY_COMPARED: return v->compared != 0;
    case TALLY_DIFFERENT: return v->compared == 2;
    case TALLY_BREACH: return v->breach ? last : 0;
    case TALLY_UNEQUAL: return v->compared == 2 ? last : 0;
    case TALLY_WORST:
        memcpy(&bits, &v->units, sizeof bits);
        return v->kind == TALLY_OK ? (unsigned long long)bits << 32 | (last & 0xffffffffu) : 0;
    default: return v->kind == item;
    }
}

/* ---- backends --------------------------------------------------------------------------------- */

/* tally has TALLY entries in the context's memory, rules MANY_FAULTS on the host. 0: it went well. */
typedef struct many_backend {
    int (*make)(const many_family *f, const many_batch *to);
    int (*check)(const many_family *f, const many_batch *done, const many_outcome *outcome,
                 const int *rules, unsigned long long *tally);
    int (*compare)(const many_family *f, const many_batch *done, const many_outcome *factored,
                   const many_outcome *eigen, unsigned long long *tally);
} many_backend;

#ifdef __cplusplus
extern "C" {
#endif
extern const many_backend many_cuda;
#ifdef __cplusplus
}
#endif

#endif
