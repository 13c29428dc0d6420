/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.c - a network of prices on the CPU: values, derivatives by back-propagation, Adam.
 *
 * The network's number u becomes a price by Black and Scholes, with volatility e^(c + e u), c
 * and e constants of the network:
 *
 *     s = sqrt(T) e^(c + e u),  d = -log(K)/s + s/2,  P = Phi(d) - K Phi(d - s),
 *     dP/du = phi(d) s e,  dP/dK = -Phi(d - s) + dP/du du/dK,  dP/dT = phi(d) s/(2 T) + dP/du du/dT,
 *
 * or is the price itself, P = c + e u. With the errors e_l = dP/dz_l, from the last layer to the
 * first,
 *
 *     e_(l-1) = (W_l^T e_l) f'(z_(l-1)),   dP/dW_l = e_l a_(l-1)^T,   f(z) = z g,  f' = g (1 + z - z g),
 *
 * g = 1/(1 + e^-z). Threads take blocks of 128 rows. A batch has a gradient for each block, or,
 * where there are more, SURROGATE_SUMS, each of neighbouring blocks; the step of Adam (Kingma
 * and Ba 2015, algorithm 1) adds them in their order: the same bits for any number of threads.
 * The last formulas, of prices, are in double. Cost of a row: about one multiply-add per weight
 * for a price, two with derivatives, three in training, and an exponential and a division per
 * neuron.
 */
#include "core/loops.h"
#include "pricing/pick.h"
#include "surrogate/lanes.h"
#include <string.h>

enum { LANES = SURROGATE_LANES };

typedef struct block { /* of rows, in a worker's memory; numbers as in lanes.h */
    real *in;          /* [inputs]: a_0                                                       */
    real *act, *slope; /* [layer][neuron]: a_l, f'(z_l)                                       */
    real *error;       /* [2][neuron]: e_l, of this layer and the one before                  */
    real *lane;        /* u, and what goes back from it, lanes in a row                       */
    double *strike, *maturity, *price, *slope_u, *by_strike, *by_maturity; /* [lane]          */
} block;

enum { DOUBLES = 6 };

static size_t reals_of(const surrogate_net *n) {
    return (size_t)LANES * (size_t)(n->inputs + (2 * n->layers + 2) * n->width + 1);
}

static size_t worker_bytes(const surrogate_net *n) {
    return reals_of(n) * sizeof(real) + DOUBLES * LANES * sizeof(double);
}

static size_t scratch(const surrogate_job *j, int64_t rows) {
    (void)rows; /* a worker has one block at a time */
    return (size_t)j->ctx->threads * worker_bytes(j->net);
}

static int64_t blocks_of(int64_t rows) { return (rows + LANES - 1) / LANES; }

static int64_t gradients_of(const surrogate_job *j, int64_t rows) {
    (void)j;
    return blocks_of(rows) < SURROGATE_SUMS ? blocks_of(rows) : (int64_t)SURROGATE_SUMS;
}

static block block_of(const surrogate_net *n, char *memory) {
    block b = { .in = (real *)memory };
    const size_t layer = (size_t)LANES * (size_t)n->width;
    b.act = b.in + (size_t)LANES * (size_t)n->inputs;
    b.slope = b.act + layer * (size_t)n->layers;
    b.error = b.slope + layer * (size_t)n->layers;
    b.lane = b.error + 2 * layer;
    double **const lists[DOUBLES] = { &b.strike,  &b.maturity,  &b.price,
                                      &b.slope_u, &b.by_strike, &b.by_maturity };
    double *at = (double *)(memory + reals_of(n) * sizeof(real));
    for (int i = 0; i < DOUBLES; i++) *lists[i] = at + i * LANES;
    return b;
}

/* ---- weights: as they are, then packed for `apply`, forward and back --------------------------- */

