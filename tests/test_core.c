/* SPDX-License-Identifier: Apache-2.0
 *
 * test_core.c - texts, versions, instruction levels, contexts and their messages, memory, threads.
 */
#define _POSIX_C_SOURCE 200809L
#include <shoal/shoal.h>
#include "sanitizer.h"
#include "test.h"
#include <float.h>
#include <pthread.h>
#include <stdlib.h>

#define COUNT_ENTRY(name, value, text) +1
#define CHECK_STATUS(name, value, text)                                                            \
    CHECK((int)name == (value) && strcmp(shoal_status_text(name), text) == 0);
#define CHECK_SYSTEM(name, value, text)                                                            \
    CHECK((int)name == (value) && strcmp(shoal_system_text(name), text) == 0);

TEST(every_status_has_its_text) {
    SHOAL_STATUS_LIST(CHECK_STATUS)
    SHOAL_SYSTEM_LIST(CHECK_SYSTEM)
    CHECK((0 SHOAL_STATUS_LIST(COUNT_ENTRY)) == 10 && (0 SHOAL_SYSTEM_LIST(COUNT_ENTRY)) == 9);
    CHECK(SHOAL_SYSTEM_OVERFLOW == -5 && strstr(shoal_system_text(-5), "overflow"));
    CHECK(strstr(shoal_status_text((shoal_status)77), "unknown"));
    CHECK(strstr(shoal_system_text(-77), "unknown"));
}

TEST(the_version_is_that_of_the_header) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SHOAL_VERSION_MAJOR, SHOAL_VERSION_MINOR,
             SHOAL_VERSION_PATCH);
    CHECK(strcmp(text, shoal_version()) == 0);
}

TEST(methods_and_variants_are_listed) {
    /* outcomes report numbers of rows: these stay where they are, new ones come behind */
    static const char *const rows[] = { "thomas", "cr",       "pcr",    "hybrid",
                                        "lupp",   "twocarry", "gspike", "pscheme" };
    const int known = sizeof rows / sizeof *rows;
    const char *module;
    for (int i = 0; (module = shoal_modules(i));
         i++) { /* each has a table, and stands there once */
        CHECK_MSG(shoal_methods(module, 0) != NULL, "%s has no method", module);
        for (int k = 0; k < i; k++) CHECK(strcmp(shoal_modules(k), module) != 0);
    }
    CHECK(shoal_modules(0) && !shoal_modules(-1) && !shoal_modules(1000));
    for (int i = 0; i < known; i++) CHECK(strcmp(shoal_methods("tridiag", i), rows[i]) == 0);
    CHECK(!shoal_methods("tridiag", 1000));
    CHECK(!shoal_methods("tridiag", -1) && !shoal_methods("nonsense", 0) &&
          !shoal_methods(NULL, 0));
    CHECK(strcmp(shoal_variants("tridiag", "pcr", 0), "stride") == 0);
    CHECK(strcmp(shoal_variants("tridiag", "pcr", 1), "permute") == 0);
    CHECK(!shoal_variants("tridiag", "pcr", 2) && !shoal_variants("tridiag", "pcr", 99));
    CHECK(!shoal_variants("tridiag", "pcr", -1) && !shoal_variants("tridiag", "nonsense", 0));
    CHECK(!shoal_variants("tridiag", NULL, 0) && !shoal_variants("nonsense", "pcr", 0));
}

TEST(every_level_opens_and_says_so) {
    shoal_context *ctx;
    shoal_machine machine;
    CHECK(shoal_isa(0) && !shoal_isa(-1) && !shoal_isa(100));
    for (int i = 0; shoal_isa(i); i++) {
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .isa = shoal_isa(i), .threads = 3 },
                         &ctx) == SHOAL_OK);
        CHECK(shoal_describe(ctx, &machine) == SHOAL_OK);
        CHECK(strcmp(machine.isa, shoal_isa(i)) == 0 && strcmp(machine.backend, "cpu") == 0);
        CHECK(machine.threads == 3 && machine.memory == 0 && machine.multiprocessors == 0);
        CHECK(machine.device[0] && machine.gpu[0]);
        shoal_close(ctx);
    }
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1024 }, &ctx) == SHOAL_OK);
    CHECK(shoal_describe(ctx, &machine) == SHOAL_OK && machine.threads == 1024); /* the most */
    shoal_close(ctx);
}

