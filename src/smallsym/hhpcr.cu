/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cu - A x = b by A = Q U Qt and parallel cyclic reduction of U, on the GPU: hhpcr.c states
 * the equations, householder.cuh has the first half, pcr.cuh the second.
 *
 * A team of T threads has a system, in registers; Qt b and Q z come from the reflectors. The other
 * variants are the paper's own: paper/hhpcr.cu.
 */
#include "smallsym/hhpcr.cuh"

static shoal_status hhpcr_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
#ifdef SHOAL_PAPER_KERNELS
    if (variant != HHPCR_REFLECT) return R(smallsym_hhpcr_paper)(plan, variant, job);
#endif
    (void)variant;
    return by_size(job->n, [&](auto size) {
        return smallsym_judged(job) ? launch<false, true>(size, plan, job)
                                    : launch<false, false>(size, plan, job);
    });
}

extern "C" const smallsym_cuda_method R(smallsym_hhpcr) = { hhpcr_run, NULL };
