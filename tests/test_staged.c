/* SPDX-License-Identifier: Apache-2.0
 *
 * test_staged.c - host arrays on a GPU: batches in pieces have the bits of the same batches in the device's memory, with
 * their outcomes and totals, in every layout, in place, for any size of the pieces; batches that are larger than the
 * GPU's memory; what is refused; cancellation.
 */
#include "test.h"
#include <math.h>
#include <shoal/shoal.h>
#include <stdbool.h>

static shoal_context *plain;     /* arrays in the device's memory */
static shoal_context *staged[3]; /* and on the host, in pieces of so many bytes: */
static const size_t pieces[3] = { 1, 6000, 2 };
enum { CONTEXTS = 4, COUNT = 103, ROOM = 1 << 17 };

static shoal_context *context(int i) { return i ? staged[i - 1] : plain; }

static bool has_gpu(void) {
    shoal_options o = { .backend = "cuda" };
    if (plain) return true;
    shoal_context *ctx;
    if (shoal_open(&o, &ctx) != SHOAL_OK) {
        printf("%s\n", shoal_message(ctx));
        shoal_close(ctx);
        return false;
    }
    plain = ctx;
    for (int i = 0; i < 3; i++) {
        o.staging = pieces[i];
        CHECK(shoal_open(&o, &staged[i]) == SHOAL_OK);
    }
    return true;
}
#define NEEDS_GPU                                                                                  \
    if (!has_gpu()) SKIP("no GPU answers")

/* ---- arrays where a context has them -------------------------------------------------------------- */

typedef struct array {
    void *host, *there;
    size_t bytes;
} array;

static array arrays[16];
static int used;

static void *give(int i, void *host, size_t bytes) {
    array *a = &arrays[used++];
    *a = (array){ host, NULL, bytes };
    if (i) {
        a->there = malloc(bytes ? bytes : 1);
        memcpy(a->there, host, bytes);
    } else {
        CHECK(shoal_alloc(plain, bytes, &a->there) == SHOAL_OK);
        CHECK(shoal_copy(plain, a->there, host, bytes) == SHOAL_OK);
    }
    return a->there;
}

static void take_back(int i) {
    for (array *a = arrays; a < arrays + used; a++) {
        if (i) {
            memcpy(a->host, a->there, a->bytes);
            free(a->there);
        } else {
            CHECK(shoal_copy(plain, a->host, a->there, a->bytes) == SHOAL_OK);
            shoal_free(plain, a->there);
        }
    }
    used = 0;
}

/* What a run leaves, that of each context beside that of the first. */
typedef struct result {
    double x[ROOM], more[ROOM];
    int32_t status[COUNT], inertia[3 * COUNT], rank[COUNT], method[COUNT];
    float residual[COUNT], rcond[COUNT];
    int64_t failed, warned, redone;
    float max_residual;
    char name[16];
} result;
static result first, here;

static shoal_outcome outcome(int i, result *r, bool all) {
    return (shoal_outcome){ .status = give(i, r->status, sizeof r->status),
                            .method = give(i, r->method, sizeof r->method),
                            .residual = all ? give(i, r->residual, sizeof r->residual) : NULL,
                            .rcond = all ? give(i, r->rcond, sizeof r->rcond) : NULL };
}

static void compare(int i, const char *what) {
    if (i == 0)
        first = here;
    else
        CHECK_MSG(memcmp(&first, &here, sizeof here) == 0, "%s, pieces of %zu bytes", what,
                  pieces[i - 1]);
}

/* ---- the modules ------------------------------------------------------------------------------------ */

static double dl[ROOM], d[ROOM], du[ROOM], b[ROOM];