static int64_t packed_at(const surrogate_net *n) {
    return (surrogate_offset(n, n->layers + 1) + LANES - 1) / LANES * LANES;
}
static const real *forward_of(const surrogate_net *n, const real *w, int layer) {
    return w + packed_at(n) + (layer > 0 ? (n->inputs + (layer - 1) * n->width) * n->width : 0);
}
static const real *back_of(const surrogate_net *n, const real *w, int layer) {
    return forward_of(n, w, n->layers) + (layer - 1) * n->width * n->width;
}
static int64_t room(const surrogate_net *n) {
    return packed_at(n) + (n->inputs + 2 * (n->layers - 1) * n->width) * n->width;
}

static void pack_all(const surrogate_job *j) {
    const surrogate_net *n = j->net;
    const int64_t width = n->width;
    real *w = j->weights;
    for (int l = 0; l < n->layers; l++) {
        const real *from = w + surrogate_offset(n, l);
        pack(from, width, 1, surrogate_fan_in(n, l), width, w + (forward_of(n, w, l) - w));
        if (l > 0) pack(from, 1, width, width, width, w + (back_of(n, w, l) - w));
    }
}

/* Rows from .. from + here - 1 into lanes; lanes that are left repeat the last row. */
static void load(const surrogate_net *n, const surrogate_rows *r, int64_t from, int64_t here,
                 block *b) {
    const double *row[LANES];
    for (int i = 0; i < LANES; i++) {
        row[i] = r->x + surrogate_row(r, from + (i < here ? i : here - 1)) * n->inputs;
        b->strike[i] = n->strike >= 0 ? row[i][n->strike] : 1;
        b->maturity[i] = n->maturity >= 0 ? row[i][n->maturity] : 1;
    }
    for (int k = 0; k < n->inputs; k++) {
        const double shift = n->shift[k], per = 1 / n->scale[k];
        const int map = n->map[k];
        for (int i = 0; i < LANES; i++)
            b->in[(i / PANEL * n->inputs + k) * PANEL + i % PANEL] =
                (real)((surrogate_mapped(map, row[i][k]) - shift) * per);
    }
}

static void forward(const surrogate_net *n, const real *w, int slopes, block *b) {
    const real *in = b->in;
    int64_t inputs = n->inputs;
    const int64_t width = n->width;
    for (int l = 0; l < n->layers; l++) {
        real *act = b->act + l * width * LANES;
        const real *bias = w + surrogate_offset(n, l) + inputs * width;
        apply(forward_of(n, w, l), bias, in, inputs, act, width);
        if (slopes)
            activate(act, b->slope + l * width * LANES, width * LANES);
        else
            activate(act, NULL, width * LANES);
        in = act, inputs = width;
    }
    const real *last = w + surrogate_offset(n, n->layers);
    combine(last, last[width], in, width, b->lane);
}

/* Prices, and with `slopes` dP/du and the parts of dP/dK and dP/dT that do not go through u. */
static void price(const surrogate_net *n, int slopes, block *b) {
    const double shift = n->out_shift, scale = n->out_scale;
    if (n->target == SURROGATE_PRICE) {
        EACH(i, LANES) {
            b->price[i] = fma(scale, (double)b->lane[i], shift);
            b->slope_u[i] = scale;
            b->by_strike[i] = b->by_maturity[i] = 0;
        }
        return;
    }
    double s[LANES], d[2 * LANES]; /* d, then d - s */
    EACH(i, LANES) {
        s[i] = sqrt(b->maturity[i]) * shoal_exp(fma(scale, (double)b->lane[i], shift));
        d[i] = fma(0.5, s[i], -(shoal_log(b->strike[i]) / s[i]));
        d[LANES + i] = d[i] - s[i];
    }
    if (slopes) EACH(i, LANES) {
            const double density = 0.3989422804014327 * shoal_exp(-0.5 * d[i] * d[i]);
            b->slope_u[i] = density * s[i] * scale;
            b->by_maturity[i] = density * s[i] / (2 * b->maturity[i]);
        }
    for (int i = 0; i < 2 * LANES; i++) d[i] = shoal_normcdf(d[i]);
    EACH(i, LANES) {
        b->price[i] = fma(-b->strike[i], d[LANES + i], d[i]);
        b->by_strike[i] = -d[LANES + i];
    }
}

