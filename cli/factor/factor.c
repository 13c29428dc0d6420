/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.c - `shoal factor`: P A Pt = M D Mt of one dense symmetric matrix, and what is printed.
 *
 * factor_files.c reads and writes, factor_run.c calls the library, factor_forms.c has what it makes of
 * the factors, factor_check.c measures errors and factor_pictures.c draws.
 */
#include "cli/common/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"

enum { LONG_CHECK = 6000 }; /* rows from which on the check is worth a remark */

typedef struct answer {
    factor_found found;
    factor_forms forms;
    double relative_error; /* NaN: not known */
    int64_t doubtful;      /* pivots that may be rounding errors */
    io_array inverse;
    bool not_finite; /* x, though A has full rank */
} answer;

static bool failed(const answer *out) { return out->found.info.status < 0; }

static bool growth_known(const answer *out) {
    return !failed(out) &&
           (out->found.result.growth || strcmp(out->found.info.method, "complete") == 0);
}

/* x and the inverse are those of A + E after --modify. */
static bool singular(const factor_arguments *a, const factor_matrix *m, const answer *out) {
    return (a->x || a->inverse) && !a->modify && out->found.info.rank < m->n;
}

static double rounding_unit(const factor_matrix *m) {
    return m->type == SHOAL_F32 ? 0x1p-23 : 0x1p-52;
}

/* Rounding errors of the factorization may be as large as a pivot below this. */
static double rounding_of(const factor_matrix *m, const answer *out) {
    return (double)m->n * rounding_unit(m) * out->found.info.largest;
}

/* Eigenvalues of D that are pivots by the tolerance, but no larger than that: would a zero pivot of
 * exact arithmetic look so? Those of a 2x2 block [p q; q r] are |p r - q^2| / (|p| + |q| + |r|) at
 * least. */
static int64_t doubtful_pivots(const factor_matrix *m, const answer *out) {
    const factor_result *r = &out->found.result;
    const double line = rounding_of(m, out);
    int64_t count = 0;
    for (int64_t k = 0; k < m->n; k++) {
        const double p = factor_entry(m, r->factors, k, k);
        if (k + 1 < m->n && r->interchanges[k + 1] < 0) {
            const double q = factor_entry(m, r->factors, k + 1, k);
            const double s = factor_entry(m, r->factors, k + 1, k + 1);
            const double size = fmax(fmax(fabs(p), fabs(s)), fabs(q));
            count += fabs(p / size * s - q / size * q) / 3 <= line;
            k++;
        } else {
            count += p != 0 && fabs(p) <= line;
        }
    }
    return count;
}

static bool all_finite(const cli_array *like, const void *x) {
    const int64_t count = io_array_count(&like->a);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(like->a.type == IO_F4 ? ((const float *)x)[i] : ((const double *)x)[i]))
            return false;
    return true;
}

static double alpha_of(const factor_arguments *a) {
    return a->opts.alpha > 0 ? a->opts.alpha : (1 + sqrt(17.0)) / 8;
}

static void json_count(io_json *j, const char *key, int64_t value, bool known) {
    if (known)
        io_json_int(j, key, value);
    else
        io_json_null(j, key);
}

static void print_files(io_json *j, const factor_arguments *a, bool written) {
    const bool several = a->output && cli_ends_in(a->output, ".npy");
    char *interchanges = several ? factor_beside(a->output, "interchanges") : NULL;
    char *permutation = several ? factor_beside(a->output, "permutation") : NULL;
    io_json_object(j, "files");
    io_json_string(j, "A", a->matrix);
    if (a->b) io_json_string(j, "b", a->b);
    if (a->x) io_json_string(j, "x", a->x);
    if (a->output && written) io_json_string(j, "factors", a->output);
    if (interchanges && written) io_json_string(j, "interchanges", interchanges);
    if (permutation && written) io_json_string(j, "permutation", permutation);
    if (a->inverse && written) io_json_string(j, "inverse", a->inverse);
    if (a->gjgt && written) factor_json_gjgt_files(j, a);
    if (a->growth && written) io_json_string(j, "growth", a->growth);
    if (a->snapshots && written) io_json_string(j, "snapshots", a->snapshots);
    io_json_close(j);
    free(interchanges);
    free(permutation);
}

