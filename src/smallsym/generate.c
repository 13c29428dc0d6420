/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test systems of many kinds (generate_kinds.c), made from (kind, seed, system, place)
 * by Philox: the same numbers for any batch, layout, thread count or machine.
 *
 * All is made in double, a system a thread at a time, in n^2 numbers of scratch beside A; float is
 * double, rounded. One triangle of a full A holds the matrix, the other NaN, which a solver has to
 * ignore; numbers between the rows (ld > n) and between systems are left as they are.
 */
#include "smallsym/generate_kinds.h"
#include "smallsym/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *shoal_smallsym_kind(int i) {
    for (int k = 0; k <= i && shoal_smallsym_kinds[k].name; k++)
        if (k == i) return shoal_smallsym_kinds[k].name;
    return NULL;
}

const char *shoal_smallsym_kind_text(int i) {
    return shoal_smallsym_kind(i) ? shoal_smallsym_kinds[i].text : NULL;
}

typedef struct arrays {
    char *A, *b;
    shoal_type type;
} arrays;

/* One group of systems of equal size. */
typedef struct group {
    int64_t n, count;
    uint64_t first; /* number of its first system in the family */
    smallsym_shape shape;
    int64_t b_system, b_row;
    arrays to; /* where it begins */
} group;

static void put(void *array, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static void make_system(smallsym_member *m, const group *g, int64_t k) {
    const int64_t n = m->n, nrhs = m->nrhs, from = k * g->shape.system;
    m->system = g->first + (uint64_t)k;
    m->draw = smallsym_words(m, SMALLSYM_SYSTEMS, 0, 0);
    for (int64_t i = 0; i < n * n; i++) m->a[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < nrhs; c++) {
            const shoal_words w = smallsym_words(m, SMALLSYM_SYSTEMS, i + 1, c / 2);
            m->b[i * nrhs + c] = smallsym_symmetric(&w, c % 2);
        }
    shoal_smallsym_kinds[m->kind].fill(m);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            put(g->to.A, g->to.type, from + smallsym_at(&g->shape, i, j), m->a[i * n + j]);
            if (j < i && !g->shape.packed) /* the other triangle */
                put(g->to.A, g->to.type, from + j * g->shape.row + i * g->shape.column, NAN);
        }
        for (int64_t c = 0; c < nrhs; c++)
            put(g->to.b, g->to.type, (k * g->b_system + i * g->b_row) * nrhs + c,
                m->b[i * nrhs + c]);
    }
}

static shoal_status make_group(shoal_context *ctx, const smallsym_member *family, const group *g) {
    const int64_t numbers = g->n * (g->n + family->nrhs) + smallsym_work(g->n);
    int complete = 1;
#pragma omp parallel num_threads(ctx->threads) reduction(&& : complete)
    {
        smallsym_member m = *family;
        m.n = g->n;
        m.a = malloc((size_t)numbers * sizeof(double));
        complete = m.a != NULL;
        m.b = complete ? m.a + m.n * m.n : NULL;
        m.work = complete ? m.b + m.n * m.nrhs : NULL;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < g->count; k++)
            if (complete) make_system(&m, g, k);
        free(m.a);
    }
    if (complete) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to make systems of n = %lld", (long long)g->n);
}

/* ---- arguments -------------------------------------------------------------------------------- */

static shoal_status check_parameter(shoal_context *ctx, const smallsym_kind *kind,
                                    double *parameter) {
    if (isnan(*parameter)) {
        *parameter = kind->usual;
        return SHOAL_OK;
    }
    if (!kind->parameter)
        return shoal_fail(ctx, SHOAL_E_ARG, "parameter is %g; kind '%s' has none", *parameter,
                          kind->name);
    if (*parameter < kind->least || *parameter > kind->most ||
        (kind->whole && *parameter != floor(*parameter)))
        return shoal_fail(ctx, SHOAL_E_ARG, "parameter is %g; kind '%s' takes %s", *parameter,
                          kind->name, kind->parameter);
    return SHOAL_OK;
}

static shoal_status generate(shoal_context *ctx, const char *kind, double parameter, uint64_t seed,
                             int64_t first, const shoal_smallsym_opts *o, const arrays *to) {
    smallsym_member family = { .seed = seed };
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK)
        status = shoal_find_kind(ctx, "smallsym", shoal_smallsym_kind, kind, "", &family.kind);
    if (status == SHOAL_OK)
        status = check_parameter(ctx, &shoal_smallsym_kinds[family.kind], &parameter);
    if (status != SHOAL_OK) return status;
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "shape is NULL");
    status = shoal_smallsym_check_sizes(ctx, o);
    if (status != SHOAL_OK) return status;
    family.parameter = parameter;
    family.nrhs = o->nrhs;
    const shoal_group one = { o->n, o->count };
    const shoal_group *groups = o->groups ? o->groups : &one;
    const int64_t group_count = o->groups ? o->group_count : 1;
    int64_t systems = 0; /* shoal_smallsym_check_sizes() has seen that the sum does not overflow */
    for (int64_t i = 0; i < group_count; i++) systems += groups[i].count;
    status = shoal_check_first(ctx, first, systems);
    if (status != SHOAL_OK) return status;
    const size_t size = shoal_type_bytes(to->type);
    arrays here = *to;
    uint64_t system = (uint64_t)first;
    for (int64_t i = 0; i < group_count; i++) {
        const int64_t n = groups[i].n, count = groups[i].count;
        const int interleaved = o->layout == SHOAL_INTERLEAVED;
        const group g = { n,
                          count,
                          system,
                          shoal_smallsym_shape(o, n, count),
                          interleaved ? 1 : n,
                          interleaved ? count : 1,
                          here };
        system += (uint64_t)count;
        if (n == 0 || count == 0) continue;
        if (!to->A) return shoal_fail(ctx, SHOAL_E_ARG, "A is NULL");
        if (!to->b) return shoal_fail(ctx, SHOAL_E_ARG, "b is NULL");
        status = make_group(ctx, &family, &g);
        if (status != SHOAL_OK) return status;
        here.A += (size_t)(g.shape.packed ? n * (n + 1) / 2 : n * n) * (size_t)count * size;
        here.b += (size_t)(n * count * o->nrhs) * size;
    }
    return SHOAL_OK;
}

shoal_status shoal_smallsym_generate(shoal_context *ctx, const char *kind, double parameter,
                                     uint64_t seed, int64_t first, const shoal_smallsym_opts *shape,
                                     double *A, double *b) {
    return generate(ctx, kind, parameter, seed, first, shape,
                    &(arrays){ (char *)A, (char *)b, SHOAL_F64 });
}

shoal_status shoal_smallsym_generatef(shoal_context *ctx, const char *kind, double parameter,
                                      uint64_t seed, int64_t first,
                                      const shoal_smallsym_opts *shape, float *A, float *b) {
    return generate(ctx, kind, parameter, seed, first, shape,
                    &(arrays){ (char *)A, (char *)b, SHOAL_F32 });
}
