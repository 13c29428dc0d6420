/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - how many parts the P-scheme has (Wakatani, section V.F).
 *
 * The paper's policy: as many groups as there is hardware for, then the threads that bring P = T G
 * to sqrt(n/2), equation (18). What is left open never changes P, nor with it the bits, from one
 * machine to another.
 */
#include "core/parts.h"
#include "core/plan.h"
#include <math.h>

enum { MAX_GROUPS = 1 << 20 };

shoal_status shoal_check_parts(shoal_context *ctx, int threads, int groups) {
    const shoal_count counts[] = { { "threads", threads, 0, SHOAL_MAX_THREADS },
                                   { "groups", groups, 0, MAX_GROUPS } };
    return shoal_check_counts(ctx, counts, 2);
}

shoal_parts shoal_choose_parts(const shoal_context *ctx, int64_t n, int threads, int groups) {
    shoal_parts p = { threads, groups, 0 };
    int64_t best = (int64_t)(sqrt((double)n / 2) + 0.5);
    if (best < 1) best = 1;
    if (!groups && !threads) {
        int hardware = ctx->ops ? ctx->multiprocessors : ctx->threads;
        if (hardware < 1) hardware = 1;
        p.groups = (int)(best < hardware ? best : hardware);
        if (best > (int64_t)p.groups * SHOAL_MAX_THREADS)
            p.groups = (int)((best + SHOAL_MAX_THREADS - 1) / SHOAL_MAX_THREADS);
        p.threads = (int)((best + p.groups - 1) / p.groups);
        p.parts = best;
        return p;
    }
    if (!groups) p.groups = (int)((best + threads - 1) / threads);
    if (!threads) {
        const int64_t each = (best + groups - 1) / groups;
        p.threads = (int)(each < SHOAL_MAX_THREADS ? each : SHOAL_MAX_THREADS);
    }
    p.parts = (int64_t)p.groups * p.threads;
    return p;
}