static void tridiagonal(int i, const shoal_tridiag_opts *o, bool in_place, bool rcond) {
    const size_t size = o->type == SHOAL_F32 ? 4 : 8, numbers = (size_t)(o->n * o->count);
    shoal_context *ctx = context(i);
    shoal_tridiag *plan;
    shoal_tridiag_info info;
    memset(&here, 0, sizeof here);
    if (o->type == SHOAL_F32)
        shoal_tridiag_generatef(ctx, "dominant", 1, 0, o, (float *)dl, (float *)d, (float *)du,
                                (float *)b);
    else
        shoal_tridiag_generate(ctx, "dominant", 1, 0, o, dl, d, du, b);
    memset((char *)d + 5 * size, 0xff, size); /* a NaN: one system has no answer */
    memcpy(here.more, b, numbers * (size_t)o->nrhs * size);
    CHECK_MSG(shoal_tridiag_create(ctx, o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    void *at[] = { give(i, dl, numbers * size), give(i, d, numbers * size),
                   give(i, du, numbers * size) };
    void *rhs = give(i, here.more, numbers * (size_t)o->nrhs * size);
    void *x = in_place ? rhs : give(i, here.x, numbers * (size_t)o->nrhs * size);
    const shoal_outcome where = outcome(i, &here, rcond);
    CHECK_MSG(shoal_tridiag_outcome(plan, &where) == SHOAL_OK, "%s", shoal_message(ctx));
    for (int again = 0; again < 2; again++) { /* the second run has its lanes */
        if (again && in_place) break;
        const shoal_status s = o->type == SHOAL_F32
                                   ? shoal_tridiag_solvef(plan, at[0], at[1], at[2], rhs, x)
                                   : shoal_tridiag_solve(plan, at[0], at[1], at[2], rhs, x);
        CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    }
    CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
    here.failed = info.failed, here.warned = info.warned, here.redone = info.redone;
    here.max_residual = info.max_residual;
    snprintf(here.name, sizeof here.name, "%s", info.method);
    shoal_tridiag_free(plan);
    take_back(i);
    CHECK(here.failed == (o->count > 0) && here.status[o->layout ? 5 : 0] == -1);
}

TEST(tridiagonal_systems) {
    NEEDS_GPU;
    for (int form = 0; form < 16; form++) {
        const shoal_tridiag_opts o = { .n = 11,
                                       .count = COUNT,
                                       .nrhs = form & 1 ? 2 : 1,
                                       .type = form & 2 ? SHOAL_F32 : SHOAL_F64,
                                       .layout =
                                           form & 4 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR };
        for (int i = 0; i < CONTEXTS; i++) {
            tridiagonal(i, &o, form & 8, !(form & 8));
            compare(i, "tridiag");
        }
    }
}

/* solve, eig, or factors and a solve with them. */
static void small(int i, const shoal_smallsym_opts *o, int what) {
    const size_t entries = (size_t)(o->n * o->n * o->count), rows = (size_t)(o->n * o->count);
    const int64_t ld = o->ld ? o->ld : o->n, stride = o->stride ? o->stride : ld * o->n;
    const int64_t one = (o->n - 1) * ld + o->n; /* a last system has no gap behind it */
    const size_t taken = (size_t)(o->storage == SHOAL_PACKED ? o->n * (o->n + 1) / 2 * o->count
                                  : o->layout == SHOAL_INTERLEAVED ? one * o->count
                                                                   : stride * (o->count - 1) + one);
    shoal_context *ctx = context(i);
    shoal_smallsym *plan;
    shoal_smallsym_info info;
    memset(&here, 0, sizeof here);
    memset(here.more, 1, taken * sizeof(double)); /* what L does not overwrite stays */
    CHECK(shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, o, d, b) == SHOAL_OK);
    d[0] = NAN;
    CHECK_MSG(shoal_smallsym_create(ctx, o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    void *A = give(i, d, taken * sizeof(double)), *rhs = give(i, b, rows * sizeof(double));
    void *x = give(i, here.x, entries * sizeof(double));
    void *more = give(i, here.more, taken * sizeof(double));
    shoal_outcome where = outcome(i, &here, what == 0);
    if (what == 0) {
        where.rank = give(i, here.rank, sizeof here.rank);
        where.inertia = give(i, here.inertia, sizeof here.inertia);
    }
    CHECK_MSG(shoal_smallsym_outcome(plan, &where) == SHOAL_OK, "%s", shoal_message(ctx));
    shoal_status s = what == 0   ? shoal_smallsym_solve(plan, A, rhs, x)
                     : what == 1 ? shoal_smallsym_eig(plan, A, rhs, x)
                                 : shoal_smallsym_factor(plan, A, more);
    if (s == SHOAL_OK && what == 2) s = shoal_smallsym_resolve(plan, more, rhs, x);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK);
    here.failed = info.failed, here.warned = info.warned, here.redone = info.redone;
    here.max_residual = info.max_residual;
    shoal_smallsym_free(plan);
    take_back(i);
    memcpy(here.more + ROOM / 2, b, rows * sizeof(double)); /* eigenvalues */
    CHECK(here.failed == 1);
}

TEST(small_systems) {
    NEEDS_GPU;
    for (int form = 0; form < 36; form++) {
        const int what = form / 4 % 3, gaps = form / 12; /* none, after rows, after systems */
        if (gaps && (form & (gaps == 1 ? 1 : 3))) continue;
        const shoal_smallsym_opts o = { .n = 5,
                                        .count = COUNT,
                                        .nrhs = 1,
                                        .ld = gaps == 1 ? 7 : 0,
                                        .stride = gaps == 2 ? 41 : 0,
                                        .storage = form & 1 ? SHOAL_PACKED : SHOAL_FULL,
                                        .layout = form & 2 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR,
                                        .method = what == 1   ? "eigdc"
                                                  : what == 2 ? "ldlt"
                                                              : NULL };
        for (int i = 0; i < CONTEXTS; i++) {
            small(i, &o, what);
            compare(i, "smallsym");
        }
    }
}

TEST(regressions) {
    enum { M = 7, N = 3 };
    NEEDS_GPU;
    for (int layout = 0; layout < 2; layout++) {
        const shoal_smallsym_opts o = {
            .n = N, .count = COUNT, .nrhs = 2, .gram = 1, .layout = (shoal_layout)layout
        };
        for (int64_t k = 0; k < M * N * COUNT; k++) d[k] = cos((double)(k * k % 1009));
        for (int64_t k = 0; k < 2 * M * COUNT; k++) b[k] = sin((double)k);
        for (int i = 0; i < CONTEXTS; i++) {
            shoal_smallsym *plan;
            memset(&here, 0, sizeof here);
            CHECK(shoal_smallsym_create(context(i), &o, &plan) == SHOAL_OK);
            void *psi = give(i, d, M * N * COUNT * sizeof(double));
            void *y = give(i, b, 2 * M * COUNT * sizeof(double));
            void *x = give(i, here.x, 2 * N * COUNT * sizeof(double));
            CHECK_MSG(shoal_smallsym_gram(plan, M, psi, y, x) == SHOAL_OK, "%s",
                      shoal_message(context(i)));
            shoal_smallsym_free(plan);
            take_back(i);
            compare(i, "gram");
        }
    }
}

TEST(band_systems) {
    NEEDS_GPU;
    for (int form = 0; form < 12; form++) {
        const int narrow = form % 3 == 1, parts = form % 3 ? 2 : 1;
        const shoal_band_opts o = { .n = 20,
                                    .count = COUNT,
                                    .nrhs = form & 1 ? 2 : 1,
                                    .width = narrow ? 1 : 2,
                                    .is_complex = parts == 2,
                                    .layout = form < 6 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR };
        const size_t numbers = (size_t)(20 * COUNT * parts), all = numbers * (size_t)o.nrhs;
        double *const a[] = { dl, dl + numbers, d, d + numbers, du };
        CHECK(shoal_band_generate(plain, "dominant", 1, 0, &o, a[0], a[1], a[2], a[3], a[4], b) ==
              SHOAL_OK);
        d[50] = INFINITY;
        for (int i = 0; i < CONTEXTS; i++) {
            shoal_band *plan;
            shoal_band_info info;
            void *at[5] = { NULL };
            memset(&here, 0, sizeof here);
            memcpy(here.more, b, all * sizeof(double));
            CHECK(shoal_band_create(context(i), &o, &plan) == SHOAL_OK);
            for (int e = narrow; e < 5 - narrow; e++) at[e] = give(i, a[e], numbers * sizeof *b);
            void *rhs = give(i, here.more, all * sizeof *b);
            void *x = form & 2 ? rhs : give(i, here.x, all * sizeof *b);
            const shoal_outcome where = outcome(i, &here, true);
            CHECK(shoal_band_outcome(plan, &where) == SHOAL_OK);
            CHECK_MSG(shoal_band_solve(plan, at[0], at[1], at[2], at[3], at[4], rhs, x) == SHOAL_OK,
                      "%s", shoal_message(context(i)));
            CHECK(shoal_band_last(plan, &info) == SHOAL_OK && info.failed == 1);
            here.max_residual = info.max_residual;
            shoal_band_free(plan);
            take_back(i);
            compare(i, "band");
        }
    }
}

TEST(recurrences) {
    NEEDS_GPU;
    for (int form = 0; form < 32; form++) {
        const int order = form & 1 ? 2 : 1;
        const shoal_recur_opts o = { .n = 20,
                                     .count = COUNT,
                                     .order = order,
                                     .reverse = (form & 2) != 0,
                                     .constant_s = (form & 4) != 0,
                                     .layout = form & 8 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR };
        const bool in_place = form & 16;
        CHECK(shoal_recur_generate(plain, "decay", 1, 0, &o, dl, d, du) == SHOAL_OK);
        d[25] = INFINITY;
        for (int i = 0; i < CONTEXTS; i++) {
            shoal_recur *plan;
            shoal_recur_info info;
            memset(&here, 0, sizeof here);
            memcpy(here.more, d, 20 * COUNT * sizeof(double));
            CHECK(shoal_recur_create(context(i), &o, &plan) == SHOAL_OK);
            void *s = give(i, dl, (size_t)order * 20 * COUNT * sizeof(double));
            void *t = give(i, here.more, 20 * COUNT * sizeof(double));
            void *w0 = form & 4 ? NULL : give(i, du, (size_t)order * COUNT * sizeof(double));
            void *w = in_place ? t : give(i, here.x, 20 * COUNT * sizeof(double));
            const shoal_outcome where = outcome(i, &here, false);
            CHECK(shoal_recur_outcome(plan, &where) == SHOAL_OK);
            CHECK_MSG(shoal_recur_solve(plan, s, t, w0, w) == SHOAL_OK, "%s",
                      shoal_message(context(i)));
            CHECK(shoal_recur_last(plan, &info) == SHOAL_OK && info.failed == 1);
            shoal_recur_free(plan);
            take_back(i);
            compare(i, "recur");
        }
    }
}

TEST(rows_of_keys) {
    enum { N = 30 };
    NEEDS_GPU;
    for (int64_t k = 0; k < 2 * N * COUNT; k++) d[k] = sin((double)(k * k));
    for (int form = 0; form < 4; form++) {
        const int64_t stride = form & 2 ? N + 7 : N, numbers = stride * (COUNT - 1) + N;
        const shoal_sort_opts o = { .n = N,
                                    .count = COUNT,
                                    .key = SHOAL_KEY_F64,
                                    .value_bytes = 8,
                                    .index = form & 1,
                                    .stride = form & 2 ? stride : 0 };
        for (int i = 0; i < CONTEXTS; i++) {
            shoal_sort *plan;
            memset(&here, 0, sizeof here);
            CHECK(shoal_sort_create(context(i), &o, &plan) == SHOAL_OK);
            void *keys = give(i, d, (size_t)numbers * sizeof(double));
            void *values = form & 1 ? NULL : give(i, b, (size_t)numbers * sizeof(double));
            void *sorted = give(i, here.x, (size_t)numbers * sizeof(double));
            void *places = give(i, here.more, (size_t)numbers * sizeof(double));
            CHECK_MSG(shoal_sort_run(plan, keys, values, sorted, places) == SHOAL_OK, "%s",
                      shoal_message(context(i)));
            shoal_sort_free(plan);
            take_back(i);
            compare(i, "sort");
            CHECK(here.x[0] <= here.x[1] && here.x[1] < here.x[N - 1]);
        }
    }
    const shoal_merge_opts o = {
        .na = 10, .nb = N - 10, .count = COUNT, .key = SHOAL_KEY_F64, .value_bytes = 8
    };
    for (int64_t k = 0; k < N * COUNT; k++) d[k] = (double)(k / 3), b[k] = (double)k;
    for (int i = 0; i < CONTEXTS; i++) {
        shoal_merge *plan;
        memset(&here, 0, sizeof here);
        CHECK(shoal_merge_create(context(i), &o, &plan) == SHOAL_OK);
        void *u = give(i, d, 10 * COUNT * sizeof(double));
        void *v = give(i, d + 5, (N - 10) * COUNT * sizeof(double));
        void *of_u = give(i, b, 10 * COUNT * sizeof(double));
        void *of_v = give(i, b + 5, (N - 10) * COUNT * sizeof(double));
        void *merged = give(i, here.x, N * COUNT * sizeof(double));
        void *values = give(i, here.more, N * COUNT * sizeof(double));
        CHECK_MSG(shoal_merge_run(plan, u, v, merged, of_u, of_v, values) == SHOAL_OK, "%s",
                  shoal_message(context(i)));
        shoal_merge_free(plan);
        take_back(i);
        compare(i, "merge");
    }
}

/* ---- what does not fit, and what is refused --------------------------------------------------------- */

/* With SIMT_MEMORY=8388608 the emulated GPU has 8 MiB; the arrays have 24. */
TEST(more_than_the_memory_of_the_gpu) {
    NEEDS_GPU;
    const char *limit = getenv("SIMT_MEMORY");
    if (!limit || strcmp(limit, "8388608") != 0) SKIP("needs SIMT_MEMORY=8388608");
    enum { N = 64, MANY = 12000 };
    const size_t bytes = (size_t)N * MANY * sizeof(double);
    const shoal_tridiag_opts o = { .n = N, .count = MANY, .nrhs = 1, .method = "thomas" };
    double *a = malloc(4 * bytes), *room = malloc(bytes + sizeof *room),
           *x = room + 1; /* at no line's beginning */
    double *on_cpu = malloc(bytes);
    shoal_context *cpu, *gpu;
    shoal_tridiag *plan;
    const size_t piece = 1400 << 10; /* a thread takes a part of each array */
    CHECK(shoal_open(&(shoal_options){ .backend = "cuda", .staging = piece }, &gpu) == SHOAL_OK);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &cpu) == SHOAL_OK);
    CHECK(shoal_tridiag_generate(cpu, "dominant", 1, 0, &o, a, a + N * MANY, a + 2 * N * MANY,
                                 a + 3 * N * MANY) == SHOAL_OK);
    CHECK(shoal_tridiag_create(plain, &o, &plan) == SHOAL_E_NOMEM && !plan);
    for (int i = 0; i < 2; i++) {
        CHECK(shoal_tridiag_create(i ? gpu : cpu, &o, &plan) == SHOAL_OK);
        CHECK_MSG(shoal_tridiag_solve(plan, a, a + N * MANY, a + 2 * N * MANY, a + 3 * N * MANY,
                                      i ? x : on_cpu) == SHOAL_OK,
                  "%s", shoal_message(gpu));
        shoal_tridiag_free(plan);
    }
    double worst = 0;
    for (int64_t k = 0; k < N * MANY; k++) worst = fmax(worst, fabs(x[k] - on_cpu[k]));
    CHECK_MSG(worst < 1e-12, "%g", worst);
    free(a), free(room), free(on_cpu);
    shoal_close(cpu), shoal_close(gpu);
}

