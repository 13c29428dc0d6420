/* SPDX-License-Identifier: Apache-2.0
 *
 * test_waits.c - opts.waits on a GPU: calls that wait, and start later methods of "auto" only if a system needs them, leave
 * the bits, outcomes and totals of calls that do not; call after call on the same plan, whose totals take turns, and with
 * totals that are read never, once or twice.
 */
#include "test.h"
#include <math.h>
#include <shoal/shoal.h>
#include <stdbool.h>

enum { COUNT = 43, MANY = 16400, NUMBERS = 16 * MANY, CALLS = 7 };
static double A[NUMBERS], dl[NUMBERS], du[NUMBERS], b[NUMBERS], x[2][NUMBERS];
static int32_t status[2][MANY];

static shoal_context *context(void) {
    static shoal_context *ctx;
    if (!ctx && shoal_open(&(shoal_options){ .backend = "cuda" }, &ctx) != SHOAL_OK) {
        printf("%s\n", shoal_message(ctx));
        shoal_close(ctx);
        ctx = NULL;
    }
    return ctx;
}

static void *on_gpu(const void *host, size_t bytes) {
    void *memory;
    CHECK(shoal_alloc(context(), bytes, &memory) == SHOAL_OK);
    CHECK(shoal_copy(context(), memory, host, bytes) == SHOAL_OK);
    return memory;
}

typedef struct sums {
    int64_t failed, warned, redone;
    double max_residual;
} sums;

static void compare(const char *what, int call, int64_t count, const sums *s, size_t bytes) {
    CHECK_MSG(memcmp(x[0], x[1], bytes) == 0, "%s, call %d: x", what, call);
    CHECK_MSG(memcmp(status[0], status[1], (size_t)count * sizeof **status) == 0,
              "%s, call %d: status", what, call);
    CHECK_MSG(s[0].failed == s[1].failed && s[0].warned == s[1].warned &&
                  s[0].redone == s[1].redone,
              "%s, call %d: failed %lld %lld, warned %lld %lld, redone %lld %lld", what, call,
              (long long)s[0].failed, (long long)s[1].failed, (long long)s[0].warned,
              (long long)s[1].warned, (long long)s[0].redone, (long long)s[1].redone);
    CHECK_MSG(memcmp(&s[0].max_residual, &s[1].max_residual, sizeof(double)) == 0,
              "%s, call %d: %g %g", what, call, s[0].max_residual, s[1].max_residual);
}

static int64_t tridiagonal_calls(shoal_tridiag_opts o, int asked) {
    static const char *const kinds[] = { "dominant", "zeropivot", "singular", "dominant",
                                         "nonfinite" };
    const size_t rows = (size_t)(o.n * o.count), bytes = rows * sizeof(double);
    shoal_context *ctx = context();
    shoal_tridiag *plan[2];
    int64_t redone = 0;
    for (o.waits = 0; o.waits < 2; o.waits++)
        CHECK_MSG(shoal_tridiag_create(ctx, &o, &plan[o.waits]) == SHOAL_OK, "%s",
                  shoal_message(ctx));
    o.waits = 0;
    void *to = on_gpu(x, bytes), *verdict = on_gpu(status, (size_t)o.count * sizeof **status);
    for (int call = 0; call < (o.count == MANY ? 2 : CALLS); call++) {
        sums s[2] = { 0 };
        CHECK(shoal_tridiag_generate(ctx, kinds[call % 5], (uint64_t)call, 0, &o, dl, A, du, b) ==
              SHOAL_OK);
        void *a[] = { on_gpu(dl, bytes), on_gpu(A, bytes), on_gpu(du, bytes), on_gpu(b, bytes) };
        for (int i = 0; i < 2; i++) {
            shoal_tridiag_info info;
            const shoal_outcome where = { .status = verdict };
            CHECK(shoal_tridiag_outcome(plan[i], asked == 1 ? NULL : &where) == SHOAL_OK);
            CHECK_MSG(shoal_tridiag_solve(plan[i], a[0], a[1], a[2], a[3], to) == SHOAL_OK, "%s",
                      shoal_message(ctx));
            for (int k = 0; k < asked; k++) {
                CHECK_MSG(shoal_tridiag_last(plan[i], &info) == SHOAL_OK, "%s", shoal_message(ctx));
                s[i] = (sums){ info.failed, info.warned, info.redone, info.max_residual };
            }
            redone += s[i].redone;
            CHECK(shoal_copy(ctx, x[i], to, bytes) == SHOAL_OK);
            CHECK(asked == 1 || shoal_copy(ctx, status[i], verdict,
                                           (size_t)o.count * sizeof **status) == SHOAL_OK);
        }
        compare("tridiag", call, asked == 1 ? 0 : o.count, s, bytes);
        for (int k = 0; k < 4; k++) shoal_free(ctx, a[k]);
    }
    shoal_free(ctx, to), shoal_free(ctx, verdict);
    for (int i = 0; i < 2; i++) shoal_tridiag_free(plan[i]);
    return redone;
}

