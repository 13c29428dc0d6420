/* SPDX-License-Identifier: Apache-2.0
 *
 * path.h - where the merge path crosses a diagonal: the binary search of L. Abbas-Turki, "Projects:
 * Merge Sort, Monte Carlo and PDE simulations" (project sheet of a course, December 2024, unpublished),
 * section 4, Algorithm 2, and of Green, McColl and Bader, "GPU Merge Path" (2012).
 *
 * A has m keys, B has n, both sorted. Of the first i keys of the merge, y are from A and x = i - y
 * from B, max(0, i - n) <= y <= min(i, m) and
 *
 *     (y = 0 or x = n or A[y-1] <= B[x])  and  (x = 0 or y = m or B[x-1] < A[y]).
 *
 * Among equal keys those of A come first, so there is one such y. The sheet's high point of a
 * diagonal, (|A|, i - |A|), is that of a square grid and its first comparison is strict; here the
 * ends of the diagonal are those of the m x n grid, and ties are the same everywhere. Up to
 * log2(min(m, n, i) + 1) steps, rounded up; nothing outside the arrays is read, sorted or not.
 */
#ifndef SHOAL_SORT_PATH_H
#define SHOAL_SORT_PATH_H

#include "sort/order.h"

SHOAL_HD static inline int64_t merge_path(int64_t i, const word *a, int64_t m, const word *b,
                                          int64_t n, sort_order order) {
    int64_t low = i > n ? i - n : 0, high = i < m ? i : m;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (order_in(a[middle], order) <= order_in(b[i - 1 - middle], order))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for arrays of at most 2^31 keys that are in shared memory or in the cache, as ordered
 * integers. */
SHOAL_HD static inline int merge_path_near(int i, const word *a, int m, const word *b, int n) {
    int low = i > n ? i - n : 0, high = i < m ? i : m;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[i - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keys of A among the first `to` of a merge, given y among the first `from`: the path never turns
 * back, nor leaves the grid. This changes nothing for sorted arrays, and keeps others in bounds. */
SHOAL_HD static inline int64_t path_onward(int64_t end, int64_t y, int64_t from, int64_t to,
                                           int64_t m, int64_t n) {
    const int64_t min = to - n > y ? to - n : y;
    const int64_t max = y + (to - from) < m ? y + (to - from) : m;
    return end < min ? min : end > max ? max : end;
}

#endif
