/* SPDX-License-Identifier: Apache-2.0
 *
 * band.c - the deflection of 500 clamped beams, fourth differences 1 -4 6 -4 1 on five diagonals. Beam k has the load
 * k + 1 in its middle.
 *
 *     cc band.c $(pkg-config --cflags --libs shoal) -o band
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { N = 99, COUNT = 500, ALL = N * COUNT };
static double host[6][ALL]; /* dl2, dl, d, du, du2 and b */

int main(void) {
    static const double row[] = { 1, -4, 6, -4, 1 };
    for (int i = 0; i < ALL; i++)
        for (int e = 0; e < 5; e++) host[e][i] = row[e];
    for (int k = 0; k < COUNT; k++) host[5][k * N + N / 2] = k + 1; /* the load of beam k */

    shoal_context *ctx;
    shoal_band_opts shape = { .n = N, .count = COUNT, .nrhs = 1 };
    shoal_band *plan = NULL;
    shoal_band_info info;
    double *a = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof host, (void **)&a); /* the context's memory */
    if (!status) status = shoal_copy(ctx, a, host, sizeof host);
    if (!status) status = shoal_band_create(ctx, &shape, &plan); /* plan once, solve often */
    if (!status)                                                 /* x takes the place of b */
        status = shoal_band_solve(plan, a, a + ALL, a + 2 * ALL, a + 3 * ALL, a + 4 * ALL,
                                  a + 5 * ALL, a + 5 * ALL);
    if (!status) status = shoal_band_last(plan, &info);
    if (!status) status = shoal_copy(ctx, host, a, sizeof host);

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("x[49] of beam 0 is %.3f, %d of %d systems failed\n", host[5][N / 2],
               (int)info.failed, COUNT);
    shoal_band_free(plan);
    shoal_free(ctx, a);
    shoal_close(ctx);
    return status || info.failed;
}
