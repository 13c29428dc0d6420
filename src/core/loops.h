/* SPDX-License-Identifier: Apache-2.0
 *
 * loops.h - hints for the compiler, before loops and functions.
 */
#ifndef SHOAL_CORE_LOOPS_H
#define SHOAL_CORE_LOOPS_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Before a loop whose turns are independent; before a loop to be unrolled four times; or as a whole. nvcc's pass for
 * the CPU knows neither spelling of the last. */
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define UNROLLED _Pragma("unroll")
#elif defined(__CUDACC__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define UNROLLED_4  _Pragma("unroll 4")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED_4  _Pragma("GCC unroll 4")
#endif

/* A loop over the lanes of a vector, whose turns do not depend on each other: clang needs no word for it. */
#ifdef __clang__
#define EACH(i, n) for (int i = 0; i < (n); i++)
#else
#define EACH(i, n) INDEPENDENT for (int i = 0; i < (n); i++)
#endif

/* Before a loop that `workers` threads share by a schedule of OpenMP: static, or dynamic, 16, ... */
#ifdef _OPENMP
#define LOOP_PRAGMA(words) _Pragma(#words)
#define ON_THREADS(workers, ...)                                                                   \
    LOOP_PRAGMA(omp parallel for num_threads(workers) schedule(__VA_ARGS__))
#else
#define LOOP_PRAGMA(words)
#define ON_THREADS(workers, ...) (void)(workers);
#endif

#endif
