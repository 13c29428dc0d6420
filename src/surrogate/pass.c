/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.c - trains a network of prices: mini-batches, Adam, a cosine from `rate` to a hundredth
 * of it, the weights that are best on the validation set.
 *
 * On CUDA rows, weights, moments and gradients live on the device. A pass sends the order of its
 * rows, launches all its steps, and waits once, for the sums of losses; then come the prices of
 * the validation set, and the weights, where they are the best so far.
 */
#include "surrogate/surrogate.h"
#include "rng/philox.h"
#include <math.h>
#include <string.h>

#define LAST    0.01 /* of the rate, in the end                                               */
#define WORSE   2    /* times the error of the network before training: it diverges           */
#define EXPLODE 30   /* times the least error of a pass: the same                             */

typedef struct trainer { /* a plan: it owns all arrays */
    shoal_plan head;
    surrogate_fit *f;
    const surrogate_method *cell;
    surrogate_job job;
    int64_t losses, steps;                           /* sums of losses; steps so far        */
    double left1, left2;                             /* 0.9, 0.999 to their power           */
    int64_t piece;                                   /* rows whose prices there is room for */
    int64_t *order;                                  /* of rows, on the host                */
    double *loss, *price;                            /* the same                            */
    double *best;                                    /* weights                             */
    void *device_order, *device_loss, *device_price; /* the same again, for the cell        */
    void *moments, *gradient;
} trainer;

/* ---- passes through the data --------------------------------------------------------------------- */

/* A new order of the rows: Fisher and Yates, swap i of pass `epoch` by its own word. */
static void shuffle(trainer *t, int64_t epoch) {
    const shoal_stream s =
        shoal_stream_of(t->f->o.seed, (uint32_t)epoch, SURROGATE_PURPOSE, SURROGATE_ORDER);
    for (int64_t i = t->f->train.data->rows - 1; i > 0; i--) {
        const shoal_words w = shoal_block(&s, (uint64_t)i, 0);
        const uint64_t word = (uint64_t)w.word[0] << 32 | w.word[1];
        const int64_t j = (int64_t)(word % (uint64_t)(i + 1));
        const int64_t kept = t->order[i];
        t->order[i] = t->order[j], t->order[j] = kept;
    }
}

static double sum_of(const double *v, int64_t count, double from) {
    for (int64_t i = 0; i < count; i++) from += v[i];
    return from;
}

/* Step number t->steps, from 1: of so many a pass. */
static double rate_of(const trainer *t, int64_t each) {
    const double done = (double)(t->steps - 1) / (double)(each * t->f->o.epochs);
    const double warm = (double)t->steps < (double)each ? (double)t->steps / (double)each : 1;
    double sine, cosine; /* of pi done, the same bits on every machine */
    shoal_sincospi(done, &sine, &cosine);
    return t->f->o.rate * warm * (LAST + (1 - LAST) * (0.5 + 0.5 * cosine));
}

/* One pass; *mean is the weighted mean square error on the way. A GPU is asked once, in the end,
 * and the next order is made while it works. */
