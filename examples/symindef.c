/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - rank and inertia of a symmetric indefinite matrix of order 300, and A x = b with it.
 *
 *     cc symindef.c $(pkg-config --cflags --libs shoal) -o symindef
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { N = 300 };
static double A[N][N], b[N]; /* A(i,j) = |i - j|: one positive eigenvalue, all others negative */

int main(void) {
    for (int i = 0; i < N; i++) {
        b[i] = 0;
        for (int j = 0; j < N; j++) {
            A[i][j] = i < j ? j - i : i - j;
            b[i] += A[i][j]; /* the answer is 1, 1, 1, ... */
        }
    }

    shoal_context *ctx;
    shoal_symindef_opts opts = { .n = N, .method = "complete" };
    shoal_symindef *plan = NULL;
    shoal_symindef_info info = { 0 };
    double *at = NULL, *x = NULL, rcond = 0;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof A, (void **)&at); /* the context's memory */
    if (!status) status = shoal_alloc(ctx, sizeof b, (void **)&x);
    if (!status) status = shoal_copy(ctx, at, A, sizeof A);
    if (!status) status = shoal_copy(ctx, x, b, sizeof b);
    if (!status) status = shoal_symindef_create(ctx, &opts, &plan); /* plan once, factor often */
    if (!status) status = shoal_symindef_factor(plan, at);          /* in place */
    if (!status) status = shoal_symindef_last(plan, &info);
    if (!status) status = shoal_symindef_rcond(plan, at, &rcond);
    if (!status) status = shoal_symindef_solve(plan, at, 1, x, x);
    if (!status) status = shoal_copy(ctx, b, x, sizeof b);

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("rank %d, %d positive, %d negative; rcond %.1e; x[150] = %.6f\n", (int)info.rank,
               (int)info.inertia[0], (int)info.inertia[1], rcond, b[150]);
    shoal_symindef_free(plan);
    shoal_free(ctx, at);
    shoal_free(ctx, x);
    shoal_close(ctx);
    return status || info.rank != N || info.inertia[0] != 1;
}
