/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test systems, made from (kind, seed, system, row, column) by Philox: the same
 * numbers for any batch, layout, thread count or machine.
 *
 * "spd": off the diagonal uniform in (-1, 1), A(i,i) = n + uniform in (0, 1): strictly dominant with
 * a positive diagonal, hence positive definite. b is uniform in (-1, 1). All is made in double;
 * float is double, rounded. One draw an entry, n (n + 1) / 2 + n nrhs of them a system; threads
 * share the systems.
 */
#include "rng/philox.h"
#include "smallsym/plan.h"
#include <math.h>
#include <string.h>

enum { PURPOSE_ENTRY = 0xe0, PURPOSE_RHS = 0xe1 }; /* beside those of src/tridiag/generate.c */

static const struct {
    const char *name, *text;
} kinds[] = { { "spd", "positive definite: uniform entries, a dominant diagonal" } };

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *shoal_smallsym_kind(int i) { return i >= 0 && i < KINDS ? kinds[i].name : NULL; }
const char *shoal_smallsym_kind_text(int i) { return i >= 0 && i < KINDS ? kinds[i].text : NULL; }

typedef struct arrays {
    void *A, *b;
    shoal_type type;
} arrays;

static void put(void *array, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* uniform in (0, 1); (i, j) is the address of an entry, or of a right-hand side */
static double draw(uint64_t seed, uint64_t system, uint32_t purpose, int64_t i, int64_t j) {
    const shoal_words w = shoal_philox_at(seed, system ^ (uint64_t)j << 40, (uint32_t)i, purpose, 0, 0);
    return shoal_uniform(&w, 0);
}

static void make_system(const shoal_smallsym_opts *o, const smallsym_shape *shape, uint64_t seed,
                        uint64_t system, int64_t k, const arrays *to) {
    const int64_t n = o->n;
    const int64_t b_row = o->layout == SHOAL_INTERLEAVED ? o->count : 1;
    const int64_t b_system = o->layout == SHOAL_INTERLEAVED ? 1 : n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            const double u = draw(seed, system, PURPOSE_ENTRY, i, j);
            const int64_t at = k * shape->system;
            if (!shape->packed && i != j) /* the other triangle, which a solver must not read */
                put(to->A, to->type, at + j * shape->row + i * shape->column, NAN);
            put(to->A, to->type, at + smallsym_at(shape, i, j), i == j ? (double)n + u : 2 * u - 1);
        }
        for (int64_t c = 0; c < o->nrhs; c++)
            put(to->b, to->type, (k * b_system + i * b_row) * o->nrhs + c,
                2 * draw(seed, system, PURPOSE_RHS, i, c) - 1);
    }
}

static shoal_status generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t first,
                             const shoal_smallsym_opts *shape, const arrays *to) {
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    if (!kind) return shoal_fail(ctx, SHOAL_E_ARG, "kind is NULL");
    if (strcmp(kind, kinds[0].name) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind: smallsym has no kind '%s' (%s)", kind,
                          kinds[0].name);
    status = shoal_smallsym_check_sizes(ctx, shape);
    if (status != SHOAL_OK) return status;
    if (shape->groups)
        return shoal_fail(ctx, SHOAL_E_ARG, "groups: systems are generated for one size a call");
    if (first < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "first is %lld; it must not be negative",
                          (long long)first);
    if (shape->n == 0 || shape->count == 0) return SHOAL_OK;
    if (!to->A) return shoal_fail(ctx, SHOAL_E_ARG, "A is NULL");
    if (!to->b) return shoal_fail(ctx, SHOAL_E_ARG, "b is NULL");
    const smallsym_shape where = shoal_smallsym_shape(shape, shape->n, shape->count);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < shape->count; k++)
        make_system(shape, &where, seed, (uint64_t)first + (uint64_t)k, k, to);
    return SHOAL_OK;
}

shoal_status shoal_smallsym_generate(shoal_context *ctx, const char *kind, double parameter,
                                     uint64_t seed, int64_t first, const shoal_smallsym_opts *shape,
                                     double *A, double *b) {
    (void)parameter; /* "spd" has none */
    return generate(ctx, kind, seed, first, shape, &(arrays){ A, b, SHOAL_F64 });
}

shoal_status shoal_smallsym_generatef(shoal_context *ctx, const char *kind, double parameter,
                                      uint64_t seed, int64_t first,
                                      const shoal_smallsym_opts *shape, float *A, float *b) {
    (void)parameter;
    return generate(ctx, kind, seed, first, shape, &(arrays){ A, b, SHOAL_F32 });
}