TEST(the_environment_chooses_a_level) {
    shoal_context *ctx;
    shoal_machine machine;
    char before[32] = "";
    if (getenv("SHOAL_ISA")) snprintf(before, sizeof before, "%s", getenv("SHOAL_ISA"));
    setenv("SHOAL_ISA", shoal_isa(0), 1);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_OK);
    CHECK(shoal_describe(ctx, &machine) == SHOAL_OK && strcmp(machine.isa, shoal_isa(0)) == 0);
    shoal_close(ctx);
    setenv("SHOAL_ISA", "v99", 1);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(ctx), "v99"));
    shoal_close(ctx);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .isa = shoal_isa(0) }, &ctx) == SHOAL_OK);
    shoal_close(ctx); /* the option counts before the environment */
    if (before[0])
        setenv("SHOAL_ISA", before, 1);
    else
        unsetenv("SHOAL_ISA");
}

/* A context that could not be opened holds its message, refuses all work, and is closed as usual.
 */
static void check_failed(shoal_options opts, shoal_status expected, const char *word) {
    shoal_context *ctx = NULL;
    void *memory = &opts;
    shoal_tridiag *plan;
    shoal_machine machine;
    shoal_status status = shoal_open(&opts, &ctx);
    CHECK_MSG(status == expected, "returned %d for %s", status, word);
    CHECK(ctx != NULL && shoal_message(ctx)[0]);
    CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);
    CHECK(shoal_alloc(ctx, 8, &memory) == SHOAL_E_BACKEND && memory == NULL);
    CHECK(shoal_copy(ctx, &opts, &opts, 1) == SHOAL_E_BACKEND);
    CHECK(shoal_wait(ctx) == SHOAL_E_BACKEND && shoal_set_stream(ctx, NULL) == SHOAL_E_BACKEND);
    CHECK(shoal_describe(ctx, &machine) == SHOAL_E_BACKEND);
    CHECK(shoal_tridiag_create(ctx, &(shoal_tridiag_opts){ 0 }, &plan) == SHOAL_E_BACKEND &&
          plan == NULL);
    CHECK_MSG(strstr(shoal_message(ctx), word), "its message is kept: '%s'", shoal_message(ctx));
    shoal_close(ctx);
}

TEST(failed_contexts_carry_their_message) {
    check_failed((shoal_options){ .backend = "abacus" }, SHOAL_E_ARG, "abacus");
    check_failed((shoal_options){ .backend = "cpu", .threads = -1 }, SHOAL_E_ARG, "threads");
    check_failed((shoal_options){ .backend = "cpu", .threads = 1025 }, SHOAL_E_ARG, "threads");
    check_failed((shoal_options){ .backend = "cpu", .threads = 20000 }, SHOAL_E_ARG, "threads");
    check_failed((shoal_options){ .backend = "cuda", .device = -1 }, SHOAL_E_ARG, "device");
    check_failed((shoal_options){ .backend = "cpu", .isa = "mmx" }, SHOAL_E_ARG, "mmx");
    check_failed((shoal_options){ .backend = "cuda", .device = 12345 }, SHOAL_E_BACKEND, "");
    shoal_context *ctx;
    if (shoal_open(&(shoal_options){ .backend = "cuda" }, &ctx) != SHOAL_OK) {
        shoal_close(ctx);
        check_failed((shoal_options){ .backend = "cuda" }, SHOAL_E_BACKEND, "");
    } else
        shoal_close(ctx);
}

static int is_emulated(void) {
    shoal_context *ctx;
    shoal_machine machine;
    const int opened = shoal_open(&(shoal_options){ .backend = "cuda" }, &ctx) == SHOAL_OK &&
                       shoal_describe(ctx, &machine) == SHOAL_OK;
    const int emulated = opened && strcmp(machine.device, "SIMT emulator") == 0;
    shoal_close(ctx);
    return emulated;
}

