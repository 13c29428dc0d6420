/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_plan.c - prices of American and Bermudan options on one asset by finite differences: the public function, its
 * checks, grids and records of the lines, and values from two grids. pde.h has the formulas.
 *
 * A line is an option, or one with a bumped volatility or rate on the grid of the option, so that most of the grid's
 * error cancels in vega and rho. Within an interval between dates the steps are even; where exercise is possible at any
 * time they grow linearly from its end, as the boundary moves there like a root of time.
 */
#include "american/pde.h"
#include "core/loops.h"
#include "core/plan.h"
#include "pricing/curve.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const shoal_module shoal_american_module;

enum { MIN_NODES = 41, MAX_NODES = 6401, STEPS = 400, MIN_STEPS = 12, MAX_STEPS = 1 << 16 };
enum { MAX_DATES = 1 << 20 };
#define MAX_RANGE   60.0                           /* of |r| + |q| + sigma^2, integrated      */
#define MIN_WIDTH   1e-4                           /* of sigma sqrt T                         */
#define MAX_DRIFT   30.0                           /* of |r| + |q|, integrated, over that     */
#define MAX_NUMBER  SHOAL_VANILLA_LARGE            /* of prices                               */
#define REACH       5.0                            /* of the grid, in deviations of log S     */
#define DENSE       0.2                            /* b in widths of the price about the strike */
#define BUMP_SIGMA  (is_american(m) ? 0.02 : 1e-3) /* of sigma: vega                  */
#define BUMP_RATE   1e-3                           /* rho                                     */
#define DEVICE_ROOM (1 << 30)                      /* bytes of a GPU's memory at a time */

enum {
    GRIDS = 3,
    FINEST = 4
}; /* the finest has 2^(GRIDS - 1) times the cells and steps of the coarsest */
enum { BASE, SIGMA_UP, SIGMA_DOWN, RATE_UP, RATE_DOWN, KINDS };

typedef struct terms { /* what all options share */
    const shoal_vanilla *options;
    const shoal_vanilla_pde_opts *opts;
    int64_t nodes, steps;   /* of the coarse grid */
    int kinds, kind[KINDS]; /* lines per option   */
} terms;

typedef struct line {
    double s0, strike, maturity, rate, dividend, sigma; /* numbers in place of curves */
    double more_sigma, more_rate;                       /* bumps                      */
    int call, status, lives;                            /* lives: there is time until maturity */
    double last_strike;                                 /* K_T */
    double start;                                       /* y today */
    double strike_node, step, width, first, lowest; /* of the coarse grid; e^y at the lowest node */
    const double *present; /* of cash dividends: amount e^-(growth until then) */
} line;

/* ---- market ------------------------------------------------------------------------------------- */

typedef struct law { /* integrals from today */
    double rate, yield, variance;
} law;

static law law_at(const terms *m, const line *l, double t) {
    const shoal_vanilla_pde_opts *o = m->opts;
    const double variance = shoal_curve_integral(&o->sigmas, 1, l->sigma, t);
    const double sigma = t > 0 ? sqrt(variance / t) + l->more_sigma : 0;
    const law at = { shoal_curve_integral(&o->rates, 0, l->rate, t) + l->more_rate * t,
                     shoal_curve_integral(&o->dividends, 0, l->dividend, t), sigma * sigma * t };
    return at;
}

/* The smallest forward rate of a curve until t, or the number without one. */
static double smallest(const shoal_curve *c, double flat, double t) {
    double least = c->count ? DBL_MAX : flat, time = 0, sum = 0;
    for (int64_t i = 0; i < c->count && (i == 0 || time < t); i++) {
        const double next = c->value[i] * c->time[i];
        least = fmin(least, (next - sum) / (c->time[i] - time));
        time = c->time[i], sum = next;
    }
    return least;
}

/* The value today of the dividends after t, grown with the asset: with = 1: also of that at t. */
static double later_cash(const terms *m, const line *l, double t, int with) {
    const shoal_curve *cash = &m->opts->cash;
    double sum = 0;
    for (int64_t i = cash->count - 1; i >= 0; i--) {
        if (!(cash->time[i] > t * (1 + (with ? -CURVE_SAME : CURVE_SAME)))) break;
        sum += l->present[i];
    }
    return sum;
}

