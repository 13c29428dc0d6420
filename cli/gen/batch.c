/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - test problems that come in batches, several files each: `shoal gen tridiag`, `band`, `smallsym`
 * and `recur`.
 *
 * The files are written slice by slice, so memory stays small whatever the count; an interleaved
 * batch is one slice. The numbers are made on the host and depend on kind, seed, n and system alone.
 */
#include <math.h>
#include <stdlib.h>

#include "gen.h"

#include <string.h>

enum { SLICE = 1 << 23 }; /* bytes of the largest array of a slice, about */

enum { FILES = 6 };

typedef struct batch_kind {
    int files;
    const char *suffixes[FILES]; /* "-d": of STEM-d.npy, "d" in JSON */
    /* appends to the shape of file i; the type is set already */
    void (*shape)(const gen_arguments *a, int i, gen_file *f);
    /* systems first .. first + systems - 1 into memory[i] of each file i */
    shoal_status (*make)(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                         void *const *memory);
    const cli_option *details; /* of the JSON object, between count and seed */
} batch_kind;

/* clang-format off */
#define RESULT(name, member) CLI_RESULT(name, gen_arguments, member)
#define CHOICE(name, member, names) { name, OPT_CHOICE, CLI_AT(gen_arguments, member), .words = names }
static const cli_option size_results[] = {
    RESULT("module", module), RESULT("kind", kind), RESULT("n", n), RESULT("count", count), RESULT("from", from), { 0 }
};
static const cli_option tridiag_details[] = {
    RESULT("nrhs", nrhs), CHOICE("type", type, CLI_TYPES), CHOICE("layout", layout, CLI_LAYOUTS), { 0 }
};
static const cli_option band_details[] = {
    CHOICE("form", form, GEN_FORMS), RESULT("nrhs", nrhs), CHOICE("type", type, CLI_TYPES),
    CHOICE("layout", layout, CLI_LAYOUTS), { 0 }
};
static const cli_option smallsym_details[] = {
    RESULT("nrhs", nrhs), CHOICE("type", type, CLI_TYPES), CHOICE("storage", storage, "full|packed"),
    CHOICE("triangle", triangle, CLI_TRIANGLES), RESULT("parameter", parameter), { 0 }
};
static const cli_option recur_details[] = {
    RESULT("order", order), CHOICE("type", type, CLI_TYPES), CHOICE("layout", layout, CLI_LAYOUTS), { 0 }
};
/* clang-format on */

typedef struct outputs {
    gen_file file[FILES];
    size_t system[FILES]; /* bytes per system */
    void *memory[FILES];  /* of one slice   */
    int64_t slice;        /* systems in it  */
    bool empty;           /* no file has a number */
} outputs;

