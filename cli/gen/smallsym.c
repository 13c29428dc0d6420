/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - `shoal gen smallsym`: small symmetric systems as two files.
 */
#include <math.h>

#include "batch.h"

void gen_smallsym_check(const gen_arguments *a, struct argp_state *state) {
    if (!a->given.n) argp_error(state, "--n is missing: the unknowns of a system");
}

static shoal_smallsym_opts shape_of(const gen_arguments *a, int64_t systems) {
    return (shoal_smallsym_opts){ .n = a->n,
                                  .count = systems,
                                  .nrhs = a->nrhs,
                                  .type = a->type,
                                  .triangle = a->triangle,
                                  .storage = a->storage };
}

/* A (count,n,n) or (count,n(n+1)/2), b (count,n) or (count,n,nrhs), without count if not given. */
static void shape(const gen_arguments *a, int i, gen_file *f) {
    if (a->given.count) f->shape[f->ndim++] = a->count;
    if (i == 0 && a->storage == SHOAL_PACKED) {
        f->shape[f->ndim++] = a->n % 2 ? (a->n + 1) / 2 * a->n : a->n / 2 * (a->n + 1);
        return;
    }
    f->shape[f->ndim++] = a->n;
    if (i == 0) f->shape[f->ndim++] = a->n;
    if (i == 1 && a->given.nrhs) f->shape[f->ndim++] = a->nrhs;
}

static shoal_status make(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                         void *const *m) {
    const shoal_smallsym_opts opts = shape_of(a, systems);
    return a->type == SHOAL_F32 ? shoal_smallsym_generatef(c->ctx, a->kind, a->parameter, c->seed,
                                                           first, &opts, m[0], m[1])
                                : shoal_smallsym_generate(c->ctx, a->kind, a->parameter, c->seed,
                                                          first, &opts, m[0], m[1]);
}

static void details(io_json *j, const gen_arguments *a) {
    io_json_int(j, "nrhs", a->nrhs);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "storage", a->storage == SHOAL_PACKED ? "packed" : "full");
    io_json_string(j, "triangle", cli_triangle_name(a->triangle));
    if (isnan(a->parameter))
        io_json_null(j, "parameter");
    else
        io_json_double(j, "parameter", a->parameter);
}

int gen_smallsym(cli *c, const gen_arguments *a) {
    static const gen_batch batch = { 2, { "-A", "-b" }, shape, make, details };
    /* the library looks at kind, parameter and sizes before a file is touched */
    const shoal_smallsym_opts none = shape_of(a, 0);
    const shoal_status status =
        shoal_smallsym_generate(c->ctx, a->kind, a->parameter, c->seed, 0, &none, NULL, NULL);
    return status == SHOAL_OK ? gen_batch_run(c, a, &batch) : cli_status(c, status);
}
