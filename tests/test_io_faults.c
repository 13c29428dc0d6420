/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_faults.c - memory and disks that fail: every allocation of every reader and writer, reads that
 * end early, files that cannot be synced, closed, renamed or that grow too large (io_faults.h).
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <signal.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "io_dense.h"
#include "io/npy.h"
#include "io/png.h"
#include "io_faults.h"

/* ---- every allocation ------------------------------------------------------------------------ */

/* Reads or writes in_dir(name); what was read, or a file that was written, is checked if that succeeds. */
typedef int work(const char *path, io_error *err);

static int npy(const char *path, io_error *err) {
    io_array a;
    const int status = io_npy_read(path, &a, err);
    CHECK((status == IO_OK) == (a.data != NULL));
    if (status == IO_OK) CHECK(((double *)a.data)[0] == 1 && ((double *)a.data)[3] == 4);
    io_array_free(&a);
    return status;
}

static int npy_parse(const char *path, io_error *err) {
    static const char pad[65536] = " ";
    io_array a = { 0 };
    char *image = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "ab"); /* the image grows past the first buffer of slurp, once */
    if (file && ftell(file) < 65536) fwrite(pad, 1, sizeof pad, file);
    if (file) fclose(file);
    file = fopen(path, "rb");
    int status = file ? io_file_slurp(file, path, 0, INT64_MAX, &image, &size, err)
                      : io_fail(err, IO_E_MEMORY, "%s: no memory", path);
    if (file) fclose(file);
    CHECK((status == IO_OK) == (image != NULL));
    if (status == IO_OK) status = io_npy_parse(path, image, size, &a, err);
    CHECK((status == IO_OK) == (a.data != NULL));
    free(image);
    io_array_free(&a);
    return status;
}

static int npy_triangle(const char *path, io_error *err) {
    io_array a;
    int64_t n = 0;
    const int status =
        io_npy_read_triangle(path, &(io_triangle){ .packed = true }, 1000, &n, &a, err);
    CHECK((status == IO_OK) == (a.data != NULL));
    if (status == IO_OK) CHECK(n == 2 && ((double *)a.data)[0] == 1 && ((double *)a.data)[2] == 4);
    io_array_free(&a);
    return status;
}

static int csv(const char *path, io_error *err) {
    io_table t;
    const int status = io_csv_read(path, &t, err);
    if (status == IO_OK) CHECK(t.rows == 40 && t.data[79] == 39);
    CHECK(status == IO_OK || (!t.names && !t.data));
    io_table_free(&t);
    return status;
}

static int cells(const char *path, io_error *err) {
    io_cells c;
    const int status = io_csv_cells(path, &c, err);
    if (status == IO_OK) CHECK(c.head.rows == 40 && strcmp(c.text[79], "39") == 0);
    CHECK(status == IO_OK || (!c.head.names && !c.text && !c.line));
    io_cells_free(&c);
    return status;
}

static int json(const char *path, io_error *err) {
    io_json_value *root;
    const int status = io_json_read(path, &root, err);
    CHECK((status == IO_OK) == (root != NULL));
    if (status == IO_OK) CHECK(io_json_at(io_json_get(root, "list"), 4) != NULL);
    io_json_free(root);
    return status;
}

static int mtx(const char *path, io_error *err) {
    io_matrix m;
    io_array a = { 0 }, b = { 0 }, c = { 0 };
    int status = io_mtx_read(path, &m, err);
    if (status == IO_OK) status = matrix_dense(&m, path, 1000, &a, err);
    if (status == IO_OK) CHECK(((double *)a.data)[1] == 5 && ((double *)a.data)[3] == 4);
    io_array_free(&a);
    if (status == IO_OK) status = io_matrix_tridiagonal(&m, path, 1000, &a, &b, &c, err);
    if (status == IO_OK) CHECK(((double *)c.data)[0] == 5);
    CHECK(status == IO_OK || (!a.data && !b.data && !c.data));
    io_array_free(&a), io_array_free(&b), io_array_free(&c);
    io_matrix_free(&m);
    return status;
}

