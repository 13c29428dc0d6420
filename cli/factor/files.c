/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - reads the matrix of `shoal factor` and what has to fit it, writes its factors.
 *
 * One triangle comes into memory, whatever the file: rows of a .npy file, entries of a Matrix Market
 * file, hyperslabs of an HDF5 dataset.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "factor.h"
#include "io/hdf5.h"

static double number_at(const factor_matrix *m, const void *numbers, int64_t at) {
    return m->type == SHOAL_F32 ? (double)((const float *)numbers)[at]
                                : ((const double *)numbers)[at];
}

double factor_entry(const factor_matrix *m, const void *numbers, int64_t i, int64_t j) {
    return number_at(m, numbers,
                     m->form.upper ? io_triangle_at(&m->form, m->n, j, i)
                                   : io_triangle_at(&m->form, m->n, i, j));
}

/* Makes it f4 or f8. */
static int convert(cli_array *array, shoal_type to) {
    const io_type type = cli_io_type(to);
    io_array other;
    if (array->a.type == type) return CLI_OK;
    const int code = cli_array_create(type, array->a.ndim, array->a.shape, &other);
    if (code != CLI_OK) return code;
    const int64_t count = io_array_count(&array->a);
    for (int64_t i = 0; i < count; i++)
        cli_put_number(to, other.data, i, io_array_get(&array->a, i));
    io_array_free(&array->a);
    array->a = other;
    return CLI_OK;
}

/* A second triangle of that size, for what keeps A, has to fit too. */
static int check_memory(const factor_arguments *a, const factor_matrix *m) {
    const int64_t there = io_memory_bytes();
    if ((a->no_check && !a->snapshots) || (int64_t)m->bytes <= there / 2) return CLI_OK;
    return cli_fail(CLI_UNAVAILABLE,
                    "%s: not enough memory: n = %" PRId64 " and the copy of A for %s need %" PRId64
                    " bytes, the machine has %" PRId64,
                    a->matrix, m->n, a->no_check ? "--snapshots" : "the check (see --no-check)",
                    2 * (int64_t)m->bytes, there);
}

