/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_fit.c - calibration of Heston's model to prices of European options, by the method of Levenberg and Marquardt.
 *
 * With errors r_i = weight_i (price_i - quote_i) / scale_i and their derivatives J, by the gradients of the formula, a step
 * solves (Jt J + lambda diag(Jt J)) step = -Jt r. lambda follows Nielsen (1999): it falls as far as the sum of squares falls
 * as predicted, and rises faster and faster after steps that are refused. Steps are cut off at the bounds; a parameter at a
 * bound that the gradient pushes outwards stays there for a step. Starts are independent: in a round each takes one step, and
 * their systems of 5 unknowns are one batch of smallsym.
 */
#include "models/plan.h"
#include <float.h>
#include <shoal/smallsym.h>
#include <stdlib.h>
#include <string.h>

enum { RHO = 4, FREE }; /* parameters: v0, kappa, theta, sigma, rho */
enum { ITERATIONS = 100, MAX_STARTS = 4096 };
#define TOL        1e-8
#define LAMBDA     1e-3 /* of the first step                             */
#define LAMBDA_MAX 1e12 /* no step improves the fit                      */
#define VEGA_MIN   1e-3 /* of a quote's scale, in parts of the at-the-money vega */
#define FACTOR     2    /* of a parameter in a step                      */
#define AGREE      1e-4 /* relative distance of equal fits               */

static const double low_usual[FREE] = { 1e-6, 1e-3, 1e-6, 1e-3, -0.999 };
static const double high_usual[FREE] = { 4, 50, 4, 5, 0.999 };

static void numbers_of(const shoal_heston *m, double x[FREE]) {
    x[0] = m->v0, x[1] = m->kappa, x[2] = m->theta, x[3] = m->sigma, x[4] = m->rho;
}

static shoal_heston with_numbers(const shoal_heston *from, const double x[FREE]) {
    shoal_heston m = *from;
    m.v0 = x[0], m.kappa = x[1], m.theta = x[2], m.sigma = x[3], m.rho = x[4];
    return m;
}

/* The given numbers that are not NaN, and the usual ones in place of the others. */
static void merge(const double *usual, const shoal_heston *given, double *to) {
    double own[FREE] = { NAN, NAN, NAN, NAN, NAN };
    if (given) numbers_of(given, own);
    for (int k = 0; k < FREE; k++) to[k] = isnan(own[k]) ? usual[k] : own[k];
}

typedef struct search { /* from one start */
    double x[FREE], next[FREE];
    double matrix[FREE * FREE], slope[FREE]; /* Jt J, Jt r */
    double objective, lambda, raise;
    int held[FREE]; /* in this step */
    int ended, converged;
    int64_t iterations;
} search;

typedef struct fit {
    shoal_context *ctx;
    shoal_context *cpu; /* for the normal equations */
    const shoal_heston *model;
    shoal_heston_options quotes; /* in the order of maturities */
    int64_t count, starts, evaluations;
    const int64_t *order;                /* of the caller's quotes */
    double *quote, *share, *vol, *price; /* share: weight / scale  */
    double *strike, *maturity, *rate, *dividend;
    int32_t *put;
    shoal_heston *gradient;
    double low[FREE], high[FREE], tol;
    int64_t most;
    search *search;
    shoal_status failed; /* of a call, other than an integral that does not converge */
    const shoal_stage *stage;
} fit;

/* ---- quotes ------------------------------------------------------------------------------------- */

typedef struct quote {
    double forward, discount, vol;
} quote;

/* Black's numbers of a quote; vol NaN: it has none. */
static quote quote_of(const fit *f, int64_t i, double price) {
    const double t = f->maturity[i];
    quote q = { .discount = exp(-f->rate[i] * t),
                .forward = f->model->s0 * exp((f->rate[i] - f->dividend[i]) * t) };
    const double deviation =
        shoal_black_deviation(q.forward, f->strike[i], price / q.discount, f->put[i]);
    q.vol = deviation / sqrt(t);
    return q;
}

/* dPrice/dvol by Black. */
static double vega_of(const quote *q, double strike, double maturity) {
    const double s = q->vol * sqrt(maturity), d = log(q->forward / strike) / s + 0.5 * s;
    return q->discount * q->forward * 0.3989422804014327 * exp(-0.5 * d * d) * sqrt(maturity);
}