static void print_json(cli *c, const factor_arguments *a, const factor_matrix *m,
                       const answer *out) {
    const shoal_symindef_info *i = &out->found.info;
    const bool known = !failed(out);
    io_json *j = cli_json_begin(c, "factor");
    io_json_int(j, "n", m->n);
    io_json_string(j, "type", cli_type_name(m->type));
    io_json_string(j, "storage", m->form.packed ? "packed" : "full");
    io_json_string(j, "triangle", cli_triangle_name(a->opts.triangle));
    io_json_string(j, "method", i->method);
    io_json_string(j, "variant", *i->variant ? i->variant : NULL);
    io_json_double(j, "alpha", alpha_of(a));
    io_json_double(j, "tol", known ? i->tol : (double)NAN);
    io_json_string(j, "status", shoal_system_text(i->status));
    json_count(j, "rank", i->rank, known);
    if (known)
        io_json_ints(j, "inertia", i->inertia, 3);
    else
        io_json_null(j, "inertia");
    json_count(j, "doubtful_pivots", out->doubtful, known);
    json_count(j, "pivots_1x1", i->pivots_1x1, known);
    json_count(j, "pivots_2x2", i->pivots_2x2, known);
    json_count(j, "swaps_1x1", i->swaps_1x1, known);
    json_count(j, "swaps_2x2", i->swaps_2x2, known);
    io_json_double(j, "largest", known ? i->largest : (double)NAN);
    io_json_double(j, "growth", growth_known(out) ? i->growth : (double)NAN);
    io_json_double(j, "max_multiplier", known ? i->max_multiplier : (double)NAN);
    io_json_double(j, "log_abs_det", known ? i->log_abs_det : (double)NAN);
    json_count(j, "sign_det", i->sign_det, known);
    io_json_double(j, "rcond", out->found.rcond);
    io_json_double(j, "relative_error", out->relative_error);
    if (a->refine) io_json_double(j, "backward_error", out->found.backward);
    if (a->refine) io_json_double(j, "forward_bound", out->found.forward);
    factor_json_forms(j, a, &out->forms, known);
    io_json_double(j, "factor_seconds", out->found.seconds);
    if (a->snapshots && known) io_json_ints(j, "stages", a->stages, a->stage_count);
    print_files(j, a, known);
}

static void print_table(const cli *c, const factor_arguments *a, const factor_matrix *m,
                        const answer *out) {
    const shoal_symindef_info *i = &out->found.info;
    printf("matrix         n = %" PRId64 ", %s triangle, %s, %s\n", m->n,
           cli_triangle_name(a->opts.triangle), m->form.packed ? "packed" : "full storage",
           cli_type_name(m->type));
    printf("method         %s", i->method);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    printf("status         %s\n", shoal_system_text(i->status));
    if (!failed(out)) {
        printf("rank           %" PRId64 "\n", i->rank);
        printf("inertia        %" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero\n",
               i->inertia[0], i->inertia[1], i->inertia[2]);
        printf("pivots         %" PRId64 " 1x1, %" PRId64 " 2x2\n", i->pivots_1x1, i->pivots_2x2);
        printf("swaps          %" PRId64 " for 1x1, %" PRId64 " for 2x2\n", i->swaps_1x1,
               i->swaps_2x2);
        factor_print_number("max |A|", i->largest);
        factor_print_number("growth", growth_known(out) ? i->growth : (double)NAN);
        factor_print_number("max multiplier", i->max_multiplier);
        printf("det            sign %d, log |det| %.6g\n", i->sign_det, i->log_abs_det);
        factor_print_number("rcond", out->found.rcond);
        factor_print_number("relative error", out->relative_error);
        if (a->refine) factor_print_number("backward error", out->found.backward);
        if (a->refine) factor_print_number("forward bound", out->found.forward);
        printf("alpha, tol     %.6g, %.6g\n", alpha_of(a), i->tol);
        factor_print_forms(a, &out->forms);
    }
    printf("factor time    %.4g s\n", out->found.seconds);
}

