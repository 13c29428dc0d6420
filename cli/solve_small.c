/* SPDX-License-Identifier: Apache-2.0
 *
 * solve_small.c - `shoal solve small`: many small symmetric systems from files.
 *
 * With --psi and --y the systems are those of regressions, formed on the way. A large batch goes
 * through the context in slices (totals.h).
 */
#include "small_options.h"

#include "small_samples.h"

typedef struct batch_job {
    const small_arguments *a;
    const small_batch *batch;
    io_array x, out[OUTCOMES]; /* the answer, on the host */
} batch_job;

/* Residuals are always wanted, for their maximum; statuses to name the first failure. */
static bool wanted(const small_arguments *a, int outcome) {
    return outcome <= RESIDUAL || a->out[outcome];
}

enum { A, B, X, OUT, ARRAYS = OUT + OUTCOMES };

static shoal_status solve_arrays(shoal_smallsym *plan, const small_batch *batch,
                                 void *const m[ARRAYS]) {
    const int64_t M = batch->samples;
    if (batch->type == SHOAL_F32)
        return M ? shoal_smallsym_gramf(plan, M, m[A], m[B], m[X])
                 : shoal_smallsym_solvef(plan, m[A], m[B], m[X]);
    return M ? shoal_smallsym_gram(plan, M, m[A], m[B], m[X])
             : shoal_smallsym_solve(plan, m[A], m[B], m[X]);
}

/* Numbers of a system in A, or psi. */
static int64_t numbers_of(const small_batch *batch) {
    const int64_t n = batch->n;
    if (batch->samples) return batch->samples * n;
    return batch->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * n;
}

static shoal_smallsym_opts options_of(const small_arguments *a, const small_batch *batch,
                                      int64_t count) {
    return (shoal_smallsym_opts){ .n = batch->n,
                                  .count = count,
                                  .nrhs = batch->nrhs > 0 ? batch->nrhs : 1,
                                  .type = batch->type,
                                  .storage = batch->storage,
                                  .triangle = a->triangle,
                                  .method = a->method,
                                  .variant = a->variant,
                                  .team = a->team,
                                  .refine = a->refine,
                                  .estimate = a->estimate,
                                  .tol = a->tol,
                                  .cond = a->cond,
                                  .gram = batch->samples > 0 };
}