static shoal_status pass(trainer *t, int64_t epoch, double *rate, double *mean) {
    const int64_t rows = t->f->train.data->rows, batch = t->f->o.batch;
    const int64_t each = (rows + batch - 1) / batch;
    const size_t losses = (size_t)t->losses * sizeof *t->loss;
    const int host = !t->job.ctx->ops;
    double loss = 0;
    if (epoch == 1) shuffle(t, epoch);
    memset(t->loss, 0, losses);
    const shoal_stage stage = shoal_stage_begin(t->job.ctx, "training");
    shoal_status s = SHOAL_OK;
    if (!host) s = shoal_copy(t->job.ctx, t->device_loss, t->loss, losses);
    if (!host && s == SHOAL_OK)
        s = shoal_copy(t->job.ctx, t->device_order, t->order, (size_t)rows * sizeof *t->order);
    for (int64_t first = 0; s == SHOAL_OK && first < rows; first += batch) {
        const surrogate_rows r = { .x = t->f->train.x,
                                   .order = t->device_order,
                                   .first = first,
                                   .count = rows - first < batch ? rows - first : batch,
                                   .price = t->f->train.price,
                                   .weight = t->f->train.weight };
        t->steps++;
        t->left1 *= 0.9, t->left2 *= 0.999;
        *rate = rate_of(t, each);
        const surrogate_step step = { .blocks = t->cell->blocks(&t->job, r.count),
                                      .rate = *rate,
                                      .decay1 = 1 - t->left1,
                                      .decay2 = 1 - t->left2,
                                      .share = 1 / (double)r.count };
        if (t->cell->pack) t->cell->pack(&t->job);
        s = shoal_stage_step(t->job.ctx, &stage, (double)first, (double)(first + r.count),
                             (double)rows);
        if (s == SHOAL_OK) s = t->cell->learn(&t->job, &r, t->gradient, t->device_loss);
        if (s == SHOAL_OK) s = t->cell->step(&t->job, &step, t->gradient, t->moments);
        if (host) loss = sum_of(t->loss, step.blocks, loss);
    }
    s = shoal_stage_end(t->job.ctx, &stage, s);
    shuffle(t, epoch + 1);
    if (!host && s == SHOAL_OK) s = shoal_copy(t->job.ctx, t->loss, t->device_loss, losses);
    if (!host) loss = sum_of(t->loss, t->losses, 0);
    *mean = loss / sum_of(t->f->train.weights, rows, 0);
    return s;
}

/* The weighted mean square of the errors on a set, t->piece rows at a time; *lost: the first row
 * without a finite price, or -1. */
static shoal_status loss_on(trainer *t, const surrogate_set *set, double *mean, int64_t *lost) {
    const shoal_surrogate_data *d = set->data;
    shoal_status s = SHOAL_OK;
    double loss = 0;
    *lost = -1;
    if (t->cell->pack) t->cell->pack(&t->job);
    for (int64_t first = 0; s == SHOAL_OK && first < d->rows; first += t->piece) {
        const int64_t count = d->rows - first < t->piece ? d->rows - first : t->piece;
        const surrogate_rows r = { .x = set->x + first * d->inputs,
                                   .count = count,
                                   .to_price = t->device_price };
        s = t->cell->values(&t->job, &r);
        if (s == SHOAL_OK && t->job.ctx->ops)
            s = shoal_copy(t->job.ctx, t->price, r.to_price, (size_t)count * sizeof(double));
        for (int64_t row = 0; s == SHOAL_OK && row < count; row++) {
            const double off = t->price[row] - d->price[first + row];
            loss += set->weights[first + row] * off * off;
            if (*lost < 0 && !isfinite(t->price[row])) *lost = first + row;
        }
    }
    *mean = loss / sum_of(set->weights, d->rows, 0);
    if (s == SHOAL_OK && shoal_is_cancelled(t->job.ctx, 0, 0)) s = SHOAL_E_CANCELLED;
    return s;
}

/* A row is to blame, and the input of it that is most deviations away from the others. */
static shoal_status overflow(trainer *t, const surrogate_set *set, int64_t row,
                             shoal_surrogate_result *result) {
    const surrogate_net *n = t->job.net;
    const double *x = set->data->x + row * n->inputs;
    const int held = set == &t->f->held;
    double farthest = -1;
    for (int i = 0; i < n->inputs; i++) {
        const double away = fabs((surrogate_mapped(n->map[i], x[i]) - n->shift[i]) / n->scale[i]);
        if (away > farthest) farthest = away, result->input = i;
    }
    *(held ? &result->validation_row : &result->train_row) = row;
    return shoal_fail(
        t->job.ctx, SHOAL_E_ARG,
        "%s, row %lld: %s is %g, too far from the rows of train: the network overflows",
        held ? "validation" : "train", (long long)row, t->f->model->name[result->input],
        x[result->input]);
}

/* Whether rows of the validation set have no finite price, as t->price has it, that the rows of
 * the training set do not surround, and none that they do: then it is not the training that has
 * failed. */
