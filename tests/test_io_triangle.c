/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_triangle.c - symmetric matrices of .mtx and .npy files and triplets as one triangle, packed and full,
 * lower and upper: every form against the whole matrix, files that are not symmetric, too large for
 * memory or damaged, and writing.
 */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <math.h>

#include "io_dense.h"
#include "io/npy.h"
#include "test_io.h"

#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL   "%%MatrixMarket matrix coordinate real general\n"

enum { LIMIT = 1 << 20, FORMS = 4 };

static io_triangle form_of(int k) { return (io_triangle){ .packed = k % 2, .upper = k / 2 }; }

static int parse(const char *text, const io_triangle *t, int64_t limit, int64_t *n, io_array *a,
                 io_error *e) {
    e->text[0] = '\0';
    return io_mtx_parse_triangle("A.mtx", text, strlen(text), t, limit, n, a, e);
}

/* The triangle in every form is that of the whole matrix. */
static void check_forms(const char *text) {
    io_matrix m;
    io_array whole, a;
    io_error e;
    int64_t n = -1;
    CHECK(io_mtx_parse("A.mtx", text, strlen(text), &m, &e) == IO_OK);
    CHECK(matrix_dense(&m, "A.mtx", LIMIT, &whole, &e) == IO_OK);
    for (int k = 0; k < FORMS; k++) {
        const io_triangle t = form_of(k);
        CHECK_MSG(parse(text, &t, LIMIT, &n, &a, &e) == IO_OK, "%s", e.text);
        if (!a.data) continue;
        CHECK(n == m.rows && a.type == IO_F8 && a.ndim == (t.packed ? 1 : 2));
        CHECK(a.shape[0] == (t.packed ? n * (n + 1) / 2 : n));
        int64_t next = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const bool inside = t.upper ? j >= i : j <= i;
                const double wanted = io_array_get(&whole, i * n + j);
                if (!inside) {
                    if (!t.packed) CHECK(io_array_get(&a, i * n + j) == 0);
                    continue;
                }
                const int64_t at = io_triangle_at(&t, n, i, j);
                const double got = io_array_get(&a, at);
                CHECK_MSG(at == (t.packed ? next : i * n + j), "place %" PRId64, at);
                CHECK_MSG(got == wanted || (isnan(got) && isnan(wanted)), "form %d: (%d, %d) %g", k,
                          (int)i, (int)j, got);
                next++;
            }
        io_array_free(&a);
    }
    io_array_free(&whole);
    io_matrix_free(&m);
}