static shoal_status scale(fit *f, const shoal_fit_opts *o, const double *weight) {
    for (int64_t i = 0; i < f->count; i++) {
        const int64_t at = f->order[i];
        const quote q = quote_of(f, i, f->quote[i]);
        f->vol[i] = q.vol;
        if (!o->price_errors && !(q.vol > 0))
            return shoal_fail(
                f->ctx, SHOAL_E_ARG,
                "price[%lld] is %g; no volatility has that price: leave the quote out, or fit "
                "prices (price_errors)",
                (long long)at, f->quote[i]);
        const double most =
            q.discount * 0.3989422804014327 * sqrt(q.forward * f->strike[i] * f->maturity[i]);
        const double by =
            o->price_errors ? 1 : fmax(vega_of(&q, f->strike[i], f->maturity[i]), VEGA_MIN * most);
        f->share[i] = (weight ? weight[at] : 1) / by;
    }
    return SHOAL_OK;
}

/* ---- starts ------------------------------------------------------------------------------------- */

/* The squared volatility next to the money at the first maturity, or the last one. */
static double level_of(const fit *f, int last) {
    const double t = f->maturity[last ? f->count - 1 : 0];
    double best = 0.04, least = INFINITY;
    for (int64_t i = 0; i < f->count; i++) {
        const quote q = quote_of(f, i, f->quote[i]);
        const double far = fabs(log(q.forward / f->strike[i]));
        if (f->maturity[i] != t || !(far < least) || !(q.vol > 0)) continue;
        best = q.vol * q.vol, least = far;
    }
    return best;
}

static double within(const fit *f, int k, double x) { return fmin(fmax(x, f->low[k]), f->high[k]); }

