/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_lapack.c - the checks that LAPACK's test programs make of dsytrf_rook and dsyrfs
 * (dchksy_rook, dchksy), made of all strategies: ten types of matrix, orders 0 to 50, both triangles
 * and storages, 1, 2 and 15 right-hand sides, and the ratios of symindef_ratios.h below 30.
 *
 *     --large=1000,2000   these orders instead, with the largest ratios of each strategy
 */
#include "symindef_ratios.h"

enum { TYPES = 10, SINGULAR_FROM = 3, SINGULAR_TO = 6, MAX_ORDERS = 8, METHODS = 3 };

static int64_t large_orders[MAX_ORDERS];
static int large_count;

/* LAPACK's types for symmetric matrices, by their numbers there, as words of the generator. */
static const char *word_of(int kind, int64_t n, shoal_type type) {
    static char word[64];
    const double worst = ldexp(0.1, type == SHOAL_F32 ? 24 : 53);
    static const char *const words[] = { "diagonal", "illcond:2", "zerorow:0", "",     "zerorow",
                                         "",         "",          "illcond",   "tiny", "huge" };
    if (kind == 4) snprintf(word, sizeof word, "zerorow:%lld", (long long)(n - 1));
    if (kind == 6) snprintf(word, sizeof word, "zerotail:%lld", (long long)(n - n / 2));
    if (kind == 7) snprintf(word, sizeof word, "illcond:%.17g", sqrt(worst));
    return *words[kind - 1] ? words[kind - 1] : word;
}

static int is_singular(int kind) { return kind >= SINGULAR_FROM && kind <= SINGULAR_TO; }

static int64_t zero_rows(int kind, int64_t n) {
    return !is_singular(kind) ? 0 : kind == 6 ? n - n / 2 : 1;
}

static double *matrix_of_type(const target *t, int kind, int64_t n, shoal_type type) {
    const size_t numbers = (size_t)(n * n);
    const char *word = word_of(kind, n, type);
    double *a = new_array(numbers, sizeof *a);
    float *narrow = new_array(type == SHOAL_F32 ? numbers : 0, sizeof *narrow);
    const shoal_status status = type == SHOAL_F32
                                    ? shoal_symindef_generatef(t->ctx, word, 7, n, narrow)
                                    : shoal_symindef_generate(t->ctx, word, 7, n, a);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(t->ctx));
    for (size_t i = 0; i < numbers && type == SHOAL_F32; i++) a[i] = (double)narrow[i];
    free(narrow);
    return a;
}

/* The zero pivots are the rows of zeros, and nothing is answered. */
static void judge_singular(const judged *c, int64_t zeros) {
    const kept *k = &c->k;
    const int64_t n = k->f.n;
    CHECK_MSG(k->f.info.rank == n - zeros, "%s: rank %lld", c->what, (long long)k->f.info.rank);
    CHECK_MSG(k->f.info.sign_det == 0, "%s: det", c->what);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(k->f.a[k->f.permutation[i] * n + j]);
        const int pivot = k->f.d[i] != 0 || k->f.e[i] != 0 || k->f.interchanges[i] < 0;
        CHECK_MSG((sum == 0) == !pivot, "%s: row %d", c->what, k->f.permutation[i]);
    }
    CHECK_MSG(estimated_rcond(k) == 0, "%s: rcond", c->what);
    double *x = inverse_of(k);
    for (int64_t i = 0; i < n * n; i++) CHECK_MSG(isnan(x[i]), "%s: inverse", c->what);
    free(x);
}

static void judge_matrix(const target *t, int kind, const double *a, shoal_symindef_opts o,
                         const int *nrhs, ratios *worst) {
    const char *what = name_of(t, word_of(kind, o.n, o.type), &o);
    without_growth = 1;
    judged c = { .k = keep_matrix(t, a, o), .what = what, .unit = unit_of(o.type) / 2 };
    c.norm = norm_of(c.k.f.a, o.n), c.worst = worst;
    CHECK_MSG(c.k.f.info.status == 0 && c.k.f.stray == 0, "%s: %d", what, c.k.f.info.status);
    check_bounds(&c.k.f, alpha_0, what);
    check_counts(&c.k.f, what);
    if (o.n > 0) judge(&c, FACTORS, relative_error(&c.k.f) / ((double)o.n * c.unit));
    if (zero_rows(kind, o.n) > 0) {
        judge_singular(&c, zero_rows(kind, o.n));
    } else if (o.n > 0) {
        CHECK_MSG(c.k.f.info.rank == o.n, "%s: rank %lld", what, (long long)c.k.f.info.rank);
        judge_inverse(&c);
        for (; *nrhs; nrhs++) judge_solves(&c, *nrhs);
    } else {
        CHECK(estimated_rcond(&c.k) == 1);
        judge_solves(&c, *nrhs);
    }
    let_go(&c.k);
}

/* LAPACK leaves out zero rows where there are too few; of order 0 there is one type. */
static int has_type(int kind, int64_t n) {
    return n == 0 ? kind == 1 : !is_singular(kind) || n >= kind - 2;
}

