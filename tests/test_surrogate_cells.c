/* SPDX-License-Identifier: Apache-2.0
 *
 * test_surrogate_cells.c - the arithmetic of networks of prices: gradients against finite differences, and,
 * on CUDA, gradients, prices and training against the CPU's, by every way to make products.
 */
#include "surrogate/surrogate.h"
#include "surrogate_data.h"
#include <float.h>

static shoal_context *cpu; /* what `ctx` is compared with */

/* cuBLAS for a type, opened once. */
static const surrogate_blas *blas[2];
static const surrogate_blas *blas_for(shoal_type type, const surrogate_method *cell) {
    const surrogate_blas **b = &blas[type == SHOAL_F32];
    if (!*b && cell->open(ctx, b) != SHOAL_OK) *b = NULL;
    return *b;
}

static void close_blas(void) {
    const surrogate_net n = { .inputs = 1, .layers = 1, .width = 8 };
    const surrogate_method *cell;
    int cublas;
    for (int i = 0; i < 2; i++)
        if (blas[i] &&
            shoal_surrogate_cell(ctx, SHOAL_F64, &n, "cublas", &cell, &cublas) == SHOAL_OK)
            cell->close(blas[i]);
}

/* Ways to make products that there are here: NULL, the default, then those of CUDA. */
static const char *const gemms[] = { NULL, "fused", "own", "cublas" };
static int gemm_is_here(int i) {
    const surrogate_net n = { .inputs = 1, .layers = 1, .width = 8 };
    const surrogate_method *cell;
    int cublas;
    if (i == 0 || !ctx->ops) return i == 0;
    CHECK(shoal_surrogate_cell(ctx, SHOAL_F64, &n, gemms[i], &cell, &cublas) == SHOAL_OK);
    if (!cublas || blas_for(SHOAL_F64, cell)) return 1;
    static int told;
    if (!told++) printf("without cublas: %s\n", shoal_message(ctx));
    return 0;
}

static int fused_fits(const surrogate_net *n, shoal_type type) {
    const surrogate_method *cell;
    int cublas;
    return shoal_surrogate_cell(ctx, type, n, "fused", &cell, &cublas) == SHOAL_OK;
}

static void *sent(shoal_context *where, const void *from, size_t bytes) {
    void *memory;
    CHECK(shoal_alloc(where, bytes, &memory) == SHOAL_OK);
    CHECK(shoal_copy(where, memory, from, bytes) == SHOAL_OK);
    return memory;
}

/* sum weight (P - price)^2 / 2 over rows, again from the first after the last, and its gradient. */
static double loss_of(shoal_context *where, const char *gemm, shoal_type type,
                      const surrogate_net *n, const double *weights, int64_t rows,
                      double *gradient) {
    const int64_t count = surrogate_offset(n, n->layers + 1);
    const surrogate_method *cell;
    surrogate_job j = { .ctx = where, .net = n };
    int cublas;
    CHECK(shoal_surrogate_cell(where, type, n, gemm, &cell, &cublas) == SHOAL_OK);
    if (cublas) j.blas = blas_for(type, cell);
    const int64_t blocks = cell->blocks(&j, rows), sums = where->ops ? SURROGATE_SUMS : blocks;
    int64_t *order = new_array((size_t)rows, sizeof *order);
    double weight[ROWS], *loss = new_array((size_t)sums, sizeof *loss), total = 0;
    double *all = new_array((size_t)(blocks * count), sizeof *all);
    for (int64_t i = 0; i < rows; i++) order[i] = i % ROWS;
    for (int i = 0; i < ROWS; i++) weight[i] = 1 + 0.5 * even(i, 0);
    void *memory[7] = { sent(where, x, sizeof x),
                        sent(where, order, (size_t)rows * sizeof *order),
                        sent(where, price, sizeof price),
                        sent(where, weight, sizeof weight),
                        sent(where, all, (size_t)(blocks * count) * sizeof *all),
                        sent(where, loss, (size_t)sums * sizeof *loss) };
    const surrogate_rows r = {
        .x = memory[0], .order = memory[1], .count = rows, .price = memory[2], .weight = memory[3]
    };
    CHECK(shoal_alloc(where, (size_t)cell->room(n) * cell->size, &j.weights) == SHOAL_OK);
    CHECK(shoal_alloc(where, cell->scratch(&j, rows), &j.memory) == SHOAL_OK);
    CHECK(shoal_surrogate_put(where, cell->size, count, weights, j.weights) == SHOAL_OK);
    if (cell->pack) cell->pack(&j);
    CHECK(cell->learn(&j, &r, memory[4], memory[5]) == SHOAL_OK);
    CHECK(shoal_copy(where, loss, memory[5], (size_t)sums * sizeof *loss) == SHOAL_OK);
    CHECK(shoal_surrogate_take(where, cell->size, blocks * count, memory[4], all) == SHOAL_OK);
    for (int64_t b = 0; b < sums; b++) total += loss[b];
    for (int64_t k = 0; gradient && k < count; k++) {
        gradient[k] = 0;
        for (int64_t b = 0; b < blocks; b++) gradient[k] += all[b * count + k];
    }
    for (int i = 0; i < 6; i++) shoal_free(where, memory[i]);
    shoal_free(where, j.weights);
    shoal_free(where, j.memory);
    free(order);
    free(loss);
    free(all);
    return total / 2;
}