TEST(symmetric_files_become_triangles) {
    check_forms(SYMMETRIC "4 4 6\n1 1 1.5\n4 1 -2\n3 2 nan\n4 4 7\n% c\n4 1 0.25\n2 1 inf\n");
    check_forms("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n3 1 -7\n2 2 3\n");
    check_forms("%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n5 1\n2 2\n4 3\n");
    check_forms("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
    check_forms("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n-2\n3\n");
    check_forms(SYMMETRIC "0 0 0\n");
    check_forms(SYMMETRIC "1 1 1\n1 1 -3\n");
    check_forms(SYMMETRIC "5 5 0\n");
    /* symmetric, though the first line does not say so */
    check_forms(GENERAL "3 3 5\n1 2 4\n2 1 4\n3 3 1\n1 3 nan\n3 1 nan\n");
    check_forms("%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n3\n");
}

static void expect(const char *text, int64_t limit, int status, const char *message) {
    io_array a;
    io_error e;
    int64_t n;
    for (int k = 0; k < FORMS; k++) {
        const io_triangle t = form_of(k);
        CHECK_MSG(parse(text, &t, limit, &n, &a, &e) == status && !a.data, "%s", e.text);
        CHECK_MSG(strstr(e.text, message) != NULL, "said: %s\nnot:  %s", e.text, message);
        io_array_free(&a);
    }
}

TEST(other_files_are_refused) {
    expect(GENERAL "2 2 1\n1 2 4\n", LIMIT, IO_E_FORMAT,
           "A.mtx: not symmetric: entry (1, 2) is 4, (2, 1) is 0");
    expect(GENERAL "2 2 2\n1 2 4\n2 1 4.5\n", LIMIT, IO_E_FORMAT, "not symmetric: entry (1, 2)");
    expect(GENERAL "2 3 0\n", LIMIT, IO_E_FORMAT, "A.mtx: not square: 2 x 3");
    expect("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", LIMIT,
           IO_E_FORMAT, "not symmetric");
    expect(SYMMETRIC "2 2 1\n1 2 3\n", LIMIT, IO_E_FORMAT, "A.mtx:3: entry (1, 2) lies above");
    expect(SYMMETRIC "2 2 2\n1 1 3\n", LIMIT, IO_E_SIZE, "2 entries promised");
    expect(SYMMETRIC "2 2 1\n1 1 x\n", LIMIT, IO_E_FORMAT, "A.mtx:3: value 'x'");
    expect("%%MatrixMarket matrix coordinate complex symmetric\n", LIMIT, IO_E_FORMAT, "complex");
    expect("", LIMIT, IO_E_FORMAT, "empty");
}

TEST(the_memory_a_matrix_needs_is_named) {
    io_array a;
    io_error e;
    int64_t n;
    const char *text = SYMMETRIC "1000 1000 1\n1000 1 1\n";
    const io_triangle packed = { .packed = true }, full = { .packed = false };
    CHECK(parse(text, &packed, 8 * 500500, &n, &a, &e) == IO_OK);
    io_array_free(&a);
    CHECK(parse(text, &packed, 8 * 500500 - 1, &n, &a, &e) == IO_E_SIZE && !a.data);
    CHECK_MSG(strstr(e.text, "n = 1000 needs 4004000 bytes, the limit is 4003999"), "%s", e.text);
    CHECK(parse(text, &full, 8 * 500500, &n, &a, &e) == IO_E_SIZE && !a.data);
    CHECK_MSG(strstr(e.text, "8000000 bytes in full storage"), "%s", e.text);
    for (int64_t size = 3; size <= 4000000000;
         size += 3999999997) { /* no data, whatever was there */
        a = (io_array){ .ndim = 2, .data = &a };
        CHECK(io_triangle_create(&packed, IO_F8, size, "A", 16, &a, &e) == IO_E_SIZE);
        CHECK(!a.data && !a.ndim);
    }
    expect(SYMMETRIC "4000000000 4000000000 0\n", INT64_MAX, IO_E_SIZE,
           "n = 4000000000 needs more");
    if (!IO_TEST_SANITIZED) { /* more than there can be, and less than int64_t holds */
        CHECK(parse(SYMMETRIC "400000000 400000000 0\n", &packed, INT64_MAX, &n, &a, &e) ==
              IO_E_MEMORY);
        CHECK_MSG(strstr(e.text, "needs 640000001600000000 bytes"), "%s", e.text);
    }
    CHECK(io_memory_bytes() > 1 << 20);
}

/* ---- .npy ------------------------------------------------------------------------------------- */

/* A file of n x n numbers i * n + j + 1 as `descr` says; the order of the bytes is turned around where
 * the type begins with '>'. */
static void put_npy(const char *name, const char *descr, bool fortran, int64_t n, const char *shape,
                    const io_triangle *packed) {
    char text[128] = "\x93NUMPY\x01\x00\x76\x00", bytes[8];
    const bool single = descr[2] == '4', whole = descr[1] == 'i';
    const size_t width = single ? 4 : 8;
    const int used = 10 + snprintf(text + 10, sizeof text - 10,
                                   "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
                                   fortran ? "True" : "False", shape);
    memset(text + used, ' ', sizeof text - (size_t)used);
    text[127] = '\n';
    FILE *file = fopen(in_dir(name), "wb");
    CHECK(file && fwrite(text, 1, sizeof text, file) == sizeof text);
    for (int64_t k = 0; k < n * n && file; k++) {
        const int64_t i = fortran ? k % n : k / n, j = fortran ? k / n : k % n;
        const double value = (double)(i * n + j + 1);
        if (packed && (packed->upper ? j < i : j > i)) continue;
        if (whole && single)
            memcpy(bytes, &(int32_t){ (int32_t)value }, 4);
        else if (whole)
            memcpy(bytes, &(int64_t){ (int64_t)value }, 8);
        else if (single)
            memcpy(bytes, &(float){ (float)value }, 4);
        else
            memcpy(bytes, &value, 8);
        for (size_t low = 0; low < width / 2 && descr[0] == '>'; low++) {
            const char kept = bytes[low];
            bytes[low] = bytes[width - 1 - low];
            bytes[width - 1 - low] = kept;
        }
        CHECK(fwrite(bytes, 1, width, file) == width);
    }
    if (file) fclose(file);
}

TEST(npy_files_become_triangles) {
    static const char *const types[] = { "<f8", ">f8", "<f4", "<i4", ">i8" };
    enum { N = 5 };
    for (int type = 0; type < 5; type++)
        for (int layout = 0; layout < 3; layout++) /* C, Fortran, packed */
            for (int k = 0; k < FORMS; k++) {
                const io_triangle t = form_of(k);
                io_array a;
                io_error e = { "" };
                int64_t n = -1;
                put_npy("t.npy", types[type], layout == 1, N, layout == 2 ? "(15,)" : "(5, 5)",
                        layout == 2 ? &t : NULL);
                CHECK_MSG(io_npy_read_triangle(in_dir("t.npy"), &t, LIMIT, &n, &a, &e) == IO_OK,
                          "%s", e.text);
                CHECK(n == N && a.type == (type == 2 ? IO_F4 : IO_F8));
                CHECK(a.ndim == (t.packed ? 1 : 2) && a.shape[0] == (t.packed ? 15 : N));
                for (int64_t i = 0; i < N && a.data; i++)
                    for (int64_t j = 0; j < N; j++) {
                        const bool inside = t.upper ? j >= i : j <= i;
                        if (inside)
                            CHECK_MSG(io_array_get(&a, io_triangle_at(&t, N, i, j)) ==
                                          (double)(i * N + j + 1),
                                      "%s layout %d form %d: (%d, %d)", types[type], layout, k,
                                      (int)i, (int)j);
                        else if (!t.packed)
                            CHECK(io_array_get(&a, i * N + j) == 0);
                    }
                io_array_free(&a);
            }
}

TEST(other_npy_files_are_refused) {
    static const struct {
        const char *shape;
        int64_t limit;
        int status;
        const char *message;
    } bad[] = { { "(25,)", LIMIT, IO_E_FORMAT, "t.npy has shape (25,); expected (n, n), or" },
                { "(5, 1, 5)", LIMIT, IO_E_FORMAT, "has shape (5, 1, 5)" },
                { "(5, 4)", LIMIT, IO_E_FORMAT, "has shape (5, 4)" },
                { "()", LIMIT, IO_E_FORMAT, "has shape ()" },
                { "(6, 6)", LIMIT, IO_E_SIZE, "declares 288 bytes of data, the file has 200" },
                { "(5, 5)", 119, IO_E_SIZE, "n = 5 needs 120 bytes, the limit is 119" } };
    const io_triangle t = { .packed = true };
    io_array a;
    io_error e;
    int64_t n;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        put_npy("t.npy", "<f8", false, 5, bad[k].shape, NULL);
        CHECK(io_npy_read_triangle(in_dir("t.npy"), &t, bad[k].limit, &n, &a, &e) == bad[k].status);
        CHECK_MSG(!a.data && strstr(e.text, bad[k].message), "said: %s", e.text);
    }
    put_npy("t.npy", "<f8", false, 0, "(0, 0)", NULL);
    CHECK(io_npy_read_triangle(in_dir("t.npy"), &t, LIMIT, &n, &a, &e) == IO_OK && n == 0);
    io_array_free(&a);
    CHECK(io_npy_read_triangle(in_dir("none.npy"), &t, LIMIT, &n, &a, &e) == IO_E_OPEN && !a.data);
}

