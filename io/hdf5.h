/* SPDX-License-Identifier: Apache-2.0
 *
 * hdf5.h - HDF5 files: one triangle of a square dataset, or all of it, and several named arrays.
 *
 * An optional feature: where the HDF5 library was not there when Shoal was built every
 * function fails with a message.
 */
#ifndef SHOAL_IO_HDF5_H
#define SHOAL_IO_HDF5_H

#include "array.h"

/* Whether it is there. */
bool io_h5_available(void);

/* Reads one triangle of an n x n dataset, and nothing of the other, into memory of that triangle
 * (Kruchinina's thesis, section 3.2, Listing 3.3). `place` is FILE.h5, for the first dataset by name that has two
 * dimensions, or FILE.h5:/path/of/dataset. t NULL: the whole dataset, (n, n), by one call of HDF5's. 32-bit floats become f4, all other numbers f8. IO_E_SIZE,
 * and the bytes it needs, if that is more than `limit`. On error array->data is NULL. */
int io_h5_read_triangle(const char *place, const io_triangle *t, int64_t limit, int64_t *n,
                        io_array *array, io_error *err);

typedef struct io_h5_item {
    const char *name; /* of the dataset; "a/b" is b in group a */
    const io_array *array;
} io_h5_item;

/* Writes the arrays to one file, which appears when all is written. The target must be a plain file:
 * HDF5 cannot write to a pipe. */
int io_h5_write(const char *path, const io_h5_item *items, int count, io_error *err);

/* One array of f8 that comes in pieces: some of its first index at a time. */
typedef struct io_h5_pieces io_h5_pieces;
/* On error *pieces is NULL. */
int io_h5_open_pieces(const char *path, const char *name, int ndim, const int64_t *shape,
                      io_h5_pieces **pieces, io_error *err);
int io_h5_write_piece(io_h5_pieces *pieces, int64_t first, int64_t count, const double *data,
                      io_error *err);
/* The file appears if `status` is IO_OK; else it is removed, and `status` returned. */
int io_h5_close_pieces(io_h5_pieces *pieces, int status, io_error *err);

#endif
