/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate_plan.c - networks of prices: the public functions but for training and files, their checks.
 */
#include "pricing/surrogate.h"
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(surrogate_method, surrogate)

static const surrogate_method *const cells[SHOAL_TYPES][SHOAL_LEVEL_COUNT] =
    SHOAL_CPU_CELLS(surrogate);

const char *const shoal_surrogate_maps[SURROGATE_MAPS] = { "x", "log x", "sqrt x" };
const char *const shoal_surrogate_targets[SURROGATE_TARGETS] = { "volatility", "price" };

const surrogate_method *shoal_surrogate_cell(const shoal_context *ctx, shoal_type type) {
    return cells[type == SHOAL_F32][ctx->level];
}

shoal_status shoal_surrogate_on_cpu(shoal_context *ctx) {
    const shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK && ctx->ops)
        return shoal_fail(ctx, SHOAL_E_BACKEND,
                          "networks have no kernels yet: open a context with backend \"cpu\"");
    return s;
}

shoal_status shoal_surrogate_make(shoal_context *ctx, const surrogate_net *n,
                                  shoal_surrogate **net) {
    shoal_surrogate *m = calloc(1, sizeof *m);
    *net = NULL;
    if (m) {
        m->ctx = ctx, m->net = *n;
        m->count = surrogate_offset(n, n->layers + 1);
        m->weights = calloc((size_t)m->count, sizeof *m->weights);
    }
    if (!m || !m->weights) {
        shoal_surrogate_free(m);
        return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a network");
    }
    *net = m;
    return SHOAL_OK;
}

void shoal_surrogate_free(shoal_surrogate *net) {
    if (!net) return;
    free(net->weights);
    free(net);
}

shoal_status shoal_surrogate_describe(const shoal_surrogate *net, shoal_surrogate_info *info) {
    if (!net) return SHOAL_E_ARG;
    if (!info) return shoal_fail(net->ctx, SHOAL_E_ARG, "info is NULL");
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
        info->least[i] = net->least[i], info->most[i] = net->most[i];
    }
    return SHOAL_OK;
}

shoal_status shoal_surrogate_layer(const shoal_surrogate *net, int layer, int *inputs, int *neurons,
                                   const double **w, const double **b) {
    if (!net) return SHOAL_E_ARG;
    const surrogate_net *n = &net->net;
    if (layer < 0 || layer > n->layers)
        return shoal_fail(net->ctx, SHOAL_E_ARG, "layer is %d; the network has 0 to %d", layer,
                          n->layers);
    if (!inputs || !neurons || !w || !b)
        return shoal_fail(net->ctx, SHOAL_E_ARG, "inputs, neurons, w or b is NULL");
    *inputs = (int)surrogate_fan_in(n, layer), *neurons = (int)surrogate_neurons(n, layer);
    *w = net->weights + surrogate_offset(n, layer);
    *b = *w + *inputs * *neurons;
    return SHOAL_OK;
}

static shoal_status check_predict(const shoal_surrogate *net, int64_t rows, const double *x,
                                  const double *price, const double *by_strike,
                                  const double *by_maturity) {
    shoal_context *ctx = net->ctx;
    const shoal_status s = shoal_surrogate_on_cpu(ctx);
    if (s != SHOAL_OK) return s;
    if (rows < 0) return shoal_fail(ctx, SHOAL_E_ARG, "rows is %lld", (long long)rows);
    if (rows > 0 && !x) return shoal_fail(ctx, SHOAL_E_ARG, "x is NULL");
    if (rows > 0 && !price) return shoal_fail(ctx, SHOAL_E_ARG, "price is NULL");
    if (by_strike && net->net.strike < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "by_strike: the network has no input strike");
    if (by_maturity && net->net.maturity < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "by_maturity: the network has no input maturity");
    return SHOAL_OK;
}

shoal_status shoal_surrogate_predict(const shoal_surrogate *net, int64_t rows, const double *x,
                                     shoal_type type, double *price, double *by_strike,
                                     double *by_maturity) {
    if (!net) return SHOAL_E_ARG;
    shoal_context *ctx = net->ctx;
    shoal_status s = check_predict(net, rows, x, price, by_strike, by_maturity);
    if (s != SHOAL_OK || rows == 0) return s;
    const surrogate_method *cell = shoal_surrogate_cell(ctx, type);
    const size_t packed = (size_t)cell->room(&net->net) * cell->size;
    void *weights = NULL, *memory = NULL;
    s = shoal_alloc(ctx, packed, &weights);
    if (s == SHOAL_OK)
        s = shoal_alloc(ctx, (size_t)ctx->threads * cell->scratch(&net->net), &memory);
    if (s == SHOAL_OK) {
        const surrogate_rows r = { .x = x,
                                   .count = rows,
                                   .to_price = price,
                                   .by_strike = by_strike,
                                   .by_maturity = by_maturity };
        cell->round(net->count, net->weights, weights);
        cell->pack(&net->net, weights);
        cell->values(ctx, &net->net, weights, &r, memory);
    }
    shoal_free(ctx, memory);
    shoal_free(ctx, weights);
    return s;
}
