/* SPDX-License-Identifier: Apache-2.0
 *
 * hdf5.c - one triangle of a square HDF5 dataset, by hyperslabs, and several arrays into one file.
 *
 * Reading (Kruchinina's thesis, section 3.2, "Hierarchical data format files", Listing 3.3): row i of the triangle
 * is a hyperslab of one row in the file, and goes straight to its place in memory. n calls of H5Dread,
 * n(n+1)/2 numbers, no buffer. Of a dataset in chunks HDF5 reads whole chunks: the cache is made large
 * enough for a row of them, so that each is read once (of chunks as high as the matrix, that is all of
 * it). HDF5's own messages are kept from stderr and the first cause becomes part of ours; its next
 * call forgets it, so that fail() comes before closing.
 */
#define _POSIX_C_SOURCE 200809L /* access, strdup */
#define H5_USE_110_API          /* the names of HDF5 1.10, whatever the library's version */

#include "hdf5.h"

#include <string.h>

#ifndef IO_WITH_HDF5

bool io_h5_available(void) { return false; }

static int no_hdf5(const char *path, int status, io_error *err) {
    return io_fail(err, status, "%s: this program was built without HDF5 (`shoal info')", path);
}

int io_h5_read_triangle(const char *place, const io_triangle *t, int64_t limit, int64_t *n,
                        io_array *array, io_error *err) {
    (void)t, (void)limit, (void)n;
    memset(array, 0, sizeof *array);
    return no_hdf5(place, IO_E_OPEN, err);
}

int io_h5_write(const char *path, const io_h5_item *items, int count, io_error *err) {
    (void)items, (void)count;
    return no_hdf5(path, IO_E_WRITE, err);
}

int io_h5_open_pieces(const char *path, const char *name, int ndim, const int64_t *shape,
                      io_h5_pieces **pieces, io_error *err) {
    (void)name, (void)ndim, (void)shape;
    *pieces = NULL;
    return no_hdf5(path, IO_E_WRITE, err);
}

int io_h5_write_piece(io_h5_pieces *pieces, int64_t first, int64_t count, const double *data,
                      io_error *err) {
    (void)pieces, (void)first, (void)count, (void)data, (void)err;
    return IO_E_WRITE;
}

int io_h5_close_pieces(io_h5_pieces *pieces, int status, io_error *err) {
    (void)pieces, (void)err;
    return status;
}

#else

#include <hdf5.h>
#include <stdlib.h>
#include <unistd.h>

#include "file.h"

bool io_h5_available(void) { return true; }

/* ---- messages --------------------------------------------------------------------------------- */

typedef struct printing { /* how HDF5 printed before */
    H5E_auto2_t print;
    void *data;
} printing;

