/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_mtx.c - Matrix Market files, who reads a file by its name, and damaged files of both array
 * formats: 20,000 copies of valid files with bytes changed or cut off, from a fixed seed. Whatever the
 * bytes say, the readers answer with a result or a message, never with a crash or a large allocation.
 */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <math.h>

#include "io_dense.h"
#include "io/npy.h"
#include "test_io.h"

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

static int parse(const char *text, io_matrix *m, io_error *err) {
    err->text[0] = '\0';
    return io_mtx_parse("A.mtx", text, strlen(text), m, err);
}

/* Parses text that must fail with this message. */
static void expect(const char *text, int status, const char *message) {
    io_matrix m;
    io_error e;
    CHECK_MSG(parse(text, &m, &e) == status && !m.entries, "%s: %s", text, e.text);
    CHECK_MSG(strcmp(e.text, message) == 0, "said: %s\nnot:  %s", e.text, message);
    io_matrix_free(&m);
}

TEST(mtx_coordinate) {
    io_matrix m;
    io_error e;
    CHECK_MSG(parse("%%matrixmarket MATRIX Coordinate Real General\r\n% c\r\n\r\n 3 4 5 \r\n"
                    "3 4 -1.5e3\r\n%x\r\n1 1 nan\r\n\r\n2 2 1D2\r\n2 2 0.5\r\n1 4 inf",
                    &m, &e) == IO_OK,
              "%s", e.text);
    CHECK(m.rows == 3 && m.cols == 4 && m.count == 4 && m.symmetry == IO_GENERAL);
    CHECK(m.duplicates == 1 && m.nonfinite == 2);
    CHECK(m.entries[0].row == 0 && m.entries[0].col == 0 && isnan(m.entries[0].value));
    CHECK(m.entries[1].row == 0 && m.entries[1].col == 3 && isinf(m.entries[1].value));
    CHECK(m.entries[2].row == 1 && m.entries[2].col == 1 && m.entries[2].value == 100.5);
    CHECK(m.entries[3].row == 2 && m.entries[3].col == 3 && m.entries[3].value == -1500);
    io_matrix_free(&m);
    CHECK(parse("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n", &m, &e) ==
          IO_OK);
    CHECK(m.count == 2 && m.entries[0].value == 1 && m.symmetry == IO_SYMMETRIC);
    io_matrix_free(&m);
    CHECK(parse("%%MatrixMarket matrix coordinate integer general\n0 0 0\n", &m, &e) == IO_OK);
    CHECK(m.rows == 0 && m.count == 0 && m.entries);
    io_matrix_free(&m);
    CHECK(parse("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -9007199254740993\n",
                &m, &e) == IO_OK);
    CHECK(m.count == 1 && m.entries[0].value == -9007199254740992.0);
    io_matrix_free(&m);
}

TEST(mtx_sorting) {
    enum { N = 40 };
    static char text[N * N * 16];
    io_matrix m;
    io_error e;
    uint64_t state = 7;
    for (int round = 0; round < 20; round++) { /* shuffled places; 1/3 + 1/7 + ... in file order */
        double sum[N][N] = { { 0 } };
        int used = snprintf(text, sizeof text, "%s%d %d 500\n", BANNER, N, N);
        for (int k = 0; k < 500; k++) {
            int i = (int)(next_random(&state) % N), j = (int)(next_random(&state) % N);
            double value = 1.0 / (3 + k % 4);
            used += snprintf(text + used, sizeof text - (size_t)used, "%d %d %.17g\n", i + 1, j + 1,
                             value);
            sum[i][j] += value;
        }
        CHECK_MSG(parse(text, &m, &e) == IO_OK, "%s", e.text);
        CHECK(m.count + m.duplicates == 500);
        for (int64_t k = 1; k < m.count; k++) {
            const io_entry *a = &m.entries[k - 1], *b = &m.entries[k];
            CHECK(a->row < b->row || (a->row == b->row && a->col < b->col));
        }
        io_array dense;
        CHECK(matrix_dense(&m, "A.mtx", sizeof sum, &dense, &e) == IO_OK);
        CHECK(dense.data && memcmp(dense.data, sum, sizeof sum) == 0);
        io_array_free(&dense);
        io_matrix_free(&m);
    }
}

