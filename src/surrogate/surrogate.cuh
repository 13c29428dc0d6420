/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.cuh - what the kernels of networks share: a row's inputs, the activation, prices out
 * of the network's number (the formulas are in surrogate.c), and the step of Adam.
 *
 * A step adds the gradients of the blocks: of 256 threads 32 have neighbouring weights, and each
 * of 8 warps every eighth block; the sums of the warps are added in their order.
 */
#ifndef SHOAL_SURROGATE_SURROGATE_CUH
#define SHOAL_SURROGATE_SURROGATE_CUH

#include <string.h>
#include "core/launch.cuh"
#include "core/math.h"
#include "core/real.h"
#include "surrogate/surrogate.h"
#include "surrogate/gate.h"

namespace {

enum { THREADS = 256, WARPS = THREADS / 32 };
enum { VALUES, DERIVATIVES, LEARN }; /* what is wanted of rows */

struct alignas(16) quad {
    real v[4];
};

#ifdef SHOAL_SINGLE
typedef uint32_t real_bits;
#else
typedef uint64_t real_bits;
#endif

/* 1 / (1 + e^-z) */
__device__ static inline real gate_of(real z) {
    const real series[GATE_DEGREE + 1] = GATE_SERIES;
    real t = z * (real)-0x1.71547652b82fep+0;
    t = real_min(real_max(t, -GATE_MAX), GATE_MAX);
    const real whole = t + GATE_MAGIC, f = t - (whole - GATE_MAGIC);
    real power = series[0];
#pragma unroll
    for (int i = 1; i <= GATE_DEGREE; i++) power = real_fma(power, f, series[i]);
    real_bits bits, shift;
    memcpy(&bits, &power, sizeof bits);
    memcpy(&shift, &whole, sizeof shift);
    bits += shift << GATE_SHIFT;
    memcpy(&power, &bits, sizeof bits);
    return real_reciprocal(1 + power);
}

/* Input k of a row, standardised. */
__device__ static inline real input_of(const surrogate_net &n, const double *row, int k) {
    return (real)((surrogate_mapped(n.map[k], row[k]) - n.shift[k]) * (1 / n.scale[k]));
}

/* By how much a standardised input changes with the input. */
__device__ static inline double inner_of(const surrogate_net &n, int k, double x) {
    return surrogate_map_slope(n.map[k], x) / n.scale[k];
}

struct row_price {
    double price, by_u;
    double by_strike, by_maturity; /* what does not go through u */
};

__device__ static inline row_price price_of(const surrogate_net &n, double u, const double *row,
                                            int slopes) {
    row_price p = { fma(n.out_scale, u, n.out_shift), n.out_scale, 0, 0 };
    if (n.target == SURROGATE_PRICE) return p;
    const double strike = row[n.strike], maturity = row[n.maturity];
    const double s = sqrt(maturity) * shoal_exp(p.price);
    const double d = fma(0.5, s, -(shoal_log(strike) / s));
    const double below = shoal_normcdf(d - s);
    p.price = fma(-strike, below, shoal_normcdf(d));
    if (slopes) {
        const double density = 0.3989422804014327 * shoal_exp(-0.5 * d * d);
        p.by_u = density * s * n.out_scale;
        p.by_strike = -below;
        p.by_maturity = density * s / (2 * maturity);
    }
    return p;
}

/* Price, and what goes back through u, of row i; its share of the loss is added. */
template <int WHAT>
__device__ static inline real settle(const surrogate_net &n, const surrogate_rows &r, int64_t i,
                                     real u, double &loss) {
    const int64_t row = surrogate_row(&r, i);
    const row_price p = price_of(n, (double)u, r.x + row * n.inputs, WHAT != VALUES);
    if (WHAT == LEARN) {
        const double off = p.price - r.price[row], weight = r.weight[row];
        loss = fma(weight * off, off, loss);
        return (real)(weight * off * p.by_u);
    }
    r.to_price[r.first + i] = p.price;
    if (r.by_strike) r.by_strike[r.first + i] = p.by_strike;
    if (r.by_maturity) r.by_maturity[r.first + i] = p.by_maturity;
    return (real)p.by_u;
}

/* Adds the losses of a warp to a place; the whole warp calls it. */
__device__ static inline void add_loss(double loss, double *to) {
    for (int distance = 16; distance > 0; distance /= 2)
        loss += __shfl_down_sync(0xffffffffu, loss, distance);
    if (threadIdx.x % 32 == 0) *to += loss;
}

__global__ static void __launch_bounds__(THREADS)
    adam(int64_t count, int64_t blocks, real rate, real per, real share, const real *gradient,
         real *moments, real *weights) {
    SHOAL_SHARED_ARRAY(real, sums, THREADS);
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int64_t k = (int64_t)blockIdx.x * 32 + lane;
    real g = 0;
    shoal_grid_dependency_wait();
    if (k < count)
#pragma unroll 4
        for (int64_t b = warp; b < blocks; b += WARPS) g += gradient[b * count + k];
    sums[threadIdx.x] = g;
    __syncthreads();
    if (warp > 0 || k >= count) return;
    for (int w = 1; w < WARPS; w++) g += sums[w * 32 + lane];
    g *= share;
    real *mean = moments + k, *square = moments + count + k;
    *mean = real_fma((real)0.9, *mean - g, g);
    *square = real_fma((real)0.999, *square - g * g, g * g);
    weights[k] -= rate * *mean / (real_sqrt(*square * per) + (real)1e-8);
}

static shoal_status step(const surrogate_job *j, const surrogate_step *s, const void *gradient,
                         void *moments) {
    const int64_t count = surrogate_offset(j->net, j->net->layers + 1);
    SHOAL_LAUNCH_EARLY(adam, dim3((unsigned)((count + 31) / 32)), dim3(THREADS), 0, j->ctx->stream,
                       count, s->blocks, (real)(s->rate / s->decay1), (real)(1 / s->decay2),
                       (real)s->share, (const real *)gradient, (real *)moments, (real *)j->weights);
    return shoal_launched(j->ctx, "adam");
}

static int64_t room_of(const surrogate_net *n) { return surrogate_offset(n, n->layers + 1); }

} // namespace

#endif
