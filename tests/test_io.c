/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io.c - files: atomic output and .npy.
 *
 * Files are made in a fresh directory under TMPDIR. test_io_mtx.c has Matrix Market and damaged
 * files, test_io_text.c JSON, CSV and SVG.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"
#include "io/npy.h"
#include "test_io.h"

/* A .npy image: version, header text (padded here), then `data_size` bytes of data. */
static size_t make_npy(char *image, int version, const char *header, const void *data,
                       size_t data_size) {
    size_t start = version == 1 ? 10 : 12, length = strlen(header);
    size_t padded = (start + length + 1 + 63) / 64 * 64 - start;
    memcpy(image, "\x93NUMPY", 6);
    image[6] = (char)version;
    image[7] = 0;
    for (size_t k = 0; k < start - 8; k++) image[8 + k] = (char)(padded >> (8 * k) & 255);
    memset(image + start, ' ', padded);
    memcpy(image + start, header, length);
    image[start + padded - 1] = '\n';
    if (data_size) memcpy(image + start + padded, data, data_size);
    return start + padded + data_size;
}

/* Parses a version 1 file with this header and 64 zero bytes of data; the status, and the text. */
static int npy_status(const char *header, io_error *err) {
    static const char zeros[64];
    char image[1024];
    io_array a;
    err->text[0] = '\0';
    size_t size = make_npy(image, 1, header, zeros, sizeof zeros);
    int status = io_npy_parse("x.npy", image, size, &a, err);
    CHECK((status == IO_OK) == (a.data != NULL));
    io_array_free(&a);
    return status;
}

TEST(npy_round_trip) {
    static const struct {
        int ndim;
        int64_t shape[IO_MAX_DIM];
    } shapes[] = { { 0, { 0 } },
                   { 1, { 7 } },
                   { 1, { 0 } },
                   { 2, { 3, 5 } },
                   { 2, { 0, 4 } },
                   { 3, { 2, 3, 4 } },
                   { 8, { 2, 1, 2, 1, 3, 1, 1, 2 } } };
    for (int type = IO_F4; type <= IO_C16; type++) {
        for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
            io_array a, b;
            io_error err = { "" };
            CHECK(io_array_create((io_type)type, shapes[k].ndim, shapes[k].shape, &a, &err) == 0);
            size_t bytes = (size_t)io_array_count(&a) * io_type_size(a.type);
            for (size_t i = 0; i < bytes; i++)
                ((unsigned char *)a.data)[i] = (unsigned char)(i * 37);
            CHECK_MSG(io_npy_write(in_dir("r.npy"), &a, &err) == IO_OK, "%s", err.text);
            CHECK((io_npy_read(in_dir("r.npy"), &b, &err) == IO_OK) == (type <= IO_U8));
            io_array_free(&b);
            CHECK_MSG(io_npy_read_complex(in_dir("r.npy"), &b, &err) == IO_OK, "%s", err.text);
            CHECK(b.type == a.type && b.ndim == a.ndim);
            CHECK(memcmp(a.shape, b.shape, sizeof a.shape) == 0);
            CHECK(b.data && memcmp(a.data, b.data, bytes) == 0);
            struct stat info;
            CHECK(stat(in_dir("r.npy"), &info) == 0 && (info.st_size - (int64_t)bytes) % 64 == 0);
            io_array_free(&a);
            io_array_free(&b);
        }
    }
}

