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
#ifndef SHOAL_SURROGATE_SURROGATE_H
#define SHOAL_SURROGATE_SURROGATE_H

#include "core/hd.h"
#include "core/math.h"
#include "core/plan.h"
#include <shoal/surrogate.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SURROGATE_LANES = 128 }; /* rows of a block: all layers of it stay in a core's cache */
enum { SURROGATE_SUMS = 256 };  /* gradients of a batch, and sums of losses, at most         */
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

typedef struct surrogate_ranges { /* of the inputs */
    double least[SHOAL_SURROGATE_INPUTS], most[SHOAL_SURROGATE_INPUTS];
} surrogate_ranges;

struct shoal_surrogate {
    shoal_plan head;
    surrogate_net net;
    char name[SHOAL_SURROGATE_INPUTS][SHOAL_SURROGATE_NAME];
    surrogate_ranges range;
    int64_t count;   /* of weights                                                            */
    double *weights; /* a network trained in f32 has floats in them                           */
    int64_t rows, epochs;
    uint64_t seed;
    double validation;
};

SHOAL_HD static inline int64_t surrogate_fan_in(const surrogate_net *n, int layer) {
    return layer == 0 ? n->inputs : n->width;
}
SHOAL_HD static inline int64_t surrogate_neurons(const surrogate_net *n, int layer) {
    return layer == n->layers ? 1 : n->width;
}
/* Where the weights of a layer begin; of layer layers + 1, where they end. */
SHOAL_HD static inline int64_t surrogate_offset(const surrogate_net *n, int layer) {
    int64_t at = 0;
    for (int l = 0; l < layer; l++) at += (surrogate_fan_in(n, l) + 1) * surrogate_neurons(n, l);
    return at;
}

/* The inputs of a row that are outside of their ranges, one bit each; NaN is outside. */
SHOAL_HD static inline uint32_t surrogate_outside(const surrogate_ranges *r, int inputs,
                                                  const double *x) {
    uint32_t bits = 0;
    for (int i = 0; i < inputs; i++)
        bits |= (uint32_t) !(x[i] >= r->least[i] && x[i] <= r->most[i]) << i;
    return bits;
}

/* What a number is before it is standardised. */
SHOAL_HD static inline double surrogate_mapped(int map, double x) {
    return map == SURROGATE_LOG ? shoal_log(x) : map == SURROGATE_ROOT ? sqrt(x) : x;
}

/* Its derivative. */
SHOAL_HD static inline double surrogate_map_slope(int map, double x) {
    return map == SURROGATE_LOG ? 1 / x : map == SURROGATE_ROOT ? 0.5 / sqrt(x) : 1;
}

typedef struct surrogate_rows { /* rows first .. first + count - 1 of an order                */
    const double *x;            /* [row][inputs]                                              */
    const int64_t *order;       /* NULL: as they are                                          */
    int64_t first, count;
    const double *price, *weight; /* of training                                              */
    double *to_price, *by_strike, *by_maturity; /* of prediction; the last two or NULL        */
} surrogate_rows;

SHOAL_HD static inline int64_t surrogate_row(const surrogate_rows *r, int64_t i) {
    return r->order ? r->order[r->first + i] : r->first + i;
}

typedef struct surrogate_step {  /* one step of Adam                                           */
    int64_t blocks;              /* whose gradients are added, in their order                  */
    double rate, decay1, decay2; /* decay1 = 1 - beta1^t, decay2 = 1 - beta2^t                */
    double share;                /* 1 / rows of the batch                                     */
} surrogate_step;

typedef struct surrogate_blas surrogate_blas; /* of cublas.cu */

/* What a cell works on: `weights` and `memory` are in the context's memory, and so are the
 * arrays of its arguments. */
typedef struct surrogate_job {
    shoal_context *ctx;
    const surrogate_net *net;
    void *weights;
    void *memory;
    const surrogate_blas *blas; /* for the products of `surrogate_layers`; NULL: our own        */
} surrogate_job;

