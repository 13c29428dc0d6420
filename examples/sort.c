/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - 10,000 rows of 100 prices sorted, with their original positions.
 *
 *     cc sort.c $(pkg-config --cflags --libs shoal) -o sort
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { D = 100, ROWS = 10000 };
static float price[ROWS][D];
static uint32_t place[ROWS][D];

int main(void) {
    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i < D; i++) price[k][i] = (float)((i * 37 + k) % 101);

    shoal_context *ctx;
    shoal_sort_opts opts = {
        .n = D, .count = ROWS, .key = SHOAL_KEY_F32, .value_bytes = 4, .index = 1
    };
    shoal_sort *plan = NULL;
    void *keys = NULL, *places = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof price, &keys); /* the context's memory */
    if (!status) status = shoal_alloc(ctx, sizeof place, &places);
    if (!status) status = shoal_copy(ctx, keys, price, sizeof price);
    if (!status) status = shoal_sort_create(ctx, &opts, &plan);           /* plan once */
    if (!status) status = shoal_sort_run(plan, keys, NULL, keys, places); /* in place */
    if (!status) status = shoal_copy(ctx, price, keys, sizeof price);
    if (!status) status = shoal_copy(ctx, place, places, sizeof place);

    int wrong = 0;
    for (int k = 0; k < ROWS; k++)
        for (int i = 1; i < D; i++) wrong += price[k][i - 1] > price[k][i];
    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("row 5: the least is %g, which was at %u; %d pairs out of order\n", price[5][0],
               place[5][0], wrong);
    shoal_sort_free(plan);
    shoal_free(ctx, keys);
    shoal_free(ctx, places);
    shoal_close(ctx);
    return status || wrong;
}