static int alone_overflow(const trainer *t) {
    const shoal_surrogate *m = t->f->model;
    const shoal_surrogate_data *d = t->f->held.data;
    for (int64_t row = 0; row < d->rows; row++) {
        int inside = 1;
        for (int i = 0; i < d->inputs; i++) {
            const double x = d->x[row * d->inputs + i];
            inside = inside && x >= m->range.least[i] && x <= m->range.most[i];
        }
        if (inside && !isfinite(t->price[row])) return 0;
    }
    return 1;
}

static shoal_status run(trainer *t, shoal_surrogate_result *result) {
    shoal_surrogate_epoch e = { .best = INFINITY };
    double least = INFINITY, before = 0, train = 0, validation = 0;
    int64_t lost;
    const shoal_stage stage = shoal_stage_begin(t->job.ctx, "training");
    shoal_status s = shoal_stage_step(t->job.ctx, &stage, 0, 0, 1);
    if (s == SHOAL_OK) s = loss_on(t, &t->f->train, &before, &lost);
    if (s == SHOAL_OK && lost >= 0) s = overflow(t, &t->f->train, lost, result);
    if (s == SHOAL_OK) s = loss_on(t, &t->f->held, &validation, &lost);
    if (s == SHOAL_OK && lost >= 0) s = overflow(t, &t->f->held, lost, result);
    before = sqrt(before);
    for (e.epoch = 1; s == SHOAL_OK && e.epoch <= t->f->o.epochs; e.epoch++) {
        s = shoal_stage_step(t->job.ctx, &stage, (double)(e.epoch - 1), (double)e.epoch,
                             (double)t->f->o.epochs);
        if (s == SHOAL_OK) s = pass(t, e.epoch, &e.rate, &train);
        if (s == SHOAL_OK) s = loss_on(t, &t->f->held, &validation, &lost);
        if (s != SHOAL_OK) break;
        e.train = sqrt(train), e.validation = sqrt(validation);
        result->epochs = e.epoch;
        const int learns = e.train <= WORSE * before && e.train <= EXPLODE * least;
        if (learns && lost >= 0 && alone_overflow(t)) {
            s = overflow(t, &t->f->held, lost, result);
            break;
        }
        if (!learns || !isfinite(e.validation)) {
            result->end = SHOAL_SURROGATE_DIVERGED;
            break;
        }
        least = fmin(least, e.train);
        if (e.validation < e.best) {
            e.best = e.validation;
            result->best_epoch = e.epoch;
            s = shoal_surrogate_take(t->job.ctx, t->cell->size, t->f->model->count, t->job.weights,
                                     t->best);
        }
        if (t->f->observer && t->f->observer(t->f->user, &e) != 0) {
            result->end = SHOAL_SURROGATE_STOPPED;
            break;
        }
        if (e.epoch - result->best_epoch >= t->f->o.patience) {
            result->end = SHOAL_SURROGATE_EARLY;
            break;
        }
    }
    result->validation = e.best;
    s = shoal_stage_end(t->job.ctx, &stage, s);
    if (s == SHOAL_E_CANCELLED) result->end = SHOAL_SURROGATE_STOPPED;
    return s;
}

/* ---- memory --------------------------------------------------------------------------------------- */

static shoal_status make_set(trainer *t, surrogate_set *set) {
    const shoal_surrogate_data *d = set->data;
    const size_t column = (size_t)d->rows * sizeof(double), inputs = (size_t)d->inputs;
    set->x = d->x, set->price = d->price, set->weight = set->weights;
    if (!t->job.ctx->ops) return SHOAL_OK;
    double *x;
    shoal_status s = shoal_plan_alloc(&t->head, (inputs + 2) * column, &x);
    if (s != SHOAL_OK) return s;
    double *price = x + d->rows * d->inputs, *weight = price + d->rows;
    s = shoal_copy(t->job.ctx, x, d->x, inputs * column);
    if (s == SHOAL_OK) s = shoal_copy(t->job.ctx, price, d->price, column);
    if (s == SHOAL_OK) s = shoal_copy(t->job.ctx, weight, set->weights, column);
    set->x = x, set->price = price, set->weight = weight;
    return s;
}