TEST(messages_name_their_argument) {
    const double matrix[9] = { 1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1 };
    const double s0[3] = { 1, 1, 1 }, sigma[3] = { 0.2, 0.2, 0.2 };
    const shoal_american option = { .payoff = SHOAL_MAX_CALL,
                                    .strike = 1,
                                    .maturity = 1,
                                    .s0 = s0,
                                    .sigma = sigma,
                                    .correlation = matrix };
    shoal_context *ctx = NULL;
    shoal_price *plan;
    CHECK(shoal_open(&(shoal_options){ .threads = -5 }, &ctx) == SHOAL_E_ARG);
    shoal_argument a = shoal_message_argument(ctx);
    CHECK(strcmp(a.name, "threads") == 0 && a.index == -1);
    CHECK(strncmp(a.reason, "is -5; it must be", 17) == 0);
    shoal_close(ctx);
    a = shoal_message_argument(NULL);
    CHECK(!*a.name && a.index == -1 && !*a.reason);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_OK);
    const shoal_american_opts o = { .assets = 3, .dates = 2 };
    CHECK(shoal_price_american(ctx, &option, 1, &o, &plan) == SHOAL_E_ARG);
    a = shoal_message_argument(ctx);
    CHECK(strcmp(a.name, "correlation") == 0 && a.index == 2);
    CHECK(strncmp(a.reason, "not positive semidefinite", 25) == 0);
    shoal_close(ctx);
}

/* A GPU that the build has no code for, in the emulator: cuda fails with the command that mends it, auto takes the CPU
 * and keeps the reason. One whose capability is too low gets no command. */
TEST(a_gpu_without_code_is_named) {
    static const struct {
        const char *capability, *word;
    } gpus[] = { { "12.1", "-DSHOAL_CUDA_ARCHITECTURES=121" }, { "7.5", "need 8.0 or later" } };
    shoal_context *ctx;
    shoal_machine machine;
    if (getenv("SIMT_DEVICES") || !is_emulated()) return;
    setenv("SIMT_DEVICES", "nocode", 1);
    for (int i = 0; i < 2; i++) {
        setenv("SIMT_CAPABILITY", gpus[i].capability, 1);
        check_failed((shoal_options){ .backend = "cuda" }, SHOAL_E_BACKEND, gpus[i].word);
        CHECK(shoal_open(NULL, &ctx) == SHOAL_OK && shoal_describe(ctx, &machine) == SHOAL_OK);
        CHECK(strcmp(machine.backend, "cpu") == 0 && strncmp(machine.gpu, "none: ", 6) == 0);
        CHECK(strstr(machine.gpu, gpus[i].word) && strstr(machine.gpu, "SIMT emulator"));
        shoal_close(ctx);
    }
    unsetenv("SIMT_DEVICES");
    unsetenv("SIMT_CAPABILITY");
}

TEST(auto_always_opens) {
    shoal_context *ctx;
    shoal_machine machine;
    CHECK(shoal_open(NULL, &ctx) == SHOAL_OK);
    CHECK(shoal_describe(ctx, &machine) == SHOAL_OK);
    CHECK(machine.threads >= 1 && machine.gpu[0]);
    CHECK(strcmp(shoal_message(ctx), "") == 0);
    shoal_close(ctx);
    CHECK(shoal_open(&(shoal_options){ .device = 12345 }, &ctx) == SHOAL_OK); /* no such GPU: CPU */
    CHECK(shoal_describe(ctx, &machine) == SHOAL_OK && strcmp(machine.backend, "cpu") == 0);
    shoal_close(ctx);
}

TEST(null_is_refused) {
    void *memory;
    shoal_machine machine;
    CHECK(shoal_open(NULL, NULL) == SHOAL_E_ARG);
    CHECK(strcmp(shoal_message(NULL), "") == 0);
    CHECK(shoal_alloc(NULL, 8, &memory) == SHOAL_E_ARG);
    CHECK(shoal_copy(NULL, &memory, &memory, 1) == SHOAL_E_ARG);
    CHECK(shoal_wait(NULL) == SHOAL_E_ARG && shoal_describe(NULL, &machine) == SHOAL_E_ARG);
    shoal_free(NULL, NULL);
    shoal_close(NULL);
}

