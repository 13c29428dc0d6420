/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.c - `shoal eig dense`: all eigenvalues, and on request eigenvectors, of one dense symmetric matrix.
 */
#include "factor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { JJACOBI };

typedef struct eig_arguments {
    factor_arguments matrix; /* the file, storage, triangle, type; opts: pivoting, tol */
    const char *values, *vectors;
    int method;
} eig_arguments;

/* clang-format off */
#define AT(member) CLI_AT(eig_arguments, member)
static const cli_option options[] = {
    { NULL,        OPT_INPUT,    AT(matrix.matrix), "A.{npy,mtx,h5}", 0, "the matrix", .needed = "the matrix", .key = "A" },
    { "values",    OPT_OUTPUT,   AT(values),        "FILE",  1, "write the eigenvalues here, (n), ascending", .letter = 'w', .needed = "where to write the eigenvalues", .ends = CLI_ARRAY_ENDS },
    { "vectors",   OPT_OUTPUT,   AT(vectors),       "FILE",  1, "write the eigenvectors here, (n,n); without it only eigenvalues are computed", .letter = 'v', .ends = CLI_ARRAY_ENDS,
      .more = "V[:,k] belongs to w[k] and has length 1." },
    { "method",    OPT_CHOICE,   AT(method),        "M",     2, "jjacobi: J-orthogonal Jacobi after a factorization", .words = "jjacobi" },
    { "pivot",     OPT_TEXT,     AT(matrix.opts.method), "P", 3, "pivoting of the factorization: complete, partial, rook or auto", .methods = "symindef",
      .more = "High relative accuracy needs complete." },
    { "tol",       OPT_POSITIVE, AT(matrix.opts.tol), "T",   4, "entries of absolute value up to T are not pivots: their eigenvalues are 0", .usual = "the smallest normal number of the type",
      .more = "A larger T, such as n epsilon max |A|, finds the rank of a singular matrix; the default keeps small eigenvalues." },
    { "packed",    OPT_FLAG,     AT(matrix.packed), NULL,    5, "keep one triangle, n(n+1)/2 numbers (the default)", .without = "full" },
    { "full",      OPT_FLAG,     AT(matrix.full),   NULL,    5, "keep n rows of n numbers" },
    { "triangle",  OPT_CHOICE,   AT(matrix.opts.triangle), "T", 6, "the triangle that is read: lower or upper", .words = CLI_TRIANGLES, .given = offsetof(eig_arguments, matrix.triangle_given),
      .more = CLI_TRIANGLE_RULE },
    { "type",      OPT_CHOICE,   AT(matrix.type),   "T",     7, "f32 or f64", .words = CLI_TYPES, .usual = "that of the file; .mtx: f64", .given = offsetof(eig_arguments, matrix.type_given) },
    { 0 }
};
static const char doc[] =
    "Computes all eigenvalues, and on request the eigenvectors, of one dense symmetric matrix, definite or indefinite, of any rank. "
    "The matrix is factored with complete pivoting, A = G J Gt; J-orthogonal rotations then make the columns of G orthogonal. Small "
    "eigenvalues of graded matrices keep their relative accuracy.\n\n"
    "A is a NumPy .npy file of shape (n,n), or (n(n+1)/2) with the rows of one triangle, a symmetric Matrix Market .mtx file, or a "
    "dataset of an HDF5 file: F.h5, or F.h5:/path. Only one triangle is read. If the matrix has no answer, the files contain NaN and "
    "the exit code is 1.\vExample:\n"
    "  shoal eig dense A.npy -w w.npy -v V.npy";
/* clang-format on */

typedef struct answer {
    shoal_symindef_info factors;
    shoal_symindef_eig_info info;
    io_array values, vectors;
    double factor_seconds, eig_seconds;
    double smallest, largest; /* by absolute value */
} answer;

static bool failed(const answer *out) { return out->info.status < 0; }

static void multiply(io_array *array, int power) {
    for (int64_t k = 0; k < io_array_count(array); k++) {
        if (array->type == IO_F4)
            ((float *)array->data)[k] = ldexpf(((float *)array->data)[k], power);
        else
            ((double *)array->data)[k] = ldexp(((double *)array->data)[k], power);
    }
}

/* Brings a tiny matrix near 1 by a power of two: products of its entries would underflow. Returns the power. */
static int scale_up(factor_matrix *m) {
    double most = 0;
    for (int64_t k = 0; k < io_array_count(&m->file.a); k++)
        most = fmax(most, fabs(io_array_get(&m->file.a, k)));
    const double enough = m->type == SHOAL_F32 ? 0x1p-40 : 0x1p-400;
    if (!(most > 0 && most < enough)) return 0;
    multiply(&m->file.a, -ilogb(most));
    return -ilogb(most);
}

static int compute(cli *c, const factor_matrix *m, const shoal_symindef_opts *opts, answer *out) {
    cli_place places[] = {
        { .from = m->file.a.data, .bytes = m->bytes },
        cli_place_to(&out->values, 1, 0, 1),
        cli_place_to(&out->vectors, 1, 0, 1),
    };
    shoal_symindef *plan = NULL;
    shoal_status s = cli_places_begin(c, places, 3);
    if (s == SHOAL_OK) s = shoal_symindef_create(c->ctx, opts, &plan);
    const double begin = cli_now();
    if (s == SHOAL_OK) s = CLI_BY_TYPE(m->type, shoal_symindef_factor, plan, places[0].at);
    if (s == SHOAL_OK) s = shoal_symindef_last(plan, &out->factors);
    const double between = cli_now();
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(m->type, shoal_symindef_eig, plan, places[0].at, places[1].at, places[2].at,
                        &out->info);
    out->factor_seconds = between - begin, out->eig_seconds = cli_now() - between;
    if (s == SHOAL_OK) s = cli_places_copy(c, places, 3);
    cli_places_end(c, places, 3);
    shoal_symindef_free(plan);
    const int code = cli_status(c, s);
    return code == CLI_OK && cli_interrupted() ? CLI_INTERRUPTED : code;
}

