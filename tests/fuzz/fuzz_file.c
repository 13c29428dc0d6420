/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_file.c - a file in memory, by Linux's memfd_create and the name it has under /proc.
 */
#define _GNU_SOURCE

#include <stdio.h>
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
