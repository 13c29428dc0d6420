/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - vectors of ordered keys, as wide as the instruction level has them, and their exchange:
 * the lesser of two in one, the greater in the other, lane by lane. A tagged key has a second
 * vector, which follows it and decides between equal keys; tags are never equal, so that the order
 * is strict and the exchange stable.
 */
#ifndef SHOAL_SORT_LANES_H
#define SHOAL_SORT_LANES_H

#include "core/vec.h"
#include "sort/order.h"

#if defined(__SSE4_1__) && !defined(__AVX2__)
#include <smmintrin.h>
#endif

typedef word lanes __attribute__((vector_size(VEC_BYTES)));

ALWAYS_INLINE lanes lanes_all(word value) {
    lanes v = { 0 };
    for (int i = 0; i < VEC; i++) v[i] = value;
    return v;
}

ALWAYS_INLINE lanes lanes_select(lanes mask, lanes u, lanes v) {
#if defined(__aarch64__)
    return (lanes)vbslq_u8((uint8x16_t)mask, (uint8x16_t)u, (uint8x16_t)v);
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return (lanes)_mm256_blendv_epi8((__m256i)v, (__m256i)u, (__m256i)mask);
#elif defined(__SSE4_1__) && !defined(__AVX2__)
    return (lanes)_mm_blendv_epi8((__m128i)v, (__m128i)u, (__m128i)mask);
#else
    return (u & mask) | (v & ~mask);
#endif
}

/* The instruction for `op`, min or max, or else `chosen`. */
#if defined(__AVX512F__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm512_##op##_epi32((__m512i)u, (__m512i)v)
#elif defined(__AVX512F__)
#define LANES_OP(op, u, v, chosen) (lanes) _mm512_##op##_epi64((__m512i)u, (__m512i)v)
#elif defined(__AVX2__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm256_##op##_epi32((__m256i)u, (__m256i)v)
#elif defined(__SSE4_1__) && !defined(__AVX2__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm_##op##_epi32((__m128i)u, (__m128i)v)
#elif defined(__aarch64__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) v##op##q_s32((int32x4_t)u, (int32x4_t)v)
#else
#define LANES_OP(op, u, v, chosen) chosen
#endif

ALWAYS_INLINE lanes lanes_min(lanes u, lanes v) {
    return LANES_OP(min, u, v, lanes_select(u < v, u, v));
}
ALWAYS_INLINE lanes lanes_max(lanes u, lanes v) {
    return LANES_OP(max, u, v, lanes_select(u < v, v, u));
}

/* keys[low] <= keys[high] from now on; `tagged` is known when this is compiled. */
ALWAYS_INLINE void exchange(lanes *keys, lanes *tags, int64_t low, int64_t high, const int tagged) {
    const lanes u = keys[low], v = keys[high];
    if (tagged) {
        const lanes t = tags[low], s = tags[high];
        const lanes swap = (v < u) | ((v == u) & (s < t));
        keys[low] = lanes_select(swap, v, u), keys[high] = lanes_select(swap, u, v);
        tags[low] = lanes_select(swap, s, t), tags[high] = lanes_select(swap, t, s);
    } else {
        keys[low] = lanes_min(u, v), keys[high] = lanes_max(u, v);
    }
}

/* `plain`: known when this is compiled, order.rest is 0. */
ALWAYS_INLINE lanes lanes_in(lanes raw, sort_order o, const int plain) {
    if (plain) return raw ^ o.flip;
    return raw ^ ((raw >> (WORD_BITS - 1)) & o.rest) ^ o.flip;
}
ALWAYS_INLINE lanes lanes_out(lanes ordered, sort_order o, const int plain) {
    const lanes y = ordered ^ o.flip;
    if (plain) return y;
    return y ^ ((y >> (WORD_BITS - 1)) & o.rest);
}

#endif
