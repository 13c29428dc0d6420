/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_file.c - a file in memory, by Linux's memfd_create and the name it has under /proc.
 */
#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

fuzz_file fuzz_file_of(const void *bytes, size_t size) {
    fuzz_file file = { memfd_create("fuzz", MFD_CLOEXEC), "" };
    if (file.fd < 0) return file;
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    for (size_t done = 0; done < size;) {
        const ssize_t some = write(file.fd, (const char *)bytes + done, size - done);
        if (some <= 0) {
            fuzz_file_close(&file);
            break;
        }
        done += (size_t)some;
    }
    return file;
}

void fuzz_file_close(fuzz_file *file) {
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

/* Bytes before the next line "---", or all. */
static size_t length_of(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 4 <= size; i++)
        if (memcmp(bytes + i, "---\n", 4) == 0 && (i == 0 || bytes[i - 1] == '\n')) return i;
    return size;
}

int fuzz_files_of(const uint8_t *bytes, size_t size, fuzz_file *files, int most) {
    int count = 0;
    for (size_t at = 0; at <= size && count < most;) {
        const size_t left = size - at,
                     length = count + 1 < most ? length_of(bytes + at, left) : left;
        files[count] = fuzz_file_of(bytes + at, length);
        if (files[count].fd < 0) {
            while (count > 0) fuzz_file_close(&files[--count]);
            return 0;
        }
        count++;
        if (length == left) break;
        at += length + 4;
    }
    return count;
}
