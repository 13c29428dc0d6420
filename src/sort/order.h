/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - every key as a signed integer of its width, in the same order.
 *
 * The bits of a floating point number, taken as a signed integer, are in IEEE's total order for
 * positive numbers and reversed for negative ones: the bits below their sign are inverted. An unsigned
 * number becomes signed by its highest bit, and descending order is a complement. So with
 * s = raw < 0 ? -1 : 0,
 *
 *     ordered = raw ^ (s & rest) ^ flip,      rest = all but the sign for floating point, else 0,
 *
 * and, as the sign survives the first step, raw = y ^ (s(y) & rest) with y = ordered ^ flip. The
 * build for f32 has the keys of 32 bits, the build for f64 those of 64.
 */
#ifndef SHOAL_SORT_ORDER_H
#define SHOAL_SORT_ORDER_H

#include "core/real.h"

#ifdef __cplusplus
#define MAY_ALIAS /* kernels are compiled without strict aliasing */
#else
#define MAY_ALIAS __attribute__((may_alias)) /* the caller's arrays have any type of that width */
#endif

#ifdef SHOAL_SINGLE
typedef int32_t MAY_ALIAS word;
enum { WORD_BITS = 32 };
#define WORD_MAX INT32_MAX
#else
typedef int64_t MAY_ALIAS word;
enum { WORD_BITS = 64 };
#define WORD_MAX INT64_MAX
#endif

typedef struct sort_order {
    word rest, flip;
} sort_order;

SHOAL_HD static inline word order_in(word raw, sort_order o) {
    return raw ^ ((raw >> (WORD_BITS - 1)) & o.rest) ^ o.flip;
}

/* The same; `plain`: rest is 0. */
SHOAL_HD static inline word ordered(word raw, sort_order o, const int plain) {
    return plain ? raw ^ o.flip : order_in(raw, o);
}

SHOAL_HD static inline word order_out(word ordered, sort_order o) {
    const word y = ordered ^ o.flip;
    return y ^ ((y >> (WORD_BITS - 1)) & o.rest);
}

SHOAL_HD static inline word unordered(word key, sort_order o, const int plain) {
    return plain ? key ^ o.flip : order_out(key, o);
}

#endif