static void find_sizes(answer *out) {
    out->smallest = out->largest = failed(out) ? (double)NAN : 0;
    for (int64_t k = 0; k < io_array_count(&out->values) && !failed(out); k++) {
        const double size = fabs(io_array_get(&out->values, k));
        out->largest = fmax(out->largest, size);
        out->smallest = k == 0 ? size : fmin(out->smallest, size);
    }
}

/* clang-format off */
#define FOUND(name, member) CLI_RESULT(name, answer, member)
static const cli_option results[] = {
    FOUND("rank", factors.rank), { "inertia", OPT_INT, CLI_AT(answer, factors.inertia) },
    FOUND("smallest", smallest), FOUND("largest", largest), FOUND("tol", factors.tol),
    FOUND("sweeps", info.sweeps), FOUND("rotations", info.rotations), FOUND("cosine", info.cosine),
    { 0 }
};
static const cli_option times[] = {
    FOUND("factor_seconds", factor_seconds), FOUND("eig_seconds", eig_seconds),
    { 0 }
};
/* clang-format on */

static void print_json(cli *c, const eig_arguments *a, const factor_matrix *m, const answer *out) {
    io_json *j = cli_json_begin(c, "eig dense");
    io_json_int(j, "n", m->n);
    io_json_string(j, "type", cli_type_name(m->type));
    io_json_string(j, "method", "jjacobi");
    io_json_string(j, "pivot", out->factors.method);
    io_json_string(j, "status", shoal_system_text(out->info.status));
    cli_json_results(j, results, failed(out) ? NULL : out);
    cli_json_results(j, times, out);
    cli_json_files(j, c, &eig_dense_command, a);
}

static void print_table(const cli *c, const factor_matrix *m, const answer *out) {
    const int64_t *inertia = out->factors.inertia;
    printf("matrix         n = %" PRId64 ", %s, %s\n", m->n, cli_type_name(m->type),
           out->vectors.data ? "eigenvalues and eigenvectors" : "eigenvalues");
    printf("method         jjacobi after %s on %s, %s\n", out->factors.method, c->machine.backend,
           c->machine.device);
    printf("status         %s\n", shoal_system_text(out->info.status));
    if (!failed(out)) {
        printf("eigenvalues    %" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero\n",
               inertia[0], inertia[1], inertia[2]);
        printf("sizes          %.6g to %.6g\n", out->smallest, out->largest);
        printf("sweeps         %d, %" PRId64 " rotations\n", out->info.sweeps, out->info.rotations);
    }
    printf("time           %s, factorization %s\n", CLI_TIME(out->eig_seconds),
           CLI_TIME(out->factor_seconds));
}

static int run(cli *c, const eig_arguments *a, factor_matrix *m, answer *out) {
    shoal_symindef_opts opts = a->matrix.opts;
    opts.n = m->n, opts.type = m->type;
    opts.storage = m->form.packed ? SHOAL_PACKED : SHOAL_FULL;
    const int power = opts.tol > 0 ? 0 : scale_up(m);
    if (!(opts.tol > 0)) opts.tol = m->type == SHOAL_F32 ? (double)FLT_MIN : DBL_MIN;
    int code = compute(c, m, &opts, out);
    if (code != CLI_OK) return code;
    if (power) multiply(&out->values, -power);
    find_sizes(out);
    code = cli_array_write(a->values, &out->values);
    if (code == CLI_OK) code = cli_array_write(a->vectors, &out->vectors);
    if (code != CLI_OK) return code;
    if (failed(out)) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, m, out);
        code = cli_json_end(c, code);
    } else {
        print_table(c, m, out);
    }
    fflush(stdout);
    if (failed(out))
        cli_note(c, "%s has no eigenpairs: %s", a->matrix.matrix,
                 shoal_system_text(out->info.status));
    return code;
}

static int command(cli *c, int argc, char **argv) {
    eig_arguments a = { .matrix = { .opts.method = "complete", .no_check = true } };
    factor_matrix m = { 0 };
    answer out = { 0 };
    int code = cli_begin(c, &eig_dense_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = factor_read(c, &a.matrix, &m);
    const int64_t shape[2] = { m.n, m.n };
    const io_type type = cli_io_type(m.type);
    if (code == CLI_OK) code = cli_array_create(type, 1, shape, &out.values);
    if (code == CLI_OK && a.vectors) code = cli_array_create(type, 2, shape, &out.vectors);
    if (code == CLI_OK) code = run(c, &a, &m, &out);
    io_array_free(&out.values);
    io_array_free(&out.vectors);
    io_array_free(&m.file.a);
    return code;
}

const cli_command eig_dense_command = { "eig dense",
                                        "one dense symmetric matrix, accurate if it is graded",
                                        .args = "A.{npy,mtx,h5}",
                                        .doc = doc,
                                        .run = command,
                                        .tables = { { options, 0 } } };
