/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - the public functions of rng.h, their argument checks, and the method table.
 */
#include "rng/plan.h"
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(rng_filler, rng_fill)
SHOAL_DECLARE_CUDA(rng_filler, rng_fill)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(rng_fill), .cuda = SHOAL_CUDA_CELLS(rng_fill)
#define SOBOL_VARIANTS                                                                             \
    .variants = { [SOBOL_SCRAMBLE] = { "scramble", SHOAL_ON_BOTH },                                \
                  [SOBOL_SHIFT] = { "shift", SHOAL_ON_BOTH },                                      \
                  [SOBOL_PLAIN] = { "plain", SHOAL_ON_BOTH } }

/* All rows share one cell: what fills an array takes the law of job.row, and the file of each backend
 * has one loop over blocks of numbers for all laws. */
static const shoal_method methods[] = {
    [RNG_WORDS] = { .name = "words", CELLS, .flags = SHOAL_CAN_COUNT },
    [RNG_UNIFORM] = { .name = "uniform", CELLS },
    [RNG_NORMAL] = { .name = "normal", CELLS,
      .variants = { [NORMAL_BOXMULLER] = { "boxmuller", SHOAL_ON_BOTH },
                    [NORMAL_ICDF] = { "icdf", SHOAL_ON_BOTH } } },
    [RNG_GAMMA] = { .name = "gamma", CELLS, .flags = SHOAL_CAN_VARY,
      .variants = { [GAMMA_VALUE] = { "value", SHOAL_ON_BOTH },
                    [GAMMA_LOG] = { "log", SHOAL_ON_BOTH } } },
    [RNG_POISSON] = { .name = "poisson", CELLS, .flags = SHOAL_CAN_COUNT | SHOAL_CAN_VARY },
    [RNG_NCCHISQ] = { .name = "ncchisq", CELLS, .flags = SHOAL_CAN_VARY,
      .variants = { [NCCHISQ_POISSON] = { "poisson", SHOAL_ON_BOTH },
                    [NCCHISQ_NORMAL] = { "normal", SHOAL_ON_BOTH } } },
    [RNG_SOBOL] = { .name = "sobol", CELLS, .flags = SHOAL_CAN_POINTS, SOBOL_VARIANTS },
    [RNG_SOBOLNORMAL] = { .name = "sobolnormal", CELLS, .flags = SHOAL_CAN_POINTS, SOBOL_VARIANTS },
};
/* clang-format on */

const shoal_module shoal_rng_module = { "rng", methods, sizeof methods / sizeof *methods, NULL };

static int is_sobol(int row) { return (methods[row].flags & SHOAL_CAN_POINTS) != 0; }

static int is_integer(int row) { return (methods[row].flags & SHOAL_CAN_COUNT) != 0; }

static shoal_status check_stream(shoal_context *ctx, int row, const shoal_rng_opts *o) {
    const shoal_count counts[] = { { "purpose", o->purpose, 0, SHOAL_RNG_PURPOSES - 1 },
                                   { "draw", o->draw, 0, SHOAL_RNG_DRAWS - 1 } };
    const shoal_status status = shoal_check_counts(ctx, counts, 2);
    if (status == SHOAL_OK && is_sobol(row) && (o->step || o->purpose || o->draw))
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "step, purpose and draw must be 0: %s does not use them",
                          methods[row].name);
    return status;
}

/* The method is part of the stream, in draw's upper bits: two methods never see the same words. */
static shoal_stream stream_of(int row, const shoal_rng_opts *o) {
    return shoal_stream_of(o->seed, o->step, o->purpose, (uint32_t)row * SHOAL_RNG_DRAWS + o->draw);
}

static shoal_status check_law(shoal_context *ctx, int row, int variant, const shoal_rng_opts *o) {
    if (row == RNG_GAMMA)
        return shoal_check_number(ctx, "alpha", -1, o->alpha, SHOAL_GAMMA_MIN, SHOAL_GAMMA_MAX);
    if (row != RNG_POISSON && row != RNG_NCCHISQ) return SHOAL_OK;
    const shoal_status status = shoal_check_number(
        ctx, "lambda", -1, o->lambda, 0, (row == RNG_NCCHISQ ? 2 : 1) * SHOAL_RNG_MAX_MEAN);
    const double above = variant == NCCHISQ_NORMAL ? 1 : 0;
    if (status == SHOAL_OK && row == RNG_NCCHISQ && !shoal_gamma_allows(0.5 * (o->df - above)))
        return shoal_fail(ctx, SHOAL_E_ARG, "df is %g; it must be above %g and at most %g", o->df,
                          above, 2 * SHOAL_GAMMA_MAX);
    return status;
}