typedef struct payoff { /* alpha - beta e^y */
    double alpha, beta;
} payoff;

/* At t, where later dividends are worth so much. */
static payoff payoff_at(const line *l, const law *at, double cash) {
    const double part = (l->strike - cash * exp(at->rate - at->yield)) / l->last_strike;
    return l->call ? (payoff){ 1, part } : (payoff){ part, 1 };
}

static int is_american(const terms *m) { return !m->opts->dates && !m->opts->exercises; }

/* The last date before t, 0 if there is none: of exercise, or of a dividend if exercise is possible at any time. */
static double date_before(const terms *m, const line *l, double t) {
    const shoal_vanilla_pde_opts *o = m->opts;
    const double end = t * (1 - CURVE_SAME);
    if (o->dates) {
        const double each = l->maturity / (double)o->dates;
        return fmax(0, (ceil(t / each * (1 - CURVE_SAME)) - 1) * each);
    }
    const int64_t count = is_american(m) ? o->cash.count : o->exercises;
    const double *time = is_american(m) ? o->cash.time : o->exercise;
    int64_t low = 0, high = count; /* the first that is not before */
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (time[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? time[low - 1] : 0;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static int is_number(double x, double min, double max) { return x >= min && x <= max; }

/* More than one boundary is possible where holding on is not worth less the higher the price. */
static int has_two_boundaries(const terms *m, const line *l, int pays) {
    const shoal_vanilla_pde_opts *o = m->opts;
    const double q = smallest(&o->dividends, l->dividend, l->maturity);
    const double r = smallest(&o->rates, l->rate, l->maturity);
    if (!is_american(m) || q >= 0) return 0;
    if (pays) return 1;
    if (o->rates.count || o->dividends.count) return r < 0;
    return l->call ? r < q : q < r && r < 0;
}

/* The grid, from the option without bumps. */
static void make_grid(const terms *m, line *l, const law *end) {
    const double r = l->call ? end->yield : end->rate, q = l->call ? end->rate : end->yield;
    const double s = sqrt(end->variance), w = 0.5 * end->variance, drift = r - q - w;
    const double wide = r > 0 ? 2 * w / (drift + sqrt(drift * drift + 4 * w * r)) : s;
    const double b = DENSE * fmin(s, 2 * wide), to = l->start + drift;
    const double low = fmin(fmin(l->start, to) - REACH * s, -0.5 * REACH * s);
    const double high = fmax(fmax(l->start, to) + REACH * s, 0.5 * REACH * s);
    const double from = asinh(low / b), until = asinh(high / b);
    const int64_t last = m->nodes - 1;
    l->step = (until - from) / (double)last, l->width = b;
    l->strike_node = fmin(fmax(rint(-from / l->step), 1), (double)last - 1);
    l->lowest = exp(b * sinh(-l->strike_node * l->step));
}

/* Option i with the bumps of a kind; present has room for the dividends. */
static line line_of(const terms *m, int64_t i, int kind, double *present) {
    const shoal_vanilla *a = m->options;
    const shoal_curve *cash = &m->opts->cash;
    line l = { .s0 = a->s0[i],
               .strike = a->strike[i],
               .maturity = a->maturity[i],
               .rate = a->rate ? a->rate[i] : 0,
               .sigma = a->sigma ? a->sigma[i] : 0,
               .dividend = a->dividend ? a->dividend[i] : 0,
               .call = a->call && a->call[i] != 0,
               .present = present };
    const double t = l.maturity;
    l.status = SHOAL_VANILLA_INVALID;
    if (!is_number(l.s0, 1 / MAX_NUMBER, MAX_NUMBER) || !is_number(t, 0, 1e6) ||
        !is_number(l.strike, 1 / MAX_NUMBER, MAX_NUMBER) || !is_number(l.sigma, 0, 1e3) ||
        !is_number(fabs(l.rate), 0, 1e3) || !is_number(fabs(l.dividend), 0, 1e3))
        return l;
    double start[2]; /* with bumps, and without */
    law end = { 0, 0, 0 };
    for (int bumped = 0; bumped <= (kind != BASE); bumped++) {
        if (bumped) {
            const double sigma = sqrt(end.variance / t);
            l.more_sigma = kind == SIGMA_UP     ? BUMP_SIGMA * sigma
                           : kind == SIGMA_DOWN ? -BUMP_SIGMA * sigma
                                                : 0;
            l.more_rate = kind == RATE_UP ? BUMP_RATE : kind == RATE_DOWN ? -BUMP_RATE : 0;
        }
        for (int64_t c = 0; c < cash->count; c++) {
            const law at = law_at(m, &l, cash->time[c]);
            present[c] = cash->value[c] * exp(at.yield - at.rate);
        }
        const law there = law_at(m, &l, t);
        const double x = l.s0 - later_cash(m, &l, 0, 0);
        l.last_strike = l.strike - later_cash(m, &l, t, 0) * exp(there.rate - there.yield);
        if (!bumped) end = there;
        const double range = fabs(end.rate) + fabs(end.yield), s = sqrt(end.variance);
        if (!(x > 0) || !(l.last_strike > 0) || !(range + end.variance <= MAX_RANGE)) return l;
        if (t > 0 && (!(s >= MIN_WIDTH) || !(range <= MAX_DRIFT * s))) return l;
        start[bumped] = l.call ? log(l.last_strike / x) : log(x / l.last_strike);
        l.start = start[bumped];
        if (!bumped && t > 0) make_grid(m, &l, &end);
    }
    l.lives = t > 0;
    const double place = l.lives ? l.strike_node + asinh(start[0] / l.width) / l.step : 0;
    l.first = place;
    l.status = has_two_boundaries(m, &l, later_cash(m, &l, 0, 0) > 0) ? SHOAL_VANILLA_TWO_BOUNDARIES
                                                                      : SHOAL_VANILLA_OK;
    return l;
}

/* The first of the nodes about today's price, of the grid that is so many times as fine. */
static double first_of(const terms *m, const line *l, int fine) {
    const double last = (double)(m->nodes - 1) * fine;
    return fmin(fmax(floor(l->first * fine) - PDE_NEAR / 2 + 1, 0), last + 1 - PDE_NEAR);
}

/* ---- records ------------------------------------------------------------------------------------ */

/* Where the records of a line go; to: NULL, they are counted. */
typedef struct writer {
    double *to;
    int64_t lines, lane, count;
    payoff low, date; /* at the lowest node; of a date that begins the next record */
} writer;

static void put(writer *w, const double numbers[PDE_NUMBERS]) {
    for (int i = 0; i < PDE_NUMBERS; i++)
        w->to[(w->count * PDE_NUMBERS + i) * w->lines + w->lane] = numbers[i];
    w->count++;
}

/* A part (1: all) of the step from the law `from` back to `at`. */
static void put_step(const terms *m, const line *l, writer *w, const law *from, const law *at,
                     double part, double old, const payoff *pays) {
    const double rate = part * (from->rate - at->rate), yield = part * (from->yield - at->yield);
    const double variance = part * (from->variance - at->variance);
    const double r = l->call ? yield : rate, q = l->call ? rate : yield, half = old ? 0.5 : 1;
    w->low.alpha *= exp(-r), w->low.beta *= exp(-q);
    const payoff *low = &w->low;
    if (is_american(m) && pays->alpha - pays->beta * l->lowest > low->alpha - low->beta * l->lowest)
        w->low = *pays;
    const double numbers[PDE_NUMBERS] = { half * 0.5 * variance,
                                          half * (r - q - 0.5 * variance),
                                          half * r,
                                          old,
                                          is_american(m) ? pays->alpha : PDE_NEVER,
                                          pays->beta,
                                          low->alpha,
                                          low->beta,
                                          w->date.alpha,
                                          w->date.beta };
    put(w, numbers);
    w->date.alpha = PDE_NEVER;
}

/* Whether step j of an interval is made of two implicit ones: after a date, more where the first steps are short; and
 * at the end, where they damp what the moving boundary has left in gamma. */
static int is_damped(const terms *m, int64_t j, int64_t steps, double begin) {
    if (!is_american(m)) return j <= 2;
    return j <= 4 || (begin == 0 && j > steps - 2);
}

/* From the date `end` back to `begin`. */
static void put_interval(const terms *m, const line *l, writer *w, int fine, double begin,
                         double end) {
    const double length = end - begin;
    int64_t steps = (int64_t)rint((double)m->steps * length / l->maturity);
    if (steps < MIN_STEPS / FINEST) steps = MIN_STEPS / FINEST;
    steps *= fine;
    if (!w->to) {
        w->count += steps + 6;
        return;
    }
    const double cash = later_cash(m, l, begin, 0);
    law from = law_at(m, l, end);
    double later = end;
    for (int64_t j = 1; j <= steps; j++) {
        const double part = (double)j / (double)steps;
        const int damped = is_damped(m, j, steps, begin);
        const double t = j == steps ? begin : end - length * part * (is_american(m) ? part : 1);
        const law at = law_at(m, l, t);
        if (damped) {
            const law middle = law_at(m, l, 0.5 * (t + later));
            const payoff pays = payoff_at(l, &middle, cash);
            put_step(m, l, w, &from, &at, 0.5, 0, &pays);
        }
        const payoff pays = payoff_at(l, &at, cash);
        put_step(m, l, w, &from, &at, damped ? 0.5 : 1, !damped, &pays);
        from = at, later = t;
    }
}

/* What exercise pays on the date t: after its dividend, but before it if exercise is possible at any time. */
static void put_date(const terms *m, const line *l, writer *w, double t) {
    const law at = law_at(m, l, t);
    const double cash = later_cash(m, l, t, is_american(m));
    if (is_american(m) ? cash == later_cash(m, l, t, 0) : t == l->maturity) return;
    w->date = payoff_at(l, &at, cash);
    const payoff *low = &w->low;
    if (w->date.alpha - w->date.beta * l->lowest > low->alpha - low->beta * l->lowest)
        w->low = w->date;
}

/* The records of a line for the coarsest grid (1) or a finer one (2, 4), then idle ones up to `count`. */
static void put_line(const terms *m, const line *l, int fine, writer *w, int64_t count) {
    const int runs = l->lives && !l->status;
    w->count = 0, w->low = (payoff){ 1, 1 }, w->date = (payoff){ PDE_NEVER, 0 };
    for (double end = l->maturity; runs && end > 0;) {
        const double begin = date_before(m, l, end);
        if (w->to) put_date(m, l, w, end);
        put_interval(m, l, w, fine, begin, end);
        end = begin;
    }
    const double idle[PDE_NUMBERS] = { 0,           0,         0, 0, PDE_NEVER, 0, w->low.alpha,
                                       w->low.beta, PDE_NEVER, 0 };
    while (w->to && w->count < count) put(w, idle);
}

static void put_grid(const terms *m, const line *l, int fine, double *to, int64_t lines,
                     int64_t lane) {
    const int runs = l->lives && !l->status;
    to[PDE_STRIKE * lines + lane] = runs ? l->strike_node * fine : 1;
    to[PDE_STEP * lines + lane] = runs ? l->step / fine : 1e-3;
    to[PDE_WIDTH * lines + lane] = runs ? l->width : 1;
    to[PDE_FIRST * lines + lane] = runs ? first_of(m, l, fine) : 0;
}

/* ---- results ------------------------------------------------------------------------------------ */

typedef struct outcome {
    double price, delta, gamma;
} outcome;

/* The polynomial through the nodes near today's price. */
static outcome outcome_of(const terms *m, const line *l, int fine, const double *near,
                          int64_t apart) {
    const double h = l->step / fine, xi = asinh(l->start / l->width);
    const double t = l->strike_node * fine + xi / h - first_of(m, l, fine);
    double d[PDE_NEAR], f = 0, slope = 0, bend = 0;
    for (int i = 0; i < PDE_NEAR; i++) d[i] = near[i * apart];
    for (int k = 1; k < PDE_NEAR; k++)
        for (int i = PDE_NEAR - 1; i >= k; i--) d[i] = (d[i] - d[i - 1]) / k;
    for (int i = PDE_NEAR - 1; i >= 0; i--) {
        bend = fma(bend, t - i, 2 * slope), slope = fma(slope, t - i, f), f = fma(f, t - i, d[i]);
    }
    slope /= h, bend /= h * h;
    const double cosine = l->width * cosh(xi), sine = tanh(xi);
    const double fy = slope / cosine, fyy = (bend - sine * slope) / (cosine * cosine);
    const double x = l->call ? l->last_strike * exp(-l->start) : l->last_strike * exp(l->start);
    if (l->call) return (outcome){ x * f, f - fy, (fyy - fy) / x };
    return (outcome){ l->last_strike * f, l->last_strike * fy / x,
                      l->last_strike * (fyy - fy) / (x * x) };
}

/* From the last two grids, whose errors are as 4 to 1. */
static double both(double fine, double coarse) { return fine + (fine - coarse) / 3; }

/* Of option i: its lines, and what became of them on the grids, [GRIDS][PDE_NEAR] per line. */
static void store(const terms *m, const line *l, const double *near, int64_t i,
                  const shoal_vanilla_values *v, double *error, int32_t *status) {
    double bumped[KINDS] = { 0 };
    outcome now = { (double)NAN, (double)NAN, (double)NAN };
    double theta = (double)NAN, vega = theta, rho = theta, off = theta;
    int failed = l->status;
    const double pays = l->call ? l->s0 - l->strike : l->strike - l->s0;
    for (int k = 0; k < m->kinds && !failed && l->lives; k++) {
        outcome grid[GRIDS];
        for (int g = 0; g < GRIDS; g++)
            grid[g] = outcome_of(m, &l[k], 1 << g, near + (k * GRIDS + g) * PDE_NEAR, 1);
        const outcome *fine = &grid[GRIDS - 1], *coarse = fine - 1;
        const double before = both(coarse->price, coarse[-1].price);
        bumped[m->kind[k]] = both(fine->price, coarse->price);
        if (l[k].status || !isfinite(before) || !isfinite(fine->price))
            failed = SHOAL_VANILLA_INVALID;
        if (k) continue;
        off = 1.5 * fabs(bumped[BASE] - before) +
              fabs(fine->price - coarse->price) / (is_american(m) ? 3 : 20);
        now.delta = both(fine->delta, coarse->delta), now.gamma = both(fine->gamma, coarse->gamma);
        now.price = fmax(bumped[BASE], 0); /* rounding may leave it below */
    }
    if (!failed && (!l->lives || (is_american(m) && now.price <= pays + off))) { /* exercised now */
        now = (outcome){ fmax(pays, 0), pays > 0 ? (l->call ? 1 : -1) : 0, 0 };
        theta = vega = rho = 0;
        if (!l->lives) off = 0;
    } else if (!failed) {
        const double dt = 1e-9 * l->maturity;
        const law at = law_at(m, l, dt);
        const double x = l->call ? l->last_strike * exp(-l->start) : l->last_strike * exp(l->start);
        theta = (at.rate * now.price - (at.rate - at.yield) * l->s0 * now.delta -
                 0.5 * at.variance * x * x * now.gamma) /
                dt;
        for (int k = 1; k < m->kinds; k++) {
            if (m->kind[k] == SIGMA_UP)
                vega = (bumped[SIGMA_UP] - bumped[SIGMA_DOWN]) / (2 * l[k].more_sigma);
            if (m->kind[k] == RATE_UP)
                rho = (bumped[RATE_UP] - bumped[RATE_DOWN]) / (2 * l[k].more_rate);
        }
    }
    if (failed) now.price = now.delta = now.gamma = off = (double)NAN;
    const struct {
        double *to, value;
    } all[] = { { v->price, now.price }, { v->delta, now.delta },     { v->gamma, now.gamma },
                { v->vega, vega },       { v->theta, theta },         { v->rho, rho },
                { error, off },          { v->boundary, (double)NAN } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].to) all[k].to[i] = all[k].value;
    if (status) status[i] = failed;
}

/* ---- the backends ------------------------------------------------------------------------------- */

typedef struct run_of {
    const terms *m;
    int64_t lines;
    line *line;   /* [lines]                */
    double *near; /* [lines][GRIDS][PDE_NEAR]   */
} run_of;

static int64_t most_records(const terms *m, const line *l, int64_t lines, int fine) {
    int64_t most = 1;
    for (int64_t i = 0; i < lines; i++) {
        writer w = { .lines = 1 };
        put_line(m, &l[i], fine, &w, 0);
        if (w.count > most) most = w.count;
    }
    return most;
}

/* Lines first .. first + count - 1 of a block whose numbers are `apart`; lanes beyond repeat the last. */
static void put_lines(const run_of *r, int64_t first, int64_t count, int fine, pde_lines *job,
                      int64_t lane, double *record, double *grid) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = first + i < r->lines ? first + i : r->lines - 1;
        writer w = { .to = record, .lines = job->lines, .lane = lane + i };
        put_line(r->m, &r->line[at], fine, &w, job->records);
        put_grid(r->m, &r->line[at], fine, grid, job->lines, lane + i);
    }
}