TEST(tridiagonal_systems) {
    if (!context()) SKIP("no GPU answers");
    for (int asked = 0; asked < 3; asked++) {
        const shoal_tridiag_opts few = { .n = 9, .count = COUNT, .nrhs = 1 };
        CHECK((tridiagonal_calls(few, asked) > 0) == (asked > 0));
    }
    CHECK(tridiagonal_calls(
              (shoal_tridiag_opts){ .n = 5, .count = COUNT, .nrhs = 1, .method = "thomas" }, 1) ==
          0);
    CHECK(tridiagonal_calls(
              (shoal_tridiag_opts){ .n = 5, .count = COUNT, .nrhs = 1, .periodic = 1 }, 1) == 0);
    CHECK(tridiagonal_calls((shoal_tridiag_opts){ .n = 2, .count = MANY, .nrhs = 1 }, 2) >=
          0); /* several blocks sum */
}

static int64_t small_calls(shoal_smallsym_opts o, int asked) {
    static const char *const kinds[] = { "spd", "indefinite", "singular", "spd", "laplacian" };
    static const double parameters[] = { 0.5, 0.5, 7, 0.5, NAN };
    const size_t rows = (size_t)(o.n * o.count) * sizeof(double), entries = rows * (size_t)o.n;
    shoal_context *ctx = context();
    shoal_smallsym *plan[2];
    int64_t redone = 0;
    for (o.waits = 0; o.waits < 2; o.waits++)
        CHECK_MSG(shoal_smallsym_create(ctx, &o, &plan[o.waits]) == SHOAL_OK, "%s",
                  shoal_message(ctx));
    o.waits = 0;
    void *to = on_gpu(x, rows), *verdict = on_gpu(status, (size_t)o.count * sizeof **status);
    for (int call = 0; call < CALLS; call++) {
        sums s[2] = { 0 };
        CHECK_MSG(shoal_smallsym_generate(ctx, kinds[call % 5], parameters[call % 5],
                                          (uint64_t)call, 0, &o, A, b) == SHOAL_OK,
                  "%s", shoal_message(ctx));
        if (call % 4 == 3) A[0] = NAN;
        void *matrices = on_gpu(A, entries), *rhs = on_gpu(b, rows);
        for (int i = 0; i < 2; i++) {
            shoal_smallsym_info info;
            const shoal_outcome where = { .status = verdict };
            CHECK(shoal_smallsym_outcome(plan[i], &where) == SHOAL_OK);
            CHECK_MSG(shoal_smallsym_solve(plan[i], matrices, rhs, to) == SHOAL_OK, "%s",
                      shoal_message(ctx));
            for (int k = 0; k < asked; k++) {
                CHECK_MSG(shoal_smallsym_last(plan[i], &info) == SHOAL_OK, "%s",
                          shoal_message(ctx));
                s[i] = (sums){ info.failed, info.warned, info.redone, info.max_residual };
            }
            redone += s[i].redone;
            CHECK(shoal_copy(ctx, x[i], to, rows) == SHOAL_OK);
            CHECK(shoal_copy(ctx, status[i], verdict, (size_t)o.count * sizeof **status) ==
                  SHOAL_OK);
        }
        compare("smallsym", call, o.count, s, rows);
        shoal_free(ctx, matrices), shoal_free(ctx, rhs);
    }
    shoal_free(ctx, to), shoal_free(ctx, verdict);
    for (int i = 0; i < 2; i++) shoal_smallsym_free(plan[i]);
    return redone;
}

TEST(small_systems) {
    if (!context()) SKIP("no GPU answers");
    for (int asked = 0; asked < 3; asked++)
        CHECK((small_calls((shoal_smallsym_opts){ .n = 5, .count = COUNT, .nrhs = 1 }, asked) >
               0) == (asked > 0));
    CHECK(small_calls((shoal_smallsym_opts){ .n = 14, .count = COUNT, .nrhs = 1 }, 1) > 0);
    CHECK(small_calls((shoal_smallsym_opts){ .n = 5, .count = COUNT, .nrhs = 1, .method = "ldltp" },
                      1) == 0);
}

/* Calls with the arrays of the calls before, which the library replays: what they hold, and what must be done again,
 * changes. x takes turns. */