/* ---- triplets --------------------------------------------------------------------------------- */

static int triplets(const char *text, int64_t n, io_matrix *m, io_error *e) {
    e->text[0] = '\0';
    return io_triplets_parse("T.txt", text, strlen(text), n, m, e);
}

TEST(triplets_of_a_lower_triangle) {
    io_matrix m;
    io_error e;
    CHECK_MSG(triplets("# c\n% d\n\n2 1 1.5\r\n 5\t2  -.5 \n2 1 1\n3 3 nan", -1, &m, &e) == IO_OK,
              "%s", e.text);
    CHECK(m.rows == 5 && m.cols == 5 && m.count == 3 && m.symmetry == IO_SYMMETRIC);
    CHECK(m.duplicates == 1 && m.nonfinite == 1 && m.entries[0].value == 2.5);
    CHECK(m.entries[2].row == 4 && m.entries[2].col == 1 && m.entries[2].value == -.5);
    io_matrix_free(&m);
    CHECK(triplets("2 1 1\n", 9, &m, &e) == IO_OK && m.rows == 9 && m.cols == 9);
    io_matrix_free(&m);
    CHECK(triplets("# nothing\n", -1, &m, &e) == IO_OK && m.rows == 0 && m.count == 0);
    io_matrix_free(&m);
    const struct {
        const char *text, *message;
    } bad[] = { { "2 1 1\n1 2 1\n", "T.txt:2: entry (1, 2) lies above the diagonal" },
                { "2 1\n", "T.txt:1: an entry needs row, column and value" },
                { "2 1 1 1\n", "T.txt:1: an entry needs row, column and value" },
                { "\n0 0 1\n", "T.txt:2: row index 0 out of range 1..4" },
                { "5 1 1\n", "T.txt:1: row index 5 out of range 1..4" },
                { "2 0 1\n", "T.txt:1: column index 0 out of range 1..4" },
                { "2 1 one\n", "T.txt:1: value 'one' is not a number" },
                { "2 1.5 1\n", "T.txt:1: column index '1.5' is not an integer" } };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(triplets(bad[k].text, 4, &m, &e) == IO_E_FORMAT && !m.entries);
        CHECK_MSG(strcmp(e.text, bad[k].message) == 0, "said: %s\nnot:  %s", e.text,
                  bad[k].message);
    }
    CHECK(io_triplets_read(in_dir("none.txt"), -1, &m, &e) == IO_E_OPEN && !m.entries);
}

