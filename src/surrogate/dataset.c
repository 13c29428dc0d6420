/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.c - many rows of parameters on the CPU: threads share the rows; the samples of a block
 * are the lanes of a row's loops. Sums have 32 lanes, each of which adds every 32nd sample;
 * look() adds them by halves, as dataset.cu does.
 */
#include "pricing/lanes.h"
#include "surrogate/dataset_fit.h"
#include <string.h>

enum { LANES = DATASET_BLOCK, SUM_LANES = 32 };

typedef struct worker {
    dataset_row row;
    dataset_tables tables;
    double room[DATASET_TABLES * (DATASET_STEPS + 1)];                      /* of the tables */
    uint32_t w[4 * LANES];                                                  /* words of Philox */
    double z[2][LANES];                                                     /* normals */
    double x[LANES], a[2][LANES], b[2][LANES], along[LANES], across[LANES]; /* dataset_walk */
    double up[LANES], j[2][LANES]; /* e^X at maturity, dataset_ends.j */
    double mean[DATASET_CALLS][LANES];
    double law[2 * DATASET_CALLS][LANES];        /* Phi(d), and Phi(d - s) */
    double value[DATASET_STATISTICS + 1][LANES]; /* the last is 1 */
    double sum[DATASET_SUMS][SUM_LANES];
} worker;

static dataset_walk walk_at(const worker *o, int i) {
    const dataset_walk w = {
        o->x[i], { o->a[0][i], o->a[1][i] }, { o->b[0][i], o->b[1][i] }, o->along[i], o->across[i]
    };
    return w;
}

static void put_walk(worker *o, int i, const dataset_walk *w) {
    o->x[i] = w->x, o->along[i] = w->along, o->across[i] = w->across;
    for (int image = 0; image < 2; image++)
        o->a[image][i] = w->a[image], o->b[image][i] = w->b[image];
}

static void step(int k, const double *z, worker *o) {
    const dataset_row r = o->row;
    const dataset_weights at = dataset_weights_at(&o->tables, k);
    EACH(i, LANES) {
        const dataset_walk w = dataset_step(&r, at, z[i], walk_at(o, i));
        put_walk(o, i, &w);
    }
}

/* Each of these has a loop of its own: a function this large is inlined, and the loop made of
 * vectors, where it stands once. */
static void exponentials(const double *from, int64_t count, double *to) {
    EACH(i, count) to[i] = shoal_exp(from[i]);
}

static void normal_laws(int64_t count, double *x) { EACH(i, count) x[i] = shoal_normcdf(x[i]); }

static void take_samples(worker *o) {
    const dataset_row r = o->row;
    exponentials(o->x, LANES, o->up);
    EACH(i, LANES) {
        const dataset_walk w = walk_at(o, i);
        const dataset_ends e = dataset_end(&r, &w, o->up[i]);
        o->j[0][i] = e.j[0], o->j[1][i] = e.j[1];
        for (int k = 0; k < DATASET_CALLS; k++) {
            const double d = dataset_place(&r, e.log_mean[k], e.deviation[k]);
            o->mean[k][i] = e.log_mean[k];
            o->law[k][i] = d, o->law[DATASET_CALLS + k][i] = d - e.deviation[k];
        }
    }
    exponentials(o->mean[0], DATASET_CALLS * LANES, o->mean[0]);
    normal_laws(2 * DATASET_CALLS * LANES, o->law[0]);
    EACH(i, LANES) {
        const dataset_walk w = walk_at(o, i);
        const double j[2] = { o->j[0][i], o->j[1][i] };
        double mean[DATASET_CALLS], call[DATASET_CALLS], v[DATASET_STATISTICS];
        for (int k = 0; k < DATASET_CALLS; k++) {
            mean[k] = o->mean[k][i];
            call[k] = dataset_call(&r, mean[k], o->law[k][i], o->law[DATASET_CALLS + k][i]);
        }
        dataset_sample(&r, &w, j, mean, call, v);
        for (int k = 0; k < DATASET_STATISTICS; k++) o->value[k][i] = v[k];
    }
}

static void run_block(const dataset_job *job, uint64_t first, worker *o) {
    const dataset_walk begin = dataset_begin(&o->tables);
    for (int i = 0; i < LANES; i++) put_walk(o, i, &begin);
    for (int k = 0; k < o->row.steps; k++) {
        if (k % 2 == 0) {
            lanes_words(&job->normals, (uint32_t)k / 2, first, LANES, o->w);
            lanes_normals(o->w, 0, LANES, o->z[0], o->z[1]);
        }
        step(k, o->z[k % 2], o);
    }
    take_samples(o);
    for (int s = 0; s < DATASET_SUMS; s++) {
        int one, other;
        dataset_pair(s, &one, &other);
        const double *v = o->value[one], *u = o->value[other];
        double *to = o->sum[s];
        for (int from = 0; from < LANES; from += SUM_LANES)
            EACH(i, SUM_LANES) to[i] = fma(v[from + i], u[from + i], to[i]);
    }
}

static int64_t look(const dataset_job *job, int64_t blocks, const worker *o, double value[3]) {
    double total[DATASET_SUMS];
    for (int s = 0; s < DATASET_SUMS; s++) {
        double half[SUM_LANES];
        memcpy(half, o->sum[s], sizeof half);
        for (int distance = SUM_LANES / 2; distance > 0; distance /= 2)
            for (int i = 0; i < distance; i++) half[i] += half[i + distance];
        total[s] = half[0];
    }
    return dataset_look(job, &o->row, total, blocks, value);
}

static void run_row(const shoal_context *ctx, const dataset_job *job, int64_t row) {
    worker o;
    double *value = job->values + row * SHOAL_DATASET_VALUES;
    o.row = (dataset_row){ 0 };
    o.tables = dataset_tables_at(o.room, job->steps + 1);
    shoal_dataset_prepare(job, job->parameters + row * SHOAL_DATASET_COLUMNS, &o.row, &o.tables);
    value[0] = value[1] = shoal_nan(), value[2] = 0;
    if (o.row.steps == 0) return;
    memset(o.sum, 0, sizeof o.sum);
    for (int i = 0; i < LANES; i++) o.value[DATASET_STATISTICS][i] = 1;
    const uint64_t first = (job->first + (uint64_t)row) << DATASET_ROW_BITS;
    int64_t done = 0, goal = dataset_first_look(job);
    while (goal > 0) {
        for (; done < goal; done++) {
            if (shoal_is_cancelled(ctx, row, job->count)) return;
            run_block(job, first + (uint64_t)done * LANES, &o);
        }
        goal = look(job, done, &o, value);
    }
}

static shoal_status run(shoal_context *ctx, const dataset_job *job) {
    ON_THREADS(ctx->threads, dynamic)
    for (int64_t row = 0; row < job->count; row++) run_row(ctx, job, row);
    return SHOAL_OK;
}

const dataset_method R(dataset_rows) = { .run = run };