static int triplets(const char *path, io_error *err) {
    io_matrix m;
    const int status = io_triplets_read(path, 2, &m, err);
    if (status == IO_OK) CHECK(m.count == 2 && m.entries[1].value == 4);
    CHECK(status == IO_OK || !m.entries);
    io_matrix_free(&m);
    return status;
}

static double four[4] = { 1, 2, 3, 4 };
static const io_array square = { IO_F8, 2, { 2, 2 }, four };

static int write_npy(const char *path, io_error *err) { return io_npy_write(path, &square, err); }

static int write_npz(const char *path, io_error *err) {
    io_npz *z;
    struct stat info;
    int status = io_npz_open(path, &z, err);
    CHECK((status == IO_OK) == (z != NULL));
    if (status != IO_OK) return status;
    io_npz_array(z, "a", &square);
    io_npz_strings(z, "names", (const char *const[]){ "one", "two" }, 2, 20000); /* buffers grow */
    status = io_npz_close(z, err);
    if (status == IO_OK) CHECK(stat(path, &info) == 0 && info.st_size == 40490); /* by the format */
    return status;
}

static int write_png(const char *path, io_error *err) {
    static const unsigned char rgb[3 * 5 * 4];
    return io_png_write(path, 5, 4, rgb, err);
}

static int write_mtx(const char *path, io_error *err) {
    return io_mtx_write_symmetric(path, &square, err);
}

static void put_inputs(void) {
    FILE *file = fopen(in_dir("t.csv"), "w");
    CHECK(file);
    if (!file) return;
    fputs("a,\"b \"\"c\"\"\"\n", file);
    for (int i = 0; i < 40; i++) fprintf(file, "%d,%d\n", -i, i);
    fclose(file);
    const char header[] = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}";
    char image[10 + 118 + 32];
    memset(image, ' ', sizeof image);
    memcpy(image, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(image + 10, header, sizeof header - 1);
    memcpy(image + 128, (double[]){ 1, 3, 2, 4 }, 32); /* column after column */
    put_file("f.npy", image, sizeof image);
    const char text[] = "{\"list\": [1, 2.5, \"three\", {\"a\": null}, [true]], \"b\": \"c\"}";
    put_file("t.json", text, sizeof text - 1);
    const char sparse[] = "%%MatrixMarket matrix coordinate real general\n2 2 3\n"
                          "2 2 4\n1 1 1\n1 2 5\n";
    put_file("t.mtx", sparse, sizeof sparse - 1);
    put_file("t.txt", "1 1 1\n2 2 4\n", 12);
    io_error err;
    CHECK(io_npy_write(in_dir("c.npy"), &square, &err) == IO_OK);
}

static const struct job {
    const char *file;
    work *run;
} jobs[] = { { "c.npy", npy },       { "f.npy", npy },       { "c.npy", npy_triangle },
             { "t.csv", csv },       { "t.csv", cells },     { "t.json", json },
             { "t.mtx", mtx },       { "t.txt", triplets },  { "w.npy", write_npy },
             { "c.npy", write_npy }, { "w.npz", write_npz }, { "w.png", write_png },
             { "w.mtx", write_mtx }, { "f.npy", npy_parse } };
enum { JOBS = sizeof jobs / sizeof *jobs };

TEST(every_allocation_may_fail) {
    if (!COUNTED) SKIP("this build has a malloc of its own");
    put_inputs();
    for (int j = 0; j < JOBS; j++) {
        int failed = 0;
        long k = 0;
        do {
            io_error err = { "" };
            char path[IO_TEST_PATH];
            strcpy(path, in_dir(jobs[j].file));
            const long before = blocks;
            arm(ALLOCATE, ++k, ENOMEM);
            const int status = jobs[j].run(path, &err);
            hooks[ALLOCATE].failing = 0;
            CHECK_MSG(blocks == before, "job %d, allocation %ld: %ld blocks are lost", j, k,
                      blocks - before);
            CHECK_MSG(files_in_dir(".shoal-") == 0, "job %d, allocation %ld", j, k);
            if (status == IO_OK) continue; /* past the last, or one that stdio can do without */
            failed++;
            CHECK_MSG(status == IO_E_MEMORY || status == IO_E_OPEN || status == IO_E_WRITE,
                      "job %d, allocation %ld: %d", j, k, status);
            CHECK_MSG(strncmp(err.text, path, strlen(path)) == 0 && strstr(err.text, "memory"),
                      "job %d, allocation %ld: %s", j, k, err.text);
        } while (hooks[ALLOCATE].calls >= k);
        CHECK_MSG(failed > 0, "job %d: no allocation failed", j);
    }
}