static double largest_of(const double *v, int64_t count) {
    double largest = 0;
    for (int64_t i = 0; i < count; i++) largest = larger(largest, v[i]);
    return largest;
}

/* Central differences in every weight: h^2/6 times a third derivative, and 1e-16/h of rounding. */
TEST(gradients_are_those_of_finite_differences) {
    enum { SOME = 300 }; /* not a multiple of the block */
    const double h = 1e-5;
    for (int aim = 0; aim < SURROGATE_TARGETS; aim++) {
        shoal_surrogate *net = trained(shoal_surrogate_targets[aim], SHOAL_F64, 1);
        if (!net) return;
        const surrogate_net *n = &net->net;
        double *w = net->weights, *g = new_array((size_t)net->count, sizeof *g), worst = 0;
        for (int i = 0; i < 4; i++) {
            if (!gemm_is_here(i) || (small && i == 0 && ctx->ops)) continue;
            loss_of(ctx, gemms[i], SHOAL_F64, n, w, SOME, g);
            for (int64_t k = 0; k < net->count; k += small ? 29 : 1) {
                const double kept = w[k];
                w[k] = kept + h;
                const double above = loss_of(ctx, gemms[i], SHOAL_F64, n, w, SOME, NULL);
                w[k] = kept - h;
                const double below = loss_of(ctx, gemms[i], SHOAL_F64, n, w, SOME, NULL);
                w[k] = kept;
                worst = larger(worst, (above - below) / (2 * h) - g[k]);
            }
            const double largest = largest_of(g, net->count);
            CHECK_MSG(largest > 0 && worst <= 1e-7 * largest, "%s: %g of %g",
                      shoal_surrogate_targets[aim], worst, largest);
        }
        free(g);
        shoal_surrogate_free(net);
    }
}

/* A network of the CPU, after a pass through a few rows, and the same in another context. */
static shoal_surrogate *network(const char *aim, int layers, int width, shoal_surrogate **moved) {
    const shoal_surrogate_opts o = {
        .target = aim, .layers = layers, .width = width, .type = SHOAL_F32, .epochs = 1
    };
    const shoal_surrogate_data train = part(0, 200), held = part(ROWS, 100);
    shoal_surrogate *net;
    size_t size;
    CHECK(shoal_surrogate_train(cpu, &train, &held, &o, NULL, NULL, &net, NULL) == SHOAL_OK);
    CHECK(shoal_surrogate_save(net, NULL, &size) == SHOAL_OK);
    void *bytes = malloc(size);
    CHECK(shoal_surrogate_save(net, bytes, &size) == SHOAL_OK);
    CHECK(shoal_surrogate_load(ctx, bytes, size, moved) == SHOAL_OK);
    free(bytes);
    return net;
}

