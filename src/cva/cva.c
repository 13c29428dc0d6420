/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - outer paths of correlated assets and the values of European contracts along them, on
 * the CPU.
 *
 * An outer path is exact: from date to date each asset's Brownian motion gets sqrt(dt) L Z, and
 *
 *     S_t = S_0 e^((r - q - sigma^2 / 2) t + sigma B_t).
 *
 * With tau years left and F = S e^((r - q) tau) a forward is worth e^(-r tau) (B(F) - K), B the
 * basket, a call or put e^(-r tau) times Black's formula. Other European contracts, or all on
 * demand, are means over inner paths, which go to maturity in one step,
 *
 *     S_T = S_t e^((r - q - sigma^2 / 2) tau + sigma sqrt(tau) L Z),
 *
 * with one Z for all contracts of an outer path and date: what is bought and sold nets exactly.
 *
 * Contracts with early exercise follow their rules along inner paths from date to date (walk.h); all contracts
 * share these.
 *
 * Threads share the outer paths; inner paths are lanes, CVA_LANES at a time: an item. A block of Philox
 * makes two normals (f32: four). An inner path costs half a Philox block and one exponential per
 * asset, and one more exponential per asset for each additional maturity.
 */
#define CVA_WIDTH 32
#define CVA_FOLLOWS
#include "pricing/lanes.h"

static inline void cva_draw(const shoal_stream *stream, uint32_t step, uint64_t first,
                            real (*z)[CVA_WIDTH]) {
    uint32_t w[4 * CVA_WIDTH];
    lanes_words(stream, step, first, CVA_WIDTH, w);
    for (int e = 0; e < BLOCK_NORMALS; e += 2) lanes_normals(w, e / 2, CVA_WIDTH, z[e], z[e + 1]);
}

#include "cva/walk.h"
#include <stdlib.h>

/* ---- outer paths ------------------------------------------------------------------------------ */

static void move_path(const cva_job *job, int64_t path, int64_t k) {
    const int d = job->assets, pairs = (d + 1) / 2;
    const double t = cva_time(job, k), step = sqrt(t - cva_time(job, k - 1));
    double *brownian = job->brownian + path * d, *spot = job->spot + path * d;
    double z[SHOAL_CVA_ASSETS + 1];
    shoal_stream s = job->outer_normals;
    for (int pair = 0; pair < pairs; pair++) {
        s.step = (uint32_t)((k - 1) * pairs + pair);
        const shoal_words w = shoal_block(&s, job->first + (uint64_t)path, 0);
        const shoal_normals normals = shoal_normal_pair(&w);
        z[2 * pair] = normals.z[0], z[2 * pair + 1] = normals.z[1];
    }
    for (int a = 0; a < d; a++) {
        double g = 0;
        for (int b = 0; b <= a; b++) g = fma(job->load[a * (a + 1) / 2 + b], z[b], g);
        brownian[a] = fma(step, g, brownian[a]);
        spot[a] = job->s0[a] * shoal_exp(fma(job->sigma[a], brownian[a], cva_drift(job, a) * t));
    }
}

static void move(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) move_path(job, path, k);
}

/* ---- closed forms ----------------------------------------------------------------------------- */

/* What is paid where `all` is the price, the largest, or the sum, of the contract's assets. */
static inline real pay(int payoff, real strike, real all) {
    const int down = payoff == SHOAL_CVA_PUT || payoff == SHOAL_CVA_BASKET_PUT;
    const real gain = down ? strike - all : all - strike;
    return real_pick(gain > 0 || payoff == SHOAL_CVA_FORWARD, gain, 0);
}

static void value(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) {
        const double *spot = job->spot + path * job->assets;
        double *to = job->value + path * CVA_LEVELS * job->sets;
        memset(to, 0, (size_t)job->sets * CVA_LEVELS * sizeof *to);
        for (int64_t i = 0; i < job->contracts; i++) {
            const cva_contract *c = &job->contract[i];
            const double left = cva_left(job, c, k);
            const int known =
                c->kind == CVA_CLOSED ? left >= 0 : c->kind == CVA_NESTED && left == 0;
            if (!known) continue;
            const double one = cva_closed_value(job, c, spot, left), worth = c->quantity * one;
            cva_note(job, c, k, path, one, left == 0);
            to[c->set] += worth, to[job->sets + c->set] += worth;
        }
    }
}

/* ---- exercise rules ----------------------------------------------------------------------------- */

/* Outer paths as lanes: their prices, [asset][lane]; the last block repeats its last path. */
static void take_prices(const cva_job *job, int64_t from, real *s) {
    for (int l = 0; l < CVA_WIDTH; l++) {
        const int64_t path = from + l < job->paths ? from + l : job->paths - 1;
        for (int a = 0; a < job->assets; a++)
            s[a * CVA_WIDTH + l] = (real)job->spot[path * job->assets + a];
    }
}

