/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.c - `shoal factor`: its options, and what is printed.
 */
#include "factor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

enum { LONG_CHECK = 6000 }; /* rows from which on the check is worth a remark */

static void parse_stages(struct argp_state *state, const cli_option *row, const char *text,
                         void *arguments) {
    factor_arguments *a = arguments;
    (void)row;
    a->stage_count = 0;
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        char word[32];
        if (a->stage_count == FACTOR_STAGES)
            argp_error(state, "--stages: more than %d", FACTOR_STAGES);
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word), at);
        a->stages[a->stage_count++] = cli_arg_int(state, "--stages", word, 1, INT32_MAX);
        at += size;
        if (!*at) return;
    }
}

static void parse_delta(struct argp_state *state, const cli_option *row, const char *text,
                        void *arguments) {
    double *delta = &((factor_arguments *)arguments)->delta;
    (void)row;
    double value;
    *delta = 0;
    if (strcmp(text, "auto") == 0) return;
    if (!io_text_double(text, strlen(text), &value))
        argp_error(state, "--modify: '%s' is neither a number nor auto", text);
    *delta = cli_arg_positive(state, "--modify", text);
}

/* clang-format off */
#define AT(member) CLI_AT(factor_arguments, member)
static const cli_option options[] = {
    { NULL,        OPT_INPUT,    AT(matrix),        "A.{npy,mtx,h5}", 0, "the matrix", .needed = "the matrix" },
    { "pivot",     OPT_TEXT,     AT(opts.method),   "P",     1, "pivoting: complete, partial, rook or auto", .methods = "symindef",
      .more = "`shoal info` lists the methods." },
    { "alpha",     OPT_POSITIVE, AT(opts.alpha),    "A",     2, "a 1x1 pivot is at least A times the largest entry, 0 < A < 1", 0, 1, .usual = CLI_CHOSEN },
    { "tol",       OPT_POSITIVE, AT(opts.tol),      "T",     3, "entries of absolute value up to T are not pivots", .usual = CLI_CHOSEN },
    { NULL,        OPT_INPUT,    AT(b),             "FILE",  4, "right-hand sides of A x = b, (n) or (n,nrhs)", .letter = 'b', .with = "x" },
    { NULL,        OPT_OUTPUT,   AT(x),             "FILE",  4, "write the solutions here, in the shape of b", .letter = 'x', .with = "b", .ends = CLI_ARRAY_ENDS },
    { "refine",    OPT_FLAG,     AT(refine),        NULL,    4, "refine x iteratively; prints its backward error and a bound on its error; keeps a second copy of A", .with = "b", .without = "modify",
      .more = "The iteration ends when the backward error is at epsilon or no longer falls. Both numbers are the largest over all right-hand sides." },
    { "inverse",   OPT_OUTPUT,   AT(inverse),       "F.npy", 5, "write the inverse, (n,n)", .ends = "npy" },
    { "output",    OPT_OUTPUT,   AT(output),        "FILE",  5, "write M and D: F.h5, or F.npy with F-interchanges.npy and F-permutation.npy", .letter = 'o', .ends = "npy|h5",
      .more = "M and D take the places of A; interchanges and permutation are int32. F.h5 has the datasets factors, interchanges, permutation, d and e (the diagonal and the subdiagonal of D), and with --growth also growth." },
    { "gjgt",      OPT_OUTPUT,   AT(gjgt),          "FILE",  6, "write G of P A Pt = G J Gt, (n,rank): G.npy with G-signs.npy and G-permutation.npy, or G.h5", .ends = "npy|h5",
      .more = "J = diag(+1, -1). Rows have the order of P A Pt, columns that of the pivots. The signs in J and the permutation are int32." },
    { "partitioned", OPT_FLAG,   AT(partitioned),   NULL,    6, "with --gjgt: the columns of +1 before those of -1", .with = "gjgt" },
    { "modify",    OPT_OTHER,    AT(delta),         "DELTA", 7, "modified Cholesky: eigenvalues of D below DELTA become DELTA; x and the files are those of A + E; auto: the library chooses DELTA from |A|", .given = offsetof(factor_arguments, modify), .parse = parse_delta, .suggest = "auto",
      .more = "A + E is positive definite. Rank, inertia, condition and error remain those of A. |A| is the 1-norm. The JSON object contains DELTA." },
    { "no-check",  OPT_FLAG,     AT(no_check),      NULL,    8, "do not compute the relative error, and do not keep A for it" },
    { "packed",    OPT_FLAG,     AT(packed),        NULL,    9, "keep one triangle, n(n+1)/2 numbers (the default)", .without = "full" },
    { "full",      OPT_FLAG,     AT(full),          NULL,    9, "keep n rows of n numbers" },
    { "triangle",  OPT_CHOICE,   AT(opts.triangle), "T",     10, "the triangle that is read: lower or upper", .words = CLI_TRIANGLES, .given = offsetof(factor_arguments, triangle_given),
      .more = CLI_TRIANGLE_RULE " Pipes, HDF5 files and files larger than a quarter of the memory are not compared." },
    { "type",      OPT_CHOICE,   AT(type),          "T",     11, "f32 or f64", .words = CLI_TYPES, .usual = "that of the file; .mtx: f64", .given = offsetof(factor_arguments, type_given),
      .more = "Converts A and b. Without it b must not be f8 if A is f4." },
    { "growth",    OPT_OUTPUT,   AT(growth),        "F.svg", 12, "plot the element growth of each stage", .ends = "svg",
      .more = "1x1 and 2x2 pivots have two colours." },
    { "snapshots", OPT_TEXT,     AT(snapshots),     "DIR",   13, "write pictures of the triangle at some stages: DIR/stage-00101.png" },
    { "stages",    OPT_OTHER,    AT(stage_count),   "K[,K..]", 13, "the stages of these pictures; 1 is A itself", .with = "snapshots", .usual = "6, equally spaced", .parse = parse_stages },
    { 0 }
};
static const char doc[] =
    "Factors a dense symmetric matrix, definite or indefinite, of any rank: P A Pt = M D Mt, with 1x1 and 2x2 pivots. Prints rank, "
    "inertia, growth and determinant. A rank below n is a result, not a failure.\n\n"
    "A is a NumPy .npy file of shape (n,n), or (n(n+1)/2) with the rows of one triangle, a symmetric Matrix Market .mtx file, or a "
    "dataset of an HDF5 file: F.h5, or F.h5:/path. Only one triangle is read.\vExample:\n"
    "  shoal factor A.npy -b b.npy -x x.npy\n"
    "  shoal factor A.mtx --pivot rook -b b.npy -x x.npy --refine --json\n"
    "  shoal factor A.h5 --no-check -o F.h5\n"
    "  shoal factor A.npy --gjgt G.npy --partitioned\n"
    "  shoal factor A.npy --modify auto -b b.npy -x x.npy\n"
    "  shoal factor A.npy --growth growth.svg --snapshots folder --stages 1,101,512";
