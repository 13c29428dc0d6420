/* SPDX-License-Identifier: Apache-2.0
 *
 * test.h - Shoal's test header: checks that count, a runner that names what it runs.
 *
 *     TEST(solves_the_identity) { CHECK(x[0] == 1); CHECK_MSG(n == 3, "n is %d", n); }
 *     int main(int argc, char **argv) { TEST_BEGIN(argc, argv); RUN(solves_the_identity); return TEST_END(); }
 *
 * A failed check prints file, line and condition and goes on; TEST_END() is the exit code. With
 * arguments only the tests whose names contain one of them run. SKIP("why") ends a test that
 * cannot run here; a program in which every test was skipped exits 77, which CTest shows as
 * skipped.
 */
#ifndef SHOAL_TEST_H
#define SHOAL_TEST_H

#include <stdio.h>
#include <string.h>

static struct {
    int argc, failed_checks, checks, ran, failed, skipped;
    char **argv;
} test_state;

#define TEST(name) static void name(void)

#define CHECK(condition) CHECK_MSG(condition, "%s", "")

#define CHECK_MSG(condition, ...)                                                                  \
    do {                                                                                           \
        test_state.checks++;                                                                       \
        if (!(condition)) {                                                                        \
            test_state.failed_checks++;                                                            \
            if (test_state.failed_checks <= 50) {                                                  \
                fprintf(stderr, "%s:%d: failed: %s  ", __FILE__, __LINE__, #condition);            \
                fprintf(stderr, __VA_ARGS__);                                                      \
                fputc('\n', stderr);                                                               \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define SKIP(...)                                                                                  \
    do {                                                                                           \
        printf("skip  ");                                                                          \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        test_state.skipped++;                                                                      \
        return;                                                                                    \
    } while (0)

#define TEST_BEGIN(c, v) (test_state.argc = (c), test_state.argv = (v))
#define RUN(name)        test_run(#name, name)

static inline int test_wanted(const char *name) {
    for (int i = 1; i < test_state.argc; i++)
        if (strstr(name, test_state.argv[i])) return 1;
    return test_state.argc <= 1;
}

static inline void test_run(const char *name, void (*body)(void)) {
    if (!test_wanted(name)) return;
    int failed = test_state.failed_checks;
    printf("test  %s\n", name);
    fflush(stdout);
    body();
    test_state.ran++;
    if (test_state.failed_checks > failed) {
        test_state.failed++;
        printf("FAIL  %s: %d checks failed\n", name, test_state.failed_checks - failed);
    }
}

static inline int TEST_END(void) {
    int passed = test_state.ran - test_state.failed - test_state.skipped;
    printf("%d passed, %d failed, %d skipped\n", passed, test_state.failed, test_state.skipped);
    if (test_state.failed) return 1;
    return test_state.ran && test_state.ran == test_state.skipped ? 77 : 0;
}

#endif