static int write_files(cli *c, const factor_arguments *a, const factor_matrix *m,
                       const cli_array *b, void *x, const answer *out) {
    const factor_result *r = &out->found.result;
    int code = CLI_OK;
    if (a->x) code = cli_array_write(a->x, b->a.type, b->a.ndim, b->a.shape, x);
    if (failed(out)) return code; /* what is left of A means nothing */
    if (code == CLI_OK && a->output) code = factor_write(a, m, r);
    if (code == CLI_OK && a->inverse)
        code = cli_array_write(a->inverse, out->inverse.type, 2, out->inverse.shape,
                               out->inverse.data);
    if (code == CLI_OK && a->gjgt) code = factor_write_gjgt(a, m, r, &out->forms);
    if (code == CLI_OK && a->growth) code = factor_draw_growth(a, m, &out->found);
    if (code == CLI_OK && a->snapshots) code = factor_draw_stages(c, a, m, r->factors);
    return code;
}

static void explain(const cli *c, const factor_arguments *a, const factor_matrix *m,
                    const answer *out) {
    fflush(stdout); /* the table first, also where both go to one file */
    if (failed(out))
        cli_note(c, "%s cannot be factored: %s", a->matrix,
                 shoal_system_text(out->found.info.status));
    else if (singular(a, m, out))
        cli_note(c, "%s is singular, its rank is %" PRId64 " of %" PRId64 ": %s is NaN", a->matrix,
                 out->found.info.rank, m->n, a->x ? "x" : "the inverse");
    else if (out->not_finite)
        cli_note(c, "%s: not finite: b is not, or a step overflowed", a->x);
    else if ((a->x || a->inverse) && !a->modify && out->found.rcond < rounding_unit(m))
        cli_note(c, "%s is singular to working precision: rcond is %.2g", a->matrix,
                 out->found.rcond);
    if (out->doubtful > 0)
        cli_note(c,
                 "%" PRId64 " of the pivots are between the tolerance and n eps max |A| = %.2g, as "
                 "rounding errors are: the rank may be %" PRId64 "; --tol draws the line",
                 out->doubtful, rounding_of(m, out), out->found.info.rank - out->doubtful);
}

static void check(const cli *c, const factor_arguments *a, const factor_matrix *m, answer *out) {
    const factor_result *r = &out->found.result;
    factor_forms *forms = &out->forms;
    if (m->n > LONG_CHECK)
        cli_note(c, "the check of n = %" PRId64 " takes long; --no-check skips it", m->n);
    out->relative_error = factor_error(c, m, r, forms->d, forms->e);
    if (a->modify) forms->change_error = factor_error(c, m, r, NULL, NULL);
    if (a->gjgt) forms->gjgt_error = factor_gjgt_error(c, m, r, forms, a->partitioned);
}

static int run(cli *c, const factor_arguments *a, const factor_matrix *m, const cli_array *b,
               void *x, answer *out) {
    const factor_sides sides = { b->a.ndim == 2 ? b->a.shape[1] : 1, b->a.data, x,
                                 a->refine ? m->file.a.data : NULL };
    int code =
        factor_run(c, a, m, 0, a->x ? &sides : NULL, out->inverse.data, &out->forms, &out->found);
    if (code != CLI_OK) return code;
    if (!failed(out) && !a->modify) out->doubtful = doubtful_pivots(m, out);
    out->not_finite = a->x && !failed(out) && !singular(a, m, out) && !all_finite(b, x);
    if (!failed(out) && !a->no_check) check(c, a, m, out);
    if (cli_interrupted()) return CLI_INTERRUPTED;
    code = write_files(c, a, m, b, x, out);
    if (code != CLI_OK) return code;
    if (failed(out) || singular(a, m, out) || out->not_finite) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, m, out);
        code = cli_json_end(c, code);
    } else {
        print_table(c, a, m, out);
    }
    explain(c, a, m, out);
    return code;
}

