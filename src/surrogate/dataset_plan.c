/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_plan.c - plans for data sets: the public functions, their checks, the default ranges,
 * and the designs: points of the unit cube of seven dimensions, mapped to ranges.
 *
 * sobol: point i of a scrambled Sobol sequence (rng/sobol.h). latin: coordinate d of row i is
 * (p_d(i) + u) / n, p_d a permutation of 0 .. n - 1 and u uniform, so that each of the n equal
 * strata of each coordinate has one row (McKay, Beckman and Conover, Technometrics 21 (1979)
 * 239-245). p_d needs no memory: a Feistel network of six rounds, keyed by Philox, permutes 0 ..
 * 4^h - 1 with 4^h >= n, and is applied until the number is below n, fewer than four times on
 * average.
 */
#include "surrogate/dataset.h"
#include "pricing/plan.h"
#include "rng/sobol.h"
#include <float.h>
#include <string.h>

SHOAL_DECLARE_CPU(dataset_method, dataset_rows)
SHOAL_DECLARE_CUDA(dataset_method, dataset_rows)

static const shoal_method cells = { .cpu = SHOAL_CPU_DOUBLE_CELLS(dataset_rows),
                                    .cuda = SHOAL_CUDA_DOUBLE_CELLS(dataset_rows) };

#define TARGET 5e-5
enum { MAX_PATHS = 1 << 21, MAX_REFINE = 4, PATHS_A_BLOCK = 2 * DATASET_BLOCK };

static const struct {
    const char *name;
    shoal_range range; /* unless another is given */
    double least, most;
} columns[SHOAL_DATASET_COLUMNS + 2] = {
    { "alpha", { 0.1, 5, 1 }, 0, 1e6 },
    { "m", { -3, 0.2, 0 }, -50, 5 }, /* long-run volatilities from 5 % to 122 % */
    { "beta", { 0.05, 1, 0 }, 0, 1e3 },
    { "y0", { -3, 0, 0 }, -50, 5 },
    { "rho", { -0.95, 0, 0 }, -1, 0 },
    { "maturity", { 0.05, 2, 0 }, 1e-12, 1e3 },
    { "strike", { 0.5, 1.5, 0 }, 0, 1e6 },
    { "nu2", { 0.01, 0.25, 0 }, 0, 1e3 },         /* instead of beta: sqrt(2 alpha nu2) */
    { "nu2_printed", { 0.01, 0.25, 0 }, 0, 1e3 }, /* that times 1 - e^m, as in the project sheet */
};

static int row_of(int nu2, int i) { return nu2 && i == 2 ? SHOAL_DATASET_COLUMNS + (nu2 == 2) : i; }

const char *shoal_dataset_column(int nu2, int i) {
    return i >= 0 && i < SHOAL_DATASET_COLUMNS ? columns[row_of(nu2, i)].name : NULL;
}

shoal_range shoal_dataset_bounds(int nu2, int i) {
    if (i < 0 || i >= SHOAL_DATASET_COLUMNS) return (shoal_range){ 0, 0, 0 };
    return (shoal_range){ columns[row_of(nu2, i)].least, columns[row_of(nu2, i)].most, 0 };
}

void shoal_dataset_ranges(shoal_dataset_opts *opts) {
    for (int i = 0; opts && i < SHOAL_DATASET_COLUMNS; i++)
        opts->range[i] = columns[row_of(opts->nu2, i)].range;
    if (opts && opts->nu2 == 2) opts->range[1].high = 0; /* beyond, the printed beta is below 0 */
}

shoal_dataset_opts shoal_dataset_defaults(void) {
    shoal_dataset_opts o = {
        .design = "sobol", .target = TARGET, .most_paths = MAX_PATHS, .refine = 1
    };
    shoal_dataset_ranges(&o);
    return o;
}

