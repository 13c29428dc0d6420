/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_hdf5.c - HDF5 files: one triangle in every form against the whole matrix, datasets of other
 * types, layouts and names, what is not a matrix, and writing.
 */
#define _XOPEN_SOURCE 700

#include <math.h>

#include "io/hdf5.h"
#include "test_io.h"

static io_error e;

#ifndef SHOAL_HDF5

TEST(without_the_library_there_is_a_message) {
    const io_triangle t = { .packed = true };
    io_array a;
    int64_t n;
    CHECK(io_h5_read_triangle("A.h5", &t, INT64_MAX, &n, &a, &e) == IO_E_OPEN && !a.data);
    CHECK_MSG(strstr(e.text, "A.h5: ") && strstr(e.text, "without HDF5"), "%s", e.text);
    CHECK(!io_h5_available());
    CHECK(io_h5_read_triangle("A.h5", NULL, INT64_MAX, &n, &a, &e) == IO_E_OPEN && !a.data);
    CHECK(io_h5_write("A.h5", NULL, 0, &e) == IO_E_WRITE && strstr(e.text, "without HDF5"));
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(without_the_library_there_is_a_message);
    printf("note  built without HDF5: its files are not tested\n");
    return TEST_END();
}

#else

#include <hdf5.h>

enum { FORMS = 4 };

static io_triangle form_of(int k) { return (io_triangle){ .packed = k % 2, .upper = k / 2 }; }

/* All of a dataset, without our reader. */
static double *read_whole(const char *path, const char *dataset, int64_t n) {
    double *a = malloc((size_t)(n * n + 1) * sizeof *a);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    CHECK(a && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    return a;
}

/* A value of its own in every place: the matrix is not symmetric, so that a wrong triangle shows. */
static double value_at(int64_t i, int64_t j) { return (double)(100 * i + j + 1); }

/* Adds an n x m dataset to the file, in chunks of that size where it is not 0. */
static void put_dataset(hid_t file, const char *name, hid_t type, int64_t n, int64_t m, int chunk,
                        int packed) {
    hsize_t dims[2] = { (hsize_t)n, (hsize_t)m };
    hsize_t chunks[2] = { (hsize_t)chunk, (hsize_t)chunk + 1 };
    double *a = malloc((size_t)(n * m + 1) * sizeof *a);
    for (int64_t k = 0; k < n * m; k++) a[k] = value_at(k / m, k % m);
    hid_t space = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t groups = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(groups, 1);
    if (chunk) H5Pset_chunk(list, 2, chunks);
    if (packed && H5Zfilter_avail(H5Z_FILTER_DEFLATE)) H5Pset_deflate(list, 4);
    hid_t set = H5Dcreate2(file, name, type, space, groups, list, H5P_DEFAULT);
    CHECK(set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a) >= 0);
    H5Dclose(set);
    H5Pclose(groups);
    H5Pclose(list);
    H5Sclose(space);
    free(a);
}