static int stop(void *user, const char *stage, double fraction) {
    CHECK(strcmp(stage, "systems") == 0 && fraction < 1);
    return ++*(int *)user > 0;
}

TEST(a_call_in_pieces_can_be_cancelled) {
    NEEDS_GPU;
    const int64_t n = 32, count = 4000;
    const shoal_tridiag_opts o = { .n = n, .count = count, .nrhs = 1, .method = "thomas" };
    shoal_context *ctx = staged[2]; /* a piece is one system */
    shoal_tridiag *plan;
    int asked = 0;
    CHECK(shoal_tridiag_generate(ctx, "dominant", 1, 0, &o, dl, d, du, b) == SHOAL_OK);
    CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_set_progress(ctx, stop, &asked) == SHOAL_OK);
    CHECK(shoal_tridiag_solve(plan, dl, d, du, b, here.x) == SHOAL_E_CANCELLED && asked == 1);
    CHECK(shoal_set_progress(ctx, NULL, NULL) == SHOAL_OK);
    CHECK(shoal_tridiag_solve(plan, dl, d, du, b, here.x) == SHOAL_OK);
    shoal_tridiag_free(plan);
}

#define REFUSED(call, words)                                                                       \
    CHECK_MSG((call) != SHOAL_OK && strstr(shoal_message(ctx), words), "%s", shoal_message(ctx))

