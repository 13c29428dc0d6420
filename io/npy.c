/* SPDX-License-Identifier: Apache-2.0
 *
 * npy.c - NumPy .npy files.
 *
 *     bytes 0..5    0x93 "NUMPY"
 *     bytes 6, 7    version, major and minor
 *     then          length of the header: 2 bytes (version 1) or 4 (versions 2, 3), little endian
 *     then          a Python dictionary,
 *                       { 'descr': '<f8', 'fortran_order': False, 'shape': (3, 4) },
 *                   padded with spaces to a multiple of 64 bytes from the start of the file
 *     then          the elements
 *
 * Limits: 8 dimensions, a header of 1 MiB. Cost: one pass over the data, a second one for
 * big-endian or Fortran-ordered files (the latter with a second buffer of the same size).
 */
#include "npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_SIZE  6
#define START_SIZE  12        /* longest start: magic, version, 4-byte length */
#define HEADER_SIZE (1 << 20) /* longest header accepted                      */

typedef struct layout { /* what a header contains */
    io_type type;
    bool swap, fortran; /* the other byte order; the first index runs fastest */
    int ndim;
    int64_t shape[IO_MAX_DIM];
} layout;

typedef struct cursor { /* the header text, as far as it is read */
    const char *at, *end;
} cursor;

static bool host_is_little(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r'))) c->at++;
}

/* True, and past it, if the next character (after space) is `wanted`. */
static bool take(cursor *c, char wanted) {
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word) {
    skip_space(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

/* A Python string without escapes, in single or double quotes. */
static bool take_string(cursor *c, const char **text, size_t *length) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char quote = *c->at++;
    *text = c->at;
    while (c->at < c->end && *c->at != quote && *c->at != '\\') c->at++;
    if (c->at == c->end || *c->at != quote) return false;
    *length = (size_t)(c->at++ - *text);
    return true;
}

/* Types up to `last` are read. */
static int parse_descr(cursor *c, const char *name, io_type last, layout *to, io_error *err) {
    const char *text;
    size_t length;
    char quoted[IO_QUOTE_SIZE];
    skip_space(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '('))
        return io_fail(err, IO_E_FORMAT, "%s: structured element types are not supported", name);
    if (!take_string(c, &text, &length))
        return io_fail(err, IO_E_FORMAT, "%s: header: 'descr' is not a string", name);
    if (length == 2 && text[1] == 'O')
        return io_fail(err, IO_E_FORMAT, "%s: arrays of Python objects are not supported", name);
    if (length >= 3 && (text[0] == '<' || text[0] == '>' || text[0] == '=')) {
        for (int type = IO_F4; type <= (int)last; type++) {
            const char *known = io_type_name((io_type)type);
            if (strlen(known) != length - 1 || memcmp(text + 1, known, length - 1) != 0) continue;
            to->type = (io_type)type;
            to->swap = text[0] == (host_is_little() ? '>' : '<');
            return IO_OK;
        }
    }
    return io_fail(err, IO_E_FORMAT,
                   "%s: element type '%s' is not supported; supported are f4, f8, i4, u4, i8, u8%s",
                   name, io_quote(text, length, quoted), last > IO_U8 ? ", c8, c16" : "");
}

static int parse_shape(cursor *c, const char *name, layout *to, io_error *err) {
    bool comma = true; /* "(3)" is a number in Python, not a tuple */
    if (!take(c, '(')) return io_fail(err, IO_E_FORMAT, "%s: header: 'shape' is not a tuple", name);
    to->ndim = 0;
    while (!take(c, ')')) {
        if (!comma) return io_fail(err, IO_E_FORMAT, "%s: header: bad 'shape'", name);
        skip_space(c);
        const char *start = c->at;
        if (c->at < c->end && (*c->at == '-' || *c->at == '+')) c->at++;
        while (c->at < c->end && *c->at >= '0' && *c->at <= '9') c->at++;
        size_t length = (size_t)(c->at - start);
        if (length == 0 || start[length - 1] == '-' || start[length - 1] == '+')
            return io_fail(err, IO_E_FORMAT, "%s: header: bad 'shape'", name);
        if (to->ndim == IO_MAX_DIM)
            return io_fail(err, IO_E_SIZE, "%s: more than %d dimensions", name, IO_MAX_DIM);
        int64_t extent;
        char quoted[IO_QUOTE_SIZE];
        if (!io_text_int(start, length, &extent))
            return io_fail(err, IO_E_SIZE, "%s: length %s in the shape is too large", name,
                           io_quote(start, length, quoted));
        if (extent < 0)
            return io_fail(err, IO_E_FORMAT, "%s: negative length %" PRId64 " in the shape", name,
                           extent);
        to->shape[to->ndim++] = extent;
        if (c->at < c->end && *c->at == 'L') c->at++; /* written by Python 2 */
        comma = take(c, ',');
    }
    if (to->ndim == 1 && !comma)
        return io_fail(err, IO_E_FORMAT, "%s: header: 'shape' is not a tuple", name);
    return IO_OK;
}