static printing silence_errors(void) {
    printing old = { NULL, NULL };
    H5Eget_auto2(H5E_DEFAULT, &old.print, &old.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return old;
}

static void restore_errors(printing old) { H5Eset_auto2(H5E_DEFAULT, old.print, old.data); }

static herr_t take_cause(unsigned depth, const H5E_error2_t *entry, void *data) {
    (void)depth;
    snprintf(data, 200, "%s", entry->desc ? entry->desc : "");
    return 1; /* upward from the innermost call: the first is the cause */
}

static int fail(io_error *err, int status, const char *name, const char *what) {
    char cause[200] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
    return io_fail(err, status, "%s: %s%s%s", name, what, *cause ? ": " : "", cause);
}

static hid_t type_of(io_type type) {
    switch (type) {
    case IO_F4: return H5T_NATIVE_FLOAT;
    case IO_F8: return H5T_NATIVE_DOUBLE;
    case IO_I4: return H5T_NATIVE_INT32;
    case IO_U4: return H5T_NATIVE_UINT32;
    case IO_I8: return H5T_NATIVE_INT64;
    default: return H5T_NATIVE_UINT64;
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct source {
    char *name; /* FILE.h5:/dataset, for messages */
    hid_t file, dataset, space;
    bool single; /* numbers are 32-bit floats */
} source;

/* A dataset of two dimensions ends the visit; `data` is where its name goes. */
static herr_t take_matrix(hid_t root, const char *name, const H5O_info_t *info, void *data) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    int found = 0;
    hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    if (space >= 0 && H5Sget_simple_extent_ndims(space) == 2) {
        *(char **)data = strdup(name);
        found = 1;
    }
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    return found;
}

/* Splits FILE:/dataset, unless a file is called that. *dataset is NULL if there is none; both come
 * from malloc. False without memory. */
static bool split_place(const char *place, char **file, char **dataset) {
    const char *colon = access(place, F_OK) == 0 ? NULL : strstr(place, ":/");
    *dataset = NULL;
    *file = strdup(place);
    if (!*file || !colon) return *file != NULL;
    (*file)[colon - place] = '\0';
    *dataset = strdup(colon + 1);
    return *dataset != NULL;
}

enum { MAX_SLOTS = 1000003 }; /* of the hash table, a prime; HDF5 advises 100 per chunk */

/* Chunks of one row of the dataset, and a tenth more. */
static hid_t cache_for_rows(hid_t dataset, hid_t space) {
    hid_t access_list = H5Dget_access_plist(dataset), made = H5Dget_create_plist(dataset);
    hsize_t chunk[2], dims[2];
    if (access_list >= 0 && made >= 0 && H5Pget_layout(made) == H5D_CHUNKED &&
        H5Sget_simple_extent_ndims(space) == 2 && H5Pget_chunk(made, 2, chunk) == 2 &&
        H5Sget_simple_extent_dims(space, dims, NULL) == 2) {
        hid_t type = H5Dget_type(dataset);
        const size_t chunks = (size_t)((dims[1] + chunk[1] - 1) / chunk[1]) + 1;
        const size_t bytes = chunks * (size_t)(chunk[0] * chunk[1]) * H5Tget_size(type);
        const size_t slots = chunks < MAX_SLOTS / 100 ? 100 * chunks + 1 : MAX_SLOTS;
        H5Pset_chunk_cache(access_list, slots, bytes + bytes / 10, 1.0);
        H5Tclose(type);
    }
    if (made >= 0) H5Pclose(made);
    return access_list;
}

/* Opens the dataset once to look at it and once more with the right cache. */
static int open_dataset(source *s, const char *dataset, io_error *err) {
    s->dataset = H5Dopen2(s->file, dataset, H5P_DEFAULT);
    if (s->dataset < 0) return fail(err, IO_E_FORMAT, s->name, "no such dataset");
    s->space = H5Dget_space(s->dataset);
    hid_t cache = cache_for_rows(s->dataset, s->space);
    H5Dclose(s->dataset);
    s->dataset = H5Dopen2(s->file, dataset, cache);
    int status = IO_OK;
    if (s->dataset < 0 || s->space < 0) status = fail(err, IO_E_OPEN, s->name, "cannot read");
    if (cache >= 0) H5Pclose(cache);
    if (status != IO_OK) return status;

    hid_t type = H5Dget_type(s->dataset);
    const H5T_class_t kind = H5Tget_class(type);
    s->single = kind == H5T_FLOAT && H5Tget_size(type) == 4;
    H5Tclose(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
        return io_fail(err, IO_E_FORMAT, "%s: not a dataset of real numbers", s->name);
    return IO_OK;
}

static int open_source(source *s, const char *place, io_error *err) {
    char *path, *dataset = NULL;
    int status = IO_OK;
    if (!split_place(place, &path, &dataset)) {
        free(path);
        return io_fail(err, IO_E_MEMORY, "%s: out of memory", place);
    }
    FILE *file = NULL;
    int64_t size;
    status = io_file_open(path, &file, &size, err); /* has the better message */
    if (status == IO_OK) {
        fclose(file);
        s->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (s->file < 0) status = fail(err, IO_E_FORMAT, path, "not a readable HDF5 file");
    }
    if (status == IO_OK && !dataset &&
        H5Ovisit(s->file, H5_INDEX_NAME, H5_ITER_INC, take_matrix, &dataset) < 0)
        status = fail(err, IO_E_FORMAT, path, "cannot be searched");
    if (status == IO_OK && !dataset)
        status = io_fail(err, IO_E_FORMAT, "%s: contains no dataset of two dimensions", path);
    if (status == IO_OK) {
        const size_t length = strlen(path) + strlen(dataset) + 3;
        s->name = malloc(length);
        if (!s->name)
            status = io_fail(err, IO_E_MEMORY, "%s: out of memory", path);
        else
            snprintf(s->name, length, "%s:%s%s", path, *dataset == '/' ? "" : "/", dataset);
    }
    if (status == IO_OK) status = open_dataset(s, dataset, err);
    free(path);
    free(dataset);
    return status;
}

static void close_source(source *s) {
    if (s->space >= 0) H5Sclose(s->space);
    if (s->dataset >= 0) H5Dclose(s->dataset);
    if (s->file >= 0) H5Fclose(s->file);
    free(s->name);
}

/* Row i of the triangle is columns 0 to i, or i to n - 1. */
static int read_rows(const source *s, const io_triangle *t, int64_t n, io_array *array,
                     io_error *err) {
    int status = IO_OK;
    for (int64_t i = 0; i < n && status == IO_OK; i++) {
        const int64_t column = t->upper ? i : 0;
        const hsize_t start[2] = { (hsize_t)i, (hsize_t)column };
        const hsize_t length[2] = { 1, (hsize_t)(t->upper ? n - i : i + 1) };
        char *to = (char *)array->data +
                   (size_t)io_triangle_at(t, n, i, column) * io_type_size(array->type);
        hid_t memory = H5Screate_simple(1, &length[1], NULL);
        if (memory < 0 ||
            H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, length, NULL) < 0 ||
            H5Dread(s->dataset, type_of(array->type), memory, s->space, H5P_DEFAULT, to) < 0)
            status = fail(err, IO_E_OPEN, s->name, "cannot read");
        else
            status = io_step(err, "read", i + 1, n);
        if (memory >= 0) H5Sclose(memory);
    }
    return status;
}

/* All numbers of a dataset, read or written in bands of its first axis, of about IO_PIECE bytes. */
static int transfer(hid_t dataset, bool written, const io_array *array, const char *name,
                    io_error *err) {
    hsize_t start[IO_MAX_DIM] = { 0 }, length[IO_MAX_DIM] = { 1 };
    const hid_t type = type_of(array->type), space = H5Dget_space(dataset);
    const int64_t rows = array->ndim > 0 ? array->shape[0] : 1, count = io_array_count(array);
    const int64_t each = rows > 0 ? count / rows : 0; /* numbers per row */
    const int64_t most = IO_PIECE / ((each > 0 ? each : 1) * 8) + 1;
    int status = space < 0 ? fail(err, IO_E_OPEN, name, "has no shape") : IO_OK;
    for (int k = 0; k < array->ndim; k++) length[k] = (hsize_t)array->shape[k];
    for (int64_t row = 0; count > 0 && row < rows && status == IO_OK; row += most) {
        const int64_t here = rows - row < most ? rows - row : most;
        const hsize_t numbers = (hsize_t)(here * each);
        void *at = (char *)array->data + (size_t)(row * each) * io_type_size(array->type);
        start[0] = (hsize_t)row, length[0] = (hsize_t)here;
        hid_t memory = H5Screate_simple(1, &numbers, NULL);
        if (memory < 0 ||
            (array->ndim > 0 &&
             H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, length, NULL) < 0) ||
            (written ? H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, at)
                     : H5Dread(dataset, type, memory, space, H5P_DEFAULT, at)) < 0)
            status = fail(err, written ? IO_E_WRITE : IO_E_OPEN, name,
                          written ? "cannot write" : "cannot read");
        else
            status = io_step(err, written ? "write" : "read", row + here, rows);
        if (memory >= 0) H5Sclose(memory);
    }
    if (space >= 0) H5Sclose(space);
    return status;
}