TEST(options_that_need_the_device_are_refused) {
    NEEDS_GPU;
    shoal_context *ctx = staged[0];
    const int64_t offsets[] = { 0, 2 };
    const shoal_group group = { 2, 1 };
    shoal_tridiag *t;
    shoal_smallsym *s;
    shoal_sort *k;
    shoal_merge *m;
    REFUSED(shoal_tridiag_create(
                ctx, &(shoal_tridiag_opts){ .count = 1, .nrhs = 1, .offsets = offsets }, &t),
            "offsets: ");
    REFUSED(shoal_tridiag_create(ctx, &(shoal_tridiag_opts){ .n = 2, .count = -1, .nrhs = 1 }, &t),
            "count");
    REFUSED(shoal_tridiag_create(
                ctx, &(shoal_tridiag_opts){ .n = 2, .count = 9, .nrhs = 1, .method = "no" }, &t),
            "no");
    REFUSED(shoal_smallsym_create(
                ctx, &(shoal_smallsym_opts){ .nrhs = 1, .groups = &group, .group_count = 1 }, &s),
            "groups: ");
    REFUSED(shoal_sort_create(ctx, &(shoal_sort_opts){ .count = 1, .offsets = offsets }, &k),
            "offsets: ");
    REFUSED(
        shoal_merge_create(
            ctx, &(shoal_merge_opts){ .count = 1, .a_offsets = offsets, .b_offsets = offsets }, &m),
        "a_offsets: ");
    void *memory;
    CHECK(shoal_tridiag_create(ctx, &(shoal_tridiag_opts){ .n = 2, .count = 1, .nrhs = 1 }, &t) ==
          SHOAL_OK);
    CHECK(shoal_alloc(ctx, 64, &memory) == SHOAL_OK);
    REFUSED(shoal_tridiag_solve(t, memory, d, du, b, b), "dl is memory of GPU 0");
    REFUSED(shoal_tridiag_solve(t, dl, NULL, du, b, b), "d is NULL");
    REFUSED(shoal_tridiag_factor(t, dl, d, du, memory), "kept factors: ");
    shoal_free(ctx, memory);
    shoal_tridiag_free(t);
}

