/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - networks of prices: the public functions but for training and files, their checks.
 */
#include "surrogate/surrogate.h"
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(surrogate_method, surrogate)
SHOAL_DECLARE_CUDA(surrogate_method, surrogate)
SHOAL_DECLARE_CUDA(surrogate_method, surrogate_layers)

static const surrogate_method *const cpu[SHOAL_TYPES][SHOAL_LEVEL_COUNT] =
    SHOAL_CPU_CELLS(surrogate);
static const surrogate_method *const fused[SHOAL_TYPES] = SHOAL_CUDA_CELLS(surrogate);
static const surrogate_method *const layers[SHOAL_TYPES] = SHOAL_CUDA_CELLS(surrogate_layers);

enum { CHUNK = 1 << 19 }; /* rows that go to the device at a time */

const char *const shoal_surrogate_maps[SURROGATE_MAPS] = { "x", "log x", "sqrt x" };
const char *const shoal_surrogate_targets[SURROGATE_TARGETS] = { "volatility", "price" };

shoal_status shoal_surrogate_cell(shoal_context *ctx, shoal_type type, const surrogate_net *n,
                                  const char *gemm, const surrogate_method **cell, int *cublas) {
    const int t = type == SHOAL_F32;
    *cublas = 0;
    *cell = ctx->ops ? fused[t] : cpu[t][ctx->level];
    if (!ctx->ops) {
        if (!gemm || !*gemm) return SHOAL_OK;
        return shoal_fail(ctx, SHOAL_E_METHOD, "gemm is '%s'; it applies only to CUDA", gemm);
    }
    const int fits = (*cell)->fits(ctx, n);
    if (!gemm || !*gemm) {
        if (!fits) *cell = layers[t];
        return SHOAL_OK;
    }
    *cublas = strcmp(gemm, "cublas") == 0;
    if (*cublas || strcmp(gemm, "own") == 0)
        *cell = layers[t];
    else if (strcmp(gemm, "fused") != 0)
        return shoal_fail(ctx, SHOAL_E_METHOD, "gemm is '%s'; it must be fused, own or cublas",
                          gemm);
    else if (!fits)
        return shoal_fail(ctx, SHOAL_E_METHOD,
                          "gemm is 'fused'; %d layers of %d neurons do not fit into shared memory",
                          n->layers, n->width);
    return SHOAL_OK;
}

shoal_status shoal_surrogate_put(shoal_context *ctx, size_t size, int64_t count, const double *from,
                                 void *to) {
    if (size == sizeof(double)) return shoal_copy(ctx, to, from, (size_t)count * size);
    float *rounded = malloc((size_t)count * sizeof *rounded);
    if (!rounded) return SHOAL_NO_MEMORY(ctx, "weights");
    for (int64_t i = 0; i < count; i++) rounded[i] = (float)from[i];
    const shoal_status s = shoal_copy(ctx, to, rounded, (size_t)count * size);
    free(rounded);
    return s;
}

/* The floats come into the second half of `to`, ahead of the doubles that are made of them. */
shoal_status shoal_surrogate_take(shoal_context *ctx, size_t size, int64_t count, const void *from,
                                  double *to) {
    char *const end = (char *)(to + count);
    const shoal_status s = shoal_copy(ctx, end - (size_t)count * size, from, (size_t)count * size);
    for (int64_t i = 0; s == SHOAL_OK && size == sizeof(float) && i < count; i++) {
        float value;
        memcpy(&value, end - (count - i) * (int64_t)sizeof value, sizeof value);
        to[i] = (double)value;
    }
    return s;
}

shoal_status shoal_surrogate_make(shoal_context *ctx, const surrogate_net *n,
                                  shoal_surrogate **net) {
    shoal_status s = shoal_plan_new(ctx, sizeof **net, n, net);
    if (s != SHOAL_OK) return s;
    shoal_surrogate *m = *net;
    m->net = *n;
    m->count = surrogate_offset(n, n->layers + 1);
    s = shoal_plan_host(&m->head, m->count, sizeof *m->weights, &m->weights);
    return shoal_plan_made(s, net);
}