/* clang-format on */

/* A file that comes with one of -o or --gjgt, from malloc; NULL if there is none. */
static char *beside(const char *path, const char *what) {
    return path && cli_ends_in(path, ".npy") ? factor_beside(path, what) : NULL;
}

static void check_arguments(void *arguments, struct argp_state *state) {
    const factor_arguments *a = arguments;
    char *interchanges = beside(a->output, "interchanges"), *signs = beside(a->gjgt, "signs");
    char *permutation = beside(a->output, "permutation"), *of_g = beside(a->gjgt, "permutation");
    cli_check_outputs(state,
                      (const char *[CLI_OUTPUTS]){ a->x, a->output, a->gjgt, a->growth, a->inverse,
                                                   interchanges, permutation, signs, of_g },
                      NULL);
    free(interchanges);
    free(permutation);
    free(signs);
    free(of_g);
}

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
           (out->found.result.growth ||
            shoal_method_flags("symindef", out->found.info.method, NULL) & SHOAL_CAN_GROWTH);
}

/* x and the inverse are those of A + E after --modify. */
static bool singular(const factor_arguments *a, const factor_matrix *m, const answer *out) {
    return (a->x || a->inverse) && !a->modify && out->found.info.rank < m->n;
}

/* Eigenvalues of D that are pivots by the tolerance, but no larger than that: would a zero pivot of
 * exact arithmetic look so? Those of a 2x2 block [p q; q r] are |p r - q^2| / (|p| + |q| + |r|) at
 * least. */
