/* SPDX-License-Identifier: Apache-2.0
 *
 * promises.h - what the tests of docs/promises.md share: random draws, arithmetic in at least twice the precision
 * of double, the dense oracle, and the table of counts.
 *
 * A draw is a batch of systems of one kind, size, type, scale and layout. Every method of the module solves it, and
 * a judge that shares no code with the library compares each status with the truth:
 *
 *   false ok     status 0, but the answer or the condition breaks the promise
 *   false fail   a warning or a failure that the promise excludes
 *   near         the condition is within a factor of NEAR of the limit, where either verdict is right
 */
#ifndef SHOAL_PROMISES_H
#define SHOAL_PROMISES_H

#include "targets.h"
#include <float.h>
#include <math.h>

#if LDBL_MANT_DIG >= 113
typedef long double wide;
#else
__extension__ typedef __float128 wide;
#endif

/* Before a loop over systems: by all threads. */
#ifdef _OPENMP
#define IN_PARALLEL _Pragma("omp parallel for schedule(dynamic)")
#else
#define IN_PARALLEL
#endif

enum { NEAR = 30, PROMISE_ROWS = 64, PROMISE_NAME = 48, SHOWN = 8 };

static inline wide wide_abs(wide v) { return v < 0 ? -v : v + 0; } /* -0 + 0 is 0 */
static inline wide wide_max(wide v, wide w) { return v > w ? v : w; }

/* 2^e, beyond the range of double as well. */
static inline wide wide_power(int e) {
    wide v = 1;
    for (; e > 1000; e -= 1000) v *= (wide)0x1p1000;
    for (; e < -1000; e += 1000) v *= (wide)0x1p-1000;
    return v * (wide)ldexp(1, e);
}

/* The exponent of v in [2^e, 2^(e+1)); v > 0. */
static inline int wide_exponent(wide v) {
    int e = 0;
    for (; v >= (wide)0x1p500; e += 500) v *= (wide)0x1p-500;
    for (; v < (wide)0x1p-500; e -= 500) v *= (wide)0x1p500;
    return e + ilogb((double)v);
}

/* ---- draws ------------------------------------------------------------------------------------ */

typedef struct stream {
    uint64_t state;
} stream;

