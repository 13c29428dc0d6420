/* SPDX-License-Identifier: Apache-2.0
 *
 * cva/run.c - the runs of `shoal cva`: a plan, its outer paths piece by piece, and what they say.
 */
#include "cva.h"
#include "cli/common/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Outer paths between two looks at the keyboard. A GPU needs many at a time; on a CPU a hundred of them
 * may take seconds. */
enum { AT_ONCE_CPU = 128, AT_ONCE = 16384 };

/* Messages of the library about a contract are about a line of the book; numbers of assets and correlations are the
 * market's. */
static int status_of(cli *c, const cva_options *o, const cva_book *b, shoal_status status) {
    static const struct {
        const char *begins, *column;
    } columns[] = { { "s0[%lld]%n", "spot" },
                    { "sigma[%lld]%n", "volatility" },
                    { "dividend[%lld]%n", "dividend" } };
    long long i;
    int length = 0;
    for (int k = 0; k < 3 && status == SHOAL_E_ARG; k++)
        if (sscanf(shoal_message(c->ctx), columns[k].begins, &i, &length) == 1 && length > 0 &&
            i >= 0 && i < b->assets)
            return cli_fail(CLI_INPUT, "%s: column %s of asset %s%s", o->market, columns[k].column,
                            b->asset[i], shoal_message(c->ctx) + length);
    if (status == SHOAL_E_ARG &&
        sscanf(shoal_message(c->ctx), "contracts[%lld]: %n", &i, &length) == 1 && i >= 0 &&
        i < b->count)
        return cli_fail(CLI_INPUT, "%s:%lld: %s", o->book, (long long)b->line[i],
                        shoal_message(c->ctx) + length);
    if (status == SHOAL_E_ARG && strncmp(shoal_message(c->ctx), "correlation", 11) == 0)
        return cli_fail(CLI_INPUT, "%s: %s", o->market, shoal_message(c->ctx));
    return cli_status(c, status);
}

static int create(cli *c, const cva_options *o, const cva_book *b, shoal_cva **plan) {
    const shoal_cva_market market = { .assets = b->assets,
                                      .rate = o->rate,
                                      .s0 = b->s0,
                                      .sigma = b->sigma,
                                      .dividend = b->dividend,
                                      .correlation = b->correlation };
    return status_of(
        c, o, b,
        shoal_cva_create(c->ctx, &market, b->contract, b->count, &o->party, &o->opts, plan));
}

/* Outer paths before part `shard` of those that --shard makes, from 0. */
static int64_t paths_before(const cva_options *o, int64_t shard) {
    return o->opts.outer / o->shards * shard + o->opts.outer % o->shards * shard / o->shards;
}

/* The rows of parts, in the place of a simulation. */
static int join(const cva_options *o, const cva_joined *joined, shoal_cva *plan, cva_result *r) {
    r->width = shoal_cva_width(plan);
    if (joined->paths != o->opts.outer || joined->width != r->width)
        return cli_fail(CLI_INPUT, "parts have %lld rows of %lld numbers, not %lld of %lld",
                        (long long)joined->paths, (long long)joined->width,
                        (long long)o->opts.outer, (long long)r->width);
    const size_t bytes = (size_t)(o->opts.outer * r->width) * sizeof *r->samples;
    r->samples = malloc(bytes);
    r->profile = calloc((size_t)o->opts.dates, sizeof *r->profile);
    if (!r->samples || !r->profile) return cli_no_memory();
    memcpy(r->samples, joined->rows, bytes);
    r->outer = o->opts.outer, r->counts = joined->counts;
    return CLI_OK;
}

static int simulate(cli *c, const cva_options *o, const cva_book *b, const char *label,
                    shoal_cva *plan, cva_result *r) {
    const int64_t most = strcmp(c->machine.backend, "cpu") == 0 ? AT_ONCE_CPU : AT_ONCE;
    int64_t outer = o->opts.outer;
    if (o->shards) r->first = paths_before(o, o->shard - 1);
    if (o->shards) outer = paths_before(o, o->shard) - r->first;
    r->width = shoal_cva_width(plan);
    int code = o->shards ? part_check_size(outer, r->width) : CLI_OK;
    if (code != CLI_OK) return code;
    r->samples = malloc((size_t)(outer * r->width + 1) * sizeof *r->samples);
    r->profile = calloc((size_t)o->opts.dates, sizeof *r->profile);
    if (!r->samples || !r->profile) code = cli_no_memory();
    cli_progress bar = { 0 };
    cli_catch_interrupt();
    if (label) cli_progress_begin(&bar, c, label, outer);
    while (r->outer < outer && code == CLI_OK && !cli_interrupted()) {
        const int64_t left = outer - r->outer, here = left < most ? left : most;
        code = status_of(c, o, b,
                         shoal_cva_run(plan, r->first + r->outer, here,
                                       r->samples + r->outer * r->width, &r->counts));
        if (code == CLI_OK) r->outer += here;
        cli_progress_step(&bar, r->outer);
    }
    cli_progress_end(&bar);
    return code;
}

int cva_compute(cli *c, const cva_options *o, const cva_book *b, const char *bar,
                const cva_joined *joined, cva_result *r) {
    shoal_cva *plan = NULL;
    *r = (cva_result){ .outer = 0 };
    const double start = cli_now();
    int code = create(c, o, b, &plan);
    r->rules = cli_now() - start;
    if (code == CLI_OK) code = joined ? join(o, joined, plan, r) : simulate(c, o, b, bar, plan, r);
    r->seconds = cli_now() - start;
    if (code == CLI_OK && r->outer > 0)
        code =
            status_of(c, o, b, shoal_cva_result(plan, r->samples, r->outer, &r->value, r->profile));
    if (code == CLI_OK) code = status_of(c, o, b, shoal_cva_describe(plan, &r->info));
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

const shoal_cva_date *cva_peak(const cva_result *r) {
    const shoal_cva_date *top = r->profile;
    for (int64_t k = 1; k < r->info.dates; k++)
        if (r->profile[k].epe > top->epe) top = &r->profile[k];
    return top;
}