static int64_t doubtful_pivots(const factor_matrix *m, const answer *out) {
    const factor_result *r = &out->found.result;
    const double line = out->found.info.rounding;
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

/* ---- what is printed -------------------------------------------------------------------------- */

static int64_t positive_signs(const factor_forms *forms) {
    int64_t count = 0;
    for (int64_t k = 0; k < forms->G.shape[1]; k++) count += forms->signs[k] > 0;
    return count;
}

/* A file and those beside it, which are named in the JSON object as `keys`. */
static void print_files_of(io_json *j, const char *key, const char *path,
                           const char *const names[2], const char *const keys[2]) {
    io_json_string(j, key, path);
    for (int i = 0; i < 2 && cli_ends_in(path, ".npy"); i++) {
        char *beside = factor_beside(path, names[i]);
        if (beside) io_json_string(j, keys[i], beside);
        free(beside);
    }
}

static void print_files(io_json *j, const factor_arguments *a, bool written) {
    static const char *const factors[] = { "interchanges", "permutation" };
    static const char *const signs[] = { "signs", "permutation" };
    io_json_object(j, "files");
    io_json_string(j, "A", a->matrix);
    if (a->b) io_json_string(j, "b", a->b);
    if (a->x) io_json_string(j, "x", a->x);
    if (a->output && written) print_files_of(j, "factors", a->output, factors, factors);
    if (a->inverse && written) io_json_string(j, "inverse", a->inverse);
    if (a->gjgt && written)
        print_files_of(j, "gjgt", a->gjgt, signs, (const char *[]){ "signs", "gjgt_permutation" });
    if (a->growth && written) io_json_string(j, "growth", a->growth);
    if (a->snapshots && written) io_json_string(j, "snapshots", a->snapshots);
    io_json_close(j);
}

/* clang-format off */
#define INFO(name, member) CLI_RESULT(name, answer, found.info.member)
static const cli_option tol_results[] = { INFO("tol", tol), { 0 } };
static const cli_option pivot_results[] = {
    INFO("rank", rank),
    { "inertia", OPT_INT, CLI_AT(answer, found.info.inertia) },
    CLI_RESULT("doubtful_pivots", answer, doubtful),
    INFO("pivots_1x1", pivots_1x1), INFO("pivots_2x2", pivots_2x2),
    INFO("swaps_1x1", swaps_1x1), INFO("swaps_2x2", swaps_2x2), INFO("largest", largest),
    { 0 }
};
static const cli_option growth_results[] = { INFO("growth", growth), { 0 } };
static const cli_option det_results[] = {
    INFO("max_multiplier", max_multiplier), INFO("log_abs_det", log_abs_det), INFO("sign_det", sign_det),
    { 0 }
};
static const cli_option error_results[] = {
    INFO("comparisons", comparisons), INFO("block_cond", block_cond), INFO("growth_bound", growth_bound),
    INFO("error_bound", error_bound),
    CLI_RESULT("rcond", answer, found.rcond), CLI_RESULT("relative_error", answer, relative_error),
    { 0 }
};
static const cli_option refine_results[] = {
    CLI_RESULT("backward_error", answer, found.backward), CLI_RESULT("forward_bound", answer, found.forward),
    { 0 }
};
static const cli_option modify_results[] = {
    CLI_RESULT("delta", factor_forms, change.delta), CLI_RESULT("lifted", factor_forms, change.lifted),
    CLI_RESULT("largest", factor_forms, change.largest), CLI_RESULT("relative_change", factor_forms, change_error),
    { 0 }
};
/* clang-format on */

/* The members "modify" and "gjgt", null if nothing is `known`. */
static void print_forms_json(io_json *j, const factor_arguments *a, const factor_forms *forms,
                             bool known) {
    if (a->modify && !known) io_json_null(j, "modify");
    if (a->modify && known) {
        io_json_object(j, "modify");
        cli_json_results(j, modify_results, forms);
        io_json_close(j);
    }
    if (a->gjgt && !known) io_json_null(j, "gjgt");
    if (a->gjgt && known) {
        io_json_object(j, "gjgt");
        io_json_bool(j, "partitioned", a->partitioned);
        io_json_int(j, "columns", forms->G.shape[1]);
        io_json_int(j, "positive", positive_signs(forms));
        io_json_double(j, "relative_error", forms->gjgt_error);
        io_json_close(j);
    }
}

static void print_json(cli *c, const factor_arguments *a, const factor_matrix *m,
                       const answer *out) {
    const shoal_symindef_info *i = &out->found.info;
    const answer *known = failed(out) ? NULL : out;
    io_json *j = cli_json_begin(c, "factor");
    io_json_int(j, "n", m->n);
    io_json_string(j, "type", cli_type_name(m->type));
    io_json_string(j, "storage", m->form.packed ? "packed" : "full");
    io_json_string(j, "triangle", cli_triangle_name(a->opts.triangle));
    io_json_string(j, "method", i->method);
    cli_json_word(j, "variant", i->variant);
    io_json_double(j, "alpha", i->alpha);
    cli_json_results(j, tol_results, known);
    io_json_string(j, "status", shoal_system_text(i->status));
    cli_json_results(j, pivot_results, known);
    cli_json_results(j, growth_results, growth_known(out) ? out : NULL);
    cli_json_results(j, det_results, known);
    cli_json_results(j, error_results, out);
    if (a->refine) cli_json_results(j, refine_results, out);
    print_forms_json(j, a, &out->forms, known);
    io_json_double(j, "factor_seconds", out->found.seconds);
    if (a->snapshots && known) io_json_ints(j, "stages", a->stages, a->stage_count);
    print_files(j, a, known);
}

/* One line of the table, of a number that may be NaN: not known. */
static void print_number(const char *name, double value) {
    if (isnan(value))
        printf("%-14s not known\n", name);
    else
        printf("%-14s %.6g\n", name, value);
}

static void print_forms(const factor_arguments *a, const factor_forms *forms) {
    if (a->modify) {
        printf("modified       raised %s of D to %.6g, by up to %.6g\n",
               CLI_COUNT(forms->change.lifted, "eigenvalue"), forms->change.delta,
               forms->change.largest);
        print_number("|E| / |A|", forms->change_error);
    }
    if (a->gjgt) {
        printf("G J Gt         %s, %" PRId64 " of +1%s\n", CLI_COUNT(forms->G.shape[1], "column"),
               positive_signs(forms), a->partitioned ? ", these first" : "");
        print_number("G J Gt error", forms->gjgt_error);
    }
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
        print_number("max |A|", i->largest);
        print_number("growth", growth_known(out) ? i->growth : (double)NAN);
        print_number("growth bound", i->growth_bound);
        print_number("max multiplier", i->max_multiplier);
        printf("comparisons    %" PRId64 "\n", i->comparisons);
        print_number("cond. of D", i->block_cond);
        printf("det            sign %d, log |det| %.6g\n", i->sign_det, i->log_abs_det);
        print_number("rcond", out->found.rcond);
        print_number("relative error", out->relative_error);
        print_number("error bound", growth_known(out) ? i->error_bound : (double)NAN);
        if (a->refine) print_number("backward error", out->found.backward);
        if (a->refine) print_number("forward bound", out->found.forward);
        printf("alpha, tol     %.6g, %.6g\n", i->alpha, i->tol);
        print_forms(a, &out->forms);
    }
    printf("factor time    %s\n", CLI_TIME(out->found.seconds));
}