static shoal_status check_ranges(shoal_context *ctx, const shoal_dataset_opts *o) {
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) {
        const int row = row_of(o->nu2, i);
        const shoal_range *r = &o->range[i];
        if (!(r->low >= columns[row].least && r->high <= columns[row].most && r->low <= r->high))
            return shoal_fail(
                ctx, SHOAL_E_ARG, "range of %s is %g to %g; it must ascend and lie within %g to %g",
                columns[row].name, r->low, r->high, columns[row].least, columns[row].most);
        if (i == 1 && o->nu2 == 2 && r->high > 0)
            return shoal_fail(
                ctx, SHOAL_E_ARG,
                "range of m ends at %g; with the printed form it must end at 0: beyond, "
                "beta is below 0 and S is only a local martingale",
                r->high);
        if (r->log && !(r->low > 0))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "range of %s begins at %g; a logarithmic one must begin above 0",
                              columns[row].name, r->low);
    }
    return SHOAL_OK;
}

/* The corner of the ranges whose paths have most steps. */
static shoal_status check_steps(shoal_context *ctx, const shoal_dataset_opts *o, int *most) {
    const shoal_range *r = o->range;
    const double most_beta = o->nu2 ? sqrt(2 * r[0].high * r[2].high) : r[2].high;
    const double beta = o->nu2 == 2 ? -most_beta * expm1(r[1].low) : most_beta;
    const double up = dataset_steps(r[0].high, r[1].high, beta, r[3].low, r[5].high, o->refine);
    const double down = dataset_steps(r[0].high, r[1].low, beta, r[3].high, r[5].high, o->refine);
    const double steps = up > down ? up : down;
    if (beta > 1e3)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "ranges of alpha and nu2 give a beta of %g; the limit is %g", beta, 1e3);
    if (!(steps <= DATASET_STEPS))
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "ranges of alpha, m, %s, y0 and maturity, and refine %d, need %.0f steps "
                          "per path; the limit is %d",
                          shoal_dataset_column(o->nu2, 2), o->refine, steps, DATASET_STEPS);
    *most = (int)steps;
    return SHOAL_OK;
}

static shoal_status check(shoal_context *ctx, const shoal_dataset_opts *o) {
    if (strcmp(o->design, "sobol") != 0 && strcmp(o->design, "latin") != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "design is '%s'; it must be sobol or latin", o->design);
    const shoal_count counts[] = {
        { "samples", o->samples, 0, SHOAL_DATASET_MOST },
        { "most_paths", o->most_paths, PATHS_A_BLOCK, SHOAL_DATASET_PATHS },
        { "refine", o->refine, 1, MAX_REFINE },
        { "nu2", o->nu2, 0, 2 },
    };
    shoal_status s = shoal_check_number(ctx, "target", -1, o->target, DBL_MIN, 1);
    if (s == SHOAL_OK) s = shoal_check_counts(ctx, counts, 4);
    return s == SHOAL_OK ? check_ranges(ctx, o) : s;
}

shoal_status shoal_dataset_create(shoal_context *ctx, const shoal_dataset_opts *opts,
                                  shoal_dataset **plan) {
    shoal_status s = shoal_plan_new(ctx, sizeof **plan, opts, plan);
    if (s != SHOAL_OK) return s;
    shoal_dataset *p = *plan;
    shoal_dataset_opts o = *opts;
    const shoal_dataset_opts usual = shoal_dataset_defaults();
    if (!o.design || !*o.design) o.design = usual.design;
    if (o.target == 0) o.target = usual.target;
    if (o.most_paths == 0) o.most_paths = usual.most_paths;
    if (o.refine == 0) o.refine = usual.refine;
    int steps = 0;
    s = check(ctx, &o);
    if (s == SHOAL_OK) s = check_steps(ctx, &o, &steps);
    if (s != SHOAL_OK) return shoal_plan_made(s, plan);
    p->latin = strcmp(o.design, "latin") == 0;
    p->method = shoal_cell(ctx, &cells, SHOAL_F64);
    o.design = p->latin ? "latin" : "sobol";
    p->opts = o;
    p->job = (dataset_job){ .normals = shoal_stream_of(o.seed, 0, PRICE_PURPOSE, PRICE_ROWS),
                            .target = o.target,
                            .most = o.most_paths / PATHS_A_BLOCK,
                            .nu2 = o.nu2,
                            .refine = o.refine,
                            .steps = steps };
    shoal_sobol_directions(SHOAL_DATASET_COLUMNS, SOBOL_SCRAMBLE, o.seed, p->direction, p->shift);
    return SHOAL_OK;
}

