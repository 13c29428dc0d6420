/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - sums over the samples of a block on the CPU, in the order in which the threads of a GPU's
 * block add: within 32 lanes by halves, then the eight sums one after another (blocks.cuh).
 */
#ifndef SHOAL_PRICING_LANES_H
#define SHOAL_PRICING_LANES_H

#include "core/loops.h"
#include "pricing/plan.h"

/* A loop to be vectorised: no lane looks at another's results. */
#ifdef __clang__
#define EACH(i, n) for (int i = 0; i < (n); i++)
#else
#define EACH(i, n) INDEPENDENT for (int i = 0; i < (n); i++)
#endif

static inline double lanes_sum(const double *x) {
    double total = 0;
    for (int warp = 0; warp < PRICE_BLOCK; warp += 32) {
        double half[16];
        for (int i = 0; i < 16; i++) half[i] = x[warp + i] + x[warp + i + 16];
        for (int distance = 8; distance > 0; distance /= 2)
            for (int i = 0; i < distance; i++) half[i] += half[i + distance];
        total += half[0];
    }
    return total;
}

static inline const double *lanes_product(const double *x, const double *y, double *product) {
    for (int i = 0; i < PRICE_BLOCK; i++) product[i] = x[i] * y[i];
    return product;
}

/* Adds the sums of blocks from .. from + count - 1 to those of their units, in their order. */
static inline void lanes_add_units(const price_frame *f, int64_t from, int64_t count) {
    for (int64_t b = 0; b < count; b++) {
        double *to = f->sums + (from + b) / PRICE_BLOCKS * f->width;
        const double *here = f->partial + b * f->width;
        const int begins = (from + b) % PRICE_BLOCKS == 0;
        for (int64_t k = 0; k < f->width; k++) to[k] = begins ? here[k] : to[k] + here[k];
    }
}

#endif
