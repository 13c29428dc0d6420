/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_smallsym.c - `shoal gen smallsym`: small symmetric systems as two files.
 *
 * The files are written slice by slice, a slice being as many systems as fill about SLICE numbers,
 * so memory stays small whatever the count. The numbers are made on the host and depend on kind,
 * seed, n and system alone.
 */
#include <math.h>
#include <stdlib.h>

#include "gen.h"

enum { SLICE = 1 << 20, FILES = 2 };

static const char *const suffixes[FILES] = { "-A", "-b" };

typedef struct outputs {
    gen_file file[FILES];
    size_t system[FILES]; /* bytes a system */
    void *memory[FILES];  /* of one slice   */
} outputs;

void gen_smallsym_check(const gen_arguments *a, struct argp_state *state) {
    gen_allow(a, state,
              1u << GEN_N | 1u << GEN_COUNT | 1u << GEN_NRHS | 1u << GEN_TYPE | 1u << GEN_PACKED |
                  1u << GEN_TRIANGLE | 1u << GEN_PARAMETER);
    if (!gen_given(a, GEN_N)) argp_error(state, "--n is missing: the unknowns of a system");
}

static shoal_smallsym_opts shape_of(const gen_arguments *a, int64_t systems) {
    return (shoal_smallsym_opts){ .n = a->n,
                                  .count = systems,
                                  .nrhs = a->nrhs,
                                  .type = a->type,
                                  .triangle = a->triangle,
                                  .storage = gen_given(a, GEN_PACKED) ? SHOAL_PACKED : SHOAL_FULL };
}

/* A (count,n,n) or (count,n(n+1)/2), b (count,n) or (count,n,nrhs), without count if not given. */
static void set_shapes(const gen_arguments *a, outputs *out) {
    for (int i = 0; i < FILES; i++) {
        gen_file *f = &out->file[i];
        f->type = cli_io_type(a->type);
        if (gen_given(a, GEN_COUNT)) f->shape[f->ndim++] = a->count;
        if (i == 0 && gen_given(a, GEN_PACKED)) {
            f->shape[f->ndim++] = a->n % 2 ? (a->n + 1) / 2 * a->n : a->n / 2 * (a->n + 1);
            continue;
        }
        f->shape[f->ndim++] = a->n;
        if (i == 0) f->shape[f->ndim++] = a->n;
        if (i == 1 && gen_given(a, GEN_NRHS)) f->shape[f->ndim++] = a->nrhs;
    }
}

/* Opened files with their headers, memory for one slice of `systems` systems. */
static int open_outputs(const gen_arguments *a, int64_t systems, outputs *out) {
    for (int i = 0; i < FILES; i++) {
        gen_file *f = &out->file[i];
        int64_t numbers, bytes;
        if (io_shape_bytes(f->type, f->ndim, f->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE, "the array of %s would be too large", suffixes[i] + 1);
        out->system[i] = a->count > 0 ? (size_t)(bytes / a->count) : 0;
        const size_t slice = (size_t)systems * out->system[i];
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
    const shoal_smallsym_opts shape = shape_of(a, systems);
    void *const *m = out->memory;
    shoal_status status = a->type == SHOAL_F32
                              ? shoal_smallsym_generatef(c->ctx, a->kind, a->parameter, c->seed,
                                                         first, &shape, m[0], m[1])
                              : shoal_smallsym_generate(c->ctx, a->kind, a->parameter, c->seed,
                                                        first, &shape, m[0], m[1]);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < FILES && *written; i++)
        *written = gen_file_write(&out->file[i], m[i], (size_t)systems * out->system[i]);
    return CLI_OK;
}

/* The library looks at kind, parameter and sizes before a file is touched. */
static int check_by_library(cli *c, const gen_arguments *a) {
    const shoal_smallsym_opts shape = shape_of(a, 0);
    return cli_status(
        c, shoal_smallsym_generate(c->ctx, a->kind, a->parameter, c->seed, 0, &shape, NULL, NULL));
}

static int write_all(cli *c, const gen_arguments *a, outputs *out) {
    const bool empty = a->n == 0 || a->count == 0;
    int64_t slice = empty ? 0 : SLICE / a->n / (a->n + a->nrhs);
    slice = slice < 1 ? 1 : slice > a->count ? a->count : slice;
    int code = check_by_library(c, a);
    if (code != CLI_OK) return code;
    set_shapes(a, out);
    code = open_outputs(a, slice, out);
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
    for (int i = 0; i < FILES; i++) {
        code = gen_file_close(&out->file[i], code);
        free(out->memory[i]);
    }
    return code;
}

static int print_result(cli *c, const gen_arguments *a, const outputs *out, int code) {
    if (!c->json) {
        if (code == CLI_OK) gen_print_files(out->file, FILES);
        return code;
    }
    io_json *j = cli_json_begin(c, "gen");
    io_json_string(j, "module", a->module);
    io_json_string(j, "kind", a->kind);
    io_json_int(j, "n", a->n);
    io_json_int(j, "count", a->count);
    io_json_int(j, "nrhs", a->nrhs);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "storage", gen_given(a, GEN_PACKED) ? "packed" : "full");
    io_json_string(j, "triangle", cli_triangle_name(a->triangle));
    if (isnan(a->parameter))
        io_json_null(j, "parameter");
    else
        io_json_double(j, "parameter", a->parameter);
    io_json_uint(j, "seed", c->seed);
    io_json_object(j, "files");
    for (int i = 0; i < FILES && code == CLI_OK; i++)
        io_json_string(j, suffixes[i] + 1, out->file[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int gen_smallsym(cli *c, const gen_arguments *a) {
    outputs *out = calloc(1, sizeof *out);
    if (!out) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    cli_note_no_fast_math(c);
    int code = write_all(c, a, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, out, code);
    free(out);
    return code;
}
