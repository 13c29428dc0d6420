/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.h - what the fuzzers share: the entry that libFuzzer and replay.c call, and a file in memory for
 * readers that take a path.
 */
#ifndef SHOAL_FUZZ_H
#define SHOAL_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Gives the bytes to a reader; aborts if what was read breaks a promise of the reader's header. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct fuzz_file {
    int fd;
    char path[32]; /* by which this process can open it */
} fuzz_file;

/* A file of these bytes that has no name and is gone when it is closed; it goes without one where there
 * is no room for it: fd is -1. (fuzz_file.c) */
fuzz_file fuzz_file_of(const void *bytes, size_t size);
void fuzz_file_close(fuzz_file *file);

/* The bytes as several files, with lines "---" between them, the last of `most` with all that is left. How many;
 * 0, with none to close, where there is no room for one. */
int fuzz_files_of(const uint8_t *bytes, size_t size, fuzz_file *files, int most);

#endif
