/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_complete.h - complete pivoting as a plain loop, in double and in float (peers_complete.c).
 */
#ifndef BENCH_PEERS_COMPLETE_H
#define BENCH_PEERS_COMPLETE_H

#include <stdint.h>

/* Factors the packed columns of the lower triangle in place; room for 2 n numbers; interchanges as
 * the library has them. */
void shoal_complete_loop_f64_plain(int64_t n, double *a, double *room, int32_t *interchanges);
void shoal_complete_loop_f32_plain(int64_t n, float *a, float *room, int32_t *interchanges);

#endif
