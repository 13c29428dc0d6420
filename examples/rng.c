/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - a million normal numbers, and some of them once more by their addresses.
 *
 *     cc rng.c $(pkg-config --cflags --libs shoal) -o rng
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { COUNT = 1000000, FIRST = 700000, SOME = 1000 };
static double z[COUNT], again[SOME];

int main(void) {
    shoal_context *ctx;
    shoal_rng_opts opts = { .method = "normal", .seed = 42 };
    shoal_rng *plan = NULL;
    double *at = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof z, (void **)&at); /* the context's memory */
    if (!status) status = shoal_rng_create(ctx, &opts, &plan);
    if (!status) status = shoal_rng_fill(plan, 0, COUNT, at); /* numbers 0 .. 999999 */
    if (!status) status = shoal_copy(ctx, z, at, sizeof z);
    if (!status) status = shoal_rng_fill(plan, FIRST, SOME, at); /* any others, in any order */
    if (!status) status = shoal_copy(ctx, again, at, sizeof again);

    double mean = 0, square = 0;
    int differ = 0;
    for (int i = 0; i < COUNT; i++) mean += z[i] / COUNT, square += z[i] * z[i] / COUNT;
    for (int i = 0; i < SOME; i++) differ += again[i] != z[FIRST + i];
    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("mean %.4f, variance %.4f; %d of %d numbers differ\n", mean, square - mean * mean,
               differ, SOME);
    shoal_rng_free(plan);
    shoal_free(ctx, at);
    shoal_close(ctx);
    return status || differ;
}