int factor_read(const cli *c, const factor_arguments *a, factor_matrix *m) {
    io_array *to = &m->file.a;
    m->form = (io_triangle){ .packed = !a->full, .upper = a->opts.triangle == SHOAL_UPPER };
    m->file.path = a->matrix;
    int code = cli_triangle_read(c, a->matrix, &m->form, a->triangle_given, &m->n, to);
    if (code != CLI_OK) return code;
    m->type = a->type_given ? a->type : to->type == IO_F4 ? SHOAL_F32 : SHOAL_F64;
    code = convert(&m->file, m->type);
    m->bytes = (size_t)io_array_count(to) * io_type_size(to->type);
    if (code == CLI_OK) code = check_memory(a, m);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

int factor_read_b(const cli *c, const factor_arguments *a, const factor_matrix *m, cli_array *b) {
    const io_type type = cli_io_type(m->type);
    char text[96];
    int code = cli_array_read(b, a->b);
    if (code != CLI_OK) return code;
    if ((b->a.ndim != 1 && b->a.ndim != 2) || b->a.shape[0] != m->n)
        return cli_fail(CLI_INPUT,
                        "%s has shape %s; for n = %" PRId64 " expected (n,) or (n, nrhs)", a->b,
                        io_shape_text(b->a.ndim, b->a.shape, text, sizeof text), m->n);
    if (b->a.type == type) return CLI_OK;
    if (!a->type_given && type == IO_F4)
        return cli_fail(CLI_INPUT, "%s contains f4, but %s contains %s; --type converts both",
                        a->matrix, a->b, io_type_name(b->a.type));
    cli_note(c, "%s: %s converted to %s", a->b, io_type_name(b->a.type), io_type_name(type));
    return convert(b, m->type);
}

char *factor_beside(const char *output, const char *what) {
    const size_t stem = strlen(output) - strlen(".npy"), size = stem + strlen(what) + 6;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s-%s.npy", (int)stem, output, what);
    return path;
}

void factor_blocks(const factor_matrix *m, const factor_result *r, double *d, double *e) {
    for (int64_t k = 0; k < m->n; k++) {
        const bool pair = k + 1 < m->n && r->interchanges[k + 1] < 0; /* a 2x2 pivot in k, k+1 */
        d[k] = factor_entry(m, r->factors, k, k);
        e[k] = pair ? factor_entry(m, r->factors, k + 1, k) : 0;
    }
}

int factor_write_beside(const char *output, const char *what, int64_t count, void *numbers) {
    char *path = factor_beside(output, what);
    if (!path) return cli_no_memory();
    const int code = cli_numbers_write(path, IO_I4, 1, &count, numbers);
    free(path);
    return code;
}

static int write_hdf5(const char *path, const factor_matrix *m, const factor_result *r) {
    const io_array *shape = &m->file.a;
    cli_array d = { 0 }, e = { 0 };
    io_array factors = *shape;
    io_array interchanges = {
        .type = IO_I4, .ndim = 1, .shape = { m->n }, .data = r->interchanges
    };
    io_array permutation = { .type = IO_I4, .ndim = 1, .shape = { m->n }, .data = r->permutation };
    io_array growth = { .type = IO_F8, .ndim = 1, .shape = { m->n }, .data = r->growth };
    io_error err;
    factors.data = r->factors;
    int code = cli_array_create(IO_F8, 1, &m->n, &d.a);
    if (code == CLI_OK) code = cli_array_create(IO_F8, 1, &m->n, &e.a);
    if (code == CLI_OK) factor_blocks(m, r, d.a.data, e.a.data);
    if (code == CLI_OK) code = convert(&d, m->type);
    if (code == CLI_OK) code = convert(&e, m->type);
    const io_h5_item items[] = { { "factors", &factors },
                                 { "interchanges", &interchanges },
                                 { "permutation", &permutation },
                                 { "d", &d.a },
                                 { "e", &e.a },
                                 { "growth", &growth } };
    if (code == CLI_OK) code = cli_io(io_h5_write(path, items, r->growth ? 6 : 5, &err), &err);
    io_array_free(&d.a);
    io_array_free(&e.a);
    return code;
}

int factor_write(const factor_arguments *a, const factor_matrix *m, const factor_result *r) {
    if (cli_ends_in(a->output, ".h5")) return write_hdf5(a->output, m, r);
    const io_array *shape = &m->file.a;
    int code = cli_numbers_write(a->output, shape->type, shape->ndim, shape->shape, r->factors);
    if (code == CLI_OK)
        code = factor_write_beside(a->output, "interchanges", m->n, r->interchanges);
    if (code == CLI_OK) code = factor_write_beside(a->output, "permutation", m->n, r->permutation);
    return code;
}

int factor_write_gjgt(const factor_arguments *a, const factor_matrix *m, const factor_result *r,
                      const factor_forms *forms) {
    const io_array *g = &forms->G;
    if (cli_ends_in(a->gjgt, ".h5")) {
        const io_array signs = {
            .type = IO_I4, .ndim = 1, .shape = { g->shape[1] }, .data = forms->signs
        };
        const io_array permutation = {
            .type = IO_I4, .ndim = 1, .shape = { m->n }, .data = r->permutation
        };
        const io_h5_item items[] = { { "G", g },
                                     { "signs", &signs },
                                     { "permutation", &permutation } };
        io_error err;
        return cli_io(io_h5_write(a->gjgt, items, 3, &err), &err);
    }
    int code = cli_array_write(a->gjgt, g);
    if (code == CLI_OK) code = factor_write_beside(a->gjgt, "signs", g->shape[1], forms->signs);
    if (code == CLI_OK) code = factor_write_beside(a->gjgt, "permutation", m->n, r->permutation);
    return code;
}
