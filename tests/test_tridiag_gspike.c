/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_gspike.c - the g-Spike method against its paper: the errors of Table 2 on 21 matrices,
 * those of Tables 3 and 4 with singular blocks, its failure in Table 5, and the warning of the condition
 * estimate there. With --print the tables of docs/tridiag.md are written.
 *
 *     test_tridiag_gspike [--small] [--print] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

static const call gspike = { "gspike", NULL, 0 }, lupp = { "lupp", NULL, 1 },
                  twocarry = { "twocarry", NULL, 1 };
static int print;

/* The paper's errors are those of one draw; ours, of others. A random matrix's condition and the luck of
 * one right-hand side are each worth a factor of a few. */
enum { FACTOR = 10, DRAWS = 7, MOST = 11 };

typedef struct errors {
    double forward, backward; /* RER in the 2-norm, NBE in the maximum norm */
    double largest;           /* RER in the maximum norm */
    int status;
} errors;

/* System k of a kind; `x` becomes what b was made from. */
static batch one(const char *kind, int64_t n, int64_t k, double **x) {
    batch p = new_batch(n, 1, 1, SHOAL_F64);
    shoal_tridiag_opts shape = { .n = n, .count = 1, .nrhs = 1 };
    *x = new_array((size_t)n, sizeof **x);
    CHECK_MSG(shoal_tridiag_generate(targets[0].ctx, kind, 1, k, &shape, p.dl, p.d, p.du, p.b) ==
                      SHOAL_OK &&
                  shoal_tridiag_exact(targets[0].ctx, kind, 1, k, &shape, *x) == SHOAL_OK,
              "%s", shoal_message(targets[0].ctx));
    return p;
}

static errors errors_of(shoal_context *ctx, const batch *p, const double *exact, const call *method,
                        how h) {
    answer r = solve_with(ctx, p, method, h);
    errors e = { INFINITY, INFINITY, INFINITY, r.status[0] };
    double above = 0, below = 0, error = 0, most = 0;
    for (int64_t i = 0; i < p->n; i++) {
        above += (r.x[i] - exact[i]) * (r.x[i] - exact[i]);
        below += exact[i] * exact[i];
        error = fmax(error, fabs(r.x[i] - exact[i])), most = fmax(most, fabs(exact[i]));
    }
    if (r.status[0] >= 0)
        e = (errors){ sqrt(above / below), backward_error(p, 0, 0, r.x), error / most, e.status };
    free_answer(&r);
    return e;
}

static int by_size(const void *u, const void *v) {
    const double a = *(const double *)u, b = *(const double *)v;
    return (a > b) - (a < b);
}

static double median(double *v, int count) {
    qsort(v, (size_t)count, sizeof *v, by_size);
    return v[count / 2];
}

/* The rest of a row: what other methods make of the same draws. */
static void print_others(shoal_context *ctx, const char *kind, int draws, double paper, double b) {
    const call *const others[] = { &twocarry, &lupp };
    double forward[2][DRAWS], backward[2][DRAWS], *x;
    for (int k = 0; k < draws; k++) {
        batch p = one(kind, 4096, k, &x);
        for (int m = 0; m < 2; m++) {
            const errors e = errors_of(ctx, &p, x, others[m], (how){ 0 });
            forward[m][k] = e.forward, backward[m][k] = e.backward;
        }
        free_batch(&p), free(x);
    }
    for (int m = 0; m < 2; m++) printf(" %.2e |", median(forward[m], draws));
    printf(" %.2e | %.2e |", paper, b);
    for (int m = 0; m < 2; m++) printf(" %.2e |", median(backward[m], draws));
    printf("\n");
}

/* Of condition numbers far above 1e16 the forward errors say nothing, #12 to #15, and the backward errors of
 * single draws span nine decades. Of #8 to #11, condition 1e15, the paper's g-Spike and MATLAB columns
 * differ up to 30 times: the larger of both counts. #12 and #14 are ill-conditioned by products along
 * many rows, which the last reduced system need not show; the others come with a warning. */
