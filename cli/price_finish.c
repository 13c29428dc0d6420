/* SPDX-License-Identifier: Apache-2.0
 *
 * price_finish.c - what the commands of `shoal price` do alike once their plan is made: simulate or join
 * parts, write the part, print, draw.
 */
#include "price.h"

shoal_price_opts price_opts_of(const cli *c, const price_options *o) {
    return (shoal_price_opts){ .method = o->method,
                               .variant = o->variant,
                               .type = o->type,
                               .math = c->fast_math ? SHOAL_FAST : SHOAL_EXACT,
                               .seed = c->seed,
                               .steps = o->steps,
                               .put = o->put,
                               .antithetic = o->antithetic,
                               .control = o->control,
                               .greeks = o->greeks,
                               .bump = o->bump,
                               .probability = o->probability,
                               .strikes = o->strike.count,
                               .maturities = o->maturity.count,
                               .strike = o->strike.values,
                               .maturity = o->maturity.values };
}

static int write_part(const price_job *job, const price_outcome *out) {
    part_words w = { 0 };
    char option[40];
    price_words_of(&w, job->c, job->o);
    for (const price_parameter *p = job->parameter; p->name; p++) {
        snprintf(option, sizeof option, "--%s", p->name);
        part_number(&w, option, p->value);
    }
    if (job->words) job->words(job, &w);
    const int code = price_part_write(job->o->output, job->command, &w, job->o, out);
    part_words_free(&w);
    return code;
}

int price_finish(const price_job *job, const price_part *parts, int64_t count) {
    const price_options *o = job->o;
    price_outcome out = { 0 };
    int code = parts ? price_join(job->c, o, job->plan, parts, count, &out)
                     : price_simulate(job->c, o, job->plan, &out);
    if (code == CLI_OK && o->shards) code = write_part(job, &out);
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

void price_json_parameters(const price_job *job, io_json *j) {
    for (const price_parameter *p = job->parameter; p->name; p++)
        io_json_double(j, p->name, p->value);
}

int price_print(const price_job *job, const price_outcome *out) {
    cli *c = job->c;
    if (c->json) {
        io_json *j = cli_json_begin(c, job->command);
        price_json_parameters(job, j);
        if (job->json) job->json(job, j);
        price_json(j, c, job->o, out);
        return cli_json_end(c, CLI_OK);
    }
    printf("model         %s", job->command + sizeof "price");
    for (const price_parameter *p = job->parameter; p->name; p++)
        printf("%s %s %g", p == job->parameter ? ":" : ",", p->name, p->value);
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
