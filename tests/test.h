/* SPDX-License-Identifier: Apache-2.0
 *
 * test.h - Shoal's test header: checks that count, a runner that names what it runs.
 *
 *     TEST(solves_the_identity) { CHECK(x[0] == 1); CHECK_MSG(n == 3, "n is %d", n); }
 *     int main(int argc, char **argv) { TEST_BEGIN(argc, argv); RUN(solves_the_identity); return TEST_END(); }
 *
 * A failed check prints file, line and condition and goes on; TEST_END() is the exit code. With
 * words as arguments only the tests whose names contain one of them run, with !word those that do not; a word that no name
 * contains is an error, exit code 2, and so is an option: a program takes its own out of the
 * arguments before TEST_BEGIN. SKIP("why") ends a test that cannot run here, MISSING("LAPACK") one that
 * lacks something which can be installed: with SHOAL_TEST_REQUIRE=1 that is a failure. A program in which
 * every test was skipped exits 77, which CTest shows as skipped; the last line counts and names the others.
 */
#ifndef SHOAL_TEST_H
#define SHOAL_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEST_WORDS = 64,
    TEST_USAGE = 2,
    TEST_NAMES = 1024
}; /* arguments at most; exit code; bytes */

static struct {
    int argc, failed_checks, checks, ran, failed, skipped;
    char **argv;
    char matched[TEST_WORDS];       /* whether argument i is part of a test's name */
    char skipped_names[TEST_NAMES]; /* ", name" each */
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

#define MISSING(what)                                                                              \
    do {                                                                                           \
        const char *required_ = getenv("SHOAL_TEST_REQUIRE");                                      \
        if (!required_ || strcmp(required_, "1") != 0) SKIP("%s is missing", what);                \
        CHECK_MSG(0, "%s is missing, and SHOAL_TEST_REQUIRE is 1", what);                          \
        return;                                                                                    \
    } while (0)

#define TEST_BEGIN(c, v) test_begin(c, v)
#define RUN(name)        test_run(#name, name)

static inline void test_begin(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' || argv[i][0] == 0) {
            fprintf(stderr, "%s: there is no option '%s'\n", argv[0], argv[i]);
            exit(TEST_USAGE);
        }
    if (argc > TEST_WORDS) {
        fprintf(stderr, "%s: more than %d arguments\n", argv[0], TEST_WORDS - 1);
        exit(TEST_USAGE);
    }
    test_state.argc = argc;
    test_state.argv = argv;
}

/* Takes --backend=NAME out of the arguments; whether it was there. Other backends stay, and are an
 * error in TEST_BEGIN. */
static inline int test_take_backend(int *argc, char **argv, const char *backend) {
    const int before = *argc;
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strncmp(argv[i], "--backend=", 10) != 0 || strcmp(argv[i] + 10, backend) != 0)
            argv[kept++] = argv[i];
    *argc = kept;
    return kept < before;
}

static inline int test_wanted(const char *name) {
    int words = 0, wanted = 0, unwanted = 0;
    for (int i = 1; i < test_state.argc; i++) {
        const int without = test_state.argv[i][0] == '!';
        const int found = strstr(name, test_state.argv[i] + without) != NULL;
        words += !without;
        if (found) test_state.matched[i] = 1;
        if (found && without) unwanted = 1;
        if (found && !without) wanted = 1;
    }
    return (wanted || !words) && !unwanted;
}

static inline void test_run(const char *name, void (*body)(void)) {
    if (!test_wanted(name)) return;
    int failed = test_state.failed_checks, skipped = test_state.skipped;
    printf("test  %s\n", name);
    fflush(stdout);
    body();
    test_state.ran++;
    if (test_state.skipped > skipped) {
        const size_t used = strlen(test_state.skipped_names);
        snprintf(test_state.skipped_names + used, TEST_NAMES - used, ", %s", name);
        if (test_state.failed_checks > failed) test_state.skipped--; /* it counts as failed */
    }
    if (test_state.failed_checks > failed) {
        test_state.failed++;
        printf("FAIL  %s: %d checks failed\n", name, test_state.failed_checks - failed);
    }
}

static inline int TEST_END(void) {
    int passed = test_state.ran - test_state.failed - test_state.skipped;
    int unknown = 0;
    printf("%d passed, %d failed, %d skipped%s%s\n", passed, test_state.failed, test_state.skipped,
           test_state.skipped ? ": " : "", test_state.skipped ? test_state.skipped_names + 2 : "");
    for (int i = 1; i < test_state.argc; i++)
        if (!test_state.matched[i]) {
            fprintf(stderr, "%s: no test has '%s' in its name\n", test_state.argv[0],
                    test_state.argv[i]);
            unknown++;
        }
    if (test_state.failed) return 1;
    if (unknown) return TEST_USAGE;
    return test_state.ran && test_state.ran == test_state.skipped ? 77 : 0;
}

#endif
