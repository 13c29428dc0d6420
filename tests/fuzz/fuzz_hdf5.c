/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_hdf5.c - libFuzzer target: an HDF5 file, of which the triangles and the whole of the first matrix are
 * read, and a dataset by its name. HDF5's own library is not instrumented, and is not what is looked at: a crash
 * inside it is not ours (README.md says how to go on after one).
 *
 * Bytes that begin like an HDF5 file are one. Others are a recipe: which of the files below, made by the
 * program's writer and by HDF5, and how it is read; then changes of it, 4 bytes each: where (2), how, what. So a change of few
 * bytes leaves a file that HDF5 opens, and gets to the sizes, types and chunks that the reader looks at.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#define H5_USE_110_API

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/file.h"
#include "io/hdf5.h"

#define LIMIT (1 << 16) /* bytes of a matrix */

enum { BASES = 6, FORMS = 10, ORDER = 5, EDIT = 4, MAX_EDITS = 64, LARGEST = 1 << 20 };
static struct base {
    char *bytes;
    size_t size;
} base[BASES];

/* ---- files to change --------------------------------------------------------------------------- */

static void take(const char *path, struct base *b) {
    io_error err;
    if (io_file_read(path, LARGEST, &b->bytes, &b->size, &err) != IO_OK) abort();
    unlink(path);
}

/* As the program writes them: two matrices in groups. */
static void write_by_program(const char *path, io_type type) {
    double numbers[ORDER * ORDER];
    io_error err;
    for (int i = 0; i < ORDER * ORDER; i++) numbers[i] = 1;
    const io_array a = { .type = type, .ndim = 2, .shape = { ORDER, ORDER }, .data = numbers };
    const io_array b = { .type = type, .ndim = 1, .shape = { ORDER }, .data = numbers };
    const io_h5_item items[] = { { "/rows/b", &b }, { "/rows/A", &a } };
    if (io_h5_write(path, items, 2, &err) != IO_OK) abort();
}

/* As others may: in chunks, packed, of integers or of floats in the other byte order. */
static void write_by_hdf5(const char *path, hid_t type, int chunk, bool packed) {
    const hsize_t dims[2] = { ORDER, ORDER };
    const hsize_t chunks[2] = { (hsize_t)chunk, (hsize_t)chunk + 1 };
    double numbers[ORDER * ORDER];
    for (int i = 0; i < ORDER * ORDER; i++) numbers[i] = i;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, dims, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk) H5Pset_chunk(made, 2, chunks);
    if (packed && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) H5Pset_deflate(made, 4);
    hid_t dataset = H5Dcreate2(file, "A", type, space, H5P_DEFAULT, made, H5P_DEFAULT);
    if (dataset < 0 ||
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0)
        abort();
    H5Dclose(dataset);
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(file);
}

static void make_bases(void) {
    char folder[] = "/tmp/fuzz_hdf5_XXXXXX", path[64];
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/A.h5", folder);
    write_by_program(path, IO_F8);
    take(path, &base[0]);
    write_by_program(path, IO_F4);
    take(path, &base[1]);
    write_by_hdf5(path, H5T_IEEE_F64BE, 0, false);
    take(path, &base[2]);
    write_by_hdf5(path, H5T_IEEE_F32LE, 2, false);
    take(path, &base[3]);
    write_by_hdf5(path, H5T_STD_I16LE, 3, true);
    take(path, &base[4]);
    write_by_hdf5(path, H5T_STD_U64BE, 2, true);
    take(path, &base[5]);
    rmdir(folder);
}

/* One change: a byte set, added to or with a bit turned; or eight bytes that become a number. */
static void edit(unsigned char *file, size_t size, const uint8_t *e) {
    const size_t at = ((size_t)e[0] | (size_t)e[1] << 8) % size;
    static const uint64_t numbers[] = { 0, 1, 2, ORDER + 1, 1 << 16, 1u << 31, UINT64_MAX / 2 };
    switch (e[2] % 4) {
    case 0: file[at] = e[3]; break;
    case 1: file[at] = (unsigned char)(file[at] + e[3]); break;
    case 2: file[at] ^= (unsigned char)(1 << e[3] % 8); break;
    default:
        for (size_t i = 0; i < 8 && at + i < size; i++)
            file[at + i] =
                (unsigned char)(numbers[e[3] % (sizeof numbers / sizeof *numbers)] >> (8 * i));
    }
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* The first and the last number can be read. */
static void use(const io_array *a) {
    const int64_t count = io_array_count(a);
    if (count < 0 || (uint64_t)count * io_type_size(a->type) > LIMIT) abort();
    volatile double used = count ? io_array_get(a, 0) + io_array_get(a, count - 1) : 0;
    (void)used;
}

/* Forms 0 to 3 are triangles, 4 is the whole, of the first matrix; from 5 on, of the dataset /A. */
static void read_form(const fuzz_file *file, int form) {
    const io_triangle t = { .packed = form % 5 % 2, .upper = form % 5 / 2 % 2 };
    char place[sizeof file->path + 8];
    io_array a;
    io_error err = { .text = "" };
    int64_t n;
    snprintf(place, sizeof place, "%s%s", file->path, form < 5 ? "" : ":/A");
    const int status = io_h5_read_triangle(place, form % 5 < 4 ? &t : NULL, LIMIT, &n, &a, &err);
    if (status != IO_OK && (a.data || !err.text[0])) abort();
    if (status == IO_OK) use(&a);
    io_array_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const unsigned char magic[] = { 0x89, 'H', 'D', 'F' };
    if (!base[0].bytes) make_bases();
    if (size == 0 || (size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0)) {
        fuzz_file file = fuzz_file_of(bytes, size);
        for (int form = 0; form < FORMS && file.fd >= 0; form++) read_form(&file, form);
        fuzz_file_close(&file);
        return 0;
    }
    const struct base *b = &base[bytes[0] % BASES];
    unsigned char *changed = malloc(b->size);
    if (!changed) return 0;
    memcpy(changed, b->bytes, b->size);
    for (size_t at = 1, count = 0; at + EDIT <= size && count < MAX_EDITS; at += EDIT, count++)
        edit(changed, b->size, bytes + at);
    fuzz_file file = fuzz_file_of(changed, b->size);
    if (file.fd >= 0) read_form(&file, bytes[0] / BASES % FORMS);
    fuzz_file_close(&file);
    free(changed);
    return 0;
}
