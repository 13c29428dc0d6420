/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - CVA of a call, whose value is known, and of an American put on the same asset.
 *
 *     cc cva.c $(pkg-config --cflags --libs shoal) -o cva
 */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTER = 2048, DATES = 10 };

static shoal_status cva_of(shoal_context *ctx, const shoal_cva_contract *contract,
                           shoal_cva_value *value) {
    const double spot = 100, volatility = 0.2, hazard = 0.05;
    const int64_t inner = 128;
    const shoal_cva_market market = { .assets = 1, .rate = 0.1, .s0 = &spot, .sigma = &volatility };
    const shoal_cva_counterparty other = { .pieces = 1, .hazard = &hazard, .recovery = 0.4 };
    const shoal_cva_opts opts = { .dates = DATES,
                                  .outer = OUTER,
                                  .inner_count = 1,
                                  .inner = &inner,
                                  .rule_paths = 65536,
                                  .seed = 1 };
    shoal_cva *plan = NULL;
    shoal_cva_date profile[DATES];
    shoal_status status = shoal_cva_create(ctx, &market, contract, 1, &other, &opts, &plan);
    double *samples =
        status ? NULL : malloc(OUTER * (size_t)shoal_cva_width(plan) * sizeof(double));
    if (!status && !samples) status = SHOAL_E_NOMEM;
    if (!status) status = shoal_cva_run(plan, 0, OUTER, samples, NULL); /* in any pieces */
    if (!status) status = shoal_cva_result(plan, samples, OUTER, value, profile);
    free(samples);
    shoal_cva_free(plan);
    return status;
}

int main(void) {
    const int64_t asset = 0;
    const shoal_cva_contract call = { .payoff = SHOAL_CVA_CALL,
                                      .strike = 100,
                                      .maturity = 1,
                                      .quantity = 1,
                                      .assets = 1,
                                      .asset = &asset };
    shoal_cva_contract put = call;
    put.payoff = SHOAL_CVA_PUT, put.american = 1;

    shoal_context *ctx;
    shoal_cva_value of_call = { 0 }, of_put = { 0 };
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = cva_of(ctx, &call, &of_call);
    if (!status) status = cva_of(ctx, &put, &of_put);
    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("call %.4f +- %.4f, exact 0.3883; American put %.4f +- %.4f, %.4f to %.4f\n",
               of_call.cva, of_call.error, of_put.cva, of_put.error, of_put.low, of_put.high);
    shoal_close(ctx);
    const double off = of_call.cva - 0.38830185823;
    return status || off < -4 * of_call.error || off > 4 * of_call.error;
}