TEST(mtx_array_and_dense) {
    io_matrix m;
    io_array a;
    io_error e;
    const double general[6] = { 1, 3, 5, 2, 4, 6 };
    CHECK(parse("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", &m, &e) ==
          IO_OK);
    CHECK(matrix_dense(&m, "A.mtx", 48, &a, &e) == IO_OK);
    CHECK(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 && !memcmp(a.data, general, 48));
    io_array_free(&a);
    CHECK(matrix_dense(&m, "A.mtx", 47, &a, &e) == IO_E_SIZE && !a.data);
    io_matrix_free(&m);
    const double symmetric[9] = { 1, 2, 3, 2, 4, 5, 3, 5, 6 };
    CHECK(parse("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", &m, &e) ==
          IO_OK);
    CHECK(matrix_dense(&m, "A.mtx", 100, &a, &e) == IO_OK && !memcmp(a.data, symmetric, 72));
    io_array_free(&a);
    io_matrix_free(&m);
    const double skew[9] = { 0, -1, -2, 1, 0, -3, 2, 3, 0 };
    CHECK(parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", &m, &e) ==
          IO_OK);
    CHECK(matrix_dense(&m, "A.mtx", 100, &a, &e) == IO_OK);
    for (int k = 0; k < 9; k++) CHECK(((double *)a.data)[k] == skew[k]);
    io_array_free(&a);
    io_matrix_free(&m);
    CHECK(parse(BANNER "4611686018427387904 4611686018427387904 0\n", &m, &e) == IO_OK);
    CHECK(matrix_dense(&m, "A.mtx", INT64_MAX, &a, &e) == IO_E_SIZE);
    io_matrix_free(&m);
}

TEST(mtx_tridiagonal) {
    io_matrix m;
    io_array dl, d, du;
    io_error e;
    CHECK(parse(BANNER "3 3 8\n1 1 1\n1 2 2\n2 1 3\n2 2 4\n2 3 5\n3 2 6\n3 3 7\n1 3 0\n", &m, &e) ==
          IO_OK);
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 72, &dl, &d, &du, &e) == IO_OK);
    const double lower[3] = { 0, 3, 6 }, middle[3] = { 1, 4, 7 }, upper[3] = { 2, 5, 0 };
    CHECK(d.ndim == 1 && d.shape[0] == 3 && !memcmp(d.data, middle, 24));
    CHECK(!memcmp(dl.data, lower, 24) && !memcmp(du.data, upper, 24));
    io_array_free(&dl);
    io_array_free(&d);
    io_array_free(&du);
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 71, &dl, &d, &du, &e) == IO_E_SIZE && !d.data);
    io_matrix_free(&m);
    CHECK(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", &m, &e) ==
          IO_OK);
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 72, &dl, &d, &du, &e) == IO_OK);
    CHECK(((double *)dl.data)[1] == 3 && ((double *)du.data)[0] == -3);
    io_array_free(&dl);
    io_array_free(&d);
    io_array_free(&du);
    io_matrix_free(&m);
    CHECK(parse("%%MatrixMarket matrix coordinate real symmetric\n4 4 2\n3 1 1\n4 1 nan\n", &m,
                &e) == IO_OK);
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 1000, &dl, &d, &du, &e) == IO_E_FORMAT);
    CHECK_MSG(!strcmp(e.text, "A.mtx: not tridiagonal: entry (1, 3) lies outside the band"), "%s",
              e.text);
    io_matrix_free(&m);
    CHECK(parse(BANNER "3 3 2\n1 1 1\n3 1 5\n", &m, &e) == IO_OK); /* the last entry alone */
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 1000, &dl, &d, &du, &e) == IO_E_FORMAT);
    CHECK_MSG(strstr(e.text, "entry (3, 1) lies outside the band") != NULL, "%s", e.text);
    io_matrix_free(&m);
    CHECK(parse(BANNER "2 3 0\n", &m, &e) == IO_OK);
    CHECK(io_matrix_tridiagonal(&m, "A.mtx", 1000, &dl, &d, &du, &e) == IO_E_FORMAT);
    io_matrix_free(&m);
}