TEST(table_2) {
    const double paper[21][2] = {
        { 2.38e-14, 1.07e-15 }, { 1.17e-16, 7.77e-17 }, { 2.07e-16, 9.25e-17 },
        { 3.84e-14, 4.65e-15 }, { 1.46e-13, 2.01e-15 }, { 1.51e-16, 1.38e-16 },
        { 4.38e-16, 8.50e-17 }, { 9.06e-07, 9.84e-17 }, { 2.12e-05, 1.03e-16 },
        { 1.37e-04, 7.82e-17 }, { 8.40e-05, 7.51e-17 }, { 1.57e+03, 1.41e-07 },
        { 2.00e+00, 9.03e-17 }, { 5.70e+03, 8.59e-11 }, { 7.28e+03, 1.14e-13 },
        { 5.01e-15, 8.11e-17 }, { 1.54e-16, 1.57e-16 }, { 1.85e-16, 9.93e-17 },
        { 1.67e-16, 1.45e-16 }, { 1.73e-16, 1.41e-16 }, { 5.01e-11, 1.08e-15 }
    };
    const double matlab[21] = { [7] = 2.93e-05, [8] = 2.34e-05, [9] = 5.27e-05, [10] = 5.74e-04 };
    const int draws = small ? 1 : DRAWS;
    for (int number = 1; number <= 21; number++)
        for (int t = 0; t < target_count; t++) {
            char kind[32];
            double forward[DRAWS], backward[DRAWS], *x;
            int warned = 1;
            snprintf(kind, sizeof kind, "spike%d", number);
            for (int k = 0; k < draws; k++) {
                batch p = one(kind, 4096, k, &x);
                const errors e = errors_of(targets[t].ctx, &p, x, &gspike, (how){ .no_split = 1 });
                forward[k] = e.forward, backward[k] = e.backward, warned &= e.status == 1;
                free_batch(&p), free(x);
            }
            const double f = median(forward, draws), b = median(backward, draws);
            if (print && t == target_count - 1) {
                printf("| %d | %.2e | %.2e |", number, paper[number - 1][0], f);
                print_others(targets[t].ctx, kind, draws, paper[number - 1][1], b);
            }
            if (draws < DRAWS) continue; /* one draw has any luck */
            const int hopeless = number >= 12 && number <= 15;
            CHECK_MSG(hopeless || f <= FACTOR * fmax(paper[number - 1][0], matlab[number - 1]),
                      "#%d: forward error %.3g", number, f);
            /* of #14 the median of these draws is 1.5e-9 on a CPU and 3.1e-8 on an H200 */
            const int luck = number == 14 && strcmp(targets[t].backend, "cuda") == 0;
            const double most = (hopeless ? 10 : 1) * FACTOR * paper[number - 1][1];
            CHECK_MSG(b <= (luck ? 1e-6 : most), "#%d: backward error %.3g", number, b);
            CHECK_MSG((number != 13 && number != 15) || warned, "#%d: no warning", number);
        }
}

static const int counts[MOST] = { 0, 1, 2, 4, 8, 32, 128, 512, 2048, 8192, 32768 };

/* No farther from the truth than 10 times the paper, or than elimination with pivoting is: where all blocks
 * are singular #18 is one Toeplitz matrix of condition 1e8 here. */
static void check_blocks(const batch *p, const double *x, double paper, int count, int number) {
    const errors best = errors_of(targets[0].ctx, p, x, &lupp, (how){ 0 });
    for (int t = 0; t < target_count; t++) {
        const errors e = errors_of(targets[t].ctx, p, x, &gspike, (how){ 0 });
        CHECK_MSG(e.forward <= FACTOR * fmax(paper, best.forward),
                  "#%d, %d blocks: forward error %.3g, lupp %.3g", number, count, e.forward,
                  best.forward);
        if (print && t == target_count - 1)
            printf("| #%d | %d | %.2e | %.2e | %.2e | %.2e |\n", number, count, paper, e.forward,
                   errors_of(targets[t].ctx, p, x, &twocarry, (how){ 0 }).forward, best.forward);
    }
}

TEST(table_3) {
    const double paper[MOST] = { 1.35e-16, 6.75e-16, 9.56e-16, 1.34e-15, 1.89e-15, 3.76e-15,
                                 7.48e-15, 1.50e-14, 3.02e-14, 5.87e-14, 8.42e-14 };
    const int64_t n = small ? 1 << 14 : 1 << 20;
    for (int i = 0; i < MOST && counts[i] < (small ? n / 32 : n); i++) {
        char kind[32];
        double *x;
        snprintf(kind, sizeof kind, "block18:%d", counts[i]);
        batch p = one(i ? kind : "spike18", n, 0, &x);
        check_blocks(&p, x, paper[i], counts[i], 18);
        free_batch(&p), free(x);
    }
}

/* One singular block, copied, as the paper's words and numbers suggest: of many that are drawn anew some
 * have a null vector that hardly reaches their last row, which is Table 5's case. */
