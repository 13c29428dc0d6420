/* SPDX-License-Identifier: Apache-2.0
 *
 * exact_plan.c - exact prices of American and European options on one asset: the public functions, their checks, the
 * rule's points, the cases that need no boundary, implied volatilities. exact.h has the formulas.
 *
 * In the coordinates of a put, the option is a European one if r <= 0 and q >= r, and has two boundaries if
 * q < r < 0 (Battauz, De Donno and Sbuelz 2015), which is refused. Otherwise it has one.
 */
#include "american/exact.h"
#include "core/math.h"
#include "core/loops.h"
#include "core/plan.h"
#include <float.h>
#include <math.h>
#include <shoal/american.h>
#include <stdlib.h>

extern const shoal_module shoal_american_module;

enum { NODES = 12, MAX_NODES = 32 };
enum { ROUNDS = 200 };  /* of an implied volatility                                             */
#define RANGE     60.0  /* of (|r| + |q| + sigma^2) T                                           */
#define FAR       10.0  /* standard deviations                                                 */
#define LARGE     1e30  /* of prices                                                            */
#define NO_NOISE  1e-12 /* of sigma sqrt T: below, S follows its drift                          */
#define TIGHT     1e-6  /* Newton's method for the boundary has settled, as far as f64 shows    */
#define PRECISION 1e-14 /* of an implied volatility: its last step, in parts of it              */
#define ROUNDING  1e-12 /* a step so small that does not bring the price nearer is rounding     */

typedef struct point { /* an option as a put */
    double s, k, r, q, v, t;
    int call, status;
    double price, delta, gamma, vega, rho, boundary;
} point;

/* ---- the rule ----------------------------------------------------------------------------------- */

/* sin, cos of Gauss's points on 0 .. pi/2, and the weights of the integral by the sine. */
static void gauss(int n, double *sine, double *cosine, double *weight) {
    for (int i = 0; i < n; i++) {
        double x = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int pass = 0; pass < 100; pass++) {
            double p = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p, p = next;
            }
            slope = n * (x * p - before) / (x * x - 1);
            x -= p / slope;
            if (fabs(p / slope) < 1e-15) break;
        }
        sine[i] = sin(M_PI_4 * (1 + x)), cosine[i] = cos(M_PI_4 * (1 + x));
        weight[i] = M_PI_2 / ((1 - x * x) * slope * slope) * cosine[i];
    }
}

/* The parts of H(x_1) .. H(x_n) in H(at), H(0) = 0. */
static void interpolate(int n, const double *x, double at, double *parts, int stride) {
    double sum = 0;
    for (int j = 0; j <= n; j++) {
        const double weight = (j % 2 ? -1 : 1) * (j == 0 || j == n ? 0.5 : 1);
        const double share = weight / (at - (j ? x[j - 1] : 0));
        sum += share;
        if (j) parts[(j - 1) * stride] = share;
    }
    for (int j = 0; j < n; j++) parts[j * stride] /= sum;
}

/* All in one block, which *rule begins. */
static exact_rule *make_rule(int n) {
    const int l = (4 * n + 2) / 3, p = 3 * l;
    const size_t matrix = (size_t)n * (size_t)l * (size_t)n, from_s = (size_t)p * (size_t)n;
    const size_t numbers = (size_t)n + 3 * (size_t)(l + p) + (size_t)l + matrix + from_s;
    exact_rule *rule = malloc(sizeof *rule + numbers * sizeof(double));
    if (!rule) return NULL;
    double *x = (double *)(rule + 1), *z = x + n, *w = z + l, *cosine = w + l;
    double *inverse = cosine + l, *m = inverse + l;
    double *pz = m + matrix, *pw = pz + p, *price_cosine = pw + p, *pm = price_cosine + p;
    *rule =
        (exact_rule){ n, l, p, n < 8 ? 3e-2 : TIGHT, x, z, w, inverse, m, l * n, n, 1, pz, pw, pm };
    for (int i = 0; i < n; i++) x[i] = 0.5 * (1 - cos(M_PI * (i + 1) / n));
    gauss(l, z, cosine, w);
    for (int k = 0; k < l; k++) inverse[k] = 1 / z[k];
    gauss(p, pz, price_cosine, pw);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < l; k++)
            interpolate(n, x, x[i] * cosine[k], m + i * rule->of_row + k * rule->of_point,
                        rule->of_node);
    for (int g = 0; g < p; g++) interpolate(n, x, price_cosine[g], pm + (ptrdiff_t)g * n, 1);
    return rule;
}

/* ---- without a boundary ------------------------------------------------------------------------- */

