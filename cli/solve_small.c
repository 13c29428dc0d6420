/* SPDX-License-Identifier: Apache-2.0
 *
 * solve_small.c - `shoal solve small`: many small symmetric systems from files.
 *
 * With --psi and --y the systems are those of regressions, formed on the way. A large batch goes
 * through the context in slices of about SLICE numbers of A, or psi, so that memory on the device
 * stays small, Ctrl-C is heard and the progress bar moves; the answer to a system depends on that
 * system alone, so slicing changes nothing.
 */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "small_options.h"
#include "small_samples.h"

enum { SLICE = 1 << 22 };

typedef struct answer { /* host arrays, and the sums over all slices */
    io_array x, out[OUTCOMES];
    int64_t solved, failed, warned, redone;
    float max_residual;
    const char *method, *variant;
    double seconds;
} answer;

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

/* One slice: systems first .. first + opts->count - 1. */
static int solve_slice(cli *c, const small_arguments *a, const small_batch *batch,
                       const shoal_smallsym_opts *opts, int64_t first, answer *out) {
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t systems = (size_t)opts->count, n = (size_t)batch->n;
    const size_t one_A = (size_t)numbers_of(batch) * item, one_x = n * (size_t)batch->nrhs * item;
    const size_t one_b = batch->samples ? (size_t)(batch->samples * batch->nrhs) * item : one_x;
    size_t bytes[ARRAYS] = { systems * one_A, systems * one_b, systems * one_x };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    void *to[ARRAYS] = { [X] = (char *)out->x.data + (size_t)first * one_x };
    const void *from[] = { (const char *)batch->A.a.data + (size_t)first * one_A,
                           (const char *)batch->b.a.data + (size_t)first * one_b };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_smallsym_create(c->ctx, opts, &plan);
    for (int i = 0; i < OUTCOMES; i++) {
        const size_t one = 4 * (size_t)small_outcomes[i].entries;
        bytes[OUT + i] = systems * one;
        to[OUT + i] = wanted(a, i) ? (char *)out->out[i].data + (size_t)first * one : NULL;
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
    out->seconds += s == SHOAL_OK ? cli_now() - begin : 0;
    for (int i = X; i < ARRAYS && s == SHOAL_OK; i++)
        if (to[i]) s = shoal_copy(c->ctx, to[i], m[i], bytes[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) {
        out->method = info.method; /* words of the library's tables: they outlive the plan */
        out->variant = info.variant;
        out->solved += opts->count;
        out->failed += info.failed;
        out->warned += info.warned;
        out->redone += info.redone;
        if (!(info.max_residual <= out->max_residual) && !isnan(out->max_residual))
            out->max_residual = info.max_residual; /* NaN, could not be computed, stays */
    }
    shoal_smallsym_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static bool is_empty(const small_batch *batch) { return batch->n == 0 || batch->nrhs == 0; }

static int solve_all(cli *c, const small_arguments *a, const small_batch *batch, answer *out) {
    shoal_smallsym_opts opts = { .n = batch->n,
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
    const int64_t count = is_empty(batch) ? 0 : batch->count;
    int64_t slice = batch->count;
    if (count > 1) {
        slice = SLICE / (numbers_of(batch) + batch->n * batch->nrhs);
        if (slice < 1) slice = 1;
    }
    cli_progress bar;
    cli_progress_begin(&bar, c, "solve", count);
    int code = CLI_OK;
    int64_t first = 0;
    do { /* once even for an empty batch: method and variant are checked there */
        opts.count = count - first < slice ? count - first : slice;
        code = solve_slice(c, a, batch, &opts, first, out);
        first += opts.count;
        cli_progress_step(&bar, first);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    } while (code == CLI_OK && first < count);
    cli_progress_end(&bar);
    if (code == CLI_OK) out->solved = batch->count;
    if (count == 0) out->max_residual = 0;
    if (count > 0 && out->failed == out->solved) out->max_residual = -1; /* nothing was answered */
    return code;
}

static int write_files(const small_arguments *a, const answer *out) {
    const io_array *x = &out->x;
    int code = cli_array_write(a->x, x->type, x->ndim, x->shape, x->data);
    for (int i = 0; i < OUTCOMES && code == CLI_OK; i++)
        if (a->out[i])
            code = cli_array_write(a->out[i], out->out[i].type, out->out[i].ndim, out->out[i].shape,
                                   out->out[i].data);
    return code;
}

static void print_json(cli *c, const small_arguments *a, const small_batch *batch,
                       const answer *out) {
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    const double n = batch->n > 0 ? (double)batch->n : 1;
    io_json *j = cli_json_begin(c, "solve small");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    if (batch->samples) io_json_int(j, "samples", batch->samples);
    if (!batch->samples)
        io_json_string(j, "storage", batch->storage == SHOAL_PACKED ? "packed" : "full");
    if (!batch->samples) io_json_string(j, "triangle", cli_triangle_name(a->triangle));
    io_json_string(j, "method", out->method ? out->method : a->method);
    io_json_string(j, "variant", out->variant && *out->variant ? out->variant : NULL);
    io_json_int(j, "team", a->team);
    io_json_int(j, "refine", a->refine);
    io_json_bool(j, "estimate", a->estimate);
    io_json_double(j, "tol", a->tol > 0 ? a->tol : 10 * n * roundoff);
    io_json_double(j, "cond", a->cond > 0 ? a->cond : batch->type == SHOAL_F32 ? 1e5 : 1e12);
    io_json_int(j, "solved", out->solved);
    io_json_int(j, "failed", out->failed);
    io_json_int(j, "warned", out->warned);
    io_json_int(j, "redone", out->redone);
    if (out->max_residual >= 0)
        io_json_float(j, "max_residual", out->max_residual);
    else
        io_json_null(j, "max_residual");
    io_json_double(j, "solve_seconds", out->seconds);
    io_json_object(j, "files");
    io_json_string(j, batch->samples ? "psi" : "A", batch->A.path);
    io_json_string(j, batch->samples ? "y" : "b", batch->b.path);
    io_json_string(j, "x", a->x);
    for (int i = 0; i < OUTCOMES; i++)
        if (a->out[i]) io_json_string(j, small_outcomes[i].option, a->out[i]);
    io_json_close(j);
}

static void print_table(const cli *c, const small_batch *batch, const answer *out) {
    printf("systems       %lld of %lld unknowns, %lld right-hand side%s, %s\n",
           (long long)batch->count, (long long)batch->n, (long long)batch->nrhs,
           batch->nrhs == 1 ? "" : "s", cli_type_name(batch->type));
    if (batch->samples) printf("samples       %lld a system\n", (long long)batch->samples);
    printf("method        %s", out->method);
    if (out->variant && *out->variant) printf(" (%s)", out->variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    printf("failed        %lld\n", (long long)out->failed);
    printf("warned        %lld\n", (long long)out->warned);
    printf("redone        %lld\n", (long long)out->redone);
    if (out->max_residual >= 0)
        printf("max residual  %.3g\n", (double)out->max_residual);
    else
        printf("max residual  not known\n");
    printf("solve time    %.4g s\n", out->seconds);
}

static int solve_batch(cli *c, const small_arguments *a, const small_batch *batch, answer *out) {
    int code = solve_all(c, a, batch, out);
    if (code == CLI_OK) code = write_files(a, out);
    if (code != CLI_OK && code != CLI_INTERRUPTED) return code;
    if (code == CLI_OK && out->failed > 0) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, batch, out);
        code = cli_json_end(c, code);
    } else if (code != CLI_INTERRUPTED) {
        print_table(c, batch, out);
    }
    if (out->failed + out->warned > 0)
        cli_note_systems(c, "system", "systems", out->out[STATUS].data, out->solved);
    return code;
}

/* Host arrays for the answer. A small file may claim any count of systems without unknowns: what is
 * not to be written is not asked for then. */
static int create_answer(const small_arguments *a, const small_batch *batch, answer *out) {
    io_error err;
    int64_t x_shape[3];
    const int axes = small_answer_shape(batch, x_shape);
    int code = cli_io(io_array_create(batch->b.a.type, axes, x_shape, &out->x, &err), &err);
    for (int i = 0; i < OUTCOMES && code == CLI_OK; i++) {
        const bool none = !a->out[i] && (is_empty(batch) || !wanted(a, i));
        const int64_t shape[] = { none ? 0 : batch->count, small_outcomes[i].entries };
        code = cli_io(io_array_create(small_outcomes[i].type, small_outcomes[i].entries > 1 ? 2 : 1,
                                      shape, &out->out[i], &err),
                      &err);
    }
    return code;
}

int cmd_solve_small(cli *c, int argc, char **argv) {
    small_arguments a;
    small_batch batch;
    answer out = { .max_residual = -1 };
    int code = small_parse(c, argc, argv, &a);
    if (code == CLI_OK) code = cli_check_method(argv[0], "smallsym", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);

    code = a.psi ? small_read_samples(c, a.psi, a.y, &batch)
                 : small_read(c, a.A, a.b, a.storage, &batch);
    if (code == CLI_OK) code = create_answer(&a, &batch, &out);
    if (code == CLI_OK) code = solve_batch(c, &a, &batch, &out);
    io_array_free(&out.x);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&out.out[i]);
    small_free(&batch);
    return code;
}
