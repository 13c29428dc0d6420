/* SPDX-License-Identifier: Apache-2.0
 *
 * factor_run.c - one factorization: the plan, the matrix in the context's memory, what was found and made.
 *
 * On the CPU the host's arrays are the context's, and nothing is copied.
 */
#include "factor_run.h"

#include <math.h>
#include <string.h>

static shoal_symindef_opts options_of(const factor_arguments *a, const factor_matrix *m,
                                      int64_t eliminate, bool growth) {
    return (shoal_symindef_opts){ .n = m->n,
                                  .type = m->type,
                                  .storage = m->form.packed ? SHOAL_PACKED : SHOAL_FULL,
                                  .triangle = m->form.upper ? SHOAL_UPPER : SHOAL_LOWER,
                                  .method = a->pivot,
                                  .variant = a->variant,
                                  .alpha = a->alpha,
                                  .tol = a->tol,
                                  .eliminate = eliminate,
                                  .growth = growth };
}

static shoal_status factor(shoal_symindef *plan, shoal_type type, void *array) {
    return type == SHOAL_F32 ? shoal_symindef_factorf(plan, array)
                             : shoal_symindef_factor(plan, array);
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

int factor_run(cli *c, const factor_arguments *a, const factor_matrix *m, int64_t eliminate,
               const factor_sides *sides, factor_forms *forms, factor_found *found) {
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
    const double begin = cli_now();
    if (s == SHOAL_OK) s = factor(plan, m->type, array);
    if (s == SHOAL_OK) s = shoal_symindef_last(plan, &found->info);
    found->seconds = cli_now() - begin;
    if (s == SHOAL_OK) s = shoal_symindef_order(plan, r->interchanges, r->permutation, r->growth);
    found->rcond = (double)NAN;
    if (s == SHOAL_OK && eliminate == 0 && found->info.status >= 0)
        s = rcond_of(plan, m->type, array, &found->rcond);
    int code = cli_status(c, s);
    if (code == CLI_OK && forms && found->info.status >= 0)
        code = factor_make_forms(c, a, m, plan, array, r, found->info.rank, forms);
    if (code == CLI_OK) {
        if (sides) s = solve(plan, m->type, array, sides->nrhs, x);
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
