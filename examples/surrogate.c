/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.c - a table of call prices, a small network trained on it, and how far its prices are from
 * those of another table. It takes seconds; a network for real use needs 200,000 rows and 300 passes.
 *
 *     cc surrogate.c $(pkg-config --cflags --libs shoal) -o surrogate
 */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 320, CHECKED = 40, IN = SHOAL_DATASET_COLUMNS };
typedef struct {
    double x[ROWS][IN], price[ROWS], error[ROWS], value[ROWS][SHOAL_DATASET_VALUES];
} table;

/* Rows of a seed: parameters of the design, prices and standard errors. */
static shoal_status make(shoal_context *ctx, uint64_t seed, int64_t rows, table *t) {
    shoal_dataset_opts opts = { .samples = rows, .seed = seed, .target = 1e-3 };
    shoal_dataset *plan = NULL;
    shoal_dataset_ranges(&opts);
    shoal_status status = shoal_dataset_create(ctx, &opts, &plan);
    if (!status) status = shoal_dataset_design(plan, 0, rows, t->x[0]);
    if (!status)
        status = shoal_dataset_run(plan, 0, rows, t->x[0], t->value[0]); /* CPU: host memory */
    for (int64_t i = 0; !status && i < rows; i++)
        t->price[i] = t->value[i][0], t->error[i] = t->value[i][1];
    shoal_dataset_free(plan);
    return status;
}

int main(void) {
    table *train = malloc(sizeof *train), *test = malloc(sizeof *test);
    const char *names[IN];
    double price[CHECKED], by_strike[CHECKED], off = 0;
    for (int i = 0; i < IN; i++) names[i] = shoal_dataset_column(0, i);

    shoal_context *ctx;
    shoal_surrogate *net = NULL;
    shoal_surrogate_result result = { 0 };
    const shoal_surrogate_opts opts = { .width = 32, .epochs = 80, .batch = 32, .seed = 1 };
    shoal_status status = shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx);
    if (!status && (!train || !test)) status = SHOAL_E_NOMEM;
    if (!status) status = make(ctx, 1, ROWS, train);
    if (!status) status = make(ctx, 2, CHECKED, test);
    if (!status) { /* the last 60 rows decide which pass was the best */
        const shoal_surrogate_data fit = { ROWS - 60,   IN,           names,
                                           train->x[0], train->price, train->error };
        const shoal_surrogate_data rest = {
            60, IN, names, train->x[ROWS - 60], train->price + ROWS - 60, train->error + ROWS - 60
        };
        status = shoal_surrogate_train(ctx, &fit, &rest, &opts, NULL, NULL, &net, &result);
    }
    if (!status)
        status =
            shoal_surrogate_predict(net, CHECKED, test->x[0], SHOAL_F32, price, by_strike, NULL);
    for (int i = 0; !status && i < CHECKED; i++)
        off += (price[i] > test->price[i] ? price[i] - test->price[i] : test->price[i] - price[i]) /
               CHECKED;

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("mean error %.4f after %d passes; dC/dK of row 0: %.4f\n", off, (int)result.epochs,
               by_strike[0]);
    shoal_surrogate_free(net);
    shoal_close(ctx);
    free(train);
    free(test);
    return status || !(off < 0.02);
}
