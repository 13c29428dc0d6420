/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_recur.c - `shoal gen recur`: linear recurrences as three files, s, t and the values before
 * the first row.
 *
 * The files are written slice by slice, a slice being as many segments as fill about SLICE numbers,
 * so memory stays small whatever the count. An interleaved batch is one slice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "gen.h"

enum { SLICE = 1 << 20, FILES = 3 };

static const char *const suffixes[FILES] = { "-s", "-t", "-w0" };

typedef struct outputs {
    gen_file file[FILES];
    size_t bytes[FILES]; /* of one segment */
    void *memory[FILES]; /* of one slice   */
} outputs;

void gen_recur_check(const gen_arguments *a, struct argp_state *state) {
    gen_allow(a, state,
              1u << GEN_N | 1u << GEN_COUNT | 1u << GEN_TYPE | 1u << GEN_LAYOUT | 1u << GEN_ORDER);
    if (!gen_given(a, GEN_N)) argp_error(state, "--n is missing: the rows of a segment");
}

/* Shapes, opened files with their headers, memory for one slice. */
static int open_outputs(const gen_arguments *a, int64_t segments, outputs *out) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = gen_given(a, GEN_COUNT);
    for (int i = 0; i < FILES; i++) {
        gen_file *f = &out->file[i];
        const bool first_values = i == FILES - 1;
        f->type = cli_io_type(a->type);
        if (batch) f->shape[f->ndim++] = interleaved && !first_values ? a->n : a->count;
        if (!first_values) f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
        if (i != 1 && (a->order > 1 || f->ndim == 0)) f->shape[f->ndim++] = a->order;
        int64_t numbers, bytes;
        if (io_shape_bytes(f->type, f->ndim, f->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE, "n * count = %" PRId64 " * %" PRId64 " is too large", a->n,
                            a->count);
        out->bytes[i] =
            io_type_size(f->type) * (size_t)((first_values ? 1 : a->n) * (i == 1 ? 1 : a->order));
        const size_t slice = bytes > 0 ? (size_t)segments * out->bytes[i] : 0;
        out->memory[i] = malloc(slice > 0 ? slice : 1);
        if (!out->memory[i])
            return cli_fail(CLI_UNAVAILABLE, "not enough memory for %zu bytes", slice);
        int code = gen_file_open(f, a->stem, suffixes[i]);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* Segments first .. first + segments - 1; *written is false where a file takes no more. */
static int generate(cli *c, const gen_arguments *a, int64_t first, int64_t segments, outputs *out,
                    bool *written) {
    const shoal_recur_opts shape = {
        .n = a->n, .count = segments, .order = (int)a->order, .type = a->type, .layout = a->layout
    };
    void *const *m = out->memory;
    shoal_status status =
        a->type == SHOAL_F32
            ? shoal_recur_generatef(c->ctx, a->kind, c->seed, first, &shape, m[0], m[1], m[2])
            : shoal_recur_generate(c->ctx, a->kind, c->seed, first, &shape, m[0], m[1], m[2]);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < FILES && *written; i++)
        *written = gen_file_write(&out->file[i], m[i], (size_t)segments * out->bytes[i]);
    return CLI_OK;
}

static int write_all(cli *c, const gen_arguments *a, outputs *out) {
    const bool empty = a->n == 0 || a->count == 0;
    int64_t slice = a->count;
    if (!empty && a->count > 1 && a->layout == SHOAL_SYSTEM_MAJOR) {
        slice = SLICE / a->n / a->order;
        slice = slice < 1 ? 1 : slice > a->count ? a->count : slice;
    }
    int code = open_outputs(a, slice, out);
    bool written = true;
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", empty ? 0 : a->count);
    for (int64_t first = 0; first < a->count && !empty && code == CLI_OK && written;
         first += slice) {
        int64_t segments = a->count - first < slice ? a->count - first : slice;
        code = generate(c, a, first, segments, out, &written);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, first + segments);
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
    io_json_int(j, "order", a->order);
    io_json_string(j, "type", cli_type_name(a->type));
    io_json_string(j, "layout", cli_layout_name(a->layout));
    io_json_uint(j, "seed", c->seed);
    io_json_object(j, "files");
    for (int i = 0; i < FILES && code == CLI_OK; i++)
        io_json_string(j, suffixes[i] + 1, out->file[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int gen_recur(cli *c, const gen_arguments *a) {
    outputs *out = calloc(1, sizeof *out);
    if (!out) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    cli_note_no_fast_math(c);
    int code = write_all(c, a, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, out, code);
    free(out);
    return code;
}