void shoal_dataset_prepare(const dataset_job *job, const double *parameters, dataset_row *row,
                           const dataset_tables *tables) {
    *row = dataset_read(job, parameters);
    for (int k = 0; row->steps > 0 && k <= row->steps; k++) dataset_node(row, k, tables);
    if (row->steps > 0) dataset_close(row, tables);
}

void shoal_dataset_free(shoal_dataset *plan) { shoal_plan_free(plan); }

shoal_status shoal_dataset_run(shoal_dataset *plan, int64_t first, int64_t count,
                               const double *parameters, double *values) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    if (first < 0 || count < 0 || first > SHOAL_DATASET_MOST - count)
        return shoal_fail(
            ctx, SHOAL_E_ARG,
            "first is %lld, count %lld; they must be at least 0, their sum at most %lld",
            (long long)first, (long long)count, (long long)SHOAL_DATASET_MOST);
    if (count == 0) return SHOAL_OK;
    const shoal_array arrays[] = { { "parameters", parameters, 0 }, { "values", values, 0 } };
    s = shoal_check_arrays(ctx, arrays, 2);
    if (s != SHOAL_OK) return s;
    dataset_job job = plan->job;
    job.parameters = parameters, job.values = values, job.count = count;
    job.first = (uint64_t)first;
    const shoal_stage stage = shoal_stage_begin(ctx, "rows");
    return shoal_stage_end(ctx, &stage, plan->method->run(ctx, &job));
}

/* ---- designs ---------------------------------------------------------------------------------- */

enum { ROUNDS = 6 };

/* A permutation of the numbers of 2 h bits. */
static uint64_t feistel(uint64_t seed, uint32_t column, int h, uint64_t number) {
    const uint64_t mask = ((uint64_t)1 << h) - 1;
    uint64_t left = number >> h, right = number & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const shoal_words w =
            shoal_philox_at(seed, right, column * ROUNDS + round, PRICE_PURPOSE, PRICE_LATIN, 0);
        const uint64_t next = left ^ (w.word[0] & mask);
        left = right, right = next;
    }
    return left << h | right;
}

static double latin(const shoal_dataset_opts *o, uint32_t column, uint64_t row) {
    const uint64_t rows = (uint64_t)o->samples;
    int h = 1;
    while ((uint64_t)1 << 2 * h < rows) h++;
    uint64_t stratum = row;
    do stratum = feistel(o->seed, column, h, stratum);
    while (stratum >= rows);
    const shoal_words w = shoal_philox_at(o->seed, row, column, PRICE_PURPOSE, PRICE_LATIN, 1);
    return ((double)stratum + shoal_uniform(&w, 0)) / (double)rows;
}

static double mapped(const shoal_range *range, double u) {
    if (range->low == range->high) return range->low;
    if (!range->log) return fma(u, range->high - range->low, range->low);
    const double low = shoal_log(range->low);
    return shoal_exp(fma(u, shoal_log(range->high) - low, low));
}

shoal_status shoal_dataset_design(const shoal_dataset *plan, int64_t first, int64_t count,
                                  double *rows) {
    if (!plan) return SHOAL_E_ARG;
    const shoal_dataset_opts *o = &plan->opts;
    if (first < 0 || count < 0 || first > o->samples - count)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "first is %lld, count %lld; the design has rows 0 to %lld",
                          (long long)first, (long long)count, (long long)o->samples - 1);
    if (count > 0 && !rows) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "rows is NULL");
    for (int64_t i = 0; i < count; i++)
        for (int d = 0; d < SHOAL_DATASET_COLUMNS; d++) {
            const uint64_t row = (uint64_t)(first + i);
            const double u =
                plan->latin
                    ? latin(o, (uint32_t)d, row)
                    : shoal_sobol_point(
                          shoal_sobol_word(plan->direction + d * SHOAL_SOBOL_BITS, (uint32_t)row),
                          plan->shift[d]);
            rows[i * SHOAL_DATASET_COLUMNS + d] = mapped(&o->range[d], u);
        }
    return SHOAL_OK;
}
