/* SPDX-License-Identifier: Apache-2.0
 *
 * price.c - what the models of `shoal price` share: their options; simulations as the library has
 * them (shoal_price_simulate()), with a progress bar, points for a picture, and Ctrl-C, after which
 * what is known is the outcome; the same in units; and what the commands do alike: print, draw.
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
    { "steps",      OPT_INT,      AT(opts.steps),      "N",     20, "time steps to the last maturity", 1, 1 << 30, .usual = "euler: 1000, or 10 per mean-reversion time if that is more; exact, conditional: 64 or more; american, bullet: one per date", .in = IN_PART,
      .more = "64 is doubled until the bias of an at-the-money price is below 5e-5 of the forward. A note appears if the bias may exceed the standard error." },
    { "type",       OPT_CHOICE,   AT(opts.type),       "T",     20, "arithmetic of paths: f32 or f64; exact steps and sums are always f64", .words = CLI_TYPES, .in = IN_BOTH,
      .more = "f32 with --math fast uses special functions of a GPU." },
    { "target-se",  OPT_POSITIVE, AT(target),          "E",     20, "simulate until the standard error of every price (not of the Greeks) is at most E, instead of --paths", .without = "shard checkpoint units scale scale-plot paths", .in = IN_JSON_SET,
      .more = "If that needs more than 2^40 paths, the run ends with a message that gives the time it would take. If no path paid, the simulation ends when the 95 % bound of the value is at most E, or after 2^22 paths. A note then gives the bound. The JSON object has it as bound, and the number of such values as unpaid." },
    { "control",    OPT_FLAG,     AT(opts.control),    NULL,    20, "use S_T, whose mean is known, as a control variate [conditional, american: yes]", .in = IN_PART },
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

void price_check_output(struct argp_state *state, const price_options *o, bool merging,
                        const char *needed) {
    if (o->output && !o->shards && merging)
        argp_error(state, "-o applies to parts of price bullet");
    else if (o->output && !o->shards)
        argp_error(state, "-o needs %s", needed);
}

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

static int on_progress(const shoal_price_progress *now, void *with) {
    simulation *s = with;
    if (now->values) note_values(s, now->samples, now->values);
    s->refused = s->o->target > 0 && now->values && now->expected > SHOAL_PRICE_MOST;
    return cli_interrupted() || s->refused;
}

/* " for 3 of 20 values"; nothing if there is only one value. */
static const char *for_some(char text[64], int64_t some, int64_t all) {
    snprintf(text, 64, " for %lld of %lld values", (long long)some, (long long)all);
    return all > 1 ? text : "";
}

/* Errors that the standard errors do not show. */
static void note_errors(const cli *c, price_outcome *out) {
    char text[64];
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
        cli_note(c,
                 "no path paid%s: 0 +- 0 is not an estimate; with 95 %% confidence the value is "
                 "below %.2g",
                 for_some(text, out->unpaid, out->info.contracts), most);
    if (coarse)
        cli_note(c,
                 "the bias of %s may exceed the standard error%s: bias up to %.2g, standard error "
                 "%.2g; more --steps reduce it",
                 CLI_COUNT(out->info.steps, "step"), for_some(text, count, out->info.contracts),
                 coarse->bias, coarse->error);
}