static shoal_status check(shoal_context *ctx, const shoal_rng_opts *o, shoal_choice *choice) {
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o), SHOAL_MATH_FLAG(o) };
    if (!o->method || !*o->method) return shoal_fail(ctx, SHOAL_E_ARG, "method is missing");
    shoal_status status = shoal_check_flags(ctx, flags, 2);
    if (status == SHOAL_OK)
        status = shoal_choose(ctx, &shoal_rng_module, o->method, o->variant, o->type, choice);
    if (status == SHOAL_OK) status = check_stream(ctx, choice->row, o);
    if (status == SHOAL_OK) status = check_law(ctx, choice->row, choice->variant, o);
    if (status != SHOAL_OK || !is_sobol(choice->row)) return status;
    status = shoal_check_count(ctx, "dimensions", o->dimensions, 1, SHOAL_RNG_DIMENSIONS);
    return status == SHOAL_OK ? shoal_check_flags(ctx, &(shoal_flag)SHOAL_LAYOUT_FLAG(o), 1)
                              : status;
}

/* Directions and shifts, made here, into the context's memory. */
static shoal_status make_points(shoal_rng *plan, const shoal_rng_opts *o) {
    const size_t dims = (size_t)o->dimensions, words = dims * SHOAL_SOBOL_BITS;
    const size_t bytes = dims * sizeof(uint64_t) + words * sizeof(uint32_t);
    uint64_t *host = malloc(bytes);
    if (!host) return SHOAL_NO_MEMORY(plan->head.ctx, "the directions of Sobol points");
    shoal_sobol_directions(o->dimensions, plan->choice.variant, o->seed, (uint32_t *)(host + dims),
                           host);
    const shoal_status status = shoal_plan_copy(&plan->head, host, bytes, &plan->job.shift);
    free(host);
    if (status == SHOAL_OK) plan->job.directions = (const uint32_t *)(plan->job.shift + dims);
    plan->job.dimensions = o->dimensions;
    plan->interleaved = o->layout == SHOAL_INTERLEAVED;
    return status;
}

static shoal_status fill_plan(shoal_rng *plan, const shoal_rng_opts *opts) {
    rng_job *job = &plan->job;
    shoal_choice *choice = &plan->choice;
    shoal_status status = check(plan->head.ctx, opts, choice);
    if (status != SHOAL_OK) return status;
    plan->head.type = opts->type;
    job->row = choice->row;
    job->variant = choice->variant;
    job->fast_math = opts->math == SHOAL_FAST;
    job->stream = stream_of(choice->row, opts);
    job->df = opts->df;
    job->lambda = opts->lambda;
    if (choice->row == RNG_GAMMA) job->gamma = shoal_gamma_law_of(opts->alpha);
    if (choice->row == RNG_POISSON) job->poisson = shoal_poisson_law_of(opts->lambda);
    status = shoal_plan_alloc(&plan->head, sizeof *job->failed, &job->failed);
    return status == SHOAL_OK && is_sobol(choice->row) ? make_points(plan, opts) : status;
}

shoal_status shoal_rng_create(shoal_context *ctx, const shoal_rng_opts *opts, shoal_rng **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status == SHOAL_OK) status = fill_plan(*result, opts);
    return shoal_plan_made(status, result);
}

void shoal_rng_free(shoal_rng *plan) { shoal_plan_free(plan); }

shoal_status shoal_rng_parameters(shoal_rng *plan, const double *values) {
    if (!plan) return SHOAL_E_ARG;
    const int row = plan->choice.row;
    if (values && !(methods[row].flags & SHOAL_CAN_VARY))
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "values must be NULL: %s has no parameter",
                          methods[row].name);
    shoal_status status =
        values ? shoal_check_array(plan->head.ctx, values, "values") : shoal_ready(plan->head.ctx);
    if (status == SHOAL_OK) plan->job.parameters = values;
    return status;
}

