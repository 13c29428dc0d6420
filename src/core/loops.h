/* SPDX-License-Identifier: Apache-2.0
 *
 * loops.h - what a compiler is told before a loop: gcc and clang want it in words of their own.
 */
#ifndef SHOAL_CORE_LOOPS_H
#define SHOAL_CORE_LOOPS_H

/* Before a loop whose turns do not depend on each other; before one that is written out four times. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define UNROLLED_4  _Pragma("unroll 4")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED_4  _Pragma("GCC unroll 4")
#endif

#endif
