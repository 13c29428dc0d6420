/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io.h - what the tests of io/ share: a directory of their own, and damage done to files.
 * The includer defines _XOPEN_SOURCE 700 first.
 */
#ifndef SHOAL_TEST_IO_H
#define SHOAL_TEST_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

#define IO_TEST_PATH 4096

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IO_TEST_SANITIZED 1
#endif
#endif
#ifndef IO_TEST_SANITIZED
#define IO_TEST_SANITIZED 0
#endif

static char test_dir[IO_TEST_PATH / 2];

/* A fresh directory under TMPDIR, or where the system keeps temporary files. */
static inline bool make_dir(void) {
    const char *base = getenv("TMPDIR");
    snprintf(test_dir, sizeof test_dir, "%s/shoal-test-io-XXXXXX", base && *base ? base : P_tmpdir);
    if (mkdtemp(test_dir)) return true;
    perror(test_dir);
    return false;
}

/* Path of a file in the directory; valid until the next call. */
static inline const char *in_dir(const char *name) {
    static char path[IO_TEST_PATH];
    snprintf(path, sizeof path, "%s/%s", test_dir, name);
    return path;
}

/* Number of files whose names begin with `prefix`; removes them if `remove` says so. */
static inline int walk_dir(const char *prefix, bool removing) {
    int count = 0;
    DIR *dir = opendir(test_dir);
    if (!dir) return -1;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        count++;
        if (removing) unlink(in_dir(entry->d_name));
    }
    closedir(dir);
    return count;
}

static inline int files_in_dir(const char *prefix) { return walk_dir(prefix, false); }

static inline void remove_dir(void) {
    walk_dir("", true);
    rmdir(test_dir);
}

static inline void put_file(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(in_dir(name), "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file) fclose(file);
}

/* splitmix64: the damage must be the same on every machine. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* A damaged copy of `bytes` in memory of exactly its size, so that a sanitizer sees every step past
 * the end: some bytes changed, some of them to digits and signs, and often the end cut off. */
static inline char *damage(const char *bytes, size_t *size, uint64_t *state) {
    static const char tempting[] = "0123456789-+.,:%'\"(){}[]eEnaif \n\r\xff";
    size_t kept = next_random(state) % 3 == 0 ? next_random(state) % (*size + 1) : *size;
    char *copy = malloc(kept ? kept : 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, kept);
    int changes = (int)(next_random(state) % 6);
    for (int k = 0; k < changes && kept > 0; k++) {
        size_t at = next_random(state) % kept;
        uint64_t how = next_random(state);
        copy[at] = how & 1 ? (char)(copy[at] ^ 1 << (how >> 8 & 7))
                           : tempting[(how >> 8) % (sizeof tempting - 1)];
    }
    *size = kept;
    return copy;
}

/* Limits the address space, so that a reader that believes a hostile size is refused the memory;
 * returns the old limit for restore_memory. A sanitizer needs terabytes of it: then no limit. */
static inline struct rlimit limit_memory(rlim_t bytes) {
    struct rlimit old, lower;
    getrlimit(RLIMIT_AS, &old);
    lower = old;
    lower.rlim_cur = bytes;
    if (!IO_TEST_SANITIZED) setrlimit(RLIMIT_AS, &lower);
    return old;
}

static inline void restore_memory(struct rlimit old) { setrlimit(RLIMIT_AS, &old); }

#endif
