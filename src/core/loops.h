/* SPDX-License-Identifier: Apache-2.0
 *
 * loops.h - hints for the compiler, before loops and functions.
 */
#ifndef SHOAL_CORE_LOOPS_H
#define SHOAL_CORE_LOOPS_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Before a loop whose turns are independent; before a loop to be unrolled four times. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define UNROLLED_4  _Pragma("unroll 4")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED_4  _Pragma("GCC unroll 4")
#endif

#endif
