/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - `shoal gen symindef`: one symmetric matrix as a .npy, .mtx or .h5 file, and
 * triplets of a lower triangle as Matrix Market.
 *
 * The matrix is in memory whole. The ending of the name decides what is written; a name
 * without one of these endings gets .npy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "io/hdf5.h"
#include "io/mtx.h"

static const char triplets[] = "triplets";

static int library_kinds(void) {
    int count = 0;
    while (shoal_symindef_kind(count)) count++;
    return count;
}

const char *gen_symindef_kind(int i) {
    return i == library_kinds() ? triplets : shoal_symindef_kind(i);
}

const char *gen_symindef_kind_text(int i) {
    return i == library_kinds() ? "triplets FILE: converts lines `i j value', from 1, of a lower "
                                  "triangle to Matrix Market"
                                : shoal_symindef_kind_text(i);
}

void gen_symindef_check(const gen_arguments *a, struct argp_state *state) {
    if (strcmp(a->kind, triplets) != 0) {
        if (a->input) argp_error(state, "unexpected argument '%s'", a->input);
        if (!a->given.n) argp_error(state, "--n is missing: the rows of the matrix");
        return;
    }
    if (!a->input) argp_error(state, "FILE is missing: the triplets");
    if (a->given.type) argp_error(state, "--type does not apply to kind '%s'", a->kind);
    if (a->stem && !cli_ends_in(a->stem, ".mtx"))
        argp_error(state, "-o: '%s' does not end in .mtx", a->stem);
}

/* The name of the file, from the stem; before the work, whether it can be written. */
static int name_file(const char *stem, char *path) {
    const bool other = cli_ends_in(stem, ".mtx") || cli_ends_in(stem, ".h5");
    const bool fits = other && snprintf(path, GEN_PATH, "%s", stem) < GEN_PATH;
    const int code = fits ? CLI_OK : gen_name_file(path, stem, "");
    return code == CLI_OK ? cli_check_writable(path) : code;
}

static int write_matrix(const io_array *array, const char *path) {
    io_error err;
    if (cli_ends_in(path, ".mtx")) return cli_io(io_mtx_write_symmetric(path, array, &err), &err);
    if (cli_ends_in(path, ".h5"))
        return cli_io(io_h5_write(path, &(io_h5_item){ "A", array }, 1, &err), &err);
    return cli_array_write(path, array);
}

static int print_result(cli *c, const gen_arguments *a, const gen_file *f, int64_t entries,
                        int code) {
    const bool random = entries < 0;
    if (!c->json) {
        if (code != CLI_OK) return code;
        if (random)
            gen_print_files(f, 1);
        else
            printf("%s  n = %" PRId64 ", %" PRId64 " entries\n", f->path, f->shape[0], entries);
        return code;
    }
    io_json *j = cli_json_begin(c, "gen");
    io_json_string(j, "module", a->module);
    io_json_string(j, "kind", a->kind);
    io_json_int(j, "n", f->shape[0]);
    if (random) {
        io_json_string(j, "type", cli_type_name(a->type));
        io_json_uint(j, "seed", c->seed);
    } else {
        io_json_int(j, "entries", entries);
    }
    io_json_object(j, "files");
    if (code == CLI_OK) io_json_string(j, "A", f->path);
    io_json_close(j);
    return cli_json_end(c, code);
}

static int generate(cli *c, const gen_arguments *a, gen_file *f) {
    io_array matrix = { .type = cli_io_type(a->type), .ndim = 2, .shape = { a->n, a->n } };
    int64_t numbers, bytes;
    if (io_shape_bytes(matrix.type, 2, matrix.shape, &numbers, &bytes) != IO_OK)
        return cli_fail(CLI_USAGE, "a matrix of n = %" PRId64 " would be too large", a->n);
    matrix.data = bytes <= io_memory_bytes() ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (!matrix.data)
        return cli_fail(CLI_UNAVAILABLE,
                        "n = %" PRId64 " needs %" PRId64 " bytes: not enough memory", a->n, bytes);
    int code = cli_status(c, CLI_BY_TYPE(a->type, shoal_symindef_generate, c->ctx, a->kind, c->seed,
                                         a->n, matrix.data));
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK) code = write_matrix(&matrix, f->path);
    f->type = matrix.type;
    f->shape[f->ndim++] = a->n;
    f->shape[f->ndim++] = a->n;
    io_array_free(&matrix);
    return code;
}

static int convert(cli *c, const gen_arguments *a, gen_file *f, int64_t *entries) {
    io_matrix m;
    io_error err;
    cli_note_no_seed(c);
    int code = cli_io(io_triplets_read(a->input, a->given.n ? a->n : -1, &m, &err), &err);
    if (code != CLI_OK) return code;
    if (m.duplicates > 0)
        cli_note(c, "%s: %" PRId64 " duplicate entries were added up", a->input, m.duplicates);
    if (m.nonfinite > 0)
        cli_note(c, "%s: %s that are not finite", a->input, CLI_COUNT(m.nonfinite, "value"));
    f->shape[0] = m.rows;
    *entries = m.count;
    code = cli_io(io_mtx_write(f->path, &m, &err), &err);
    io_matrix_free(&m);
    return code;
}

int gen_symindef(cli *c, const gen_arguments *a) {
    gen_file *f = calloc(1, sizeof *f);
    if (!f) return cli_no_memory();
    int64_t entries = -1;
    cli_note_no_fast_math(c);
    int code = name_file(a->stem, f->path);
    if (code == CLI_OK) code = a->input ? convert(c, a, f, &entries) : generate(c, a, f);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, a, f, entries, code);
    free(f);
    return code;
}