void shoal_surrogate_free(shoal_surrogate *net) { shoal_plan_free(net); }

shoal_status shoal_surrogate_describe(const shoal_surrogate *net, shoal_surrogate_info *info) {
    const shoal_status s = shoal_plan_asked(net, info);
    if (s != SHOAL_OK) return s;
    const surrogate_net *n = &net->net;
    *info = (shoal_surrogate_info){ .inputs = n->inputs,
                                    .layers = n->layers,
                                    .width = n->width,
                                    .target = shoal_surrogate_targets[n->target],
                                    .out_shift = n->out_shift,
                                    .out_scale = n->out_scale,
                                    .weights = net->count,
                                    .rows = net->rows,
                                    .seed = net->seed,
                                    .epochs = net->epochs,
                                    .validation = net->validation };
    for (int i = 0; i < n->inputs; i++) {
        info->names[i] = net->name[i];
        info->map[i] = shoal_surrogate_maps[n->map[i]];
        info->shift[i] = n->shift[i], info->scale[i] = n->scale[i];
        info->least[i] = net->range.least[i], info->most[i] = net->range.most[i];
    }
    return SHOAL_OK;
}

shoal_status shoal_surrogate_layer(const shoal_surrogate *net, int layer, int *inputs, int *neurons,
                                   const double **w, const double **b) {
    if (!net) return SHOAL_E_ARG;
    const surrogate_net *n = &net->net;
    if (layer < 0 || layer > n->layers)
        return shoal_fail(net->head.ctx, SHOAL_E_ARG, "layer is %d; the network has 0 to %d", layer,
                          n->layers);
    const shoal_array given[] = {
        { "inputs", inputs, 0 }, { "neurons", neurons, 0 }, { "w", w, 0 }, { "b", b, 0 }
    };
    const shoal_status s = shoal_check_pointers(net->head.ctx, given, 4);
    if (s != SHOAL_OK) return s;
    *inputs = (int)surrogate_fan_in(n, layer), *neurons = (int)surrogate_neurons(n, layer);
    *w = net->weights + surrogate_offset(n, layer);
    *b = *w + *inputs * *neurons;
    return SHOAL_OK;
}

static shoal_status check_predict(const shoal_surrogate *net, int64_t rows, const double *x,
                                  shoal_type type, const double *price, const double *by_strike,
                                  const double *by_maturity) {
    shoal_context *ctx = net->head.ctx;
    const shoal_array given[] = { { "x", x, rows == 0 }, { "price", price, rows == 0 } };
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "rows", rows, 0, INT64_MAX);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_type(ctx, type);
    if (s != SHOAL_OK) return s;
    if (by_strike && net->net.strike < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "by_strike: the network has no input strike");
    if (by_maturity && net->net.maturity < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "by_maturity: the network has no input maturity");
    return SHOAL_OK;
}

/* Rows of the host go to the device and back in chunks; on the CPU, and where the device reaches
 * all arrays, they are where they are needed. */
static shoal_status in_chunks(const surrogate_method *cell, const surrogate_job *j,
                              const surrogate_rows *all, int64_t chunk, double *room) {
    shoal_status s = SHOAL_OK;
    for (int64_t from = 0; s == SHOAL_OK && from < all->count; from += chunk) {
        const int64_t here = all->count - from < chunk ? all->count - from : chunk;
        const size_t bytes = (size_t)here * sizeof(double);
        double *const out = room + chunk * j->net->inputs;
        const surrogate_rows r = { .x = room,
                                   .count = here,
                                   .to_price = out,
                                   .by_strike = all->by_strike ? out + chunk : NULL,
                                   .by_maturity = all->by_maturity ? out + 2 * chunk : NULL };
        s = shoal_copy(j->ctx, room, all->x + from * j->net->inputs,
                       bytes * (size_t)j->net->inputs);
        if (s == SHOAL_OK) s = cell->values(j, &r);
        if (s == SHOAL_OK) s = shoal_copy(j->ctx, all->to_price + from, r.to_price, bytes);
        if (s == SHOAL_OK && r.by_strike)
            s = shoal_copy(j->ctx, all->by_strike + from, r.by_strike, bytes);
        if (s == SHOAL_OK && r.by_maturity)
            s = shoal_copy(j->ctx, all->by_maturity + from, r.by_maturity, bytes);
    }
    return s;
}

