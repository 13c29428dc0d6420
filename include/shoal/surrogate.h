/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.h - a neural network in place of Monte Carlo: trained once on prices with their standard errors,
 * it returns prices of calls, and their derivatives, a million per second.
 *
 *     shoal_surrogate_data train = { .rows = rows, .inputs = 7, .names = names,
 *                                    .x = x, .price = price, .error = error };
 *     shoal_surrogate_opts opts = { .seed = 1 };
 *     shoal_surrogate *net;
 *     shoal_surrogate_train(ctx, &train, &validation, &opts, observer, NULL, &net, &result);
 *     shoal_surrogate_predict(net, rows, x, SHOAL_F32, price, by_strike, by_maturity);
 *     shoal_surrogate_free(net);
 *
 * Prices are those of calls on an asset that costs 1 today, with no rates. Inputs are known by name, and
 * any set of parameters will do; `strike` and `maturity` are those that a target of volatilities needs.
 * Arrays are on the host; in a CUDA context those of shoal_surrogate_predict(), and those of
 * shoal_surrogate_outside(), may all be memory that the device reaches, and are used where they are then. The same seed, data, options and instruction level make
 * the same network, bit by bit, for any number of threads and on any machine; on CUDA the same `gemm` does on
 * the same kind of GPU, "cublas" with the same library, too.
 */
#ifndef SHOAL_SURROGATE_H
#define SHOAL_SURROGATE_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_SURROGATE_INPUTS  32  /* inputs at most                           */
#define SHOAL_SURROGATE_LAYERS  8   /* hidden layers at most                    */
#define SHOAL_SURROGATE_WIDTH   512 /* neurons of a layer at most, in eights    */
#define SHOAL_SURROGATE_NAME    32  /* bytes of a name, with the one of its end */
#define SHOAL_SURROGATE_VERSION 1   /* of the file                              */

typedef struct shoal_surrogate shoal_surrogate; /* a network; contents private */

typedef struct shoal_surrogate_data {
    int64_t rows;
    int inputs;
    const char *const *names; /* of the inputs                                                */
    const double *x;          /* [rows][inputs]                                               */
    const double *price;      /* [rows]                                                       */
    const double *error;      /* [rows], standard errors; NULL: all the same                  */
} shoal_surrogate_data;

typedef struct shoal_surrogate_opts { /* zero = default */
    const char *target; /* what the network learns: "volatility" or "price"      [volatility] */
    int layers, width;  /* hidden layers of so many neurons                          [3, 64] */
    shoal_type type;    /* of the arithmetic: SHOAL_F64 is the zero, the program takes f32    */
    uint64_t seed;
    int64_t epochs;   /* passes through the data                                       [300] */
    int64_t batch;    /* rows of a step                                                [256] */
    int64_t patience; /* passes without a better validation before it ends    [epochs / 4] */
    double rate;      /* learning rate of Adam at the start                           [4e-3] */
    double floor;     /* of a row's standard error: rows weigh in proportion to
                         1 / (error^2 + floor^2); 1e-12 at least                       [1e-4] */
    const char *gemm; /* on CUDA, what makes the products of training: "fused", "own" or "cublas"
                         [fused, or own where the network is too large for that]              */
} shoal_surrogate_opts;

typedef struct shoal_surrogate_epoch { /* after a pass through the data                       */
    int64_t epoch;     /* from 1                                                              */
    double rate;       /* learning rate of its last step                                      */
    double train;      /* weighted root mean square of price errors, on the way               */
    double validation; /* the same on the validation set, after it                            */
    double best;       /* the least of those so far                                           */
} shoal_surrogate_epoch;

/* Called after every pass; training ends if it returns other than 0. */
typedef int shoal_surrogate_observer(void *user, const shoal_surrogate_epoch *epoch);

typedef enum shoal_surrogate_end {
    SHOAL_SURROGATE_DONE,    /* all epochs                                                    */
    SHOAL_SURROGATE_EARLY,   /* no better for `patience` passes                               */
    SHOAL_SURROGATE_STOPPED, /* by the caller                                                 */
    SHOAL_SURROGATE_DIVERGED /* the error of a pass is not finite, above twice that before
                                training, or 30 times the least so far                       */
} shoal_surrogate_end;

