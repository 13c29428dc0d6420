/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cu - A x = b by A = Q U Qt and parallel cyclic reduction of U, on the GPU: hhpcr.c states
 * the equations, householder.cuh has the first half, pcr.cuh the second.
 *
 * A team of T threads has a system, in registers; Qt b and Q z come from the reflectors. The other
 * variants are the paper's own: hhpcr_paper.cu.
 */
#include "smallsym/hhpcr.cuh"

static shoal_status hhpcr_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
#ifdef SHOAL_PAPER_KERNELS
    if (variant != HHPCR_REFLECT) return R(smallsym_hhpcr_paper)(plan, variant, job);
#endif
    (void)variant;
    if (job->n <= 4) return launch<4, 1, false>(plan, job);
    if (job->n <= 8) return launch<4, 2, false>(plan, job);
    if (job->n <= 16) return launch<8, 2, false>(plan, job);
    if (job->n <= 32) return launch<16, 2, false>(plan, job);
    return launch<32, 2, false>(plan, job);
}

static size_t hhpcr_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

extern "C" const smallsym_cuda_method R(smallsym_hhpcr) = { hhpcr_bytes, hhpcr_run, NULL };
