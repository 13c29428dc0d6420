/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - 1000 systems of 255 unknowns, on the GPU if there is one, else on the CPU.
 *
 *     cc tridiag.c $(pkg-config --cflags --libs shoal) -o tridiag
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { N = 255, COUNT = 1000, ALL = N * COUNT };
static double host[4][ALL]; /* dl, d, du and b: diagonals and right-hand sides */

int main(void) {
    for (int i = 0; i < ALL; i++)
        host[0][i] = host[2][i] = -1, host[1][i] = 2.5, host[3][i] = i % N;

    shoal_context *ctx;
    shoal_tridiag_opts shape = { .n = N, .count = COUNT, .nrhs = 1 };
    shoal_tridiag *plan = NULL;
    shoal_tridiag_info info;
    double *dl = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof host, (void **)&dl); /* the context's memory */
    if (!status) status = shoal_copy(ctx, dl, host, sizeof host);
    if (!status) status = shoal_tridiag_create(ctx, &shape, &plan); /* plan once, solve often */
    if (!status) /* x takes the place of the right-hand side */
        status = shoal_tridiag_solve(plan, dl, dl + ALL, dl + 2 * ALL, dl + 3 * ALL, dl + 3 * ALL);
    if (!status) status = shoal_tridiag_last(plan, &info);
    if (!status) status = shoal_copy(ctx, host, dl, sizeof host);

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("x[127] = %.6f, %d of %d systems failed\n", host[3][127], (int)info.failed, COUNT);
    shoal_tridiag_free(plan);
    shoal_free(ctx, dl);
    shoal_close(ctx);
    return status || info.failed;
}