static int parse_header(const char *name, const char *text, size_t size, io_type last, layout *to,
                        io_error *err) {
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    bool seen[3] = { false, false, false };
    cursor c = { text, text + size };
    memset(to, 0, sizeof *to);
    if (!take(&c, '{')) return io_fail(err, IO_E_FORMAT, "%s: header is not a dictionary", name);
    for (bool comma = true; !take(&c, '}'); comma = take(&c, ',')) {
        const char *key;
        size_t length;
        char quoted[IO_QUOTE_SIZE];
        int which = 0;
        if (!comma || !take_string(&c, &key, &length) || !take(&c, ':'))
            return io_fail(err, IO_E_FORMAT, "%s: header is not a dictionary", name);
        while (which < 3 && (strlen(keys[which]) != length || memcmp(keys[which], key, length)))
            which++;
        if (which == 3)
            return io_fail(err, IO_E_FORMAT, "%s: header: unknown key '%s'", name,
                           io_quote(key, length, quoted));
        if (seen[which])
            return io_fail(err, IO_E_FORMAT, "%s: header: key '%s' twice", name, keys[which]);
        seen[which] = true;

        int status = IO_OK;
        if (which == 0)
            status = parse_descr(&c, name, last, to, err);
        else if (which == 2)
            status = parse_shape(&c, name, to, err);
        else if (take_word(&c, "True"))
            to->fortran = true;
        else if (!take_word(&c, "False"))
            status = io_fail(err, IO_E_FORMAT, "%s: header: bad 'fortran_order'", name);
        if (status != IO_OK) return status;
    }
    skip_space(&c);
    if (c.at != c.end) return io_fail(err, IO_E_FORMAT, "%s: text after the header", name);
    for (int k = 0; k < 3; k++)
        if (!seen[k]) return io_fail(err, IO_E_FORMAT, "%s: header has no key '%s'", name, keys[k]);
    return IO_OK;
}

/* Where the header text lies. `have` bytes of a file of `size` bytes are at hand (have >= 12 or all
 * of it). */