/* Shapes, and how many systems are a slice. */
static int size_outputs(const gen_arguments *a, const batch_kind *batch, outputs *out) {
    size_t largest = 0;
    for (int i = 0; i < batch->files; i++) {
        gen_file *f = &out->file[i];
        int64_t numbers, bytes;
        f->type = cli_io_type(a->type);
        batch->shape(a, i, f);
        if (io_shape_bytes(f->type, f->ndim, f->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE, "array %s would be too large", batch->suffixes[i] + 1);
        out->system[i] = a->count > 0 ? (size_t)(bytes / a->count) : 0;
        if (out->system[i] > largest) largest = out->system[i];
    }
    out->empty = largest == 0;
    out->slice = a->count;
    const int64_t max = out->empty ? a->count : (int64_t)(SLICE / largest);
    if (a->layout == SHOAL_SYSTEM_MAJOR && max < a->count) out->slice = max > 0 ? max : 1;
    return CLI_OK;
}

/* Opened files with their headers, memory for one slice. */
static int open_outputs(const gen_arguments *a, const batch_kind *batch, outputs *out) {
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
static int write_slice(cli *c, const gen_arguments *a, const batch_kind *batch, int64_t first,
                       int64_t systems, outputs *out, bool *written) {
    const shoal_status status = batch->make(c, a, first, systems, out->memory);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < batch->files && *written; i++)
        *written = gen_file_write(&out->file[i], out->memory[i], (size_t)systems * out->system[i]);
    return CLI_OK;
}

static int write_all(cli *c, const gen_arguments *a, const batch_kind *batch, outputs *out) {
    int code = size_outputs(a, batch, out);
    if (code != CLI_OK) return code;
    const int64_t count = out->empty ? 0 : a->count;
    code = open_outputs(a, batch, out);
    bool written = true;
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", count);
    for (int64_t first = 0; first < count && code == CLI_OK && written; first += out->slice) {
        const int64_t systems = count - first < out->slice ? count - first : out->slice;
        code = write_slice(c, a, batch, a->from + first, systems, out, &written);
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

static int print_result(cli *c, const gen_arguments *a, const batch_kind *batch, const outputs *out,
                        int code) {
    if (!c->json) {
        if (code == CLI_OK) gen_print_files(out->file, batch->files);
        return code;
    }
    io_json *j = cli_json_begin(c, "gen");
    cli_json_results(j, size_results, a);
    cli_json_results(j, batch->details, a);
    io_json_uint(j, "seed", c->seed);
    io_json_object(j, "files");
    for (int i = 0; i < batch->files && code == CLI_OK; i++)
        io_json_string(j, batch->suffixes[i] + 1, out->file[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

static int run_batch(cli *c, const gen_arguments *a, const batch_kind *batch) {
    outputs *out = calloc(1, sizeof *out);
    if (!out) return cli_no_memory();
    cli_note_no_fast_math(c);
    int code = write_all(c, a, batch, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, batch, out, code);
    free(out);
    return code;
}

void gen_batch_check(const gen_arguments *a, struct argp_state *state) {
    if (!a->given.n)
        argp_error(state, "--n is missing: the unknowns per system, or the rows per segment");
    if (a->stem && strcmp(a->stem, "-") == 0)
        argp_error(state, "-o -: gen %s writes several files: give the beginning of their names",
                   a->module);
}

/* ---- tridiag: four files, and the solutions if the kind has them ------------------------------ */

enum { RHS = 3, SOLUTION };

static void shape_tridiag(const gen_arguments *a, int i, gen_file *f) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = a->given.count;
    if (batch) f->shape[f->ndim++] = interleaved ? a->n : a->count;
    f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
    if (i >= RHS && a->given.nrhs) f->shape[f->ndim++] = a->nrhs;
}

static shoal_status make_tridiag(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                                 void *const *m) {
    const shoal_tridiag_opts opts = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    return CLI_BY_TYPE(a->type, shoal_tridiag_generate, c->ctx, a->kind, c->seed, first, &opts,
                       m[0], m[1], m[2], m[3]);
}

static shoal_status make_with_solution(cli *c, const gen_arguments *a, int64_t first,
                                       int64_t systems, void *const *m) {
    const shoal_tridiag_opts opts = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    const shoal_status status = make_tridiag(c, a, first, systems, m);
    if (status != SHOAL_OK) return status;
    return CLI_BY_TYPE(a->type, shoal_tridiag_exact, c->ctx, a->kind, c->seed, first, &opts,
                       m[SOLUTION]);
}

int gen_tridiag(cli *c, const gen_arguments *a) {
    static const batch_kind batch = {
        4, { "-dl", "-d", "-du", "-b" }, shape_tridiag, make_tridiag, tridiag_details
    };
    static const batch_kind solved = {
        5, { "-dl", "-d", "-du", "-b", "-x" }, shape_tridiag, make_with_solution, tridiag_details
    };
    const shoal_tridiag_opts nothing = { .nrhs = 1 }; /* asks whether x is known, and no more */
    const bool known = shoal_tridiag_exact(c->ctx, a->kind, 0, 0, &nothing, NULL) == SHOAL_OK;
    return run_batch(c, a, known ? &solved : &batch);
}

/* ---- band: the diagonals and b ---------------------------------------------------------------- */

static bool is_tridiagonal(const gen_arguments *a) { return a->form == 1; }
static bool is_complex(const gen_arguments *a) { return a->form > 0; }

static void shape_band(const gen_arguments *a, int i, gen_file *f) {
    const int rhs = is_tridiagonal(a) ? 3 : 5;
    shape_tridiag(a, i < rhs ? 0 : RHS, f);
    if (is_complex(a)) f->type = a->type == SHOAL_F32 ? IO_C8 : IO_C16;
}

static shoal_status make_band(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                              void *const *m) {
    const bool narrow = is_tridiagonal(a);
    const shoal_band_opts opts = { .n = a->n,
                                   .count = systems,
                                   .nrhs = a->nrhs,
                                   .width = narrow ? 1 : 2,
                                   .is_complex = is_complex(a),
                                   .type = a->type,
                                   .layout = a->layout };
    void *const *inner = m + !narrow; /* dl, d, du */
    return CLI_BY_TYPE(a->type, shoal_band_generate, c->ctx, a->kind, c->seed, first, &opts,
                       narrow ? NULL : m[0], inner[0], inner[1], inner[2], narrow ? NULL : m[4],
                       narrow ? m[3] : m[5]);
}

int gen_band(cli *c, const gen_arguments *a) {
    static const batch_kind narrow = {
        4, { "-dl", "-d", "-du", "-b" }, shape_band, make_band, band_details
    };
    static const batch_kind wide = {
        6, { "-dl2", "-dl", "-d", "-du", "-du2", "-b" }, shape_band, make_band, band_details
    };
    return run_batch(c, a, is_tridiagonal(a) ? &narrow : &wide);
}

/* ---- smallsym: two files ---------------------------------------------------------------------- */

static shoal_smallsym_opts shape_of(const gen_arguments *a, int64_t systems) {
    return (shoal_smallsym_opts){ .n = a->n,
                                  .count = systems,
                                  .nrhs = a->nrhs,
                                  .type = a->type,
                                  .triangle = a->triangle,
                                  .storage = a->storage };
}

/* A (count,n,n) or (count,n(n+1)/2), b (count,n) or (count,n,nrhs), without count if not given. */
static void shape_smallsym(const gen_arguments *a, int i, gen_file *f) {
    if (a->given.count) f->shape[f->ndim++] = a->count;
    if (i == 0 && a->storage == SHOAL_PACKED) {
        f->shape[f->ndim++] = a->n % 2 ? (a->n + 1) / 2 * a->n : a->n / 2 * (a->n + 1);
        return;
    }
    f->shape[f->ndim++] = a->n;
    if (i == 0) f->shape[f->ndim++] = a->n;
    if (i == 1 && a->given.nrhs) f->shape[f->ndim++] = a->nrhs;
}

static shoal_status make_smallsym(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                                  void *const *m) {
    const shoal_smallsym_opts opts = shape_of(a, systems);
    return CLI_BY_TYPE(a->type, shoal_smallsym_generate, c->ctx, a->kind, a->parameter, c->seed,
                       first, &opts, m[0], m[1]);
}

int gen_smallsym(cli *c, const gen_arguments *a) {
    static const batch_kind batch = {
        2, { "-A", "-b" }, shape_smallsym, make_smallsym, smallsym_details
    };
    /* the library looks at kind, parameter and sizes before a file is touched */
    const shoal_smallsym_opts none = shape_of(a, 0);
    const shoal_status status =
        shoal_smallsym_generate(c->ctx, a->kind, a->parameter, c->seed, 0, &none, NULL, NULL);
    return status == SHOAL_OK ? run_batch(c, a, &batch) : cli_status(c, status);
}

/* ---- recur: s, t and the values before the first row ------------------------------------------ */

enum { FACTORS, TERMS, FIRST_VALUES };

static void shape_recur(const gen_arguments *a, int i, gen_file *f) {
    const bool interleaved = a->layout == SHOAL_INTERLEAVED, batch = a->given.count;
    if (batch) f->shape[f->ndim++] = interleaved && i != FIRST_VALUES ? a->n : a->count;
    if (i != FIRST_VALUES) f->shape[f->ndim++] = batch && interleaved ? a->count : a->n;
    if (i != TERMS && (a->order > 1 || f->ndim == 0)) f->shape[f->ndim++] = a->order;
}

static shoal_status make_recur(cli *c, const gen_arguments *a, int64_t first, int64_t segments,
                               void *const *m) {
    const shoal_recur_opts opts = {
        .n = a->n, .count = segments, .order = (int)a->order, .type = a->type, .layout = a->layout
    };
    return CLI_BY_TYPE(a->type, shoal_recur_generate, c->ctx, a->kind, c->seed, first, &opts, m[0],
                       m[1], m[2]);
}

int gen_recur(cli *c, const gen_arguments *a) {
    static const batch_kind batch = {
        3, { "-s", "-t", "-w0" }, shape_recur, make_recur, recur_details
    };
    return run_batch(c, a, &batch);
}
