/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.c - finite differences of a pack of lines, one per lane of a vector: pde.h. A node of a time step costs a quotient
 * and 20 other operations on vectors, in two passes over arrays that stay in the second cache.
 */
#include "american/pde_lane.h"

static void keep(const pde_lane *l) {
    const pde_lines *job = l->job;
    for (int i = 0; i < PDE_WIDE * VEC; i++)
        for (int64_t k = 0; k < PDE_NEAR; k++) {
            const int64_t at = l->number + i;
            const int64_t node = (int64_t)job->grid[PDE_FIRST * job->lines + at] + k;
            job->near[k * job->lines + at] =
                pde_array(l, PDE_F)[node * PDE_WIDE + i / VEC][i % VEC];
        }
}

static void run(const pde_lines *job) {
    for (int64_t lane = 0; lane < PDE_LANES; lane += (int64_t)PDE_WIDE * VEC) {
        const pde_lane l = { job, lane, 1, (vec *)(void *)job->work };
        pde_solve(&l);
        keep(&l);
    }
}

const pde_method R(american_pde) = { run };
