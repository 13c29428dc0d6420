/* SPDX-License-Identifier: Apache-2.0
 *
 * first.c - 1000 tridiagonal systems in one call, each with its verdict. System 7 contains a NaN.
 *
 *     cc first.c $(pkg-config --cflags --libs shoal) -o first
 */
#include <shoal/shoal.h>
#include <math.h>
#include <stdio.h>

enum { N = 255, COUNT = 1000 };
static double dl[COUNT][N], d[COUNT][N], du[COUNT][N]; /* the three diagonals of each system */
static double b[COUNT][N], x[COUNT][N];
static int32_t verdict[COUNT]; /* 0: answered; above 0: with a warning; below 0: no answer */

static shoal_status solve(void) {
    shoal_context *ctx;
    shoal_tridiag *plan = NULL;
    const shoal_tridiag_opts shape = { .n = N, .count = COUNT, .nrhs = 1 };
    shoal_status status = shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx);
    if (!status) status = shoal_tridiag_create(ctx, &shape, &plan); /* plan once, solve often */
    if (!status) status = shoal_tridiag_outcome(plan, &(shoal_outcome){ .status = verdict });
    if (!status) status = shoal_tridiag_solve(plan, *dl, *d, *du, *b, *x);
    if (status) fprintf(stderr, "%s\n", shoal_message(ctx));
    shoal_tridiag_free(plan);
    shoal_close(ctx);
    return status;
}

int main(void) {
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < N; i++) dl[k][i] = du[k][i] = -1, d[k][i] = 2.5, b[k][i] = 1;
    d[7][0] = NAN;
    if (solve()) return 1;
    for (int k = 6; k <= 8; k++)
        printf("system %d: %s, x[0] = %.4f\n", k, shoal_system_text(verdict[k]), x[k][0]);
    return verdict[6] || verdict[7] >= 0 || verdict[8];
}