/* Shapes that fit into shared memory as a whole, layer by layer, and not at all. */
static const int shapes[][2] = {
    { 1, 8 }, { 3, 64 }, { 2, 40 }, { 3, 88 }, { 3, 128 }, { 3, 256 }
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Rounding errors of a sum of `width` products, of every layer, and of the steps from u to the price. */
static double rounding(const surrogate_net *n, shoal_type type) {
    return (type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON) * (n->width + 32.) * n->layers;
}

/* Gradients by way i, in f32 and f64, against the CPU's in f64. */
static void compare_gradients(const shoal_surrogate *net, int i, int64_t rows) {
    const surrogate_net *n = &net->net;
    double *g[2] = { new_array((size_t)net->count, sizeof(double)),
                     new_array((size_t)net->count, sizeof(double)) };
    const double loss = loss_of(cpu, NULL, SHOAL_F64, n, net->weights, rows, g[0]);
    const double scale = largest_of(g[0], net->count);
    for (int type = 0; type < 2; type++) {
        const shoal_type t = type ? SHOAL_F32 : SHOAL_F64;
        if (!gemm_is_here(i) || (i == 1 && !fused_fits(n, t))) continue;
        const double here = loss_of(ctx, gemms[i], t, n, net->weights, rows, g[1]);
        for (int64_t w = 0; w < net->count; w++) g[1][w] -= g[0][w];
        const double off = largest_of(g[1], net->count), bound = rounding(n, t);
        CHECK_MSG(off <= bound * scale && fabs(here - loss) <= bound * loss,
                  "%d x %d, %s, %d rows: %g of %g, loss %g of %g", n->layers, n->width,
                  gemms[i] ? gemms[i] : "default", (int)rows, off, scale, here - loss, loss);
    }
    free(g[0]);
    free(g[1]);
}

TEST(gradients_are_those_of_the_cpu) {
    static const int64_t rows[] = { 300, 33, 1, 9000,
                                    17000 }; /* more than blocks, and pieces, have */
    if (!ctx->ops) SKIP("this is the CPU");
    for (int shape = 0; shape < SHAPES; shape++) {
        shoal_surrogate *moved;
        shoal_surrogate *net = network("volatility", shapes[shape][0], shapes[shape][1], &moved);
        for (int i = small; i < 4; i++) /* the default is one of the others */
            for (int k = shape > 0 && small; k < (shape == 0 ? 5 : small ? 2 : 3); k++)
                compare_gradients(net, i, rows[k]);
        shoal_surrogate_free(net);
        shoal_surrogate_free(moved);
    }
}

/* A batch of any size has SURROGATE_SUMS gradients at most, which is what its memory is bounded by; their sum
 * over all rows several times is that over all rows once, as many times. */
TEST(large_batches_have_few_gradients) {
    enum { TIMES = 10 }; /* 40000 rows: more than blocks of 128 that have a gradient of their own */
    for (int i = small && ctx->ops ? 1 : 0; i < 4; i++)
        for (int type = 0; type < 2; type++) {
            const shoal_type t = type ? SHOAL_F32 : SHOAL_F64;
            shoal_surrogate *moved, *net = network("volatility", 1, 8, &moved);
            const surrogate_net *n = &net->net;
            const surrogate_method *cell;
            surrogate_job j = { .ctx = ctx, .net = n };
            int cublas;
            double *g[2] = { new_array((size_t)net->count, sizeof(double)),
                             new_array((size_t)net->count, sizeof(double)) };
            if (gemm_is_here(i)) {
                CHECK(shoal_surrogate_cell(ctx, t, n, gemms[i], &cell, &cublas) == SHOAL_OK);
                if (cublas) j.blas = blas_for(t, cell);
                CHECK_MSG(cell->blocks(&j, 1 << 20) <= SURROGATE_SUMS, "%d gradients",
                          (int)cell->blocks(&j, 1 << 20));
                const double one = loss_of(cpu, NULL, SHOAL_F64, n, net->weights, ROWS, g[0]);
                const double all = loss_of(ctx, gemms[i], t, n, net->weights, TIMES * ROWS, g[1]);
                const double scale = TIMES * largest_of(g[0], net->count), bound = rounding(n, t);
                for (int64_t w = 0; w < net->count; w++) g[1][w] -= TIMES * g[0][w];
                CHECK_MSG(largest_of(g[1], net->count) <= bound * scale, "%g of %g, bound %g",
                          largest_of(g[1], net->count), scale, bound);
                CHECK_MSG(fabs(all / (TIMES * one) - 1) <= bound, "loss %g of %g", all,
                          TIMES * one);
            }
            free(g[0]);
            free(g[1]);
            shoal_surrogate_free(net);
            shoal_surrogate_free(moved);
        }
}

/* Prices and derivatives of two networks; prices are the same, whatever else is asked for. */
static void compare_prices(const shoal_surrogate *a, const shoal_surrogate *b, int64_t rows,
                           shoal_type type) {
    static double one[3][HELD], two[3][HELD];
    const size_t bytes = (size_t)rows * sizeof(double);
    const double bound = rounding(&a->net, type);
    CHECK(shoal_surrogate_predict(a, rows, x[0], type, one[0], one[1], one[2]) == SHOAL_OK);
    CHECK(shoal_surrogate_predict(b, rows, x[0], type, two[0], two[1], two[2]) == SHOAL_OK);
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < rows; i++)
            CHECK_MSG(fabs(one[d][i] - two[d][i]) <= bound * (d == 0 ? 1 : 4),
                      "%d x %d, row %d, %d: %g, bound %g", a->net.layers, a->net.width, i, d,
                      one[d][i] - two[d][i], bound);
    CHECK(shoal_surrogate_predict(b, rows, x[0], type, one[0], NULL, one[2]) == SHOAL_OK);
    CHECK(memcmp(one[0], two[0], bytes) == 0 && memcmp(one[2], two[2], bytes) == 0);
    CHECK(shoal_surrogate_predict(b, rows, x[0], type, one[0], NULL, NULL) == SHOAL_OK);
    CHECK(memcmp(one[0], two[0], bytes) == 0);
}

