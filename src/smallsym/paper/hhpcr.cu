/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cu - the paper's own variants of hhpcr, to compare with: "formed", in registers, with Q
 * formed (Figure 9), and "simd", "coop" and "hybrid" in shared memory (hhpcr_shared.cuh).
 */
#include "smallsym/paper/hhpcr_shared.cuh"
#include "smallsym/hhpcr.cuh"

extern "C" shoal_status R(smallsym_hhpcr_paper)(shoal_smallsym *plan, int variant,
                                                const smallsym_job *job) {
    if (variant != HHPCR_FORMED) return run_shared(plan, variant, job);
    if (job->n <= 4) return launch<4, 1, true, true>(plan, job);
    if (job->n <= 8) return launch<4, 2, true, true>(plan, job);
    if (job->n <= 16) return launch<8, 2, true, true>(plan, job);
    if (job->n <= 32) return launch<16, 2, true, true>(plan, job);
    return launch<32, 2, true, true>(plan, job);
}