static int find_header(const char *name, const char *bytes, size_t have, int64_t size,
                       size_t *start, size_t *length, io_error *err) {
    const unsigned char *u = (const unsigned char *)bytes;
    if (size == 0) return io_fail(err, IO_E_FORMAT, "%s: file is empty", name);
    if (have < MAGIC_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
        return io_fail(err, IO_E_FORMAT, "%s: not a NumPy .npy file", name);
    if (have >= 8 && (u[6] < 1 || u[6] > 3 || u[7] != 0))
        return io_fail(err, IO_E_FORMAT, "%s: .npy version %d.%d is not supported", name, u[6],
                       u[7]);
    *start = have >= 8 && u[6] > 1 ? 12 : 10;
    if (have < *start) return io_fail(err, IO_E_SIZE, "%s: file ends inside its header", name);
    uint32_t stated = u[8] | (uint32_t)u[9] << 8;
    if (*start == 12) stated |= (uint32_t)u[10] << 16 | (uint32_t)u[11] << 24;
    if ((int64_t)stated > size - (int64_t)*start)
        return io_fail(err, IO_E_SIZE,
                       "%s: the header should have %" PRIu32 " bytes, the file has %" PRId64, name,
                       stated, size - (int64_t)*start);
    if (stated > HEADER_SIZE)
        return io_fail(err, IO_E_SIZE, "%s: header of %" PRIu32 " bytes is too long", name, stated);
    *length = stated;
    return IO_OK;
}

/* Checks the promised size against the `left` bytes after the header. */
static int check_size(const char *name, const layout *header, int64_t left, int64_t *bytes,
                      io_error *err) {
    int64_t count;
    char text[200];
    if (io_shape_bytes(header->type, header->ndim, header->shape, &count, bytes) != IO_OK)
        return io_fail(err, IO_E_SIZE, "%s: shape %s of %s overflows", name,
                       io_shape_text(header->ndim, header->shape, text, sizeof text),
                       io_type_name(header->type));
    if (*bytes > left)
        return io_fail(err, IO_E_SIZE,
                       "%s: the header declares %" PRId64 " bytes of data, the file has %" PRId64,
                       name, *bytes, left);
    return IO_OK;
}

/* Turns the bytes of each of `count` numbers around. */
static void swap_bytes(void *numbers, int64_t count, size_t width) {
    unsigned char *data = numbers;
    for (int64_t i = 0; i < count; i++, data += width) {
        for (size_t low = 0, high = width - 1; low < high; low++, high--) {
            unsigned char kept = data[low];
            data[low] = data[high];
            data[high] = kept;
        }
    }
}

/* to[i0, i1, ...] in C order from `from` in Fortran order: index k has stride s0 s1 ... s(k-1). */
static void reorder(const layout *header, const unsigned char *from, unsigned char *to,
                    int64_t count) {
    size_t width = io_type_size(header->type);
    int64_t index[IO_MAX_DIM] = { 0 }, stride[IO_MAX_DIM], offset = 0;
    for (int k = 0; k < header->ndim; k++) stride[k] = k ? stride[k - 1] * header->shape[k - 1] : 1;
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * width, from + (size_t)offset * width, width);
        for (int k = header->ndim - 1; k >= 0; k--) { /* the last index runs fastest */
            offset += stride[k];
            if (++index[k] < header->shape[k]) break;
            offset -= stride[k] * header->shape[k];
            index[k] = 0;
        }
    }
}

/* Turns the elements as they stood in the file (`data`, owned from here on) into *array. */
static int finish(const char *name, const layout *header, void *data, int64_t bytes,
                  io_array *array, io_error *err) {
    size_t width = io_type_size(header->type);
    int64_t count = bytes / (int64_t)width;
    const int parts = header->type >= IO_C8 ? 2 : 1; /* of a number */
    if (header->swap) swap_bytes(data, count * parts, width / (size_t)parts);
    if (header->fortran && header->ndim > 1 && count > 1) {
        void *ordered = malloc((size_t)bytes);
        if (ordered) reorder(header, data, ordered, count);
        free(data);
        if (!ordered)
            return io_fail(err, IO_E_MEMORY, "%s: no memory for %" PRId64 " bytes", name, bytes);
        data = ordered;
    }
    array->type = header->type;
    array->ndim = header->ndim;
    memcpy(array->shape, header->shape, sizeof array->shape);
    array->data = data;
    return IO_OK;
}

/* An open file of `size` bytes that can be sought in. */
typedef struct input {
    FILE *file;
    int64_t size;
    char *image; /* what was a pipe, or NULL */
} input;

static int open_image(const char *name, const void *bytes, size_t size, input *in, io_error *err) {
    if (size == 0) return io_fail(err, IO_E_FORMAT, "%s: file is empty", name);
    in->size = (int64_t)size;
    in->file = fmemopen((void *)(uintptr_t)bytes, size, "r");
    return in->file ? IO_OK : io_fail(err, IO_E_MEMORY, "%s: out of memory", name);
}

static void close_input(input *in) {
    if (in->file) fclose(in->file);
    free(in->image);
}

/* A pipe is read to its end first. To be closed in either case. */
static int open_input(const char *path, int64_t limit, input *in, io_error *err) {
    *in = (input){ NULL, -1, NULL };
    int status = io_file_open(path, &in->file, &in->size, err);
    if (status != IO_OK || in->size >= 0) return status;
    size_t size;
    status = io_file_slurp(in->file, path, 0, limit, &in->image, &size, err);
    fclose(in->file);
    in->file = NULL;
    return status == IO_OK ? open_image(path, in->image, size, in, err) : status;
}