/* An array of the host, the address of whose pointer is `host`, and one for the cell: the same on the CPU. */
static shoal_status make_pair(trainer *t, int64_t count, size_t size, void *host, void **device) {
    const shoal_status s = shoal_plan_host(&t->head, count, size, host);
    if (s == SHOAL_OK && t->job.ctx->ops)
        return shoal_plan_alloc(&t->head, (size_t)count * size, device);
    memcpy(device, host, sizeof *device);
    return s;
}

static shoal_status make_arrays(trainer *t) {
    const int64_t rows = t->f->train.data->rows, held = t->f->held.data->rows;
    const int64_t together = t->f->o.batch < rows ? t->f->o.batch : rows;
    const int64_t blocks = t->cell->blocks(&t->job, together), count = t->f->model->count;
    const size_t size = t->cell->size, all = (size_t)count * size;
    t->losses = t->job.ctx->ops ? SURROGATE_SUMS : blocks;
    t->piece = together > held ? together : held;
    shoal_status s = make_set(t, &t->f->train);
    if (s == SHOAL_OK) s = make_set(t, &t->f->held);
    if (s == SHOAL_OK) s = make_pair(t, t->losses, sizeof *t->loss, &t->loss, &t->device_loss);
    if (s == SHOAL_OK) s = make_pair(t, rows, sizeof *t->order, &t->order, &t->device_order);
    if (s == SHOAL_OK) s = make_pair(t, t->piece, sizeof *t->price, &t->price, &t->device_price);
    for (int64_t i = 0; s == SHOAL_OK && i < rows; i++) t->order[i] = i;
    if (s == SHOAL_OK) s = shoal_plan_host(&t->head, 2 * count, sizeof *t->best, &t->best);
    if (s == SHOAL_OK)
        s = shoal_plan_alloc(&t->head, (size_t)t->cell->room(t->job.net) * size, &t->job.weights);
    if (s == SHOAL_OK)
        s = shoal_plan_alloc(&t->head, t->cell->scratch(&t->job, t->piece), &t->job.memory);
    if (s == SHOAL_OK) s = shoal_plan_alloc(&t->head, 2 * all, &t->moments);
    if (s == SHOAL_OK) s = shoal_copy(t->job.ctx, t->moments, t->best, 2 * all); /* zeros */
    if (s != SHOAL_OK) return s;
    s = shoal_plan_alloc(&t->head, (size_t)blocks * all, &t->gradient);
    if (s == SHOAL_OK) return s;
    return shoal_fail(t->job.ctx, s, "batch is %lld: no memory for %zu bytes of gradients",
                      (long long)t->f->o.batch, (size_t)blocks * all);
}

static void close_blas(void *trained) {
    const trainer *t = trained;
    if (t->job.blas) t->cell->close(t->job.blas);
}

shoal_status shoal_surrogate_passes(surrogate_fit *f, shoal_surrogate_result *found) {
    shoal_surrogate *m = f->model;
    trainer *t;
    int cublas = 0;
    shoal_status s = shoal_plan_new(f->ctx, sizeof *t, f, &t);
    if (s != SHOAL_OK) return s;
    t->head.close = close_blas;
    t->f = f, t->left1 = t->left2 = 1;
    t->job.ctx = f->ctx, t->job.net = &m->net;
    s = shoal_surrogate_cell(f->ctx, f->o.type, &m->net, f->o.gemm, &t->cell, &cublas);
    if (s == SHOAL_OK && cublas) s = t->cell->open(f->ctx, &t->job.blas);
    if (s == SHOAL_OK) s = make_arrays(t);
    if (s == SHOAL_OK)
        s = shoal_surrogate_put(f->ctx, t->cell->size, m->count, m->weights, t->job.weights);
    if (s == SHOAL_OK) s = run(t, found);
    if ((s == SHOAL_OK || s == SHOAL_E_CANCELLED) && found->best_epoch > 0)
        memcpy(m->weights, t->best, (size_t)m->count * sizeof *t->best);
    m->epochs = found->best_epoch, m->validation = found->validation;
    shoal_plan_free(t);
    return s;
}