/* On the CPU, and on CUDA where there is one. */
static void check_memory(shoal_context *ctx) {
    char here[1000], back[1000] = { 0 };
    void *blocks[20];
    for (int i = 0; i < 1000; i++) here[i] = (char)(i * 7);
    for (int i = 0; i < 20; i++) {
        CHECK_MSG(shoal_alloc(ctx, (size_t)(i * i), &blocks[i]) == SHOAL_OK, "%s",
                  shoal_message(ctx));
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 256 == 0);
    }
    CHECK(shoal_copy(ctx, blocks[19], here, 361) == SHOAL_OK);
    CHECK(shoal_copy(ctx, blocks[18], blocks[19], 324) == SHOAL_OK);
    CHECK(shoal_copy(ctx, back, blocks[18], 324) == SHOAL_OK);
    CHECK(memcmp(here, back, 324) == 0 && back[324] == 0);
    CHECK(shoal_copy(ctx, NULL, NULL, 0) == SHOAL_OK);
    CHECK(shoal_copy(ctx, NULL, here, 1) == SHOAL_E_ARG &&
          strstr(shoal_message(ctx), "to is NULL"));
    CHECK(shoal_copy(ctx, back, NULL, 1) == SHOAL_E_ARG &&
          strstr(shoal_message(ctx), "from is NULL"));
    CHECK(shoal_alloc(ctx, 8, NULL) == SHOAL_E_ARG && strstr(shoal_message(ctx), "memory"));
    void *none = here;
    CHECK(shoal_alloc(ctx, SIZE_MAX, &none) == SHOAL_E_NOMEM && none == NULL);
    CHECK(shoal_alloc(ctx, SIZE_MAX / 4, &none) == SHOAL_E_NOMEM && none == NULL);
    CHECK(shoal_message(ctx)[0]);
    for (int i = 0; i < 20; i++) shoal_free(ctx, blocks[i]);
    shoal_free(ctx, NULL);
    CHECK(shoal_wait(ctx) == SHOAL_OK && shoal_set_stream(ctx, NULL) == SHOAL_OK);
}

TEST(memory_is_given_copied_and_taken_back) {
    const char *const backends[] = { "cpu", "cuda" };
    for (int i = 0; i < 2; i++) {
        shoal_context *ctx;
        if (shoal_open(&(shoal_options){ .backend = backends[i] }, &ctx) == SHOAL_OK)
            check_memory(ctx);
        else
            CHECK(i == 1);
        shoal_close(ctx);
    }
}

/* -ffast-math anywhere in a shared library would switch subnormal numbers off for all of us. */
TEST(subnormal_numbers_survive_the_library) {
    volatile double least = 5e-324, half = DBL_MIN;
    volatile float single = FLT_MIN;
    shoal_context *ctx;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_OK);
    CHECK(least != 0 && least * 1.0 == 5e-324);
    CHECK(half / 2 != 0 && single / 2 != 0);
    shoal_close(ctx);
}

/* Each thread has a context of its own, with its own message, and solves at the same time. */
static void *work(void *number) {
    int id = *(int *)number, good = 1;
    char word[32];
    snprintf(word, sizeof word, "method-%d", id);
    for (int round = 0; round < 20; round++) {
        shoal_context *ctx;
        shoal_tridiag *plan, *none;
        double dl[2] = { 0, 0 }, d[2] = { id + 2, id + 2 }, b[2] = { id + 2, 2 * (id + 2) }, x[2];
        good &= shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) == SHOAL_OK;
        shoal_tridiag_opts o = { .n = 2, .count = 1, .nrhs = 1, .method = word };
        good &= shoal_tridiag_create(ctx, &o, &none) == SHOAL_E_METHOD;
        o.method = "lupp";
        good &= shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK;
        good &= shoal_tridiag_solve(plan, dl, d, dl, b, x) == SHOAL_OK && x[0] == 1 && x[1] == 2;
        good &= strstr(shoal_message(ctx), word) != NULL;
        shoal_tridiag_free(plan);
        shoal_close(ctx);
    }
    *(int *)number = good;
    return NULL;
}

TEST(contexts_work_in_several_threads) {
    pthread_t threads[6];
    int numbers[6];
    for (int i = 0; i < 6; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        CHECK(numbers[i] == 1);
    }
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(every_status_has_its_text);
    RUN(the_version_is_that_of_the_header);
    RUN(methods_and_variants_are_listed);
    RUN(every_level_opens_and_says_so);
    RUN(the_environment_chooses_a_level);
    RUN(failed_contexts_carry_their_message);
    RUN(messages_name_their_argument);
    RUN(a_gpu_without_code_is_named);
    RUN(auto_always_opens);
    RUN(null_is_refused);
    RUN(memory_is_given_copied_and_taken_back);
    RUN(subnormal_numbers_survive_the_library);
    RUN(contexts_work_in_several_threads);
    return TEST_END();
}