/* Reads the header and leaves the stream at the first element. That the file contains all *bytes of
 * them has been checked. */
static int begin(const input *in, const char *name, io_type last, layout *header, int64_t *bytes,
                 io_error *err) {
    char first[START_SIZE];
    size_t start = 0, length = 0, have = fread(first, 1, sizeof first, in->file);
    int status = find_header(name, first, have, in->size, &start, &length, err);
    if (status != IO_OK) return status;
    char *text = malloc(length + 1);
    if (!text) return io_fail(err, IO_E_MEMORY, "%s: no memory for its header", name);
    if (fseek(in->file, (long)start, SEEK_SET) != 0 || fread(text, 1, length, in->file) != length)
        status = io_fail(err, IO_E_SIZE, "%s: file ends inside its header", name);
    else
        status = parse_header(name, text, length, last, header, err);
    free(text);
    if (status != IO_OK) return status;
    return check_size(name, header, in->size - (int64_t)(start + length), bytes, err);
}

static int read_array(const input *in, const char *name, io_type last, io_array *array,
                      io_error *err) {
    layout header;
    int64_t bytes = 0;
    int status = begin(in, name, last, &header, &bytes, err);
    if (status != IO_OK) return status;
    void *data = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (!data) return io_fail(err, IO_E_MEMORY, "%s: no memory for %" PRId64 " bytes", name, bytes);
    size_t got;
    status = io_read(in->file, data, (size_t)bytes, &got, err);
    if (status != IO_OK) {
        free(data);
        return status;
    }
    if (got != (size_t)bytes) { /* cut short since its size was asked, or a read error */
        free(data);
        return io_fail(err, ferror(in->file) ? IO_E_OPEN : IO_E_SIZE,
                       "%s: the header declares %" PRId64 " bytes of data, only %zu could be read",
                       name, bytes, got);
    }
    return finish(name, &header, data, bytes, array, err);
}

int io_npy_parse(const char *name, const void *bytes, size_t size, io_array *array, io_error *err) {
    input in = { NULL, 0, NULL };
    memset(array, 0, sizeof *array);
    int status = open_image(name, bytes, size, &in, err);
    if (status == IO_OK) status = read_array(&in, name, IO_U8, array, err);
    close_input(&in);
    return status;
}

static int read_file(const char *path, io_type last, io_array *array, io_error *err) {
    input in;
    memset(array, 0, sizeof *array);
    int status = open_input(path, INT64_MAX, &in, err);
    if (status == IO_OK) status = read_array(&in, path, last, array, err);
    close_input(&in);
    return status;
}

int io_npy_read(const char *path, io_array *array, io_error *err) {
    return read_file(path, IO_U8, array, err);
}

int io_npy_read_complex(const char *path, io_array *array, io_error *err) {
    return read_file(path, IO_C16, array, err);
}

/* ---- one triangle -----------------------------------------------------------------------------
 *
 * A line of the file is what is contiguous there: a row, of a Fortran-ordered file a column, of a
 * packed file a row of the triangle. Of each line the part inside the triangle is read, n calls of
 * fread, n(n+1)/2 numbers, through a buffer of one line. A pipe is read to its end first. */

/* n of a square shape, or of the rows of a triangle. */
static int find_order(const char *name, int ndim, const int64_t *shape, int64_t *n, io_error *err) {
    char text[200];
    if (ndim == 2 && shape[0] == shape[1]) {
        *n = shape[0];
        return IO_OK;
    }
    if (ndim == 1) { /* numbers that are on disk: far below 2^62 */
        *n = (int64_t)((sqrt(8.0 * (double)shape[0] + 1) - 1) / 2 + 0.5);
        if (*n * (*n + 1) / 2 == shape[0]) return IO_OK;
    }
    return io_fail(err, IO_E_FORMAT,
                   "%s has shape %s; expected (n, n), or (n(n+1)/2,) for one triangle", name,
                   io_shape_text(ndim, shape, text, sizeof text));
}