/* e_L out of what comes back through u, b->lane. */
static real *last_error(const surrogate_net *n, const real *w, block *b) {
    const real *last = w + surrogate_offset(n, n->layers), *slope = b->slope;
    slope += (int64_t)(n->layers - 1) * n->width * LANES;
    real *to = b->error;
    for (int panel = 0; panel < PANELS; panel++)
        for (int64_t k = 0; k < n->width; k++, to += PANEL, slope += PANEL)
            for (int i = 0; i < PANEL; i++) to[i] = last[k] * b->lane[panel * PANEL + i] * slope[i];
    return b->error;
}

/* e_(l-1) out of e_l, in the other place. */
static real *error_before(const surrogate_net *n, const real *w, int layer, const real *error,
                          block *b) {
    const int64_t width = n->width;
    real *to = error == b->error ? b->error + width * LANES : b->error;
    apply(back_of(n, w, layer), NULL, error, width, to, width);
    const real *slope = b->slope + (layer - 1) * width * LANES;
    for (int64_t k = 0; k < width; k++) EACH(i, LANES) to[k * LANES + i] *= slope[k * LANES + i];
    return to;
}

/* Adds dP/du du/dx of one input to a list. */
static void through(const surrogate_net *n, const real *w, int input, const double *x,
                    const real *error, double *to) {
    real sum[LANES] __attribute__((aligned(VEC_BYTES)));
    combine(w + (int64_t)input * n->width, 0, error, n->width, sum);
    const double per = 1 / n->scale[input];
    for (int i = 0; i < LANES; i++)
        to[i] += (double)sum[i] * per * surrogate_map_slope(n->map[input], x[i]);
}

static void differentiate(const surrogate_net *n, const real *w, const surrogate_rows *r,
                          block *b) {
    EACH(i, LANES) b->lane[i] = (real)b->slope_u[i];
    const real *error = last_error(n, w, b);
    for (int l = n->layers - 1; l > 0; l--) error = error_before(n, w, l, error, b);
    if (r->by_strike) through(n, w, n->strike, b->strike, error, b->by_strike);
    if (r->by_maturity) through(n, w, n->maturity, b->maturity, error, b->by_maturity);
}

static void value_block(const surrogate_net *n, const real *w, const surrogate_rows *r,
                        int64_t from, block *b) {
    const int64_t here = r->count - from < LANES ? r->count - from : LANES;
    const int slopes = r->by_strike || r->by_maturity;
    const size_t bytes = (size_t)here * sizeof(double);
    load(n, r, from, here, b);
    forward(n, w, slopes, b);
    price(n, slopes, b);
    if (slopes) differentiate(n, w, r, b);
    memcpy(r->to_price + r->first + from, b->price, bytes);
    if (r->by_strike) memcpy(r->by_strike + r->first + from, b->by_strike, bytes);
    if (r->by_maturity) memcpy(r->by_maturity + r->first + from, b->by_maturity, bytes);
}

static shoal_status values(const surrogate_job *j, const surrogate_rows *rows) {
    const int workers = j->ctx->threads;
    const int64_t blocks = blocks_of(rows->count);
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int worker = 0; worker < workers; worker++) {
        block b = block_of(j->net, (char *)j->memory + (size_t)worker * worker_bytes(j->net));
        const int64_t end = blocks * (worker + 1) / workers;
        const int64_t begin = blocks * worker / workers;
        for (int64_t at = begin; at < end && !shoal_is_cancelled(j->ctx, at - begin, end - begin);
             at++)
            value_block(j->net, j->weights, rows, at * LANES, &b);
    }
    return SHOAL_OK;
}

