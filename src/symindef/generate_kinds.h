/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_kinds.h - the kinds of test matrix, as generate.c sees them, and what they are made with.
 */
#ifndef SHOAL_SYMINDEF_GENERATE_KINDS_H
#define SHOAL_SYMINDEF_GENERATE_KINDS_H

#include "core/plan.h"
#include "rng/philox.h"
#include <stdint.h>

enum { SYMINDEF_VALUES = 4, SYMINDEF_ROWS = 1 << 24 }; /* values a kind takes, rows, at most */

/* One matrix in the making, in double. */
typedef struct symindef_member {
    int kind;
    uint64_t seed;
    int64_t n;
    int threads, single;           /* single: the ends of the range are those of float          */
    int given;                     /* values that stand behind the kind's name                  */
    double value[SYMINDEF_VALUES]; /* these                                                     */
    double *a;                     /* n x n, all zeros; the kind fills its lower triangle       */
    int short_of_memory;           /* set by a kind that finds none                             */
} symindef_member;

typedef struct symindef_value {
    const char *what;
    double least, most; /* ends included         */
    int whole;          /* it counts something   */
} symindef_value;

typedef struct symindef_kind {
    const char *name;
    void (*fill)(symindef_member *m);
    /* whether n, and the values, suit the kind; NULL: they always do. `word` is the kind as given */
    shoal_status (*check)(shoal_context *ctx, const char *word, const symindef_member *m);
    int required;                /* values it cannot do without           */
    const symindef_value *takes; /* ends with a NULL what; NULL: no value */
    const char *text;
} symindef_kind;

extern const symindef_kind shoal_symindef_kinds[]; /* ends with a NULL name */

/* What random words are for: the path of their address. */
enum symindef_use { SYMINDEF_ENTRIES, SYMINDEF_ANGLES, SYMINDEF_ORDER, SYMINDEF_SIGNS };
enum { SYMINDEF_PURPOSE = 0xa0 }; /* plus the kind (philox.h) */

/* Block (i, j); j is below 2^24, that is SYMINDEF_ROWS. */
static inline shoal_words symindef_words(const symindef_member *m, enum symindef_use use, int64_t i,
                                         int64_t j) {
    return shoal_philox_at(m->seed, (uint64_t)use, (uint32_t)i,
                           SYMINDEF_PURPOSE + (uint32_t)m->kind, (uint32_t)j & 0xfff,
                           (uint32_t)(j >> 12));
}

/* A random order of 0 .. n - 1; `which` tells several of one matrix apart. */
void shoal_symindef_shuffle(const symindef_member *m, int which, int64_t n, int64_t *order);

/* The leading n x n of m->a becomes Q diag(lambda) Qt, its lower triangle alone, Q random and
 * orthogonal (generate_similar.c). */
void shoal_symindef_similar(symindef_member *m, int64_t n, const double *lambda);

#endif
