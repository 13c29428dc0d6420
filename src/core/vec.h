/* SPDX-License-Identifier: Apache-2.0
 *
 * vec.h - the CPU's vectors of `real`, as wide as the instruction level has them: + - * / and
 * comparisons are the compiler's, the fused multiply-add, which it has no operator for, is ours.
 */
#ifndef SHOAL_CORE_VEC_H
#define SHOAL_CORE_VEC_H

#include "core/loops.h"
#include "core/real.h"

#if defined(__AVX512F__)
enum { VEC_BYTES = 64, VEC_REGISTERS = 32 };
#elif defined(__AVX__)
enum { VEC_BYTES = 32, VEC_REGISTERS = 16 };
#elif defined(__aarch64__)
enum { VEC_BYTES = 16, VEC_REGISTERS = 32 };
#else
enum { VEC_BYTES = 16, VEC_REGISTERS = 16 };
#endif
enum { VEC = VEC_BYTES / sizeof(real) }; /* numbers in a vector */

typedef real vec __attribute__((vector_size(VEC_BYTES), may_alias));
#ifdef SHOAL_SINGLE
typedef int32_t vec_mask __attribute__((vector_size(VEC_BYTES)));
#else
typedef int64_t vec_mask __attribute__((vector_size(VEC_BYTES)));
#endif

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__) && defined(SHOAL_SINGLE)
#define VEC_FMA(u, v, w) _mm512_fmadd_ps((__m512)(u), (__m512)(v), (__m512)(w))
#define VEC_ALL(value)   _mm512_set1_ps(value)
#elif defined(__AVX512F__)
#define VEC_FMA(u, v, w) _mm512_fmadd_pd((__m512d)(u), (__m512d)(v), (__m512d)(w))
#define VEC_ALL(value)   _mm512_set1_pd(value)
#elif defined(__FMA__) && defined(SHOAL_SINGLE)
#define VEC_FMA(u, v, w) _mm256_fmadd_ps((__m256)(u), (__m256)(v), (__m256)(w))
#define VEC_ALL(value)   _mm256_set1_ps(value)
#elif defined(__FMA__)
#define VEC_FMA(u, v, w) _mm256_fmadd_pd((__m256d)(u), (__m256d)(v), (__m256d)(w))
#define VEC_ALL(value)   _mm256_set1_pd(value)
#elif defined(__aarch64__) && defined(SHOAL_SINGLE)
#define VEC_FMA(u, v, w) vfmaq_f32((float32x4_t)(w), (float32x4_t)(u), (float32x4_t)(v))
#define VEC_ALL(value)   vdupq_n_f32(value)
#elif defined(__aarch64__)
#define VEC_FMA(u, v, w) vfmaq_f64((float64x2_t)(w), (float64x2_t)(u), (float64x2_t)(v))
#define VEC_ALL(value)   vdupq_n_f64(value)
#else
#define VEC_FMA(u, v, w) ((u) * (v) + (w))
#endif

/* u v + w: fused if the instruction level has it, else with two roundings. */
ALWAYS_INLINE vec vec_fma(vec u, vec v, vec w) { return (vec)VEC_FMA(u, v, w); }

/* (By the instruction that loads one number into all lanes: left alone, gcc loads neighbours together
 * and spreads them by shuffles, which AVX-512 makes in one of its two multipliers' ports.) */
ALWAYS_INLINE vec vec_all(real value) {
#ifdef VEC_ALL
    return (vec)VEC_ALL(value);
#else
    vec v = { 0 };
    for (int i = 0; i < VEC; i++) v[i] = value;
    return v;
#endif
}

/* Memory may be aligned as single numbers are. */
ALWAYS_INLINE vec vec_load(const real *from) {
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}
ALWAYS_INLINE void vec_store(real *to, vec v) { memcpy(to, &v, sizeof v); }

/* By lane: u if the mask, a comparison of vectors, is true, else v. */
ALWAYS_INLINE vec vec_select(vec_mask mask, vec u, vec v) {
    return (vec)(((vec_mask)u & mask) | ((vec_mask)v & ~mask));
}
ALWAYS_INLINE vec vec_abs(vec v) { return (vec)((vec_mask)v & ~(vec_mask)vec_all((real)-0.0)); }
ALWAYS_INLINE vec vec_min(vec u, vec v) { return vec_select(u < v, u, v); }
ALWAYS_INLINE vec vec_max(vec u, vec v) { return vec_select(u > v, u, v); }

/* Numbers of u and v in turn: the lower halves, and the upper ones. */
ALWAYS_INLINE void vec_zip(vec u, vec v, vec *low, vec *high) {
#if defined(__clang__)
    vec a, b;
    for (int i = 0; i < VEC; i++) {
        a[i] = i % 2 ? v[i / 2] : u[i / 2];
        b[i] = i % 2 ? v[(VEC + i) / 2] : u[(VEC + i) / 2];
    }
    *low = a, *high = b;
#else
    vec_mask first, second;
    for (int i = 0; i < VEC; i++) {
        first[i] = i / 2 + (i % 2 ? VEC : 0);
        second[i] = first[i] + VEC / 2;
    }
    *low = __builtin_shuffle(u, v, first);
    *high = __builtin_shuffle(u, v, second);
#endif
}

/* Rows become columns: log2(VEC) rounds of zips of what lies half the rows apart. */
ALWAYS_INLINE void vec_transpose(vec rows[VEC]) {
    for (int round = 1; round < VEC; round *= 2) {
        vec next[VEC];
        for (int x = 0; x < VEC / 2; x++)
            vec_zip(rows[x], rows[x + VEC / 2], &next[2 * x], &next[2 * x + 1]);
        for (int x = 0; x < VEC; x++) rows[x] = next[x];
    }
}

#endif