/* The astro-ph of Kruchinina's thesis, where the data are. */
TEST(astro_ph) {
    const char *folder = getenv("SHOAL_DATA");
    if (!folder) SKIP("SHOAL_DATA is not set: no astro-ph.txt");
    char path[IO_TEST_PATH];
    io_matrix m, back;
    io_error e;
    snprintf(path, sizeof path, "%s/astro-ph.txt", folder);
    CHECK_MSG(io_triplets_read(path, -1, &m, &e) == IO_OK, "%s", e.text);
    CHECK(m.rows == 16706 && m.count == 121251 && m.duplicates == 0 && m.nonfinite == 0);
    CHECK_MSG(io_mtx_write(in_dir("astro.mtx"), &m, &e) == IO_OK, "%s", e.text);
    CHECK_MSG(io_mtx_read(in_dir("astro.mtx"), &back, &e) == IO_OK, "%s", e.text);
    CHECK(back.count == m.count && back.rows == m.rows && back.symmetry == IO_SYMMETRIC);
    CHECK(memcmp(back.entries, m.entries, (size_t)m.count * sizeof *m.entries) == 0);
    io_matrix_free(&m);
    io_matrix_free(&back);
}

/* ---- writing ---------------------------------------------------------------------------------- */

TEST(what_is_written_reads_back) {
    enum { N = 17 };
    const int64_t shape[2] = { N, N };
    const io_type types[] = { IO_F8, IO_F4 };
    uint64_t state = 3;
    for (int k = 0; k < 2; k++) {
        io_array a, b;
        io_error e;
        int64_t n;
        CHECK(io_array_create(types[k], 2, shape, &a, &e) == IO_OK);
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                const double value = ldexp((double)(int64_t)next_random(&state), -70 + i * 2);
                for (int side = 0; side < 2; side++) {
                    const int at = side ? i * N + j : j * N + i;
                    if (types[k] == IO_F8)
                        ((double *)a.data)[at] = value;
                    else
                        ((float *)a.data)[at] = (float)value;
                }
            }
        CHECK_MSG(io_mtx_write_symmetric(in_dir("s.mtx"), &a, &e) == IO_OK, "%s", e.text);
        const io_triangle t = { .packed = false, .upper = k };
        CHECK_MSG(io_mtx_read_triangle(in_dir("s.mtx"), &t, LIMIT, &n, &b, &e) == IO_OK, "%s",
                  e.text);
        CHECK(n == N);
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                const int at = k ? j * N + i : i * N + j;
                const double got = io_array_get(&b, at), wanted = io_array_get(&a, at);
                CHECK((types[k] == IO_F8 ? got : (double)(float)got) == wanted);
            }
        io_array_free(&a);
        io_array_free(&b);
    }
    io_entry entries[] = { { 0, 0, NAN }, { 1, 0, -INFINITY }, { 2, 1, 1.0 / 3 } };
    for (int symmetry = IO_GENERAL; symmetry <= IO_SKEW; symmetry++) {
        const int first = symmetry == IO_SKEW;
        const io_matrix m = { 3, 3, 3 - first, entries + first, (io_symmetry)symmetry, 0, 0 };
        io_matrix back;
        io_error e;
        CHECK(io_mtx_write(in_dir("g.mtx"), &m, &e) == IO_OK);
        CHECK_MSG(io_mtx_read(in_dir("g.mtx"), &back, &e) == IO_OK, "%s", e.text);
        CHECK(back.count == 3 - first && back.symmetry == m.symmetry);
        CHECK(back.count > 0 && back.entries[back.count - 1].value == 1.0 / 3);
        CHECK(first || isnan(back.entries[0].value));
        io_matrix_free(&back);
    }
    io_error e;
    const io_matrix none = { 0, 0, 0, NULL, IO_GENERAL, 0, 0 };
    CHECK(io_mtx_write("/nowhere/at/all.mtx", &none, &e) == IO_E_WRITE);
    CHECK(files_in_dir(".shoal-") == 0);
}