static void decide_line(const cva_job *job, const cva_contract *c, const cva_rule *r, int64_t k,
                        int64_t path, char *now, double *going_on) {
    const double *numbers = cva_rule_at(r, k);
    const double s = job->spot[path * job->assets + c->asset[0]];
    now[path] = s >= numbers[0] && s <= numbers[1];
    if (going_on) going_on[path] = cva_line_hold(job, c, r, k, s);
}

static void decide_block(const cva_job *job, const cva_contract *c, const cva_rule *r, int64_t k,
                         int64_t from, char *now, double *going_on) {
    real s[SHOAL_CVA_ASSETS * CVA_WIDTH];
    cva_lanes w;
    take_prices(job, from, s);
    cva_make_variables(c, &r->basis, s, &w);
    cva_make_psi(r, k, &w);
    cva_make_hold(r, k, &w);
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        now[from + l] = w.gain[l] > 0 && w.gain[l] >= w.hold[l];
        if (going_on) going_on[from + l] = w.hold[l] > 0 ? (double)w.hold[l] : 0;
    }
}

static void decide(const shoal_context *ctx, const cva_job *job, const cva_contract *c,
                   const cva_rule *rule, int64_t k, char *now, double *going_on) {
    ON_THREADS(ctx->threads, static)
    for (int64_t from = 0; from < job->paths; from += CVA_WIDTH) {
        if (rule->basis.kind != CVA_LINE) decide_block(job, c, rule, k, from, now, going_on);
        for (int64_t path = from; path < from + CVA_WIDTH && path < job->paths; path++)
            if (rule->basis.kind == CVA_LINE) decide_line(job, c, rule, k, path, now, going_on);
    }
}

/* ---- inner paths ------------------------------------------------------------------------------ */

typedef struct lanes {
    uint32_t w[4 * CVA_LANES];
    real z[SHOAL_CVA_ASSETS + BLOCK_NORMALS - 1][CVA_LANES]; /* independent, then L z            */
    real s[SHOAL_CVA_ASSETS][CVA_LANES];                     /* prices at one maturity           */
    char made[SHOAL_CVA_ASSETS];                             /* which of them                    */
    real all[CVA_LANES];
} lanes;

static void make_normals(const cva_job *job, int64_t k, uint64_t first, lanes *b) {
    const int blocks = (job->assets + BLOCK_NORMALS - 1) / BLOCK_NORMALS;
    for (int n = 0; n < blocks; n++) {
        real(*z)[CVA_LANES] = b->z + n * BLOCK_NORMALS;
        lanes_words(&job->inner_normals, (uint32_t)((k - 1) * blocks + n), first, CVA_LANES, b->w);
        for (int e = 0; e < BLOCK_NORMALS; e += 2)
            lanes_normals(b->w, e / 2, CVA_LANES, z[e], z[e + 1]);
    }
    for (int a = job->assets - 1; a >= 0; a--) { /* the rows above are still independent */
        const real own = (real)job->load[a * (a + 1) / 2 + a];
        EACH(i, CVA_LANES) b->z[a][i] *= own;
        for (int from = 0; from < a; from++) {
            const real factor = (real)job->load[a * (a + 1) / 2 + from];
            EACH(i, CVA_LANES) b->z[a][i] = real_fma(factor, b->z[from][i], b->z[a][i]);
        }
    }
}

/* The prices of an asset after `left` years. */
static const real *price_of(const cva_job *job, const double *spot, double left, int64_t a,
                            lanes *b) {
    if (!b->made[a]) {
        const real start = (real)spot[a], shift = (real)(cva_drift(job, a) * left);
        const real noise = (real)(job->sigma[a] * sqrt(left));
        EACH(i, CVA_LANES)
        b->s[a][i] = start * real_exp(real_fma(noise, b->z[a][i], shift));
        b->made[a] = 1;
    }
    return b->s[a];
}

static void gather(const cva_job *job, const cva_contract *c, const double *spot, double left,
                   lanes *b) {
    const int sum = c->payoff >= SHOAL_CVA_BASKET_PUT;
    for (int n = 0; n < c->assets; n++) {
        const real *s = price_of(job, spot, left, c->asset[n], b);
        const real weight = sum ? (real)c->weight[n] : 1;
        if (n == 0)
            EACH(i, CVA_LANES) b->all[i] = weight * s[i];
        else if (sum)
            EACH(i, CVA_LANES) b->all[i] = real_fma(weight, s[i], b->all[i]);
        else
            EACH(i, CVA_LANES) b->all[i] = real_pick(s[i] > b->all[i], s[i], b->all[i]);
    }
    const real strike = (real)c->strike;
    EACH(i, CVA_LANES) b->all[i] = pay(c->payoff, strike, b->all[i]);
}