static void keep(const run_of *r, int64_t first, int64_t count, int g, const double *near,
                 int64_t apart) {
    for (int64_t i = 0; i < count && first + i < r->lines; i++)
        for (int k = 0; k < PDE_NEAR; k++)
            r->near[((first + i) * GRIDS + g) * PDE_NEAR + k] = near[k * apart + i];
}

static void make_lines(const run_of *r, int64_t first, int64_t count, double *present) {
    const int kinds = r->m->kinds;
    const int64_t cash = r->m->opts->cash.count;
    for (int64_t i = 0; i < count && first + i < r->lines; i++)
        r->line[first + i] =
            line_of(r->m, (first + i) / kinds, r->m->kind[(first + i) % kinds], present + i * cash);
}

/* A pack of lines on both grids; 0: no memory. */
static int run_pack(const run_of *r, const pde_method *pde, int64_t first, double *work,
                    double *present) {
    const terms *m = r->m;
    const int64_t left = r->lines - first, count = left < PDE_LANES ? left : PDE_LANES;
    double grid[PDE_GRID * PDE_LANES], near[PDE_NEAR * PDE_LANES];
    make_lines(r, first, PDE_LANES, present);
    const int64_t most = most_records(m, &r->line[first], count, FINEST);
    double *record = aligned_alloc(64, (size_t)(most * PDE_NUMBERS * PDE_LANES) * sizeof *record);
    if (!record) return 0;
    for (int g = 0, fine = 1; g < GRIDS; g++, fine *= 2) {
        pde_lines job = {
            .lines = PDE_LANES, .grid = grid, .record = record, .near = near, .work = work
        };
        job.nodes = (int)((m->nodes - 1) * fine + 1);
        job.records = most_records(m, &r->line[first], count, fine);
        put_lines(r, first, PDE_LANES, fine, &job, 0, record, grid);
        pde->run(&job);
        keep(r, first, PDE_LANES, g, near, PDE_LANES);
    }
    free(record);
    return 1;
}

