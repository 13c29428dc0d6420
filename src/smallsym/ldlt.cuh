/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cuh - what the kernels of ldlt.cu and ldlt_thread.cu have in common.
 */
#ifndef SHOAL_SMALLSYM_LDLT_CUH
#define SHOAL_SMALLSYM_LDLT_CUH

#include "smallsym/device.cuh"

enum {
    THREAD_MOST = sizeof(real) == 4 ? 15 : 12
}; /* unknowns of systems that a thread has alone */

/* What a definite matrix's pivots say: all must have one sign and be finite; 1 / D of an infinite one
 * is 0, and nothing else would tell. */
__device__ static inline void look_at_pivots(outcome &o, real low, real high, int n) {
    const bool positive = low > 0, negative = high < 0;
    const real least = positive ? low : -high, most = positive ? high : -low;
    if (!positive && !negative)
        o.status = SHOAL_SYSTEM_PIVOT;
    else if (most == (real)INFINITY)
        o.status = SHOAL_SYSTEM_OVERFLOW;
    o.rcond = (float)(least / most);
    o.rank = n;
    o.positive = positive ? n : 0, o.negative = negative ? n : 0, o.zero = 0;
}

/* Blocks that a multiprocessor should hold: what the registers of a matrix, and some, allow. */
constexpr int blocks_of(int numbers, int others) {
    return 65536 / (WARPS * WARP * (numbers + others) * (int)sizeof(real) / 4);
}

#endif
