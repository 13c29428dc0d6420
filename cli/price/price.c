/* SPDX-License-Identifier: Apache-2.0
 *
 * price.c - what the models of `shoal price` share: their options; simulations as the library has
 * them (shoal_price_simulate()), with a progress bar, points for a picture, and Ctrl-C, after which
 * what is known is the outcome; the same out of parts; and what the commands do alike once their
 * plan is made: write the part, print, draw.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define AT(member) CLI_AT(price_options, member)
const cli_option price_strikes[] = {
    { "strike",     OPT_REALS,    AT(strike),          "K,..",  20, "strikes", .usual = "1", .in = IN_BOTH },
    { 0 }
};

const cli_option price_contract[] = {
    { "maturity",   OPT_REALS,    AT(maturity),        "T,..",  20, "maturities, ascending", .unit = "years", .usual = "1", .in = IN_BOTH },
    { "put",        OPT_FLAG,     AT(opts.put),        NULL,    20, "puts instead of calls", .in = IN_BOTH },
    { 0 }
};

const cli_option price_simulation[] = {
    { .kind = OPT_HEADING, .group = 20, .help = "Contract and simulation:" },
    { "method",     OPT_TEXT,     AT(opts.method),     "M",     20, "method of the model", .usual = "auto", .in = IN_PART },
    { "paths",      OPT_INT,      AT(paths),           "N",     20, "paths, up to 2^40", 1, SHOAL_PRICE_MOST, .usual = "262144; bullet grid and nested: 4096 per point", .in = IN_PART },
    { "steps",      OPT_INT,      AT(opts.steps),      "N",     20, "time steps to the last maturity", 1, 1 << 30, .usual = "euler: 1000, or 10 per mean-reversion time if that is more; other methods: 64 or more", .in = IN_PART,
      .more = "64 is doubled until the bias of an at-the-money price is below 5e-5 of the forward. A note appears if the bias may exceed the standard error. american and bullet step from date to date." },
    { "type",       OPT_CHOICE,   AT(opts.type),       "T",     20, "arithmetic of paths: f32 or f64; exact steps and sums are always f64", .words = CLI_TYPES, .in = IN_BOTH,
      .more = "f32 with --math fast uses special functions of a GPU." },
    { "target-se",  OPT_POSITIVE, AT(target),          "E",     20, "simulate until the standard error of every price (not of the Greeks) is at most E, instead of --paths", .without = "shard paths", .in = IN_JSON_SET,
      .more = "If that needs more than 2^40 paths, the run ends with a message that gives the time it would take. If no path paid, the simulation ends when the 95 % bound of the value is at most E, or after 2^22 paths. A note then gives the bound. The JSON object has it as bound, and the number of such values as unpaid." },
    { "control",    OPT_FLAG,     AT(opts.control),    NULL,    20, "use S_T, whose mean is known, as a control variate [conditional: yes]", .in = IN_PART },
    { "no-control", OPT_FLAG,     AT(opts.control),    NULL,    20, "no control variate; american: also no hedge of the regressed cash flows", .value = -1, .in = IN_PART },
    { "plot",       OPT_OUTPUT,   AT(plot),            "F.svg", 20, "plot convergence, smile, density, or what the method computes", .without = "shard", .ends = "svg|png" },
    { "shard",      OPT_SHARD,    AT(shard),           "I/N",   20, "simulate part I of N, from 1, and write it to -o; see merge-parts", .with = "output" },
    { "output",     OPT_OUTPUT,   AT(output),          "FILE",  20, "where to write the part, or other results of the model", .letter = 'o' },
    { 0 }
};

const cli_option price_european[] = {
    { "antithetic", OPT_FLAG,     AT(opts.antithetic), NULL,    20, "pair each path with its mirror image", .in = IN_PART },
    { "greeks",     OPT_FLAG,     AT(opts.greeks),     NULL,    20, "also delta, gamma and vega (bullet: no vega)", .in = IN_PART },
    { "bump",       OPT_POSITIVE, AT(opts.bump),       "H",     20, "Greeks by simulation: delta and gamma from S0 (1 +- H)", .with = "greeks", .usual = "a fraction of the standard deviation of log S_T", .in = IN_PART },
    { 0 }
};
/* clang-format on */

void price_default_method(price_options *o, const char *method) {
    if (!o->opts.method || strcmp(o->opts.method, "auto") == 0) o->opts.method = method;
}

int price_default_lists(price_options *o) {
    for (int i = 0; i < 2; i++) {
        price_list *list = i ? &o->maturity : &o->strike;
        if (list->values) continue;
        list->values = malloc(sizeof *list->values);
        if (!list->values) return cli_no_memory();
        list->values[0] = 1, list->count = 1;
    }
    return CLI_OK;
}