TEST(texts_that_are_refused_leave_no_memory) {
    static const char *const texts[] = { "[1, \"a\\q\"]",  "{\"a\": 1, \"a\": [2]}",
                                         "[[1, 2",         "{\"a\": [1], \"b\": \"\\ud800\"}",
                                         "[1, {\"a\" 2}]", "{\"a\": nul}",
                                         "[1] 2",          "\"a" };
    static const char *const tables[] = { "a,a\n1,2\n",   "a,b\n1,2\n1\n", "a,b\n1,x\n",
                                          "a,b\n1,2,3\n", "a,\"b\n1,2\n",  "a,b\n1,\"2\n" };
    static const char *const matrices[] = { "1 1\n2 2 2\n", "2 2 3\n1 1 1\n", "2 2 1\n3 1 1\n",
                                            "2 2 1\n1 1 one\n" };
    const long before = blocks;
    io_error err;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        io_json_value *root;
        CHECK(io_json_parse("t", texts[i], strlen(texts[i]), &root, &err) != IO_OK && !root);
        CHECK_MSG(blocks == before, "%s", texts[i]);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        io_table t;
        io_cells c;
        CHECK(io_csv_parse("t", tables[i], strlen(tables[i]), &t, &err) != IO_OK);
        if (io_csv_parse_cells("t", tables[i], strlen(tables[i]), &c, &err) == IO_OK)
            io_cells_free(&c); /* numbers are not asked for there */
        CHECK_MSG(blocks == before, "%s", tables[i]);
    }
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        char text[128];
        io_matrix m;
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n%s",
                 matrices[i]);
        CHECK(io_mtx_parse("t", text, strlen(text), &m, &err) != IO_OK && !m.entries);
        CHECK_MSG(blocks == before, "%s", matrices[i]);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file that becomes shorter after its size was read: all promised bytes must have come. */
TEST(reads_that_end_early) {
    put_inputs();
    for (int j = 0; j < 3; j++) {
        int failed = 0;
        long k = 0;
        do {
            io_error err = { "" };
            char path[IO_TEST_PATH];
            strcpy(path, in_dir(jobs[j].file));
            arm(READ, ++k, 0);
            const int status = jobs[j].run(path, &err);
            hooks[READ].failing = 0;
            failed += status != IO_OK;
            CHECK_MSG(hooks[READ].calls < k || status < 0, "job %d, read %ld", j, k);
            CHECK_MSG(status == IO_OK || strncmp(err.text, path, strlen(path)) == 0, "%s",
                      err.text);
        } while (hooks[READ].calls >= k);
        CHECK_MSG(failed >= 3, "job %d: %d reads", j, failed); /* start, header, numbers */
    }
}

/* The bytes of this process: regular to stat, and the first cannot be read. */
TEST(reads_that_fail) {
    char *text;
    size_t size;
    io_error err = { "" };
    if (access("/proc/self/mem", R_OK) != 0) SKIP("there is no /proc/self/mem");
    CHECK(io_file_read("/proc/self/mem", 1 << 20, &text, &size, &err) == IO_E_OPEN && !text);
    CHECK_MSG(strstr(err.text, strerror(EIO)), "%s", err.text);
}

