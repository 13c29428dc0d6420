/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - reading arrays that have to fit together, and what to say when they do not.
 */
#include "arrays.h"

#include "io/npy.h"

int cli_array_read(cli_array *array, const char *path) {
    io_error err;
    array->path = path;
    if (cli_interrupted()) return CLI_INTERRUPTED; /* the file may be a pipe: no end to wait for */
    return cli_io(io_npy_read(path, &array->a, &err), &err);
}

static bool is_float(io_type type) { return type == IO_F4 || type == IO_F8; }

int cli_array_widen(const cli *c, cli_array *array) {
    if (array->a.type == IO_F8) return CLI_OK;
    io_array wide;
    io_error err;
    int status = io_array_create(IO_F8, array->a.ndim, array->a.shape, &wide, &err);
    if (status != IO_OK) return cli_io(status, &err);
    cli_note(c, "%s: %s converted to f8", array->path, io_type_name(array->a.type));
    double *to = wide.data;
    int64_t count = io_array_count(&array->a);
    for (int64_t i = 0; i < count; i++) to[i] = io_array_get(&array->a, i);
    io_array_free(&array->a);
    array->a = wide;
    return CLI_OK;
}

int cli_array_unify(const cli *c, cli_array *const *arrays, int count, shoal_type *type) {
    const cli_array *single = NULL, *other = NULL;
    for (int i = 0; i < count; i++) {
        if (arrays[i]->a.type == IO_F4)
            single = arrays[i];
        else
            other = arrays[i];
    }
    if (single && other)
        return cli_fail(CLI_INPUT, "%s holds %s, but %s holds %s: all must be f4, or all f8%s",
                        single->path, io_type_name(single->a.type), other->path,
                        io_type_name(other->a.type),
                        is_float(other->a.type) ? "" : " (integers are taken as f8)");
    for (int i = 0; i < count; i++) {
        if (is_float(arrays[i]->a.type)) continue;
        int code = cli_array_widen(c, arrays[i]);
        if (code != CLI_OK) return code;
    }
    *type = single ? SHOAL_F32 : SHOAL_F64;
    return CLI_OK;
}

int cli_array_misfit(const cli_array *array, const cli_array *other, const char *why) {
    char shape[96], other_shape[96];
    return cli_fail(CLI_INPUT, "%s has shape %s, but %s has shape %s: %s", array->path,
                    io_shape_text(array->a.ndim, array->a.shape, shape, sizeof shape), other->path,
                    io_shape_text(other->a.ndim, other->a.shape, other_shape, sizeof other_shape),
                    why);
}

int cli_array_write(const char *path, io_type type, int ndim, const int64_t *shape, void *data) {
    io_error err;
    io_array array = { .type = type, .ndim = ndim, .data = data };
    for (int k = 0; k < ndim; k++) array.shape[k] = shape[k];
    return cli_io(io_npy_write(path, &array, &err), &err);
}

io_type cli_io_type(shoal_type type) { return type == SHOAL_F32 ? IO_F4 : IO_F8; }