TEST(predictions_are_those_of_the_cpu) {
    static const int64_t rows[] = { 65, 1, 64, HELD };
    if (!ctx->ops) SKIP("this is the CPU");
    for (int shape = 0; shape < SHAPES; shape++)
        for (int aim = 0; aim < SURROGATE_TARGETS; aim++) {
            shoal_surrogate *b;
            shoal_surrogate *a =
                network(shoal_surrogate_targets[aim], shapes[shape][0], shapes[shape][1], &b);
            for (int k = 0; k < (small ? 2 : 4); k++) {
                compare_prices(a, b, rows[k], SHOAL_F32);
                compare_prices(a, b, rows[k], SHOAL_F64);
            }
            shoal_surrogate_free(a);
            shoal_surrogate_free(b);
        }
}

/* Every kernel once: what the race checker has time for. */
TEST(few_rows) {
    if (!ctx->ops) SKIP("this is the CPU");
    for (int wide = 0; wide < 2; wide++) {
        shoal_surrogate *b, *a = network("volatility", 2, wide ? 256 : 16, &b);
        for (int i = 1; !wide && i < 4; i++) compare_gradients(a, i, 70);
        compare_prices(a, b, wide ? 3 : 70, SHOAL_F32);
        if (wide) compare_prices(a, b, 3, SHOAL_F64);
        shoal_surrogate_free(a);
        shoal_surrogate_free(b);
    }
    const shoal_surrogate_data train = part(0, 100), held = part(ROWS, 33);
    const shoal_surrogate_opts o = { .layers = 2, .width = 16, .epochs = 1, .batch = 50 };
    shoal_surrogate *net;
    CHECK(shoal_surrogate_train(ctx, &train, &held, &o, NULL, NULL, &net, NULL) == SHOAL_OK);
    shoal_surrogate_free(net);
}

