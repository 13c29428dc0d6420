/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - reading arrays that have to fit together, and what to say when they do not.
 */
#include "arrays.h"

#include <float.h>
#include <math.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/npy.h"

int cli_array_read(cli_array *array, const char *path) {
    io_error err;
    array->path = path;
    if (cli_interrupted()) return CLI_INTERRUPTED; /* the file may be a pipe: no end to wait for */
    return cli_io(io_npy_read(path, &array->a, &err), &err);
}

int cli_array_read_complex(cli_array *array, const char *path) {
    io_error err;
    array->path = path;
    if (cli_interrupted()) return CLI_INTERRUPTED;
    return cli_io(io_npy_read_complex(path, &array->a, &err), &err);
}

bool cli_triangles_differ(const io_array *array, int64_t from, int64_t n, bool upper) {
    const double epsilon = array->type == IO_F4 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0; /* fmax: NaN does not count */
    for (int64_t i = from; i < from + n * n && !cli_interrupted(); i++)
        largest = fmax(largest, fabs(io_array_get(array, i)));
    for (int64_t i = 1; i < n && !cli_interrupted(); i++)
        for (int64_t j = 0; j < i; j++) {
            const double below = io_array_get(array, from + i * n + j);
            const double above = io_array_get(array, from + j * n + i);
            const bool near = fabs(below - above) <= 10 * (double)n * epsilon * largest;
            if (!near && below != above && !isnan(upper ? below : above)) return true;
        }
    return false;
}

/* Of a .npy file that can be read once more, and fits into memory as a whole. */
static void note_triangles(const cli *c, const char *path, bool upper) {
    struct stat file;
    io_array whole;
    if (cli_ends_in(path, ".mtx") || cli_ends_in(path, ".h5") || stat(path, &file) != 0 ||
        !S_ISREG(file.st_mode) || file.st_size > io_memory_bytes() / 4 ||
        io_npy_read(path, &whole, NULL) != IO_OK)
        return;
    if (whole.ndim == 2 && cli_triangles_differ(&whole, 0, whole.shape[0], upper))
        cli_note(c, "%s: not symmetric; the %s triangle is read (--triangle)", path,
                 upper ? "upper" : "lower");
    io_array_free(&whole);
}

int cli_triangle_read(const cli *c, const char *path, const io_triangle *t, bool given, int64_t *n,
                      io_array *array) {
    io_error err;
    if (cli_interrupted()) return CLI_INTERRUPTED;
    const io_status status = io_triangle_read(path, t, io_memory_bytes(), n, array, &err);
    if (status == IO_E_FORMAT && !cli_ends_in(path, ".npy") && !cli_ends_in(path, ".mtx"))
        return cli_fail(CLI_INPUT, "%s; expected a .npy, .mtx or .h5 file", err.text);
    const int code = cli_io(status, &err);
    if (code == CLI_OK && !given && !c->quiet) note_triangles(c, path, t->upper);
    return code == CLI_OK && cli_interrupted() ? CLI_INTERRUPTED : code;
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
        return cli_fail(
            CLI_INPUT, "%s contains %s, but %s contains %s: all must be f4, or all f8%s",
            single->path, io_type_name(single->a.type), other->path, io_type_name(other->a.type),
            is_float(other->a.type) ? "" : " (integers count as f8)");
    for (int i = 0; i < count; i++) {
        if (is_float(arrays[i]->a.type)) continue;
        int code = cli_array_widen(c, arrays[i]);
        if (code != CLI_OK) return code;
    }
    *type = single ? SHOAL_F32 : SHOAL_F64;
    return CLI_OK;
}

int cli_array_read_offsets(cli_array *offsets, const char *path, const cli_array *rows,
                           const char *noun, int64_t *longest) {
    const int code = cli_array_read(offsets, path);
    if (code != CLI_OK) return code;
    const io_array *a = &offsets->a;
    char text[96];
    if (a->type != IO_I8 || a->ndim != 1 || a->shape[0] < 1)
        return cli_fail(CLI_INPUT, "%s: offsets are int64, count + 1 numbers; this file has %s %s",
                        path, io_type_name(a->type),
                        io_shape_text(a->ndim, a->shape, text, sizeof text));
    const int64_t *at = a->data, count = a->shape[0] - 1;
    *longest = 0;
    for (int64_t k = 0; k <= count; k++) {
        if (k == 0 ? at[0] != 0 : at[k] < at[k - 1])
            return cli_fail(CLI_INPUT,
                            "%s: offset %lld is %lld; offsets begin with 0 and do not decrease",
                            path, (long long)k, (long long)at[k]);
        if (k > 0 && at[k] - at[k - 1] > *longest) *longest = at[k] - at[k - 1];
    }
    if (at[count] == rows->a.shape[0]) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s: the last offset is %lld, but %s has %lld %s", path,
                    (long long)at[count], rows->path, (long long)rows->a.shape[0], noun);
}

