/* SPDX-License-Identifier: Apache-2.0
 *
 * mtx.h - Matrix Market files: coordinate and array; real, integer and pattern; general, symmetric
 * and skew-symmetric.
 *
 * Entries come back 0-based, sorted by row, then column. Duplicates are summed, in the order of
 * the file, and counted. A pattern entry has the value 1. NaN and Inf are accepted as values and
 * counted: what they mean is the caller's decision. As the format demands, a symmetric file holds
 * only entries on or below the diagonal, a skew-symmetric one only entries below (an explicit zero
 * on the diagonal is tolerated); anything else is an error. Complex and Hermitian files are errors.
 * Files are written as real ones, with all the digits of a double.
 */
#ifndef SHOAL_IO_MTX_H
#define SHOAL_IO_MTX_H

#include "array.h"

typedef enum io_symmetry { IO_GENERAL, IO_SYMMETRIC, IO_SKEW } io_symmetry;

typedef struct io_entry {
    int64_t row, col; /* 0-based */
    double value;
} io_entry;

typedef struct io_matrix {
    int64_t rows, cols;
    int64_t count;        /* stored entries: of a symmetric matrix the lower triangle only */
    io_entry *entries;    /* sorted by (row, col), each place once; from malloc            */
    io_symmetry symmetry; /* IO_SYMMETRIC: A(j,i) = A(i,j); IO_SKEW: A(j,i) = -A(i,j)      */
    int64_t duplicates;   /* entries of the file that were added to an earlier one         */
    int64_t nonfinite;    /* NaN or Inf values among the entries of the file               */
} io_matrix;

/* Reads the file at `path`. Errors read "A.mtx:17: row index 9 out of range 1..8". The declared
 * number of entries is checked against the size of the file before memory is asked for. On error
 * matrix->entries is NULL. */
int io_mtx_read(const char *path, io_matrix *matrix, io_error *err);

/* The same for text in memory; `name` stands for the file in messages. */
int io_mtx_parse(const char *name, const char *text, size_t size, io_matrix *matrix, io_error *err);

/* Reads a symmetric matrix of n rows straight into one triangle (f8), without a list of entries. A
 * general file will do if what it holds is symmetric. IO_E_SIZE, and the bytes it needs, if that is
 * more than `limit`. On error array->data is NULL. */
int io_mtx_read_triangle(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                         io_array *array, io_error *err);
int io_mtx_parse_triangle(const char *name, const char *text, size_t size, const io_triangle *t,
                          int64_t limit, int64_t *n, io_array *array, io_error *err);

/* Reads lines "i j value", 1-based, of the lower triangle of a symmetric matrix; % and # begin
 * comments. n rows, or, if n < 0, as many as the largest index. */
int io_triplets_read(const char *path, int64_t n, io_matrix *matrix, io_error *err);
int io_triplets_parse(const char *name, const char *text, size_t size, int64_t n, io_matrix *matrix,
                      io_error *err);

/* Writes the entries as a coordinate file of the same symmetry. */
int io_mtx_write(const char *path, const io_matrix *matrix, io_error *err);
/* Writes the lower triangle of a full (n, n) array, f4 or f8, as an array file. */
int io_mtx_write_symmetric(const char *path, const io_array *array, io_error *err);

/* Releases the entries; harmless on a zeroed or freed matrix. */
void io_matrix_free(io_matrix *matrix);

/* The three diagonals of a square tridiagonal matrix as f8 arrays of shape (n,):
 * dl[i] = A(i,i-1), d[i] = A(i,i), du[i] = A(i,i+1), and dl[0] = du[n-1] = 0. Zeros outside the
 * band are ignored; otherwise IO_E_FORMAT names the first entry (1-based, row by row) outside it.
 * IO_E_SIZE if the three take more than `limit` bytes. On error all three have data == NULL. */
int io_matrix_tridiagonal(const io_matrix *matrix, const char *name, int64_t limit, io_array *dl,
                          io_array *d, io_array *du, io_error *err);

#endif