static shoal_status run_cpu(shoal_context *ctx, const run_of *r, const pde_method *pde) {
    const int64_t packs = (r->lines + PDE_LANES - 1) / PDE_LANES;
    const int64_t workers = packs < ctx->threads ? packs : ctx->threads;
    const int64_t each = PDE_LANES * PDE_WORK * (FINEST * (r->m->nodes - 1) + 1);
    const int64_t cash = PDE_LANES * (r->m->opts->cash.count + 1), room = (each + cash + 7) / 8 * 8;
    double *work = aligned_alloc(64, (size_t)(workers * room) * sizeof *work);
    int64_t failed = !work;
    ON_THREADS((int)workers, static)
    for (int64_t w = 0; w < workers; w++)
        for (int64_t i = w; work && i < packs && !shoal_is_cancelled(ctx, i, packs); i += workers)
            if (!run_pack(r, pde, i * PDE_LANES, work + w * room, work + w * room + each))
                failed = 1;
    free(work);
    return failed ? SHOAL_NO_MEMORY(ctx, "%lld nodes", (long long)r->m->nodes) : SHOAL_OK;
}

/* As many lines at a time as DEVICE_ROOM holds. */
static shoal_status run_cuda(shoal_context *ctx, const run_of *r, const pde_cuda_method *pde) {
    const terms *m = r->m;
    const int64_t cash = m->opts->cash.count;
    double *present = malloc((size_t)(r->lines * cash + 1) * sizeof *present);
    if (!present) return SHOAL_NO_MEMORY(ctx, "dividends");
    ON_THREADS(ctx->threads, static)
    for (int64_t i = 0; i < r->lines; i++) make_lines(r, i, 1, present + i * cash);
    const int64_t most = most_records(m, r->line, r->lines, FINEST);
    const int64_t fixed = PDE_GRID + PDE_NEAR + PDE_WORK * (FINEST * (m->nodes - 1) + 1);
    const int64_t room = DEVICE_ROOM / (int64_t)sizeof(double) / (most * PDE_NUMBERS + fixed);
    const int64_t at_once = room < 1 ? 1 : room < r->lines ? room : r->lines;
    double *host =
        malloc((size_t)(at_once * (most * PDE_NUMBERS + PDE_GRID + PDE_NEAR)) * sizeof *host);
    void *memory = NULL;
    shoal_status s =
        host ? shoal_alloc(ctx, (size_t)(at_once * (most * PDE_NUMBERS + fixed)) * sizeof *host,
                           &memory)
             : SHOAL_NO_MEMORY(ctx, "%lld steps", (long long)most);
    for (int64_t first = 0; first < r->lines && s == SHOAL_OK; first += at_once)
        for (int g = 0, fine = 1; g < GRIDS && s == SHOAL_OK; g++, fine *= 2) {
            if (shoal_is_cancelled(ctx, first, r->lines)) break;
            const int64_t left = r->lines - first, count = left < at_once ? left : at_once;
            pde_lines job = { .lines = count, .nodes = (int)((m->nodes - 1) * fine + 1) };
            job.records = most_records(m, &r->line[first], count, fine);
            const int64_t numbers = job.records * PDE_NUMBERS * count;
            double *grid = host + numbers, *near = grid + PDE_GRID * count, *device = memory;
            ON_THREADS(ctx->threads, static)
            for (int64_t i = 0; i < count; i++)
                put_lines(r, first + i, 1, fine, &job, i, host, grid);
            s = shoal_copy(ctx, device, host, (size_t)(numbers + PDE_GRID * count) * sizeof *host);
            job.record = device, job.grid = device + numbers,
            job.near = device + numbers + PDE_GRID * count;
            job.work = job.near + PDE_NEAR * count;
            if (s == SHOAL_OK) s = pde->run(ctx, &job);
            if (s == SHOAL_OK)
                s = shoal_copy(ctx, near, job.near, (size_t)(PDE_NEAR * count) * sizeof *near);
            if (s == SHOAL_OK) keep(r, first, count, g, near, count);
        }
    shoal_free(ctx, memory);
    free(host);
    free(present);
    return s;
}

