/* SPDX-License-Identifier: Apache-2.0
 *
 * shared.cuh - the paper's three ways to share work among threads (sections 3.2 and 4.2), which are one
 * kernel: `team` threads work on a system that lies in shared memory, as many systems per block as it
 * has room for.
 *     simd    team = 1: threads that are all independent of each other
 *     coop    team = n: one thread per row
 *     hybrid  team = n*: the fastest on an H200 (docs/smallsym-figures.md), or opts.team. Equation (7), n / 2 below
 *             40 and n from there on, is the rule of the paper's GeForce 970, which these kernels do not run on.
 */
#ifndef SHOAL_SMALLSYM_PAPER_SHARED_CUH
#define SHOAL_SMALLSYM_PAPER_SHARED_CUH

#include "smallsym/device.cuh"

enum { SHARED_THREADS = 256 }; /* of a block, about */

typedef struct shared_grid {
    int team, systems; /* of a block */
    dim3 blocks, threads;
    size_t bytes;
} shared_grid;

/* The fastest n* for 4 (i + 1) unknowns and those below, i = 0, 1, ... */
static const unsigned char SHARED_BEST[] = {
    1, 2, 2, 4, 4, 4, 8, 8, 8, 12, 12, 16, 16, 12, 24, 16
};

static inline int shared_best(int n) {
    const int last = (int)sizeof SHARED_BEST - 1, i = n > 0 ? (n - 1) / 4 : 0;
    return SHARED_BEST[i < last ? i : last];
}

/* For systems of so many numbers each. */
template <class KERNEL>
static inline shared_grid shared_grid_of(const shoal_smallsym *plan, const smallsym_job *job,
                                         KERNEL kernel, bool simd, bool coop, int numbers) {
    const int n = (int)job->n;
    const size_t bytes = (size_t)numbers * sizeof(real);
    shared_grid g;
    g.team = simd ? 1 : coop ? n : job->team ? job->team : shared_best(n);
    if (g.team > n) g.team = n;
    g.systems = (int)(shoal_max_shared(plan->head.ctx) / bytes);
    if (g.systems > SHARED_THREADS / g.team) g.systems = SHARED_THREADS / g.team;
    g.blocks = dim3((unsigned)((job->count + g.systems - 1) / g.systems));
    g.threads = dim3((unsigned)((g.systems * g.team + WARP - 1) / WARP * WARP)); /* whole warps */
    g.bytes = g.systems * bytes;
    shoal_allow_shared(plan->head.ctx, kernel);
    return g;
}

#endif
