/* SPDX-License-Identifier: Apache-2.0
 *
 * partial.cu - partial (Bunch-Kaufman) pivoting on the GPU: Kruchinina's thesis, Algorithm 3.
 */
#include "symindef/blocked.cuh"

static shoal_status partial_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run<false>(plan, job, "partial");
}

extern "C" const symindef_method R(symindef_partial) = { blocked_bytes, partial_run };