static inline uint64_t draw_bits(stream *s) {
    uint64_t z = s->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of low .. high. */
static inline int64_t draw(stream *s, int64_t low, int64_t high) {
    return low + (int64_t)(draw_bits(s) % (uint64_t)(high - low + 1));
}

static inline int draw_chance(stream *s, int percent) { return draw(s, 0, 99) < percent; }

/* ---- the dense oracle -------------------------------------------------------------------------- */

/* A^-1, n x n, by Gauss and Jordan with complete pivoting; 0 if A is singular to the precision of wide. A is lost. */
static inline int wide_inverse(int n, wide *a, wide *inverse) {
    int *row = new_array((size_t)n, sizeof *row), *column = new_array((size_t)n, sizeof *column);
    wide first = 0;
    int regular = 1;
    memset(row, -1, (size_t)n * sizeof *row);
    memset(column, -1, (size_t)n * sizeof *column);
    for (int i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
    for (int step = 0; step < n && regular; step++) {
        int p = -1, q = -1;
        wide largest = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && row[i] < 0; j++)
                if (column[j] < 0 && wide_abs(a[i * n + j]) > largest)
                    largest = wide_abs(a[i * n + j]), p = i, q = j;
        if (step == 0) first = largest;
        regular = largest > first * (wide)0x1p-100;
        if (!regular) break;
        row[p] = q, column[q] = p;
        const wide pivot = 1 / a[p * n + q];
        for (int j = 0; j < n; j++) a[p * n + j] *= pivot, inverse[p * n + j] *= pivot;
        for (int i = 0; i < n; i++) {
            const wide factor = a[i * n + q];
            if (i == p || factor == 0) continue;
            for (int j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[p * n + j];
                inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
    if (regular) { /* row i of the result belongs to unknown row[i] */
        for (int i = 0; i < n; i++) memcpy(a + row[i] * n, inverse + i * n, (size_t)n * sizeof *a);
        memcpy(inverse, a, (size_t)(n * n) * sizeof *a);
    }
    free(row), free(column);
    return regular;
}

/* The largest sum of sizes of a row. */
static inline wide wide_norm(int n, const wide *a) {
    wide largest = 0;
    for (int i = 0; i < n; i++) {
        wide sum = 0;
        for (int j = 0; j < n; j++) sum += wide_abs(a[i * n + j]);
        largest = wide_max(largest, sum);
    }
    return largest;
}

/* ---- counts ------------------------------------------------------------------------------------ */

enum { TOLD_OK, TOLD_WARNED, TOLD_FAILED, FALSE_OK, FALSE_FAIL, NEAR_LIMIT, COUNTS };

typedef struct promise_row {
    char name[PROMISE_NAME];
    int64_t counts[COUNTS];
} promise_row;

static promise_row promise_rows[PROMISE_ROWS];
static int64_t promise_systems, promise_wanted;
static uint64_t promise_seed = 1;

/* Takes --systems=N and --seed=N out of the arguments. */
static inline void take_promise_options(int *argc, char **argv) {
    int left = 1;
    for (int i = 1; i < *argc; i++)
        if (strncmp(argv[i], "--systems=", 10) == 0)
            promise_wanted = (int64_t)atof(argv[i] + 10);
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            promise_seed = strtoull(argv[i] + 7, NULL, 0);
        else
            argv[left++] = argv[i];
    *argc = left;
}

static inline promise_row *promise_of(const char *name) {
    int i = 0;
    while (promise_rows[i].name[0] && strcmp(promise_rows[i].name, name) != 0) i++;
    snprintf(promise_rows[i].name, PROMISE_NAME, "%s", name);
    return &promise_rows[i];
}

/* Counts a verdict: fault is FALSE_OK, FALSE_FAIL, NEAR_LIMIT or -1; the first faults are shown with `what`. */
static inline void promise_count(const char *name, int32_t status, int fault, const char *what) {
    promise_row *row = promise_of(name);
    row->counts[status == 0 ? TOLD_OK : status > 0 ? TOLD_WARNED : TOLD_FAILED]++;
    if (fault < 0) return;
    if (row->counts[fault]++ < SHOWN && fault != NEAR_LIMIT)
        printf("%s  %s: status %d, %s\n", fault == FALSE_OK ? "FALSE OK" : "FALSE FAIL", name,
               status, what);
}

/* As a table of docs/promises.md; every count of a false verdict must be 0. */
static inline void print_promises(const char *module) {
    printf("\n%lld systems, seed %llu\n\n", (long long)promise_systems,
           (unsigned long long)promise_seed);
    printf("| %s | ok | warned | failed | near the limit | false ok | false fail |\n", module);
    printf("|---|---:|---:|---:|---:|---:|---:|\n");
    for (const promise_row *r = promise_rows; r->name[0]; r++) {
        const int64_t *c = r->counts;
        printf("| `%s` | %lld | %lld | %lld | %lld | %lld | %lld |\n", r->name,
               (long long)c[TOLD_OK], (long long)c[TOLD_WARNED], (long long)c[TOLD_FAILED],
               (long long)c[NEAR_LIMIT], (long long)c[FALSE_OK], (long long)c[FALSE_FAIL]);
        CHECK_MSG(c[FALSE_OK] == 0 && c[FALSE_FAIL] == 0, "%s: false verdicts", r->name);
    }
    putchar('\n');
}

/* Draws until enough systems of a module are judged: --systems of them, or `full`, or `few` if tests are small. */
static inline void draw_promises(const char *module, const char *(*kind)(int), int64_t few,
                                 int64_t full, void (*one_draw)(stream *s, int kinds)) {
    stream s = { promise_seed };
    const int64_t wanted = promise_wanted ? promise_wanted : small ? few : full;
    int kinds = 0;
    while (kind(kinds)) kinds++;
    while (promise_systems < wanted) one_draw(&s, kinds);
    print_promises(module);
}

#endif
