/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - one factorization: the plan, the matrix in the context's memory, what was found and made.
 *
 * On the CPU the host's arrays are the context's, and nothing is copied.
 */
#include "run.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static shoal_symindef_opts options_of(const factor_arguments *a, const factor_matrix *m,
                                      int64_t eliminate, bool growth) {
    shoal_symindef_opts opts = a->opts;
    opts.n = m->n, opts.type = m->type, opts.eliminate = eliminate, opts.growth = growth;
    opts.storage = m->form.packed ? SHOAL_PACKED : SHOAL_FULL;
    opts.triangle = m->form.upper ? SHOAL_UPPER : SHOAL_LOWER;
    return opts;
}

typedef struct factoring {
    shoal_symindef *plan;
    shoal_type type;
    void *array;
    factor_found *found;
} factoring;

static shoal_status factor(void *of) {
    const factoring *f = of;
    const double begin = cli_now();
    shoal_status s = f->type == SHOAL_F32 ? shoal_symindef_factorf(f->plan, f->array)
                                          : shoal_symindef_factor(f->plan, f->array);
    if (s == SHOAL_OK) s = shoal_symindef_last(f->plan, &f->found->info);
    f->found->seconds = cli_now() - begin;
    return s;
}

/* x takes the place of b. */
static shoal_status solve(shoal_symindef *plan, shoal_type type, void *array, int64_t nrhs,
                          void *x) {
    return type == SHOAL_F32 ? shoal_symindef_solvef(plan, array, nrhs, x, x)
                             : shoal_symindef_solve(plan, array, nrhs, x, x);
}

static shoal_status rcond_of(shoal_symindef *plan, shoal_type type, void *array, double *rcond) {
    return type == SHOAL_F32 ? shoal_symindef_rcondf(plan, array, rcond)
                             : shoal_symindef_rcond(plan, array, rcond);
}

/* A host array in the context's memory: itself on the CPU, else a copy that the caller frees. */
static shoal_status bring(cli *c, const void *array, size_t bytes, void **to) {
    shoal_status s = shoal_alloc(c->ctx, bytes ? bytes : 1, to);
    return s == SHOAL_OK ? shoal_copy(c->ctx, *to, array, bytes) : s;
}

/* NaN if one of them is. */
static double largest(const double *numbers, int64_t count) {
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        if (!(numbers[k] <= most)) most = numbers[k];
    return most;
}

static shoal_status refine(cli *c, const factor_matrix *m, shoal_symindef *plan, const void *array,
                           const factor_sides *sides, void *x, factor_found *found) {
    const bool here = strcmp(c->machine.backend, "cpu") == 0;
    const size_t b_bytes = (size_t)(m->n * sides->nrhs) * io_type_size(m->file.a.type);
    double *errors = malloc((2 * (size_t)sides->nrhs + 1) * sizeof *errors);
    void *given = here ? (void *)(uintptr_t)sides->given : NULL;
    void *b = here ? (void *)(uintptr_t)sides->b : NULL;
    shoal_status s = errors ? SHOAL_OK : SHOAL_E_NOMEM;
    if (s == SHOAL_OK && !here) s = bring(c, sides->given, m->bytes, &given);
    if (s == SHOAL_OK && !here) s = bring(c, sides->b, b_bytes, &b);
    if (s == SHOAL_OK)
        s = m->type == SHOAL_F32 ? shoal_symindef_refinef(plan, given, array, sides->nrhs, b, x,
                                                          errors, errors + sides->nrhs)
                                 : shoal_symindef_refine(plan, given, array, sides->nrhs, b, x,
                                                         errors, errors + sides->nrhs);
    if (s == SHOAL_OK) found->backward = largest(errors, sides->nrhs);
    if (s == SHOAL_OK) found->forward = largest(errors + sides->nrhs, sides->nrhs);
    if (!here) {
        shoal_free(c->ctx, given);
        shoal_free(c->ctx, b);
    }
    free(errors);
    return s;
}