typedef struct shoal_surrogate_result {
    shoal_surrogate_end end;
    int64_t epochs, best_epoch; /* made; whose weights were kept                              */
    double validation;          /* of the weights kept                                        */
    /* If SHOAL_E_ARG is for a row that makes the network overflow: that row, of either set, and its input
     * that is farthest from the others; -1 otherwise. */
    int64_t train_row, validation_row;
    int input;
} shoal_surrogate_result;

/* Trains a network. SHOAL_E_ARG names what is not allowed, with its row: numbers that are not finite or beyond
 * 1e100, rows that make the network overflow. On error *net is NULL; after
 * SHOAL_SURROGATE_DIVERGED it holds the best weights there were, if any. result may be NULL. */
SHOAL_API shoal_status shoal_surrogate_train(shoal_context *ctx, const shoal_surrogate_data *train,
                                             const shoal_surrogate_data *validation,
                                             const shoal_surrogate_opts *opts,
                                             shoal_surrogate_observer *observer, void *user,
                                             shoal_surrogate **net, shoal_surrogate_result *result);
SHOAL_API void shoal_surrogate_free(shoal_surrogate *net);

typedef struct shoal_surrogate_info {
    int inputs, layers, width;
    const char *target;
    const char *names[SHOAL_SURROGATE_INPUTS];
    /* an input x enters as (f(x) - shift) / scale; f: "x", "log x", "sqrt x" */
    const char *map[SHOAL_SURROGATE_INPUTS];
    double shift[SHOAL_SURROGATE_INPUTS], scale[SHOAL_SURROGATE_INPUTS];
    /* the ranges: least and largest values of the training set, each rounded outward to the fewest
     * decimals within 2 / rows of the range's width, and within a thousandth of it              */
    double least[SHOAL_SURROGATE_INPUTS], most[SHOAL_SURROGATE_INPUTS];
    double out_shift, out_scale; /* log volatility, or price: out_shift + out_scale u         */
    int64_t weights;             /* numbers in the network                                    */
    int64_t rows;                /* of the training set                                       */
    uint64_t seed;
    int64_t epochs;    /* whose weights were kept                                             */
    double validation; /* the weighted error then                                             */
} shoal_surrogate_info;

/* Strings live as long as the network. */
SHOAL_API shoal_status shoal_surrogate_describe(const shoal_surrogate *net,
                                                shoal_surrogate_info *info);
/* Layer 0 .. layers (the last is the output): *w is [inputs of the layer][its neurons], *b [neurons]. They
 * live as long as the network. */
SHOAL_API shoal_status shoal_surrogate_layer(const shoal_surrogate *net, int layer, int *inputs,
                                             int *neurons, const double **w, const double **b);

/* Which inputs of each row lie outside of the ranges, in the network's order: bit i of outside[row] is set
 * if not least[i] <= x <= most[i], so also if x is NaN. There is no tolerance. A row with any bit set has a
 * price that nothing in training bounds. The same bits on both backends. */
SHOAL_API shoal_status shoal_surrogate_outside(const shoal_surrogate *net, int64_t rows,
                                               const double *x, uint32_t *outside);

/* Prices of rows of inputs, in the network's order, and their exact derivatives in strike and maturity;
 * by_strike and by_maturity may be NULL, and must be if the network has no such input. Inputs that are
 * not finite, or have no logarithm or root where the network takes one, give NaN. */
SHOAL_API shoal_status shoal_surrogate_predict(const shoal_surrogate *net, int64_t rows,
                                               const double *x, shoal_type type, double *price,
                                               double *by_strike, double *by_maturity);

/* The bytes of a model file (docs/surrogate-network.md), and a network from them. `size` is the room at
 * `bytes` and becomes the size of the file; SHOAL_E_MEMORY if that is more. */
SHOAL_API shoal_status shoal_surrogate_save(const shoal_surrogate *net, void *bytes, size_t *size);
SHOAL_API shoal_status shoal_surrogate_load(shoal_context *ctx, const void *bytes, size_t size,
                                            shoal_surrogate **net);

#ifdef __cplusplus
}
#endif
#endif
