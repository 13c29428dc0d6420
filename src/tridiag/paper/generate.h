/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.h - the test systems of the g-Spike paper (Venetis, Kouris, Sobczyk, Gallopoulos
 * and Sameh, Parallel Computing 2015), as generate.c uses them.
 *
 * A system is made in pieces of TRIDIAG_PIECE rows, each by itself. x is standard normal and
 * b = A x, as in the paper. All kinds draw from the same addresses: #4, #5, #12 and the implants in
 * #1 are the #1 of the same seed and system except for what they change, and x is the same for all.
 */
#ifndef SHOAL_TRIDIAG_PAPER_GENERATE_H
#define SHOAL_TRIDIAG_PAPER_GENERATE_H

#include "rng/philox.h"
#include "tridiag/plan.h"

enum { TRIDIAG_PIECE = 4096, TRIDIAG_IMPLANT_MAX = 256 };

struct tridiag_block;

/* One system: its address, and the values behind the kind's name. */
typedef struct tridiag_source {
    uint64_t seed, system;
    int64_t n;
    int64_t implants, size, offset; /* singular blocks, rows of a block, rows before the first */
} tridiag_source;

/* Rows first .. first + count - 1 of it, at dl[0], d[0], du[0] and so on. dl of row 0 and du of row
 * n - 1 are whatever the rule gives: NaN is stored there instead. */
typedef struct tridiag_rows {
    int64_t first, count;
    double *dl, *d, *du;
    double *work; /* TRIDIAG_WORK numbers */
} tridiag_rows;

enum { TRIDIAG_WORK = TRIDIAG_IMPLANT_MAX * (2 * TRIDIAG_IMPLANT_MAX + 4) };

typedef struct tridiag_entries {
    double dl, d, du;
} tridiag_entries;

/* How the rows are made: each by a rule, or all by their singular values; then blocks are made singular. */
typedef struct tridiag_paper_kind {
    const char *name;
    tridiag_entries (*rule)(const tridiag_source *s, int64_t i, tridiag_entries given);
    tridiag_entries given;                    /* numbers of the rule                      */
    double (*singular)(int64_t k, int64_t n); /* singular value k of n, k = 0 .. n-1      */
    void (*implant)(struct tridiag_block *k); /* up to three values may follow the name   */
    int how;                                  /* flags of a kind with singular blocks     */
    const char *text;
} tridiag_paper_kind;

/* The interiors of blocks become singular; all have the numbers of one. */
enum { TRIDIAG_INNER = 1, TRIDIAG_COPIED = 2 };

extern const tridiag_paper_kind shoal_tridiag_paper_kinds[]; /* ends with a NULL name */

/* Fills dl, d, du of the rows. */
void shoal_tridiag_paper_rows(const tridiag_paper_kind *kind, const tridiag_source *s,
                              const tridiag_rows *r);

/* ---- random words ---------------------------------------------------------------------------- */

/* Purposes of the generator (philox.h) that no kind of generate.c and smallsym/ has. */
enum { TRIDIAG_OF_SYSTEM = 0x8d, TRIDIAG_OF_BLOCKS = 0x8e, TRIDIAG_OF_ROWS = 0x8f };
enum { TRIDIAG_DRAW_OFF_DIAGONALS, TRIDIAG_DRAW_DIAGONAL, TRIDIAG_DRAW_X };

/* The step of the generator has 32 bits; what is above goes where no system number reaches. */
static inline shoal_words tridiag_words(const tridiag_source *s, uint32_t purpose, int64_t step,
                                        int64_t draw) {
    const uint64_t path = s->system ^ (uint64_t)step >> 32 << 40;
    return shoal_philox_at(s->seed, path, (uint32_t)step, purpose, (uint32_t)draw & 0xfff,
                           (uint32_t)(draw >> 12));
}

/* Uniform in (-1, 1), never 0. */
static inline double tridiag_symmetric(const shoal_words *w, int half) {
    return 2 * shoal_uniform(w, half) - 1;
}

#endif