static void exercise(point *o, double t) {
    const double cash = o->k * exp(-o->r * t), asset = o->s * exp(-o->q * t);
    if (cash - asset <= o->price) return;
    o->price = cash - asset, o->delta = -asset / o->s;
    o->rho = o->call ? t * asset : -t * cash;
}

/* S follows its drift: the best time to exercise is today, maturity, or that with r K e^(-rt) = q S e^(-qt). */
static void without_noise(point *o, int european) {
    const double ratio = o->r * o->k / (o->q * o->s), best = log(ratio) / (o->r - o->q);
    o->price = o->delta = o->gamma = o->vega = o->rho = 0;
    exercise(o, o->t);
    o->boundary = o->t > 0 ? o->q > o->r ? o->k * fmax(0, o->r / o->q) : o->k : o->k;
    if (european) return;
    if (best > 0 && best < o->t) exercise(o, best);
    exercise(o, 0);
}

static void by_formula(point *o) {
    const double root = sqrt(o->t), sd = o->v * root;
    const double d = (log(o->s / o->k) + (o->r - o->q) * o->t) / sd + 0.5 * sd;
    const double held = o->s * exp(-o->q * o->t) * shoal_normcdf(-d);
    const double paid = o->k * exp(-o->r * o->t) * shoal_normcdf(sd - d);
    const double bell = o->s * exp(-o->q * o->t - 0.5 * d * d) * 0.3989422804014327;
    o->price = fmax(paid - held, 0), o->delta = -held / o->s, o->gamma = bell / (sd * o->s * o->s);
    o->vega = bell * root, o->rho = o->t * (o->call ? held : -paid), o->boundary = 0;
}

/* ---- options ------------------------------------------------------------------------------------ */

static int is_number(double x, double min, double max) { return x >= min && x <= max; }

static point point_of(const shoal_vanilla *a, int64_t i, double sigma, int european) {
    const double r = a->rate[i], q = a->dividend ? a->dividend[i] : 0, t = a->maturity[i];
    const int call = a->call && a->call[i] != 0;
    point o = {
        .s = a->s0[i], .k = a->strike[i], .r = r, .q = q, .v = sigma, .t = t, .call = call
    };
    const int good = is_number(o.s, 1 / LARGE, LARGE) && is_number(o.k, 1 / LARGE, LARGE) &&
                     is_number(t, 0, DBL_MAX) && is_number(sigma, 0, DBL_MAX) &&
                     (fabs(r) + fabs(q) + sigma * sigma) * t <= RANGE && isfinite(r) && isfinite(q);
    if (call) o.s = a->strike[i], o.k = a->s0[i], o.r = q, o.q = r;
    if (!good)
        o.status = SHOAL_VANILLA_INVALID;
    else if (!european && t > 0 && o.q < o.r && o.r < 0)
        o.status = SHOAL_VANILLA_TWO_BOUNDARIES;
    return o;
}

/* If log S rises by b per year and b sqrt(t) / sigma > FAR, S does not come back after t: a longer option is worth
 * no more. */
static double enough_time(const point *o) {
    const double b = o->r - o->q - 0.5 * o->v * o->v, far = FAR * o->v / b;
    return b > 0 && far * far < o->t ? far * far : o->t;
}

/* Up to EXACT_LANES options; vega at least with greeks. */
static void solve(const exact_method *exact, const exact_rule *rule, point *o, int count,
                  int european, int greeks, double *work) {
    exact_pack pack;
    int lane[EXACT_LANES], lanes = 0;
    for (int i = 0; i < count; i++) {
        if (o[i].status) continue;
        const int never = european || (o[i].r <= 0 && o[i].q >= o[i].r);
        if (o[i].v * sqrt(o[i].t) <= NO_NOISE)
            without_noise(&o[i], european);
        else if (never)
            by_formula(&o[i]);
        else
            lane[lanes++] = i;
    }
    if (lanes == 0) return;
    for (int l = 0; l < EXACT_LANES; l++) { /* lanes without an option repeat the first */
        const point *from = &o[lane[l < lanes ? l : 0]];
        pack.s[l] = from->s, pack.k[l] = from->k, pack.r[l] = from->r, pack.q[l] = from->q;
        pack.v[l] = from->v, pack.maturity[l] = enough_time(from), pack.of_q[l] = from->call;
    }
    exact->run(rule, &pack, greeks, work);
    for (int l = 0; l < lanes; l++) {
        point *to = &o[lane[l]];
        to->price = pack.price[l], to->boundary = pack.boundary[l];
        if (greeks) {
            to->delta = pack.delta[l], to->gamma = pack.gamma[l];
            to->vega = pack.vega[l], to->rho = pack.rho[l];
        }
        if (pack.failed[l] || !isfinite(to->price)) to->status = SHOAL_VANILLA_UNSETTLED;
    }
}