static int write_files(cli *c, const factor_arguments *a, const factor_matrix *m,
                       const cli_array *b, void *x, const answer *out) {
    const factor_result *r = &out->found.result;
    int code = CLI_OK;
    if (a->x) code = cli_numbers_write(a->x, b->a.type, b->a.ndim, b->a.shape, x);
    if (failed(out)) return code; /* what is left of A means nothing */
    if (code == CLI_OK && a->output) code = factor_write(a, m, r);
    if (code == CLI_OK) code = cli_array_write(a->inverse, &out->inverse);
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
        cli_note(c, "%s is singular: its rank is %" PRId64 " of %" PRId64 ", and %s is NaN",
                 a->matrix, out->found.info.rank, m->n, a->x ? "x" : "the inverse");
    else if (out->not_finite)
        cli_note(c, "%s: not finite: b is not finite, or a step overflowed", a->x);
    else if ((a->x || a->inverse) && !a->modify && out->found.rcond < out->found.info.epsilon)
        cli_note(c, "%s is singular to working precision: rcond is %.2g", a->matrix,
                 out->found.rcond);
    if (out->doubtful > 0)
        cli_note(c,
                 "%" PRId64
                 " of the pivots may be rounding errors: they are below n epsilon max |A| = "
                 "%.2g; the rank may be %" PRId64 "; --tol sets the limit",
                 out->doubtful, out->found.info.rounding, out->found.info.rank - out->doubtful);
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
    if (!failed(out) && !a->no_check) {
        if (m->n > LONG_CHECK)
            cli_note(c, "the check of n = %" PRId64 " takes long; --no-check skips it", m->n);
        out->relative_error = factor_check(c, a, m, &out->found.result, &out->forms);
    }
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
        return cli_fail(CLI_UNAVAILABLE, "%s: not enough memory for another %zu bytes", a->matrix,
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
    return cli_fail(CLI_UNAVAILABLE, "--inverse %s: not enough memory for %" PRId64 " bytes",
                    a->inverse, bytes);
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
    int code = cli_begin(c, &factor_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = factor_read(c, &a, &m);
    if (code == CLI_OK && a.snapshots) code = factor_choose_stages(&a, m.n);
    if (code == CLI_OK && a.b) code = factor_read_b(c, &a, &m, &b);
    if (code == CLI_OK && a.b) code = cli_array_create(b.a.type, b.a.ndim, b.a.shape, &x);
    if (code == CLI_OK) code = allocate(&a, &m, r);
    if (code == CLI_OK && a.inverse) code = allocate_inverse(&a, &m, &out.inverse);
    if (code == CLI_OK) code = run(c, &a, &m, &b, x.data, &out);
    if (r->factors != m.file.a.data) free(r->factors);
    free(r->interchanges);
    free(r->permutation);
    free(r->growth);
    free(out.forms.d);
    free(out.forms.e);
    free(out.forms.signs);
    io_array_free(&out.forms.G);
    io_array_free(&out.inverse);
    io_array_free(&x);
    io_array_free(&b.a);
    io_array_free(&m.file.a);
    return code;
}

const cli_command factor_command = { "factor",
                                     "factor a dense symmetric matrix: solution, rank, inertia",
                                     .args = "A.{npy,mtx,h5}",
                                     .doc = doc,
                                     .run = command,
                                     .tables = { { options, 0 } },
                                     .check = check_arguments };