/* Arrays of the result. The factors take the place of A where nothing needs A any more. */
static int allocate(const factor_arguments *a, const factor_matrix *m, factor_result *r) {
    const bool keep = !a->no_check || a->snapshots || a->refine;
    const size_t n = (size_t)m->n;
    r->factors = keep ? malloc(m->bytes + 1) : m->file.a.data;
    r->interchanges = calloc(n + 1, sizeof *r->interchanges);
    r->permutation = calloc(n + 1, sizeof *r->permutation);
    r->growth = a->growth ? calloc(n + 1, sizeof *r->growth) : NULL;
    if (!r->factors || !r->interchanges || !r->permutation || (a->growth && !r->growth))
        return cli_fail(CLI_UNAVAILABLE, "%s: no memory for another %zu bytes", a->matrix,
                        m->bytes);
    if (keep) memcpy(r->factors, m->file.a.data, m->bytes);
    return CLI_OK;
}

static int allocate_inverse(const factor_arguments *a, const factor_matrix *m, io_array *inverse) {
    const int64_t shape[2] = { m->n, m->n };
    int64_t count = 0, bytes = INT64_MAX;
    io_error err;
    if (io_shape_bytes(m->file.a.type, 2, shape, &count, &bytes) == IO_OK &&
        bytes <= io_memory_bytes() &&
        io_array_create(m->file.a.type, 2, shape, inverse, &err) == IO_OK)
        return CLI_OK;
    return cli_fail(CLI_UNAVAILABLE, "--inverse %s: %" PRId64 " bytes: no memory", a->inverse,
                    bytes);
}

static int command(cli *c, int argc, char **argv) {
    factor_arguments a = { .opts.method = "auto" };
    factor_matrix m = { 0 };
    cli_array b = { 0 };
    io_array x = { 0 };
    answer out = { .found.rcond = (double)NAN,
                   .forms = { .change_error = (double)NAN, .gjgt_error = (double)NAN },
                   .relative_error = (double)NAN };
    factor_result *r = &out.found.result;
    io_error err;
    int code = cli_begin(c, &factor_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = factor_read(&a, &m);
    if (code == CLI_OK && a.snapshots) code = factor_choose_stages(&a, m.n);
    if (code == CLI_OK && a.b) code = factor_read_b(c, &a, &m, &b);
    if (code == CLI_OK && a.b)
        code = cli_io(io_array_create(b.a.type, b.a.ndim, b.a.shape, &x, &err), &err);
    if (code == CLI_OK) code = allocate(&a, &m, r);
    if (code == CLI_OK && a.inverse) code = allocate_inverse(&a, &m, &out.inverse);
    if (code == CLI_OK) code = run(c, &a, &m, &b, x.data, &out);
    if (r->factors != m.file.a.data) free(r->factors);
    free(r->interchanges);
    free(r->permutation);
    free(r->growth);
    factor_free_forms(&out.forms);
    io_array_free(&out.inverse);
    io_array_free(&x);
    io_array_free(&b.a);
    io_array_free(&m.file.a);
    return code;
}

const cli_command factor_command = { "factor",
                                     "factor a dense symmetric matrix: rank, inertia, x",
                                     .args = "A.{npy,mtx,h5}",
                                     .doc = factor_doc,
                                     .run = command,
                                     .tables = { { factor_options, 0 } },
                                     .check = factor_check_arguments };
