/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.c - eigenpairs of a batch that was read: found, written, summed up. `shoal eig small` and
 * `shoal eig tridiag` differ in their input alone.
 *
 * A large batch goes through the context in slices (totals.h). The library judges pairs where a residual is
 * asked for, and needs the vectors for that: so it is asked for with the vectors, or if it is to be
 * written, and values alone are found without either.
 */
#include "eig.h"

/* clang-format off */
static const cli_outcome outcomes[EIG_OUTCOMES] = {
    [EIG_STATUS]  = { IO_I4, 1 }, [EIG_RESIDUAL] = { IO_F4, 1 }, [EIG_RCOND] = { IO_F4, 1 }, [EIG_RANK] = { IO_I4, 1 },
    [EIG_INERTIA] = { IO_I4, 3 },
};

#define AT(member) CLI_AT(eig_arguments, member)
const cli_option eig_options[] = {
    { "values",   OPT_OUTPUT,   AT(values),            "FILE", 2, "write the eigenvalues here, ascending", .letter = 'w', .needed = "where to write the eigenvalues" },
    { "vectors",  OPT_OUTPUT,   AT(vectors),           "FILE", 3, "write the eigenvectors here [values alone]", .letter = 'v' },
    { "method",   OPT_TEXT,     AT(opts.method),       "M",    4, "auto or eigdc, which are the same", .methods = "smallsym", .suggest = "auto|eigdc" },
    { "variant",  OPT_TEXT,     AT(opts.variant),      "V",    5, "variant of the method, middle or gragg: how the secular equation is solved", .usual = "middle", .suggest = "middle|gragg" },
    { "cond",     OPT_POSITIVE, AT(opts.cond),         "C",    8, "eigenvalues below the largest / C are zeros to --rank and --inertia", .usual = "1e5 in f32, 1e12 in f64" },
    { "tol",      OPT_POSITIVE, AT(opts.tol),          "T",    9, "residual above which a pair is not trusted", .usual = "9 n units of roundoff" },
    { "status",   OPT_OUTPUT,   AT(out[EIG_STATUS]),   "FILE", 10, "write what became of each matrix: int32, 0 ok, > 0 warning, < 0 no answer" },
    { "residual", OPT_OUTPUT,   AT(out[EIG_RESIDUAL]), "FILE", 11, "write the largest residual of each matrix's pairs: float32" },
    { "rcond",    OPT_OUTPUT,   AT(out[EIG_RCOND]),    "FILE", 12, "write min|w| / max|w|: float32" },
    { "rank",     OPT_OUTPUT,   AT(out[EIG_RANK]),     "FILE", 13, "write the numerical rank: int32" },
    { "inertia",  OPT_OUTPUT,   AT(out[EIG_INERTIA]),  "FILE", 14, "write the numbers of positive, negative and zero eigenvalues: int32, (count,3)" },
    { 0 }
};
/* clang-format on */

typedef struct batch_job {
    const eig_arguments *a;
    const small_batch *batch;
    io_array w, v, out[EIG_OUTCOMES]; /* the answer, on the host */
} batch_job;

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

static shoal_smallsym_opts options_of(const eig_arguments *a, const small_batch *batch,
                                      int64_t count) {
    shoal_smallsym_opts opts = a->opts;
    opts.n = batch->n, opts.count = count, opts.nrhs = 1;
    opts.type = batch->type, opts.layout = batch->layout, opts.storage = batch->storage;
    return opts;
}

