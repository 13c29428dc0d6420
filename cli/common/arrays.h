/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.h - arrays that come from several files and have to fit together.
 */
#ifndef CLI_ARRAYS_H
#define CLI_ARRAYS_H

#include "cli.h"
#include "io/array.h"

typedef struct cli_array {
    const char *path;
    io_array a;
} cli_array;

/* Reads a .npy file. CLI_OK or an exit code, its message printed. */
int cli_array_read(cli_array *array, const char *path);

/* Brings the arrays to one type: f4 is solved in f32, f8 in f64. Integers become f8, with a note;
 * f4 beside anything else is CLI_INPUT, and the message names both files. */
int cli_array_unify(const cli *c, cli_array *const *arrays, int count, shoal_type *type);

/* Makes it f8, with a note if it was not. */
int cli_array_widen(const cli *c, cli_array *array);

/* CLI_INPUT with both names and both shapes, and `why`: what would have fitted. */
int cli_array_misfit(const cli_array *array, const cli_array *other, const char *why);

/* Writes a .npy file of that type and shape. */
int cli_array_write(const char *path, io_type type, int ndim, const int64_t *shape, void *data);

io_type cli_io_type(shoal_type type);

#endif
