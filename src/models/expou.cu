/* SPDX-License-Identifier: Apache-2.0
 *
 * expou.cu - paths of the exponential Ornstein-Uhlenbeck model on the GPU: Euler's steps of
 * expou.h by euler.cuh. Exact steps are in exact.cu.
 */
#include "models/euler.cuh"
#include "models/expou.h"

namespace {

template <int IN_S> struct expou_model {
    static constexpr int blocks(int, int) { return 0; }
    __device__ static void step(const euler_numbers &n, const price_job &, real z1, real z2,
                                real &y, real &x) {
        expou_step(&n, IN_S, z1, z2, &y, &x);
    }
};

} // namespace

static shoal_status run(shoal_context *ctx, const void *given) {
    const price_job *job = (const price_job *)given;
    if (job->row != EXPOU_EULER) return shoal_exact_expou(ctx, job);
    const auto chosen =
        job->in_s ? kernel_of(job, euler<expou_model<1>, 1, 1>, euler<expou_model<1>, 1, 3>,
                              euler<expou_model<1>, 2, 1>, euler<expou_model<1>, 2, 3>)
                  : kernel_of(job, euler<expou_model<0>, 1, 1>, euler<expou_model<0>, 1, 3>,
                              euler<expou_model<0>, 2, 1>, euler<expou_model<0>, 2, 3>);
    return run_kernel(ctx, job, chosen, 1, "expou");
}

extern "C" const price_method R(expou_paths) = { 64 * PRICE_BLOCKS, run };
