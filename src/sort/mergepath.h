/* SPDX-License-Identifier: Apache-2.0
 *
 * mergepath.h - the CPU's merges as the files of sort share them: mergepath.c has them.
 */
#ifndef SHOAL_SORT_MERGEPATH_H
#define SHOAL_SORT_MERGEPATH_H

#include "sort/merge.h"

/* Pair k of a merge job. */
merge_task R(sort_merge_of)(const sort_job *job, int64_t k);
/* All of it, over so many threads. */
void R(sort_merge_all)(const merge_task *t, int bytes, int threads);
/* The same by a search for each key. */
void R(sort_merge_by_search)(const merge_task *t, int bytes, int threads);

#endif
