/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - `shoal gen tridiag`: tridiagonal systems as four files, and their solutions as a
 * fifth where the kind knows them.
 */
#include "batch.h"

enum { RHS = 3, SOLUTION };

void gen_tridiag_check(const gen_arguments *a, struct argp_state *state) {
    if (!a->given.n) argp_error(state, "--n is missing: the unknowns of a system");
}

static void shape(const gen_arguments *a, int i, gen_file *f) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = a->given.count;
    if (batch) f->shape[f->ndim++] = interleaved ? a->n : a->count;
    f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
    if (i >= RHS && a->given.nrhs) f->shape[f->ndim++] = a->nrhs;
}

static shoal_status make(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                         void *const *m) {
    const shoal_tridiag_opts opts = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    return a->type == SHOAL_F32 ? shoal_tridiag_generatef(c->ctx, a->kind, c->seed, first, &opts,
                                                          m[0], m[1], m[2], m[3])
                                : shoal_tridiag_generate(c->ctx, a->kind, c->seed, first, &opts,
                                                         m[0], m[1], m[2], m[3]);
}

static shoal_status make_with_solution(cli *c, const gen_arguments *a, int64_t first,
                                       int64_t systems, void *const *m) {
    const shoal_tridiag_opts opts = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    const shoal_status status = make(c, a, first, systems, m);
    if (status != SHOAL_OK) return status;
    return a->type == SHOAL_F32
               ? shoal_tridiag_exactf(c->ctx, a->kind, c->seed, first, &opts, m[SOLUTION])
               : shoal_tridiag_exact(c->ctx, a->kind, c->seed, first, &opts, m[SOLUTION]);
}

static void details(io_json *j, const gen_arguments *a) {
    io_json_int(j, "nrhs", a->nrhs);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "layout", cli_layout_name(a->layout));
}

int gen_tridiag(cli *c, const gen_arguments *a) {
    static const gen_batch batch = { 4, { "-dl", "-d", "-du", "-b" }, shape, make, details };
    static const gen_batch solved = {
        5, { "-dl", "-d", "-du", "-b", "-x" }, shape, make_with_solution, details
    };
    const shoal_tridiag_opts nothing = { .nrhs = 1 }; /* asks whether x is known, and no more */
    const bool known = shoal_tridiag_exact(c->ctx, a->kind, 0, 0, &nothing, NULL) == SHOAL_OK;
    return gen_batch_run(c, a, known ? &solved : &batch);
}
