/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.cu - LU factorisation with partial pivoting on the GPU: the safe batch method. The algorithm of
 * lupp.c, one thread per solve (upper.cuh).
 */
#include "tridiag/upper.cuh"

namespace {

struct pivoting {
    __device__ static upper_row reduce(const equation &e, real &p, real &q, real &y, real &growth) {
        const bool swap = real_abs(e.dl) > real_abs(p);
        const real inverse = 1 / (swap ? e.dl : p), m = (swap ? p : e.dl) * inverse;
        const upper_row row = { inverse, swap ? e.d : q, swap ? e.du : growth, swap ? e.b : y };
        p = real_fma(-m, row.v, swap ? q : e.d); /* other row - m * pivot row */
        q = swap ? -m * e.du : e.du;
        y = real_fma(-m, row.z, swap ? y : e.b);
        growth = real_fma(real_abs(m), swap ? PROBE : growth, swap ? growth : PROBE);
        return row;
    }
};

} // namespace

static shoal_status lupp_run(shoal_tridiag *plan, const tridiag_job *job) {
    return upper_run<pivoting>(plan, job, "lupp");
}

extern "C" const tridiag_cuda_method R(tridiag_lupp) = { upper_bytes, lupp_run };
