/* SPDX-License-Identifier: Apache-2.0
 *
 * qr.cu - QR factorisation by Givens rotations on the GPU. The algorithm of qr.c, one thread per solve
 * (upper.cuh).
 */
#include "tridiag/rootfree.h"
#include "tridiag/upper.cuh"

namespace {

struct rotation {
    __device__ static upper_row reduce(const equation &e, real &p, real &q, real &y, real &) {
        const real large = real_max(real_abs(p), real_abs(e.dl));
        const real scale = real_max(large, REAL_TINY); /* both may be 0: then h is */
        const real first = p / scale, second = e.dl / scale;
        const real root = real_sqrt(first * first + second * second), inverse = 1 / root;
        const real c = first * inverse, s = second * inverse;
        const upper_row row = { 1 / (large * root), c * q + s * e.d, s * e.du, c * y + s * e.b };
        p = c * e.d - s * q;
        q = c * e.du;
        y = c * e.b - s * y;
        return row;
    }
};

struct rootfree_rotation { /* growth is PROBE times the weight */
    __device__ static upper_row reduce(const equation &e, real &p, real &q, real &y, real &growth) {
        const rootfree r = rootfree_of(p, e.dl, growth / PROBE);
        const upper_row row = { r.inverse, r.first * q + r.second * e.d, r.second * e.du,
                                r.first * y + r.second * e.b };
        p = r.next * e.d - r.minus * q;
        q = r.next * e.du;
        y = r.next * e.b - r.minus * y;
        growth = PROBE * r.weight;
        return row;
    }
};

} // namespace

static shoal_status qr_run(shoal_tridiag *plan, const tridiag_job *job) {
    const int variant = job->todo ? plan->rescue.variant : plan->first.variant;
    return variant == QR_ROOTFREE ? upper_run<rootfree_rotation>(plan, job, "qr")
                                  : upper_run<rotation>(plan, job, "qr");
}

extern "C" const tridiag_cuda_method R(tridiag_qr) = { upper_bytes, qr_run };
