/* SPDX-License-Identifier: Apache-2.0
 *
 * price_run.c - simulations in rounds: until the paths are done, the standard error is reached, or
 * Ctrl-C is pressed.
 *
 * Rounds are units of samples; how many at a time follows the clock and changes nothing in the result,
 * since units are added in their order. Whether a standard error is reached is looked at after 1, 2, 4,
 * ... units, and then where the last one says that it should be, so that the number of paths does not
 * depend on the clock either. Where no path has paid, 0 +- 0 says nothing about the error: such a value
 * counts as reached after 2^22 paths only, and a note says so.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = SHOAL_PRICE_UNIT, MOST_AT_ONCE = 1024 };
enum { MOST_NUMBERS = 1 << 23 }; /* sums of a round, unless one unit has more */
enum { UNPAID_PATHS = 1 << 22 }; /* after which no more are waited for to pay */

typedef struct simulation {
    cli *c;
    const price_options *o;
    shoal_price *plan;
    price_outcome *out;
    int64_t width, contracts, most; /* most: units of a round */
    double *total, *host;           /* host: sums of one round */
    void *sums;
    cli_progress bar;
    char label[80];
} simulation;

/* Units of a round: as many as there are, as long as their sums are not large. */
static int64_t most_at_once(const simulation *s) {
    const int64_t each = s->out->info.paths_each, paths = s->o->paths;
    int64_t most = s->width > 0 ? MOST_NUMBERS / s->width : 1;
    if (most > MOST_AT_ONCE) most = MOST_AT_ONCE;
    if (!(s->o->target > 0) && most > paths / each / UNIT) most = paths / each / UNIT + 1;
    return most > 1 ? most : 1;
}

/* The plan's values, as they stand before any path; `rounds`: there will be simulations. */
static int begin(simulation *s, bool rounds) {
    price_outcome *out = s->out;
    shoal_status status = shoal_price_describe(s->plan, &out->info);
    if (status != SHOAL_OK) return cli_status(s->c, status);
    s->width = out->width = shoal_price_width(s->plan);
    s->contracts = out->info.contracts;
    s->most = most_at_once(s);
    const int64_t numbers = rounds ? s->most * s->width : 0;
    out->values = calloc((size_t)s->contracts + 1, sizeof *out->values);
    s->total = calloc((size_t)(2 * s->width) + 1, sizeof *s->total);
    s->host = calloc((size_t)numbers + 1, sizeof *s->host);
    if (!out->values || !s->total || !s->host)
        return cli_fail(CLI_UNAVAILABLE, "not enough memory: a unit of paths has %lld sums",
                        (long long)s->width);
    return cli_status(s->c, shoal_alloc(s->c->ctx, (size_t)numbers * sizeof(double), &s->sums));
}

static void end(simulation *s) {
    free(s->total);
    free(s->host);
    shoal_free(s->c->ctx, s->sums);
}

/* The values so far, and a point of the picture. */
static int look(simulation *s) {
    price_outcome *out = s->out;
    const int code =
        cli_status(s->c, shoal_price_result(s->plan, s->total, out->samples, out->values));
    if (code != CLI_OK || s->contracts == 0) return code;
    if (out->points < PRICE_POINTS)
        out->point[out->points++] =
            (price_point){ out->samples, out->values[0].price, out->values[0].error };
    snprintf(s->label, sizeof s->label, "%.8g +- %.2g", out->values[0].price, out->values[0].error);
    return code;
}

static double largest_error(const simulation *s) {
    double most = 0;
    for (int64_t i = 0; i < s->contracts; i++) {
        const double error = s->out->values[i].error;
        if (!(error <= most)) most = error;
    }
    return most;
}

/* Values of which no path paid anything. At maturity there is nothing to wait for. */
static int64_t unpaid(const simulation *s) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->contracts; i++) {
        const shoal_price_value *v = &s->out->values[i];
        const price_list *m = &s->o->maturity;
        const bool now = m->count > 0 && m->values[i / s->o->strike.count] == 0;
        count += v->price == 0 && v->error == 0 && !now;
    }
    return count;
}

/* Whether the standard errors are reached. The points of bullet options have paths of their own, which
 * add up. */
static bool reached(const simulation *s) {
    const int64_t paths = s->out->samples * s->out->info.paths_each;
    const int64_t each = shoal_price_points(s->plan) ? s->contracts : 1;
    if (s->out->samples == 0 || !(largest_error(s) <= s->o->target)) return false;
    return paths >= UNPAID_PATHS / each || unpaid(s) == 0;
}

typedef struct stretch {
    shoal_price *plan;
    int64_t first, samples;
    void *sums;
} stretch; /* of samples */

static shoal_status run_stretch(void *of) {
    const stretch *r = of;
    return shoal_price_run(r->plan, r->first, r->samples, r->sums);
}

/* Simulates samples [from, to), keeping their sums in out->sums if this is a part. Ctrl-C ends it
 * between two rounds; the first of many points, which is long, at once: nothing is known before its end. */