static shoal_status invert(cli *c, const factor_matrix *m, shoal_symindef *plan, const void *array,
                           void *inverse) {
    const bool here = strcmp(c->machine.backend, "cpu") == 0;
    const size_t bytes = (size_t)(m->n * m->n) * io_type_size(m->file.a.type);
    void *to = here ? inverse : NULL;
    shoal_status s = here ? SHOAL_OK : shoal_alloc(c->ctx, bytes ? bytes : 1, &to);
    if (s == SHOAL_OK)
        s = m->type == SHOAL_F32 ? shoal_symindef_inversef(plan, array, to)
                                 : shoal_symindef_inverse(plan, array, to);
    if (s == SHOAL_OK) s = shoal_wait(c->ctx);
    if (s == SHOAL_OK && !here) s = shoal_copy(c->ctx, inverse, to, bytes);
    if (!here) shoal_free(c->ctx, to);
    return s;
}

int factor_run(cli *c, const factor_arguments *a, const factor_matrix *m, int64_t eliminate,
               const factor_sides *sides, void *inverse, factor_forms *forms, factor_found *found) {
    const factor_result *r = &found->result;
    const shoal_symindef_opts opts = options_of(a, m, eliminate, r->growth != NULL);
    const bool here = strcmp(c->machine.backend, "cpu") == 0;
    const size_t item = io_type_size(m->file.a.type);
    const size_t b_bytes = sides ? (size_t)(m->n * sides->nrhs) * item : 0;
    void *array = r->factors, *x = sides ? sides->x : NULL;
    shoal_symindef *plan = NULL;
    shoal_status s = shoal_symindef_create(c->ctx, &opts, &plan);
    if (!here) array = x = NULL;
    if (s == SHOAL_OK && !here) s = shoal_alloc(c->ctx, m->bytes, &array);
    if (s == SHOAL_OK && !here) s = shoal_copy(c->ctx, array, r->factors, m->bytes);
    if (s == SHOAL_OK && !here && sides) s = shoal_alloc(c->ctx, b_bytes, &x);
    if (s == SHOAL_OK && sides) s = shoal_copy(c->ctx, x, sides->b, b_bytes);
    factoring f = { plan, m->type, array, found };
    if (s == SHOAL_OK) s = cli_call(c, factor, &f);
    if (s == SHOAL_OK) s = shoal_symindef_order(plan, r->interchanges, r->permutation, r->growth);
    found->rcond = found->backward = found->forward = (double)NAN;
    if (s == SHOAL_OK && eliminate == 0 && found->info.status >= 0)
        s = rcond_of(plan, m->type, array, &found->rcond);
    int code = cli_status(c, s);
    if (code == CLI_OK && forms && found->info.status >= 0)
        code = factor_make_forms(c, a, m, plan, array, r, found->info.rank, forms);
    if (code == CLI_OK) {
        if (sides) s = solve(plan, m->type, array, sides->nrhs, x);
        if (s == SHOAL_OK && sides && sides->given && found->info.status >= 0 &&
            found->info.rank == m->n)
            s = refine(c, m, plan, array, sides, x, found);
        if (s == SHOAL_OK && inverse) s = invert(c, m, plan, array, inverse);
        if (s == SHOAL_OK) s = shoal_wait(c->ctx);
        if (s == SHOAL_OK && !here) s = shoal_copy(c->ctx, r->factors, array, m->bytes);
        if (s == SHOAL_OK && !here && sides) s = shoal_copy(c->ctx, sides->x, x, b_bytes);
        code = cli_status(c, s);
    }
    shoal_symindef_free(plan);
    if (!here) {
        shoal_free(c->ctx, array);
        shoal_free(c->ctx, x);
    }
    return code == CLI_OK && cli_interrupted() ? CLI_INTERRUPTED : code;
}
