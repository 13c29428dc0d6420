/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.h - a neural network instead of Monte Carlo. Trained once on prices with standard errors, it
 * returns a million prices of calls per second, with derivatives.
 *
 *     shoal_surrogate_data train = { .rows = rows, .inputs = 7, .names = names,
 *                                    .x = x, .price = price, .error = error };
 *     shoal_surrogate_opts opts = { .seed = 1 };
 *     shoal_surrogate *net;
 *     shoal_surrogate_train(ctx, &train, &validation, &opts, observer, NULL, &net, &result);
 *     shoal_surrogate_predict(net, rows, x, SHOAL_F32, price, by_strike, by_maturity);
 *     shoal_surrogate_free(net);
 *
 * Prices are of calls on an asset that costs 1 today, without rates. Inputs are identified by name; any
 * set of parameters works, but the target "volatility" needs `strike` and `maturity`.
 *
 * Arrays are on the host. In a CUDA context, all arrays of a call to shoal_surrogate_predict() or
 * shoal_surrogate_outside() may instead be in memory that the device can access; they are used in place.
 *
 * The same seed, data, options and instruction level give a bit-identical network for any number of threads
 * and on any machine. On CUDA this holds for the same `gemm` on the same kind of GPU ("cublas": also the
 * same library).
 */
#ifndef SHOAL_SURROGATE_H
#define SHOAL_SURROGATE_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_SURROGATE_INPUTS  32  /* maximum number of inputs                 */
#define SHOAL_SURROGATE_LAYERS  8   /* maximum number of hidden layers          */
#define SHOAL_SURROGATE_WIDTH   512 /* maximum neurons per layer, multiple of 8 */
#define SHOAL_SURROGATE_NAME    32  /* bytes of a name, with the final zero     */
#define SHOAL_SURROGATE_VERSION 1   /* version of model files                   */

typedef struct shoal_surrogate shoal_surrogate; /* a network; contents private */

typedef struct shoal_surrogate_data {
    int64_t rows;
    int inputs;
    const char *const *names; /* names of the inputs                                          */
    const double *x;          /* [rows][inputs]                                               */
    const double *price;      /* [rows]                                                       */
    const double *error;      /* [rows], standard errors; NULL: all equal                     */
} shoal_surrogate_data;

typedef struct shoal_surrogate_opts { /* zero = default */
    const char *target; /* what the network learns: "volatility" or "price"      [volatility] */
    int layers, width;  /* hidden layers, neurons per layer                          [3, 64] */
    shoal_type type;    /* of the arithmetic; zero is SHOAL_F64, the program uses f32        */
    uint64_t seed;
    int64_t epochs;   /* passes through the data                                       [300] */
    int64_t batch;    /* rows per step                                                 [256] */
    int64_t patience; /* stop after this many passes without improvement      [epochs / 4] */
    double rate;      /* learning rate of Adam at the start                           [4e-3] */
    double floor;     /* the weight of a row is proportional to 1 / (error^2 + floor^2);
                         at least 1e-12                                                [1e-4] */
    const char *gemm; /* matrix products of training on CUDA: "fused", "own" or "cublas"
                         [fused, or own if the network is too large for that]                 */
} shoal_surrogate_opts;

typedef struct shoal_surrogate_epoch { /* after a pass through the data                       */
    int64_t epoch;     /* from 1                                                              */
    double rate;       /* learning rate of its last step                                      */
    double train;      /* weighted rms of price errors during the pass                        */
    double validation; /* the same on the validation set, after the pass                      */
    double best;       /* minimum of validation so far                                        */
} shoal_surrogate_epoch;

/* Called after every pass; training ends if it returns other than 0. */
typedef int shoal_surrogate_observer(void *user, const shoal_surrogate_epoch *epoch);