/* Opens a dataset of n rows and n columns; to be closed in either case. */
static int open_square(source *s, const char *place, int64_t *n, io_error *err) {
    *s = (source){ NULL, -1, -1, -1, false };
    const int status = open_source(s, place, err);
    if (status != IO_OK) return status;
    hsize_t dims[H5S_MAX_RANK];
    const int ndim = H5Sget_simple_extent_dims(s->space, dims, NULL);
    if (ndim != 2) return io_fail(err, IO_E_FORMAT, "%s: has %d dimensions, not 2", s->name, ndim);
    if (dims[0] != dims[1])
        return io_fail(err, IO_E_FORMAT, "%s: not square: %llu x %llu", s->name,
                       (unsigned long long)dims[0], (unsigned long long)dims[1]);
    *n = (int64_t)dims[0];
    return IO_OK;
}

int io_h5_read_triangle(const char *place, const io_triangle *t, int64_t limit, int64_t *n,
                        io_array *array, io_error *err) {
    const io_triangle full = { .packed = false };
    const printing old = silence_errors();
    source s;
    memset(array, 0, sizeof *array);
    int status = open_square(&s, place, n, err);
    if (status == IO_OK)
        status = io_triangle_create(t ? t : &full, s.single ? IO_F4 : IO_F8, *n, s.name, limit,
                                    array, err);
    if (status == IO_OK && t) status = read_rows(&s, t, *n, array, err);
    if (status == IO_OK && !t) status = transfer(s.dataset, false, array, s.name, err);
    if (status != IO_OK) io_array_free(array);
    close_source(&s);
    restore_errors(old);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static int write_item(const char *path, hid_t file, hid_t groups, const io_h5_item *item,
                      io_error *err) {
    hsize_t dims[IO_MAX_DIM];
    int status = IO_OK;
    for (int k = 0; k < item->array->ndim; k++) dims[k] = (hsize_t)item->array->shape[k];
    const hid_t type = type_of(item->array->type);
    hid_t space = H5Screate_simple(item->array->ndim, dims, NULL);
    hid_t dataset = H5Dcreate2(file, item->name, type, space, groups, H5P_DEFAULT, H5P_DEFAULT);
    status = dataset < 0 ? fail(err, IO_E_WRITE, path, "cannot write")
                         : transfer(dataset, true, item->array, path, err);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && status == IO_OK)
        status = fail(err, IO_E_WRITE, path, "cannot write");
    if (space >= 0) H5Sclose(space);
    return status;
}