static double folded(double *x) {
    for (int distance = CVA_WIDTH / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) x[l] += x[l + distance];
    return x[0];
}

static void nest_item(const cva_job *job, int64_t k, int64_t at, lanes *b) {
    const cva_item *item = &job->item[at];
    const double *spot = job->spot + item->path * job->assets;
    double made_for = -1, x[CVA_LANES];
    make_normals(job, k, cva_first(job, item), b);
    for (int64_t i = 0; i < job->contracts; i++) {
        const cva_contract *c = &job->contract[i];
        const double left = cva_left(job, c, k);
        if (c->kind != CVA_NESTED || !(left > 0)) continue;
        if (left != made_for) memset(b->made, 0, sizeof b->made);
        made_for = left;
        gather(job, c, spot, left, b);
        for (int l = 0; l < CVA_LANES; l++) x[l] = l < item->lanes ? (double)b->all[l] : 0;
        job->sums[at * job->places + c->place] = shoal_exp(-job->rate * left) * folded(x);
    }
}

static void nest(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, dynamic, CVA_TASK)
    for (int64_t at = 0; at < job->items; at++) {
        if (shoal_is_cancelled(ctx, at, job->items)) continue;
        lanes b;
        nest_item(job, k, at, &b);
    }
}

const cva_method R(cva_paths) = { .move = move, .value = value, .nest = nest, .decide = decide };

/* ---- contracts with early exercise --------------------------------------------------------------- */

/* The paths of an item, as far as some contract has followed them: [stop][asset][lane]. */
struct cva_paths {
    const cva_job *job;
    const double *spot;
    int64_t k, made; /* the stop that comes next */
    uint64_t first;
    real at[SHOAL_CVA_ASSETS * CVA_WIDTH];
    real *prices;
};

static inline const real *cva_prices_at(cva_paths *p, int64_t stop) {
    const cva_job *job = p->job;
    const int64_t numbers = (int64_t)job->assets * CVA_WIDTH;
    for (; p->made <= stop; p->made++)
        cva_step(job, job->assets, p->k, p->made, p->spot, p->first, p->at,
                 p->prices + (p->made - job->ahead) * numbers);
    return p->prices + (stop - job->ahead) * numbers;
}

typedef struct worker {
    cva_paths paths;
    cva_lanes lanes;
    cva_outcome outcome;
    real start[SHOAL_CVA_ASSETS * CVA_WIDTH];
    real prices[]; /* of paths */
} worker;

static void follow_item(const cva_job *job, int64_t k, int64_t at, worker *w) {
    const cva_item *item = &job->item[at];
    const double *spot = job->spot + item->path * job->assets;
    double y[CVA_WIDTH];
    w->paths.spot = spot, w->paths.made = job->ahead;
    w->paths.first = cva_first(job, item);
    memset(w->paths.at, 0, sizeof w->paths.at);
    for (int a = 0; a < job->assets; a++)
        EACH(l, CVA_WIDTH) w->start[a * CVA_WIDTH + l] = (real)spot[a];
    for (int64_t i = 0; i < job->contracts; i++) {
        const cva_contract *c = &job->contract[i];
        if (c->kind != CVA_AMERICAN || !job->holds[c->place * job->paths + item->path]) continue;
        if (c->rule[0].basis.kind == CVA_LINE)
            cva_follow_line(job, c, k, spot, &w->paths, &w->outcome, y);
        else
            cva_follow_many(job, c, k, w->start, &w->paths, &w->lanes, &w->outcome, y);
        for (int l = item->lanes; l < CVA_WIDTH; l++) y[l] = 0;
        job->sums[at * job->places + c->place] = folded(y);
    }
}

static shoal_status follow(shoal_context *ctx, const cva_job *job, int64_t k) {
    int failed = 0;
    const int64_t stops = job->stops - job->ahead;
    const size_t bytes = sizeof(worker) + (size_t)(stops * job->assets * CVA_WIDTH) * sizeof(real);
    const int64_t threads = ctx->threads < job->items ? ctx->threads : job->items;
    ON_THREADS((int)threads, static, 1)
    for (int64_t thread = 0; thread < threads; thread++) {
        worker *w = malloc(bytes);
        if (!w) {
            failed = 1;
            continue;
        }
        w->paths.job = job, w->paths.k = k, w->paths.prices = w->prices;
        for (int64_t at = thread; at < job->items; at += threads)
            if (!shoal_is_cancelled(ctx, at, job->items)) follow_item(job, k, at, w);
        free(w);
    }
    return failed ? shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for inner paths") : SHOAL_OK;
}

const cva_walker R(cva_walker) = { .follow = follow };
