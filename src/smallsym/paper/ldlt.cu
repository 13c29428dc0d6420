/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cu - the paper's own variants of ldlt, "simd", "coop" and "hybrid" (ldlt_shared.cuh), to
 * compare with.
 */
#include "smallsym/paper/ldlt_shared.cuh"

extern "C" shoal_status R(smallsym_ldlt_paper)(shoal_smallsym *plan, int variant,
                                               const smallsym_job *job) {
    return run_shared(plan, variant, job);
}
