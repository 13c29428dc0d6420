/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - one factorization: the plan, the matrix in the context's memory, what was found, --modify and --gjgt, and
 * the errors.
 *
 * On the CPU the host's arrays are the context's, and nothing is copied. --modify comes first: G, x and the factors that
 * are written are then those of A + E, while rank, inertia and relative error stay those of A. D is kept for that error
 * as it was. |E| is measured as what the modified factors are off A: |P A Pt - M (D + F) Mt| / |A|, rounding errors
 * included. The products are those of bench/symindef_errors.c, in double.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/symindef_errors.h"
#include "factor.h"

static bool on_host(const cli *c) { return strcmp(c->machine.backend, "cpu") == 0; }

/* A host array in the context's memory: itself on the CPU, else memory with its content if `copied`. */
static shoal_status lend(cli *c, const void *host, size_t bytes, bool copied, void **at) {
    *at = on_host(c) ? (void *)(uintptr_t)host : NULL;
    if (on_host(c)) return SHOAL_OK;
    const shoal_status s = shoal_alloc(c->ctx, bytes ? bytes : 1, at);
    return s == SHOAL_OK && copied ? shoal_copy(c->ctx, *at, host, bytes) : s;
}

/* The end of that: with `host` the result is copied there, if nothing failed before. */
static shoal_status take_back(cli *c, shoal_status s, void *host, size_t bytes, void *at) {
    if (on_host(c)) return s;
    if (s == SHOAL_OK && host && bytes) s = shoal_copy(c->ctx, host, at, bytes);
    shoal_free(c->ctx, at);
    return s;
}

static shoal_symindef_opts options_of(const factor_arguments *a, const factor_matrix *m,
                                      int64_t eliminate, bool growth) {
    shoal_symindef_opts opts = a->opts;
    opts.n = m->n, opts.type = m->type, opts.eliminate = eliminate, opts.growth = growth;
    opts.storage = m->form.packed ? SHOAL_PACKED : SHOAL_FULL;
    opts.triangle = m->form.upper ? SHOAL_UPPER : SHOAL_LOWER;
    return opts;
}

/* NaN if one of them is. */
static double largest(const double *numbers, int64_t count) {
    double max = 0;
    for (int64_t k = 0; k < count; k++)
        if (!(numbers[k] <= max)) max = numbers[k];
    return max;
}

static shoal_status refine(cli *c, const factor_matrix *m, shoal_symindef *plan, const void *array,
                           const factor_sides *sides, void *x, factor_found *found) {
    const int64_t nrhs = sides->nrhs;
    const size_t b_bytes = (size_t)(m->n * nrhs) * io_type_size(m->file.a.type);
    double *errors = malloc((2 * (size_t)nrhs + 1) * sizeof *errors);
    void *given = NULL, *b = NULL;
    shoal_status s = errors ? SHOAL_OK : SHOAL_E_NOMEM;
    if (s == SHOAL_OK) s = lend(c, sides->given, m->bytes, true, &given);
    if (s == SHOAL_OK) s = lend(c, sides->b, b_bytes, true, &b);
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(m->type, shoal_symindef_refine, plan, given, array, nrhs, b, x, errors,
                        errors + nrhs);
    if (s == SHOAL_OK) found->backward = largest(errors, nrhs);
    if (s == SHOAL_OK) found->forward = largest(errors + nrhs, nrhs);
    take_back(c, s, NULL, 0, given);
    take_back(c, s, NULL, 0, b);
    free(errors);
    return s;
}

static shoal_status invert(cli *c, const factor_matrix *m, shoal_symindef *plan, const void *array,
                           void *inverse) {
    const size_t bytes = (size_t)(m->n * m->n) * io_type_size(m->file.a.type);
    void *to;
    shoal_status s = lend(c, inverse, bytes, false, &to);
    if (s == SHOAL_OK) s = CLI_BY_TYPE(m->type, shoal_symindef_inverse, plan, array, to);
    if (s == SHOAL_OK) s = shoal_wait(c->ctx);
    return take_back(c, s, inverse, bytes, to);
}

