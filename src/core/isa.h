/* SPDX-License-Identifier: Apache-2.0
 *
 * isa.h - the CPU instruction levels that a build contains, lowest first. The build compiles every
 * CPU algorithm file once per level; the context picks one when it is opened. An x86-64 build has the
 * psABI levels v2 (SSE4.2), v3 (AVX2, FMA) and v4 (AVX-512); other processors,
 * and the sanitized builds of the tests (SHOAL_ONE_LEVEL), have one. So does a build for one CPU
 * (SHOAL_ISA of CMake, SHOAL_ONLY_v3 and so on here).
 */
#ifndef SHOAL_CORE_ISA_H
#define SHOAL_CORE_ISA_H

#if defined(SHOAL_ONLY_v2)
#define SHOAL_LEVEL_LIST(X, ...) X(v2, __VA_ARGS__)
#elif defined(SHOAL_ONLY_v3)
#define SHOAL_LEVEL_LIST(X, ...) X(v3, __VA_ARGS__)
#elif defined(SHOAL_ONLY_v4)
#define SHOAL_LEVEL_LIST(X, ...) X(v4, __VA_ARGS__)
#elif defined(__x86_64__) && !defined(SHOAL_ONE_LEVEL)
#define SHOAL_LEVEL_LIST(X, ...) X(v2, __VA_ARGS__) X(v3, __VA_ARGS__) X(v4, __VA_ARGS__)
#else
#define SHOAL_LEVEL_LIST(X, ...) X(base, __VA_ARGS__)
#endif

#define SHOAL_LEVEL_ENUM(name, unused) SHOAL_LEVEL_##name,
enum { SHOAL_LEVEL_LIST(SHOAL_LEVEL_ENUM, ) SHOAL_LEVEL_COUNT };
#undef SHOAL_LEVEL_ENUM

/* Index of the highest level this CPU can run, -1 if not even the lowest. */
int shoal_isa_best(void);
/* Index of a level by name, -1 if the build does not hold it. */
int shoal_isa_find(const char *name);
const char *shoal_isa_name(int level);

#endif
