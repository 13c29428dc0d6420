/* SPDX-License-Identifier: Apache-2.0
 *
 * test_dataset.c - data sets of the exponential Ornstein-Uhlenbeck model: known prices, prices beside those of
 * pricing.h, honest standard errors, the same bits however rows are cut and wherever they are made, designs that
 * fill their ranges evenly, and what is refused.
 */
#include <shoal/dataset.h>
#include "dataset_looks.h"
#include "pricing_pieces.h"
#include <math.h>

enum { COLUMNS = SHOAL_DATASET_COLUMNS, VALUES = SHOAL_DATASET_VALUES, MAX_ROWS = 1024 };

static shoal_dataset_opts opts_of(int64_t samples, uint64_t seed) {
    shoal_dataset_opts o = { .samples = samples, .seed = seed };
    shoal_dataset_ranges(&o);
    return o;
}

static shoal_dataset *plan_of(shoal_context *ctx, const shoal_dataset_opts *o) {
    shoal_dataset *plan = NULL;
    if (shoal_dataset_create(ctx, o, &plan) != SHOAL_OK) {
        printf("note  %s\n", shoal_message(ctx));
        abort();
    }
    return plan;
}

/* Rows of the caller's, or of the design where rows is NULL, `piece` at a time. */
static shoal_status make(shoal_context *ctx, const shoal_dataset_opts *o, const double *rows,
                         int64_t count, int64_t piece, double *values) {
    shoal_dataset *plan = plan_of(ctx, o);
    double *mine = new_array((size_t)(count * COLUMNS), sizeof *mine);
    void *in = NULL, *out = NULL;
    shoal_status s = shoal_dataset_design(plan, 0, rows ? 0 : count, mine);
    if (rows) memcpy(mine, rows, (size_t)(count * COLUMNS) * sizeof *mine);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, (size_t)(piece * COLUMNS) * sizeof(double), &in);
    if (s == SHOAL_OK) s = shoal_alloc(ctx, (size_t)(piece * VALUES) * sizeof(double), &out);
    for (int64_t at = 0; at < count && s == SHOAL_OK; at += piece) {
        const int64_t here = count - at < piece ? count - at : piece;
        s = shoal_copy(ctx, in, mine + at * COLUMNS, (size_t)(here * COLUMNS) * sizeof(double));
        if (s == SHOAL_OK) s = shoal_dataset_run(plan, at, here, in, out);
        if (s == SHOAL_OK)
            s = shoal_copy(ctx, values + at * VALUES, out,
                           (size_t)(here * VALUES) * sizeof(double));
    }
    shoal_free(ctx, in);
    shoal_free(ctx, out);
    shoal_dataset_free(plan);
    free(mine);
    return s;
}

/* docs/pricing.md: prices, and the standard errors with which they are known. */
TEST(known_prices) {
    static const double rows[3][COLUMNS] = { { 1, 0.1, 0.1, -2.302585092994046, 0, 1, 1 },
                                             { 1, 0.1, 0.1, -2.302585092994046, -0.5, 1, 1 },
                                             { 1, -2.302585092994046, 0.1, -2.302585092994046, 0, 1,
                                               1 } };
    static const double price[3] = { 0.1134067, 0.1130596, 0.0399572 },
                        error[3] = { 2e-7, 1.3e-6, 2e-8 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    shoal_dataset_opts o = opts_of(3, 5);
    double v[3][VALUES];
    if (!small) o.target = 1e-6;
    CHECK(make(ctx, &o, rows[0], 3, 3, v[0]) == SHOAL_OK);
    for (int i = 0; i < 3; i++)
        CHECK_MSG(fabs(v[i][0] - price[i]) < 4 * hypot(v[i][1], error[i]) + 2e-7,
                  "%d: %.8f +- %.1e, not %.8f", i, v[i][0], v[i][1], price[i]);
}

/* Zeros stand for shoal_dataset_defaults(). */
TEST(defaults) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_dataset_opts unset = opts_of(2, 5);
    shoal_dataset_opts all = shoal_dataset_defaults();
    double v[2][2 * VALUES];
    CHECK(strcmp(all.design, "sobol") == 0 && all.refine == 1);
    CHECK(all.target == 5e-5 && all.most_paths == 1 << 21);
    CHECK(memcmp(all.range, unset.range, sizeof all.range) == 0);
    all.samples = 2, all.seed = 5;
    CHECK(make(ctx, &unset, NULL, 2, 2, v[0]) == SHOAL_OK);
    CHECK(make(ctx, &all, NULL, 2, 2, v[1]) == SHOAL_OK);
    CHECK(memcmp(v[0], v[1], sizeof v[0]) == 0);
}

