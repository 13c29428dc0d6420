/* SPDX-License-Identifier: Apache-2.0
 *
 * rook.cu - rook (bounded Bunch-Kaufman) pivoting on the GPU: Kruchinina's thesis, Algorithm 4, its search
 * inside the kernel.
 */
#include "symindef/blocked.cuh"

static shoal_status rook_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run<true>(plan, job, "rook");
}

extern "C" const symindef_method R(symindef_rook) = { blocked_bytes, rook_run };
