/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - memory that runs out, on the CPU: each allocation of the library fails in turn, in plans and runs of
 * every module. Then the status is SHOAL_E_NOMEM, the message says so, and what was allocated before is freed. Without
 * a failure nothing is left, either. The linker passes the library's calls of malloc and its kin to this file (--wrap).
 */
#include "every_module.h"
#include <errno.h>

static long calls, failing; /* allocations so far; the one that fails, 0: none */
static long blocks;         /* allocated and not freed */

extern void *__real_malloc(size_t), *__real_calloc(size_t, size_t);
extern void *__real_realloc(void *, size_t);
extern void *__real_aligned_alloc(size_t, size_t);
extern int __real_posix_memalign(void **, size_t, size_t);
extern void __real_free(void *);
extern void *__wrap_malloc(size_t), *__wrap_calloc(size_t, size_t);
extern void *__wrap_realloc(void *, size_t);
extern void *__wrap_aligned_alloc(size_t, size_t);
extern int __wrap_posix_memalign(void **, size_t, size_t);
extern void __wrap_free(void *);

static int fails(void) { return ++calls == failing; }
static void *counted(void *memory) {
    blocks += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : counted(__real_calloc(count, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
    const int error = fails() ? ENOMEM : __real_posix_memalign(memory, alignment, size);
    blocks += error == 0;
    return error;
}
void *__wrap_realloc(void *old, size_t size) {
    if (fails()) return NULL;
    blocks -= old != NULL;
    return counted(__real_realloc(old, size));
}
void __wrap_free(void *memory) {
    blocks -= memory != NULL;
    __real_free(memory);
}

TEST(no_context) {
    shoal_context *ctx = (shoal_context *)a;
    calls = 0, failing = 1;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_E_NOMEM && ctx == NULL);
    failing = 0;
    CHECK(calls == 1);
}

static void fail_in_turn(shoal_context *ctx, const char *name, job *run, const char *method,
                         const char *variant) {
    long k = 0, failed = 0;
    do {
        const long before = blocks;
        calls = 0, failing = ++k;
        const shoal_status s = run(ctx, method, variant);
        failing = 0;
        CHECK_MSG(blocks == before, "%s, allocation %ld: %ld blocks are lost", name, k,
                  blocks - before);
        if (s == SHOAL_OK) continue; /* past the last */
        failed++;
        CHECK_MSG(s == SHOAL_E_NOMEM, "%s, allocation %ld: %d", name, k, (int)s);
        CHECK_MSG(strstr(shoal_message(ctx), "memory") || strstr(shoal_message(ctx), "bytes"),
                  "%s, allocation %ld: %s", name, k, shoal_message(ctx));
    } while (calls >= k);
    CHECK_MSG(failed == k - 1 && failed > 0, "%s: %ld of %ld failed", name, failed, k - 1);
}

TEST(every_allocation_may_fail) { each_job(targets[0].ctx, fail_in_turn); }

int main(int argc, char **argv) {
    target *t = &targets[0];
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &t->ctx) != SHOAL_OK)
        return 77;
    target_count = 1;
    TEST_BEGIN(argc, argv);
    RUN(no_context);
    RUN(every_allocation_may_fail);
    close_targets();
    return TEST_END();
}