/* Commits "new" to a file that holds "old", with a fault; the old one stays unless `status` is IO_OK. */
static void check_commit(const char *what, int which, int error, int status) {
    io_out *out;
    io_error err = { "" };
    char *text = NULL;
    size_t size;
    put_file("kept", "old", 3);
    CHECK(io_out_open(in_dir("kept"), &out, &err) == IO_OK);
    fputs("new", io_out_file(out));
    arm(which, 1, error);
    CHECK_MSG(io_out_commit(out, &err) == status, "%s: %s", what, err.text);
    CHECK_MSG(hooks[which].calls == 1, "%s: %ld calls", what, hooks[which].calls);
    hooks[which].failing = 0;
    if (status != IO_OK) CHECK_MSG(strstr(err.text, strerror(error)), "%s: %s", what, err.text);
    CHECK(io_file_read(in_dir("kept"), 100, &text, &size, &err) == IO_OK);
    CHECK_MSG(text && strcmp(text, status == IO_OK ? "new" : "old") == 0, "%s: %s", what, text);
    CHECK_MSG(files_in_dir(".shoal-") == 0, "%s", what);
    free(text);
}

TEST(what_cannot_be_synced_or_closed_leaves_the_old_file) {
    check_commit("fsync", SYNC, EIO, IO_E_WRITE);
    check_commit("fsync, on a file system that has none", SYNC, EINVAL, IO_OK);
    check_commit("fclose", CLOSE, EDQUOT, IO_E_WRITE);
    io_out *out;
    io_error err = { "" };
    put_file("kept", "old", 3);
    arm(MODE, 1, EPERM);
    CHECK(io_out_open(in_dir("kept"), &out, &err) == IO_E_WRITE && !out);
    CHECK_MSG(strstr(err.text, strerror(EPERM)), "%s", err.text);
    CHECK(files_in_dir(".shoal-") == 0);
    arm(SYNC, 0, 0);
    CHECK(io_out_open("/dev/null", &out, &err) == IO_OK && !io_out_temporary(out));
    CHECK(io_out_commit(out, &err) == IO_OK && hooks[SYNC].calls == 0); /* no file of ours */
}

/* The target has become a directory since it was opened. */
TEST(what_cannot_be_renamed_is_removed) {
    io_out *out;
    io_error err = { "" };
    CHECK(io_out_open(in_dir("soon"), &out, &err) == IO_OK);
    fputs("new", io_out_file(out));
    CHECK(mkdir(in_dir("soon"), 0700) == 0 && files_in_dir(".shoal-") == 1);
    CHECK(io_out_commit(out, &err) == IO_E_WRITE);
    CHECK_MSG(strstr(err.text, "soon: cannot write: "), "%s", err.text);
    CHECK(files_in_dir(".shoal-") == 0);
    rmdir(in_dir("soon"));
}

/* A limit on the size of files stands for a disk that is full: the first write fails, or the last. */
TEST(what_does_not_fit_leaves_the_old_file) {
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (int early = 0; early < 2; early++) {
        io_out *out;
        io_error err = { "" };
        char *text = NULL;
        size_t size;
        put_file("kept", "old", 3);
        CHECK(io_out_open(in_dir("kept"), &out, &err) == IO_OK);
        small = before, small.rlim_cur = 4096;
        setrlimit(RLIMIT_FSIZE, &small);
        for (int i = 0; i < 5000; i++) putc('x', io_out_file(out));
        if (early) fflush(io_out_file(out)); /* what is left to flush afterwards fits */
        const int status = io_out_commit(out, &err);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(status == IO_E_WRITE);
        CHECK_MSG(strstr(err.text, strerror(EFBIG)), "%s", err.text);
        CHECK(io_file_read(in_dir("kept"), 100, &text, &size, &err) == IO_OK);
        CHECK(text && strcmp(text, "old") == 0 && files_in_dir(".shoal-") == 0);
        free(text);
    }
    signal(SIGXFSZ, SIG_DFL);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(every_allocation_may_fail);
    RUN(texts_that_are_refused_leave_no_memory);
    RUN(reads_that_end_early);
    RUN(reads_that_fail);
    RUN(what_cannot_be_synced_or_closed_leaves_the_old_file);
    RUN(what_cannot_be_renamed_is_removed);
    RUN(what_does_not_fit_leaves_the_old_file);
    remove_dir();
    return TEST_END();
}
