/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - files of a batch, slice by slice.
 */
#include "batch.h"

#include <stdlib.h>

enum { SLICE = 1 << 23 }; /* bytes of the largest array of a slice, about */

typedef struct outputs {
    gen_file file[GEN_BATCH_FILES];
    size_t system[GEN_BATCH_FILES]; /* bytes a system */
    void *memory[GEN_BATCH_FILES];  /* of one slice   */
    int64_t slice;                  /* systems in it  */
    bool empty;                     /* no file has a number */
} outputs;

/* Shapes, and how many systems are a slice. */
static int size_outputs(const gen_arguments *a, const gen_batch *batch, outputs *out) {
    size_t largest = 0;
    for (int i = 0; i < batch->files; i++) {
        gen_file *f = &out->file[i];
        int64_t numbers, bytes;
        f->type = cli_io_type(a->type);
        batch->shape(a, i, f);
        if (io_shape_bytes(f->type, f->ndim, f->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE, "the array of %s would be too large",
                            batch->suffixes[i] + 1);
        out->system[i] = a->count > 0 ? (size_t)(bytes / a->count) : 0;
        if (out->system[i] > largest) largest = out->system[i];
    }
    out->empty = largest == 0;
    out->slice = a->count;
    const int64_t fit = out->empty ? a->count : (int64_t)(SLICE / largest);
    if (a->layout == SHOAL_SYSTEM_MAJOR && fit < a->count) out->slice = fit > 0 ? fit : 1;
    return CLI_OK;
}

/* Opened files with their headers, memory for one slice. */
static int open_outputs(const gen_arguments *a, const gen_batch *batch, outputs *out) {
    for (int i = 0; i < batch->files; i++) {
        const size_t bytes = (size_t)out->slice * out->system[i];
        out->memory[i] = calloc(bytes > 0 ? bytes : 1, 1);
        if (!out->memory[i])
            return cli_fail(CLI_UNAVAILABLE, "not enough memory for %zu bytes", bytes);
        int code = gen_file_open(&out->file[i], a->stem, batch->suffixes[i]);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* Systems first .. first + systems - 1; *written is false where a file takes no more. */
static int write_slice(cli *c, const gen_arguments *a, const gen_batch *batch, int64_t first,
                       int64_t systems, outputs *out, bool *written) {
    const shoal_status status = batch->make(c, a, first, systems, out->memory);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < batch->files && *written; i++)
        *written = gen_file_write(&out->file[i], out->memory[i], (size_t)systems * out->system[i]);
    return CLI_OK;
}

static int write_all(cli *c, const gen_arguments *a, const gen_batch *batch, outputs *out) {
    int code = size_outputs(a, batch, out);
    if (code != CLI_OK) return code;
    const int64_t count = out->empty ? 0 : a->count;
    code = open_outputs(a, batch, out);
    bool written = true;
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", count);
    for (int64_t first = 0; first < count && code == CLI_OK && written; first += out->slice) {
        const int64_t systems = count - first < out->slice ? count - first : out->slice;
        code = write_slice(c, a, batch, first, systems, out, &written);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, first + systems);
    }
    cli_progress_end(&bar);
    for (int i = 0; i < batch->files; i++) {
        code = gen_file_close(&out->file[i], code);
        free(out->memory[i]);
    }
    return code;
}

static int print_result(cli *c, const gen_arguments *a, const gen_batch *batch, const outputs *out,
                        int code) {
    if (!c->json) {
        if (code == CLI_OK) gen_print_files(out->file, batch->files);
        return code;
    }
    io_json *j = cli_json_begin(c, "gen");
    io_json_string(j, "module", a->module);
    io_json_string(j, "kind", a->kind);
    io_json_int(j, "n", a->n);
    io_json_int(j, "count", a->count);
    batch->details(j, a);
    io_json_uint(j, "seed", c->seed);
    io_json_object(j, "files");
    for (int i = 0; i < batch->files && code == CLI_OK; i++)
        io_json_string(j, batch->suffixes[i] + 1, out->file[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int gen_batch_run(cli *c, const gen_arguments *a, const gen_batch *batch) {
    outputs *out = calloc(1, sizeof *out);
    if (!out) return cli_no_memory();
    cli_note_no_fast_math(c);
    int code = write_all(c, a, batch, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, batch, out, code);
    free(out);
    return code;
}