/* The cell. `weights`, `gradient`, `moments` are arrays of its type. On CUDA nothing waits. */
typedef struct surrogate_method {
    size_t size;                                               /* of its type                   */
    int (*fits)(const shoal_context *, const surrogate_net *); /* NULL: any network           */
    int64_t (*room)(const surrogate_net *); /* numbers of `weights`, packed ones included     */
    int64_t (*blocks)(const surrogate_job *, int64_t rows); /* gradients of a batch           */
    size_t (*scratch)(const surrogate_job *, int64_t rows); /* bytes of memory for a batch    */
    void (*pack)(const surrogate_job *); /* once weights have changed; NULL: not needed       */
    shoal_status (*values)(const surrogate_job *, const surrogate_rows *); /* prices          */
    /* surrogate_outside() of rows; NULL on the CPU, which needs no cell for it.                 */
    shoal_status (*outside)(shoal_context *, const surrogate_ranges *, int inputs, int64_t rows,
                            const double *x, uint32_t *outside);
    /* Gradients of sum weight (P - price)^2 / 2 for each block, [block][weights], and the sums
     * of weight (P - price)^2 themselves: [block] on the CPU, added to SURROGATE_SUMS places on
     * CUDA. */
    shoal_status (*learn)(const surrogate_job *, const surrogate_rows *, void *gradient,
                          double *loss);
    shoal_status (*step)(const surrogate_job *, const surrogate_step *, const void *gradient,
                         void *moments);
    /* cuBLAS for the job, where a cell can use it. */
    shoal_status (*open)(shoal_context *, const surrogate_blas **);
    void (*close)(const surrogate_blas *);
} surrogate_method;

typedef struct surrogate_set { /* of rows to train with, or to validate by */
    const shoal_surrogate_data *data;
    const double *weights;            /* of rows                                              */
    const double *x, *price, *weight; /* the same where a cell can read them: the passes' own */
} surrogate_set;

typedef struct surrogate_fit {
    shoal_context *ctx;
    shoal_surrogate_opts o; /* with all defaults */
    surrogate_set train, held;
    shoal_surrogate *model;
    shoal_surrogate_observer *observer;
    void *user;
} surrogate_fit;

/* The cell for a network. gemm: NULL, or what the products of training are to be made by on CUDA,
 * "fused", "own" or "cublas"; *cublas says whether that was chosen. */
shoal_status shoal_surrogate_cell(shoal_context *ctx, shoal_type type, const surrogate_net *n,
                                  const char *gemm, const surrogate_method **cell, int *cublas);
/* Numbers to and from an array of the cell's type in the context's memory. */
shoal_status shoal_surrogate_put(shoal_context *ctx, size_t size, int64_t count, const double *from,
                                 void *to);
shoal_status shoal_surrogate_take(shoal_context *ctx, size_t size, int64_t count, const void *from,
                                  double *to);
/* Trains f->model, which has its first weights. */
shoal_status shoal_surrogate_passes(surrogate_fit *f, shoal_surrogate_result *found);
/* A network without weights in it. */
shoal_status shoal_surrogate_make(shoal_context *ctx, const surrogate_net *n,
                                  shoal_surrogate **net);
/* ---- matrix products by cuBLAS, which is opened at run time: cublas.cu --------------------------- */

/* c[i][j] = sum over k of a(i,k) b(k,j), and with `add` what was there; i < m, j < n. */
typedef struct surrogate_product {
    int m, n, k;
    const void *a, *b; /* a(i,k) at i * a_row + k * a_col, b likewise: one of the two is 1      */
    int a_row, a_col, b_row, b_col;
    void *c;
    int c_row; /* its columns are 1 apart                                                      */
    int add;
} surrogate_product;

/* SHOAL_E_BACKEND and a sentence where cuBLAS is not there, or switched off by SHOAL_NO_CUBLAS=1
 * in the environment. `size` is that of a number, 4 or 8. */
shoal_status shoal_surrogate_open_blas(shoal_context *ctx, size_t size,
                                       const surrogate_blas **blas);
void shoal_surrogate_close_blas(const surrogate_blas *blas);
shoal_status shoal_surrogate_multiply(shoal_context *ctx, const surrogate_blas *blas,
                                      const surrogate_product *p);

extern const char *const shoal_surrogate_maps[SURROGATE_MAPS];
extern const char *const shoal_surrogate_targets[SURROGATE_TARGETS];

#ifdef __cplusplus
}
#endif

#endif