void price_options_free(price_options *o) {
    free(o->strike.values);
    free(o->maturity.values);
}

shoal_price_opts price_opts_of(const cli *c, const price_options *o) {
    shoal_price_opts opts = o->opts;
    opts.math = c->fast_math ? SHOAL_FAST : SHOAL_EXACT, opts.seed = c->seed;
    opts.strikes = o->strike.count, opts.strike = o->strike.values;
    opts.maturities = o->maturity.count, opts.maturity = o->maturity.values;
    return opts;
}

int price_check_plot(const price_options *o, bool png) {
    if (!o->plot || cli_ends_in(o->plot, ".svg") || (png && cli_ends_in(o->plot, ".png")))
        return CLI_OK;
    return cli_fail(
        CLI_USAGE, "--plot: '%s' does not end in .svg; only price bullet --method pde makes a .png",
        o->plot);
}

/* ---- runs ------------------------------------------------------------------------------------- */

typedef struct simulation {
    cli *c;
    const price_options *o;
    shoal_price *plan;
    price_outcome *out;
    shoal_price_goal goal;
    bool refused; /* the target needs more paths than there can be */
    cli_progress bar;
    char label[CLI_NUMBER];
} simulation;

/* The plan's shape, and room for its values. */
static int begin(simulation *s) {
    price_outcome *out = s->out;
    const int code = cli_status(s->c, shoal_price_describe(s->plan, &out->info));
    if (code != CLI_OK) return code;
    out->width = shoal_price_width(s->plan);
    out->values = calloc((size_t)out->info.contracts + 1, sizeof *out->values);
    return out->values ? CLI_OK : cli_no_memory();
}

/* A point of the picture, and the label of the progress bar. */
static void note_values(simulation *s, int64_t samples, const shoal_price_value *values) {
    price_outcome *out = s->out;
    if (out->info.contracts == 0) return;
    if (out->points < PRICE_POINTS)
        out->point[out->points++] = (price_point){ samples, values->price, values->error };
    cli_measured(s->label, values->price, values->error);
}

/* Room for the sums of a part: its units are a range of all. */
static int make_room(const simulation *s) {
    const price_options *o = s->o;
    const int64_t units = shoal_price_sums(s->plan, (o->paths + s->out->info.paths_each - 1) /
                                                        s->out->info.paths_each) /
                          (s->out->width ? s->out->width : 1);
    const int64_t rows = units * o->shard / o->shards - units * (o->shard - 1) / o->shards;
    const int code = part_check_size(rows, s->out->width);
    if (code != CLI_OK) return code;
    s->out->sums = calloc((size_t)(rows * s->out->width) + 1, sizeof(double));
    return s->out->sums ? CLI_OK
                        : cli_fail(CLI_UNAVAILABLE, "not enough memory: the part has %lld sums",
                                   (long long)(rows * s->out->width));
}

static int on_progress(const shoal_price_progress *now, void *with) {
    simulation *s = with;
    price_outcome *out = s->out;
    if (out->sums)
        memcpy(out->sums + out->units * out->width, now->sums,
               (size_t)(now->units * out->width) * sizeof(double));
    out->units += now->units;
    if (now->values) note_values(s, now->samples, now->values);
    s->refused = s->o->target > 0 && now->values && now->expected > SHOAL_PRICE_MOST;
    return cli_interrupted() || s->refused;
}

/* Errors that the standard errors do not show. */
static void note_errors(const cli *c, price_outcome *out) {
    const shoal_price_value *coarse = NULL; /* the value whose steps are the worst */
    int64_t count = 0;
    double most = 0;
    for (int64_t i = 0; i < out->info.contracts && out->samples > 0; i++) {
        const shoal_price_value *v = &out->values[i];
        if (v->bound > 0) out->unpaid++;
        if (v->bound > most) most = v->bound;
        if (!(v->bias > v->error)) continue;
        count++;
        if (!coarse || v->bias > coarse->bias) coarse = v;
    }
    if (out->unpaid > 0)
        cli_note(
            c,
            "no path paid at %lld of %lld values: 0 +- 0 is not an estimate there; the values are "
            "below %.2g with 95 %% confidence",
            (long long)out->unpaid, (long long)out->info.contracts, most);
    if (coarse)
        cli_note(
            c,
            "the bias of %lld steps may exceed the standard error at %lld of %lld values: bias up to "
            "%.2g, standard error %.2g; more --steps reduce it",
            (long long)out->info.steps, (long long)count, (long long)out->info.contracts,
            coarse->bias, coarse->error);
}