static void put_number(double *to, int64_t i, int status, double value) {
    if (to) to[i] = status ? (double)NAN : value;
}

static void store(const shoal_vanilla_values *to, int64_t i, const point *o) {
    const double k = o->k, s = o->s, bend = 0.5 * o->v * o->v * s * s * o->gamma;
    const int now = o->delta == -1 && o->price == k - s;
    const double theta =
        o->t <= 0 || now ? 0 : o->r * o->price - (o->r - o->q) * s * o->delta - bend;
    put_number(to->price, i, o->status, o->price);
    put_number(to->delta, i, o->status, o->call ? (o->price - s * o->delta) / k : o->delta);
    put_number(to->gamma, i, o->status, o->call ? s * s / (k * k) * o->gamma : o->gamma);
    put_number(to->vega, i, o->status, o->vega);
    put_number(to->theta, i, o->status, theta);
    put_number(to->rho, i, o->status, o->rho);
    put_number(to->boundary, i, o->status, o->call ? s * k / o->boundary : o->boundary);
}

/* ---- implied volatilities ----------------------------------------------------------------------- */

typedef struct search {
    double price, base;          /* base: without volatility              */
    double low, high, most, off; /* most: the largest sigma allowed */
    int done;
} search;

/* The bounds of prices, and a first volatility: that of the largest vega. */
static void begin(search *at, point *o, double price, int european) {
    const double rest = (RANGE - (fabs(o->r) + fabs(o->q)) * o->t) / o->t;
    point still = *o;
    *at = (search){ .price = price, .high = INFINITY, .off = INFINITY, .most = sqrt(rest) };
    if (!o->status && (!(o->t > 0) || !isfinite(price))) o->status = SHOAL_VANILLA_INVALID;
    if (o->status) return;
    still.v = 0;
    without_noise(&still, european);
    at->base = still.price;
    const double top = o->k * (european ? exp(-o->r * o->t) : fmax(1, exp(-o->r * o->t)));
    if (!(price > still.price)) o->status = SHOAL_VANILLA_TOO_LOW;
    if (!(price < top)) o->status = SHOAL_VANILLA_TOO_HIGH;
    const double best = sqrt(2 * fabs(log(o->s / o->k) / o->t + o->r - o->q));
    o->v = fmin(fmax(best, 0.1 / sqrt(o->t)), 0.9 * at->most);
}

/* A step of Newton's method on the logarithm of what volatility adds, or a halving of the bracket if the step would
 * leave it. */
static void narrow(search *at, point *o) {
    const double off = o->price - at->price, v = o->v;
    *(off > 0 ? &at->high : &at->low) = v;
    const double adds = o->price - at->base;
    double next = v - log(adds / (at->price - at->base)) * adds / o->vega;
    if (!(next > at->low && next < at->high))
        next = at->high == INFINITY ? 2 * v : at->low > 0 ? 0.5 * (at->low + at->high) : 0.25 * v;
    if (next > at->most) next = at->most;
    const double step = fabs(next - v);
    at->done = off == 0 || step <= PRECISION * v || (step <= ROUNDING * v && fabs(off) >= at->off);
    if (v >= at->most && off < 0) o->status = SHOAL_VANILLA_TOO_HIGH;
    at->off = fabs(off);
    if (off != 0) o->v = next;
}

static void imply(const exact_method *exact, const exact_rule *rule, point *o, int count,
                  const double *price, int european, double *work) {
    search at[EXACT_LANES];
    exact_rule tight = *rule; /* the price must not jump where a pass more is taken */
    tight.settled = TIGHT;
    for (int i = 0; i < count; i++) begin(&at[i], &o[i], price[i], european);
    for (int round = 0, left = 1; left && round < ROUNDS; round++) {
        point now[EXACT_LANES];
        int lane[EXACT_LANES];
        left = 0;
        for (int i = 0; i < count; i++)
            if (!o[i].status && !at[i].done) now[left] = o[i], lane[left++] = i;
        solve(exact, &tight, now, left, european, 1, work);
        for (int i = 0; i < left; i++) {
            o[lane[i]] = now[i];
            if (!now[i].status) narrow(&at[lane[i]], &o[lane[i]]);
        }
    }
    for (int i = 0; i < count; i++)
        if (!o[i].status && !at[i].done) o[i].status = SHOAL_VANILLA_UNSETTLED;
}

/* ---- the public functions ----------------------------------------------------------------------- */

typedef struct job {
    const shoal_vanilla *options;
    int64_t count;
    shoal_vanilla_opts opts;
    const double *price; /* NULL: values, else implied volatilities */
    shoal_vanilla_values values;
    double *sigma;
    int32_t *status;
} job;