TEST(mtx_messages) {
    expect("", IO_E_FORMAT, "A.mtx: file is empty");
    expect("hello\n", IO_E_FORMAT,
           "A.mtx:1: not a Matrix Market file: the first line must begin with %%MatrixMarket");
    expect("%%MatrixMarket matrix coordinate real\n", IO_E_FORMAT,
           "A.mtx:1: the first line needs 5 words");
    expect("%%MatrixMarket matrix coordinate complex general\n", IO_E_FORMAT,
           "A.mtx:1: field 'complex' is not supported");
    expect("%%MatrixMarket matrix coordinate meal general\n", IO_E_FORMAT,
           "A.mtx:1: field 'meal' is not supported");
    expect("%%MatrixMarket matrix coordinate rear general\n", IO_E_FORMAT,
           "A.mtx:1: field 'rear' is not supported");
    expect("%%MatrixMarket matrix coordinate real hermitian\n", IO_E_FORMAT,
           "A.mtx:1: symmetry 'hermitian' is not supported");
    expect("%%MatrixMarket matrix array pattern general\n", IO_E_FORMAT,
           "A.mtx:1: pattern must not be combined with array or skew-symmetric");
    expect(BANNER "%\n\n", IO_E_FORMAT, "A.mtx:3: file ends before its size line");
    expect(BANNER "3 3\n", IO_E_FORMAT, "A.mtx:2: the size line needs rows, columns and entries");
    expect(BANNER "3 -3 1\n1 1 1\n", IO_E_FORMAT, "A.mtx:2: negative size");
    expect(BANNER "3 3.0 1\n", IO_E_FORMAT, "A.mtx:2: number of columns '3.0' is not an integer");
    expect(BANNER "8 8 2\n1 1 1\n\n%\n9 1 1\n", IO_E_FORMAT,
           "A.mtx:6: row index 9 out of range 1..8");
    expect(BANNER "8 8 1\n1 0 1\n", IO_E_FORMAT, "A.mtx:3: column index 0 out of range 1..8");
    expect(BANNER "8 8 1\n1 1 x7\n", IO_E_FORMAT, "A.mtx:3: value 'x7' is not a number");
    expect(BANNER "8 8 1\n1 1 0x7\n", IO_E_FORMAT, "A.mtx:3: value '0x7' is not a number");
    expect(BANNER "8 8 1\n1 1\n    \n", IO_E_FORMAT,
           "A.mtx:3: an entry needs row, column and value");
    expect(BANNER "8 8 1\n1 1 1 1\n", IO_E_FORMAT, "A.mtx:3: an entry needs row, column and value");
    expect(BANNER "8 8 2\n1 1 1.2345678\n", IO_E_SIZE, "A.mtx: 2 entries promised, 1 found");
    expect(BANNER "8 8 1\n1 1 1\n1 2 1\n", IO_E_FORMAT,
           "A.mtx:4: more than the 1 entries promised");
    expect(BANNER "8 8 9000000000\n1 1 1\n", IO_E_SIZE,
           "A.mtx:2: 9000000000 entries promised, but only 6 bytes follow");
    expect("%%MatrixMarket matrix array real general\n5000000000 5000000000\n1\n", IO_E_SIZE,
           "A.mtx:2: a matrix of 5000000000 x 5000000000 is too large");
    expect(BANNER "9223372036854775807 1 0\n", IO_E_SIZE,
           "A.mtx:2: a matrix of 9223372036854775807 x 1 is too large");
    expect(BANNER "1 9223372036854775807 0\n", IO_E_SIZE,
           "A.mtx:2: a matrix of 1 x 9223372036854775807 is too large");
    expect(BANNER "9223372036854775808 1 0\n", IO_E_FORMAT,
           "A.mtx:2: number of rows '9223372036854775808' is not an integer");
    expect("%%MatrixMarket matrix array real symmetric\n100000 100000\n1\n", IO_E_SIZE,
           "A.mtx:2: 5000050000 entries promised, but only 2 bytes follow");
    expect("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", IO_E_FORMAT,
           "A.mtx:2: a symmetric matrix cannot be 2 x 3");
    expect("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n", IO_E_FORMAT,
           "A.mtx:3: entry (1, 2) lies above the diagonal of a symmetric matrix");
    expect("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", IO_E_FORMAT,
           "A.mtx:3: the diagonal of a skew-symmetric matrix is zero");
    expect("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", IO_E_FORMAT,
           "A.mtx:3: value '1.5' is not a 64-bit integer");
    io_matrix m;
    io_error e;
    CHECK(io_mtx_read(in_dir("none.mtx"), &m, &e) == IO_E_OPEN && strstr(e.text, "none.mtx"));
    CHECK(io_mtx_read(in_dir(""), &m, &e) == IO_E_OPEN);
}

TEST(damaged_matrices) {
    static const char *const good[] = {
        BANNER "3 4 3\n3 4 -1.5e3\n1 1 nan\n2 2 0.5\n",
        "%%MatrixMarket matrix array real symmetric\n% c\n3 3\n1\n2\n3\n4\n5\n6\n",
        "%%MatrixMarket matrix coordinate pattern general\r\n9 9 3\r\n1 2\r\n9 9\r\n2 1\r\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n5 5 2\n2 1 7\n5 4 -1\n",
    };
    uint64_t state = 20240229;
    struct rlimit old = limit_memory((rlim_t)256 << 20);
    int accepted = 0;
    for (int k = 0; k < 20000; k++) {
        size_t size = strlen(good[k % 4]);
        char *bytes = damage(good[k % 4], &size, &state);
        io_matrix m;
        io_error e = { "" };
        int status = io_mtx_parse("A.mtx", bytes, size, &m, &e);
        accepted += status == IO_OK;
        CHECK_MSG(status != IO_E_MEMORY, "%s", e.text);
        CHECK((status == IO_OK) == (m.entries != NULL));
        CHECK(status == IO_OK || strncmp(e.text, "A.mtx:", 6) == 0);
        if (status == IO_OK) {
            io_array dense, dl, d, du;
            for (int64_t i = 0; i < m.count; i++)
                CHECK(m.entries[i].row >= 0 && m.entries[i].row < m.rows && m.entries[i].col >= 0 &&
                      m.entries[i].col < m.cols);
            if (matrix_dense(&m, "A.mtx", 1 << 20, &dense, &e) == IO_OK) io_array_free(&dense);
            if (io_matrix_tridiagonal(&m, "A.mtx", 1 << 20, &dl, &d, &du, &e) == IO_OK) {
                io_array_free(&dl);
                io_array_free(&d);
                io_array_free(&du);
            }
        }
        io_matrix_free(&m);
        free(bytes);
    }
    restore_memory(old);
    CHECK_MSG(accepted > 1000 && accepted < 19000, "%d accepted", accepted);
}

