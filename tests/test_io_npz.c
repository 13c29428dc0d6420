/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_npz.c - .npz files are read back by the directory at their end: places, sizes, checksums of the
 * members, and the arrays in them.
 */
#define _XOPEN_SOURCE 700

#include "core/crc32.h"
#include "io/file.h"
#include "io/npy.h"
#include "test_io.h"

static uint32_t word(const char *at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint32_t)(unsigned char)at[i] << (8 * i);
    return value;
}

/* Member i as it lies in the archive; NULL where anything does not fit. */
static const char *member(const char *file, size_t size, int i, const char *name, uint32_t *bytes) {
    if (size < 22) return NULL;
    const char *end = file + size - 22;
    if (word(end, 4) != 0x06054b50 || (int)word(end + 10, 2) <= i) return NULL;
    const char *at = file + word(end + 16, 4);
    for (; i > 0; i--) at += 46 + word(at + 28, 2);
    const char *local = file + word(at + 42, 4);
    const uint32_t length = word(at + 28, 2);
    if (word(at, 4) != 0x02014b50 || word(local, 4) != 0x04034b50) return NULL;
    if (memcmp(at + 6, local + 4, 24) != 0) return NULL; /* version to lengths: said twice */
    if (word(local + 4, 2) != 20 || word(local + 6, 2) || word(local + 8, 2))
        return NULL; /* plain, stored */
    if (word(local + 18, 4) != word(local + 22, 4) || word(local + 28, 2))
        return NULL; /* nothing extra */
    for (int k = 32; k < 42;
         k += 2) /* no comment, the first disk, no attributes but those of a file */
        if (k != 38 && k != 40 && word(at + k, 2)) return NULL;
    if (length != strlen(name) || memcmp(at + 46, name, length) != 0) return NULL;
    if (memcmp(local + 30, name, length) != 0) return NULL;
    *bytes = word(at + 24, 4);
    const char *data = local + 30 + length;
    return shoal_crc32(0, data, *bytes) == word(at + 16, 4) ? data : NULL;
}

TEST(the_checksum_is_that_of_zip) {
    CHECK(shoal_crc32(0, "123456789", 9) == 0xCBF43926u);
    CHECK(shoal_crc32(shoal_crc32(0, "1234", 4), "56789", 5) == 0xCBF43926u);
}

TEST(arrays_read_back) {
    double numbers[6] = { 1, -2, 3.5, 0, 1e300, 5e-324 };
    const io_array array = { .type = IO_F8, .ndim = 2, .shape = { 2, 3 }, .data = numbers };
    const char *const texts[] = { "alpha", "a name of 16 byt" };
    io_npz *z;
    io_error e;
    char *file = NULL;
    size_t size = 0;
    uint32_t bytes;
    CHECK(io_npz_open(in_dir("a.npz"), &z, &e) == IO_OK);
    io_npz_array(z, "layer0.weight", &array);
    io_npz_strings(z, "names", texts, 2, 16);
    CHECK(files_in_dir("a.npz") == 0); /* complete or not at all */
    CHECK(io_npz_close(z, &e) == IO_OK);
    CHECK(io_file_read(in_dir("a.npz"), 1 << 20, &file, &size, &e) == IO_OK);
    const char *first = member(file, size, 0, "layer0.weight.npy", &bytes);
    CHECK(first);
    io_array back = { 0 };
    if (first) CHECK(io_npy_parse("first", first, bytes, &back, &e) == IO_OK);
    CHECK(back.ndim == 2 && back.shape[0] == 2 && back.shape[1] == 3);
    CHECK(back.data && memcmp(back.data, numbers, sizeof numbers) == 0);
    io_array_free(&back);
    const char *second = member(file, size, 1, "names.npy", &bytes);
    CHECK(second && bytes == 128 + 32 && strstr(second + 10, "'|S16'") && second[127] == '\n');
    CHECK(second && memcmp(second + 128, "alpha\0\0\0\0\0\0\0\0\0\0\0a name of 16 byt", 32) == 0);
    CHECK(!member(file, size, 2, "", &bytes));
    free(file);
}

TEST(what_cannot_be_written) {
    double one = 1;
    const io_array array = { .type = IO_F8, .ndim = 0, .data = &one };
    char name[80];
    io_npz *z;
    io_error e;
    CHECK(io_npz_open("/nowhere/at/all.npz", &z, &e) == IO_E_WRITE && z == NULL);
    memset(name, 'n', sizeof name), name[79] = 0;
    CHECK(io_npz_open(in_dir("n.npz"), &z, &e) == IO_OK);
    io_npz_array(z, name, &array);
    CHECK(io_npz_close(z, &e) == IO_E_SIZE && strstr(e.text, "no room"));
    CHECK(files_in_dir("n.npz") == 0);
    CHECK(io_npz_open(in_dir("n.npz"), &z, &e) == IO_OK);
    for (int i = 0; i <= 64; i++) io_npz_array(z, "x", &array);
    CHECK(io_npz_close(z, &e) == IO_E_SIZE);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(the_checksum_is_that_of_zip);
    RUN(arrays_read_back);
    RUN(what_cannot_be_written);
    remove_dir();
    return TEST_END();
}
