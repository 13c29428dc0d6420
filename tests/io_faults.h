/* SPDX-License-Identifier: Apache-2.0
 *
 * io_faults.h - memory and disks that fail: malloc, fread, fsync, fclose and fchmod of this program fail at
 * the call that arm() names and call the system's otherwise. Blocks are counted, so that a leak is seen
 * without a sanitizer. A sanitizer has its own malloc: then no allocation fails (COUNTED is 0). The
 * includer defines _GNU_SOURCE first.
 */
#ifndef SHOAL_IO_FAULTS_H
#define SHOAL_IO_FAULTS_H

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>

#include "test_io.h"

enum { ALLOCATE, READ, SYNC, CLOSE, MODE, HOOKS };

static struct {
    long calls, failing; /* so far; the one that fails, 0: none */
    int error;
} hooks[HOOKS];
static long blocks; /* allocated and not freed */

static int fails(int which) {
    if (++hooks[which].calls != hooks[which].failing) return 0;
    errno = hooks[which].error;
    return 1;
}

static void arm(int which, long call, int error) {
    hooks[which].calls = 0, hooks[which].failing = call, hooks[which].error = error;
}

#pragma GCC visibility push(default) /* what the C library itself allocates comes from here, too */

size_t fread(void *to, size_t size, size_t count, FILE *file) {
    static size_t (*next)(void *, size_t, size_t, FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fread");
    return next(to, size, fails(READ) ? count / 2 : count, file);
}

int fsync(int fd) {
    static int (*next)(int);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    return fails(SYNC) ? -1 : next(fd);
}

int fclose(FILE *file) {
    static int (*next)(FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fclose");
    const int result = next(file);
    return fails(CLOSE) ? EOF : result;
}

int fchmod(int fd, mode_t mode) {
    static int (*next)(int, mode_t);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fchmod");
    return fails(MODE) ? -1 : next(fd, mode);
}

#if defined(__GLIBC__) && !IO_TEST_SANITIZED
enum { COUNTED = 1 };
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
    void *memory = fails(ALLOCATE) ? NULL : __libc_malloc(size);
    blocks += memory != NULL;
    return memory;
}
void *calloc(size_t count, size_t size) {
    void *memory = fails(ALLOCATE) ? NULL : __libc_calloc(count, size);
    blocks += memory != NULL;
    return memory;
}
void *realloc(void *old, size_t size) {
    void *memory = fails(ALLOCATE) ? NULL : __libc_realloc(old, size);
    blocks += memory && !old;
    return memory;
}
void free(void *memory) {
    blocks -= memory != NULL;
    __libc_free(memory);
}
#else
enum { COUNTED = 0 };
#endif

#pragma GCC visibility pop

#endif