static void run_pack(const job *j, const exact_method *exact, const exact_rule *rule, int64_t first,
                     double *work) {
    const int64_t left = j->count - first;
    const int count = left < EXACT_LANES ? (int)left : EXACT_LANES, european = j->opts.european;
    const shoal_vanilla_values *v = &j->values;
    const int greeks = v->delta || v->gamma || v->vega || v->theta || v->rho;
    point o[EXACT_LANES];
    for (int i = 0; i < count; i++)
        o[i] =
            point_of(j->options, first + i, j->price ? 0 : j->options->sigma[first + i], european);
    if (j->price)
        imply(exact, rule, o, count, j->price + first, european, work);
    else
        solve(exact, rule, o, count, european, greeks, work);
    for (int i = 0; i < count; i++) {
        store(v, first + i, &o[i]);
        put_number(j->sigma, first + i, o[i].status, o[i].v);
        if (j->status) j->status[first + i] = o[i].status;
    }
}

static shoal_status run_all(shoal_context *ctx, const job *j) {
    const shoal_method *method = shoal_find_method(&shoal_american_module, "exact");
    const exact_method *exact = method->cpu[SHOAL_F64][ctx->level];
    exact_rule *rule = make_rule((int)j->opts.nodes);
    const int64_t packs = (j->count + EXACT_LANES - 1) / EXACT_LANES;
    const int64_t workers = packs < ctx->threads ? packs : ctx->threads;
    const size_t each = rule ? (size_t)EXACT_LANES * (size_t)exact_numbers(rule->n, rule->l) : 0;
    double *work = rule ? aligned_alloc(64, (size_t)workers * each * sizeof *work) : NULL;
    const shoal_stage stage = shoal_stage_begin(ctx, "options");
    shoal_status s = SHOAL_OK;
    if (!work) s = shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for %d nodes", (int)j->opts.nodes);
    if (work) {
        ON_THREADS((int)workers, static)
        for (int64_t w = 0; w < workers; w++)
            for (int64_t i = w; i < packs && !shoal_is_cancelled(ctx, i, packs); i += workers)
                run_pack(j, exact, rule, i * EXACT_LANES, work + (size_t)w * each);
    }
    free(work);
    free(rule);
    return shoal_stage_end(ctx, &stage, s);
}

static shoal_status check(shoal_context *ctx, job *j, const shoal_vanilla_opts *opts) {
    const shoal_vanilla *a = j->options;
    const int none = j->count == 0;
    if (!ctx) return SHOAL_E_ARG;
    if (opts) j->opts = *opts;
    if (!j->opts.nodes) j->opts.nodes = NODES;
    const shoal_flag flag = SHOAL_FLAG("european", j->opts.european);
    shoal_status s = shoal_check_count(ctx, "count", j->count, 0, INT64_MAX / 4096);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "nodes", j->opts.nodes, 4, MAX_NODES);
    if (s == SHOAL_OK) s = shoal_check_flags(ctx, &flag, 1);
    if (s == SHOAL_OK && !a) s = shoal_fail(ctx, SHOAL_E_ARG, "options is NULL");
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "s0", a->s0, none },
                                  { "strike", a->strike, none },
                                  { "rate", a->rate, none },
                                  { "maturity", a->maturity, none },
                                  { "sigma", j->price ? j->sigma : a->sigma, none } };
    return shoal_check_pointers(ctx, given, sizeof given / sizeof *given);
}

shoal_status shoal_vanilla_value(shoal_context *ctx, const shoal_vanilla *options, int64_t count,
                                 const shoal_vanilla_opts *opts, const shoal_vanilla_values *values,
                                 int32_t *status) {
    job j = { .options = options, .count = count, .status = status };
    const shoal_array given = { "values", values, 0 };
    shoal_status s = check(ctx, &j, opts);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, &given, 1);
    if (s != SHOAL_OK || count == 0) return s;
    j.values = *values;
    return run_all(ctx, &j);
}

shoal_status shoal_vanilla_implied(shoal_context *ctx, const shoal_vanilla *options, int64_t count,
                                   const shoal_vanilla_opts *opts, const double *price,
                                   double *sigma, int32_t *status) {
    static const double no_price = 0;
    job j = { .options = options, .count = count, .status = status, .sigma = sigma };
    j.price = count ? price : &no_price;
    const shoal_array given = { "price", price, count == 0 };
    shoal_status s = ctx ? shoal_check_pointers(ctx, &given, 1) : SHOAL_E_ARG;
    if (s == SHOAL_OK) s = check(ctx, &j, opts);
    return s == SHOAL_OK && count > 0 ? run_all(ctx, &j) : s;
}