/* An interleaved batch is one slice. */
static int find_slice(cli *c, void *of, int64_t first, int64_t matrices, cli_totals *totals) {
    const batch_job *job = of;
    const eig_arguments *a = job->a;
    const small_batch *batch = job->batch;
    const shoal_smallsym_opts opts = options_of(a, batch, matrices);
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t n = (size_t)batch->n, below = n > 0 ? n - 1 : 0;
    const size_t entries = batch->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * n;
    size_t one[ARRAYS] = { (batch->tridiagonal ? n : entries) * item, below * item, n * item,
                           n * n * item };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    const void *from[] = { batch->tridiagonal ? batch->d.a.data : batch->A.a.data,
                           batch->tridiagonal ? batch->e.a.data : NULL };
    void *to[ARRAYS] = { [W] = job->w.data, [V] = a->vectors ? job->v.data : NULL };
    for (int i = 0; i < EIG_OUTCOMES; i++) {
        one[OUT + i] = 4 * (size_t)outcomes[i].entries;
        to[OUT + i] = wanted(a, i) ? job->out[i].data : NULL;
    }
    const size_t count = (size_t)matrices, before = (size_t)first;
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_smallsym_create(c->ctx, &opts, &plan);
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
    const double seconds = cli_now() - begin;
    for (int i = W; i < ARRAYS && s == SHOAL_OK; i++)
        if (to[i]) s = shoal_copy(c->ctx, (char *)to[i] + before * one[i], m[i], count * one[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) {
        const cli_totals slice = { .method = info.method,
                                   .variant = info.variant,
                                   .solved = matrices,
                                   .failed = info.failed,
                                   .warned = info.warned,
                                   .max_residual = info.max_residual,
                                   .seconds = seconds };
        cli_totals_add(totals, &slice);
    }
    shoal_smallsym_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const eig_arguments *a = ((const batch_job *)of)->a;
    const small_batch *batch = ((const batch_job *)of)->batch;
    const cli_command *k = batch->tridiagonal ? &eig_tridiag_command : &eig_small_command;
    io_json *j = cli_json_begin(c, k->name);
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_string(j, "type", cli_type_name(batch->type));
    if (batch->tridiagonal) {
        io_json_string(j, "layout", cli_layout_name(batch->layout));
    } else {
        io_json_string(j, "storage", batch->storage == SHOAL_PACKED ? "packed" : "full");
        io_json_string(j, "triangle", cli_triangle_name(a->opts.triangle));
    }
    cli_totals_json_method(j, t, a->opts.method);
    io_json_bool(j, "vectors", a->vectors);
    small_json_limits(j, batch, a->opts.tol, a->opts.cond);
    cli_totals_json(j, t);
    cli_json_files(j, c, k, a);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const eig_arguments *a = ((const batch_job *)of)->a;
    const small_batch *batch = ((const batch_job *)of)->batch;
    printf("matrices      %lld of %lld rows%s, %s, %s\n", (long long)batch->count,
           (long long)batch->n, batch->tridiagonal ? ", tridiagonal" : "",
           a->vectors ? "values and vectors" : "values", cli_type_name(batch->type));
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

/* Host arrays for the answer, w and V in shapes like the input's. */
static int create_answer(batch_job *job) {
    const eig_arguments *a = job->a;
    const small_batch *batch = job->batch;
    bool kept[EIG_OUTCOMES];
    io_error err;
    const io_type type = cli_io_type(batch->type);
    const int64_t n = batch->n, count = batch->count;
    const int many = batch->many ? 1 : 0;
    const bool apart = batch->layout == SHOAL_INTERLEAVED;
    const int64_t w[] = { !many || apart ? n : count, apart ? count : n };
    const int64_t v[] = { !many || apart ? n : count, n, apart ? count : n };
    for (int i = 0; i < EIG_OUTCOMES; i++) kept[i] = wanted(a, i);
    int code = cli_io(io_array_create(type, 1 + many, w, &job->w, &err), &err);
    if (code == CLI_OK && a->vectors)
        code = cli_io(io_array_create(type, 2 + many, v, &job->v, &err), &err);
    if (code == CLI_OK)
        code = cli_outcomes_create(outcomes, EIG_OUTCOMES, a->out, kept, count, n == 0, job->out);
    return code;
}

static int write_array(const char *path, io_array *array) {
    return cli_array_write(path, array->type, array->ndim, array->shape, array->data);
}

static int find_batch(cli *c, batch_job *job) {
    const eig_arguments *a = job->a;
    const small_batch *batch = job->batch;
    cli_totals t = { .verb = "eig", .one = "matrix", .many = "matrices", .max_residual = -1 };
    const bool empty = batch->n == 0, cut = batch->layout == SHOAL_SYSTEM_MAJOR;
    int code =
        cli_slices(c, batch->count, empty, cut ? batch->n * batch->n : 0, find_slice, job, &t);
    if ((empty || batch->count == 0) && !wanted(a, EIG_RESIDUAL)) t.max_residual = -1;
    if (code == CLI_OK) code = write_array(a->values, &job->w);
    if (code == CLI_OK && a->vectors) code = write_array(a->vectors, &job->v);
    if (code == CLI_OK) code = cli_outcomes_write(EIG_OUTCOMES, a->out, job->out);
    return cli_totals_show(c, code, &t, job->out[EIG_STATUS].data, print_json, print_table, job);
}

int eig_run(cli *c, const eig_arguments *a, const small_batch *batch) {
    batch_job job = { .a = a, .batch = batch };
    if (a->opts.tol > 0 && !wanted(a, EIG_RESIDUAL))
        cli_note(c, "--tol has no effect: values without vectors are not judged");
    int code = create_answer(&job);
    if (code == CLI_OK) code = find_batch(c, &job);
    io_array_free(&job.w);
    io_array_free(&job.v);
    for (int i = 0; i < EIG_OUTCOMES; i++) io_array_free(&job.out[i]);
    return code;
}