static hid_t new_file(const char *name) {
    return H5Fcreate(in_dir(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static int read_triangle(const char *place, const io_triangle *t, int64_t *n, io_array *a) {
    e.text[0] = '\0';
    return io_h5_read_triangle(in_dir(place), t, INT64_MAX, n, a, &e);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void check_forms(const char *place, const char *dataset, io_type type, int64_t order) {
    char path[IO_TEST_PATH];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(in_dir(place), ":"), in_dir(place));
    double *whole = read_whole(path, dataset, order);
    for (int k = 0; k < FORMS; k++) {
        const io_triangle t = form_of(k);
        io_array a;
        int64_t n = -1;
        CHECK_MSG(read_triangle(place, &t, &n, &a) == IO_OK, "%s", e.text);
        if (!a.data) continue;
        CHECK(n == order && a.type == type);
        CHECK(io_array_count(&a) == (t.packed ? n * (n + 1) / 2 : n * n));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const bool inside = t.upper ? j >= i : j <= i;
                if (!inside && t.packed) continue;
                const double got = io_array_get(&a, io_triangle_at(&t, n, i, j));
                CHECK_MSG(got == (inside ? whole[i * n + j] : 0), "%s form %d: (%d, %d) %g", place,
                          k, (int)i, (int)j, got);
            }
        io_array_free(&a);
    }
    io_array all;
    int64_t n = -1;
    CHECK_MSG(io_h5_read_triangle(in_dir(place), NULL, INT64_MAX, &n, &all, &e) == IO_OK, "%s",
              e.text);
    CHECK(n == order && all.type == type && io_array_count(&all) == n * n);
    for (int64_t k = 0; all.data && k < n * n; k++) CHECK(io_array_get(&all, k) == whole[k]);
    io_array_free(&all);
    free(whole);
}

TEST(one_triangle_of_a_dataset) {
    const struct {
        const char *name;
        hid_t type;
        io_type read;
        int n, chunk, packed;
    } cases[] = { { "A", H5T_NATIVE_DOUBLE, IO_F8, 17, 0, 0 },
                  { "A", H5T_NATIVE_FLOAT, IO_F4, 17, 0, 0 },
                  { "A", H5T_IEEE_F64BE, IO_F8, 5, 0, 0 },
                  { "A", H5T_IEEE_F32BE, IO_F4, 5, 0, 0 },
                  { "A", H5T_NATIVE_INT, IO_F8, 9, 0, 0 },
                  { "A", H5T_STD_U16BE, IO_F8, 9, 0, 0 },
                  { "A", H5T_NATIVE_DOUBLE, IO_F8, 64, 10, 0 },
                  { "A", H5T_NATIVE_DOUBLE, IO_F8, 64, 7, 1 },
                  { "A", H5T_NATIVE_DOUBLE, IO_F8, 33, 32, 1 },
                  { "group/deep/A", H5T_NATIVE_DOUBLE, IO_F8, 4, 0, 0 },
                  { "A", H5T_NATIVE_DOUBLE, IO_F8, 1, 0, 0 },
                  { "A", H5T_NATIVE_DOUBLE, IO_F8, 0, 0, 0 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char place[64];
        hid_t file = new_file("a.h5");
        put_dataset(file, cases[k].name, cases[k].type, cases[k].n, cases[k].n, cases[k].chunk,
                    cases[k].packed);
        H5Fclose(file);
        check_forms("a.h5", cases[k].name, cases[k].read, cases[k].n);
        snprintf(place, sizeof place, "a.h5:/%s", cases[k].name);
        check_forms(place, cases[k].name, cases[k].read, cases[k].n);
    }
}

/* Without a name it is the first of two dimensions, by name. */
TEST(the_dataset_is_named_or_the_first_matrix) {
    const hsize_t three = 3, cube[3] = { 2, 2, 2 };
    hid_t file = new_file("many.h5"), line = H5Screate_simple(1, &three, NULL);
    hid_t block = H5Screate_simple(3, cube, NULL), text = H5Tcopy(H5T_C_S1);
    put_dataset(file, "c", H5T_NATIVE_DOUBLE, 3, 3, 0, 0);
    put_dataset(file, "b/second", H5T_NATIVE_DOUBLE, 2, 2, 0, 0);
    put_dataset(file, "wide", H5T_NATIVE_DOUBLE, 2, 5, 0, 0);
    H5Dclose(H5Dcreate2(file, "a", H5T_NATIVE_INT, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(
        H5Dcreate2(file, "cube", H5T_NATIVE_INT, block, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(line);
    H5Sclose(block);
    const hsize_t two[2] = { 2, 2 };
    hid_t square = H5Screate_simple(2, two, NULL);
    H5Dclose(H5Dcreate2(file, "words", text, square, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(square);
    H5Tclose(text);
    H5Fclose(file);
    check_forms("many.h5", "b/second", IO_F8, 2);
    check_forms("many.h5:/c", "c", IO_F8, 3);

    const struct {
        const char *place, *message;
        int status;
    } bad[] = { { "many.h5:/a", "many.h5:/a: has 1 dimensions, not 2", IO_E_FORMAT },
                { "many.h5:/cube", "many.h5:/cube: has 3 dimensions, not 2", IO_E_FORMAT },
                { "many.h5:/wide", "many.h5:/wide: not square: 2 x 5", IO_E_FORMAT },
                { "many.h5:/words", "many.h5:/words: not a dataset of real numbers", IO_E_FORMAT },
                { "many.h5:/b", "many.h5:/b: no such dataset", IO_E_FORMAT },
                { "many.h5:/none", "many.h5:/none: no such dataset", IO_E_FORMAT },
                { "none.h5", "none.h5: cannot open", IO_E_OPEN },
                { "none.h5:/A", "none.h5: cannot open", IO_E_OPEN },
                { "text.h5", "text.h5: not a readable HDF5 file", IO_E_FORMAT },
                { "empty.h5", "empty.h5: contains no dataset of two dimensions", IO_E_FORMAT } };
    put_file("text.h5", "not HDF5", 8);
    H5Fclose(new_file("empty.h5"));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const io_triangle t = { .packed = true };
        io_array a;
        int64_t n;
        CHECK(read_triangle(bad[k].place, &t, &n, &a) == bad[k].status && !a.data);
        CHECK_MSG(strstr(e.text, bad[k].message) != NULL, "said: %s\nnot:  %s", e.text,
                  bad[k].message);
    }
}

TEST(the_memory_a_matrix_needs_is_named) {
    const io_triangle packed = { .packed = true }, full = { .packed = false };
    io_array a;
    int64_t n;
    hid_t file = new_file("a.h5");
    put_dataset(file, "A", H5T_NATIVE_FLOAT, 10, 10, 0, 0);
    H5Fclose(file);
    CHECK(io_h5_read_triangle(in_dir("a.h5"), &packed, 220, &n, &a, &e) == IO_OK);
    io_array_free(&a);
    CHECK(io_h5_read_triangle(in_dir("a.h5"), &packed, 219, &n, &a, &e) == IO_E_SIZE && !a.data);
    CHECK_MSG(strstr(e.text, "a.h5:/A: n = 10 needs 220 bytes, the limit is 219"), "%s", e.text);
    CHECK(io_h5_read_triangle(in_dir("a.h5"), &full, 399, &n, &a, &e) == IO_E_SIZE && !a.data);
    CHECK_MSG(strstr(e.text, "needs 400 bytes in full storage"), "%s", e.text);
}

/* Cut off anywhere, a file is a message. */
TEST(files_cut_short) {
    hid_t file = new_file("a.h5");
    put_dataset(file, "A", H5T_NATIVE_DOUBLE, 6, 6, 0, 0);
    H5Fclose(file);
    static char bytes[1 << 16];
    FILE *whole = fopen(in_dir("a.h5"), "rb");
    const size_t all = whole ? fread(bytes, 1, sizeof bytes, whole) : 0;
    if (whole) fclose(whole);
    CHECK(all > 6 * 6 * sizeof(double) && all < sizeof bytes);
    for (size_t size = 0; size < all; size += 37) {
        const io_triangle t = form_of((int)(size % FORMS));
        io_array a;
        int64_t n;
        put_file("d.h5", bytes, size);
        CHECK_MSG(read_triangle("d.h5", &t, &n, &a) != IO_OK && !a.data, "%zu bytes", size);
        CHECK_MSG(strstr(e.text, "d.h5"), "%zu bytes: %s", size, e.text);
    }
}

static herr_t count_error(hid_t stack, void *count) {
    (void)stack;
    ++*(int *)count;
    return 0;
}

/* HDF5 prints nothing itself while a file is read, and does what it did before afterwards. */
TEST(errors_are_told_once) {
    const io_triangle t = form_of(0);
    io_array a;
    int64_t n;
    int count = 0;
    H5E_auto2_t after = NULL;
    void *data = NULL;
    put_file("d.h5", "no such file", 12);
    H5Eset_auto2(H5E_DEFAULT, count_error, &count);
    CHECK(read_triangle("d.h5", &t, &n, &a) != IO_OK && count == 0);
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    CHECK(after == count_error && data == &count);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* ---- writing ---------------------------------------------------------------------------------- */

TEST(several_arrays_in_one_file) {
    double matrix[6] = { 1, 2, 3, 4, 5, NAN };
    float line[3] = { 0.5f, -0.0f, 1e-40f };
    int32_t counts[2] = { -1, 2147483647 };
    const io_array arrays[] = { { IO_F8, 2, { 2, 3 }, matrix },
                                { IO_F4, 1, { 3 }, line },
                                { IO_I4, 1, { 2 }, counts },
                                { IO_F8, 2, { 0, 3 }, matrix } };
    const io_h5_item items[] = {
        { "M", &arrays[0] }, { "d", &arrays[1] }, { "2/pivots", &arrays[2] }, { "none", &arrays[3] }
    };
    put_file("w.h5", "old", 3);
    CHECK_MSG(io_h5_write(in_dir("w.h5"), items, 4, &e) == IO_OK, "%s", e.text);
    CHECK(files_in_dir(".shoal-") == 0);
    hid_t file = H5Fopen(in_dir("w.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0);
    for (int k = 0; k < 4; k++) {
        hsize_t dims[2] = { 99, 99 };
        char back[64];
        hid_t set = H5Dopen2(file, items[k].name, H5P_DEFAULT), space = H5Dget_space(set);
        hid_t type = H5Dget_type(set), native = H5Tget_native_type(type, H5T_DIR_DEFAULT);
        const size_t bytes = (size_t)io_array_count(&arrays[k]) * io_type_size(arrays[k].type);
        CHECK(H5Sget_simple_extent_dims(space, dims, NULL) == arrays[k].ndim);
        for (int l = 0; l < arrays[k].ndim; l++) CHECK((int64_t)dims[l] == arrays[k].shape[l]);
        CHECK(H5Tget_size(type) == io_type_size(arrays[k].type));
        CHECK((H5Tget_class(type) == H5T_INTEGER) == (arrays[k].type == IO_I4));
        CHECK(H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        CHECK_MSG(memcmp(back, arrays[k].data, bytes) == 0, "%s", items[k].name);
        H5Tclose(native);
        H5Tclose(type);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
}

TEST(a_file_that_cannot_be_written_stays_as_it_was) {
    double number = 1;
    const io_array one = { IO_F8, 1, { 1 }, &number };
    const io_h5_item twice[] = { { "A", &one }, { "A", &one } };
    put_file("kept.h5", "old", 3);
    CHECK(io_h5_write(in_dir("kept.h5"), twice, 2, &e) == IO_E_WRITE);
    CHECK_MSG(strstr(e.text, "kept.h5: cannot write: "), "%s", e.text);
    char back[4] = "";
    FILE *file = fopen(in_dir("kept.h5"), "rb");
    CHECK(file && fread(back, 1, 4, file) == 3 && strcmp(back, "old") == 0);
    if (file) fclose(file);
    CHECK(files_in_dir(".shoal-") == 0);
    CHECK(io_h5_write("/dev/null", twice, 1, &e) == IO_E_WRITE && strstr(e.text, "plain files"));
    CHECK(io_h5_write("/nowhere/at/all.h5", twice, 1, &e) == IO_E_WRITE);
}

/* An array in pieces: what is written comes back. A piece beyond its end fails, and the file stays as it was. */
TEST(an_array_in_pieces) {
    enum { SIDE = 5 };
    static const int64_t shape[2] = { SIDE, SIDE };
    static const struct {
        int64_t first, count;
        int status;
    } last[] = { { 0, 3, IO_OK }, { 4, 2, IO_E_WRITE }, { 5, 1, IO_E_WRITE } };
    const char *path = in_dir("pieces.h5");
    double data[SIDE * SIDE];
    io_h5_pieces *pieces;
    for (int i = 0; i < SIDE * SIDE; i++) data[i] = i + 1;
    for (int k = 0; k < 3; k++) {
        CHECK(io_h5_open_pieces(path, "values", 2, shape, &pieces, &e) == IO_OK);
        CHECK(io_h5_write_piece(pieces, 3, 2, data + 3 * SIDE, &e) == IO_OK);
        const int status = io_h5_write_piece(pieces, last[k].first, last[k].count, data, &e);
        CHECK(status == last[k].status);
        CHECK_MSG(k == 0 || strstr(e.text, "pieces.h5: cannot write: "), "%s", e.text);
        CHECK(io_h5_close_pieces(pieces, status, &e) == last[k].status);
        double *back = read_whole(path, "values", SIDE);
        CHECK(memcmp(back, data, sizeof data) == 0);
        free(back);
    }
    const struct {
        const char *path, *name, *message;
    } bad[] = { { "/nowhere/at/all.h5", "values", "all.h5" },
                { "/dev/null", "values", "plain files" },
                { in_dir("no.h5"), "", "no.h5: cannot write: " } };
    for (int k = 0; k < 3; k++) {
        CHECK(io_h5_open_pieces(bad[k].path, bad[k].name, 2, shape, &pieces, &e) == IO_E_WRITE);
        CHECK_MSG(pieces == NULL && strstr(e.text, bad[k].message), "%s", e.text);
    }
    CHECK(files_in_dir(".shoal-") == 0 && files_in_dir("no.h5") == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    CHECK(io_h5_available());
    RUN(one_triangle_of_a_dataset);
    RUN(the_dataset_is_named_or_the_first_matrix);
    RUN(the_memory_a_matrix_needs_is_named);
    RUN(files_cut_short);
    RUN(errors_are_told_once);
    RUN(several_arrays_in_one_file);
    RUN(a_file_that_cannot_be_written_stays_as_it_was);
    RUN(an_array_in_pieces);
    remove_dir();
    return TEST_END();
}

#endif
