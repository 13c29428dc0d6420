/* SPDX-License-Identifier: Apache-2.0
 *
 * partial.c - partial (Bunch-Kaufman) pivoting on the CPU: Kruchinina's thesis, Algorithm 3. At most two columns are looked
 * at in a stage; multipliers are not bounded.
 */
#include "symindef/blocked.h"

static shoal_status partial_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 0);
}

const symindef_method R(symindef_partial) = { .bytes = blocked_bytes, .run = partial_run };