typedef enum shoal_surrogate_end {
    SHOAL_SURROGATE_DONE,    /* all epochs                                                    */
    SHOAL_SURROGATE_EARLY,   /* no improvement for `patience` passes                          */
    SHOAL_SURROGATE_STOPPED, /* by the caller                                                 */
    SHOAL_SURROGATE_DIVERGED /* the error of a pass is not finite, above twice that before
                                training, or 30 times the minimum so far                     */
} shoal_surrogate_end;

typedef struct shoal_surrogate_result {
    shoal_surrogate_end end;
    int64_t epochs, best_epoch; /* passes made; the pass whose weights were kept              */
    double validation;          /* validation error of the kept weights                       */
    /* After SHOAL_E_ARG for a row that makes the network overflow: the row, in its set, and its input
     * farthest from the others; otherwise -1. */
    int64_t train_row, validation_row;
    int input;
} shoal_surrogate_result;

/* Trains a network. SHOAL_E_ARG: the message names the row with a number that is not finite or beyond 1e100,
 * or that makes the network overflow. On error *net is NULL. After SHOAL_SURROGATE_DIVERGED it has the best
 * weights so far, if any. After SHOAL_E_CANCELLED *net has the weights of the best pass, to be freed, or is NULL if no
 * pass was complete; *result is filled. result may be NULL. */
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
    /* the network uses (f(x) - shift) / scale; f is "x", "log x" or "sqrt x" */
    const char *map[SHOAL_SURROGATE_INPUTS];
    double shift[SHOAL_SURROGATE_INPUTS], scale[SHOAL_SURROGATE_INPUTS];
    /* the ranges: minimum and maximum of the training set, rounded outward to the fewest decimals
     * within 2 / rows, and within 1/1000, of the range's width                                  */
    double least[SHOAL_SURROGATE_INPUTS], most[SHOAL_SURROGATE_INPUTS];
    double out_shift, out_scale; /* log volatility, or price: out_shift + out_scale u         */
    int64_t weights;             /* numbers in the network                                    */
    int64_t rows;                /* of the training set                                       */
    uint64_t seed;
    int64_t epochs;    /* the pass whose weights were kept                                    */
    double validation; /* its weighted error                                                  */
} shoal_surrogate_info;

/* Strings live as long as the network. */
SHOAL_API shoal_status shoal_surrogate_describe(const shoal_surrogate *net,
                                                shoal_surrogate_info *info);
/* Weights *w [inputs][neurons] and biases *b [neurons] of layer 0 .. layers; the last is the output. They live
 * as long as the network. */
SHOAL_API shoal_status shoal_surrogate_layer(const shoal_surrogate *net, int layer, int *inputs,
                                             int *neurons, const double **w, const double **b);

/* Which inputs of each row are outside the ranges: bit i of outside[row] is set unless
 * least[i] <= x <= most[i], so also if x is NaN. Inputs are in the network's order. There is no tolerance.
 * Training does not bound the error of a row with any bit set. The result is the same on both backends. */
SHOAL_API shoal_status shoal_surrogate_outside(const shoal_surrogate *net, int64_t rows,
                                               const double *x, uint32_t *outside);

/* Prices and their exact derivatives in strike and maturity. Inputs are in the network's order. by_strike and
 * by_maturity may be NULL, and must be NULL if the network has no such input. A price is NaN if an input is
 * not finite, or has no logarithm or square root where the network takes one. */
SHOAL_API shoal_status shoal_surrogate_predict(const shoal_surrogate *net, int64_t rows,
                                               const double *x, shoal_type type, double *price,
                                               double *by_strike, double *by_maturity);

/* The bytes of a model file (docs/surrogate-network.md), and a network from them. *size is the capacity of
 * bytes; it is set to the size of the file. SHOAL_E_MEMORY if the capacity is too small. */
SHOAL_API shoal_status shoal_surrogate_save(const shoal_surrogate *net, void *bytes, size_t *size);
SHOAL_API shoal_status shoal_surrogate_load(shoal_context *ctx, const void *bytes, size_t size,
                                            shoal_surrogate **net);

#ifdef __cplusplus
}
#endif
#endif