/* ---- the public function ------------------------------------------------------------------------ */

static shoal_status check_times(shoal_context *ctx, int64_t count, const double *time) {
    const shoal_array given = { "exercise", time, count == 0 };
    shoal_status s = shoal_check_pointers(ctx, &given, 1);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++)
        if (!(time[i] > (i ? time[i - 1] * (1 + CURVE_SAME) : 0)) || !(time[i] <= 1e6))
            s = shoal_fail(ctx, SHOAL_E_ARG, "exercise[%lld] is %g; it must be above %g, up to 1e6",
                           (long long)i, time[i], i ? time[i - 1] : 0.0);
    return s;
}

static shoal_status check_opts(shoal_context *ctx, const shoal_vanilla_pde_opts *o) {
    const shoal_curve *const curves[] = { &o->rates, &o->dividends, &o->sigmas };
    static const char *const names[] = { "rates", "dividends", "sigmas" };
    const shoal_count counts[] = { { "dates", o->dates, 0, MAX_DATES },
                                   { "exercises", o->exercises, 0, MAX_DATES },
                                   { "nodes", o->nodes ? o->nodes : SHOAL_VANILLA_PDE_NODES,
                                     MIN_NODES, MAX_NODES },
                                   { "steps", o->steps ? o->steps : STEPS, MIN_STEPS, MAX_STEPS } };
    shoal_status s = shoal_check_counts(ctx, counts, 4);
    if (s == SHOAL_OK && o->dates && o->exercises)
        s = shoal_fail(ctx, SHOAL_E_ARG, "dates and exercises exclude each other");
    if (s == SHOAL_OK) s = check_times(ctx, o->exercises, o->exercise);
    for (int i = 0; i < 3 && s == SHOAL_OK; i++)
        s = shoal_fail_at(ctx, shoal_check_curve(ctx, curves[i], i == 2), names[i], -1, "");
    if (s == SHOAL_OK) s = shoal_fail_at(ctx, shoal_check_cash(ctx, &o->cash), "cash", -1, "");
    return s;
}

