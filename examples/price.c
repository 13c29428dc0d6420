/* SPDX-License-Identifier: Apache-2.0
 *
 * price.c - a call of Heston's model by conditional Monte Carlo, with its standard error, and by formula.
 *
 *     cc price.c $(pkg-config --cflags --libs shoal) -o price
 */
#include <shoal/shoal.h>
#include <stdio.h>

static shoal_status price(shoal_context *ctx, const char *method, int64_t paths,
                          shoal_price_value *value) {
    const shoal_heston model = shoal_heston_example();
    const double strike = 1, maturity = 1;
    const shoal_price_opts opts = { .method = method,
                                    .seed = 42,
                                    .steps = 16,
                                    .strikes = 1,
                                    .strike = &strike,
                                    .maturities = 1,
                                    .maturity = &maturity };
    const shoal_price_goal goal = { .paths = paths };
    return shoal_heston_value(ctx, &model, &opts, &goal, value);
}

int main(void) {
    shoal_context *ctx;
    shoal_price_value simulated = { 0 }, exact = { 0 };
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = price(ctx, "conditional", 1 << 18, &simulated);
    if (!status) status = price(ctx, "analytic", 1, &exact);
    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("%.6f +- %.6f, by formula %.6f\n", simulated.price, simulated.error, exact.price);
    shoal_close(ctx);
    const double off =
        (simulated.price - exact.price) / (simulated.error > 0 ? simulated.error : 1);
    return status || off < -4 || off > 4;
}
