/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - a CVA in units of outer paths: the parts of --shard, those that merge-parts has read, and long runs.
 */
#include "cva.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/ranks.h"
#include "cli/common/units.h"

typedef struct run {
    const cva_options *o;
    const cva_book *book;
    const shoal_cva *plan; /* the first: others have its rules */
} run;

static int make(cli *c, const void *of, void **plan) {
    const run *r = of;
    shoal_cva *made = NULL;
    const int code = cva_create(c, r->o, r->book, r->plan, &made);
    *plan = made;
    return code;
}

static shoal_status make_units(const void *of, void *plan, const shoal_units_opts *opts,
                               shoal_units **units) {
    return shoal_units_cva(plan, ((const run *)of)->o->opts.outer, opts, units);
}

static void free_plan(void *plan) { shoal_cva_free(plan); }

bool cva_in_units(const cli *c, const cva_options *o) {
    if (o->compare || o->add || o->cube || o->opts.target > 0) return false;
    return o->shards || o->opts.quantile_error > 0 || units_wanted(c, &o->units);
}

static unit_job units_of(const run *r) {
    const cva_book *b = r->book;
    const char *parties = b->parties_text ? b->parties_text : b->sets_text ? "" : NULL;
    return (unit_job){ .command = &cva_command,
                       .arguments = r->o,
                       .settings = &r->o->units,
                       .of = r,
                       .text = { b->text, b->market_text, parties, b->sets_text },
                       .make = make,
                       .units = make_units,
                       .free = free_plan };
}

int cva_announce(cli *c, const cva_options *o, const cva_book *b) {
    const unit_job job = units_of(&(run){ o, b, NULL });
    return o->shards ? CLI_OK : units_announce(c, &job);
}

const char *cva_text_of(const cli *c, int i) {
    const unit_files *files = c->parts;
    return files ? files->text[i] ? files->text[i] : "" : NULL;
}

/* What a part, or all units, have of results in their counts. */
static void take_counts(const int64_t *counts, const cva_options *o, cva_result *r) {
    counts += SHOAL_UNITS_CVA_TOTALS;
    if (r->totals) memcpy(r->totals, counts, (size_t)r->total_count * sizeof *r->totals);
    if (o->opts.quantile_error > 0) r->sums = counts + r->total_count;
}

/* Units that fill a GPU, if nobody else has to agree on their number. */
static unit_settings sized(const cli *c, const cva_options *o) {
    enum { ROWS = 8192, LEAST = 8, MOST = 256, MIN_ROWS = 128 };
    unit_settings s = o->units;
    const int64_t outer = o->opts.outer, fit = outer / MIN_ROWS;
    if (s.units || s.checkpoint || o->shards || c->parts || !c->devices || ranks_count() > 1)
        return s;
    if (strcmp(c->machine.backend, "cuda") != 0) return s;
    const int64_t wanted = outer / ROWS < LEAST ? LEAST : outer / ROWS > MOST ? MOST : outer / ROWS;
    s.units = wanted < fit ? wanted : fit > 1 ? fit : 1;
    return s;
}

int cva_run_units(cli *c, const cva_options *o, const cva_book *b, shoal_cva *plan, cva_result *r) {
    const run of = { o, b, plan };
    const unit_settings settings = sized(c, o);
    unit_job job = units_of(&of);
    job.settings = &settings;
    unit_file part = { .bytes = NULL };
    int code;
    if (o->shards) {
        code = units_write(c, &job, plan, o->shard, o->shards, o->output, &part);
        r->part = part.bytes;
        r->samples = (double *)(uintptr_t)part.about.result;
        r->first = part.about.first, r->outer = r->planned = part.about.rows;
        if (code == CLI_OK) take_counts(part.about.counts, o, r);
    } else {
        code = units_run(c, &job, plan, &r->units);
        r->samples = (double *)(uintptr_t)shoal_units_rows(r->units);
        r->outer = r->planned = o->opts.outer;
        if (code == CLI_OK) code = cli_status(c, shoal_units_cva_counts(r->units, &r->counts));
        if (code == CLI_OK) take_counts(shoal_units_counts(r->units), o, r);
    }
    if (code != CLI_OK) r->outer = 0;
    return code;
}