TEST(damaged_arrays) {
    static const int64_t shape[3] = { 2, 3, 4 };
    io_array made, a;
    io_error e;
    char *good = NULL;
    size_t good_size = 0;
    CHECK(io_array_create(IO_F8, 3, shape, &made, &e) == IO_OK);
    FILE *file = open_memstream(&good, &good_size);
    CHECK(file && io_npy_header(file, "x.npy", IO_F8, 3, shape, &e) == IO_OK);
    CHECK(fwrite(made.data, 8, 24, file) == 24 && fclose(file) == 0);
    uint64_t state = 19991231;
    struct rlimit old = limit_memory((rlim_t)256 << 20);
    int accepted = 0;
    for (int k = 0; k < 20000; k++) {
        size_t size = good_size;
        char *bytes = damage(good, &size, &state);
        e.text[0] = '\0';
        int status = io_npy_parse("x.npy", bytes, size, &a, &e);
        accepted += status == IO_OK;
        CHECK_MSG(status != IO_E_MEMORY, "%s", e.text);
        CHECK((status == IO_OK) == (a.data != NULL));
        CHECK(status == IO_OK || strncmp(e.text, "x.npy: ", 7) == 0);
        CHECK(status != IO_OK || io_array_count(&a) * (int64_t)io_type_size(a.type) <= 192);
        io_array_free(&a);
        if (k % 20 == 0) { /* the same through a file, which is read in another way */
            put_file("x.npy", bytes, size);
            CHECK(io_npy_read(in_dir("x.npy"), &a, &e) == status);
            io_array_free(&a);
        }
        free(bytes);
    }
    restore_memory(old);
    CHECK_MSG(accepted > 1000 && accepted < 19000, "%d accepted", accepted);
    io_array_free(&made);
    free(good);
}

/* Who reads a file is told by its name. */
TEST(files_by_their_names) {
    static const char text[] =
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n";
    double numbers[3] = { 1, 2, 3 };
    const io_array packed = { IO_F8, 1, { 3 }, numbers };
    const io_triangle t = { .packed = true };
    static const char *const names[] = { "a.mtx", "a.npy", "a" };
    io_array a;
    io_error e;
    int64_t n = -1;
    put_file("a.mtx", text, strlen(text));
    CHECK(io_npy_write(in_dir("a.npy"), &packed, &e) == IO_OK);
    CHECK(io_npy_write(in_dir("a"), &packed, &e) == IO_OK);
    for (int k = 0; k < 3; k++) {
        CHECK_MSG(io_triangle_read(in_dir(names[k]), &t, 1 << 20, &n, &a, &e) == IO_OK, "%s",
                  e.text);
        CHECK(n == 2 && a.data && memcmp(a.data, numbers, sizeof numbers) == 0);
        io_array_free(&a);
    }
    put_file("b.mtx", "text", 4);
    put_file("b.h5", "text", 4);
    CHECK(io_triangle_read(in_dir("b.mtx"), &t, 1 << 20, &n, &a, &e) != IO_OK);
    CHECK_MSG(strstr(e.text, "b.mtx:1: ") && !a.data, "%s", e.text);
    CHECK(io_triangle_read(in_dir("b.h5"), &t, 1 << 20, &n, &a, &e) != IO_OK);
    CHECK_MSG(strstr(e.text, "HDF5") && !a.data, "%s", e.text);
    CHECK(io_triangle_read(in_dir("b.h5:/A"), &t, 1 << 20, &n, &a, &e) != IO_OK);
    CHECK_MSG(strstr(e.text, "HDF5") && !a.data, "%s", e.text);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(mtx_coordinate);
    RUN(mtx_sorting);
    RUN(mtx_array_and_dense);
    RUN(mtx_tridiagonal);
    RUN(mtx_messages);
    RUN(files_by_their_names);
    RUN(damaged_matrices);
    RUN(damaged_arrays);
    remove_dir();
    return TEST_END();
}
