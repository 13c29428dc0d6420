/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_tridiag.c - `shoal gen tridiag`: tridiagonal systems as four files, and their solutions as a
 * fifth where the kind knows them.
 *
 * The files are written slice by slice, a slice being as many systems as fill about SLICE numbers,
 * so memory stays small whatever the count. An interleaved batch is one slice. The numbers are made
 * on the host and depend on kind, seed, system and row alone.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "gen.h"

enum { SLICE = 1 << 20, RHS = 3, SOLUTION, FILES };

static const char *const suffixes[FILES] = { "-dl", "-d", "-du", "-b", "-x" };

typedef struct outputs {
    int files; /* FILES, or without the solution */
    gen_file file[FILES];
    size_t row[FILES];   /* bytes a row of a system */
    void *memory[FILES]; /* of one slice            */
} outputs;

void gen_tridiag_check(const gen_arguments *a, struct argp_state *state) {
    gen_allow(a, state,
              1u << GEN_N | 1u << GEN_COUNT | 1u << GEN_NRHS | 1u << GEN_TYPE | 1u << GEN_LAYOUT);
    if (!gen_given(a, GEN_N)) argp_error(state, "--n is missing: the unknowns of a system");
}

/* Shapes, opened files with their headers, memory for one slice of `systems` systems. */
static int open_outputs(const gen_arguments *a, int64_t systems, outputs *out) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = gen_given(a, GEN_COUNT);
    for (int i = 0; i < out->files; i++) {
        gen_file *f = &out->file[i];
        f->type = cli_io_type(a->type);
        if (batch) f->shape[f->ndim++] = interleaved ? a->n : a->count;
        f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
        if (i >= RHS && gen_given(a, GEN_NRHS)) f->shape[f->ndim++] = a->nrhs;
        out->row[i] = io_type_size(f->type) * (size_t)(i >= RHS ? a->nrhs : 1);
        int64_t numbers, bytes;
        if (io_shape_bytes(f->type, f->ndim, f->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE,
                            "n * count * nrhs = %" PRId64 " * %" PRId64 " * %" PRId64
                            " is too large",
                            a->n, a->count, a->nrhs);
        size_t slice = bytes > 0 ? (size_t)(systems * a->n) * out->row[i] : 0;
        out->memory[i] = malloc(slice > 0 ? slice : 1);
        if (!out->memory[i])
            return cli_fail(CLI_UNAVAILABLE, "not enough memory for %zu bytes", slice);
        int code = gen_file_open(f, a->stem, suffixes[i]);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* Systems first .. first + systems - 1; *written is false where a file takes no more. */
static int generate(cli *c, const gen_arguments *a, int64_t first, int64_t systems, outputs *out,
                    bool *written) {
    const shoal_tridiag_opts shape = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    void *const *m = out->memory;
    shoal_status status = a->type == SHOAL_F32
                              ? shoal_tridiag_generatef(c->ctx, a->kind, c->seed, first, &shape,
                                                        m[0], m[1], m[2], m[3])
                              : shoal_tridiag_generate(c->ctx, a->kind, c->seed, first, &shape,
                                                       m[0], m[1], m[2], m[3]);
    if (status == SHOAL_OK && out->files > SOLUTION)
        status = a->type == SHOAL_F32
                     ? shoal_tridiag_exactf(c->ctx, a->kind, c->seed, first, &shape, m[SOLUTION])
                     : shoal_tridiag_exact(c->ctx, a->kind, c->seed, first, &shape, m[SOLUTION]);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < out->files && *written; i++)
        *written = gen_file_write(&out->file[i], m[i], (size_t)(systems * a->n) * out->row[i]);
    return CLI_OK;
}

static int write_all(cli *c, const gen_arguments *a, outputs *out) {
    const bool empty = a->n == 0 || a->count == 0;
    int64_t slice = a->count;
    if (!empty && a->count > 1 && a->layout == SHOAL_SYSTEM_MAJOR) {
        slice = SLICE / a->n / a->nrhs;
        slice = slice < 1 ? 1 : slice > a->count ? a->count : slice;
    }
    int code = open_outputs(a, slice, out);
    bool written = true;
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", empty ? 0 : a->count);
    for (int64_t first = 0; first < a->count && !empty && code == CLI_OK && written;
         first += slice) {
        int64_t systems = a->count - first < slice ? a->count - first : slice;
        code = generate(c, a, first, systems, out, &written);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, first + systems);
    }
    cli_progress_end(&bar);
    for (int i = 0; i < out->files; i++) {
        code = gen_file_close(&out->file[i], code);
        free(out->memory[i]);
    }
    return code;
}

static int print_result(cli *c, const gen_arguments *a, const outputs *out, int code) {
    if (!c->json) {
        if (code == CLI_OK) gen_print_files(out->file, out->files);
        return code;
    }
    io_json *j = cli_json_begin(c, "gen");
    io_json_string(j, "module", a->module);
    io_json_string(j, "kind", a->kind);
    io_json_int(j, "n", a->n);
    io_json_int(j, "count", a->count);
    io_json_int(j, "nrhs", a->nrhs);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "layout", cli_layout_name(a->layout));
    io_json_uint(j, "seed", c->seed);
    io_json_object(j, "files");
    for (int i = 0; i < out->files && code == CLI_OK; i++)
        io_json_string(j, suffixes[i] + 1, out->file[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int gen_tridiag(cli *c, const gen_arguments *a) {
    outputs *out = calloc(1, sizeof *out);
    if (!out) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    cli_note_no_fast_math(c);
    const shoal_tridiag_opts nothing = { .nrhs = 1 }; /* asks whether x is known, and no more */
    const bool known = shoal_tridiag_exact(c->ctx, a->kind, 0, 0, &nothing, NULL) == SHOAL_OK;
    out->files = known ? FILES : SOLUTION;
    int code = write_all(c, a, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, out, code);
    free(out);
    return code;
}
