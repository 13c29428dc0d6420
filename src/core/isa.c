/* SPDX-License-Identifier: Apache-2.0
 *
 * isa.c - which instruction levels this CPU can run.
 */
#include "core/isa.h"
#include <shoal/core.h>
#include <string.h>

#define NAME(level, unused) #level,
static const char *const names[] = { SHOAL_LEVEL_LIST(NAME, ) };

#if defined(__x86_64__) && !defined(SHOAL_ONE_LEVEL)
/* The highest level of the CPU, as the number in its name; 1 below v2. */
static int cpu_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return 3;
    return 4;
}

int shoal_isa_best(void) {
    const int level = cpu_level();
    int best = SHOAL_LEVEL_COUNT - 1;
    while (best >= 0 && names[best][1] - '0' > level) best--; /* "v3" */
    return best;
}
#else
int shoal_isa_best(void) { return SHOAL_LEVEL_base; }
#endif

int shoal_isa_find(const char *name) {
    for (int i = 0; i < SHOAL_LEVEL_COUNT; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

const char *shoal_isa_name(int level) { return names[level]; }

const char *shoal_isa(int i) { return i >= 0 && i <= shoal_isa_best() ? names[i] : NULL; }