int price_simulate(cli *c, const price_options *o, shoal_price *plan, price_outcome *out) {
    simulation s = { .c = c, .o = o, .plan = plan, .out = out, .label = "simulation" };
    int code = begin(&s);
    s.goal = (shoal_price_goal){ .paths = o->target > 0 ? 0 : o->paths,
                                 .target = o->target,
                                 .on_round = on_progress,
                                 .user = &s };
    if (code != CLI_OK) return code;
    cli_progress_begin(&s.bar, c, s.label, 1);
    s.bar.next = 1; /* all of it is one stage of the library */
    shoal_price_progress done = { 0 };
    const shoal_status status = shoal_price_simulate(plan, &s.goal, out->values, &done);
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

/* ---- units ------------------------------------------------------------------------------------ */

/* What a job is for units.h. */
static int make_plan(cli *c, const void *of, void **plan) {
    const price_job *job = of;
    shoal_price *made = NULL;
    const int code = job->make(c, job->arguments, &made);
    *plan = made;
    return code;
}

static shoal_status make_units(const void *of, void *plan, const shoal_units_opts *opts,
                               shoal_units **units) {
    return shoal_units_price(plan, ((const price_job *)of)->o->paths, opts, units);
}

static void free_plan(void *plan) { shoal_price_free(plan); }

/* The values of samples whose sums these are, and points of the picture where 1, 2, 4, .. blocks are added. */
static int add_blocks(simulation *s, const double *sums, int64_t samples) {
    price_outcome *out = s->out;
    const int64_t width = shoal_price_width(s->plan);
    double *total = calloc((size_t)(2 * width) + 1, sizeof *total);
    int code = total ? CLI_OK : cli_no_memory();
    for (int64_t next = SHOAL_PRICE_UNIT; out->samples < samples && code == CLI_OK; next *= 2) {
        const int64_t to = next < samples ? next : samples, here = to - out->samples;
        code = cli_status(s->c, shoal_price_add(s->plan, sums, here, total));
        out->samples = to, sums += here / SHOAL_PRICE_UNIT * width;
        if (code == CLI_OK)
            code = cli_status(s->c, shoal_price_result(s->plan, total, to, out->values));
        if (code == CLI_OK) note_values(s, to, out->values);
    }
    free(total);
    return code;
}

static unit_job units_of(const price_job *job) {
    return (unit_job){ .command = job->command,
                       .arguments = job->arguments,
                       .settings = &job->o->units,
                       .of = job,
                       .make = make_plan,
                       .units = make_units,
                       .free = free_plan };
}

static int run_units(price_job *job, price_outcome *out) {
    const price_options *o = job->o;
    const unit_job u = units_of(job);
    simulation s = { .c = job->c, .o = o, .plan = job->plan, .out = out };
    shoal_units *units = NULL;
    unit_file part = { .bytes = NULL };
    int code = begin(&s);
    const int64_t each = code == CLI_OK ? out->info.paths_each : 1;
    const int64_t all = o->paths / each + (o->paths % each > 0);
    if (code == CLI_OK && out->info.deterministic) {
        job->c->is_spread = false;
        return o->shards || o->units.checkpoint
                   ? cli_fail(CLI_USAGE, "--checkpoint: %s simulates no paths", out->info.method)
                   : price_by_formula(job->c, job->plan, out->values);
    }
    if (code == CLI_OK && o->shards) {
        code = units_write(job->c, &u, job->plan, o->shard, o->shards, o->output, &part);
        const int64_t end = (part.about.first + part.about.rows) * SHOAL_PRICE_UNIT;
        out->seconds = part.about.seconds;
        if (code == CLI_OK)
            code = add_blocks(&s, part.about.result,
                              (end < all ? end : all) - part.about.first * SHOAL_PRICE_UNIT);
    } else if (code == CLI_OK) {
        code = units_run(job->c, &u, job->plan, &units);
        out->seconds = units_seconds(units);
        if (code == CLI_OK) code = add_blocks(&s, shoal_units_rows(units), all);
    }
    shoal_units_free(units);
    free(part.bytes);
    if (code == CLI_OK) note_errors(job->c, out);
    return code;
}

/* ---- commands --------------------------------------------------------------------------------- */

void price_outcome_free(price_outcome *out) { free(out->values); }

int price_compute(price_job *job, price_outcome *out) {
    const price_options *o = job->o;
    const unit_job u = units_of(job);
    const bool in_units = o->shards || (!(o->target > 0) && units_wanted(job->c, &o->units));
    int code = in_units && !o->shards ? units_announce(job->c, &u) : CLI_OK;
    if (code == CLI_OK) code = job->make(job->c, job->arguments, &job->plan);
    if (code != CLI_OK) return code;
    return in_units ? run_units(job, out) : price_simulate(job->c, o, job->plan, out);
}

int price_finish(price_job *job) {
    const price_options *o = job->o;
    price_outcome out = { 0 };
    int code = price_compute(job, &out);
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