static void store(io_array *array, int64_t at, double value) {
    if (array->type == IO_F4)
        ((float *)array->data)[at] = (float)value;
    else
        ((double *)array->data)[at] = value;
}

static int read_lines(FILE *file, const char *name, const layout *header, const io_triangle *t,
                      int64_t n, io_array *array, io_error *err) {
    const size_t width = io_type_size(header->type);
    const bool packed = header->ndim == 1, columns = header->fortran && !packed;
    const bool begins = t->upper != columns;  /* lines begin on the diagonal; else they end there */
    io_array line = { .type = header->type }; /* a list: io_array_get() needs no shape */
    line.data = malloc((size_t)(n > 0 ? n : 1) * width);
    if (!line.data) return io_fail(err, IO_E_MEMORY, "%s: no memory for a row", name);
    int status = IO_OK;
    for (int64_t k = 0; k < n && status == IO_OK; k++) {
        const int64_t first = begins ? k : 0, count = begins ? n - k : k + 1;
        const int64_t before = packed ? 0 : first, after = packed ? 0 : n - first - count;
        if ((before > 0 && fseek(file, (long)(before * (int64_t)width), SEEK_CUR) != 0) ||
            fread(line.data, width, (size_t)count, file) != (size_t)count ||
            (after > 0 && fseek(file, (long)(after * (int64_t)width), SEEK_CUR) != 0))
            status = io_fail(err, IO_E_OPEN, "%s: row %" PRId64 " cannot be read", name, k);
        else
            status = io_step(err, "read", k + 1, n);
        if (header->swap) swap_bytes(line.data, count, width);
        for (int64_t i = 0; i < count && status == IO_OK; i++)
            store(array,
                  columns ? io_triangle_at(t, n, first + i, k) : io_triangle_at(t, n, k, first + i),
                  io_array_get(&line, i));
    }
    free(line.data);
    return status;
}

int io_npy_read_triangle(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                         io_array *array, io_error *err) {
    input in;
    int64_t bytes = 0;
    layout header;
    memset(array, 0, sizeof *array);
    int status = open_input(path, limit, &in, err);
    if (status == IO_OK) status = begin(&in, path, IO_U8, &header, &bytes, err);
    if (status == IO_OK) status = find_order(path, header.ndim, header.shape, n, err);
    if (status == IO_OK)
        status = io_triangle_create(t, header.type == IO_F4 ? IO_F4 : IO_F8, *n, path, limit, array,
                                    err);
    if (status == IO_OK) status = read_lines(in.file, path, &header, t, *n, array, err);
    if (status != IO_OK) io_array_free(array);
    close_input(&in);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

int io_npy_header(FILE *file, const char *name, io_type type, int ndim, const int64_t *shape,
                  io_error *err) {
    int64_t count, bytes;
    char extents[200], text[384];
    io_shape_text(ndim, shape, extents, sizeof extents);
    if (io_shape_bytes(type, ndim, shape, &count, &bytes) != IO_OK)
        return io_fail(err, IO_E_SIZE, "%s: shape %s is not possible", name, extents);
    memcpy(text, MAGIC "\x01\x00", 8);
    int used = 10 + snprintf(text + 10, sizeof text - 10,
                             "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                             host_is_little() ? '<' : '>', io_type_name(type), extents);
    int total = (used + 1 + 63) / 64 * 64;
    memset(text + used, ' ', (size_t)(total - used));
    text[total - 1] = '\n';
    text[8] = (char)((total - 10) & 255);
    text[9] = (char)((total - 10) >> 8);
    if (fwrite(text, 1, (size_t)total, file) != (size_t)total)
        return io_fail(err, IO_E_WRITE, "%s: cannot write the header", name);
    return IO_OK;
}

int io_npy_write(const char *path, const io_array *array, io_error *err) {
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    status = io_npy_header(io_out_file(out), path, array->type, array->ndim, array->shape, err);
    if (status == IO_OK)
        status = io_write(io_out_file(out), array->data,
                          io_type_size(array->type) * (size_t)io_array_count(array), err);
    return io_out_end(out, status, err); /* reports what fwrite could not do */
}
