/* SPDX-License-Identifier: Apache-2.0
 *
 * finish.c - what the commands of `shoal price` do alike once their plan is made: simulate or join
 * parts, write the part, print, draw.
 */
#include "price.h"

shoal_price_opts price_opts_of(const cli *c, const price_options *o) {
    shoal_price_opts opts = o->opts;
    opts.math = c->fast_math ? SHOAL_FAST : SHOAL_EXACT, opts.seed = c->seed;
    opts.strikes = o->strike.count, opts.strike = o->strike.values;
    opts.maturities = o->maturity.count, opts.maturity = o->maturity.values;
    return opts;
}

int price_finish(const price_job *job) {
    const price_options *o = job->o;
    price_outcome out = { 0 };
    int code = job->c->parts ? price_join(job->c, o, job->plan, job->c->parts, &out)
                             : price_simulate(job->c, o, job->plan, &out);
    if (code == CLI_OK && o->shards)
        code = price_part_write(job->c, job->command, job->arguments, o, &out);
    if (code == CLI_OK && o->output && !o->shards && job->keep) code = job->keep(job, &out);
    if (code ==
        CLI_OK) { /* first of all the price: a picture may take a formula, and be broken off */
        code = job->print(job, &out);
        fflush(stdout);
        const bool known = code == CLI_OK || code == CLI_INTERRUPTED;
        const int drawn = known && o->plot && price_any(&out) ? job->draw(job, &out) : CLI_OK;
        if (drawn != CLI_OK) code = drawn;
    }
    price_outcome_free(&out);
    shoal_price_free(job->plan);
    return code;
}

int price_print(const price_job *job, const price_outcome *out) {
    cli *c = job->c;
    if (c->json) {
        io_json *j = cli_json_begin(c, job->command->name);
        cli_json_options(j, c, job->command, job->arguments);
        if (job->json) job->json(job, j);
        price_json(j, c, job->o, out);
        return cli_json_end(c, CLI_OK);
    }
    printf("model         %s", job->command->name + sizeof "price");
    cli_row row;
    for (int i = 0; (row = cli_row_at(job->command, c, job->arguments, i)).option; i++)
        if ((row.option->in & IN_MODEL) == IN_MODEL)
            printf("%s %s %g", i == 0 ? ":" : ",", row.option->name,
                   *(const double *)(void *)(row.base + row.option->at));
    putchar('\n');
    price_table(c, job->o, out);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int price_check_plot(const price_options *o, bool png) {
    if (!o->plot || cli_ends_in(o->plot, ".svg") || (png && cli_ends_in(o->plot, ".png")))
        return CLI_OK;
    return cli_fail(CLI_USAGE, "--plot: '%s' does not end in .svg%s", o->plot,
                    png ? " or .png" : "; a .png is drawn of price bullet --method pde alone");
}
