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

/* The same of a file that may contain complex numbers. */
int cli_array_read_complex(cli_array *array, const char *path);

/* For the help of --triangle. */
#define CLI_TRIANGLE_RULE                                                                          \
    "The other may contain anything. Without the option, a note names a matrix that is not "       \
    "symmetric: its triangles differ by more than 10 n epsilon of the largest entry. NaN in the "  \
    "other triangle does not count."
/* Whether the n x n matrix that begins with number `from` is not symmetric by this rule. */
bool cli_triangles_differ(const io_array *array, int64_t from, int64_t n, bool upper);

/* Reads one triangle of a symmetric matrix, as io_triangle_read does. A note tells that the triangles of a .npy file
 * differ, unless `given`: the triangle was chosen. */
int cli_triangle_read(const cli *c, const char *path, const io_triangle *t, bool given, int64_t *n,
                      io_array *array);

/* Brings the arrays to one type: f4 is solved in f32, f8 in f64. Integers become f8, with a note;
 * f4 beside anything else is CLI_INPUT, and the message names both files. */
int cli_array_unify(const cli *c, cli_array *const *arrays, int count, shoal_type *type);

/* Makes it f8, with a note if it was not. */
int cli_array_widen(const cli *c, cli_array *array);

/* Reads offsets, int64 of shape (count + 1), of the first axis of `rows`: they begin with 0, do not decrease and end
 * with its length. *longest: the most rows between two. `noun`: what a row is, for the message. */
int cli_array_read_offsets(cli_array *offsets, const char *path, const cli_array *rows,
                           const char *noun, int64_t *longest);

/* CLI_INPUT with both names and both shapes, and `why`: what would have fitted. */
int cli_array_misfit(const cli_array *array, const cli_array *other, const char *why);

/* Memory for an array, zeroed. CLI_OK or an exit code, its message printed. */
int cli_array_create(io_type type, int ndim, const int64_t *shape, io_array *array);

/* Writes a .npy file, or a .csv file by its name, unless the path is NULL. */
#define CLI_ARRAY_ENDS "|npy|csv" /* .ends of the option */
int cli_array_write(const char *path, const io_array *array);
/* The same of numbers that are in no io_array. */
int cli_numbers_write(const char *path, io_type type, int ndim, const int64_t *shape, void *data);

io_type cli_io_type(shoal_type type);

/* The function of that name for the type; functions for float end in f. */
#define CLI_BY_TYPE(type, function, ...)                                                           \
    ((type) == SHOAL_F32 ? function##f(__VA_ARGS__) : function(__VA_ARGS__))

/* Puts a number into an array of the type. */
void cli_put_number(shoal_type type, void *array, int64_t at, double value);

/* An array of a call of the library. Without `from` and `to` it has no memory. */
typedef struct cli_place {
    const void *from; /* host memory that is copied to it, or NULL   */
    void *to;         /* host memory that it is copied to, or NULL   */
    size_t bytes;
    void *at; /* in the context's memory */
} cli_place;

/* Systems first .. first + count - 1 of an array that contains all `systems`; data NULL: no memory. */
cli_place cli_place_from(const io_array *array, int64_t systems, int64_t first, int64_t count);
cli_place cli_place_to(const io_array *array, int64_t systems, int64_t first, int64_t count);

/* Memory for all of them, with what is copied to it; what is copied from it; the end of that memory. */
shoal_status cli_places_begin(cli *c, cli_place *places, int count);
shoal_status cli_places_copy(cli *c, const cli_place *places, int count);
void cli_places_end(cli *c, cli_place *places, int count);

#endif
