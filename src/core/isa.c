/* SPDX-License-Identifier: Apache-2.0
 *
 * isa.c - which instruction levels this CPU can run.
 */
#include "core/isa.h"
#include <shoal/core.h>
#include <string.h>

#define NAME(level, unused) #level,
static const char *const names[] = { SHOAL_LEVEL_LIST(NAME, ) };

int shoal_isa_best(void) {
#if defined(__x86_64__) && !defined(SHOAL_ONE_LEVEL)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return -1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return SHOAL_LEVEL_v2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return SHOAL_LEVEL_v3;
    return SHOAL_LEVEL_v4;
#else
    return SHOAL_LEVEL_base;
#endif
}

int shoal_isa_find(const char *name) {
    for (int i = 0; i < SHOAL_LEVEL_COUNT; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

const char *shoal_isa_name(int level) { return names[level]; }

const char *shoal_isa(int i) { return i >= 0 && i <= shoal_isa_best() ? names[i] : NULL; }
