/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - how many parts the P-scheme has (Wakatani, section V.F).
 *
 * The paper's policy: as many groups as there is hardware for, then the threads that bring P = T G
 * to sqrt(n/2), equation (18). What is left open never changes P, nor with it the bits, from one
 * machine to another.
 */
#include "core/parts.h"
#include <math.h>

enum { MOST_GROUPS = 1 << 20 };

shoal_status shoal_check_parts(shoal_context *ctx, int threads, int groups) {
    if (threads < 0 || threads > SHOAL_MOST_THREADS)
        return shoal_fail(ctx, SHOAL_E_ARG, "threads is %d; it must be 0 to %d", threads,
                          SHOAL_MOST_THREADS);
    if (groups < 0 || groups > MOST_GROUPS)
        return shoal_fail(ctx, SHOAL_E_ARG, "groups is %d; it must be 0 to %d", groups,
                          MOST_GROUPS);
    return SHOAL_OK;
}

shoal_parts shoal_choose_parts(const shoal_context *ctx, int64_t n, int threads, int groups) {
    shoal_parts p = { threads, groups, 0 };
    int64_t best = (int64_t)(sqrt((double)n / 2) + 0.5);
    if (best < 1) best = 1;
    if (!groups && !threads) {
        int most = ctx->ops ? ctx->multiprocessors : ctx->threads;
        if (most < 1) most = 1;
        p.groups = (int)(best < most ? best : most);
        if (best > (int64_t)p.groups * SHOAL_MOST_THREADS)
            p.groups = (int)((best + SHOAL_MOST_THREADS - 1) / SHOAL_MOST_THREADS);
        p.threads = (int)((best + p.groups - 1) / p.groups);
        p.parts = best;
        return p;
    }
    if (!groups) p.groups = (int)((best + threads - 1) / threads);
    if (!threads) {
        const int64_t each = (best + groups - 1) / groups;
        p.threads = (int)(each < SHOAL_MOST_THREADS ? each : SHOAL_MOST_THREADS);
    }
    p.parts = (int64_t)p.groups * p.threads;
    return p;
}
