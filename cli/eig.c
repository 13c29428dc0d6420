/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.c - eigenpairs of a batch that was read: found, written, summed up. `shoal eig small` and
 * `shoal eig tridiag` differ in their input alone.
 *
 * As in solve_small.c, a large batch goes through the context in slices of about SLICE numbers. The
 * library judges pairs where a residual is asked for, and needs the vectors for that: so it is asked
 * for with the vectors, or if it is to be written, and values alone are found without either.
 */
#include "eig.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SLICE = 1 << 22 };

/* clang-format off */
static const struct {
    const char *option;
    io_type type;
    int64_t entries; /* of a matrix */
} outcomes[EIG_OUTCOMES] = {
    [EIG_STATUS]   = { "status",   IO_I4, 1 },
    [EIG_RESIDUAL] = { "residual", IO_F4, 1 },
    [EIG_RCOND]    = { "rcond",    IO_F4, 1 },
    [EIG_RANK]     = { "rank",     IO_I4, 1 },
    [EIG_INERTIA]  = { "inertia",  IO_I4, 3 },
};

enum { KEY_METHOD = 0x2000, KEY_VARIANT, KEY_COND, KEY_TOL, KEY_OUTCOME };

static const struct argp_option options[] = {
    { "values",   'w',          "FILE", 0, "write the eigenvalues here, ascending", 2 },
    { "vectors",  'v',          "FILE", 0, "write the eigenvectors here [values alone]", 3 },
    { "method",   KEY_METHOD,   "M",    0, "auto or eigdc, which are the same [eigdc]", 4 },
    { "variant",  KEY_VARIANT,  "V",    0, "variant of the method, middle or gragg: how the secular "
                                           "equation is solved [middle]", 5 },
    { "cond",     KEY_COND,     "C",    0, "eigenvalues below the largest / C are zeros to --rank and "
                                           "--inertia [1e5 in f32, 1e12 in f64]", 8 },
    { "tol",      KEY_TOL,      "T",    0, "residual above which a pair is not trusted "
                                           "[9 n units of roundoff]", 9 },
    { "status",   KEY_OUTCOME + EIG_STATUS,   "FILE", 0, "write what became of each matrix: int32, 0 ok, "
                                                         "> 0 warning, < 0 no answer", 10 },
    { "residual", KEY_OUTCOME + EIG_RESIDUAL, "FILE", 0, "write the largest residual of each matrix's "
                                                         "pairs: float32", 11 },
    { "rcond",    KEY_OUTCOME + EIG_RCOND,    "FILE", 0, "write min|w| / max|w|: float32", 12 },
    { "rank",     KEY_OUTCOME + EIG_RANK,     "FILE", 0, "write the numerical rank: int32", 13 },
    { "inertia",  KEY_OUTCOME + EIG_INERTIA,  "FILE", 0, "write the numbers of positive, negative and zero "
                                                         "eigenvalues: int32, (count,3)", 14 },
    { 0 }
};
/* clang-format on */

typedef struct answer { /* host arrays, and the sums over all slices */
    io_array w, v, out[EIG_OUTCOMES];
    int64_t solved, failed, warned;
    float max_residual;
    const char *method, *variant;
    double seconds;
} answer;

