/* SPDX-License-Identifier: Apache-2.0
 *
 * npz.c - zip archives of .npy files (PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16): members that
 * are stored as they are, each after a local header, then the directory and its end. Little endian. Every
 * date is 1 January 1980, so that the same arrays make the same bytes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32.h"
#include "file.h"
#include "npy.h"

enum { MEMBERS = 64, NAME = 64, LOCAL = 30, ENTRY = 46, END = 22 };
enum { DATE = 1 << 5 | 1 }; /* month 1, day 1 of 1980 */
#define MAX_BYTES ((size_t)1 << 31)

typedef struct member {
    char name[NAME + 4];
    uint32_t crc, size, at;
} member;

struct io_npz {
    io_out *out;
    int count, status; /* of the first error */
    size_t at;
    io_error err;
    member members[MEMBERS];
};

static unsigned char *put(unsigned char *at, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

int io_npz_open(const char *path, io_npz **npz, io_error *err) {
    io_npz *z = calloc(1, sizeof *z);
    *npz = NULL;
    if (!z) return io_fail(err, IO_E_MEMORY, "%s: out of memory", path);
    const int status = io_out_open(path, &z->out, err);
    if (status != IO_OK) {
        free(z);
        return status;
    }
    *npz = z;
    return IO_OK;
}

/* Fields that local headers and entries of the directory share: version, flags, method, time, date,
 * checksum, both sizes, lengths of the name and of what is extra; each with its bytes. */
static unsigned char *put_member(unsigned char *at, const member *m) {
    const uint32_t fields[][2] = { { 20, 2 },      { 0, 2 },       { 0, 2 },
                                   { 0, 2 },       { DATE, 2 },    { m->crc, 4 },
                                   { m->size, 4 }, { m->size, 4 }, { (uint32_t)strlen(m->name), 2 },
                                   { 0, 2 } };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        at = put(at, fields[i][0], (int)fields[i][1]);
    return at;
}

static void add(io_npz *z, const char *name, const char *bytes, size_t size) {
    if (z->status != IO_OK) return;
    const char *path = io_out_path(z->out);
    if (z->count == MEMBERS || strlen(name) >= NAME || z->at + size > MAX_BYTES) {
        z->status = io_fail(&z->err, IO_E_SIZE, "%s: no room for %s", path, name);
        return;
    }
    member *m = &z->members[z->count++];
    snprintf(m->name, sizeof m->name, "%s.npy", name);
    m->crc = shoal_crc32(0, bytes, size), m->size = (uint32_t)size, m->at = (uint32_t)z->at;
    unsigned char head[LOCAL];
    put_member(put(head, 0x04034b50, 4), m);
    FILE *file = io_out_file(z->out);
    fwrite(head, 1, sizeof head, file);
    fwrite(m->name, 1, strlen(m->name), file);
    fwrite(bytes, 1, size, file);
    z->at += sizeof head + strlen(m->name) + size;
}

/* A member made in memory, since its checksum stands before it. */
typedef struct draft {
    FILE *file;
    char *bytes;
    size_t size;
} draft;

static bool begin(io_npz *z, draft *d) {
    *d = (draft){ 0 };
    if (z->status == IO_OK) d->file = open_memstream(&d->bytes, &d->size);
    if (z->status == IO_OK && !d->file)
        z->status = io_fail(&z->err, IO_E_MEMORY, "%s: out of memory", io_out_path(z->out));
    return d->file;
}

/* `whole`: every byte was taken. glibc's ferror does not report a memory stream that could not grow, nor
 * its fclose that the bytes are lost. */
static void finish(io_npz *z, const char *name, draft *d, bool whole) {
    if ((fclose(d->file) != 0 || !d->bytes || !whole) && z->status == IO_OK)
        z->status = io_fail(&z->err, IO_E_MEMORY, "%s: out of memory", io_out_path(z->out));
    add(z, name, d->bytes, d->size);
    free(d->bytes);
}

void io_npz_array(io_npz *z, const char *name, const io_array *array) {
    draft d;
    if (!begin(z, &d)) return;
    z->status = io_npy_header(d.file, name, array->type, array->ndim, array->shape, &z->err);
    const size_t count = (size_t)io_array_count(array);
    const bool whole = z->status == IO_OK &&
                       fwrite(array->data, io_type_size(array->type), count, d.file) == count;
    finish(z, name, &d, whole);
}

void io_npz_strings(io_npz *z, const char *name, const char *const *texts, int64_t count,
                    int width) {
    enum { HEADER = 128, BEFORE = 10 };
    draft d;
    if (!begin(z, &d)) return;
    char text[HEADER];
    snprintf(text, sizeof text, "{'descr': '|S%d', 'fortran_order': False, 'shape': (%lld,), }",
             width, (long long)count);
    bool whole = fwrite("\x93NUMPY\x01\x00", 1, 8, d.file) == 8;
    const unsigned char length[2] = { HEADER - BEFORE, 0 };
    whole = fwrite(length, 1, 2, d.file) == 2 && whole;
    whole = fprintf(d.file, "%-*s\n", HEADER - BEFORE - 1, text) > 0 && whole;
    for (int64_t i = 0; i < count; i++)
        for (int c = 0, more = 1; c < width; c++) {
            more = more && texts[i][c];
            whole = putc(more ? texts[i][c] : 0, d.file) != EOF && whole;
        }
    finish(z, name, &d, whole);
}

int io_npz_close(io_npz *z, io_error *err) {
    int status = z->status;
    if (status != IO_OK) {
        if (err) *err = z->err;
        io_out_abandon(z->out);
        free(z);
        return status;
    }
    FILE *file = io_out_file(z->out);
    size_t bytes = 0;
    for (int i = 0; i < z->count; i++) {
        const member *m = &z->members[i];
        unsigned char entry[ENTRY];
        unsigned char *at = put(entry, 0x02014b50, 4);
        at = put_member(put(at, 20, 2), m);
        for (int zero = 0; zero < 10; zero++) at = put(at, 0, 1); /* comment, disk, attributes */
        put(at, m->at, 4);
        fwrite(entry, 1, sizeof entry, file);
        fwrite(m->name, 1, strlen(m->name), file);
        bytes += sizeof entry + strlen(m->name);
    }
    unsigned char end[END];
    unsigned char *at = put(end, 0x06054b50, 4);
    at = put(put(at, 0, 2), 0, 2);
    at = put(put(at, (uint32_t)z->count, 2), (uint32_t)z->count, 2);
    at = put(put(at, (uint32_t)bytes, 4), (uint32_t)z->at, 4);
    put(at, 0, 2);
    fwrite(end, 1, sizeof end, file);
    status = io_out_commit(z->out, err);
    free(z);
    return status;
}