static int all_reached(shoal_context *ctx, const surrogate_rows *r) {
    if (!ctx->ops) return 1;
    return ctx->ops->reaches(ctx, r->x) && ctx->ops->reaches(ctx, r->to_price) &&
           (!r->by_strike || ctx->ops->reaches(ctx, r->by_strike)) &&
           (!r->by_maturity || ctx->ops->reaches(ctx, r->by_maturity));
}

shoal_status shoal_surrogate_outside(const shoal_surrogate *net, int64_t rows, const double *x,
                                     uint32_t *outside) {
    if (!net) return SHOAL_E_ARG;
    shoal_context *ctx = net->head.ctx;
    const int inputs = net->net.inputs;
    const shoal_array given[] = { { "x", x, rows == 0 }, { "outside", outside, rows == 0 } };
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "rows", rows, 0, INT64_MAX);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s != SHOAL_OK || rows == 0) return s;
    if (ctx->ops && ctx->ops->reaches(ctx, x) && ctx->ops->reaches(ctx, outside)) {
        s = fused[0]->outside(ctx, &net->range, inputs, rows, x, outside);
        return s == SHOAL_OK ? shoal_wait(ctx) : s;
    }
    for (int64_t row = 0; row < rows; row++)
        outside[row] = surrogate_outside(&net->range, inputs, x + row * inputs);
    return SHOAL_OK;
}

shoal_status shoal_surrogate_predict(const shoal_surrogate *net, int64_t rows, const double *x,
                                     shoal_type type, double *price, double *by_strike,
                                     double *by_maturity) {
    if (!net) return SHOAL_E_ARG;
    shoal_context *ctx = net->head.ctx;
    shoal_status s = check_predict(net, rows, x, type, price, by_strike, by_maturity);
    if (s != SHOAL_OK || rows == 0) return s;
    const surrogate_rows r = {
        .x = x, .count = rows, .to_price = price, .by_strike = by_strike, .by_maturity = by_maturity
    };
    const int direct = all_reached(ctx, &r);
    const int64_t chunk = rows < CHUNK ? rows : CHUNK;
    const size_t bytes = (size_t)(chunk * (net->net.inputs + 3)) * sizeof(double);
    surrogate_job j = { .ctx = ctx, .net = &net->net };
    const surrogate_method *cell;
    int cublas;
    void *room = NULL;
    s = shoal_surrogate_cell(ctx, type, j.net, NULL, &cell, &cublas);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, (size_t)cell->room(j.net) * cell->size, &j.weights);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, cell->scratch(&j, rows), &j.memory);
    if (s == SHOAL_OK && !direct) s = shoal_alloc(ctx, bytes, &room);
    if (s == SHOAL_OK)
        s = shoal_surrogate_put(ctx, cell->size, net->count, net->weights, j.weights);
    if (s == SHOAL_OK && cell->pack) cell->pack(&j);
    const shoal_stage stage = shoal_stage_begin(ctx, "prices");
    if (s == SHOAL_OK) s = direct ? cell->values(&j, &r) : in_chunks(cell, &j, &r, chunk, room);
    if (s == SHOAL_OK) s = shoal_wait(ctx);
    s = shoal_stage_end(ctx, &stage, s);
    shoal_free(ctx, room);
    shoal_free(ctx, j.memory);
    shoal_free(ctx, j.weights);
    return s;
}
