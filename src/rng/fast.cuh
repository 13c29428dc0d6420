/* SPDX-License-Identifier: Apache-2.0
 *
 * fast.cuh - Box-Muller in float with the GPU's own approximations: SHOAL_FAST. One special-function
 * instruction each for logarithm, root, sine and cosine; the logarithm is wrong by 2^-21 or so near
 * u = 1, hence the maximum with 0. Off the GPU, in the emulator, it is the exact one.
 */
#ifndef SHOAL_RNG_FAST_CUH
#define SHOAL_RNG_FAST_CUH

#include "rng/normal.h"

__device__ static inline shoal_normalsf fast_boxmullerf(uint32_t radius_word, uint32_t angle_word) {
#ifdef __CUDA_ARCH__
    const float u = shoal_radius_uniformf(radius_word);
    const float square = fmaxf(-2.0f * __logf(u), 0.0f);
    /* pi (quarter/2 + r) of shoal_boxmullerf: pi w' 2^-31 - pi/4, w' with one bit flipped */
    const float angle =
        fmaf((float)(int32_t)(angle_word ^ 0x20000000u), 0x1.921fb6p-30f, -0x1.921fb6p-1f);
    float r, s, c;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(square));
    __sincosf(angle, &s, &c);
    return { { r * c, r * s } };
#else
    return shoal_boxmullerf(radius_word, angle_word);
#endif
}

#endif