TEST(table_4) {
    const double paper[MOST] = { 7.01e-12, 5.85e-13, 9.49e-13, 2.24e-12, 3.73e-13, 2.27e-12,
                                 7.85e-12, 9.02e-12, 2.86e-12, 1.22e-11, 1.87e-10 };
    const int64_t n = small ? 1 << 14 : 1 << 20, blocks = n / 32;
    double *x;
    for (int i = 0; i < MOST && counts[i] <= blocks; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "copy1:%d", counts[i]);
        batch p = one(i ? kind : "spike1", n, 0, &x);
        check_blocks(&p, x, paper[i], counts[i], 1);
        free_batch(&p), free(x);
    }
}

/* Figure 1: blocks of 3 and 2 rows, both singular, in a matrix that is not; and other sizes of blocks, with rows that
 * fill no block. Tiles of 5 rows cut into blocks of 3 lose digits, and the status says so. */
TEST(blocks_of_any_size) {
    const struct {
        const char *kind;
        int64_t n;
        int block, status;
    } cases[] = { { "fig1", 5, 3, 0 },          { "fig1", 5, 2, 0 },
                  { "fig1", 500, 3, 1 },        { "fig1", 500, 5, 0 },
                  { "spike1", 997, 2, 0 },      { "spike1", 997, 7, 0 },
                  { "block18:8", 4096, 64, 0 }, { "spike18", 4096, 1000, 0 },
                  { "spike18", 333, 4096, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *x;
        batch p = one(cases[i].kind, cases[i].n, 0, &x);
        const errors best = errors_of(targets[0].ctx, &p, x, &lupp, (how){ 0 });
        for (int t = 0; t < target_count; t++) {
            const errors e =
                errors_of(targets[t].ctx, &p, x, &gspike, (how){ .block = cases[i].block });
            const double slack = cases[i].status ? 1e3 : 1;
            CHECK_MSG(e.status == cases[i].status &&
                          e.forward <= slack * fmax(20 * best.forward, 1e-15) &&
                          e.backward <= slack * 2e-14,
                      "%s, n=%lld, %d rows: %.3g, lupp %.3g; backward %.3g, status %d",
                      cases[i].kind, (long long)cases[i].n, cases[i].block, e.forward, best.forward,
                      e.backward, (int)e.status);
        }
        free_batch(&p), free(x);
    }
}

/* Near singularity that R_mm does not show: the paper's backward errors are 6e-6 to 6e-2. Where a condition
 * estimate is asked for, a warning says so, and nowhere else. */
TEST(table_5_fails_and_the_estimate_warns) {
    const char *const kinds[] = { "hidden1:1", "hidden1:4", "hidden18:1", "hidden18:4" };
    const int64_t n = small ? 1 << 13 : 1 << 20;
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        for (int i = 0; i < 4; i++) {
            double *x;
            batch p = one(kinds[i], n, 0, &x);
            const errors e = errors_of(ctx, &p, x, &gspike, (how){ .tol = 1 });
            CHECK_MSG(e.backward > 1e-8, "%s: backward error %.3g", kinds[i], e.backward);
            CHECK_MSG(
                errors_of(ctx, &p, x, &gspike, (how){ .cond = 1e12, .no_residual = 1 }).status == 1,
                "%s: no warning", kinds[i]);
            const errors best = errors_of(targets[0].ctx, &p, x, &lupp, (how){ 0 });
            if (print && t == target_count - 1) {
                const errors other = errors_of(ctx, &p, x, &twocarry, (how){ 0 });
                printf("| %s | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e |\n", kinds[i], e.largest,
                       e.backward, other.largest, other.backward, best.largest, best.backward);
            }
            free_batch(&p), free(x);
        }
        double *x;
        batch p = one("block18:8", 4096, 0, &x);
        CHECK(errors_of(ctx, &p, x, &gspike, (how){ .cond = 1e12 }).status == 0);
        CHECK(errors_of(ctx, &p, x, &gspike, (how){ .cond = 1.5 }).status == 1);
        free_batch(&p), free(x);
    }
}

int main(int argc, char **argv) {
    int kept = 1;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--print") == 0)
            print = 1;
        else
            argv[kept++] = argv[i];
    argc = kept;
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(table_2);
    RUN(table_3);
    RUN(table_4);
    RUN(blocks_of_any_size);
    RUN(table_5_fails_and_the_estimate_warns);
    close_targets();
    return TEST_END();
}
