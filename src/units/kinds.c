/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.c - the jobs of the library in units: prices by paths, CVA, data sets. Each runs a plan through its public
 * functions, in pieces that fit the device.
 */
#include "units/units.h"
#include <stdlib.h>

enum { MAX_NUMBERS = 1 << 22 }; /* in the context's memory, unless one row has more  */
enum { MIN_ROWS = 128 };        /* of a CVA or a data set per unit              */
enum { CVA_PATHS = 1024, CVA_PATHS_GPU = 16384 }; /* outer paths at a time                        */

/* What the jobs below have in common. */
typedef struct kind_job {
    void *plan;      /* whose first member is a shoal_plan */
    int64_t samples; /* of prices: the last block may have fewer  */
    int64_t width;   /* numbers of a row */
    int64_t totals;  /* of a CVA by trade */
    int64_t sums;    /* of a CVA in place of rows */
} kind_job;

static shoal_context *context_of(const void *plan) { return ((const shoal_plan *)plan)->ctx; }

/* Rows of `width` numbers that a piece has. */
static int64_t piece_of(int64_t width) { return width < MAX_NUMBERS ? MAX_NUMBERS / width : 1; }

/* A job over a plan: `job` without its user. */
static shoal_status create(void *plan, shoal_units_job job, kind_job user,
                           const shoal_units_opts *opts, shoal_units **units) {
    kind_job *own = malloc(sizeof *own);
    if (!own) {
        *units = NULL;
        return SHOAL_NO_MEMORY(context_of(plan), "units");
    }
    *own = user, own->plan = plan;
    job.user = own, job.close = free;
    job.row_bytes = user.sums ? 0 : sizeof(double) * (size_t)(user.width > 0 ? user.width : 1);
    return shoal_units_create(context_of(plan), &job, opts, units);
}

/* NULL and a count, before a plan is looked at. */
static shoal_status check(void *plan, const char *name, int64_t count, int64_t most,
                          shoal_units **units) {
    if (units) *units = NULL;
    if (!plan) return SHOAL_E_ARG;
    const shoal_array given[] = { { "units", units, 0 } };
    shoal_status s = shoal_check_pointers(context_of(plan), given, 1);
    return s == SHOAL_OK ? shoal_check_count(context_of(plan), name, count, 0, most) : s;
}

/* ---- prices ----------------------------------------------------------------------------------- */

/* Blocks of samples: their sums. */
static shoal_status run_price(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                              void *result, int64_t *counts) {
    const kind_job *job = user;
    const int64_t most = piece_of(job->width) < rows ? piece_of(job->width) : rows;
    const size_t row_bytes = (size_t)job->width * sizeof(double);
    void *sums;
    (void)counts;
    shoal_status s = shoal_alloc(ctx, (size_t)most * row_bytes, &sums);
    const shoal_stage stage = shoal_stage_begin(ctx, "paths");
    for (int64_t at = 0; at < rows && s == SHOAL_OK; at += most) {
        const int64_t here = rows - at < most ? rows - at : most;
        const int64_t begin = (first + at) * SHOAL_PRICE_UNIT,
                      end = begin + here * SHOAL_PRICE_UNIT;
        s = shoal_stage_step(ctx, &stage, (double)at, (double)(at + here), (double)rows);
        if (s == SHOAL_OK)
            s = shoal_price_run(job->plan, begin, (end < job->samples ? end : job->samples) - begin,
                                sums);
        if (s == SHOAL_OK)
            s = shoal_copy(ctx, (char *)result + (size_t)at * row_bytes, sums,
                           (size_t)here * row_bytes);
    }
    s = shoal_stage_end(ctx, &stage, s);
    shoal_free(ctx, sums);
    return s;
}

shoal_status shoal_units_price(shoal_price *plan, int64_t paths, const shoal_units_opts *opts,
                               shoal_units **units) {
    shoal_price_info info;
    shoal_status s = check(plan, "paths", paths, SHOAL_PRICE_MOST, units);
    if (s == SHOAL_OK) s = shoal_price_describe(plan, &info);
    if (s != SHOAL_OK) return s;
    const int64_t width = shoal_price_width(plan);
    const int64_t samples = paths / info.paths_each + (paths % info.paths_each > 0);
    const int64_t blocks = samples / SHOAL_PRICE_UNIT + (samples % SHOAL_PRICE_UNIT > 0);
    return create(plan,
                  (shoal_units_job){ .kind = "price",
                                     .rows = info.deterministic || width == 0 ? 0 : blocks,
                                     .run = run_price },
                  (kind_job){ .samples = samples, .width = width }, opts, units);
}

/* ---- CVA -------------------------------------------------------------------------------------- */

enum { CVA_SECONDS = 3, CVA_WHOLE = 7 + SHOAL_CVA_METHODS + SHOAL_CVA_DECADES };
#define NANOSECONDS 1e9

/* Where the whole numbers of the counts are, in the order of a unit. */
static int64_t *count_at(shoal_cva_counts *n, int i) {
    int64_t *const first[] = { &n->inner_paths, &n->systems, &n->empty, &n->warned,
                               &n->truncated,   &n->refined, &n->failed };
    enum { FIRST = sizeof first / sizeof *first };
    if (i < FIRST) return first[i];
    return i < FIRST + SHOAL_CVA_METHODS ? &n->method[i - FIRST]
                                         : &n->decade[i - FIRST - SHOAL_CVA_METHODS];
}

_Static_assert(CVA_WHOLE + CVA_SECONDS == SHOAL_UNITS_CVA_TOTALS, "counts of a CVA");

