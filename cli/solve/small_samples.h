/* SPDX-License-Identifier: Apache-2.0
 *
 * small_samples.h - samples of regressions in files, of which small symmetric systems are formed.
 */
#ifndef CLI_SMALL_SAMPLES_H
#define CLI_SMALL_SAMPLES_H

#include "small_files.h"

/* Reads psi (count,M,n), or (M,n) for one system, and y (count,M) or (M), or with one more last axis,
 * into A and b of the batch, and sets its `samples`. CLI_OK or an exit code, its message printed;
 * small_free is due in any case. */
int small_read_samples(const cli *c, const char *psi, const char *y, small_batch *batch);

/* The shape of x: (count,n) or (n), with one more last axis where y has it; the number of axes. */
int small_answer_shape(const small_batch *batch, int64_t shape[3]);

#endif
