/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.c - `shoal gen`: test problems of a module as .npy files.
 *
 * The files are written slice by slice, a slice being as many systems as fill about SLICE numbers,
 * so memory stays small whatever the count. An interleaved batch is one slice. The numbers are made
 * on the host and depend on kind, seed, system and row alone.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "io/file.h"
#include "io/npy.h"
#include "words.h"

enum { SLICE = 1 << 20, FILES = 4, PATH_SIZE = 4096 };
enum { KEY_N = 0x2000, KEY_COUNT, KEY_NRHS, KEY_TYPE, KEY_LAYOUT, KEY_LIST };

/* clang-format off */
static const struct argp_option options[] = {
    { "n",      KEY_N,      "N",    0, "unknowns of a system", 1 },
    { "count",  KEY_COUNT,  "C",    0, "number of systems; without it one, and arrays of shape (n)", 2 },
    { "nrhs",   KEY_NRHS,   "R",    0, "right-hand sides; adds a last axis to b [1, no axis]", 3 },
    { "type",   KEY_TYPE,   "T",    0, "f32 or f64 [f64]", 4 },
    { "layout", KEY_LAYOUT, "L",    0, "system: (count,n), or interleaved: (n,count) [system]", 5 },
    { "output", 'o',        "STEM", 0, "write STEM-dl.npy, STEM-d.npy, STEM-du.npy and STEM-b.npy", 6 },
    { "list",   KEY_LIST,   NULL,   0, "name the kinds and write nothing", 7 },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Writes test problems of a module: the matrices of the papers and awkward ones. `--list' names "
    "the kinds. --seed chooses the random numbers; the same seed gives the same files everywhere."
    "\vExample:\n  shoal gen --list\n"
    "  shoal gen tridiag dominant --n 255 --count 1e5 --type f32 -o t";

static const char *const suffixes[FILES] = { "dl", "d", "du", "b" };

typedef struct arguments {
    const char *module, *kind, *stem;
    int64_t n, count, nrhs;
    bool n_given, count_given, nrhs_given, list;
    shoal_type type;
    shoal_layout layout;
} arguments;

typedef struct output {
    char path[PATH_SIZE];
    int ndim;
    int64_t shape[3];
    io_out *file;
    size_t row;   /* bytes a row of a system */
    void *memory; /* of one slice            */
} output;

static void check_complete(const arguments *a, struct argp_state *state) {
    if (a->list) return;
    if (!a->module || !a->kind)
        argp_error(state, "a module and a kind are missing; `shoal gen --list' names them");
    if (!a->n_given) argp_error(state, "--n is missing: the unknowns of a system");
    if (!a->stem) argp_error(state, "-o is missing: how the names of the files begin");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case KEY_N:
        a->n = cli_arg_int(state, "--n", arg, 0, INT64_MAX);
        a->n_given = true;
        return 0;
    case KEY_COUNT:
        a->count = cli_arg_int(state, "--count", arg, 0, INT64_MAX);
        a->count_given = true;
        return 0;
    case KEY_NRHS:
        a->nrhs = cli_arg_int(state, "--nrhs", arg, 1, INT64_MAX);
        a->nrhs_given = true;
        return 0;
    case KEY_TYPE: a->type = cli_arg_type(state, arg); return 0;
    case KEY_LAYOUT: a->layout = cli_arg_layout(state, arg); return 0;
    case KEY_LIST: a->list = true; return 0;
    case 'o': a->stem = arg; return 0;
    case ARGP_KEY_ARG:
        if (a->kind) argp_error(state, "unexpected argument '%s'", arg);
        if (a->module)
            a->kind = arg;
        else
            a->module = arg;
        return 0;
    case ARGP_KEY_END: check_complete(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int list_kinds(cli *c, const char *only) {
    io_json *j = c->json ? cli_json_begin(c, "gen") : NULL;
    if (j) io_json_array(j, "kinds");
    for (const cli_module *m = cli_modules; m->name; m++) {
        if (only && strcmp(only, m->name) != 0) continue;
        const char *kind;
        for (int i = 0; (kind = m->kind(i)); i++) {
            if (!j) {
                printf("%-8s %-12s %s\n", m->name, kind, m->kind_text(i));
                continue;
            }
            io_json_object_line(j, NULL);
            io_json_string(j, "module", m->name);
            io_json_string(j, "kind", kind);
            io_json_string(j, "text", m->kind_text(i));
            io_json_close(j);
        }
    }
    if (!j) return CLI_OK;
    io_json_close(j);
    return cli_json_end(c, CLI_OK);
}

/* Names, shapes, opened files with their headers, memory for one slice of `systems` systems. */
static int open_outputs(const arguments *a, int64_t systems, output *out) {
    const io_type type = cli_io_type(a->type);
    const bool interleaved = a->layout == SHOAL_INTERLEAVED;
    for (int i = 0; i < FILES; i++) {
        output *o = &out[i];
        io_error err;
        if (snprintf(o->path, PATH_SIZE, "%s-%s.npy", a->stem, suffixes[i]) >= PATH_SIZE)
            return cli_fail(CLI_OUTPUT, "the file name %.40s... is too long", a->stem);
        if (a->count_given) o->shape[o->ndim++] = interleaved ? a->n : a->count;
        o->shape[o->ndim++] = a->count_given && interleaved ? a->count : a->n;
        if (i == FILES - 1 && a->nrhs_given) o->shape[o->ndim++] = a->nrhs;
        o->row = io_type_size(type) * (size_t)(i == FILES - 1 ? a->nrhs : 1);
        int64_t numbers, bytes;
        if (io_shape_bytes(type, o->ndim, o->shape, &numbers, &bytes) != IO_OK)
            return cli_fail(CLI_USAGE,
                            "n * count * nrhs = %" PRId64 " * %" PRId64 " * %" PRId64
                            " is too large",
                            a->n, a->count, a->nrhs);
        size_t slice = bytes > 0 ? (size_t)(systems * a->n) * o->row : 0;
        o->memory = malloc(slice > 0 ? slice : 1);
        if (!o->memory) return cli_fail(CLI_UNAVAILABLE, "not enough memory for %zu bytes", slice);
        int status = io_out_open(o->path, &o->file, &err);
        if (status == IO_OK)
            status = io_npy_header(io_out_file(o->file), o->path, type, o->ndim, o->shape, &err);
        if (status != IO_OK) return cli_io(IO_E_WRITE, &err);
    }
    return CLI_OK;
}

static int generate(cli *c, const arguments *a, int64_t first, int64_t systems, output *out) {
    const shoal_tridiag_opts shape = {
        .n = a->n, .count = systems, .nrhs = a->nrhs, .type = a->type, .layout = a->layout
    };
    void *m[FILES];
    for (int i = 0; i < FILES; i++) m[i] = out[i].memory;
    shoal_status status = a->type == SHOAL_F32
                              ? shoal_tridiag_generatef(c->ctx, a->kind, c->seed, first, &shape,
                                                        m[0], m[1], m[2], m[3])
                              : shoal_tridiag_generate(c->ctx, a->kind, c->seed, first, &shape,
                                                       m[0], m[1], m[2], m[3]);
    if (status != SHOAL_OK) return cli_status(c, status);
    for (int i = 0; i < FILES; i++) {
        size_t bytes = (size_t)(systems * a->n) * out[i].row;
        if (fwrite(out[i].memory, 1, bytes, io_out_file(out[i].file)) != bytes)
            break; /* the commit says why */
    }
    return CLI_OK;
}

static int write_all(cli *c, const arguments *a, output *out) {
    const bool empty = a->n == 0 || a->count == 0;
    int64_t slice = a->count;
    if (!empty && a->count > 1 && a->layout == SHOAL_SYSTEM_MAJOR) {
        slice = SLICE / a->n / a->nrhs;
        slice = slice < 1 ? 1 : slice > a->count ? a->count : slice;
    }
    int code = open_outputs(a, slice, out);
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", empty ? 0 : a->count);
    for (int64_t first = 0; first < a->count && !empty && code == CLI_OK; first += slice) {
        int64_t systems = a->count - first < slice ? a->count - first : slice;
        bool failed = false;
        code = generate(c, a, first, systems, out);
        for (int i = 0; i < FILES; i++) failed |= ferror(io_out_file(out[i].file)) != 0;
        if (failed) break;
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, first + systems);
    }
    cli_progress_end(&bar);
    for (int i = 0; i < FILES; i++) {
        io_error err;
        if (code == CLI_OK)
            code = cli_io(io_out_commit(out[i].file, &err), &err);
        else
            io_out_abandon(out[i].file);
        out[i].file = NULL;
        free(out[i].memory);
    }
    return code;
}

static int print_result(cli *c, const arguments *a, const output *out, int code) {
    char shape[96];
    if (!c->json) {
        for (int i = 0; i < FILES && code == CLI_OK; i++)
            printf("%-*s  %s %s\n", (int)strlen(out[0].path), out[i].path, cli_type_name(a->type),
                   io_shape_text(out[i].ndim, out[i].shape, shape, sizeof shape));
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
    for (int i = 0; i < FILES && code == CLI_OK; i++) io_json_string(j, suffixes[i], out[i].path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int cmd_gen(cli *c, int argc, char **argv) {
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "MODULE KIND\n--list", .doc = doc
    };
    arguments a = { .count = 1, .nrhs = 1 };
    int code = cli_parse(c, &argp, argc, argv, &a);
    if (code == CLI_OK && a.module && !cli_module_find(a.module))
        code = cli_unknown(argv[0], "module", a.module, cli_module_name, NULL);
    if (code == CLI_OK && !a.list) code = cli_check_kind(argv[0], a.module, a.kind);
    if (code != CLI_OK) return code;
    if (strcmp(c->backend, "auto") == 0) c->backend = "cpu"; /* numbers are made on the host */
    code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_fast_math(c);
    if (a.list) {
        cli_note_no_seed(c);
        return list_kinds(c, a.module);
    }

    output *out = calloc(FILES, sizeof *out);
    if (!out) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    code = write_all(c, &a, out);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, &a, out, code);
    free(out);
    return code;
}
