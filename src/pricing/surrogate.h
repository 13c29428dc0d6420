/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.h - what a network of prices holds, and what its arithmetic gets to see.
 *
 * A network of L hidden layers of n neurons maps standardised inputs to one number u:
 *
 *     a_0 = x,   z_l = W_l a_(l-1) + b_l,   a_l = z_l / (1 + e^(-z_l)),   u = w . a_L + b.
 *
 * Weights lie layer by layer, W_l as [inputs][neurons], then b_l.
 */
#ifndef SHOAL_PRICING_SURROGATE_H
#define SHOAL_PRICING_SURROGATE_H

#include "core/method.h"
#include <shoal/surrogate.h>

enum { SURROGATE_LANES = 128 }; /* rows of a block: all layers of it stay in a core's cache */
enum { SURROGATE_PURPOSE = 0xd1, SURROGATE_WEIGHTS = 0, SURROGATE_ORDER = 1 }; /* random numbers */

enum { SURROGATE_PLAIN, SURROGATE_LOG, SURROGATE_ROOT, SURROGATE_MAPS }; /* of an input       */
enum { SURROGATE_VOLATILITY, SURROGATE_PRICE, SURROGATE_TARGETS };

typedef struct surrogate_net {
    int inputs, layers, width, target;
    int strike, maturity; /* inputs, or -1                                                    */
    int map[SHOAL_SURROGATE_INPUTS];
    double shift[SHOAL_SURROGATE_INPUTS], scale[SHOAL_SURROGATE_INPUTS];
    double out_shift, out_scale;
} surrogate_net;

struct shoal_surrogate {
    shoal_context *ctx;
    surrogate_net net;
    char name[SHOAL_SURROGATE_INPUTS][SHOAL_SURROGATE_NAME];
    double least[SHOAL_SURROGATE_INPUTS], most[SHOAL_SURROGATE_INPUTS];
    int64_t count;   /* of weights                                                            */
    double *weights; /* a network trained in f32 has floats in them                           */
    int64_t rows, epochs;
    uint64_t seed;
    double validation;
};

static inline int64_t surrogate_fan_in(const surrogate_net *n, int layer) {
    return layer == 0 ? n->inputs : n->width;
}
static inline int64_t surrogate_neurons(const surrogate_net *n, int layer) {
    return layer == n->layers ? 1 : n->width;
}
/* Where the weights of a layer begin; of layer layers + 1, where they end. */
static inline int64_t surrogate_offset(const surrogate_net *n, int layer) {
    int64_t at = 0;
    for (int l = 0; l < layer; l++) at += (surrogate_fan_in(n, l) + 1) * surrogate_neurons(n, l);
    return at;
}

typedef struct surrogate_rows { /* rows first .. first + count - 1 of an order                */
    const double *x;            /* [row][inputs]                                              */
    const int64_t *order;       /* NULL: as they are                                          */
    int64_t first, count;
    const double *price, *weight; /* of training                                              */
    double *to_price, *by_strike, *by_maturity; /* of prediction; the last two or NULL        */
} surrogate_rows;

typedef struct surrogate_step {  /* one step of Adam                                           */
    int64_t blocks;              /* whose gradients are added, in their order                  */
    double rate, decay1, decay2; /* decay1 = 1 - beta1^t, decay2 = 1 - beta2^t                */
    double share;                /* 1 / rows of the batch                                     */
} surrogate_step;

/* The cell. `weights`, `gradient`, `moments` are arrays of its type. */
typedef struct surrogate_method {
    size_t size;                              /* of its type                                  */
    size_t (*scratch)(const surrogate_net *); /* bytes of a block's memory                    */
    int64_t (*room)(const surrogate_net *);   /* numbers of `weights`, packed ones included   */
    void (*pack)(const surrogate_net *n, void *weights); /* once they have changed            */
    /* Prices, a worker's blocks in a row; memory [worker][scratch]. */
    void (*values)(const shoal_context *ctx, const surrogate_net *n, const void *weights,
                   const surrogate_rows *rows, void *memory);
    /* Gradients of sum weight (P - price)^2 / 2 for each block, [block][weights], and the sums of
     * weight (P - price)^2 themselves; memory [worker][scratch]. */
    void (*learn)(const shoal_context *ctx, const surrogate_net *n, const void *weights,
                  const surrogate_rows *rows, void *memory, void *gradient, double *loss);
    void (*step)(const surrogate_step *s, int64_t count, const void *gradient, void *moments,
                 void *weights);
    void (*round)(int64_t count, const double *from, void *to);
    void (*widen)(int64_t count, const void *from, double *to);
} surrogate_method;

const surrogate_method *shoal_surrogate_cell(const shoal_context *ctx, shoal_type type);
/* A network without weights in it. */
shoal_status shoal_surrogate_make(shoal_context *ctx, const surrogate_net *n,
                                  shoal_surrogate **net);
shoal_status shoal_surrogate_on_cpu(shoal_context *ctx);
extern const char *const shoal_surrogate_maps[SURROGATE_MAPS];
extern const char *const shoal_surrogate_targets[SURROGATE_TARGETS];

#endif
