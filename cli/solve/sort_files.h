/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_files.h - what `shoal sort` and `shoal merge` share: keys out of files, rows, memory.
 */
#ifndef CLI_SORT_FILES_H
#define CLI_SORT_FILES_H

#include "cli/common/arrays.h"

shoal_key sort_key(io_type type); /* every type that a file can have is one of a key */

/* Rows of the last axis: *n keys each, *count of them. CLI_INPUT for a single number. */
int sort_rows(const cli_array *array, int64_t *count, int64_t *n);

/* CLI_OK if `values` goes with `keys`: the same shape. */
int sort_values_fit(const cli_array *values, const cli_array *keys);

/* CLI_INPUT, with row and place, unless every row is in order. */
int sort_check_order(const cli_array *array, int64_t count, int64_t n, int descending);

/* An array of that many bytes in the context's memory, with the content of `from` unless NULL. */
shoal_status sort_place(cli *c, const void *from, int64_t bytes, void **memory);

#endif
