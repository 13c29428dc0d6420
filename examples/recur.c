/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - 1000 saving plans of 480 months at interest rates of their own, w[i] = s[i] w[i-1] + t[i],
 * on the GPU if there is one, else on the CPU.
 *
 *     cc recur.c $(pkg-config --cflags --libs shoal) -o recur
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { MONTHS = 480, PLANS = 1000, ALL = MONTHS * PLANS };
static double host[2][ALL], start[PLANS]; /* s and t, one plan after another; w[-1] of each */

int main(void) {
    for (int i = 0; i < ALL; i++) host[0][i] = 1 + 0.003 * (1 + i % 7) / 7, host[1][i] = 100;
    for (int k = 0; k < PLANS; k++) start[k] = 10 * k;

    shoal_context *ctx;
    shoal_recur_opts shape = { .n = MONTHS, .count = PLANS };
    shoal_recur *plan = NULL;
    shoal_recur_info info = { 0 };
    double *s = NULL, *w0 = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof host, (void **)&s); /* the context's memory */
    if (!status) status = shoal_alloc(ctx, sizeof start, (void **)&w0);
    if (!status) status = shoal_copy(ctx, s, host, sizeof host);
    if (!status) status = shoal_copy(ctx, w0, start, sizeof start);
    if (!status) status = shoal_recur_create(ctx, &shape, &plan); /* plan once, solve often */
    if (!status) status = shoal_recur_solve(plan, s, s + ALL, w0, s + ALL); /* w takes t's place */
    if (!status) status = shoal_recur_last(plan, &info);
    if (!status) status = shoal_copy(ctx, host, s, sizeof host);

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("by %s: plan 999 has %.2f after %d months\n", info.method, host[1][ALL - 1], MONTHS);
    shoal_recur_free(plan);
    shoal_free(ctx, s);
    shoal_free(ctx, w0);
    shoal_close(ctx);
    return status || info.failed;
}