int price_simulate(cli *c, const price_options *o, shoal_price *plan, price_outcome *out) {
    simulation s = { .c = c, .o = o, .plan = plan, .out = out, .label = "simulation" };
    int code = begin(&s);
    s.goal = (shoal_price_goal){ .paths = o->target > 0 ? 0 : o->paths,
                                 .target = o->target,
                                 .part = o->shard,
                                 .parts = o->shards,
                                 .on_round = on_progress,
                                 .user = &s };
    if (code == CLI_OK && o->shards && !out->info.deterministic) code = make_room(&s);
    if (code != CLI_OK) return code;
    cli_progress_begin(&s.bar, c, s.label, 1);
    s.bar.next = 1; /* all of it is one stage of the library */
    shoal_price_progress done = { 0 };
    const shoal_status status = shoal_price_simulate(plan, &s.goal, out->values, &done);
    out->first = done.first / SHOAL_PRICE_UNIT;
    out->samples = done.samples, out->seconds = done.seconds;
    code = status == SHOAL_E_CANCELLED && out->samples > 0 ? CLI_OK : cli_status(c, status);
    cli_progress_end(&s.bar);
    if (code == CLI_OK && s.refused) {
        double worst = 0;
        for (int64_t i = 0; i < out->info.contracts; i++) worst = fmax(worst, out->values[i].error);
        const double times = pow(worst / o->target, 2);
        return cli_refuse_target(o->target, times * (double)(out->samples * out->info.paths_each),
                                 "2^40 paths", times * out->seconds);
    }
    if (code == CLI_OK) note_errors(c, out);
    if (code == CLI_OK && !out->info.deterministic && out->samples == 0 && cli_interrupted())
        return CLI_INTERRUPTED; /* nothing is known yet */
    return code;
}

int price_join(cli *c, const price_options *o, shoal_price *plan, const price_parts *all,
               price_outcome *out) {
    const price_part *parts = all->part;
    simulation s = { .c = c, .o = o, .plan = plan, .out = out };
    int code = begin(&s);
    const int64_t each = out->info.paths_each, samples = (o->paths + each - 1) / each;
    double *total = calloc((size_t)(2 * out->width) + 1, sizeof *total);
    if (code == CLI_OK && !total) code = cli_no_memory();
    for (int64_t i = 0; i < all->count && code == CLI_OK; i++) {
        if (parts[i].samples == 0) continue;
        if (parts[i].width != out->width) {
            code = cli_fail(CLI_INPUT, "%s: not a part: it has %lld sums per unit, expected %lld",
                            parts[i].part.path, (long long)parts[i].width, (long long)out->width);
            break;
        }
        code = cli_status(c, shoal_price_add(plan, parts[i].sums, parts[i].samples, total));
        out->samples += parts[i].samples;
        if (code == CLI_OK)
            code = cli_status(c, shoal_price_result(plan, total, out->samples, out->values));
        if (code == CLI_OK) note_values(&s, out->samples, out->values);
    }
    if (code == CLI_OK && out->samples != samples)
        code = cli_fail(CLI_INPUT, "the parts have %lld samples, expected %lld",
                        (long long)out->samples, (long long)samples);
    free(total);
    if (code == CLI_OK) note_errors(c, out);
    return code;
}

void price_outcome_free(price_outcome *out) {
    free(out->values);
    free(out->sums);
}

int price_finish(const price_job *job) {
    const price_options *o = job->o;
    price_outcome out = { 0 };
    int code = job->c->parts ? price_join(job->c, o, job->plan, job->c->parts, &out)
                             : price_simulate(job->c, o, job->plan, &out);
    if (code == CLI_OK && o->shards)
        code = price_part_write(job->c, job->command, job->arguments, o, &out);
    if (code == CLI_OK && o->output && !o->shards && job->keep) code = job->keep(job, &out);
    if (code == CLI_OK) {
        /* the price before the picture, which may take a formula and be interrupted */
        code = job->print(job, &out);
        fflush(stdout);
        const bool known = code == CLI_OK || code == CLI_INTERRUPTED;
        const int drawn =
            known && o->plot && price_has_values(&out) ? job->draw(job, &out) : CLI_OK;
        if (drawn != CLI_OK) code = drawn;
    }
    price_outcome_free(&out);
    shoal_price_free(job->plan);
    return code;
}

int price_by_formula(cli *c, shoal_price *plan, shoal_price_value *values) {
    return cli_status(c, shoal_price_result(plan, NULL, 0, values));
}