/* ---- --modify and --gjgt ---------------------------------------------------------------------- */

static int modify(cli *c, const factor_arguments *a, const factor_matrix *m, shoal_symindef *plan,
                  void *array, const factor_result *r, factor_forms *forms) {
    const size_t n = (size_t)m->n;
    forms->d = calloc(n + 1, sizeof *forms->d);
    forms->e = calloc(n + 1, sizeof *forms->e);
    if (!forms->d || !forms->e) return cli_no_memory();
    shoal_status s = SHOAL_OK;
    if (!on_host(c)) s = shoal_copy(c->ctx, r->factors, array, m->bytes);
    factor_blocks(m, r, forms->d, forms->e);
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(m->type, shoal_symindef_modify, plan, array, a->delta, &forms->change);
    return cli_status(c, s);
}

static int allocate_gjgt(const factor_arguments *a, const factor_matrix *m, int64_t rank,
                         factor_forms *forms) {
    const int64_t shape[2] = { m->n, rank };
    int64_t count = 0, bytes = INT64_MAX;
    io_error err;
    const io_type type = m->file.a.type;
    forms->signs = calloc((size_t)rank + 1, sizeof *forms->signs);
    const bool fits = io_shape_bytes(type, 2, shape, &count, &bytes) == IO_OK &&
                      bytes <= io_memory_bytes() &&
                      io_array_create(type, 2, shape, &forms->G, &err) == IO_OK;
    if (fits && forms->signs) return CLI_OK;
    return cli_fail(CLI_UNAVAILABLE,
                    "--gjgt %s: not enough memory: G of %" PRId64 " rows and %" PRId64
                    " columns needs %" PRId64 " bytes",
                    a->gjgt, m->n, rank, bytes);
}

static int make_gjgt(cli *c, const factor_arguments *a, const factor_matrix *m,
                     shoal_symindef *plan, const void *array, int64_t rank, factor_forms *forms) {
    const int code = allocate_gjgt(a, m, rank, forms);
    if (code != CLI_OK) return code;
    const size_t bytes = (size_t)(m->n * rank) * io_type_size(forms->G.type);
    void *G;
    shoal_status s = lend(c, forms->G.data, bytes, false, &G);
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(m->type, shoal_symindef_gjgt, plan, array, a->partitioned, G, forms->signs);
    return cli_status(c, take_back(c, s, forms->G.data, bytes, G));
}

/* `array` contains the factors in the context's memory; --modify changes them there. r->factors is scratch. */
static int make_forms(cli *c, const factor_arguments *a, const factor_matrix *m,
                      shoal_symindef *plan, void *array, const factor_result *r, int64_t rank,
                      factor_forms *forms) {
    int code = CLI_OK;
    if (a->modify) code = modify(c, a, m, plan, array, r, forms);
    if (code == CLI_OK && a->gjgt) /* nothing is zero any more once it is modified */
        code = make_gjgt(c, a, m, plan, array, a->modify ? m->n : rank, forms);
    return code;
}

/* ---- all of it -------------------------------------------------------------------------------- */

