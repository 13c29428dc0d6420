/* SPDX-License-Identifier: Apache-2.0
 *
 * targets.h - the contexts that a test runs on: the CPU at each instruction level, and CUDA, or the
 * emulator, where there is one.
 */
#ifndef SHOAL_TARGETS_H
#define SHOAL_TARGETS_H

#include <shoal/shoal.h>
#include "test.h"
#include <stdlib.h>

enum { TARGETS = 8 };

typedef struct target {
    const char *backend, *isa;
    shoal_context *ctx;
} target;

static target targets[TARGETS];
static int target_count;
static int small; /* fewer and smaller cases: for emulated runs */

static inline void *new_array(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) abort();
    return memory;
}

static inline void open_target(const char *backend, const char *isa) {
    target *t = &targets[target_count];
    shoal_status status =
        shoal_open(&(shoal_options){ .backend = backend, .isa = isa, .threads = 2 }, &t->ctx);
    t->backend = backend, t->isa = isa;
    if (status == SHOAL_OK)
        target_count++;
    else {
        printf("note  no tests on %s: %s\n", backend, shoal_message(t->ctx));
        shoal_close(t->ctx);
    }
}

/* Takes --small and --backend=... out of the arguments; 0 if there is nothing to test on. */
static inline int open_targets(int *argc, char **argv) {
    const char *only = "", *env = getenv("SHOAL_TEST_SMALL");
    int kept = 1;
    small = env && strcmp(env, "1") == 0;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--small") == 0)
            small = 1;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    if (test_take_backend(argc, argv, "cpu")) only = "cpu";
    if (test_take_backend(argc, argv, "cuda")) only = "cuda";
    if (strcmp(only, "cuda") != 0)
        for (int i = 0; shoal_isa(i); i++) open_target("cpu", shoal_isa(i));
    if (strcmp(only, "cpu") != 0) open_target("cuda", NULL);
    return target_count;
}

static inline int on_cpu(const target *t) { return strcmp(t->backend, "cpu") == 0; }
/* A level without fused multiply-add rounds twice where the others round once: v2, and an emulated library's base on
 * x86-64. */
static inline int rounds_once(const target *t) {
#ifdef __x86_64__
    if (on_cpu(t) && t->isa && strcmp(t->isa, "base") == 0) return 0;
#endif
    return !on_cpu(t) || !t->isa || strcmp(t->isa, "v2") != 0;
}

static inline void close_targets(void) {
    for (int i = 0; i < target_count; i++) shoal_close(targets[i].ctx);
}

#endif