int cli_array_misfit(const cli_array *array, const cli_array *other, const char *why) {
    char shape[96], other_shape[96];
    return cli_fail(CLI_INPUT, "%s has shape %s, but %s has shape %s: %s", array->path,
                    io_shape_text(array->a.ndim, array->a.shape, shape, sizeof shape), other->path,
                    io_shape_text(other->a.ndim, other->a.shape, other_shape, sizeof other_shape),
                    why);
}

int cli_array_create(io_type type, int ndim, const int64_t *shape, io_array *array) {
    io_error err;
    return cli_io(io_array_create(type, ndim, shape, array, &err), &err);
}

/* One line per last axis, so that a batch has a line per system; of one axis, a line per number. */
static int write_csv(const char *path, const io_array *array) {
    io_out *out;
    io_error err;
    const int64_t last = array->ndim > 1 ? array->shape[array->ndim - 1] : 1;
    const int64_t count = io_array_count(array);
    char text[32];
    int code = cli_io(io_out_open(path, &out, &err), &err);
    if (code != CLI_OK) return code;
    int status = IO_OK;
    for (int64_t i = 0; i < count && status == IO_OK; i++) {
        const double x = io_array_get(array, i);
        if (array->type == IO_F4)
            io_float_text((float)x, text);
        else if (array->type == IO_I8)
            snprintf(text, sizeof text, "%lld", (long long)((const int64_t *)array->data)[i]);
        else if (array->type == IO_U8)
            snprintf(text, sizeof text, "%llu",
                     (unsigned long long)((const uint64_t *)array->data)[i]);
        else
            io_real_text(x, text);
        fprintf(io_out_file(out), "%s%c", text, (i + 1) % last ? ',' : '\n');
        status = io_step_line(&err, "write", i + 1, count);
    }
    return cli_io(io_out_end(out, status, &err), &err);
}

int cli_array_write(const char *path, const io_array *array) {
    io_error err;
    if (path && cli_ends_in(path, ".csv")) return write_csv(path, array);
    return path ? cli_io(io_npy_write(path, array, &err), &err) : CLI_OK;
}

int cli_numbers_write(const char *path, io_type type, int ndim, const int64_t *shape, void *data) {
    io_array array = { .type = type, .ndim = ndim, .data = data };
    for (int k = 0; k < ndim; k++) array.shape[k] = shape[k];
    return cli_array_write(path, &array);
}

io_type cli_io_type(shoal_type type) { return type == SHOAL_F32 ? IO_F4 : IO_F8; }

void cli_put_number(shoal_type type, void *array, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* ---- arrays of a call ------------------------------------------------------------------------- */

cli_place cli_place_to(const io_array *array, int64_t systems, int64_t first, int64_t count) {
    if (!array->data) return (cli_place){ 0 };
    const size_t all = (size_t)io_array_count(array) * io_type_size(array->type);
    const size_t one = systems > 0 ? all / (size_t)systems : 0;
    return (cli_place){ .to = (char *)array->data + (size_t)first * one,
                        .bytes = count == systems ? all : (size_t)count * one };
}

cli_place cli_place_from(const io_array *array, int64_t systems, int64_t first, int64_t count) {
    const cli_place place = cli_place_to(array, systems, first, count);
    return (cli_place){ .from = place.to, .bytes = place.bytes };
}

/* In pieces, so that Ctrl-C ends it. */
static shoal_status copy(cli *c, void *to, const void *from, size_t bytes) {
    const size_t most = (size_t)1 << 25;
    shoal_status s = SHOAL_OK;
    for (size_t at = 0; at < bytes && s == SHOAL_OK; at += most)
        s = cli_interrupted() ? SHOAL_E_CANCELLED
                              : shoal_copy(c->ctx, (char *)to + at, (const char *)from + at,
                                           bytes - at < most ? bytes - at : most);
    return s;
}

shoal_status cli_places_begin(cli *c, cli_place *places, int count) {
    shoal_status s = SHOAL_OK;
    for (int i = 0; i < count && s == SHOAL_OK; i++)
        if (places[i].from || places[i].to) s = shoal_alloc(c->ctx, places[i].bytes, &places[i].at);
    for (int i = 0; i < count && s == SHOAL_OK; i++)
        if (places[i].from) s = copy(c, places[i].at, places[i].from, places[i].bytes);
    return s;
}

shoal_status cli_places_copy(cli *c, const cli_place *places, int count) {
    shoal_status s = SHOAL_OK;
    for (int i = 0; i < count && s == SHOAL_OK; i++)
        if (places[i].to && places[i].bytes > 0)
            s = copy(c, places[i].to, places[i].at, places[i].bytes);
    return s;
}

void cli_places_end(cli *c, cli_place *places, int count) {
    for (int i = 0; i < count; i++) shoal_free(c->ctx, places[i].at);
}