int factor_run(cli *c, const factor_arguments *a, const factor_matrix *m, int64_t eliminate,
               const factor_sides *sides, void *inverse, factor_forms *forms, factor_found *found) {
    const factor_result *r = &found->result;
    const shoal_symindef_opts opts = options_of(a, m, eliminate, r->growth != NULL);
    const size_t b_bytes = sides ? (size_t)(m->n * sides->nrhs) * io_type_size(m->file.a.type) : 0;
    void *array = NULL, *x = NULL;
    shoal_symindef *plan = NULL;
    shoal_status s = shoal_symindef_create(c->ctx, &opts, &plan);
    if (s == SHOAL_OK) s = lend(c, r->factors, m->bytes, true, &array);
    if (s == SHOAL_OK && sides) s = lend(c, sides->x, b_bytes, false, &x);
    if (s == SHOAL_OK && sides) s = shoal_copy(c->ctx, x, sides->b, b_bytes);
    const double begin = cli_now();
    if (s == SHOAL_OK) s = CLI_BY_TYPE(m->type, shoal_symindef_factor, plan, array);
    if (s == SHOAL_OK) s = shoal_symindef_last(plan, &found->info);
    found->seconds = cli_now() - begin;
    if (s == SHOAL_OK) s = shoal_symindef_order(plan, r->interchanges, r->permutation, r->growth);
    found->rcond = found->backward = found->forward = (double)NAN;
    if (s == SHOAL_OK && eliminate == 0 && found->info.status >= 0)
        s = CLI_BY_TYPE(m->type, shoal_symindef_rcond, plan, array, &found->rcond);
    int code = cli_status(c, s);
    if (code == CLI_OK && forms && found->info.status >= 0)
        code = make_forms(c, a, m, plan, array, r, found->info.rank, forms);
    if (code == CLI_OK) {
        if (sides) s = CLI_BY_TYPE(m->type, shoal_symindef_solve, plan, array, sides->nrhs, x, x);
        if (s == SHOAL_OK && sides && sides->given && found->info.status >= 0 &&
            found->info.rank == m->n)
            s = refine(c, m, plan, array, sides, x, found);
        if (s == SHOAL_OK && inverse) s = invert(c, m, plan, array, inverse);
        if (s == SHOAL_OK) s = shoal_wait(c->ctx);
    }
    const bool done = code == CLI_OK;
    s = take_back(c, s, done ? r->factors : NULL, m->bytes, array);
    s = take_back(c, s, done && sides ? sides->x : NULL, b_bytes, x);
    if (done) code = cli_status(c, s);
    shoal_symindef_free(plan);
    return code == CLI_OK && cli_interrupted() ? CLI_INTERRUPTED : code;
}

/* ---- errors ----------------------------------------------------------------------------------- */

static double entry(const void *matrix, int64_t i, int64_t j) {
    const factor_matrix *m = matrix;
    return factor_entry(m, m->file.a.data, i, j);
}

static cli_progress check_bar;

static void step(double part) { cli_progress_step(&check_bar, (int64_t)(100 * part)); }

static bench_product product_of(const cli *c, const factor_matrix *m, const factor_result *r) {
    return (bench_product){ .n = m->n,
                            .type = m->type,
                            .permutation = r->permutation,
                            .given = entry,
                            .matrix = m,
                            .threads = c->machine.threads > 0 ? c->machine.threads : 1,
                            .stop = cli_interrupted,
                            .step = step };
}

/* D is d and e, or, if these are NULL, what the factors have in its place. */
static double product_error(const cli *c, const factor_matrix *m, const factor_result *r,
                            const double *d, const double *e) {
    const size_t n = (size_t)m->n;
    double *blocks = calloc(2 * n + 1, sizeof *blocks);
    if (!blocks) return NAN;
    factor_blocks(m, r, blocks, blocks + n);
    bench_product p = product_of(c, m, r);
    p.triangle = (bench_triangle){ m->n, m->form.packed, m->form.upper };
    p.factors = r->factors;
    p.d = d ? d : blocks;
    p.e = e ? e : blocks + n;
    const double error = bench_product_error(&p);
    free(blocks);
    return error;
}

static double gjgt_error(const cli *c, const factor_matrix *m, const factor_result *r,
                         const factor_forms *forms, bool partitioned) {
    bench_product p = product_of(c, m, r);
    p.G = forms->G.data;
    p.signs = forms->signs;
    p.columns = forms->G.shape[1];
    p.partitioned = partitioned;
    return bench_product_error(&p);
}

double factor_check(const cli *c, const factor_arguments *a, const factor_matrix *m,
                    const factor_result *r, factor_forms *forms) {
    cli_progress_begin(&check_bar, c, "check", 100);
    const double error = product_error(c, m, r, forms->d, forms->e);
    if (a->modify) forms->change_error = product_error(c, m, r, NULL, NULL);
    if (a->gjgt) forms->gjgt_error = gjgt_error(c, m, r, forms, a->partitioned);
    cli_progress_end(&check_bar);
    return error;
}
