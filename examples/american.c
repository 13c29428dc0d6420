/* SPDX-License-Identifier: Apache-2.0
 *
 * american.c - an American put by Longstaff and Schwartz's regressions: a lower bound of its price. The
 * Bermudan put with 50 dates is worth 4.4778.
 *
 *     cc american.c $(pkg-config --cflags --libs shoal) -o american
 */
#include <shoal/shoal.h>
#include <stdio.h>

int main(void) {
    const double s0 = 36, sigma = 0.2;
    const shoal_american option = {
        .payoff = SHOAL_PUT, .strike = 40, .rate = 0.06, .maturity = 1, .s0 = &s0, .sigma = &sigma
    };
    const shoal_american_opts opts = { .assets = 1, .dates = 50, .seed = 42 };
    shoal_context *ctx;
    shoal_price *plan = NULL;
    shoal_american_fit fit = { 0 };
    shoal_price_value value = { 0 };
    const shoal_price_goal goal = { .paths = 1 << 17 };
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_price_american(ctx, &option, 1, &opts, &plan); /* fits the rule */
    if (!status) status = shoal_american_fits(plan, &fit);
    if (!status) status = shoal_price_simulate(plan, &goal, &value, NULL); /* on paths of its own */

    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("%.4f +- %.4f; %d regressions, %d truncated, %d failed\n", value.price, value.error,
               (int)fit.systems, (int)fit.truncated, (int)fit.failed);
    shoal_price_free(plan);
    shoal_close(ctx);
    return status || value.price > 4.4778 + 4 * value.error || value.price < 4.44;
}