/* All strategies, or one; all shapes at LAPACK's own orders, one at the others. `worst` is one of each
 * strategy. */
static void judge_type(const target *t, int kind, int64_t n, shoal_type type, const char *only,
                       const int *nrhs, ratios *worst) {
    static const int all_shapes[] = { 0, 1, 2, 3, 5, 10, 50 };
    const char *method;
    double *a = matrix_of_type(t, kind, n, type);
    int all = 0;
    for (int i = 0; i < 7; i++) all |= !small && n == all_shapes[i];
    for (int row = 0; row < METHODS && (method = method_at(row)) != NULL; row++)
        for (int shape = 0; shape < 4; shape++) {
            if (only && strcmp(method, only) != 0) continue;
            if (!all && shape != (kind + n + row + type) % 4) continue;
            judge_matrix(t, kind, a, shape_of(n, method, shape, type), nrhs, &worst[row]);
        }
    free(a);
}

static void print_ratios(const char *order, shoal_type type, const ratios *worst) {
    for (int row = 0; row < METHODS; row++) {
        if (worst[row].of[FACTORS] == 0) continue; /* it was not asked for */
        printf("%s %s %s", method_at(row), order, type == SHOAL_F32 ? "f32" : "f64");
        for (int i = 0; i < RATIOS; i++) printf("  %s %.2g", ratio_names[i], worst[row].of[i]);
        putchar('\n');
    }
}

/* The types that are singular, or the others. */
static void judge_small(int singular) {
    static const int few[] = { 0, 1, 2, 3, 5, 10, 17 }, nrhs[] = { 1, 2, 15, 0 };
    ratios worst[2][METHODS] = { { { { 0 } } } };
    CHECK_MSG(method_at(METHODS) == NULL, "a strategy is not tested");
    if (large_count) SKIP("large orders alone");
    for (int t = 0; t < target_count; t++)
        for (int kind = 1; kind <= TYPES; kind++)
            for (int s = 0; s < (small ? 7 : 51); s++) {
                const int64_t n = small ? few[s] : s;
                for (int type = 0; type < 2; type++)
                    if (is_singular(kind) == singular && has_type(kind, n))
                        judge_type(&targets[t], kind, n, (shoal_type)type, NULL, nrhs, worst[type]);
            }
    for (int type = 0; type < 2; type++)
        print_ratios(small ? "n <= 17" : "n <= 50", (shoal_type)type, worst[type]);
}

TEST(regular_types) { judge_small(0); }
TEST(singular_types) { judge_small(1); }

/* Beyond 2000 rows one well conditioned type, one singular and one ill conditioned. */
static void judge_large(const char *method, shoal_type type) {
    static const int nrhs[] = { 2, 0 };
    if (!large_count) SKIP("with --large=N,..");
    for (int t = 0; t < target_count; t++)
        for (int s = 0; s < large_count; s++) {
            const int64_t n = large_orders[s];
            char order[32];
            ratios worst[METHODS] = { { { 0 } } };
            for (int kind = 1; kind <= TYPES; kind++)
                if (n <= 2000 || kind == 2 || kind == 6 || kind == 8)
                    judge_type(&targets[t], kind, n, type, method, nrhs, worst);
            snprintf(order, sizeof order, "n = %lld", (long long)n);
            print_ratios(order, type, worst);
        }
}

TEST(large_orders_by_complete) { judge_large("complete", SHOAL_F64); }
TEST(large_orders_by_partial) { judge_large("partial", SHOAL_F64); }
TEST(large_orders_by_rook) { judge_large("rook", SHOAL_F64); }
TEST(large_single_by_complete) { judge_large("complete", SHOAL_F32); }
TEST(large_single_by_partial) { judge_large("partial", SHOAL_F32); }
TEST(large_single_by_rook) { judge_large("rook", SHOAL_F32); }

/* Takes --large=N,N.. out of the arguments; 0 if it makes no sense. */
static int take_large(int *argc, char **argv) {
    int left = 1;
    for (int i = 1; i < *argc; i++) {
        char *at = argv[i] + 8;
        if (strncmp(argv[i], "--large=", 8) != 0) {
            argv[left++] = argv[i];
            continue;
        }
        for (; large_count < MAX_ORDERS; at++) {
            const long n = strtol(at, &at, 10);
            if (n < 1 || n > 100000) return 0;
            large_orders[large_count++] = n;
            if (*at != ',') break;
        }
        if (*at) return 0;
    }
    *argc = left;
    return 1;
}

int main(int argc, char **argv) {
    if (!take_large(&argc, argv)) {
        fprintf(stderr, "%s: --large takes up to %d orders, 1 to 100000\n", argv[0], MAX_ORDERS);
        return TEST_USAGE;
    }
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(regular_types);
    RUN(singular_types);
    RUN(large_orders_by_complete);
    RUN(large_orders_by_partial);
    RUN(large_orders_by_rook);
    RUN(large_single_by_complete);
    RUN(large_single_by_partial);
    RUN(large_single_by_rook);
    close_targets();
    return TEST_END();
}
