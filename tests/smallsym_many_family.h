/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_many_family.h - what test_smallsym_many.c works with: the rules of what may be said of a
 * system, the CPU's way to make and judge systems, and families of them in a context's memory.
 */
#ifndef SHOAL_SMALLSYM_MANY_FAMILY_H
#define SHOAL_SMALLSYM_MANY_FAMILY_H

#include "smallsym_batch.h"
#include "smallsym_many.h"

static shoal_context *ctx;

/* ---- what may be said of a system ------------------------------------------------------------- */

/* A row for each kind; regression is definite with a condition number of 1e6. 0: nothing is asked here, the kind is
 * judged by test_promises_smallsym.c. */
static inline int needs_of(const char *kind) {
    const struct {
        const char *name;
        int needs;
    } list[] = { { "spd", DEFINITE },      { "indefinite", INDEFINITE },
                 { "wishart", DEFINITE },  { "regression", DEFINITE },
                 { "centred", DEFINITE },  { "kkt", INDEFINITE },
                 { "hilbert", DEFICIENT }, { "clustered", DEFINITE },
                 { "spectrum", DEFINITE }, { "deficient", DEFICIENT },
                 { "singular", DEFINITE }, { "nonfinite", DEFINITE },
                 { "huge", DEFINITE },     { "tiny", DEFINITE },
                 { "underdetermined", 0 }, { "laplacian", 0 },
                 { "integer", 0 },         { "graded", 0 },
                 { "dominant", 0 } };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(kind, list[i].name) == 0) return list[i].needs;
    CHECK_MSG(0, "kind %s has no row in tests/test_smallsym_many.c", kind);
    return DEFICIENT;
}

/* A method has to solve what is in its trait; those that truncate may do so where a spectrum is not
 * bounded away from 0, and auto may refine there instead, with a warning. In float all warn of regression. */
static inline int rule_of(const char *kind, const char *method, int fault) {
    const call c = { method, NULL, trait_of(method) };
    const int needs = fault == MANY_SINGULAR ? DEFICIENT : needs_of(kind);
    if (fault == MANY_NONFINITE) return RULE_NONFINITE;
    if (!(c.trait & needs)) return RULE_ANY;
    if (needs == DEFICIENT && strcmp(method, "auto") == 0) return RULE_ANSWERED;
    if (needs != DEFINITE) return c.trait & DEFICIENT ? RULE_TRUNCATED : RULE_OK;
    return strcmp(kind, "regression") == 0 ? RULE_ANSWERED : RULE_OK;
}

/* ---- the CPU ---------------------------------------------------------------------------------- */

static inline int make_here(const many_family *f, const many_batch *to) {
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < to->count; at++) {
        many_turn turn;
        many_draw(f, to->first + at, &turn, 0, 1);
        many_order(f, &turn, 0, 1);
        many_write(f, to->first + at, &turn, to, at, 0, 1);
    }
    return 0;
}

static inline void merge(unsigned long long *tally, const unsigned long long *more) {
    for (int i = 0; i < TALLY; i++)
        if (i < TALLY_SUMS)
            tally[i] += more[i];
        else if (more[i] > tally[i])
            tally[i] = more[i];
}

static inline void add_items(const many_verdict *v, int64_t k, unsigned long long *tally) {
    unsigned long long items[TALLY];
    for (int i = 0; i < TALLY; i++) items[i] = many_item(v, k, i);
    merge(tally, items);
}

static inline int check_here(const many_family *f, const many_batch *done,
                             const many_outcome *outcome, const int *rules,
                             unsigned long long *tally) {
#pragma omp parallel
    {
        double copy[MANY_MAX * (MANY_MAX + 2)];
        unsigned long long mine[TALLY] = { 0 };
#pragma omp for schedule(static)
        for (int64_t at = 0; at < done->count; at++) {
            many_copy(f, done, at, copy, 0, 1);
            const many_sizes sizes = many_rows(f, done, at, copy, 0, 1);
            const many_verdict v =
                many_judge(f, done->first + at, rules, outcome->status[at], sizes);
            add_items(&v, done->first + at, mine);
        }
#pragma omp critical
        merge(tally, mine);
    }
    return 0;
}