int io_h5_write(const char *path, const io_h5_item *items, int count, io_error *err) {
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    if (!io_out_temporary(out)) {
        io_out_abandon(out);
        return io_fail(err, IO_E_WRITE, "%s: HDF5 can only write plain files", path);
    }
    const printing old = silence_errors();
    hid_t groups = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(groups, 1);
    hid_t file = H5Fcreate(io_out_temporary(out), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) status = fail(err, IO_E_WRITE, path, "cannot write");
    for (int i = 0; i < count && status == IO_OK; i++)
        status = write_item(path, file, groups, &items[i], err);
    if (file >= 0 && H5Fclose(file) < 0 && status == IO_OK)
        status = fail(err, IO_E_WRITE, path, "cannot write");
    H5Pclose(groups);
    restore_errors(old);
    return io_out_end(out, status, err);
}

struct io_h5_pieces {
    io_out *out;
    hid_t file, dataset;
    int ndim;
    hsize_t shape[IO_MAX_DIM];
};

int io_h5_open_pieces(const char *path, const char *name, int ndim, const int64_t *shape,
                      io_h5_pieces **pieces, io_error *err) {
    io_h5_pieces *p = malloc(sizeof *p);
    *pieces = NULL;
    if (!p) return io_fail(err, IO_E_MEMORY, "%s: out of memory", path);
    *p = (io_h5_pieces){ .file = -1, .dataset = -1, .ndim = ndim };
    int status = io_out_open(path, &p->out, err);
    if (status != IO_OK) {
        free(p);
        return status;
    }
    for (int k = 0; k < ndim; k++) p->shape[k] = (hsize_t)shape[k];
    const printing old = silence_errors();
    hid_t space = H5Screate_simple(ndim, p->shape, NULL);
    if (!io_out_temporary(p->out))
        status = io_fail(err, IO_E_WRITE, "%s: HDF5 can only write plain files", path);
    else
        p->file = H5Fcreate(io_out_temporary(p->out), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (p->file >= 0)
        p->dataset = H5Dcreate2(p->file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                                H5P_DEFAULT);
    if (status == IO_OK && p->dataset < 0) status = fail(err, IO_E_WRITE, path, "cannot write");
    if (space >= 0) H5Sclose(space);
    restore_errors(old);
    if (status != IO_OK) return io_h5_close_pieces(p, status, err);
    *pieces = p;
    return IO_OK;
}

int io_h5_write_piece(io_h5_pieces *p, int64_t first, int64_t count, const double *data,
                      io_error *err) {
    hsize_t start[IO_MAX_DIM] = { (hsize_t)first }, size[IO_MAX_DIM];
    int status = IO_OK;
    for (int k = 0; k < p->ndim; k++) size[k] = p->shape[k];
    size[0] = (hsize_t)count;
    const printing old = silence_errors();
    hid_t space = H5Dget_space(p->dataset), memory = H5Screate_simple(p->ndim, size, NULL);
    if (space < 0 || memory < 0 ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
        H5Dwrite(p->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) < 0)
        status = fail(err, IO_E_WRITE, io_out_path(p->out), "cannot write");
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    restore_errors(old);
    return status;
}

int io_h5_close_pieces(io_h5_pieces *p, int status, io_error *err) {
    const printing old = silence_errors();
    const bool closed =
        (p->dataset < 0 || H5Dclose(p->dataset) >= 0) && (p->file < 0 || H5Fclose(p->file) >= 0);
    if (!closed && status == IO_OK)
        status = fail(err, IO_E_WRITE, io_out_path(p->out), "cannot write");
    restore_errors(old);
    io_out *out = p->out;
    free(p);
    return io_out_end(out, status, err);
}

#endif