/* The first start, and others around it: points of Roberts's sequence, which fill the box evenly. */
static void begin(fit *f, const shoal_fit_opts *o) {
    static const double reach[FREE] = { 2, 8, 3, 4, 0 }; /* factors up and down */
    double first[FREE] = { level_of(f, 0), 1.5, level_of(f, 1), 0.5, -0.5 };
    const double step = 1.1673039782614187; /* the root of x^6 = x + 1 */
    merge(first, o->start, first);
    for (int64_t s = 0; s < f->starts; s++) {
        search *at = &f->search[s];
        double share = 1;
        *at = (search){ .lambda = LAMBDA, .raise = 2 };
        for (int k = 0; k < FREE; k++) {
            share /= step;
            const double u = fmod(0.5 + (double)s * share, 1);
            const double other = k == RHO ? 1.8 * u - 0.9 : first[k] * pow(reach[k], 2 * u - 1);
            at->x[k] = within(f, k, s ? other : first[k]);
            memcpy(at->next, at->x, sizeof at->x);
        }
    }
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* The sum of squares at `next`, Jt J and Jt r there; NaN: an integral does not converge. */
static double evaluate(fit *f, const search *s, double matrix[FREE * FREE], double slope[FREE]) {
    const shoal_heston m = with_numbers(f->model, s->next);
    double sum = 0;
    f->evaluations++;
    memset(matrix, 0, FREE * FREE * sizeof *matrix);
    memset(slope, 0, FREE * sizeof *slope);
    const shoal_status status =
        shoal_heston_prices(f->ctx, &m, &f->quotes, f->count, f->price, f->gradient);
    if (status != SHOAL_OK) {
        if (status != SHOAL_E_ARG) f->failed = status;
        return NAN;
    }
    for (int64_t i = 0; i < f->count; i++) {
        const double r = f->share[i] * (f->price[i] - f->quote[i]);
        double by[FREE];
        numbers_of(&f->gradient[i], by);
        sum += r * r;
        for (int k = 0; k < FREE; k++) {
            by[k] *= f->share[i];
            slope[k] += by[k] * r;
            for (int j = 0; j <= k; j++) matrix[k * FREE + j] += by[k] * by[j];
        }
    }
    return sum;
}

static void take(search *s, double objective, const double *matrix, const double *slope) {
    s->objective = objective;
    memcpy(s->x, s->next, sizeof s->x);
    memcpy(s->matrix, matrix, sizeof s->matrix);
    memcpy(s->slope, slope, sizeof s->slope);
}

static int at_bound(const fit *f, const double *x, int k) {
    return f->high[k] > f->low[k] && (x[k] <= f->low[k] || x[k] >= f->high[k]);
}

/* The system of a step; rows of held parameters are those of the identity. */
static void form(const fit *f, search *s, double *a, double *b) {
    for (int k = 0; k < FREE; k++)
        s->held[k] = f->low[k] == f->high[k] || !(s->matrix[k * FREE + k] > 0) ||
                     (s->x[k] <= f->low[k] && s->slope[k] > 0) ||
                     (s->x[k] >= f->high[k] && s->slope[k] < 0);
    for (int k = 0; k < FREE; k++) {
        for (int j = 0; j <= k; j++) {
            const int held = s->held[k] || s->held[j];
            a[k * FREE + j] = held ? k == j : s->matrix[k * FREE + j];
        }
        if (!s->held[k]) a[k * FREE + k] *= 1 + s->lambda;
        b[k] = s->held[k] ? 0 : -s->slope[k];
    }
}

/* `next` by the step, within the bounds and a factor FACTOR of x; rho keeps this part of its distance from +-1. Returns the
 * largest relative change. */
static double move(const fit *f, search *s, const double *step) {
    double most = 0;
    for (int k = 0; k < FREE; k++) {
        const double x = s->x[k], size = k == RHO ? 1 : fabs(x);
        const double low = k == RHO ? (1 + x) / FACTOR - 1 : x / FACTOR;
        const double high = k == RHO ? 1 - (1 - x) / FACTOR : x * FACTOR;
        s->next[k] = within(f, k, fmin(fmax(x + step[k], low), high));
        most = fmax(most, fabs(s->next[k] - x) / size);
    }
    return most;
}

/* How far the sum of squares should fall by the step as taken. */
static double predicted(const search *s) {
    double fall = 0;
    for (int k = 0; k < FREE; k++) {
        const double d = s->next[k] - s->x[k];
        fall -= 2 * d * s->slope[k];
        for (int j = 0; j < FREE; j++)
            fall -=
                d * (s->next[j] - s->x[j]) * s->matrix[(j < k ? k : j) * FREE + (j < k ? j : k)];
    }
    return fall;
}

static void advance(fit *f, search *s, const double *step, int answered) {
    double matrix[FREE * FREE], slope[FREE];
    const double change = answered ? move(f, s, step) : INFINITY;
    s->iterations++;
    if (answered && change == 0) {
        s->ended = s->converged = 1;
        return;
    }
    const double now = answered ? evaluate(f, s, matrix, slope) : NAN;
    if (now < s->objective) {
        const double gain = (s->objective - now) / predicted(s), bend = 2 * gain - 1;
        s->lambda *= fmin(2, fmax(1.0 / 3, 1 - bend * bend * bend)), s->raise = 2;
        take(s, now, matrix, slope);
    } else {
        s->lambda *= s->raise, s->raise *= 2;
    }
    if (change < f->tol) s->ended = s->converged = 1;
    if (s->lambda > LAMBDA_MAX) s->ended = s->converged = 1; /* rounding: nothing is better */
    if (s->iterations >= f->most) s->ended = 1;
}

/* Of progress: start i in a round begins; round 0 evaluates the starts. */
static shoal_status begin_step(const fit *f, int64_t round, int64_t i) {
    const double starts = (double)f->starts, at = (double)round * starts + (double)i;
    return shoal_stage_step(f->ctx, f->stage, at, at + 1, (double)(f->most + 1) * starts);
}

/* All starts until they end. */
static shoal_status search_all(fit *f, const char *solver) {
    enum { MATRIX = FREE * FREE };
    const shoal_smallsym_opts opts = { .n = FREE, .count = f->starts, .nrhs = 1, .method = solver };
    const size_t starts = (size_t)f->starts;
    double *numbers = calloc(starts * (MATRIX + 2 * FREE), sizeof *numbers);
    int32_t *status = calloc(starts, sizeof *status);
    double *a = numbers, *b = a + starts * MATRIX, *step = b + starts * FREE;
    shoal_smallsym *plan = NULL;
    shoal_status s =
        numbers && status ? SHOAL_OK : SHOAL_NO_MEMORY(f->ctx, "%lld starts", (long long)f->starts);
    if (s == SHOAL_OK) {
        s = shoal_smallsym_create(f->cpu, &opts, &plan);
        if (s == SHOAL_OK) s = shoal_smallsym_outcome(plan, &(shoal_outcome){ .status = status });
        if (s != SHOAL_OK) s = shoal_fail(f->ctx, s, "%s", shoal_message(f->cpu));
    }
    int64_t left = f->starts;
    for (int64_t i = 0; i < f->starts && s == SHOAL_OK; i++) {
        search *at = &f->search[i];
        double matrix[MATRIX], slope[FREE];
        if ((s = begin_step(f, 0, i)) != SHOAL_OK) break;
        const double sum = evaluate(f, at, matrix, slope);
        take(at, sum, matrix, slope);
        if (isnan(sum)) at->ended = 1, left--, at->objective = INFINITY;
        s = f->failed;
    }
    for (int64_t round = 0; left > 0 && s == SHOAL_OK; round++) {
        for (int64_t i = 0; i < f->starts; i++)
            form(f, &f->search[i], a + i * MATRIX, b + i * FREE);
        s = shoal_smallsym_solve(plan, a, b, step);
        left = 0;
        for (int64_t i = 0; i < f->starts && s == SHOAL_OK; i++) {
            search *at = &f->search[i];
            if (!at->ended) s = begin_step(f, round + 1, i);
            if (!at->ended && s == SHOAL_OK) {
                advance(f, at, step + i * FREE, status[i] >= 0);
                s = f->failed;
            }
            left += !at->ended;
        }
    }
    shoal_smallsym_free(plan);
    free(numbers);
    free(status);
    return s;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* Standard errors and condition from Jt J with unit diagonal, without parameters that are held or at a bound. */
static shoal_status judge(fit *f, const search *best, const char *solver, shoal_heston_fit *out) {
    const shoal_smallsym_opts opts = {
        .n = FREE, .count = 1, .nrhs = FREE, .method = solver, .estimate = 1
    };
    double a[FREE * FREE] = { 0 }, b[FREE * FREE] = { 0 }, x[FREE * FREE], error[FREE], root[FREE];
    int32_t status = 0;
    float rcond = 0;
    int64_t unknowns = 0;
    shoal_smallsym *plan = NULL;
    int out_of[FREE];
    for (int k = 0; k < FREE; k++) {
        out_of[k] =
            f->low[k] == f->high[k] || at_bound(f, best->x, k) || !(best->matrix[k * FREE + k] > 0);
        root[k] = out_of[k] ? 1 : sqrt(best->matrix[k * FREE + k]);
        unknowns += !out_of[k];
    }
    for (int k = 0; k < FREE; k++) {
        for (int j = 0; j <= k; j++)
            a[k * FREE + j] = k == j ? 1
                              : out_of[k] || out_of[j]
                                  ? 0
                                  : best->matrix[k * FREE + j] / (root[k] * root[j]);
        b[k * FREE + k] = 1;
    }
    shoal_status s = shoal_smallsym_create(f->cpu, &opts, &plan);
    if (s == SHOAL_OK)
        s = shoal_smallsym_outcome(plan, &(shoal_outcome){ .status = &status, .rcond = &rcond });
    if (s == SHOAL_OK) s = shoal_smallsym_solve(plan, a, b, x);
    if (s != SHOAL_OK) s = shoal_fail(f->ctx, s, "%s", shoal_message(f->cpu));
    shoal_smallsym_free(plan);
    const double left = (double)(f->count - unknowns);
    const double variance = left > 0 ? best->objective / left : NAN;
    for (int k = 0; k < FREE; k++)
        error[k] = out_of[k] || status < 0 || !(x[k * FREE + k] > 0)
                       ? NAN
                       : sqrt(variance * x[k * FREE + k]) / root[k];
    out->condition = rcond > 0 ? 1 / (double)rcond : INFINITY;
    out->error = with_numbers(&(shoal_heston){ .s0 = NAN, .rate = NAN, .dividend = NAN }, error);
    return s;
}

static int agrees(const double *x, const double *y) {
    for (int k = 0; k < FREE; k++)
        if (!(fabs(x[k] - y[k]) <= AGREE * (k == RHO ? 1 : fabs(y[k])))) return 0;
    return 1;
}

static shoal_status conclude(fit *f, const shoal_fit_opts *o, shoal_heston_fit *out,
                             double *fitted) {
    const search *best = f->search;
    for (int64_t i = 1; i < f->starts; i++)
        if (f->search[i].objective < best->objective) best = &f->search[i];
    if (!(best->objective < INFINITY)) return SHOAL_E_ARG; /* with the message of the integral */
    *out = (shoal_heston_fit){ .model = with_numbers(f->model, best->x),
                               .objective = best->objective,
                               .converged = best->converged,
                               .iterations = best->iterations,
                               .evaluations = f->evaluations };
    const shoal_heston *m = &out->model;
    out->feller = m->sigma > 0 ? 2 * m->kappa * m->theta / (m->sigma * m->sigma) : INFINITY;
    for (int k = 0; k < FREE; k++) out->at_bound |= at_bound(f, best->x, k) << k;
    for (int64_t i = 0; i < f->starts; i++) out->agree += agrees(f->search[i].x, best->x);
    shoal_status s = shoal_heston_prices(f->ctx, m, &f->quotes, f->count, f->price, NULL);
    double sum = 0;
    for (int64_t i = 0; i < f->count && s == SHOAL_OK; i++) {
        const double off = o->price_errors ? f->price[i] - f->quote[i]
                                           : quote_of(f, i, f->price[i]).vol - f->vol[i];
        sum += off * off;
        if (!(fabs(off) <= out->largest)) out->largest = fabs(off);
        if (fitted) fitted[f->order[i]] = f->price[i];
    }
    out->rms = sqrt(sum / (double)f->count);
    return s == SHOAL_OK ? judge(f, best, o->solver, out) : s;
}

/* ---- the public function ------------------------------------------------------------------------ */

static shoal_status check_bounds(fit *f, const shoal_fit_opts *o) {
    static const char *const names[FREE] = { "v0", "kappa", "theta", "sigma", "rho" };
    static const double least[FREE] = { 0, 0, 0, 0, -1 }, most[FREE] = { 1e6, 1e6, 1e6, 1e6, 1 };
    double start[FREE] = { 0 };
    merge(low_usual, o->low, f->low);
    merge(high_usual, o->high, f->high);
    merge(start, o->start, start);
    for (int k = 0; k < FREE; k++) {
        if (!(f->low[k] >= least[k] && f->low[k] <= f->high[k] && f->high[k] <= most[k]))
            return shoal_fail(f->ctx, SHOAL_E_ARG,
                              "bounds of %s are %g and %g; they must ascend from %g to %g at most",
                              names[k], f->low[k], f->high[k], least[k], most[k]);
        if (!(start[k] >= least[k] && start[k] <= most[k]))
            return shoal_fail(f->ctx, SHOAL_E_ARG, "start.%s is %g; it must be from %g to %g",
                              names[k], start[k], least[k], most[k]);
    }
    return SHOAL_OK;
}

static shoal_status check(fit *f, const shoal_heston_options *quotes, const double *price,
                          const double *weight, const shoal_fit_opts *o, const void *out) {
    const shoal_array given[] = { { "price", price, 0 }, { "fit", out, 0 } };
    const shoal_flag flag = SHOAL_FLAG("price_errors", o->price_errors);
    const shoal_count counts[] = { { "count", f->count, 1, INT64_MAX / 4096 },
                                   { "starts", o->starts, 0, MAX_STARTS },
                                   { "iterations", o->iterations, 0, INT32_MAX } };
    shoal_status s = shoal_heston_check(f->ctx, f->model, quotes, f->count);
    if (s == SHOAL_OK) s = shoal_check_pointers(f->ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_counts(f->ctx, counts, 3);
    if (s == SHOAL_OK) s = shoal_check_flags(f->ctx, &flag, 1);
    if (s == SHOAL_OK) s = check_bounds(f, o);
    for (int64_t i = 0; i < f->count && s == SHOAL_OK; i++) {
        if (weight) s = shoal_check_number(f->ctx, "weight", i, weight[i], 0, 1e100);
        if (s == SHOAL_OK) s = shoal_check_number(f->ctx, "price", i, price[i], 0, 1e300);
        if (s == SHOAL_OK)
            s = shoal_check_number(f->ctx, "strike", i, quotes->strike[i], DBL_MIN, 1e300);
        if (s == SHOAL_OK)
            s = shoal_check_number(f->ctx, "maturity", i, quotes->maturity[i], DBL_MIN, 1e300);
    }
    return s;
}

/* Copies of the quotes in the order of maturities. */
static void copy(fit *f, const shoal_heston_options *q, const double *price) {
    for (int64_t i = 0; i < f->count; i++) {
        const int64_t at = f->order[i];
        f->strike[i] = q->strike[at], f->maturity[i] = q->maturity[at], f->quote[i] = price[at];
        f->rate[i] = q->rate ? q->rate[at] : f->model->rate;
        f->dividend[i] = q->dividend ? q->dividend[at] : f->model->dividend;
        f->put[i] = q->put && q->put[at];
    }
    f->quotes = (shoal_heston_options){ f->strike, f->maturity, f->rate, f->dividend, f->put };
}

static shoal_status run(fit *f, const shoal_heston_options *quotes, const double *price,
                        const double *weight, const shoal_fit_opts *o, shoal_heston_fit *out,
                        double *fitted) {
    enum { ARRAYS = 8 };
    const size_t n = (size_t)f->count;
    double *numbers = malloc(ARRAYS * n * sizeof *numbers);
    int64_t *order = shoal_heston_order(quotes->maturity, f->count);
    f->gradient = malloc(n * sizeof *f->gradient);
    f->put = malloc(n * sizeof *f->put);
    f->search = malloc((size_t)f->starts * sizeof *f->search);
    shoal_status s = SHOAL_E_NOMEM;
    if (numbers && order && f->gradient && f->put && f->search) {
        double **const arrays[ARRAYS] = { &f->strike, &f->maturity, &f->rate,  &f->dividend,
                                          &f->quote,  &f->share,    &f->price, &f->vol };
        for (int k = 0; k < ARRAYS; k++) *arrays[k] = numbers + (size_t)k * n;
        f->order = order;
        copy(f, quotes, price);
        s = scale(f, o, weight);
        if (s == SHOAL_OK) begin(f, o);
        if (s == SHOAL_OK) s = search_all(f, o->solver);
        if (s == SHOAL_OK) s = conclude(f, o, out, fitted);
    } else {
        s = shoal_fail(f->ctx, s, "no memory for %lld quotes", (long long)f->count);
    }
    free(numbers);
    free(order);
    free(f->gradient);
    free(f->put);
    free(f->search);
    return s;
}

shoal_status shoal_heston_calibrate(shoal_context *ctx, const shoal_heston *model,
                                    const shoal_heston_options *quotes, int64_t count,
                                    const double *price, const double *weight,
                                    const shoal_fit_opts *opts, shoal_heston_fit *fit_of,
                                    double *fitted) {
    const shoal_fit_opts o = opts ? *opts : (shoal_fit_opts){ 0 };
    fit f = { .ctx = ctx,
              .model = model,
              .count = count,
              .starts = o.starts ? o.starts : 1,
              .most = o.iterations ? o.iterations : ITERATIONS,
              .tol = o.tol > 0 ? o.tol : TOL };
    if (!ctx) return SHOAL_E_ARG;
    shoal_status s = check(&f, quotes, price, weight, &o, fit_of);
    if (s != SHOAL_OK) return s;
    const shoal_stage stage = shoal_stage_begin(ctx, "calibration");
    f.stage = &stage;
    s = shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &f.cpu);
    if (s == SHOAL_OK)
        s = run(&f, quotes, price, weight, &o, fit_of, fitted);
    else
        s = shoal_fail(ctx, s, "%s",
                       f.cpu ? shoal_message(f.cpu) : "no memory for the calibration");
    shoal_close(f.cpu);
    return shoal_stage_end(ctx, &stage, s);
}
