/* SPDX-License-Identifier: Apache-2.0
 *
 * test_surrogate_ends.c - the network that ships, beside Monte Carlo where networks are worst: at the corners of
 * its ranges, along their edges, on their faces; and inside. docs/surrogate.md states these bounds. None of these
 * points is outside, and the next double beyond each end is.
 */
#include <math.h>
#include <shoal/shoal.h>
#include <stdlib.h>
#include "test.h"

enum { INPUTS = SHOAL_DATASET_COLUMNS, MAX_ROWS = 4096 };
static shoal_context *ctx;
static shoal_surrogate *net;
static shoal_surrogate_info about;
static double x[MAX_ROWS][INPUTS], value[MAX_ROWS][SHOAL_DATASET_VALUES], price[MAX_ROWS];

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = calloc(1 << 20, 1);
    const size_t size = file ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file) fclose(file);
    CHECK_MSG(shoal_surrogate_load(ctx, bytes, size, &net) == SHOAL_OK, "%s: %s", path,
              shoal_message(ctx));
    CHECK(shoal_surrogate_describe(net, &about) == SHOAL_OK && about.inputs == INPUTS);
    free(bytes);
}

/* Errors against the estimator of a data set, known to 1e-4, of the first rows of x; no row may be off by more
 * than `bound` and four standard errors, nor their root mean square by more than `typical`. */
static void compare(const char *where, int rows, double typical, double bound) {
    shoal_dataset_opts o = { .samples = rows, .seed = 11, .target = 1e-4, .most_paths = 1 << 20 };
    shoal_dataset *plan = NULL;
    uint32_t *outside = calloc((size_t)rows, sizeof *outside);
    double squares = 0, worst = 0;
    int at = 0;
    shoal_dataset_ranges(&o);
    CHECK(shoal_dataset_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_dataset_run(plan, 0, rows, x[0], value[0]) == SHOAL_OK);
    CHECK(shoal_surrogate_predict(net, rows, x[0], SHOAL_F64, price, NULL, NULL) == SHOAL_OK);
    CHECK(shoal_surrogate_outside(net, rows, x[0], outside) == SHOAL_OK);
    for (int i = 0; i < rows; i++) {
        const double off = fabs(price[i] - value[i][0]), error = value[i][1];
        CHECK_MSG(off <= bound + 4 * error, "%s, row %d: off by %g +- %g", where, i, off, error);
        CHECK_MSG(!outside[i], "%s, row %d: outside %x", where, i, (unsigned)outside[i]);
        if (!(off <= worst)) worst = off, at = i;
        squares += off * off;
    }
    const double root = sqrt(squares / rows);
    CHECK_MSG(root <= typical, "%s: root mean square %g", where, root);
    printf("      %s: %d rows, root mean square %.2g, worst %.2g +- %.1g at", where, rows, root,
           worst, value[at][1]);
    for (int k = 0; k < INPUTS; k++) printf(" %g", x[at][k]);
    printf("\n");
    shoal_dataset_free(plan);
    free(outside);
}

static double end_of(int input, int high) { return high ? about.most[input] : about.least[input]; }

/* A share of a range, from 0 to 1; alpha's by its logarithm, as designs have it. */
static double at_share(int input, double share) {
    const double low = end_of(input, 0), high = end_of(input, 1);
    if (share <= 0 || share >= 1) return end_of(input, share >= 1);
    return input == 0 ? low * pow(high / low, share) : low + share * (high - low);
}

TEST(ranges_are_those_of_the_design) {
    shoal_dataset_opts o = { .samples = 1 };
    shoal_dataset_ranges(&o);
    for (int i = 0; i < INPUTS; i++)
        CHECK_MSG(end_of(i, 0) == o.range[i].low && end_of(i, 1) == o.range[i].high,
                  "%s: %.17g to %.17g", about.names[i], end_of(i, 0), end_of(i, 1));
}

TEST(corners) {
    for (int c = 0; c < 1 << INPUTS; c++)
        for (int k = 0; k < INPUTS; k++) x[c][k] = end_of(k, c >> k & 1);
    compare("corners", 1 << INPUTS, 1.5e-3, 5.5e-3);
}

/* Three points of each edge. */
TEST(edges) {
    int rows = 0;
    for (int along = 0; along < INPUTS; along++)
        for (int c = 0; c < 1 << INPUTS; c++) {
            if (c >> along & 1) continue;
            for (int part = 1; part <= 3; part++, rows++)
                for (int k = 0; k < INPUTS; k++)
                    x[rows][k] = k == along ? at_share(k, part / 4.) : end_of(k, c >> k & 1);
        }
    compare("edges", rows, 1e-3, 5.5e-3);
}

/* Rows of a design; the outer `margin` of every range is moved to its end. */
static void draw(int rows, double margin) {
    shoal_dataset_opts o = { .samples = rows, .seed = 11 };
    shoal_dataset *plan = NULL;
    shoal_dataset_ranges(&o);
    CHECK(shoal_dataset_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_dataset_design(plan, 0, rows, x[0]) == SHOAL_OK);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < INPUTS; k++) {
            if (x[i][k] < at_share(k, margin)) x[i][k] = end_of(k, 0);
            if (x[i][k] > at_share(k, 1 - margin)) x[i][k] = end_of(k, 1);
        }
    shoal_dataset_free(plan);
}

TEST(faces) {
    draw(2000, 0.15);
    compare("faces", 2000, 6e-4, 5.5e-3);
}

TEST(inside) {
    draw(4000, 0);
    compare("inside", 4000, 1e-4, 1.5e-3);
}

TEST(next_beyond_an_end_is_outside) {
    for (int i = 0; i < INPUTS; i++)
        for (int high = 0; high < 2; high++) {
            uint32_t bits = 0;
            for (int k = 0; k < INPUTS; k++) x[0][k] = at_share(k, 0.5);
            x[0][i] = nextafter(end_of(i, high), high ? INFINITY : -INFINITY);
            CHECK(shoal_surrogate_outside(net, 1, x[0], &bits) == SHOAL_OK);
            CHECK_MSG(bits == (uint32_t)1 << i, "%s: %x", about.names[i], (unsigned)bits);
        }
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 2 }, &ctx) != SHOAL_OK) return 1;
    load(SHOAL_NET);
    RUN(ranges_are_those_of_the_design);
    RUN(next_beyond_an_end_is_outside);
    RUN(corners);
    RUN(edges);
    RUN(faces);
    RUN(inside);
    shoal_surrogate_free(net);
    shoal_close(ctx);
    return TEST_END();
}