static error_t parse(int key, char *arg, struct argp_state *state) {
    eig_arguments *a = state->input;
    if (key >= KEY_OUTCOME && key < KEY_OUTCOME + EIG_OUTCOMES) {
        a->out[key - KEY_OUTCOME] = arg;
        return 0;
    }
    /* clang-format off */
    switch (key) {
    case 'w':         a->values = arg; return 0;
    case 'v':         a->vectors = arg; return 0;
    case KEY_METHOD:  a->method = arg; return 0;
    case KEY_VARIANT: a->variant = arg; return 0;
    case KEY_COND:    a->cond = cli_arg_positive(state, "--cond", arg); return 0;
    case KEY_TOL:     a->tol = cli_arg_positive(state, "--tol", arg); return 0;
    default:          return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

const struct argp eig_common = { .options = options, .parser = parse };

void eig_check(const eig_arguments *a, struct argp_state *state) {
    const char *files[EIG_OUTCOMES + 2] = { a->values, a->vectors };
    if (!a->values) argp_error(state, "-w is missing: where to write the eigenvalues");
    for (int i = 0; i < EIG_OUTCOMES; i++) files[2 + i] = a->out[i];
    for (int i = 0; i < EIG_OUTCOMES + 2; i++)
        for (int k = 0; k < i; k++)
            if (files[i] && files[k] && strcmp(files[i], files[k]) == 0 &&
                strncmp(files[i], "/dev/", 5) != 0)
                argp_error(state, "%s is given for two outputs", files[i]);
}

/* Statuses are always wanted, to name the first failure. */
static bool wanted(const eig_arguments *a, int outcome) {
    if (outcome == EIG_RESIDUAL && a->vectors) return true;
    return outcome == EIG_STATUS || a->out[outcome];
}

enum { IN, BELOW, W, V, OUT, ARRAYS = OUT + EIG_OUTCOMES }; /* IN: A or d; BELOW: e */

static shoal_status find(shoal_smallsym *plan, const small_batch *batch, void *const *m) {
    const bool single = batch->type == SHOAL_F32;
    if (batch->tridiagonal && single)
        return shoal_smallsym_eigtridiagf(plan, m[IN], m[BELOW], m[W], m[V]);
    if (batch->tridiagonal) return shoal_smallsym_eigtridiag(plan, m[IN], m[BELOW], m[W], m[V]);
    if (single) return shoal_smallsym_eigf(plan, m[IN], m[W], m[V]);
    return shoal_smallsym_eig(plan, m[IN], m[W], m[V]);
}

static void add_up(const shoal_smallsym_info *info, int64_t count, answer *out) {
    out->method = info->method; /* words of the library's tables: they outlive the plan */
    out->variant = info->variant;
    out->solved += count;
    out->failed += info->failed;
    out->warned += info->warned;
    if (!(info->max_residual <= out->max_residual) && !isnan(out->max_residual))
        out->max_residual = info->max_residual; /* NaN, could not be computed, stays */
}

/* One slice: matrices first .. first + opts->count - 1. An interleaved batch is one slice. */
static int find_slice(cli *c, const eig_arguments *a, const small_batch *batch,
                      const shoal_smallsym_opts *opts, int64_t first, answer *out) {
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t n = (size_t)batch->n, below = n > 0 ? n - 1 : 0;
    const size_t entries = batch->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * n;
    size_t one[ARRAYS] = { (batch->tridiagonal ? n : entries) * item, below * item, n * item,
                           n * n * item };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    const void *from[] = { batch->tridiagonal ? batch->d.a.data : batch->A.a.data,
                           batch->tridiagonal ? batch->e.a.data : NULL };
    void *to[ARRAYS] = { [W] = out->w.data, [V] = a->vectors ? out->v.data : NULL };
    for (int i = 0; i < EIG_OUTCOMES; i++) {
        one[OUT + i] = 4 * (size_t)outcomes[i].entries;
        to[OUT + i] = wanted(a, i) ? out->out[i].data : NULL;
    }
    const size_t count = (size_t)opts->count, before = (size_t)first;
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_smallsym_create(c->ctx, opts, &plan);
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++)
        if (i < W ? from[i] : to[i]) s = shoal_alloc(c->ctx, count * one[i], &m[i]);
    for (int i = 0; i < W && s == SHOAL_OK; i++)
        if (from[i])
            s = shoal_copy(c->ctx, m[i], (const char *)from[i] + before * one[i], count * one[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + EIG_STATUS],
                                      .residual = m[OUT + EIG_RESIDUAL],
                                      .rcond = m[OUT + EIG_RCOND],
                                      .rank = m[OUT + EIG_RANK],
                                      .inertia = m[OUT + EIG_INERTIA] };
        s = shoal_smallsym_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = find(plan, batch, m);
    if (s == SHOAL_OK) s = shoal_smallsym_last(plan, &info);
    out->seconds += s == SHOAL_OK ? cli_now() - begin : 0;
    for (int i = W; i < ARRAYS && s == SHOAL_OK; i++)
        if (to[i]) s = shoal_copy(c->ctx, (char *)to[i] + before * one[i], m[i], count * one[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) add_up(&info, opts->count, out);
    shoal_smallsym_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static int find_all(cli *c, const eig_arguments *a, const small_batch *batch, answer *out) {
    shoal_smallsym_opts opts = { .n = batch->n,
                                 .nrhs = 1,
                                 .type = batch->type,
                                 .layout = batch->layout,
                                 .storage = batch->storage,
                                 .triangle = a->triangle,
                                 .method = a->method,
                                 .variant = a->variant,
                                 .tol = a->tol,
                                 .cond = a->cond };
    const int64_t count = batch->n == 0 ? 0 : batch->count;
    int64_t slice = batch->count;
    if (count > 1 && batch->layout == SHOAL_SYSTEM_MAJOR) {
        slice = SLICE / batch->n / batch->n;
        if (slice < 1) slice = 1;
    }
    cli_progress bar;
    cli_progress_begin(&bar, c, "eig", count);
    int code = CLI_OK;
    int64_t first = 0;
    do { /* once even for an empty batch: method and variant are checked there */
        opts.count = count - first < slice ? count - first : slice;
        code = find_slice(c, a, batch, &opts, first, out);
        first += opts.count;
        cli_progress_step(&bar, first);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    } while (code == CLI_OK && first < count);
    cli_progress_end(&bar);
    if (code == CLI_OK) out->solved = batch->count;
    if (count == 0 && wanted(a, EIG_RESIDUAL)) out->max_residual = 0;
    if (count > 0 && out->failed == out->solved) out->max_residual = -1; /* nothing was answered */
    return code;
}

static int write_array(const char *path, io_array *array) {
    return cli_array_write(path, array->type, array->ndim, array->shape, array->data);
}

static int write_files(const eig_arguments *a, answer *out) {
    int code = write_array(a->values, &out->w);
    if (code == CLI_OK && a->vectors) code = write_array(a->vectors, &out->v);
    for (int i = 0; i < EIG_OUTCOMES && code == CLI_OK; i++)
        if (a->out[i]) code = write_array(a->out[i], &out->out[i]);
    return code;
}

static void print_json(cli *c, const eig_arguments *a, const small_batch *batch,
                       const answer *out) {
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    const double n = batch->n > 0 ? (double)batch->n : 1;
    io_json *j = cli_json_begin(c, batch->tridiagonal ? "eig tridiag" : "eig small");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_string(j, "type", cli_type_name(batch->type));
    if (batch->tridiagonal) {
        io_json_string(j, "layout", cli_layout_name(batch->layout));
    } else {
        io_json_string(j, "storage", batch->storage == SHOAL_PACKED ? "packed" : "full");
        io_json_string(j, "triangle", cli_triangle_name(a->triangle));
    }
    io_json_string(j, "method", out->method ? out->method : a->method);
    io_json_string(j, "variant", out->variant && *out->variant ? out->variant : NULL);
    io_json_bool(j, "vectors", a->vectors);
    io_json_double(j, "tol", a->tol > 0 ? a->tol : 10 * n * roundoff);
    io_json_double(j, "cond", a->cond > 0 ? a->cond : batch->type == SHOAL_F32 ? 1e5 : 1e12);
    io_json_int(j, "solved", out->solved);
    io_json_int(j, "failed", out->failed);
    io_json_int(j, "warned", out->warned);
    if (out->max_residual >= 0)
        io_json_float(j, "max_residual", out->max_residual);
    else
        io_json_null(j, "max_residual");
    io_json_double(j, "eig_seconds", out->seconds);
    io_json_object(j, "files");
    if (a->A) io_json_string(j, "A", a->A);
    if (a->d) io_json_string(j, "d", a->d);
    if (a->e) io_json_string(j, "e", a->e);
    io_json_string(j, "values", a->values);
    if (a->vectors) io_json_string(j, "vectors", a->vectors);
    for (int i = 0; i < EIG_OUTCOMES; i++)
        if (a->out[i]) io_json_string(j, outcomes[i].option, a->out[i]);
    io_json_close(j);
}

static void print_table(const cli *c, const eig_arguments *a, const small_batch *batch,
                        const answer *out) {
    printf("matrices      %lld of %lld rows%s, %s, %s\n", (long long)batch->count,
           (long long)batch->n, batch->tridiagonal ? ", tridiagonal" : "",
           a->vectors ? "values and vectors" : "values", cli_type_name(batch->type));
    printf("method        %s", out->method);
    if (out->variant && *out->variant) printf(" (%s)", out->variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    printf("failed        %lld\n", (long long)out->failed);
    printf("warned        %lld\n", (long long)out->warned);
    if (out->max_residual >= 0)
        printf("max residual  %.3g\n", (double)out->max_residual);
    else
        printf("max residual  not known\n");
    printf("eig time      %.4g s\n", out->seconds);
}

/* Host arrays for the answer, w and V in shapes like the input's. A small file may claim any count
 * of matrices without rows: what is not to be written is not asked for then. */
static int create_answer(const eig_arguments *a, const small_batch *batch, answer *out) {
    io_error err;
    const io_type type = cli_io_type(batch->type);
    const int64_t n = batch->n, count = batch->count;
    const int many = batch->many ? 1 : 0;
    const bool apart = batch->layout == SHOAL_INTERLEAVED;
    const int64_t w[] = { !many || apart ? n : count, apart ? count : n };
    const int64_t v[] = { !many || apart ? n : count, n, apart ? count : n };
    int code = cli_io(io_array_create(type, 1 + many, w, &out->w, &err), &err);
    if (code == CLI_OK && a->vectors)
        code = cli_io(io_array_create(type, 2 + many, v, &out->v, &err), &err);
    for (int i = 0; i < EIG_OUTCOMES && code == CLI_OK; i++) {
        const bool none = !a->out[i] && (n == 0 || !wanted(a, i));
        const int64_t shape[] = { none ? 0 : count, outcomes[i].entries };
        code = cli_io(io_array_create(outcomes[i].type, outcomes[i].entries > 1 ? 2 : 1, shape,
                                      &out->out[i], &err),
                      &err);
    }
    return code;
}

int eig_run(cli *c, const eig_arguments *a, const small_batch *batch) {
    answer out = { .max_residual = -1 };
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);
    if (a->tol > 0 && !wanted(a, EIG_RESIDUAL))
        cli_note(c, "--tol has no effect: values without vectors are not judged");
    int code = create_answer(a, batch, &out);
    if (code == CLI_OK) code = find_all(c, a, batch, &out);
    if (code == CLI_OK) code = write_files(a, &out);
    if (code == CLI_OK && out.failed > 0) code = CLI_FAILED;
    if (code == CLI_OK || code == CLI_FAILED || code == CLI_INTERRUPTED) {
        if (c->json) {
            print_json(c, a, batch, &out);
            code = cli_json_end(c, code);
        } else if (code != CLI_INTERRUPTED) {
            print_table(c, a, batch, &out);
        }
        if (out.failed + out.warned > 0)
            cli_note_systems(c, "matrix", "matrices", out.out[EIG_STATUS].data, out.solved);
    }
    io_array_free(&out.w);
    io_array_free(&out.v);
    for (int i = 0; i < EIG_OUTCOMES; i++) io_array_free(&out.out[i]);
    return code;
}