/* ---- damage ----------------------------------------------------------------------------------- */

TEST(damaged_triangles) {
    static const char *const files[] = {
        SYMMETRIC "4 4 5\n1 1 1.5\n4 1 -2\n3 2 7\n4 4 7\n2 1 3\n",
        GENERAL "3 3 3\n1 2 4\n2 1 4\n3 3 1\n",
        "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
        "2 1 1.5\n5 2 -.5\n# c\n3 3 1e5\n"
    };
    uint64_t state = 11;
    struct rlimit old = limit_memory((rlim_t)1 << 30);
    for (int round = 0; round < 20000; round++) {
        const char *file = files[round % 4];
        size_t size = strlen(file);
        char *copy = damage(file, &size, &state);
        io_matrix m;
        io_array a;
        io_error e = { "" };
        int64_t n;
        const io_triangle t = form_of((int)(next_random(&state) % FORMS));
        int status;
        if (round % 4 == 3) {
            status = io_triplets_parse("d", copy, size, -1, &m, &e);
            CHECK((status == IO_OK) == (m.entries != NULL));
            if (status == IO_OK)
                for (int64_t k = 0; k < m.count; k++)
                    CHECK(m.entries[k].col <= m.entries[k].row && m.entries[k].row < m.rows);
            io_matrix_free(&m);
        } else {
            status = io_mtx_parse_triangle("d", copy, size, &t, LIMIT, &n, &a, &e);
            CHECK((status == IO_OK) == (a.data != NULL));
            io_array_free(&a);
        }
        CHECK((status == IO_OK) == (e.text[0] == '\0'));
        free(copy);
    }
    restore_memory(old);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(symmetric_files_become_triangles);
    RUN(other_files_are_refused);
    RUN(the_memory_a_matrix_needs_is_named);
    RUN(npy_files_become_triangles);
    RUN(other_npy_files_are_refused);
    RUN(triplets_of_a_lower_triangle);
    RUN(astro_ph);
    RUN(what_is_written_reads_back);
    RUN(damaged_triangles);
    remove_dir();
    return TEST_END();
}
