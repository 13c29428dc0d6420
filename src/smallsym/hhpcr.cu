/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cu - A x = b by A = Q U Qt and parallel cyclic reduction of U, on the GPU: hhpcr.c states
 * the equations, householder.cuh has the first half, pcr.cuh the second.
 *
 * A team of T threads has a system, in registers; Qt b and Q z come from the reflectors. The other
 * variants are the paper's own: paper/hhpcr.cu.
 */
#include "smallsym/hhpcr.cuh"

template <int T, int M> static shoal_status run(shoal_smallsym *plan, const smallsym_job *job) {
    return smallsym_judged(job) ? launch<T, M, false, true>(plan, job)
                                : launch<T, M, false, false>(plan, job);
}

static shoal_status hhpcr_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
#ifdef SHOAL_PAPER_KERNELS
    if (variant != HHPCR_REFLECT) return R(smallsym_hhpcr_paper)(plan, variant, job);
#endif
    (void)variant;
    if (job->n <= 4) return run<4, 1>(plan, job);
    if (job->n <= 8) return run<4, 2>(plan, job);
    if (job->n <= 16) return run<8, 2>(plan, job);
    if (job->n <= 32) return run<16, 2>(plan, job);
    return run<32, 2>(plan, job);
}

static size_t hhpcr_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

extern "C" const smallsym_cuda_method R(smallsym_hhpcr) = { hhpcr_bytes, hhpcr_run, NULL };
