/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - `shoal gen recur`: linear recurrences as three files, s, t and the values before
 * the first row.
 */
#include "batch.h"

enum { FACTORS, TERMS, FIRST_VALUES };

void gen_recur_check(const gen_arguments *a, struct argp_state *state) {
    if (!a->given.n) argp_error(state, "--n is missing: the rows of a segment");
}

static void shape(const gen_arguments *a, int i, gen_file *f) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = a->given.count;
    if (batch) f->shape[f->ndim++] = interleaved && i != FIRST_VALUES ? a->n : a->count;
    if (i != FIRST_VALUES) f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
    if (i != TERMS && (a->order > 1 || f->ndim == 0)) f->shape[f->ndim++] = a->order;
}

static shoal_status make(cli *c, const gen_arguments *a, int64_t first, int64_t segments,
                         void *const *m) {
    const shoal_recur_opts opts = {
        .n = a->n, .count = segments, .order = (int)a->order, .type = a->type, .layout = a->layout
    };
    return a->type == SHOAL_F32
               ? shoal_recur_generatef(c->ctx, a->kind, c->seed, first, &opts, m[0], m[1], m[2])
               : shoal_recur_generate(c->ctx, a->kind, c->seed, first, &opts, m[0], m[1], m[2]);
}

static void details(io_json *j, const gen_arguments *a) {
    io_json_int(j, "order", a->order);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "layout", cli_layout_name(a->layout));
}

int gen_recur(cli *c, const gen_arguments *a) {
    static const gen_batch batch = { 3, { "-s", "-t", "-w0" }, shape, make, details };
    return gen_batch_run(c, a, &batch);
}
