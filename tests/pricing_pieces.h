/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing_pieces.h - a plan of pricing.h run to its prices, as a whole or in pieces.
 */
#ifndef SHOAL_PRICING_PIECES_H
#define SHOAL_PRICING_PIECES_H

#include <shoal/pricing.h>
#include "targets.h"

/* Samples in pieces of `units` units; values has room for all contracts. Frees the plan. */
static inline shoal_status run_in_pieces(shoal_context *ctx, shoal_price *plan, int64_t samples,
                                         int64_t units, shoal_price_value *values) {
    const int64_t piece = units * SHOAL_PRICE_UNIT, most = shoal_price_sums(plan, piece);
    double *total = new_array((size_t)(2 * shoal_price_width(plan)), sizeof *total);
    double *host = new_array((size_t)most, sizeof *host);
    void *sums = NULL;
    shoal_status s = shoal_alloc(ctx, (size_t)most * sizeof(double), &sums);
    for (int64_t at = 0; at < samples && s == SHOAL_OK; at += piece) {
        const int64_t here = samples - at < piece ? samples - at : piece;
        s = shoal_price_run(plan, at, here, sums);
        if (s == SHOAL_OK)
            s = shoal_copy(ctx, host, sums, (size_t)shoal_price_sums(plan, here) * sizeof(double));
        if (s == SHOAL_OK) s = shoal_price_add(plan, host, here, total);
    }
    if (s == SHOAL_OK) s = shoal_price_result(plan, total, samples, values);
    shoal_free(ctx, sums);
    shoal_price_free(plan);
    free(host);
    free(total);
    return s;
}

static inline int64_t units_of(int64_t samples) { return samples / SHOAL_PRICE_UNIT + 1; }

#endif