TEST(npy_versions_and_byte_order) {
    char image[512];
    io_array a;
    io_error err = { "" };
    const unsigned char big[] = { 0x3F, 0xF8, 0, 0, 0, 0, 0, 0, 0xC0, 0x04, 0, 0, 0, 0, 0, 0 };
    for (int version = 1; version <= 3; version++) {
        size_t size =
            make_npy(image, version, "{'shape':(2,),\"descr\":'>f8','fortran_order':False}", big,
                     sizeof big);
        CHECK_MSG(io_npy_parse("x", image, size, &a, &err) == IO_OK, "%s", err.text);
        CHECK(a.data && ((double *)a.data)[0] == 1.5 && ((double *)a.data)[1] == -2.5);
        io_array_free(&a);
    }
    const unsigned char four[] = { 0x12, 0x34, 0x56, 0x78 };
    size_t size =
        make_npy(image, 1, "{'descr': '>u4', 'fortran_order': True, 'shape': (1L,), }", four, 4);
    CHECK(io_npy_parse("x", image, size, &a, &err) == IO_OK);
    CHECK(a.data && *(uint32_t *)a.data == 0x12345678);
    io_array_free(&a);
    static const char versions[][2] = { { 4, 0 }, { 0, 0 }, { 1, 1 }, { 3, 2 } };
    for (int k = 0; k < 4; k++) {
        char says[64];
        image[6] = versions[k][0], image[7] = versions[k][1];
        snprintf(says, sizeof says, "x: .npy version %d.%d is not supported", image[6], image[7]);
        CHECK(io_npy_parse("x", image, size, &a, &err) == IO_E_FORMAT);
        CHECK_MSG(strcmp(err.text, says) == 0, "%s", err.text);
    }
}

TEST(npy_fortran_order) {
    char image[1024];
    int32_t data[24];
    io_array a;
    io_error err;
    for (int i = 0; i < 24; i++) data[i] = i;
    size_t size = make_npy(image, 1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4)}",
                           data, sizeof data);
    CHECK(io_npy_parse("x", image, size, &a, &err) == IO_OK);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                CHECK(((int32_t *)a.data)[(i * 3 + j) * 4 + k] == i + 2 * j + 6 * k);
    io_array_free(&a);
}

TEST(npy_hostile_headers) {
    io_error e;
    CHECK(npy_status("{'descr': '<f8', 'fortran_order': False, 'shape': (8,), }", &e) == IO_OK);
    CHECK(npy_status("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }", &e) == IO_OK);
    CHECK(npy_status("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &e) == IO_OK);
    CHECK(npy_status("{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }", &e) == IO_E_SIZE);
    CHECK_MSG(strcmp(e.text, "x.npy: the header declares 72 bytes of data, the file has 64") == 0,
              "%s", e.text);
    CHECK(npy_status("{'descr': '|O', 'fortran_order': False, 'shape': (8,), }", &e) ==
          IO_E_FORMAT);
    CHECK_MSG(strstr(e.text, "objects"), "%s", e.text);
    CHECK(npy_status("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8,)}", &e) ==
          IO_E_FORMAT);
    CHECK_MSG(strstr(e.text, "structured"), "%s", e.text);
    CHECK(npy_status("{'descr': '<f2', 'fortran_order': False, 'shape': (8,), }", &e) ==
          IO_E_FORMAT);
    CHECK(npy_status("{'descr': '<f8', 'shape': (8,), }", &e) == IO_E_FORMAT);
    CHECK_MSG(strstr(e.text, "no key 'fortran_order'"), "%s", e.text);
    CHECK(npy_status("{}", &e) == IO_E_FORMAT);
    CHECK(npy_status("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (8,)}",
                     &e) == IO_E_FORMAT);
    CHECK_MSG(strstr(e.text, "key 'descr' twice"), "%s", e.text);
    static const char *const shapes[] = { "(-1,)",
                                          "(-4, -2)",
                                          "(4294967296, 4294967296)",
                                          "(2305843009213693952, 8)",
                                          "(9223372036854775807,)",
                                          "(0, 9223372036854775807)", /* NumPy: too big */
                                          "(1152921504606846976, 0)",
                                          "(4294967296, 0, 4294967296)",
                                          "(99999999999999999999,)",
                                          "(3)",
                                          "(1, 1, 1, 1, 1, 1, 1, 1, 1)",
                                          "(,)",
                                          "(1,,)",
                                          "(1 2)",
                                          "(1, 2",
                                          "[1, 2]",
                                          "(-)",
                                          "(0x1,)",
                                          "8",
                                          "None" };
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }",
                 shapes[k]);
        CHECK_MSG(npy_status(header, &e) != IO_OK, "%s", shapes[k]);
        CHECK_MSG(strncmp(e.text, "x.npy: ", 7) == 0, "%s", e.text);
    }
    static const char *const headers[][2] = {
        { "", "header is not a dictionary" },
        { "{", "header is not a dictionary" },
        { "}", "header is not a dictionary" },
        { "{'descr'", "header is not a dictionary" },
        { "{'descr': ", "descr" },
        { "{'descr': '<f8", "descr" },
        { "{'descr': 8}", "descr" },
        { "{'other': 1, 'descr': '<f8', 'fortran_order': False, 'shape': (8,)}",
          "unknown key 'other'" },
        { "{'shap': (8,), 'descr': '<f8', 'fortran_order': False}", "unknown key 'shap'" },
        { "{'descr': '<f8' 'fortran_order': False, 'shape': (8,)}", "header is not a dictionary" },
        { "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (8,)}", "bad 'fortran_order'" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (8,)} x", "text after the header" },
    };
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
        CHECK_MSG(npy_status(headers[k][0], &e) == IO_E_FORMAT, "%s", headers[k][0]);
        CHECK_MSG(strstr(e.text, headers[k][1]), "%s: %s", headers[k][0], e.text);
    }
}