/* A price of American options has a plan for regressions inside, on the device. */
TEST(other_modules_keep_their_arrays_on_the_device) {
    NEEDS_GPU;
    const double spot = 100, volatility = 0.2;
    const shoal_american put = {
        .payoff = SHOAL_PUT, .strike = 100, .maturity = 1, .s0 = &spot, .sigma = &volatility
    };
    const shoal_american_opts o = { .assets = 1, .dates = 3, .fit_paths = 512 };
    shoal_price_value value[2];
    for (int i = 0; i < 2; i++)
        CHECK_MSG(shoal_american_value(context(i), &put, 1, &o, &(shoal_price_goal){ .paths = 256 },
                                       &value[i]) == SHOAL_OK,
                  "%s", shoal_message(context(i)));
    CHECK(memcmp(&value[0], &value[1], sizeof value[0]) == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(tridiagonal_systems);
    RUN(small_systems);
    RUN(regressions);
    RUN(band_systems);
    RUN(recurrences);
    RUN(rows_of_keys);
    RUN(more_than_the_memory_of_the_gpu);
    RUN(a_call_in_pieces_can_be_cancelled);
    RUN(options_that_need_the_device_are_refused);
    RUN(other_modules_keep_their_arrays_on_the_device);
    for (int i = 0; i < 3; i++) shoal_close(staged[i]);
    shoal_close(plain);
    return TEST_END();
}
