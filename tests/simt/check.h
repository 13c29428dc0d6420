/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - the few words the emulator's own tests need: CHECK counts failures, RUN names a test.
 */
#ifndef SHOAL_SIMT_CHECK_H
#define SHOAL_SIMT_CHECK_H

#include <stdio.h>

static int check_failures;

static inline void check_that(bool good, const char *what, const char *file, int line) {
    if (good) return;
    printf("%s:%d: failed: %s\n", file, line, what);
    check_failures++;
}

static inline void check_run(void (*test)(), const char *name) {
    int before = check_failures;
    test();
    printf("%s %s\n", check_failures == before ? "ok    " : "not ok", name);
}

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define RUN(test)        check_run(test, #test)

#endif