TEST(npy_hostile_files) {
    io_array a;
    io_error e;
    char image[512];
    double eight[8] = { 0 };
    size_t size = make_npy(image, 2, "{'descr': '<f8', 'fortran_order': False, 'shape': (8,)}",
                           eight, sizeof eight);
    for (size_t cut = 0; cut < size; cut++) {
        put_file("cut.npy", image, cut);
        CHECK_MSG(io_npy_read(in_dir("cut.npy"), &a, &e) < 0 && !a.data, "cut at %zu", cut);
        CHECK(io_npy_parse("cut.npy", image, cut, &a, &e) < 0 && !a.data);
    }
    put_file("cut.npy", image, size - 8);
    CHECK(io_npy_read(in_dir("cut.npy"), &a, &e) == IO_E_SIZE);
    CHECK_MSG(strstr(e.text, "cut.npy: the header declares 64 bytes of data, the file has 56"),
              "%s", e.text);
    image[size] = 'x'; /* NumPy ignores what follows the data */
    put_file("more.npy", image, size + 1);
    CHECK(io_npy_read(in_dir("more.npy"), &a, &e) == IO_OK);
    io_array_free(&a);
    memset(image + 8, 255, 4); /* a header of 4 GiB */
    put_file("lie.npy", image, size);
    CHECK(io_npy_read(in_dir("lie.npy"), &a, &e) == IO_E_SIZE);
    put_file("empty.npy", "", 0);
    CHECK(io_npy_read(in_dir("empty.npy"), &a, &e) == IO_E_FORMAT && strstr(e.text, "empty"));
    CHECK(io_npy_read(in_dir(""), &a, &e) == IO_E_OPEN && strstr(e.text, "directory"));
    CHECK(io_npy_read(in_dir("none.npy"), &a, &e) == IO_E_OPEN && strstr(e.text, "none.npy"));
    CHECK(io_npy_read(in_dir("none.npy"), &a, NULL) == IO_E_OPEN);
}