static int advance(simulation *s, int64_t from, int64_t to, int64_t *at_once) {
    int code = CLI_OK;
    for (int64_t at = from; at < to && code == CLI_OK && !cli_interrupted();) {
        const double start = cli_now();
        const int64_t left = to - at, most = *at_once * UNIT, here = left < most ? left : most;
        const int64_t numbers = shoal_price_sums(s->plan, here);
        stretch r = { s->plan, at, here, s->sums };
        const bool in_vain =
            s->out->samples == 0 && shoal_price_points(s->plan) != NULL && s->contracts > 1;
        shoal_status status = in_vain ? cli_call(s->c, run_stretch, &r) : run_stretch(&r);
        if (status == SHOAL_OK)
            status = shoal_copy(s->c->ctx, s->host, s->sums, (size_t)numbers * sizeof(double));
        if (status == SHOAL_OK) status = shoal_price_add(s->plan, s->host, here, s->total);
        code = cli_status(s->c, status);
        if (code != CLI_OK) break;
        if (s->out->sums)
            memcpy(s->out->sums + s->out->units * s->width, s->host,
                   (size_t)numbers * sizeof(double));
        s->out->units += (here + UNIT - 1) / UNIT;
        s->out->samples += here;
        at += here;
        const double took = cli_now() - start;
        s->out->seconds += took;
        if (took < 0.1) *at_once = 2 * *at_once < s->most ? 2 * *at_once : s->most;
        cli_progress_step(&s->bar, s->out->samples);
    }
    return code;
}

/* Where to look next: twice as far, or, once the error is known well, where it should be reached. */
static int64_t next_look(const simulation *s, int64_t end) {
    const double target = s->o->target;
    int64_t units = s->out->samples / UNIT, next = units ? 2 * units : 1;
    if (target > 0 && units >= 4) {
        const double ratio = largest_error(s) / target;
        const double guess = ceil((double)units * ratio * ratio * 1.01);
        next = guess > (double)(8 * units) ? 8 * units : (int64_t)guess;
        if (next <= units) next = unpaid(s) > 0 ? 2 * units : units + 1;
    }
    return next > end / UNIT ? end : next * UNIT;
}

static int walk(simulation *s) {
    const price_options *o = s->o;
    price_outcome *out = s->out;
    const int64_t each = out->info.paths_each;
    const int64_t samples = o->target > 0 ? SHOAL_PRICE_MOST : (o->paths + each - 1) / each;
    int64_t at_once = 1, first = 0, end = samples;
    if (o->shards) { /* the units of a part are a range */
        const int64_t units = (samples + UNIT - 1) / UNIT;
        first = units * (o->shard - 1) / o->shards * UNIT;
        end = units * o->shard / o->shards * UNIT;
        if (end > samples) end = samples;
        out->first = first / UNIT;
        const int fits = part_fits((end - first + UNIT - 1) / UNIT, s->width);
        if (fits != CLI_OK) return fits;
        out->sums = calloc((size_t)shoal_price_sums(s->plan, end - first) + 1, sizeof(double));
        if (!out->sums)
            return cli_fail(CLI_UNAVAILABLE, "not enough memory: the part has %lld sums",
                            (long long)shoal_price_sums(s->plan, end - first));
    }
    int code = CLI_OK;
    cli_progress_begin(&s->bar, s->c, s->label, end > first ? end - first : 1);
    if (o->shards) {
        code = advance(s, first, end, &at_once);
        if (code == CLI_OK && out->samples > 0) code = look(s);
    }
    while (code == CLI_OK && !o->shards && !cli_interrupted()) {
        const int64_t next = next_look(s, end);
        code = advance(s, out->samples, next, &at_once);
        if (code == CLI_OK && out->samples > 0) code = look(s);
        if (out->samples >= end || (o->target > 0 && reached(s))) break;
        if (o->target > 0) { /* how far it is, as the square of the errors says */
            const double ratio = largest_error(s) / o->target;
            const double all = (double)out->samples * ratio * ratio;
            s->bar.total = all < 9e18 ? (int64_t)all + 1 : INT64_MAX;
        }
    }
    cli_progress_end(&s->bar);
    out->unpaid = unpaid(s);
    if (code == CLI_OK && o->target > 0 && out->unpaid > 0 && out->samples > 0)
        cli_note(s->c, "no path paid at %lld of %lld values: their 0 +- 0 is no estimate",
                 (long long)out->unpaid, (long long)s->contracts);
    if (code == CLI_OK && out->samples == 0 && end > first && cli_interrupted())
        return CLI_INTERRUPTED; /* nothing is known yet */
    return code;
}

int price_simulate(cli *c, const price_options *o, shoal_price *plan, price_outcome *out) {
    simulation s = { .c = c, .o = o, .plan = plan, .out = out };
    int code = begin(&s, true);
    if (code == CLI_OK && out->info.deterministic) {
        const double start = cli_now();
        code = price_by_formula(c, plan, out->values);
        out->seconds = cli_now() - start;
    } else if (code == CLI_OK) {
        code = walk(&s);
    }
    end(&s);
    return code;
}

int price_join(cli *c, const price_options *o, shoal_price *plan, const price_parts *all,
               price_outcome *out) {
    const price_part *parts = all->part;
    simulation s = { .c = c, .o = o, .plan = plan, .out = out };
    int code = begin(&s, false);
    const int64_t each = out->info.paths_each, samples = (o->paths + each - 1) / each;
    for (int64_t i = 0; i < all->count && code == CLI_OK; i++) {
        if (parts[i].samples == 0) continue;
        if (parts[i].width != s.width)
            code = cli_fail(CLI_INPUT, "%s: not a part: %lld sums where there are %lld",
                            parts[i].part.path, (long long)parts[i].width, (long long)s.width);
        if (code != CLI_OK) break;
        code = cli_status(c, shoal_price_add(plan, parts[i].sums, parts[i].samples, s.total));
        out->samples += parts[i].samples;
        if (code == CLI_OK) code = look(&s);
    }
    if (code == CLI_OK && out->samples != samples)
        code = cli_fail(CLI_INPUT, "the parts have %lld samples, not %lld", (long long)out->samples,
                        (long long)samples);
    end(&s);
    return code;
}

void price_outcome_free(price_outcome *out) {
    free(out->values);
    free(out->sums);
}