static inline int compare_here(const many_family *f, const many_batch *done,
                               const many_outcome *factored, const many_outcome *eigen,
                               unsigned long long *tally) {
    for (int64_t at = 0; at < done->count; at++) {
        const many_verdict v = many_compare(f, at, factored, eigen);
        add_items(&v, done->first + at, tally);
    }
    return 0;
}

static const many_backend many_cpu = { make_here, check_here, compare_here };

/* ---- families --------------------------------------------------------------------------------- */

static inline int fine(shoal_status status, const char *what) {
    CHECK_MSG(status == SHOAL_OK, "%s: %s", what, shoal_message(ctx));
    return status == SHOAL_OK;
}

static inline void *memory_for(int64_t count, size_t size) {
    void *memory = NULL;
    if (!fine(shoal_alloc(ctx, (size_t)count * size, &memory), "memory")) exit(1);
    return memory;
}

/* Faults are found by looking: a number that is not finite, a row of zeros. */
static inline int fault_of(const double *a, const double *b, int64_t n) {
    int fault = MANY_SOUND;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(j <= i ? a[i * n + j] : a[j * n + i]);
        if (!isfinite(sum) || !isfinite(b[i])) return MANY_NONFINITE;
        if (sum == 0) fault = MANY_SINGULAR;
    }
    return fault;
}

/* The generator's systems, in the context's memory. */
static inline many_family new_family(const char *kind, const batch *p, shoal_type type,
                                     uint64_t seed) {
    const int64_t n = p->n, numbers = p->count * n * n;
    double *scale = new_array((size_t)p->count, sizeof(double));
    unsigned char *fault = new_array((size_t)p->count, 1);
    char *typed = new_array((size_t)numbers, size_of(type));
    for (int64_t i = 0; i < numbers; i++) set(typed, type, i, p->a[i]);
    for (int64_t k = 0; k < p->count; k++) {
        fault[k] = (unsigned char)fault_of(p->a + k * n * n, p->b + k * n, n);
        for (int64_t i = 0; i < n; i++) scale[k] = many_max(scale[k], fabs(p->b[k * n + i]));
    }
    const size_t bytes[] = { (size_t)numbers * size_of(type), (size_t)p->count * sizeof(double),
                             (size_t)p->count };
    const void *const here[] = { typed, scale, fault };
    void *there[3];
    for (int i = 0; i < 3; i++) {
        there[i] = memory_for((int64_t)bytes[i], 1);
        fine(shoal_copy(ctx, there[i], here[i], bytes[i]), "base");
    }
    free(scale), free(fault), free(typed);
    return (many_family){ .base = there[0],
                          .scale = there[1],
                          .fault = there[2],
                          .seed = seed,
                          .n = (int)n,
                          .single = type == SHOAL_F32,
                          .in_range = strcmp(kind, "deficient") == 0 };
}

static inline void free_family(const many_family *f) {
    shoal_free(ctx, (void *)f->base), shoal_free(ctx, (void *)f->scale);
    shoal_free(ctx, (void *)f->fault);
}

static inline many_outcome new_outcome(int64_t count) {
    return (many_outcome){ memory_for(count, sizeof(int32_t)),
                           memory_for(3 * count, sizeof(int32_t)), memory_for(count, sizeof(float)),
                           memory_for(count, sizeof(float)) };
}

static inline void free_outcome(const many_outcome *o) {
    shoal_free(ctx, o->status), shoal_free(ctx, o->inertia);
    shoal_free(ctx, o->residual), shoal_free(ctx, o->rcond);
}

static inline int solve_batch(const many_family *f, const many_batch *p, const char *method,
                              const many_outcome *o) {
    const shoal_type type = f->single ? SHOAL_F32 : SHOAL_F64;
    const shoal_smallsym_opts opts = {
        .n = f->n, .count = p->count, .nrhs = 1, .type = type, .method = method
    };
    const shoal_outcome where = {
        .status = o->status, .inertia = o->inertia, .residual = o->residual, .rcond = o->rcond
    };
    shoal_smallsym *plan = NULL;
    const int done = fine(shoal_smallsym_create(ctx, &opts, &plan), method) &&
                     fine(shoal_smallsym_outcome(plan, &where), method) &&
                     fine(solve_typed(plan, type, p->a, p->b, p->x), method) &&
                     fine(shoal_wait(ctx), method);
    shoal_smallsym_free(plan);
    return done;
}

#endif