TEST(npy_from_a_pipe) {
    int64_t n = 100000;
    io_array a, b;
    io_error e;
    CHECK(io_array_create(IO_F8, 1, &n, &a, &e) == IO_OK);
    for (int64_t i = 0; i < n; i++) ((double *)a.data)[i] = (double)i;
    char path[IO_TEST_PATH];
    strcpy(path, in_dir("pipe.npy"));
    CHECK(mkfifo(path, 0600) == 0);
    pid_t child = fork();
    if (child == 0) _exit(io_npy_write(path, &a, NULL) == IO_OK ? 0 : 1); /* direct: not renamed */
    CHECK_MSG(io_npy_read(path, &b, &e) == IO_OK, "%s", e.text);
    CHECK(b.data && memcmp(a.data, b.data, (size_t)n * 8) == 0);
    int result = 1;
    CHECK(waitpid(child, &result, 0) == child && result == 0);
    struct stat info;
    CHECK(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    io_array_free(&a);
    io_array_free(&b);
}

/* Where stdin is closed, the next file that is opened gets its number, 0. */
TEST(a_file_may_have_number_0) {
    const int kept = dup(0);
    int64_t size = 0;
    FILE *file;
    io_error e;
    close(0);
    const int first = open("/dev/null", O_RDONLY); /* is it closed? */
    close(first);
    CHECK_MSG(io_file_open("/dev/null", &file, &size, &e) == IO_OK, "%s", e.text);
    CHECK(first == 0 && file && fileno(file) == 0 && size == -1);
    if (file) fclose(file);
    if (kept >= 0) dup2(kept, 0), close(kept);
}

TEST(output_is_atomic) {
    io_out *out;
    io_error e;
    char *text;
    size_t size;
    struct stat info;
    put_file("old", "old", 3);
    CHECK(chmod(in_dir("old"), 0640) == 0);
    CHECK(symlink("old", in_dir("link")) == 0);
    CHECK(io_out_open(in_dir("link"), &out, &e) == IO_OK);
    fputs("new text", io_out_file(out));
    io_out_abandon(out);
    CHECK(io_file_read(in_dir("old"), 100, &text, &size, &e) == IO_OK && !strcmp(text, "old"));
    free(text);
    CHECK(files_in_dir(".shoal-") == 0);

    CHECK(io_out_open(in_dir("link"), &out, &e) == IO_OK);
    CHECK(files_in_dir(".shoal-") == 1);
    fputs("new text", io_out_file(out));
    CHECK(io_out_commit(out, &e) == IO_OK);
    CHECK(io_file_read(in_dir("old"), 100, &text, &size, &e) == IO_OK && !strcmp(text, "new text"));
    free(text);
    CHECK(lstat(in_dir("link"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(stat(in_dir("old"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK(files_in_dir(".shoal-") == 0);

    CHECK(io_out_open(in_dir("no/such/file"), &out, &e) == IO_E_WRITE && !out);
    CHECK(io_out_open(in_dir(""), &out, &e) == IO_E_WRITE && !out);
    CHECK(io_out_open("", &out, &e) == IO_E_WRITE && !out);
    if (geteuid() != 0) { /* root may write everything */
        CHECK(chmod(in_dir("old"), 0440) == 0);
        CHECK(io_out_open(in_dir("old"), &out, &e) == IO_E_WRITE && !out);
    }
    CHECK(io_file_read(in_dir("old"), 7, &text, &size, &e) == IO_E_SIZE && !text);
    CHECK(io_file_read(in_dir("old"), 8, &text, &size, &e) == IO_OK && size == 8);
    free(text);
    if (access("/dev/full", W_OK) == 0) {
        CHECK(io_out_open("/dev/full", &out, &e) == IO_OK);
        fputs("lost", io_out_file(out));
        CHECK(io_out_commit(out, &e) == IO_E_WRITE && strstr(e.text, "/dev/full"));
    }
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(npy_round_trip);
    RUN(npy_versions_and_byte_order);
    RUN(npy_fortran_order);
    RUN(npy_hostile_headers);
    RUN(npy_hostile_files);
    RUN(npy_from_a_pipe);
    RUN(a_file_may_have_number_0);
    RUN(output_is_atomic);
    remove_dir();
    return TEST_END();
}
