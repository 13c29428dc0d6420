/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - 1000 symmetric systems of 16 unknowns, one of them singular, each with a verdict.
 *
 *     cc smallsym.c $(pkg-config --cflags --libs shoal) -o smallsym
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { N = 16, COUNT = 1000 };
static struct {
    double A[COUNT][N][N], b[COUNT][N], x[COUNT][N];
    int32_t status[COUNT];
} host, *at;

int main(void) {
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < N; i++) {
            host.b[k][i] = 1;
            for (int j = 0; j <= i; j++) /* the lower triangle; system 7 is all ones, of rank 1 */
                host.A[k][i][j] = k == 7 ? 1 : i == j ? 2 + k % 5 : 1.0 / (1 + i + j);
        }

    shoal_context *ctx;
    shoal_smallsym_opts shape = { .n = N, .count = COUNT, .nrhs = 1 };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof host, (void **)&at); /* the context's memory */
    if (!status) status = shoal_copy(ctx, at, &host, sizeof host);
    if (!status) status = shoal_smallsym_create(ctx, &shape, &plan); /* plan once, solve often */
    if (!status) status = shoal_smallsym_outcome(plan, &(shoal_outcome){ .status = at->status });
    if (!status) status = shoal_smallsym_solve(plan, at->A[0][0], at->b[0], at->x[0]);
    if (!status) status = shoal_smallsym_last(plan, &info);
    if (!status) status = shoal_copy(ctx, &host, at, sizeof host);

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("%d failed, %d warned; system 7: %s, x = %.4f; system 8: x[0] = %.4f\n",
               (int)info.failed, (int)info.warned, shoal_system_text(host.status[7]), host.x[7][0],
               host.x[8][0]);
    shoal_smallsym_free(plan);
    shoal_free(ctx, at);
    shoal_close(ctx);
    return status || info.failed || host.status[7] != SHOAL_SYSTEM_TRUNCATED;
}
