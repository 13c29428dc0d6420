/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_kinds.h - the families of test systems, as generate.c sees them.
 */
#ifndef SHOAL_SMALLSYM_GENERATE_KINDS_H
#define SHOAL_SMALLSYM_GENERATE_KINDS_H

#include "rng/philox.h"
#include <stdint.h>

/* One system in the making, in double. Its random words are named by kind, seed, system and a place
 * in the system; n^2 numbers fit in memory, so that a place has room for any i and j. */
typedef struct smallsym_member {
    int kind;
    uint64_t seed, system;
    int64_t n, nrhs;
    double parameter;
    shoal_words draw; /* the system's own words                                          */
    double *a;        /* n x n, all zeros; the kind fills it; its lower triangle counts  */
    double *b;        /* n x nrhs, uniform in (-1, 1); the kind may change it            */
    double *work;     /* smallsym_work(n) numbers                                        */
} smallsym_member;

static inline int64_t smallsym_work(int64_t n) { return n * n + 2 * n; }

typedef struct smallsym_kind {
    const char *name;
    void (*fill)(smallsym_member *m);
    const char *parameter;     /* what it may be; NULL: the kind has none  */
    double usual, least, most; /* its default and its range, ends included */
    int whole;                 /* it counts something                      */
    const char *text;
} smallsym_kind;

extern const smallsym_kind shoal_smallsym_kinds[]; /* ends with a NULL name */

enum { SMALLSYM_ENTRIES = 0x90, SMALLSYM_SYSTEMS = 0xd0 }; /* purposes (philox.h), plus the kind */

/* Block (i, j) of a purpose. */
static inline shoal_words smallsym_words(const smallsym_member *m, uint32_t purpose, int64_t i,
                                         int64_t j) {
    return shoal_philox_at(m->seed, m->system, (uint32_t)i, purpose + (uint32_t)m->kind,
                           (uint32_t)j & 0xfff, (uint32_t)(j >> 12));
}

/* Uniform in (-1, 1), never 0. */
static inline double smallsym_symmetric(const shoal_words *w, int half) {
    return 2 * shoal_uniform(w, half) - 1;
}

#endif