static int solve_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    const batch_job *job = of;
    const small_batch *batch = job->batch;
    const shoal_smallsym_opts opts = options_of(job->a, batch, count);
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t systems = (size_t)count, n = (size_t)batch->n;
    const size_t one_A = (size_t)numbers_of(batch) * item, one_x = n * (size_t)batch->nrhs * item;
    const size_t one_b = batch->samples ? (size_t)(batch->samples * batch->nrhs) * item : one_x;
    size_t bytes[ARRAYS] = { systems * one_A, systems * one_b, systems * one_x };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    void *to[ARRAYS] = { [X] = (char *)job->x.data + (size_t)first * one_x };
    const void *from[] = { (const char *)batch->A.a.data + (size_t)first * one_A,
                           (const char *)batch->b.a.data + (size_t)first * one_b };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_smallsym_create(c->ctx, &opts, &plan);
    for (int i = 0; i < OUTCOMES; i++) {
        const size_t one = 4 * (size_t)small_outcomes[i].entries;
        bytes[OUT + i] = systems * one;
        to[OUT + i] = wanted(job->a, i) ? (char *)job->out[i].data + (size_t)first * one : NULL;
    }
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++)
        if (i < X || to[i]) s = shoal_alloc(c->ctx, bytes[i], &m[i]);
    for (int i = A; i <= B && s == SHOAL_OK; i++) s = shoal_copy(c->ctx, m[i], from[i], bytes[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + STATUS],
                                      .residual = m[OUT + RESIDUAL],
                                      .rcond = m[OUT + RCOND],
                                      .rank = m[OUT + RANK],
                                      .inertia = m[OUT + INERTIA],
                                      .method = m[OUT + METHOD] };
        s = shoal_smallsym_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = solve_arrays(plan, batch, m);
    if (s == SHOAL_OK) s = shoal_smallsym_last(plan, &info);
    const double seconds = cli_now() - begin;
    for (int i = X; i < ARRAYS && s == SHOAL_OK; i++)
        if (to[i]) s = shoal_copy(c->ctx, to[i], m[i], bytes[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) {
        const cli_totals slice = { .method = info.method,
                                   .variant = info.variant,
                                   .solved = count,
                                   .failed = info.failed,
                                   .warned = info.warned,
                                   .redone = info.redone,
                                   .max_residual = info.max_residual,
                                   .seconds = seconds };
        cli_totals_add(totals, &slice);
    }
    shoal_smallsym_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static bool is_empty(const small_batch *batch) { return batch->n == 0 || batch->nrhs == 0; }

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const small_arguments *a = ((const batch_job *)of)->a;
    const small_batch *batch = ((const batch_job *)of)->batch;
    io_json *j = cli_json_begin(c, "solve small");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    if (batch->samples) io_json_int(j, "samples", batch->samples);
    if (!batch->samples)
        io_json_string(j, "storage", batch->storage == SHOAL_PACKED ? "packed" : "full");
    if (!batch->samples) io_json_string(j, "triangle", cli_triangle_name(a->triangle));
    cli_totals_json_method(j, t, a->method);
    io_json_int(j, "team", a->team);
    io_json_int(j, "refine", a->refine);
    io_json_bool(j, "estimate", a->estimate);
    small_json_limits(j, batch, a->tol, a->cond);
    cli_totals_json(j, t);
    io_json_object(j, "files");
    io_json_string(j, batch->samples ? "psi" : "A", batch->A.path);
    io_json_string(j, batch->samples ? "y" : "b", batch->b.path);
    io_json_string(j, "x", a->x);
    cli_outcomes_json(j, small_outcomes, OUTCOMES, a->out);
    io_json_close(j);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = ((const batch_job *)of)->batch;
    printf("systems       %lld of %lld unknowns, %lld right-hand side%s, %s\n",
           (long long)batch->count, (long long)batch->n, (long long)batch->nrhs,
           batch->nrhs == 1 ? "" : "s", cli_type_name(batch->type));
    if (batch->samples) printf("samples       %lld a system\n", (long long)batch->samples);
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

static int solve_batch(cli *c, batch_job *job) {
    const small_arguments *a = job->a;
    const small_batch *batch = job->batch;
    cli_totals t = {
        .verb = "solve", .one = "system", .many = "systems", .redoes = true, .max_residual = -1
    };
    const int64_t numbers = numbers_of(batch) + batch->n * batch->nrhs;
    int code = cli_slices(c, batch->count, is_empty(batch), numbers, solve_slice, job, &t);
    if (code == CLI_OK)
        code = cli_array_write(a->x, job->x.type, job->x.ndim, job->x.shape, job->x.data);
    if (code == CLI_OK) code = cli_outcomes_write(OUTCOMES, a->out, job->out);
    return cli_totals_show(c, code, &t, job->out[STATUS].data, print_json, print_table, job);
}

/* Host arrays for the answer. */
static int create_answer(batch_job *job) {
    io_error err;
    int64_t x_shape[3];
    bool kept[OUTCOMES];
    const small_batch *batch = job->batch;
    const int axes = small_answer_shape(batch, x_shape);
    for (int i = 0; i < OUTCOMES; i++) kept[i] = wanted(job->a, i);
    const int code = cli_io(io_array_create(batch->b.a.type, axes, x_shape, &job->x, &err), &err);
    return code != CLI_OK ? code
                          : cli_outcomes_create(small_outcomes, OUTCOMES, job->a->out, kept,
                                                batch->count, is_empty(batch), job->out);
}

int cmd_solve_small(cli *c, int argc, char **argv) {
    small_arguments a;
    small_batch batch;
    batch_job job = { .a = &a, .batch = &batch };
    int code = small_parse(c, argc, argv, &a);
    if (code == CLI_OK) code = cli_check_method(argv[0], "smallsym", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);

    code = a.psi ? small_read_samples(c, a.psi, a.y, &batch)
                 : small_read(c, a.A, a.b, a.storage, &batch);
    if (code == CLI_OK && a.A && !a.triangle_given) small_note_triangles(c, &batch, a.triangle);
    if (code == CLI_OK) code = create_answer(&job);
    if (code == CLI_OK) code = solve_batch(c, &job);
    io_array_free(&job.x);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&job.out[i]);
    small_free(&batch);
    return code;
}