static shoal_status run_paths(const kind_job *job, int64_t first, int64_t paths, double *samples,
                              shoal_cva_counts *counts, int64_t *totals) {
    if (job->totals == 0) return shoal_cva_run(job->plan, first, paths, samples, counts);
    return shoal_cva_run_trades(job->plan, first, paths, samples, counts, totals, NULL);
}

static shoal_status run_cva(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                            void *result, int64_t *counts) {
    const kind_job *job = user;
    const int64_t most = ctx->ops ? CVA_PATHS_GPU : CVA_PATHS;
    int64_t *totals = counts + SHOAL_UNITS_CVA_TOTALS, *sums = totals + job->totals;
    shoal_cva_counts found = { 0 };
    double *room = NULL; /* rows of a piece, of which only the sums stay */
    shoal_status s = SHOAL_OK;
    if (job->sums &&
        !(room = malloc((size_t)((most < rows ? most : rows) * job->width) * sizeof *room)))
        s = SHOAL_NO_MEMORY(ctx, "%lld rows", (long long)most);
    const shoal_stage stage = shoal_stage_begin(ctx, "outer paths");
    for (int64_t at = 0; at < rows && s == SHOAL_OK; at += most) {
        const int64_t here = rows - at < most ? rows - at : most;
        s = shoal_stage_step(ctx, &stage, (double)at, (double)(at + here), (double)rows);
        double *samples = room ? room : (double *)result + at * job->width;
        if (s == SHOAL_OK) s = run_paths(job, first + at, here, samples, &found, totals);
        if (s == SHOAL_OK && room) s = shoal_cva_add_sums(job->plan, samples, here, sums);
    }
    free(room);
    for (int i = 0; i < CVA_WHOLE; i++) counts[i] = *count_at(&found, i);
    for (int i = 0; i < CVA_SECONDS; i++)
        counts[CVA_WHOLE + i] = (int64_t)(found.seconds[i] * NANOSECONDS);
    return shoal_stage_end(ctx, &stage, s);
}

shoal_status shoal_units_cva(shoal_cva *plan, int64_t outer, const shoal_units_opts *opts,
                             shoal_units **units) {
    const shoal_status s = check(plan, "outer", outer, SHOAL_CVA_OUTER, units);
    if (s != SHOAL_OK) return s;
    const kind_job user = { .width = shoal_cva_width(plan),
                            .totals = shoal_cva_totals(plan),
                            .sums = shoal_cva_sums(plan) };
    return create(plan,
                  (shoal_units_job){ .kind = "cva",
                                     .rows = outer,
                                     .counts = SHOAL_UNITS_CVA_TOTALS + user.totals + user.sums,
                                     .least = user.sums ? CVA_PATHS : MIN_ROWS,
                                     .run = run_cva },
                  user, opts, units);
}

shoal_status shoal_units_cva_counts(const shoal_units *units, shoal_cva_counts *counts) {
    const shoal_status s = shoal_plan_asked(units, counts);
    if (s != SHOAL_OK) return s;
    if (units->job.run != run_cva)
        return shoal_fail(units->head.ctx, SHOAL_E_ARG, "the units are of '%s', not of 'cva'",
                          units->kind);
    *counts = (shoal_cva_counts){ 0 };
    for (int i = 0; i < CVA_WHOLE; i++) *count_at(counts, i) = units->count[i];
    for (int i = 0; i < CVA_SECONDS; i++)
        counts->seconds[i] = (double)units->count[CVA_WHOLE + i] / NANOSECONDS;
    return SHOAL_OK;
}

/* ---- data sets -------------------------------------------------------------------------------- */

static shoal_status run_dataset(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                                void *result, int64_t *counts) {
    const kind_job *job = user;
    const size_t in = SHOAL_DATASET_COLUMNS * sizeof(double);
    const size_t out = SHOAL_DATASET_VALUES * sizeof(double);
    const int64_t most =
        piece_of(SHOAL_DATASET_COLUMNS) < rows ? piece_of(SHOAL_DATASET_COLUMNS) : rows;
    void *parameters = NULL, *values = NULL;
    double *design = malloc((size_t)most * in);
    (void)counts;
    shoal_status s = design ? SHOAL_OK : SHOAL_NO_MEMORY(ctx, "%lld rows", (long long)most);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, (size_t)most * in, &parameters);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, (size_t)most * out, &values);
    const shoal_stage stage = shoal_stage_begin(ctx, "rows");
    for (int64_t at = 0; at < rows && s == SHOAL_OK; at += most) {
        const int64_t here = rows - at < most ? rows - at : most;
        s = shoal_stage_step(ctx, &stage, (double)at, (double)(at + here), (double)rows);
        if (s == SHOAL_OK) s = shoal_dataset_design(job->plan, first + at, here, design);
        if (s == SHOAL_OK) s = shoal_copy(ctx, parameters, design, (size_t)here * in);
        if (s == SHOAL_OK) s = shoal_dataset_run(job->plan, first + at, here, parameters, values);
        if (s == SHOAL_OK)
            s = shoal_copy(ctx, (char *)result + (size_t)at * out, values, (size_t)here * out);
    }
    s = shoal_stage_end(ctx, &stage, s);
    shoal_free(ctx, parameters);
    shoal_free(ctx, values);
    free(design);
    return s;
}

shoal_status shoal_units_dataset(shoal_dataset *plan, int64_t samples, const shoal_units_opts *opts,
                                 shoal_units **units) {
    const shoal_status s = check(plan, "samples", samples, SHOAL_DATASET_MOST, units);
    if (s != SHOAL_OK) return s;
    return create(plan,
                  (shoal_units_job){
                      .kind = "dataset", .rows = samples, .least = MIN_ROWS, .run = run_dataset },
                  (kind_job){ .width = SHOAL_DATASET_VALUES }, opts, units);
}