TEST(equal_arguments) {
    if (!context()) SKIP("no GPU answers");
    enum { N = 6, ROWS = N * COUNT };
    static const char *const kinds[] = { "spd", "spd", "singular", "spd", "indefinite" };
    const size_t bytes = ROWS * sizeof(double);
    shoal_context *ctx = context();
    void *matrices = on_gpu(A, N * bytes), *rhs = on_gpu(b, bytes),
         *to[] = { on_gpu(x, bytes), on_gpu(x, bytes) }, *verdict = on_gpu(status, COUNT * 4);
    shoal_smallsym_opts o = { .n = N, .count = COUNT, .nrhs = 1 };
    shoal_tridiag_opts t = { .n = N, .count = COUNT, .nrhs = 1 };
    for (int way = 0; way < 3; way++) {
        o.waits = t.waits = way == 1, o.replays = t.replays = way == 2;
        shoal_smallsym *kept;
        shoal_tridiag *bands;
        CHECK(shoal_smallsym_create(ctx, &o, &kept) == SHOAL_OK);
        CHECK(shoal_tridiag_create(ctx, &t, &bands) == SHOAL_OK);
        for (int call = 0; call < 10; call++) {
            const int is_banded = call % 2;
            const shoal_outcome where = { .status = verdict };
            sums s[2] = { 0 };
            if (is_banded)
                CHECK(shoal_tridiag_generate(ctx, call % 3 ? "zeropivot" : "dominant",
                                             (uint64_t)call, 0, &t, A, A + ROWS, A + 2 * ROWS,
                                             b) == SHOAL_OK);
            else
                CHECK(shoal_smallsym_generate(ctx, kinds[call / 2], call == 4 ? 7 : 0.5,
                                              (uint64_t)call, 0, &o, A, b) == SHOAL_OK);
            CHECK(shoal_copy(ctx, matrices, A, N * bytes) == SHOAL_OK);
            CHECK(shoal_copy(ctx, rhs, b, bytes) == SHOAL_OK);
            for (int fresh = 0; fresh < 2; fresh++) {
                shoal_smallsym *small = kept;
                shoal_tridiag *tri = bands;
                double *const m = matrices, *const into = to[call / 2 % 2];
                if (fresh) {
                    CHECK(shoal_smallsym_create(ctx, &o, &small) == SHOAL_OK);
                    CHECK(shoal_tridiag_create(ctx, &t, &tri) == SHOAL_OK);
                }
                if (is_banded) {
                    shoal_tridiag_info info;
                    CHECK(shoal_tridiag_outcome(tri, &where) == SHOAL_OK);
                    CHECK(shoal_tridiag_solve(tri, m, m + ROWS, m + 2 * ROWS, rhs, into) ==
                          SHOAL_OK);
                    CHECK(shoal_tridiag_last(tri, &info) == SHOAL_OK);
                    s[fresh] = (sums){ info.failed, info.warned, info.redone, info.max_residual };
                } else {
                    shoal_smallsym_info info;
                    CHECK(shoal_smallsym_outcome(small, &where) == SHOAL_OK);
                    CHECK(shoal_smallsym_solve(small, m, rhs, into) == SHOAL_OK);
                    CHECK(shoal_smallsym_last(small, &info) == SHOAL_OK);
                    s[fresh] = (sums){ info.failed, info.warned, info.redone, info.max_residual };
                }
                CHECK(shoal_copy(ctx, x[fresh], into, bytes) == SHOAL_OK);
                CHECK(shoal_copy(ctx, status[fresh], verdict, COUNT * 4) == SHOAL_OK);
                if (fresh) shoal_smallsym_free(small), shoal_tridiag_free(tri);
            }
            compare(is_banded ? "tridiag" : "smallsym", call, COUNT, s, bytes);
        }
        shoal_smallsym_free(kept), shoal_tridiag_free(bands);
    }
    shoal_free(ctx, matrices), shoal_free(ctx, rhs), shoal_free(ctx, verdict);
    shoal_free(ctx, to[0]), shoal_free(ctx, to[1]);
}

TEST(brief) { /* what a sanitizer watches */
    if (!context()) SKIP("no GPU answers");
    CHECK(small_calls((shoal_smallsym_opts){ .n = 2, .count = 5, .nrhs = 1 }, 1) >= 0);
    CHECK(tridiagonal_calls((shoal_tridiag_opts){ .n = 3, .count = 5, .nrhs = 1 }, 1) >= 0);
}

TEST(wrong_values) {
    if (!context()) SKIP("no GPU answers");
    shoal_tridiag *t;
    shoal_smallsym *s;
    CHECK(shoal_tridiag_create(context(),
                               &(shoal_tridiag_opts){ .n = 1, .count = 1, .nrhs = 1, .waits = 2 },
                               &t) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(context()), "waits is 2"), "%s", shoal_message(context()));
    CHECK(shoal_smallsym_create(
              context(), &(shoal_smallsym_opts){ .n = 1, .count = 1, .nrhs = 1, .waits = -1 },
              &s) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(context()), "waits is -1"), "%s", shoal_message(context()));
    CHECK(shoal_tridiag_create(context(),
                               &(shoal_tridiag_opts){ .n = 1, .count = 1, .nrhs = 1, .replays = 2 },
                               &t) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(context()), "replays is 2"), "%s", shoal_message(context()));
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(tridiagonal_systems);
    RUN(small_systems);
    RUN(equal_arguments);
    RUN(brief);
    RUN(wrong_values);
    shoal_close(context());
    return TEST_END();
}
