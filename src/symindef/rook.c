/* SPDX-License-Identifier: Apache-2.0
 *
 * rook.c - rook (bounded Bunch-Kaufman) pivoting on the CPU: Kruchinina's thesis, Algorithm 4. The search goes from
 * column to column until an entry is the largest of its row and its column.
 */
#include "symindef/blocked.h"

static shoal_status rook_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 1);
}

const symindef_method R(symindef_rook) = { .bytes = blocked_bytes, .run = rook_run };
