/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_std.h - std::sort and std::merge, as peers_std.cpp calls them.
 */
#ifndef BENCH_PEERS_STD_H
#define BENCH_PEERS_STD_H

#include <shoal/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows first .. end - 1 of n keys each, in place; and of A and B with na and nb keys into out. */
void bench_std_sort(shoal_key key, void *keys, int64_t n, int64_t first, int64_t end,
                    int descending);
void bench_std_merge(shoal_key key, const void *a, int64_t na, const void *b, int64_t nb, void *out,
                     int64_t first, int64_t end, int descending);

#ifdef __cplusplus
}
#endif
#endif