/* Rows of the design beside many paths and many steps of another program for the same model. */
TEST(prices_as_by_price_expou) {
    enum { ROWS = 12 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    const int64_t rows = small ? 1 : ROWS, samples = small ? 512 : 32768;
    const shoal_dataset_opts o = opts_of(ROWS, 3);
    shoal_dataset *plan = plan_of(ctx, &o);
    double row[ROWS][COLUMNS], v[ROWS][VALUES];
    CHECK(shoal_dataset_design(plan, 0, rows, row[0]) == SHOAL_OK);
    shoal_dataset_free(plan);
    CHECK(make(ctx, &o, NULL, rows, rows, v[0]) == SHOAL_OK);
    for (int64_t i = 0; i < rows; i++) {
        const double *p = row[i];
        const shoal_expou m = { 1, 0, p[0], p[1], p[2], p[3], p[4] };
        const shoal_price_opts other = { .method = "conditional",
                                         .seed = 7,
                                         .steps = small ? 64 : 512,
                                         .antithetic = 1,
                                         .strikes = 1,
                                         .strike = &p[6],
                                         .maturities = 1,
                                         .maturity = &p[5] };
        shoal_price *prices;
        shoal_price_value want;
        CHECK(shoal_price_expou(ctx, &m, &other, &prices) == SHOAL_OK);
        CHECK(run_in_pieces(ctx, prices, samples, units_of(samples), &want) == SHOAL_OK);
        CHECK_MSG(fabs(v[i][0] - want.price) < 4 * hypot(v[i][1], want.error) + 2e-5,
                  "row %d: %.7f +- %.1e, not %.7f +- %.1e", (int)i, v[i][0], v[i][1], want.price,
                  want.error);
    }
}

/* The same rows with other paths: their prices differ as their errors say. */
TEST(errors_are_honest) {
    if (small) SKIP("needs many rows");
    enum { ROWS = 16, SEEDS = 24 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_dataset_opts design = opts_of(ROWS, 9);
    shoal_dataset *plan = plan_of(ctx, &design);
    double row[ROWS][COLUMNS], v[SEEDS][ROWS][VALUES], all = 0;
    CHECK(shoal_dataset_design(plan, 0, ROWS, row[0]) == SHOAL_OK);
    shoal_dataset_free(plan);
    for (int s = 0; s < SEEDS; s++) {
        shoal_dataset_opts o = opts_of(ROWS, 100 + (uint64_t)s);
        o.target = 1e-3;
        CHECK(make(ctx, &o, row[0], ROWS, ROWS, v[s][0]) == SHOAL_OK);
    }
    for (int i = 0; i < ROWS; i++) {
        double mean = 0, spread = 0, said = 0;
        for (int s = 0; s < SEEDS; s++)
            mean += v[s][i][0] / SEEDS, said += v[s][i][1] * v[s][i][1] / SEEDS;
        for (int s = 0; s < SEEDS; s++) spread += pow(v[s][i][0] - mean, 2) / (SEEDS - 1);
        CHECK_MSG(spread < 4 * said + 1e-20, "row %d: %.1e, said %.1e", i, sqrt(spread),
                  sqrt(said));
        all += said > 0 ? spread / said / ROWS : 1.0 / ROWS;
    }
    /* the mean of 16 chi-squares of 23 degrees: 1 +- 0.074 */
    CHECK_MSG(all > 0.7 && all < 1.3, "%g", all);
}

TEST(targets_are_reached) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const int64_t rows = small ? 2 : 64;
    double v[64][VALUES];
    shoal_dataset_opts o = opts_of(rows, 4);
    if (small) o.target = 1e-3;
    CHECK(make(ctx, &o, NULL, rows, rows, v[0]) == SHOAL_OK);
    for (int64_t i = 0; i < rows; i++)
        CHECK_MSG(v[i][1] <= (small ? 1e-3 : 5e-5) && v[i][2] >= 8192, "row %d: %g of %g paths",
                  (int)i, v[i][1], v[i][2]);
    o.target = 1e-12, o.most_paths = 1536; /* three blocks, fewer than the first look has */
    CHECK(make(ctx, &o, NULL, 2, 2, v[0]) == SHOAL_OK);
    CHECK_MSG(v[0][2] == 1536 && v[1][2] == 1536, "%g %g", v[0][2], v[1][2]);
}

/* For any number of threads, in pieces, on every backend. */
TEST(bits_are_the_same) {
    const int64_t rows = small ? 2 : 40;
    for (int way = 0; way < (small ? 1 : 2); way++) {
        shoal_dataset_opts o = opts_of(rows, 11);
        double first[40][VALUES], v[40][VALUES];
        shoal_context *single;
        if (way) o.nu2 = 1, o.design = "latin", shoal_dataset_ranges(&o);
        o.target = small ? 1e-3 : 2e-4;
        if (small) o.most_paths = 1024;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
        CHECK(make(single, &o, NULL, rows, rows, first[0]) == SHOAL_OK);
        CHECK(make(single, &o, NULL, rows, small ? 1 : 7, v[0]) == SHOAL_OK);
        CHECK(memcmp(first, v, (size_t)rows * sizeof *v) == 0);
        for (int t = 0; t < target_count; t++) {
            CHECK(make(targets[t].ctx, &o, NULL, rows, rows, v[0]) == SHOAL_OK);
            CHECK_MSG(memcmp(first, v, (size_t)rows * sizeof *v) == 0, "on %s: %.17g, not %.17g",
                      targets[t].backend, v[0][0], first[0][0]);
        }
        shoal_close(single);
    }
}

/* Twice the steps change prices by less than is known about them. */
TEST(steps_suffice) {
    if (small) SKIP("needs many paths");
    enum { ROWS = 24 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    shoal_dataset_opts o = opts_of(ROWS, 6);
    double once[ROWS][VALUES], twice[ROWS][VALUES];
    o.target = 4e-5;
    CHECK(make(ctx, &o, NULL, ROWS, ROWS, once[0]) == SHOAL_OK);
    o.refine = 2;
    CHECK(make(ctx, &o, NULL, ROWS, ROWS, twice[0]) == SHOAL_OK);
    for (int i = 0; i < ROWS; i++)
        CHECK_MSG(fabs(once[i][0] - twice[i][0]) < 4 * hypot(once[i][1], twice[i][1]) + 1e-5,
                  "row %d: %.7f +- %.1e, then %.7f +- %.1e", i, once[i][0], once[i][1], twice[i][0],
                  twice[i][1]);
}

/* Where in its default range a number of column d is, from -1/2 to 1/2. */
static double middle(const double *row, int d) {
    const shoal_dataset_opts o = opts_of(1, 1);
    const shoal_range *r = &o.range[d];
    return (r->log ? log(row[d] / r->low) / log(r->high / r->low)
                   : (row[d] - r->low) / (r->high - r->low)) -
           0.5;
}

/* Each of n equal strata of each column has one row: any n of a Latin hypercube, powers of two of Sobol's. */
TEST(designs_are_even) {
    shoal_context *ctx = targets[0].ctx;
    static const int64_t sizes[] = { 1, 2, 255, 1000, 256, 1024 };
    static double row[MAX_ROWS][COLUMNS], other[MAX_ROWS][COLUMNS];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t n = sizes[k];
        for (int latin = n == 256 || n == 1024 ? 0 : 1; latin < 2; latin++) {
            shoal_dataset_opts o = opts_of(n, 8);
            o.design = latin ? "latin" : "sobol";
            shoal_dataset *plan = plan_of(ctx, &o);
            CHECK(shoal_dataset_design(plan, 0, n, row[0]) == SHOAL_OK);
            CHECK(shoal_dataset_design(plan, n / 2, n - n / 2, other[0]) == SHOAL_OK);
            CHECK(memcmp(row[n / 2], other, (size_t)(n - n / 2) * sizeof *row) == 0);
            shoal_dataset_free(plan);
            for (int d = 0; d < COLUMNS; d++) {
                char seen[MAX_ROWS] = { 0 };
                int twice = 0;
                for (int64_t i = 0; i < n; i++) {
                    const double u = middle(row[i], d) + 0.5;
                    const int64_t stratum = (int64_t)floor(u * (double)n);
                    CHECK_MSG(stratum >= 0 && stratum < n, "column %d: %g", d, row[i][d]);
                    twice += seen[stratum < 0 ? 0 : stratum < n ? stratum : n - 1]++;
                }
                CHECK_MSG(twice == 0, "n %d, latin %d, column %d: %d", (int)n, latin, d, twice);
            }
            o.seed = 9;
            plan = plan_of(ctx, &o);
            CHECK(shoal_dataset_design(plan, 0, n, other[0]) == SHOAL_OK);
            CHECK(memcmp(row, other, (size_t)n * sizeof *row) != 0);
            shoal_dataset_free(plan);
        }
    }
    /* a range of one number is that number, on a scale of logarithms too */
    for (double number = 0.3; number < 2; number += 0.1) {
        shoal_dataset_opts o = opts_of(1, 8);
        for (int d = 5; d < 7; d++) o.range[d] = (shoal_range){ number, number, d == 5 };
        shoal_dataset *plan = plan_of(ctx, &o);
        CHECK(shoal_dataset_design(plan, 0, 1, other[0]) == SHOAL_OK);
        CHECK(other[0][5] == number && other[0][6] == number);
        shoal_dataset_free(plan);
    }
    /* columns do not follow each other: correlations of 1024 rows of u, of deviation 1/32 */
    for (int d = 1; d < COLUMNS; d++) {
        double sum = 0;
        for (int i = 0; i < MAX_ROWS; i++) sum += middle(row[i], d - 1) * middle(row[i], d);
        CHECK_MSG(fabs(12 * sum / MAX_ROWS) < 5.0 / 32, "columns %d and %d: %g", d - 1, d,
                  12 * sum / MAX_ROWS);
    }
}

TEST(looks) {
    check_lives();
    check_controls();
    check_fit();
    check_looks();
}

/* A volatility of e^(-10), and the corners of the ranges whose paths have most steps: they have prices, those of
 * twice as many steps. */
TEST(corners) {
    static const double rows[4][COLUMNS] = { { 1, -10, 0, -10, 0, 1, 1 },
                                             { 5, 0.2, 1, -3, -0.5, 2, 1 },
                                             { 5, -3, 1, 0, -0.5, 2, 1 },
                                             { 0.1, 0.2, 1, 0, -0.95, 2, 1 } };
    double v[2][4][VALUES];
    if (small) SKIP("needs many paths");
    for (int i = 0; i < 2; i++) {
        shoal_dataset_opts o = opts_of(4, 3);
        o.refine = 1 + i, o.target = 1e-4;
        CHECK(make(targets[target_count - 1].ctx, &o, rows[0], 4, 4, v[i][0]) == SHOAL_OK);
        CHECK_MSG(fabs(v[i][0][0] / shoal_black(1, 1, exp(-10), 0) - 1) < 1e-9, "%g", v[i][0][0]);
    }
    for (int i = 1; i < 4; i++)
        CHECK_MSG(fabs(v[0][i][0] - v[1][i][0]) < 4 * hypot(v[0][i][1], v[1][i][1]) + 1e-5,
                  "row %d: %.7f +- %.1e, then %.7f +- %.1e", i, v[0][i][0], v[0][i][1], v[1][i][0],
                  v[1][i][1]);
}

/* Without noise in Y there is a formula; rho = -1, strike 0 and no reversion have their answers; a row out of
 * bounds is NaN. */
TEST(edges) {
    static const double rows[9][COLUMNS] = {
        { 2, -1, 0, -2, -0.5, 1, 1.1 },   { 0, -1, 0.3, -1.5, -1, 1, 1 },
        { 1, -1, 0.3, -1.5, -0.5, 1, 0 }, { 1, -1, 0.3, -1.5, 0.1, 1, 1 },
        { 1, -1, 0.3, -1.5, -0.5, 0, 1 }, { 1, NAN, 0.3, -1.5, -0.5, 1, 1 },
        { 5, -3, 0.3, 5, -0.5, 100, 1 },  { 1, -1, -0.3, -1.5, -0.5, 1, 1 },
        { 1, -1, 0.3, -1.5, -0.5, 1, 1 },
    };
    double variance = 0, v[9][VALUES];
    for (int i = 0; i < 4096; i++) variance += exp(2 * (-1 - exp(-2 * (i + 0.5) / 4096))) / 4096;
    for (int t = 0; t < target_count; t++) {
        shoal_dataset_opts o = opts_of(9, 2);
        o.target = 1e-3, o.most_paths = small ? 2048 : 65536;
        CHECK(make(targets[t].ctx, &o, rows[0], 9, 9, v[0]) == SHOAL_OK);
        CHECK_MSG(fabs(v[0][0] - shoal_black(1, 1.1, sqrt(variance), 0)) < 1e-7 && v[0][1] < 1e-12,
                  "%.10f +- %g", v[0][0], v[0][1]);
        const shoal_expou m = { 1, 0, rows[1][0], rows[1][1], rows[1][2], rows[1][3], rows[1][4] };
        const shoal_price_opts other = { .method = "conditional",
                                         .steps = 64,
                                         .strikes = 1,
                                         .strike = &rows[1][6],
                                         .maturities = 1,
                                         .maturity = &rows[1][5] };
        shoal_price *prices;
        shoal_price_value want;
        CHECK(shoal_price_expou(targets[t].ctx, &m, &other, &prices) == SHOAL_OK);
        CHECK(run_in_pieces(targets[t].ctx, prices, 4096, 1, &want) == SHOAL_OK);
        CHECK_MSG(fabs(v[1][0] - want.price) < 4 * hypot(v[1][1], want.error), "%g, not %g +- %g",
                  v[1][0], want.price, want.error);
        CHECK_MSG(fabs(v[2][0] - 1) < 1e-12, "%.17g", v[2][0]);
        for (int i = 3; i < 8; i++) CHECK_MSG(isnan(v[i][0]) && isnan(v[i][1]), "row %d", i);
        CHECK(v[8][0] > 0 && v[8][1] <= 1e-3);
    }
}

/* Volatilities of 800 % and more: f is all but 0 on every path there is, and its mean 1 by its law only. What a
 * put is worth is known all the same: 2^23 paths of it alone made the second price 0.997314 +- 1.3e-5, 2^21 with
 * four times the steps 0.997271 +- 2.7e-5; the others are 1 but for less than 1e-6. */
TEST(forwards_that_no_sample_has) {
    enum { ROWS = 6 };
    static const double rows[ROWS][COLUMNS] = {
        { 1, 3, 0.3, 3, -0.5, 1, 1 },  { 1, 2.1, 0.3, 2.1, -0.95, 1, 1 },
        { 1, 3, 0.3, 3, -0.95, 1, 1 }, { 1, 5, 0.3, 5, -0.5, 1, 1 },
        { 1, 5, 0.3, 5, -1, 1, 1.5 },  { 1, 3, 0.3, 3, -0.5, 1, 0.5 },
    };
    static const double price[ROWS] = { 1, 0.997305, 1, 1, 1, 1 };
    for (int t = 0; t < target_count; t++) {
        const int64_t count = small ? 2 : ROWS;
        shoal_dataset_opts o = opts_of(ROWS, 2);
        double v[ROWS][VALUES];
        o.range[1].high = o.range[3].high = 5, o.most_paths = small ? 2048 : 1 << 20;
        CHECK(make(targets[t].ctx, &o, rows[0], count, count, v[0]) == SHOAL_OK);
        for (int64_t i = 0; i < count; i++)
            CHECK_MSG(fabs(v[i][0] - price[i]) < 4 * v[i][1] + (small ? 2e-3 : 3e-5),
                      "row %d: %.7f +- %.1e of %g paths, not %.7f", (int)i, v[i][0], v[i][1],
                      v[i][2], price[i]);
    }
}

TEST(refusals) {
    int something;
#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        shoal_dataset_opts o = opts_of(10, 1);                                                     \
        shoal_dataset *plan = (shoal_dataset *)&something;                                         \
        change;                                                                                    \
        CHECK(shoal_dataset_create(ctx, &o, &plan) == SHOAL_E_ARG && !plan);                       \
        CHECK_MSG(strstr(shoal_message(ctx), words), "'%s' lacks '%s'", shoal_message(ctx),        \
                  words);                                                                          \
    } while (0)
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        REFUSED(o.design = "grid", "design is 'grid'");
        REFUSED(o.samples = -1, "samples is -1");
        REFUSED(o.target = -1, "target is -1");
        REFUSED(o.target = NAN, "target is nan");
        REFUSED(o.most_paths = 511, "most_paths is 511");
        REFUSED(o.refine = 5, "refine is 5");
        REFUSED(o.range[4].high = 0.1, "range of rho is -0.95 to 0.1");
        REFUSED(o.range[0].low = 6, "range of alpha is 6 to 5");
        REFUSED(o.range[5].low = 0, "range of maturity is 0 to 2");
        REFUSED(o.range[1].high = NAN, "range of m is -3 to nan");
        REFUSED(o.range[0].low = 0, "range of alpha begins at 0");
        REFUSED((o.nu2 = 1, o.range[2].low = -1), "range of nu2 is -1 to 1");
        REFUSED((o.nu2 = 1, o.range[0].high = 1e4, o.range[2].high = 100), "give a beta of 1414");
        REFUSED(o.range[5].high = 100, "steps per path; the limit is 2048");
        const shoal_dataset_opts o = opts_of(10, 1);
        shoal_dataset *plan = plan_of(ctx, &o);
        double row[COLUMNS], *none = NULL;
        CHECK(shoal_dataset_design(plan, 9, 2, row) == SHOAL_E_ARG);
        CHECK(shoal_dataset_design(plan, 0, 1, NULL) == SHOAL_E_ARG);
        CHECK(shoal_dataset_run(plan, -1, 1, row, row) == SHOAL_E_ARG);
        CHECK(shoal_dataset_run(plan, 0, 1, none, row) != SHOAL_OK);
        CHECK(strstr(shoal_message(ctx), "parameters"));
        CHECK(shoal_dataset_run(plan, 0, 0, none, none) == SHOAL_OK);
        shoal_dataset_free(plan);
        shoal_dataset_free(NULL);
    }
    CHECK(strcmp(shoal_dataset_column(1, 2), "nu2") == 0 && !shoal_dataset_column(0, 7));
    CHECK(shoal_dataset_bounds(0, 4).high == 0 && shoal_dataset_bounds(0, 7).high == 0);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(known_prices);
    RUN(defaults);
    RUN(prices_as_by_price_expou);
    RUN(errors_are_honest);
    RUN(targets_are_reached);
    RUN(bits_are_the_same);
    RUN(steps_suffice);
    RUN(designs_are_even);
    RUN(looks);
    RUN(corners);
    RUN(edges);
    RUN(forwards_that_no_sample_has);
    RUN(refusals);
    close_targets();
    return TEST_END();
}
