/* SPDX-License-Identifier: Apache-2.0
 *
 * mutant.h - what a source with planted faults includes: is fault k on? It includes nothing itself, because it comes
 * before the macros with which a source chooses what the system headers declare.
 */
#ifndef SHOAL_MUTANT_H
#define SHOAL_MUTANT_H

#ifdef __cplusplus
extern "C" {
#endif

/* mutant.o sets them from the environment; a program that is linked without it has no fault. */
__attribute__((weak, visibility("hidden"))) int shoal_mutant_on = 0;
__attribute__((weak, visibility("hidden"))) unsigned char *shoal_mutant_map = 0;
#ifdef __cplusplus
}
#endif

/* Marks, too, that fault k was reached. */
static inline int shoal_mutant(int k) {
    if (shoal_mutant_map && !__atomic_load_n(shoal_mutant_map + k, __ATOMIC_RELAXED))
        __atomic_store_n(shoal_mutant_map + k, 1, __ATOMIC_RELAXED);
    return shoal_mutant_on == k;
}

#endif