static shoal_status check(shoal_context *ctx, const shoal_vanilla *a, int64_t count,
                          const shoal_vanilla_pde_opts *o, const shoal_vanilla_values *v) {
    const int none = count == 0;
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "count", count, 0, INT64_MAX / 65536);
    if (s == SHOAL_OK && !a) s = shoal_fail(ctx, SHOAL_E_ARG, "options is NULL");
    if (s == SHOAL_OK && !v) s = shoal_fail(ctx, SHOAL_E_ARG, "values is NULL");
    if (s == SHOAL_OK) s = check_opts(ctx, o);
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "s0", a->s0, none },
                                  { "strike", a->strike, none },
                                  { "maturity", a->maturity, none },
                                  { "rate", a->rate, none || o->rates.count },
                                  { "sigma", a->sigma, none || o->sigmas.count } };
    return shoal_check_pointers(ctx, given, sizeof given / sizeof *given);
}

shoal_status shoal_vanilla_pde(shoal_context *ctx, const shoal_vanilla *options, int64_t count,
                               const shoal_vanilla_pde_opts *opts,
                               const shoal_vanilla_values *values, double *error, int32_t *status) {
    const shoal_vanilla_pde_opts o = opts ? *opts : (shoal_vanilla_pde_opts){ 0 };
    if (!ctx) return SHOAL_E_ARG;
    shoal_status s = check(ctx, options, count, &o, values);
    if (s != SHOAL_OK || count == 0) return s;
    terms m = { .options = options, .opts = &o, .kinds = 1 };
    m.nodes = (o.nodes ? o.nodes : SHOAL_VANILLA_PDE_NODES) / FINEST + 1,
    m.steps = (o.steps ? o.steps : STEPS) / FINEST;
    if (values->vega) m.kind[m.kinds++] = SIGMA_DOWN, m.kind[m.kinds++] = SIGMA_UP;
    if (values->rho) m.kind[m.kinds++] = RATE_DOWN, m.kind[m.kinds++] = RATE_UP;
    run_of r = { .m = &m, .lines = count * m.kinds };
    r.line = malloc((size_t)r.lines * sizeof *r.line);
    r.near = calloc((size_t)(r.lines * GRIDS * PDE_NEAR), sizeof *r.near);
    const shoal_method *method = shoal_find_method(&shoal_american_module, "pde");
    const void *cell = shoal_cell(ctx, method, SHOAL_F64);
    const shoal_stage stage = shoal_stage_begin(ctx, "options");
    if (!r.line || !r.near)
        s = SHOAL_NO_MEMORY(ctx, "%lld options", (long long)count);
    else
        s = ctx->ops ? run_cuda(ctx, &r, cell) : run_cpu(ctx, &r, cell);
    s = shoal_stage_end(ctx, &stage, s);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++)
        store(&m, &r.line[i * m.kinds], r.near + i * m.kinds * GRIDS * PDE_NEAR, i, values, error,
              status);
    free(r.line);
    free(r.near);
    return s;
}