/* ---- training --------------------------------------------------------------------------------- */

/* The gradient of a block, or that added to the one of the blocks before. */
static double learn_block(const surrogate_net *n, const real *w, const surrogate_rows *r,
                          int64_t from, int add, real *gradient, block *b) {
    const int64_t here = r->count - from < LANES ? r->count - from : LANES, width = n->width;
    double loss = 0;
    load(n, r, from, here, b);
    forward(n, w, 1, b);
    price(n, 1, b);
    for (int i = 0; i < LANES; i++) b->lane[i] = 0; /* of lanes without a row, too */
    for (int i = 0; i < here; i++) {
        const int64_t row = surrogate_row(r, from + i);
        const double off = b->price[i] - r->price[row], weight = r->weight[row];
        loss = fma(weight * off, off, loss);
        b->lane[i] = (real)(weight * off * b->slope_u[i]);
    }
    const real *act = b->act + (n->layers - 1) * width * LANES;
    real *last = gradient + surrogate_offset(n, n->layers);
    project(act, width, b->lane, last, add);
    real bias = 0;
    for (int i = 0; i < LANES; i++) bias += b->lane[i];
    last[width] = add ? last[width] + bias : bias;
    const real *error = last_error(n, w, b);
    for (int l = n->layers - 1; l >= 0; l--) {
        const int64_t inputs = surrogate_fan_in(n, l);
        real *to = gradient + surrogate_offset(n, l);
        outer(l > 0 ? b->act + (l - 1) * width * LANES : b->in, inputs, error, width, to, add);
        project(error, width, NULL, to + inputs * width, add);
        if (l > 0) error = error_before(n, w, l, error, b);
    }
    return loss;
}

static shoal_status learn(const surrogate_job *j, const surrogate_rows *rows, void *gradient,
                          double *loss) {
    const int workers = j->ctx->threads;
    const int64_t blocks = blocks_of(rows->count), gradients = gradients_of(j, rows->count);
    const int64_t count = surrogate_offset(j->net, j->net->layers + 1);
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int worker = 0; worker < workers; worker++) {
        block b = block_of(j->net, (char *)j->memory + (size_t)worker * worker_bytes(j->net));
        const int64_t end = gradients * (worker + 1) / workers;
        for (int64_t at = gradients * worker / workers; at < end; at++) {
            const int64_t first = blocks * at / gradients, last = blocks * (at + 1) / gradients;
            double sum = 0;
            for (int64_t from = first; from < last; from++)
                sum += learn_block(j->net, j->weights, rows, from * LANES, from > first,
                                   (real *)gradient + at * count, &b);
            loss[at] = sum;
        }
    }
    return SHOAL_OK;
}

static shoal_status step(const surrogate_job *j, const surrogate_step *s, const void *gradient,
                         void *moments) {
    const int64_t count = surrogate_offset(j->net, j->net->layers + 1);
    const real first = (real)0.9, second = (real)0.999, tiny = (real)1e-8;
    const real rate = (real)(s->rate / s->decay1), per = (real)(1 / s->decay2);
    const real share = (real)s->share, *from = gradient;
    real *w = j->weights, *mean = moments, *square = mean + count;
    INDEPENDENT for (int64_t k = 0; k < count; k++) {
        real g = from[k];
        for (int64_t b = 1; b < s->blocks; b++) g += from[b * count + k];
        g *= share;
        mean[k] = real_fma(first, mean[k] - g, g);
        square[k] = real_fma(second, square[k] - g * g, g * g);
        w[k] -= rate * mean[k] / (real_sqrt(square[k] * per) + tiny);
    }
    return SHOAL_OK;
}

const surrogate_method R(surrogate) = { .size = sizeof(real),
                                        .room = room,
                                        .blocks = gradients_of,
                                        .scratch = scratch,
                                        .pack = pack_all,
                                        .values = values,
                                        .learn = learn,
                                        .step = step };