/* What a plan makes, and the end of the name of the function that fills an array of it. The first two are types. */
enum { FILL_DOUBLE = SHOAL_F64, FILL_FLOAT = SHOAL_F32, FILL_INTEGER };
static const struct {
    const char *number, *suffix;
} fillers[] = { [FILL_DOUBLE] = { "double", "" },
                [FILL_FLOAT] = { "float", "f" },
                [FILL_INTEGER] = { "uint32_t", "u" } };

static shoal_status check_range(shoal_rng *plan, uint64_t first, int64_t count) {
    shoal_context *ctx = plan->head.ctx;
    const uint64_t end = is_sobol(plan->choice.row) ? (uint64_t)1 << 32 : UINT64_MAX;
    const uint64_t max_numbers = (uint64_t)PTRDIFF_MAX / sizeof(double);
    const shoal_status status = shoal_check_count(ctx, "count", count, 0, INT64_MAX);
    if (status != SHOAL_OK) return status;
    const int64_t each = is_sobol(plan->choice.row) ? plan->job.dimensions : 1;
    if ((uint64_t)count > max_numbers / (uint64_t)each)
        return shoal_fail(ctx, SHOAL_E_ARG, "count is %lld; it must be at most %llu",
                          (long long)count, (unsigned long long)(max_numbers / (uint64_t)each));
    if (first > end || (uint64_t)count > end - first)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "first + count = %llu + %lld is beyond the end of the stream, %llu",
                          (unsigned long long)first, (long long)count, (unsigned long long)end);
    return SHOAL_OK;
}

static shoal_status fill(shoal_rng *plan, int filler, uint64_t first, int64_t count, void *out) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const int makes = is_integer(plan->choice.row) ? FILL_INTEGER : (int)plan->head.type;
    if (filler != makes)
        return shoal_wrong_type(ctx, fillers[makes].number, "shoal_rng_fill",
                                fillers[makes].suffix);
    shoal_status status = check_range(plan, first, count);
    if (status != SHOAL_OK) return status;
    plan->counted = 0;
    if (count == 0) return SHOAL_OK;
    status = shoal_ready(ctx);
    if (status == SHOAL_OK) status = shoal_check_array(ctx, out, "out");
    if (status != SHOAL_OK) return status;
    rng_job job = plan->job;
    job.first = first;
    job.count = count;
    job.point_stride = plan->interleaved ? 1 : job.dimensions;
    job.dimension_stride = plan->interleaved ? count : 1;
    job.out = out;
    plan->counted = job.parameters != NULL;
    const rng_filler *method = plan->choice.cell;
    const shoal_stage stage = shoal_stage_begin(ctx, "random numbers");
    status = shoal_stage_end(ctx, &stage, method->fill(ctx, &job));
    return shoal_plan_called(&plan->head, status);
}

shoal_status shoal_rng_fill(shoal_rng *plan, uint64_t first, int64_t count, double *out) {
    return fill(plan, FILL_DOUBLE, first, count, out);
}

shoal_status shoal_rng_fillf(shoal_rng *plan, uint64_t first, int64_t count, float *out) {
    return fill(plan, FILL_FLOAT, first, count, out);
}

shoal_status shoal_rng_fillu(shoal_rng *plan, uint64_t first, int64_t count, uint32_t *out) {
    return fill(plan, FILL_INTEGER, first, count, out);
}

shoal_status shoal_rng_last(shoal_rng *plan, shoal_rng_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    *info = (shoal_rng_info){ .method = plan->choice.name,
                              .variant = plan->choice.variant_name,
                              .bytes = plan->head.bytes };
    unsigned long long failed = 0;
    void *current;
    status = shoal_plan_wait(&plan->head, &current);
    if (status == SHOAL_OK && plan->counted)
        status = shoal_copy(plan->head.ctx, &failed, plan->job.failed, sizeof failed);
    info->failed = (int64_t)failed;
    return shoal_plan_return(&plan->head, current, status);
}