/* Arrays of the device are used where they are; inputs that are not finite concern their row alone. */
TEST(device_arrays_and_bad_rows) {
    enum { SOME = 100 };
    static double bad[SOME][INPUTS], p[SOME], by[SOME], q[SOME];
    shoal_surrogate *net, *other = network("volatility", 2, 16, &net);
    memcpy(bad, x, sizeof bad);
    CHECK(shoal_surrogate_predict(net, SOME, bad[0], SHOAL_F32, p, by, NULL) == SHOAL_OK);
    bad[3][0] = NAN, bad[70][1] = -1, bad[71][2] = -1;
    void *from = sent(ctx, bad, sizeof bad), *to = sent(ctx, bad, sizeof q);
    CHECK(shoal_surrogate_predict(net, SOME, from, SHOAL_F32, to, NULL, NULL) == SHOAL_OK);
    CHECK(shoal_copy(ctx, q, to, sizeof q) == SHOAL_OK);
    for (int i = 0; i < SOME; i++)
        CHECK_MSG(i == 3 || i == 70 || i == 71 ? isnan(q[i]) : q[i] == p[i], "row %d: %g, %g", i,
                  q[i], p[i]);
    shoal_free(ctx, from);
    shoal_free(ctx, to);
    shoal_surrogate_free(net);
    shoal_surrogate_free(other);
}

static int keep(void *of, const shoal_surrogate_epoch *e) {
    ((shoal_surrogate_epoch *)of)[e->epoch - 1] = *e;
    return 0;
}

/* The same steps on the same rows: what differs is rounding, and what a few hundred steps make of it. */
TEST(training_is_that_of_the_cpu) {
    enum { EPOCHS = 3 };
    const int64_t rows = small ? 500 : ROWS;
    const shoal_surrogate_data train = part(0, rows), held = part(ROWS, HELD / 2);
    if (!ctx->ops) SKIP("this is the CPU");
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < 4; i++) {
            shoal_surrogate_opts o = { .layers = 2,
                                       .width = 24,
                                       .type = type ? SHOAL_F32 : SHOAL_F64,
                                       .seed = 9,
                                       .epochs = EPOCHS,
                                       .batch = 100 };
            shoal_surrogate_epoch a[EPOCHS], b[2][EPOCHS];
            shoal_surrogate *net[3];
            if (!gemm_is_here(i)) continue;
            CHECK(shoal_surrogate_train(cpu, &train, &held, &o, keep, a, &net[2], NULL) ==
                  SHOAL_OK);
            o.gemm = gemms[i];
            for (int k = 0; k < 2; k++)
                CHECK_MSG(shoal_surrogate_train(ctx, &train, &held, &o, keep, b[k], &net[k],
                                                NULL) == SHOAL_OK,
                          "%s", shoal_message(ctx));
            CHECK(memcmp(b[0], b[1], sizeof b[0]) == 0); /* the same bits again */
            CHECK(memcmp(net[0]->weights, net[1]->weights,
                         (size_t)net[0]->count * sizeof(double)) == 0);
            for (int e = 0; e < EPOCHS; e++) {
                const double most = type ? 1e-5 : 1e-13;
                CHECK_MSG(fabs(b[0][e].train / a[e].train - 1) < most &&
                              fabs(b[0][e].validation / a[e].validation - 1) < most,
                          "%s, epoch %d: %g of %g, %g of %g", gemms[i] ? gemms[i] : "default",
                          e + 1, b[0][e].train - a[e].train, a[e].train,
                          b[0][e].validation - a[e].validation, a[e].validation);
            }
            for (int k = 0; k < 3; k++) shoal_surrogate_free(net[k]);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    ctx = targets[target_count - 1].ctx;
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 2 }, &cpu) != SHOAL_OK) return 2;
    make_data();
    RUN(gradients_are_those_of_finite_differences);
    RUN(gradients_are_those_of_the_cpu);
    RUN(large_batches_have_few_gradients);
    RUN(predictions_are_those_of_the_cpu);
    RUN(few_rows);
    RUN(device_arrays_and_bad_rows);
    RUN(training_is_that_of_the_cpu);
    close_blas();
    shoal_close(cpu);
    close_targets();
    return TEST_END();
}
