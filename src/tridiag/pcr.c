/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.c - parallel cyclic reduction on the CPU, any n, in two variants with the same bits.
 *
 * Each step reduces every row by its two neighbours (reduce.h), which splits a system into two of
 * half its size: that of the even rows and that of the odd ones. When all systems have one row
 * each, x = b / d; there is no backward phase.
 *
 *   stride   rows stay where they are: after the step of distance h the neighbours are 2h away.
 *   permute  Figure 8 and section 4.2 of the small-systems paper (reduce.h): after each step the even rows of a
 *            system are put first and the odd ones behind, so that the rows of one system lie side
 *            by side and neighbours are always adjacent. A system of m rows splits into ceil(m/2)
 *            and floor(m/2), which is why any n will do. Where the paper keeps an array to restore
 *            the order, the place of a row is computed here: it follows from the bits of its number.
 *
 * One lane per system. n row reductions per step, ceil(log2 n) steps.
 * Stable for diagonally dominant matrices; a zero pivot fails.
 */
#include "tridiag/reduce.h"

typedef struct part { /* one of the systems after some steps: rows start .. start + size - 1 */
    int64_t start, size;
} part;

/* After the steps 1, 2, ..., h/2 the original rows r, r + h, r + 2h, ... form one system: which
 * part? Bit by bit of r, lowest first: 0, the first half; 1, the second. */
static part part_of(int64_t r, int64_t h, int64_t n) {
    part s = { 0, n };
    for (int64_t bit = 1; bit < h; bit *= 2) {
        int64_t evens = (s.size + 1) / 2;
        s = r & bit ? (part){ s.start + evens, s.size - evens } : (part){ s.start, evens };
    }
    return s;
}

/* One step on one part: row j, reduced by rows j - 1 and j + 1, goes to its place in its half. */
PACK_INLINE void split(const rows *to, const rows *from, part s, const int lanes) {
    const int64_t evens = (s.size + 1) / 2;
    for (int64_t j = 0; j < s.size; j++) {
        int64_t i = s.start + j, at = s.start + j / 2 + (j % 2 ? evens : 0);
        reduce_row(to, at, from, i, j > 0 ? i - 1 : NO_ROW, j + 1 < s.size ? i + 1 : NO_ROW, lanes);
    }
}

PACK_INLINE const rows *reduce_by_permuting(const rows *from, const rows *to, int64_t n,
                                            const int lanes) {
    for (int64_t h = 1; h < n; h *= 2) {
        for (int64_t r = 0; r < h; r++) split(to, from, part_of(r, h, n), lanes);
        const rows *done = to;
        to = from;
        from = done;
    }
    return from;
}

PACK_INLINE void reduce_all(const pack *p, const int variant, const int lanes) {
    real *const *s = p->scratch;
    const int64_t n = p->n;
    const size_t bytes = (size_t)n * (size_t)lanes * sizeof(real);
    const rows rows_0 = { s[0], s[1], s[2], s[3] }, rows_1 = { s[4], s[5], s[6], s[7] };
    memcpy(rows_0.dl, p->dl, bytes);
    memcpy(rows_0.d, p->d, bytes);
    memcpy(rows_0.du, p->du, bytes);
    memcpy(rows_0.b, p->b, bytes);
    const rows *e = variant == PCR_PERMUTE ? reduce_by_permuting(&rows_0, &rows_1, n, lanes)
                                           : reduce_by_strides(&rows_0, &rows_1, n, lanes);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = variant == PCR_PERMUTE ? part_of(i, n, n).start : i;
        EACH_LANE(l, lanes)
        p->x[i * lanes + l] = real_over_pivot(e->b[at * lanes + l], e->d[at * lanes + l]);
    }
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    PACK_CALL(p, reduce_all, p, variant);
}

const tridiag_cpu_method R(tridiag_pcr) = { .scratch = 8, .solve = solve };
