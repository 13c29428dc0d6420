/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_run.c - the runs of `shoal cva`: a plan, its outer paths piece by piece, and what they say.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Outer paths between two looks at the keyboard. A GPU wants many at a time; on a CPU a hundred of them
 * may take seconds. */
enum { AT_ONCE_CPU = 128, AT_ONCE = 16384 };

/* What the library says about a contract is about a line of the book. */
static int status_of(cli *c, const cva_options *o, const cva_book *b, shoal_status status) {
    long long i;
    int length = 0;
    if (status == SHOAL_E_ARG &&
        sscanf(shoal_message(c->ctx), "contracts[%lld]: %n", &i, &length) == 1 && i >= 0 &&
        i < b->count)
        return cli_fail(CLI_INPUT, "%s:%lld: %s", o->book, (long long)b->line[i],
                        shoal_message(c->ctx) + length);
    return cli_status(c, status);
}

static int create(cli *c, const cva_options *o, const cva_book *b, shoal_cva **plan) {
    const shoal_cva_market market = { .assets = b->assets,
                                      .rate = o->rate,
                                      .s0 = b->s0,
                                      .sigma = b->sigma,
                                      .dividend = b->dividend,
                                      .correlation = b->correlation };
    const shoal_cva_counterparty party = { .pieces = o->pieces,
                                           .hazard = o->hazard,
                                           .until = o->pieces > 1 ? o->until : NULL,
                                           .recovery = o->recovery,
                                           .collateral = o->collateral,
                                           .threshold = o->threshold };
    const shoal_cva_opts opts = { .dates = o->dates,
                                  .horizon = o->horizon,
                                  .outer = o->outer,
                                  .inner_count = o->inner_count,
                                  .inner = o->inner,
                                  .nested = o->nested,
                                  .kept = o->kept,
                                  .stopping = o->by_inner ? SHOAL_CVA_BY_INNER : SHOAL_CVA_BY_RULE,
                                  .rule_paths = o->rule_paths,
                                  .degree = o->degree,
                                  .raw = o->raw,
                                  .solver = o->solver,
                                  .cond = o->cond,
                                  .type = o->type,
                                  .seed = c->seed };
    return status_of(c, o, b,
                     shoal_cva_create(c->ctx, &market, b->contract, b->count, &party, &opts, plan));
}

static int simulate(cli *c, const cva_options *o, const cva_book *b, const char *label,
                    shoal_cva *plan, cva_result *r) {
    const int64_t most = strcmp(c->machine.backend, "cpu") == 0 ? AT_ONCE_CPU : AT_ONCE;
    r->width = shoal_cva_width(plan);
    r->samples = malloc((size_t)(o->outer * r->width) * sizeof *r->samples);
    r->profile = calloc((size_t)o->dates, sizeof *r->profile);
    int code = r->samples && r->profile ? CLI_OK : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    cli_progress bar = { 0 };
    cli_catch_interrupt();
    if (label) cli_progress_begin(&bar, c, label, o->outer);
    const double start = cli_now();
    while (r->outer < o->outer && code == CLI_OK && !cli_interrupted()) {
        const int64_t left = o->outer - r->outer, here = left < most ? left : most;
        code = status_of(
            c, o, b,
            shoal_cva_run(plan, r->outer, here, r->samples + r->outer * r->width, &r->counts));
        if (code == CLI_OK) r->outer += here;
        cli_progress_step(&bar, r->outer);
    }
    r->seconds = cli_now() - start;
    cli_progress_end(&bar);
    if (code == CLI_OK && r->outer > 0)
        code =
            status_of(c, o, b, shoal_cva_result(plan, r->samples, r->outer, &r->value, r->profile));
    if (code == CLI_OK) code = status_of(c, o, b, shoal_cva_describe(plan, &r->info));
    return code;
}

int cva_compute(cli *c, const cva_options *o, const cva_book *b, const char *bar, cva_result *r) {
    shoal_cva *plan = NULL;
    *r = (cva_result){ .outer = 0 };
    int code = create(c, o, b, &plan);
    if (code == CLI_OK) code = simulate(c, o, b, bar, plan, r);
    shoal_cva_free(plan);
    return code;
}

void cva_result_free(cva_result *r) {
    free(r->samples);
    free(r->profile);
    *r = (cva_result){ .outer = 0 };
}

double cva_mean(const cva_result *r, const cva_result *less, int64_t paths, double *error) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < paths; i++) { /* Welford's: one pass, no cancellation */
        const double x = r->samples[i * r->width] - (less ? less->samples[i * less->width] : 0);
        const double off = x - mean;
        mean += off / (double)(i + 1);
        squares += off * (x - mean);
    }
    *error = paths > 1 ? sqrt(squares / (double)paths / (double)(paths - 1)) : NAN;
    return mean;
}
