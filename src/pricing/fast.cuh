/* SPDX-License-Identifier: Apache-2.0
 *
 * fast.cuh - SHOAL_FAST in f32: logarithm to base 2, root, sine and cosine by one special-function
 * instruction each. Off the GPU, in the emulator, the C library's.
 */
#ifndef SHOAL_PRICING_FAST_CUH
#define SHOAL_PRICING_FAST_CUH

#include "core/launch.cuh"
#include "core/real.h"

#ifdef __CUDA_ARCH__
__device__ static inline float fast_log2(float u) {
    float l;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(l) : "f"(u));
    return l;
}
__device__ static inline float fast_sqrt(float q) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(q));
    return r;
}
__device__ static inline void fast_sincos(float angle, float *s, float *c) {
    __sincosf(angle, s, c);
}
#else
static inline float fast_log2(float u) { return log2f(u); }
static inline float fast_sqrt(float q) { return sqrtf(q); }
static inline void fast_sincos(float angle, float *s, float *c) {
    *s = sinf(angle), *c = cosf(angle);
}
#endif

/* The middle of a cell of (0, 1], and an angle from -pi to pi. */
__device__ static inline float fast_uniform(uint32_t word) {
    return fmaf((float)word, 0x1p-32f, 0x1p-33f);
}
__device__ static inline float fast_angle(uint32_t word) {
    return (float)(int32_t)word * 0x1.921fb6p-30f;
}

#endif
